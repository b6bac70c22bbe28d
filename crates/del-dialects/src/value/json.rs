//! The bytes that mean something in JSON, texts as JSON strings, and the members of objects.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// How many bytes at the start are white space between tokens.
#[inline]
pub(crate) fn white_space(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(..=b' ') => long_white_space(bytes),
        _ => 0,
    }
}

fn long_white_space(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).unwrap_or(bytes.len())
}

/// How many bytes at the start mean nothing special in any string: no quote, no backslash, no control character.
pub(crate) fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let same = |word: u64, byte: u8| zero(word ^ u64::from_ne_bytes([byte; 8]));
    let mut at = 0;
    for chunk in bytes.chunks_exact(8) {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        let word = u64::from_le_bytes(eight);
        let control = word.wrapping_sub(u64::from_ne_bytes([0x20; 8])) & !word & HIGHS;
        let special = control | same(word, b'"') | same(word, b'\\') | same(word, b'\'');
        if special != 0 {
            return at + (special.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = &bytes[at..];
    at + rest.iter().position(|byte| SPECIAL[*byte as usize]).unwrap_or(rest.len())
}

/// Of each byte, whether it means something special in some string.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut control = 0;
    while control < 0x20 {
        special[control] = true;
        control += 1;
    }
    special[b'"' as usize] = true;
    special[b'\\' as usize] = true;
    special[b'\'' as usize] = true;
    special
};

/// The escapes of the control characters.
const ESCAPES: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t",
    "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013",
    "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c",
    "\\u001d", "\\u001e", "\\u001f",
];

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape(text, &mut out);
    out.push('"');
    out
}

/// Appends `text` as it stands inside a JSON string.
pub(crate) fn escape(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let (mut from, mut at) = (0, 0);
    loop {
        at += plain(&bytes[at..]);
        let Some(&byte) = bytes.get(at) else { break };
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0..=0x1f => ESCAPES[byte as usize],
            _ => {
                at += 1;
                continue;
            }
        };
        out.push_str(&text[from..at]);
        out.push_str(escape);
        at += 1;
        from = at;
    }
    out.push_str(&text[from..]);
}

/// The members of a JSON object, in order, each value as it is spelt; none when `json` is no object.
pub(crate) fn members(json: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    let mut json = serde_json::Deserializer::from_str(json);
    let members = json.deserialize_map(Members).ok()?;
    json.end().ok()?;
    Some(members)
}
