//! What a model said in one turn, in several messages or blocks, on its way to servers of each API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use del_wire::anthropic::{from_client as anthropic, plain};
use del_wire::responses::from_client as responses;
use del_wire::tools::Functions;
use del_wire::{Asked, ServerApi};
use serde_json::{Value, json};

/// The messages that a server of this API gets of a request.
fn told(api: ServerApi, asked: &Asked) -> Value {
    let mut body = asked.body.clone();
    if api != ServerApi::Anthropic {
        plain::make(&mut body, api == ServerApi::Responses);
    }
    let told = api.write(body);
    told[if api == ServerApi::Responses { "input" } else { "messages" }].clone()
}

fn of_messages(content: &Value) -> Asked {
    let user = |text: &str| json!({"role": "user", "content": text});
    let body = json!({"model": "m", "messages": [user("Well?"), {"role": "assistant", "content": content}, user("And?")]});
    anthropic::read(body.as_object().unwrap().clone(), Functions::default()).unwrap()
}

fn of_items(input: &Value) -> Asked {
    let body = json!({"model": "m", "input": input});
    let read =
        responses::read(body.as_object().unwrap().clone(), Functions::default(), Vec::new(), &|_| None);
    read.unwrap().asked
}

#[test]
fn blocks_go_back_to_their_server_as_they_came() {
    let thought = |text: &str| json!({"type": "thinking", "thinking": text, "signature": "s"});
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {"n": 1}});
    let cited =
        json!({"type": "text", "text": "blue", "citations": [{"type": "char_location", "cited_text": "b"}]});
    let hidden = json!({"type": "redacted_thinking", "data": "x"});
    for content in [
        json!([thought("a"), text("One."), call("c1"), text("Two."), thought("b"), call("c2")]),
        json!([text("One."), hidden, text("Two.")]),
        json!([text("The sky is "), cited, text(".")]),
        json!([thought("a"), hidden, text("One."), call("c1"), call("c2")]),
    ] {
        let mut asked = of_messages(&content);
        assert_eq!(told(ServerApi::Anthropic, &asked)[1]["content"], content);
        // What was mended goes on in the order that a message of a chat has.
        asked.body["messages"][1]["content"] = json!("Mended.");
        let said = told(ServerApi::Anthropic, &asked)[1]["content"].clone();
        let texts = said.as_array().unwrap().iter().filter_map(|block| block["text"].as_str());
        assert_eq!(texts.collect::<Vec<_>>(), ["Mended."]);
        assert!(!told(ServerApi::OpenAi, &asked).to_string().contains("anthropic"));
    }
    let asked = of_messages(&json!([text("I look."), text("The sky is "), cited, text(".")]));
    assert_eq!(told(ServerApi::OpenAi, &asked)[1]["content"], "I look.\n\nThe sky is blue.");
}

#[test]
fn a_turn_in_several_items_is_one_message_of_a_chat() {
    let said = |text: &str| json!({"role": "assistant", "content": text});
    let thought = |text: &str, seal: &str| {
        let summary = [json!({"type": "summary_text", "text": text})];
        json!({"type": "reasoning", "summary": summary, "encrypted_content": seal})
    };
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"});
    let result = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": id});
    let user = json!({"role": "user", "content": "Well?"});
    for seal in ["", "s"] {
        let items = json!([
            user,
            thought("a", seal),
            said("One."),
            call("c1"),
            thought("b", seal),
            said("Two."),
            call("c2"),
            result("c1"),
            result("c2"),
            said("Three."),
            user
        ]);
        let asked = of_items(&items);
        let messages = told(ServerApi::OpenAi, &asked);
        let roles: Vec<&str> =
            messages.as_array().unwrap().iter().filter_map(|message| message["role"].as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant", "user"], "{messages}");
        assert_eq!(
            (&messages[1]["content"], &messages[1]["reasoning_content"]),
            (&json!("One.\n\nTwo."), &json!("a\nb"))
        );
        assert_eq!(messages[1]["tool_calls"].as_array().unwrap().len(), 2);
        let messages = told(ServerApi::Ollama, &asked);
        assert_eq!(
            (&messages[1]["content"], &messages[1]["thinking"]),
            (&json!("One.\n\nTwo."), &json!("a\nb"))
        );
        // There they stay what they were.
        let items = told(ServerApi::Responses, &asked);
        let texts: Vec<&str> =
            items.as_array().unwrap().iter().filter_map(|item| item["content"].as_str()).collect();
        assert_eq!(texts, ["Well?", "One.", "Two.", "Three.", "Well?"]);
    }
}

/// It was broken off there.
#[test]
fn a_thought_without_an_answer_is_no_other_answers() {
    let thought = json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "s"});
    let user = json!({"role": "user", "content": "Well?"});
    let said = json!({"role": "assistant", "content": "One."});
    for input in [json!([user, thought, user, said, user]), json!([user, said, user, thought])] {
        let asked = of_items(&input);
        for api in [ServerApi::OpenAi, ServerApi::Ollama, ServerApi::Responses, ServerApi::Anthropic] {
            assert!(!told(api, &asked).to_string().contains("Hm."), "{api:?}");
        }
        assert!(asked.unread.contains("reasoning"));
    }
}
