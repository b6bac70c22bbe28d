//! How likely the tokens of a text were. The APIs that tell it have a list with an object for each token, and differ in
//! what may be missing there.

use serde_json::{Map, Value, json};

/// What the list of a server says, as the clients of every API can read it. What is no such list says nothing.
pub(crate) fn read(list: &str) -> Vec<Value> {
    let tokens: Vec<Map<String, Value>> = serde_json::from_str(list).unwrap_or_default();
    tokens.into_iter().map(|token| Value::Object(whole(token))).collect()
}

/// The member of a choice that holds such a list.
pub(crate) fn member(list: &[Value]) -> String {
    json!({"content": list, "refusal": null}).to_string()
}

fn whole(mut token: Map<String, Value>) -> Map<String, Value> {
    let others = match token.shift_remove("top_logprobs") {
        Some(Value::Array(others)) => others,
        _ => Vec::new(),
    };
    let others = others.into_iter().map(|other| match other {
        Value::Object(other) => Value::Object(with_bytes(other)),
        other => other,
    });
    let others: Vec<Value> = others.collect();
    token = with_bytes(token);
    token.insert("top_logprobs".to_owned(), Value::Array(others));
    token
}

/// The same with the bytes of the token, which a text alone may not hold.
fn with_bytes(mut token: Map<String, Value>) -> Map<String, Value> {
    if !token.get("bytes").is_some_and(Value::is_array) {
        let text = token.get("token").and_then(Value::as_str).unwrap_or_default();
        token.insert("bytes".to_owned(), json!(text.as_bytes()));
    }
    token
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    #[test]
    fn what_a_server_leaves_out_is_there() {
        let other = json!({"token": "b", "logprob": -2.0});
        let list = json!([
            {"token": "é", "logprob": -0.5},
            {"token": "\u{fffd}", "logprob": -1.0, "bytes": [195], "top_logprobs": [other], "own": 1},
        ]);
        assert_eq!(
            json!(read(&list.to_string())),
            json!([
                {"token": "é", "logprob": -0.5, "bytes": [195, 169], "top_logprobs": []},
                {"token": "\u{fffd}", "logprob": -1.0, "bytes": [195], "own": 1,
                    "top_logprobs": [{"token": "b", "logprob": -2.0, "bytes": [98]}]},
            ])
        );
        assert!(read("[1]").is_empty() && read("{}").is_empty());
    }
}
