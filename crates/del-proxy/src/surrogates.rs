//! Halves of surrogate pairs in JSON. Clients that count in UTF-16 cut signs in two; no text can hold what is left.

use axum::body::Bytes;
use del_wire::lone_halves;

/// What stands for half a pair: as long as its escape.
const REPLACEMENT: &[u8; 6] = b"\\ufffd";

/// The same JSON, U+FFFD in the place of each half.
pub(crate) fn without_halves(json: Bytes) -> Bytes {
    let halves = lone_halves(&json);
    if halves.is_empty() {
        return json;
    }
    let mut json = Vec::from(json);
    for at in halves {
        json[at..at + REPLACEMENT.len()].copy_from_slice(REPLACEMENT);
    }
    json.into()
}

#[cfg(test)]
mod tests {
    use super::without_halves;

    #[test]
    fn halves_are_replaced_and_nothing_else() {
        for (json, expected) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\ude00a""#, r#""\ufffda""#),
            (r#""\uD83D\uD83D\uDE00\uDE00""#, r#""\ufffd\uD83D\uDE00\ufffd""#),
            (r#""\ud83d\n\ude00""#, r#""\ufffd\n\ufffd""#),
            (r#""\ud83d\\ude00""#, r#""\ufffd\\ude00""#),
            (r#""C:\\ud83d \\\ud83d""#, r#""C:\\ud83d \\\ufffd""#),
            (r#""\ud83d\ude00 \u00e9 \\u""#, r#""\ud83d\ude00 \u00e9 \\u""#),
            (r#""\u+d83 \ud8 \ud83"#, r#""\u+d83 \ud8 \ud83"#),
            (r"\", r"\"),
        ] {
            assert_eq!(without_halves(json.into()), expected, "{json}");
        }
    }
}
