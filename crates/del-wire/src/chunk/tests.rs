use super::{Chunk, Finish, Usage};

fn only(json: &str) -> super::Delta {
    Chunk::read(json).unwrap().choices.remove(0)
}

#[test]
fn deltas_and_messages_read_alike() {
    for shape in ["delta", "message"] {
        let delta = only(&format!(
            r#"{{"choices":[{{"index":0,"{shape}":{{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{{"id":"a","type":"function","function":{{"name":"f","arguments":{{"n": 12345678901234567890123, "f": 1.50}}}}}}]}},"finish_reason":"tool_calls"}}]}}"#
        ));
        assert_eq!((delta.content, delta.reasoning.as_deref()), (None, Some("hm")));
        assert_eq!(delta.calls[0].arguments.as_deref(), Some(r#"{"n": 12345678901234567890123, "f": 1.50}"#));
        assert_eq!(delta.finish, Some(Finish::ToolCalls));
    }
}

#[test]
fn a_usage_chunk_has_no_choices() {
    let chunk = Chunk::read(r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#).unwrap();
    assert!(chunk.choices.is_empty());
    assert_eq!(chunk.usage, Some(Usage { prompt: 7, completion: 3, ..Usage::default() }));
    assert!(Chunk::read(r#"{"choices":null,"usage":null}"#).unwrap().usage.is_none());
    let counted = r#"{"choices":[],"usage":{"prompt_tokens":7.0,"completion_tokens":"3"}}"#;
    assert_eq!(Chunk::read(counted).unwrap().usage, chunk.usage);
}

#[test]
fn content_may_come_in_parts() {
    let delta = only(
        r#"{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"a"},"b",{"type":"image_url"}]}}]}"#,
    );
    assert_eq!((delta.content.as_deref(), delta.reasoning.as_deref()), (Some("ab"), Some("t")));
}

#[test]
fn reasoning_sent_under_two_names_counts_once() {
    let delta = only(r#"{"choices":[{"delta":{"reasoning":"x","reasoning_content":"x"}}]}"#);
    assert_eq!(delta.reasoning.as_deref(), Some("x"));
}

#[test]
fn ollama_speaks_its_own_shape() {
    let delta = only(
        r#"{"model":"m","message":{"role":"assistant","content":"","thinking":"t","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":true,"done_reason":"length"}"#,
    );
    assert_eq!(delta.finish, Some(Finish::Length));
    assert_eq!((delta.calls[0].index, delta.calls[0].arguments.as_deref()), (Some(0), Some(r#"{"a":1}"#)));
}

#[test]
fn legacy_function_call() {
    let delta = only(r#"{"choices":[{"message":{"function_call":{"name":"f","arguments":"{}"}}}]}"#);
    assert_eq!(
        (delta.calls[0].name.as_deref(), delta.calls[0].arguments.as_deref()),
        (Some("f"), Some("{}"))
    );
}

#[test]
fn an_error_may_come_as_a_chunk() {
    let chunk = Chunk::read(r#"{"error":{"message":"out of memory","code":500}}"#).unwrap();
    assert_eq!(chunk.error.unwrap().message, "out of memory");
    for json in [
        r#"{"object":"error","message":"no","code":400}"#,
        r#"{"message":"no","type":"server_error"}"#,
        r#"{"detail":"no"}"#,
    ] {
        assert_eq!(Chunk::read(json).unwrap().error.unwrap().message, "no", "{json}");
    }
}

#[test]
fn an_empty_reason_is_none() {
    for (json, finish) in [
        (r#"{"choices":[{"delta":{"content":"x"},"finish_reason":""}]}"#, None),
        (r#"{"choices":[{"message":{"content":"x"},"finish_reason":""}]}"#, None),
        (r#"{"message":{"content":"x"},"done":true,"done_reason":""}"#, Some(Finish::Stop)),
    ] {
        for chunk in [Chunk::read(json), Chunk::read_whole(json)] {
            let delta = chunk.unwrap().choices.remove(0);
            assert_eq!((delta.finish, delta.reason), (finish, None), "{json}");
        }
    }
}

#[test]
fn other_json_is_an_error_that_says_what_came() {
    let error = Chunk::read(r#"{"hello":1}"#).unwrap_err().to_string();
    assert_eq!(error, r#"`chunk` should be an object with `choices` or `error`, got `{"hello":1}`"#);
    let error = Chunk::read(r#"{"choices":[{"delta":{"content":[1]}}]}"#).unwrap_err().to_string();
    assert_eq!(error, "`content[]` should be an object, got `1`");
    assert!(Chunk::read("not json").is_err());
}
