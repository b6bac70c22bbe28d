//! Servers whose chat templates do not take every order of roles.

use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, completion};
use crate::stand::{Stand, weather, with};

const SYSTEM: &str = "Jinja Exception: System message must be at the beginning.";
const TURNS: &str =
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...";

/// A server with a template that takes the system first, and users and the model in turns where it is `strict`.
fn template(seen: &Seen, strict: bool) -> Reply {
    let body = seen.body();
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    let wrong = if roles.iter().skip(1).any(|role| matches!(*role, "system" | "developer")) {
        Some((500, SYSTEM))
    } else if strict && roles.windows(2).any(|pair| pair[1] == "user" && matches!(pair[0], "user" | "tool")) {
        Some((400, TURNS))
    } else {
        None
    };
    match wrong {
        Some((status, said)) => Reply::Whole(status, "", json!({"error": {"message": said}}).to_string()),
        None => {
            let message = json!({"role": "assistant", "content": "Yes."});
            Reply::Whole(200, "", completion(&message, "stop").to_string())
        }
    }
}

async fn asks(stand: &Stand, path: &str, body: &Value) -> Value {
    let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    stand.model.last().body()["messages"].clone()
}

#[tokio::test]
async fn a_system_message_inside_goes_where_the_template_takes_it() {
    let messages = json!([{"role": "user", "content": "Hi."}, {"role": "system", "content": "Be short."}]);
    let tools = json!([{"name": "get_weather", "input_schema": {"type": "object"}}]);
    let body =
        json!({"model": "m", "max_tokens": 9, "system": "You help.", "tools": tools, "messages": messages});
    for mode in [del_agent::ToolsMode::Auto, del_agent::ToolsMode::Prompt] {
        let model = Model::new(|seen| template(seen, false));
        let stand = Stand::with(model, |settings| settings.routes[0].tools_mode = mode).await;
        for requests in [2, 3] {
            let told = asks(&stand, "/v1/messages", &body).await;
            assert_eq!(told.as_array().unwrap().len(), 2, "{told}");
            let system = told[0]["content"].as_str().unwrap();
            assert!(system.starts_with("You help.") && system.ends_with("\n\nBe short."), "{system}");
            assert_eq!(stand.model.seen().len(), requests);
        }
        // Behind an answer it stays where it was.
        let mut longer = body.clone();
        let more = json!([{"role": "assistant", "content": "Yes."}, {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "And?"}]);
        longer["messages"].as_array_mut().unwrap().extend(more.as_array().unwrap().clone());
        let told = asks(&stand, "/v1/messages", &longer).await;
        assert_eq!(told[3]["content"], "<system-message>\nBe kind.\n</system-message>\n\nAnd?");
        assert_eq!(stand.model.seen().len(), 4);
    }
}

#[tokio::test]
async fn the_user_and_the_model_take_turns_where_a_template_wants_it() {
    let tool = json!({"type": "function", "name": "f", "parameters": {"type": "object"}});
    let said = |text: &str| json!({"role": "user", "content": [{"type": "input_text", "text": text}]});
    let mut body = json!({"model": "m", "tools": [tool], "input": [said("Context."), said("Do it.")]});
    let stand = Stand::new(Model::new(|seen| template(seen, true))).await;
    let told = asks(&stand, "/v1/responses", &body).await;
    assert_eq!(told, json!([{"role": "user", "content": "Context.\n\nDo it."}]));
    let more = json!([{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "12"}, said("Thanks.")]);
    body["input"].as_array_mut().unwrap().extend(more.as_array().unwrap().clone());
    let told = asks(&stand, "/v1/responses", &body).await;
    assert_eq!(told[2]["content"], "12\n\n<user-message>\nThanks.\n</user-message>");
}

#[tokio::test]
async fn a_chat_that_is_passed_through_is_asked_again_too() {
    let stand = Stand::new(Model::new(|seen| template(seen, true))).await;
    let messages = json!([{"role": "system", "content": "a"}, {"role": "user", "content": "b"},
        {"role": "developer", "content": "c"}]);
    let body = json!({"model": "m", "messages": messages, "seed": 1.0});
    for requests in [2, 3] {
        let told = asks(&stand, "/v1/chat/completions", &body).await;
        assert_eq!(told, json!([{"role": "system", "content": "a\n\nc"}, {"role": "user", "content": "b"}]));
        assert_eq!((stand.model.seen().len(), &stand.model.last().body()["seed"]), (requests, &json!(1.0)));
    }
}

#[tokio::test]
async fn a_server_that_takes_them_gets_messages_as_they_came() {
    let yes = completion(&json!({"role": "assistant", "content": "Yes."}), "stop").to_string();
    let stand = Stand::new(Model::saying(Reply::Whole(200, "", yes))).await;
    let messages = json!([{"role": "user", "content": "a"}, {"role": "system", "content": "b"},
        {"role": "user", "content": "c"}, {"role": "user", "content": "d"}]);
    let body = with(weather(), json!({"messages": messages}));
    assert_eq!(asks(&stand, "/v1/chat/completions", &body).await, messages);
}
