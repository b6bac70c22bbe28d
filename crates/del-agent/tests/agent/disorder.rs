//! Whatever comes in whatever order, the conversation stays one that a server takes.

use del_agent::{Effect, Input, Settings, ToolsMode};
use proptest::prelude::*;
use serde_json::Value;

use crate::script::{Talk, call_text, native_call, plain, settings, sse, text_answer, tool_results};

/// What happens next.
#[derive(Debug, Clone)]
enum Happening {
    Start,
    Bytes(Vec<u8>),
    End,
    HungUp,
    Unreachable,
    Refused(u16),
    Results,
    Waited,
    Cancel,
}

fn happening() -> impl Strategy<Value = Happening> {
    let streams = [
        sse(&text_answer(&["hello ", "there"])),
        sse(&text_answer(&["I look.", &call_text("read_file", "{\"path\": \"a\"}")])),
        sse(&text_answer(&[&call_text("read_file", "{\"path\": \"a\"}")[..20]])),
        sse(&native_call("same-id", "read_file", &["{\"path\":", "\"b\"}"])),
        sse(&native_call("c", "write_file", &["[]"])),
        "data: {\"error\":{\"message\":\"no\"}}\n\n".to_owned(),
        "<html>\n".to_owned(),
    ];
    prop_oneof![
        4 => Just(Happening::Start),
        6 => prop::sample::select(streams.to_vec()).prop_map(|stream| Happening::Bytes(stream.into_bytes())),
        2 => prop::sample::select(streams.to_vec()).prop_flat_map(|stream| {
            let bytes = stream.into_bytes();
            (0..bytes.len()).prop_map(move |at| Happening::Bytes(bytes[..at].to_vec()))
        }),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Happening::Bytes),
        6 => Just(Happening::End),
        1 => Just(Happening::HungUp),
        1 => Just(Happening::Unreachable),
        1 => prop::sample::select(vec![400u16, 401, 429, 500]).prop_map(Happening::Refused),
        6 => Just(Happening::Results),
        2 => Just(Happening::Waited),
        1 => Just(Happening::Cancel),
    ]
}

/// One system message and that first, contents that are text, calls with ids of their own and a result for each.
fn check(body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    let mut open: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        assert_eq!(message["role"] == "system", place == 0, "{body:#}");
        assert!(message["content"].is_string(), "{body:#}");
        if message["role"] == "tool" {
            assert_eq!(message["tool_call_id"].as_str(), Some(open.remove(0)), "{body:#}");
            continue;
        }
        assert!(open.is_empty(), "{body:#}");
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        open.extend(calls.iter().map(|call| call["id"].as_str().unwrap()));
        assert!(calls.is_empty() || body.get("tools").is_some(), "{body:#}");
        let next = messages.get(place + 1).map(|message| &message["role"]);
        assert!(next != Some(&message["role"]) || message["role"] == "assistant", "{body:#}");
    }
    assert!(open.is_empty(), "{body:#}");
}

proptest! {
    #[test]
    fn no_order_of_events_breaks_the_conversation(
        happenings in prop::collection::vec(happening(), 1..60),
        prompt in any::<bool>(),
    ) {
        let tools_mode = if prompt { ToolsMode::Prompt } else { ToolsMode::Auto };
        let mut talk = Talk::new(Settings { tools_mode, max_turns: 4, ..settings() });
        let mut running = Vec::new();
        for happening in happenings {
            let effect = match &happening {
                Happening::Start => talk.step(Input::Start("question")),
                Happening::Bytes(bytes) => talk.step(Input::Bytes(bytes)),
                Happening::End => talk.step(Input::End),
                Happening::HungUp => talk.step(Input::HungUp("reset")),
                Happening::Unreachable => talk.step(Input::Unreachable("refused")),
                Happening::Refused(status) => talk.refuse(*status, "{}", None),
                Happening::Results => talk.step(Input::Results(tool_results(&running, "R"))),
                Happening::Waited => talk.step(Input::Waited),
                Happening::Cancel => talk.step(Input::Cancel),
            };
            match effect {
                Effect::Request(body) => check(&body),
                Effect::Run(calls) => running = plain(calls),
                Effect::Failed(failure) => assert!(!failure.to_string().contains('\n'), "{failure}"),
                Effect::Continue | Effect::Count(_) | Effect::Wait { .. } | Effect::Done(_) => {}
            }
        }
    }
}
