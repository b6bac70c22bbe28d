//! Templates in which every mark and every key is another.

/// The template with other letters in its marks and keys; with an odd seed, bars in marks are other signs as well.
pub(crate) fn renamed(template: &str, seed: u64) -> String {
    let letters = Letters::of(seed);
    let other = turned(template, &letters);
    if seed.is_multiple_of(2) {
        return other;
    }
    other.replace("<|", "<@").replace("|>", "@>").replace("<｜", "<§").replace("｜>", "§>")
}

fn turned(template: &str, letters: &Letters) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = ["{#", "{%", "{{"].iter().filter_map(|open| rest.find(open)).min() {
        out.push_str(&marks(&rest[..at], letters));
        let close = match &rest[at..at + 2] {
            "{#" => "#}",
            "{%" => "%}",
            _ => "}}",
        };
        let len = rest[at..].find(close).map_or(rest.len() - at, |len| len + 2);
        out.push_str(&strings(&rest[at..at + len], letters));
        rest = &rest[at + len..];
    }
    out + &marks(rest, letters)
}

/// Renames inside the strings of code, but those that are names themselves.
fn strings(code: &str, letters: &Letters) -> String {
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
            letters.turned(text)
        } else if name {
            text.to_owned()
        } else {
            marks(text, letters)
        });
        rest = &rest[at + len..];
    }
    out + rest
}

/// Renames marks such as `<…>` and `[…]`, also when they are only begun, and keys of JSON.
fn marks(text: &str, letters: &Letters) -> String {
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
        out.push_str(&if inside { letters.turned(&c.to_string()) } else { c.to_string() });
    }
    out
}

/// Other letters: for each seed a permutation of the vowels and one of the consonants.
struct Letters([char; 26]);

impl Letters {
    fn of(seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap()
        };
        let mut letters: Vec<char> = ('a'..='z').collect();
        for kind in [true, false] {
            let places: Vec<usize> = (0..26).filter(|at| "aeiou".contains(letters[*at]) == kind).collect();
            for at in (1..places.len()).rev() {
                letters.swap(places[at], places[next(at + 1)]);
            }
        }
        Self(letters.try_into().unwrap())
    }

    fn turned(&self, text: &str) -> String {
        let letter = |c: char| self.0[usize::from(u8::try_from(c).unwrap() - b'a')];
        text.chars()
            .map(|c| match c {
                'a'..='z' => letter(c),
                'A'..='Z' => letter(c.to_ascii_lowercase()).to_ascii_uppercase(),
                c => c,
            })
            .collect()
    }
}
