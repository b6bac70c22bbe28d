//! Hybrid mode: the model is told of names first and gets the definitions that it asks for, within one request of the
//! client, which sees nothing of it.

mod anthropic;

use std::sync::Arc;

use del_agent::{Constrain, ToolsMode};
use del_dialects::Dialects;
use del_proxy::Engine;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, Then, completion, event, says};
use crate::stand::{Stand, assembled, streamed, told, tool, weather, with};

const ASKS: &str = "<am:request_tools>get_weather</am:request_tools>";
const CALLS: &str =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";

/// Whether a request has the whole definition.
fn defines(seen: &Seen) -> bool {
    seen.body().to_string().contains("city")
}

/// Asks for the definition until it is there, then calls.
fn model(asks: &'static str) -> Model {
    Model::new(move |seen| says(seen, if defines(seen) { CALLS } else { asks }, 7))
}

/// The same over the API.
fn native() -> Model {
    native_asking(r#"{"query":"get_weather"}"#)
}

/// With these arguments of the call that asks.
fn native_asking(query: &'static str) -> Model {
    Model::new(move |seen| {
        let (name, arguments) =
            if defines(seen) { ("get_weather", r#"{"city":"Paris"}"#) } else { ("request_tools", query) };
        let function = json!({"name": name, "arguments": arguments});
        let call = json!({"index": 0, "id": "c1", "type": "function", "function": function});
        if seen.body()["stream"] == true {
            let all = [event(&json!({"tool_calls": [call]}), None), event(&json!({}), Some("tool_calls"))];
            let all =
                format!("{}{}data: {{\"choices\":[],\"usage\":null}}\n\ndata: [DONE]\n\n", all[0], all[1]);
            return Reply::Stream(all.as_bytes().chunks(40).map(<[u8]>::to_vec).collect(), Then::End);
        }
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        Reply::Whole(200, "", completion(&message, "tool_calls").to_string())
    })
}

async fn hybrid(model: Model) -> Stand {
    Stand::with(model, |settings| settings.routes[0].tools_mode = ToolsMode::Hybrid).await
}

/// A request that says nothing of a city but in the definition.
fn ask() -> Value {
    with(weather(), json!({"messages": [{"role": "user", "content": "How is the weather?"}]}))
}

fn called() -> Vec<(String, String)> {
    vec![("get_weather".to_owned(), "{\"city\":\"Paris\"}".to_owned())]
}

fn compact(calls: Vec<(String, String)>) -> Vec<(String, String)> {
    calls.into_iter().map(|(name, arguments)| (name, arguments.replace(' ', ""))).collect()
}

#[tokio::test]
async fn the_round_for_a_definition_is_within_one_request() {
    for make in [native as fn() -> Model, || model(ASKS)] {
        let stand = hybrid(make()).await;
        let (text, calls, finish) = told(&stand.ask(&ask()).await);
        assert_eq!((text.as_str(), compact(calls), finish.as_str()), ("", called(), "tool_calls"));
        let seen = stand.model.seen();
        assert_eq!(seen.len(), 2);
        let first = seen[0].body();
        assert_eq!(first["tools"].as_array().unwrap().len(), 1, "{first}");
        let list = first["tools"][0]["function"]["description"].as_str().unwrap();
        assert!(list.ends_with("\n- get_weather: Does get_weather"), "{list}");
        let second = seen[1].body();
        assert_eq!(second["tools"][1], ask()["tools"][0]);
        assert_eq!(second["messages"][1]["tool_calls"][0]["function"]["name"], "request_tools");
        let id = &second["messages"][1]["tool_calls"][0]["id"];
        assert!(id.is_string() && *id == second["messages"][2]["tool_call_id"], "{second}");

        let events = stand.events(&streamed(ask())).await;
        let (text, calls, finish) = assembled(&events);
        assert_eq!((text.as_str(), compact(calls), finish.as_str()), ("", called(), "tool_calls"));
        assert_eq!(events.iter().filter(|event| event.is_null()).count(), 1, "{events:?}");
    }
}

/// llama.cpp refuses a conversation in which arguments are no JSON.
#[tokio::test]
async fn a_call_that_asks_goes_back_with_arguments_that_can_be_read() {
    for query in [r#"{"query": ["get_weather", "#, ""] {
        let stand = hybrid(native_asking(query)).await;
        stand.ask(&ask()).await;
        let second = stand.model.seen()[1].body();
        let arguments = second["messages"][1]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        assert!(arguments.is_object(), "{query:?}: {second}");
    }
}

#[tokio::test]
async fn clients_of_every_api_see_nothing_of_it() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let function = ask()["tools"][0]["function"].clone();
    let content = json!([{"role": "user", "content": "How is the weather?"}]);
    for (path, body) in [
        (
            "/v1/messages",
            json!({"model": "m", "max_tokens": 99, "messages": content,
            "tools": [{"name": "get_weather", "description": "Does it.", "input_schema": schema}]}),
        ),
        (
            "/v1/responses",
            json!({"model": "m", "input": "How is the weather?",
            "tools": [{"type": "function", "name": "get_weather", "parameters": schema}]}),
        ),
        (
            "/api/chat",
            json!({"model": "m", "messages": content, "tools": [{"type": "function", "function": function}]}),
        ),
    ] {
        for streams in [false, true] {
            let stand = hybrid(model(ASKS)).await;
            let body = with(body.clone(), json!({"stream": streams}));
            let answer = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
            assert_eq!(answer.status(), 200);
            let text = answer.text().await.unwrap();
            let called = text.contains("get_weather") && text.contains("city");
            assert!(called && !text.contains("request_tools"), "{path}: {text}");
            assert_eq!((stand.model.seen().len(), defines(&stand.model.seen()[0])), (2, false), "{path}");
        }
    }
}

#[tokio::test]
async fn what_the_conversation_used_is_defined_again() {
    let stand = hybrid(model(ASKS)).await;
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}});
    let mut body = ask();
    body["tools"] = json!([tool("get_time"), tool("get_weather")]);
    body["messages"] = json!([{"role": "user", "content": "Hi."}, {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"}]);
    assert_eq!(compact(told(&stand.ask(&body).await).1), called());
    let sent = stand.model.seen();
    assert_eq!(sent.len(), 1);
    let names: Vec<Value> = sent[0].body()["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].clone())
        .collect();
    assert_eq!(names, ["request_tools", "get_weather"]);
}

/// White space at the end of a part may have gone out before anybody knew that it is one.
fn spoken(text: &str) -> String {
    text.split("\n\n").map(str::trim_end).collect::<Vec<_>>().join("|")
}

#[tokio::test]
async fn what_the_model_says_before_it_asks_stays() {
    const TALKS: &str = "I look it up. <am:request_tools>get_weather</am:request_tools>";
    let talking = || {
        Model::new(|seen| {
            let text = if defines(seen) { format!("There it is. {CALLS}") } else { TALKS.to_owned() };
            says(seen, &text, 5)
        })
    };
    let stand = hybrid(talking()).await;
    let (text, calls, _) = told(&stand.ask(&ask()).await);
    assert_eq!((spoken(&text).as_str(), compact(calls)), ("I look it up.|There it is.", called()));
    let (text, calls, finish) = assembled(&stand.events(&streamed(ask())).await);
    assert_eq!((spoken(&text).as_str(), compact(calls)), ("I look it up.|There it is.", called()));
    assert_eq!(finish, "tool_calls");
    assert_eq!(stand.model.last().body()["messages"][1]["content"], "I look it up.");
}

#[tokio::test]
async fn a_call_without_the_definition_gets_it_and_stays_here() {
    const GUESS: &str =
        "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"town\": \"Paris\"}}\n</tool_call>";
    let stand = hybrid(model(GUESS)).await;
    for answer in [told(&stand.ask(&ask()).await), assembled(&stand.events(&streamed(ask())).await)] {
        assert_eq!(compact(answer.1), called());
    }
    let result = stand.model.last().body()["messages"][2]["content"].as_str().unwrap().to_owned();
    assert!(result.starts_with("Error: not run"), "{result}");
}

#[tokio::test]
async fn who_asks_too_often_is_told_all_and_a_wrong_name_can_be_mended() {
    const WRONG: &str = "<am:request_tools>get_wether</am:request_tools>";
    for streams in [false, true] {
        let stand = hybrid(model(WRONG)).await;
        let body = with(ask(), json!({"stream": streams}));
        let calls =
            if streams { assembled(&stand.events(&body).await).1 } else { told(&stand.ask(&body).await).1 };
        assert_eq!(compact(calls), called());
        let seen = stand.model.seen();
        assert_eq!(seen.len(), 6);
        let last = seen[5].body();
        assert_eq!(last["tools"], ask()["tools"]);
        let told = last["messages"][2]["content"].as_str().unwrap();
        assert!(told.contains("such as get_weather, got `get_wether`"), "{told}");
    }
}

#[tokio::test]
async fn the_choice_of_the_request_holds() {
    for streams in [false, true] {
        let stand = hybrid(model(ASKS)).await;
        let ask = with(ask(), json!({"stream": streams, "tool_choice": "required"}));
        let calls =
            if streams { assembled(&stand.events(&ask).await).1 } else { told(&stand.ask(&ask).await).1 };
        assert_eq!((compact(calls), stand.model.seen().len()), (called(), 2));
    }
    let stand = hybrid(model(ASKS)).await;
    let mut body = ask();
    body["tools"] = json!([tool("get_time"), tool("get_weather")]);
    let named = json!({"type": "function", "function": {"name": "get_weather"}});
    stand.ask(&with(body.clone(), json!({"tool_choice": named}))).await;
    assert_eq!(stand.model.last().body()["tools"], json!([tool("get_weather")]));
    stand.ask(&with(body.clone(), json!({"tool_choice": "none"}))).await;
    // Several choices could ask for different tools.
    stand.ask(&with(body.clone(), json!({"n": 2}))).await;
    assert_eq!(stand.model.last().body()["tools"], body["tools"]);
}

#[tokio::test]
async fn a_named_dialect_means_the_prompt() {
    let amrita = Arc::clone(Dialects::builtin().get("amrita-am").unwrap());
    let call = "<am:tool_call name=\"get_weather\">\n<city>Paris</city>\n</am:tool_call>";
    let model = Model::new(move |seen| says(seen, if defines(seen) { call } else { ASKS }, 6));
    let stand = Stand::with(model, |settings| {
        settings.routes[0].tools_mode = ToolsMode::Hybrid;
        settings.routes[0].dialect = Some(amrita);
    })
    .await;
    let (text, calls, _) = assembled(&stand.events(&with(streamed(ask()), json!({"stop": "END"}))).await);
    assert_eq!((text.as_str(), compact(calls)), ("", called()));
    let body = stand.model.last().body();
    assert!(body.get("tools").is_none(), "{body}");
    assert_eq!(body["stop"], json!(["END", "</am:tool_call>", "</am:request_tools>"]));
    let said = |place: usize| body["messages"][place]["content"].as_str().unwrap().to_owned();
    assert!(said(0).contains("<am:tool name=\"get_weather\""), "{}", said(0));
    assert_eq!(said(2), ASKS);
    assert!(said(3).starts_with("<am:tool_result name=\"request_tools\">"), "{}", said(3));
}

#[tokio::test]
async fn under_a_grammar_the_model_asks_first() {
    let stand = Stand::with(
        Model::new(|seen| {
            let asks = "<tool_call>\n{\"name\": \"request_tools\", \"arguments\": {\"query\": \"get_weather\"}}\n</tool_call>";
            says(seen, if defines(seen) { CALLS } else { asks }, 8)
        }),
        |settings| {
            settings.routes[0].tools_mode = ToolsMode::Hybrid;
            settings.routes[0].constrain = Constrain::On;
            settings.routes[0].upstreams[0].engine = Some(Engine::LlamaCpp);
            settings.routes[0].upstreams[0].context = Some(4096);
        },
    )
    .await;
    assert_eq!(compact(told(&stand.ask(&ask()).await).1), called());
    let grammars: Vec<String> =
        stand.model.seen().iter().map(|seen| seen.body()["grammar"].as_str().unwrap().to_owned()).collect();
    assert!(!grammars[0].contains("get_weather") && grammars[1].contains("get_weather"), "{grammars:?}");
    // Definitions are no result: it still has to call.
    assert_eq!(stand.model.last().body()["max_tokens"], 4096);
}

#[tokio::test]
async fn a_server_that_fails_in_the_second_round_is_told_of() {
    let failing = || {
        Model::new(|seen| {
            if defines(seen) {
                Reply::Whole(500, "", r#"{"error":{"message":"out of memory"}}"#.into())
            } else {
                says(seen, ASKS, 9)
            }
        })
    };
    let stand = hybrid(failing()).await;
    let answer = stand.post(&ask()).send().await.unwrap();
    assert_eq!(answer.status(), 500);
    let events = stand.events(&streamed(ask())).await;
    let last = events.last().unwrap();
    assert!(last["error"]["message"].as_str().unwrap().contains("out of memory"), "{last}");
}
