//! A template in which every mark and every key is another: the letters in them are moved on by thirteen places.

/// The template with other marks and keys.
pub(crate) fn renamed(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = ["{#", "{%", "{{"].iter().filter_map(|open| rest.find(open)).min() {
        out.push_str(&marks(&rest[..at]));
        let close = match &rest[at..at + 2] {
            "{#" => "#}",
            "{%" => "%}",
            _ => "}}",
        };
        let len = rest[at..].find(close).map_or(rest.len() - at, |len| len + 2);
        out.push_str(&strings(&rest[at..at + len]));
        rest = &rest[at + len..];
    }
    out + &marks(rest)
}

/// Renames inside the strings of code, but those that are names themselves.
fn strings(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(['\'', '"']) {
        let quote = rest[at..].chars().next().unwrap();
        let mut len = 1;
        let mut escaped = false;
        for c in rest[at + 1..].chars() {
            len += c.len_utf8();
            if c == quote && !escaped {
                break;
            }
            escaped = c == '\\' && !escaped;
        }
        let text = &rest[at..at + len];
        let name = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '.' | '\'' | '"'));
        out.push_str(&rest[..at]);
        // A key of an object that becomes JSON.
        let key = name
            && rest[at + len..].trim_start().starts_with(':')
            && text.len() > 3
            && out.trim_end().ends_with(['{', ',']);
        out.push_str(&if key {
            turned(text)
        } else if name {
            text.to_owned()
        } else {
            marks(text)
        });
        rest = &rest[at + len..];
    }
    out + rest
}

/// Renames marks such as `<…>` and `[…]`, also when they are only begun, and keys of JSON.
fn marks(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for (at, c) in text.char_indices() {
        match c {
            '<' => {
                inside =
                    text[at + 1..].starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '|' | '｜'));
            }
            '[' => {
                let word: String = text[at + 1..]
                    .chars()
                    .take_while(|c| c.is_ascii_uppercase() || matches!(c, '_' | '/'))
                    .collect();
                inside = word.len() > 1;
            }
            '>' | ']' | '\n' | '{' | '\'' => inside = false,
            '"' => {
                let key: String =
                    text[at + 1..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let behind = &text[at + 1 + key.len()..];
                inside = !key.is_empty() && behind.trim_start_matches('\\').starts_with("\":");
            }
            ' ' if !text[at + 1..].contains('=') => inside = inside && text[at..].contains('>'),
            _ => {}
        }
        out.push_str(&if inside { turned(&c.to_string()) } else { c.to_string() });
    }
    out
}

fn turned(text: &str) -> String {
    let turn = |c: char, first: u8| char::from((u8::try_from(c).unwrap() - first + 13) % 26 + first);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            c => c,
        })
        .collect()
}
