//! Thoughts in a server's own words (`reasoning_details`), which come in pieces and are wanted back whole.

use serde_json::Value;

/// Members whose texts go on in the next piece.
const TEXTS: [&str; 3] = ["text", "summary", "data"];

/// Adds pieces. One of the kind and number of the last goes on with that.
pub(super) fn add(details: &mut Vec<Value>, more: &[Value]) {
    for piece in more {
        match (details.last_mut(), piece) {
            (Some(Value::Object(last)), Value::Object(piece))
                if piece.contains_key("index")
                    && ["type", "index"].iter().all(|name| last.get(*name) == piece.get(*name)) =>
            {
                for (name, value) in piece.iter().filter(|(_, value)| !value.is_null()) {
                    match (last.get_mut(name), value) {
                        (Some(Value::String(text)), Value::String(more))
                            if TEXTS.contains(&name.as_str()) =>
                        {
                            text.push_str(more);
                        }
                        _ => drop(last.insert(name.clone(), value.clone())),
                    }
                }
            }
            (_, piece) => details.push(piece.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::add;

    #[test]
    fn what_comes_in_pieces_is_whole() {
        let text = |index: u32, text: &str| json!({"type": "reasoning.text", "index": index, "text": text, "signature": null});
        let seal = json!({"type": "reasoning.text", "index": 0, "signature": "s"});
        let sealed = json!({"type": "reasoning.encrypted", "index": 0, "data": "d"});
        let mut details = Vec::new();
        for piece in [text(0, "a"), text(0, "b"), seal, sealed.clone(), text(1, "c")] {
            add(&mut details, &[piece]);
        }
        let first = json!({"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"});
        assert_eq!(details, [first, sealed, text(1, "c")]);
    }
}
