//! JSON of which the end is missing.

/// The same with what would close it, where it was cut in a text or behind a value.
pub(super) fn completed(json: &str) -> String {
    let (mut closers, mut in_text, mut escaped) = (Vec::new(), false, false);
    for sign in json.chars() {
        match sign {
            _ if escaped => escaped = false,
            '\\' => escaped = in_text,
            '"' => in_text = !in_text,
            '{' if !in_text => closers.push('}'),
            '[' if !in_text => closers.push(']'),
            '}' | ']' if !in_text => drop(closers.pop()),
            _ => {}
        }
    }
    let mut whole = json.to_owned();
    if in_text {
        whole.truncate(json.len() - half_escape(json, escaped));
        whole.push('"');
    }
    whole.extend(closers.iter().rev());
    whole
}

/// How many bytes at the end of a text are a part of an escape.
fn half_escape(text: &str, escaped: bool) -> usize {
    let digits = text.bytes().rev().take_while(u8::is_ascii_hexdigit).count();
    match text.as_bytes()[..text.len() - digits] {
        _ if escaped => 1,
        // An escape stands behind an even number of backslashes.
        [.., b'\\', b'u'] if digits < 4 => {
            let before = &text.as_bytes()[..text.len() - digits - 1];
            let odd = before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
            if odd { digits + 2 } else { 0 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::completed;

    #[test]
    fn a_text_is_read_up_to_where_it_was_cut() {
        let said = "é \\ \"quoted\" \u{1}\n \\u00e9 end";
        let whole = json!({"a": {"b": 1}, "list": [{"said": said}]}).to_string();
        let begin = whole.find("\"said\":\"").unwrap() + 8;
        for at in (begin + 1..=whole.len()).filter(|at| whole.is_char_boundary(*at)) {
            let read: Value = serde_json::from_str(&completed(&whole[..at]))
                .unwrap_or_else(|error| panic!("{error}: {}", completed(&whole[..at])));
            let read = read["list"][0]["said"].as_str().unwrap();
            assert!(said.starts_with(read), "{read}");
            assert!(at < begin + 8 || !read.is_empty());
        }
        for (cut, whole) in
            [("{\"a\": \"b", "{\"a\": \"b\"}"), ("[1, {\"a\": [", "[1, {\"a\": []}]"), ("", "")]
        {
            assert_eq!(completed(cut), whole);
        }
    }
}
