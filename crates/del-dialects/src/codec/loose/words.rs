//! Python's words, numbers and escapes as JSON.

/// Where the character at `at` ends.
pub(super) fn char_end(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A bare word or number as JSON.
pub(super) fn literal(word: &str) -> Option<String> {
    match word.trim() {
        "true" | "True" => Some("true".to_owned()),
        "false" | "False" => Some("false".to_owned()),
        "null" | "None" => Some("null".to_owned()),
        word => number(word),
    }
}

/// A number in Python's spelling as JSON.
pub(super) fn number(word: &str) -> Option<String> {
    let digits = word.strip_prefix('+').unwrap_or(word);
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let digits = digits.trim_start();
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let mut plain = digits.replace('_', "");
    while plain.len() > 1 && plain.starts_with('0') && plain.as_bytes()[1].is_ascii_digit() {
        plain.remove(0);
    }
    if plain.starts_with('.') {
        plain.insert(0, '0');
    }
    if plain.ends_with('.') {
        plain.push('0');
    }
    let json = format!("{sign}{plain}");
    serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok().then_some(json)
}

/// The key of an object as JSON has it: Python's words are other words there.
pub(super) fn key_of(word: &str) -> String {
    match word {
        "True" => "true".to_owned(),
        "False" => "false".to_owned(),
        "None" => "null".to_owned(),
        word => number(word).unwrap_or_else(|| word.to_owned()),
    }
}

/// True for a bare word that is Python's code rather than a text whose quotes were forgotten. `text` says that a text
/// is declared there, `outer` that it is an argument itself.
pub(super) fn is_expression(word: &str, text: bool, outer: bool) -> bool {
    let arithmetic = |c: char| {
        c.is_ascii_digit() || matches!(c, '.' | ' ' | '+' | '-' | '*' | '/' | '%' | 'j' | 'J' | '_')
    };
    word.contains(['(', '[', '{', '=', '"', '\''])
        || word.starts_with(['*', '@'])
        || word.starts_with("lambda ")
        || (!outer && word.contains(" for ") && word.contains(" in "))
        || (!text && word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(arithmetic))
}

/// True for a bare word that holds the next member: the comma between them is missing, and where the value ends
/// nobody knows.
pub(super) fn runs_on(word: &str) -> bool {
    let next = |rest: &str| rest.split_once(':').is_some_and(|(key, _)| key.trim().bytes().all(is_word));
    word.split_once(char::is_whitespace).is_some_and(|(first, rest)| literal(first).is_some() && next(rest))
}

/// The length of the escape at the start, backslash included; none when more bytes are needed.
pub(super) fn escape_len(bytes: &[u8]) -> Option<usize> {
    let hex = match bytes.get(1)? {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        0x80.. => return Some(1),
        _ => return Some(2),
    };
    let digits = bytes[2..].iter().take(hex).take_while(|byte| byte.is_ascii_hexdigit()).count();
    match (digits == hex, bytes.len() >= 2 + hex || bytes.len() > 2 + digits) {
        (true, _)
            if hex == 4 && matches!(&bytes[2..4], [b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B']) =>
        {
            low_surrogate(&bytes[6..])
        }
        (true, _) => Some(2 + hex),
        (false, true) => Some(1),
        (false, false) => None,
    }
}

/// The length of an escape of two halves, the first of which is there.
fn low_surrogate(rest: &[u8]) -> Option<usize> {
    let fits = |(place, byte): (usize, &u8)| match place {
        0 => *byte == b'\\',
        1 => *byte == b'u',
        2 => matches!(byte, b'd' | b'D'),
        3 => matches!(byte, b'c'..=b'f' | b'C'..=b'F'),
        _ => byte.is_ascii_hexdigit(),
    };
    match rest.iter().take(6).enumerate().take_while(|pair| fits(*pair)).count() {
        6 => Some(12),
        len if len == rest.len() => None,
        _ => Some(6),
    }
}

/// What a Python escape stands for; one that Python does not know stands for itself.
pub(super) fn push_escape(spelling: &str, out: &mut String) {
    let mut chars = spelling.chars();
    chars.next();
    match chars.next() {
        None => out.push('\\'),
        Some('n') => out.push('\n'),
        Some('t') => out.push('\t'),
        Some('r') => out.push('\r'),
        Some('b') => out.push('\u{8}'),
        Some('f') => out.push('\u{c}'),
        Some('v') => out.push('\u{b}'),
        Some('a') => out.push('\u{7}'),
        Some('0') => out.push('\0'),
        Some('\n') => {}
        Some(c @ ('\\' | '\'' | '"')) => out.push(c),
        Some('u') if spelling.len() == 12 => {
            let units =
                [&spelling[2..6], &spelling[8..]].map(|hex| u16::from_str_radix(hex, 16).unwrap_or(0));
            out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        }
        Some('x' | 'u' | 'U') => {
            let code = u32::from_str_radix(chars.as_str(), 16).ok().and_then(char::from_u32);
            out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Some(_) => out.push_str(spelling),
    }
}
