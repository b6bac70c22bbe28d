//! `tool_choice` is kept, whatever the server does with it.

use del_agent::ToolsMode;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, completion, event, says};
use crate::stand::{Stand, assembled, document, streamed, told, tool, weather, with};

const HERMES: &str =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";

fn paris() -> Vec<(String, String)> {
    vec![("get_weather".to_owned(), "{\"city\": \"Paris\"}".to_owned())]
}

#[tokio::test]
async fn a_demanded_call_is_asked_for_again() {
    for (mode, streams) in [(ToolsMode::Native, false), (ToolsMode::Native, true), (ToolsMode::Prompt, true)]
    {
        // It calls once it was told so in words.
        let model = Model::new(|seen| {
            let told = seen.body()["messages"].to_string().contains("and say nothing else");
            says(seen, if told { HERMES } else { "Let me think." }, 3)
        });
        let stand = Stand::with(model, |settings| settings.routes[0].tools_mode = mode).await;
        let body = with(weather(), json!({"tool_choice": "required"}));
        let got = if streams {
            assembled(&stand.events(&streamed(body)).await)
        } else {
            told(&stand.ask(&body).await)
        };
        assert_eq!(got, (String::new(), paris(), "tool_calls".to_owned()));
        assert_eq!(stand.model.seen().len(), 2);
        let talks = Stand::with(Model::new(|seen| says(seen, "Let me think.", 3)), |settings| {
            settings.routes[0].tools_mode = mode;
        })
        .await;
        let body = with(weather(), json!({"tool_choice": "required", "stream": streams}));
        let response = talks.post(&body).send().await.unwrap();
        assert_eq!((response.status().as_u16(), talks.model.seen().len()), (422, 3));
        let error = document(response).await["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(error, "the model made no call that `tool_choice` allows, in 3 tries");
    }
}

/// Asked again, the model has no more room.
#[tokio::test]
async fn a_demanded_call_that_a_limit_cuts_is_not_asked_for_again() {
    let function = json!({"name": "get_weather", "arguments": "{\"city\": \"Par"});
    let native = json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]});
    for said in [json!({"content": "Let me think."}), json!({"content": &HERMES[..60]}), native] {
        let model = Model::new(move |seen| {
            if seen.body()["stream"] == true {
                let all = event(&said, None) + &event(&json!({}), Some("length")) + "data: [DONE]\n\n";
                return Reply::Stream(vec![all.into_bytes()], Then::End);
            }
            let message = with(json!({"role": "assistant", "content": null}), said.clone());
            Reply::Whole(200, "", completion(&message, "length").to_string())
        });
        let stand = Stand::new(model).await;
        let body = with(weather(), json!({"tool_choice": "required"}));
        assert_eq!(told(&stand.ask(&body).await).2, "length");
        assert_eq!(assembled(&stand.events(&streamed(body)).await).2, "length");
        assert_eq!(stand.model.seen().len(), 2);
    }
}

#[tokio::test]
async fn a_demanded_call_is_begun_where_the_server_goes_on_with_it() {
    const REST: &str = " \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
    const NAMED: &str = " {\"city\": \"Paris\"}}\n</tool_call>";
    let any = "<tool_call>\n{\"name\":";
    let one = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\":";
    let named = json!({"type": "function", "function": {"name": "get_weather"}});
    let tools = |names: &[&str]| names.iter().map(|name| tool(name)).collect::<Vec<_>>();
    let (both, only) = (tools(&["get_weather", "get_time"]), tools(&["get_weather"]));
    for (choice, tools, begun, rest) in [
        (json!("required"), &both, any, REST),
        (named, &both, one, NAMED),
        (json!("required"), &only, one, NAMED),
        (json!("auto"), &both, "Weather in Paris?", HERMES),
    ] {
        // Some servers repeat what the request began.
        for repeated in [begun, ""].map(|text| if choice == "auto" { "" } else { text }) {
            let model = Model::new(move |seen| says(seen, &[repeated, rest].concat(), 3));
            let stand = Stand::with(model, |settings| {
                settings.routes[0].tools_mode = ToolsMode::Prompt;
                settings.routes[0].prefill = true;
            })
            .await;
            let body = with(weather(), json!({"tool_choice": choice, "tools": tools}));
            let wanted = (String::new(), paris(), "tool_calls".to_owned());
            assert_eq!(told(&stand.ask(&body).await), wanted);
            assert_eq!(assembled(&stand.events(&streamed(body)).await), wanted);
            let sent = stand.model.last().body();
            assert_eq!(sent["messages"].as_array().unwrap().last().unwrap()["content"], begun);
            assert_eq!(stand.model.seen().len(), 2);
        }
    }
}

#[tokio::test]
async fn a_call_that_may_not_be_made_does_not_go_out() {
    let native = |name: &str| {
        let call = json!([{"index": 0, "id": "c", "type": "function", "function": {"name": name, "arguments": "{\"a\":1}"}}]);
        let (whole, delta) =
            (json!({"role": "assistant", "content": null, "tool_calls": call}), json!({"tool_calls": call}));
        Model::new(move |seen| {
            if seen.body()["stream"] == true {
                let all = event(&delta, None) + &event(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n";
                return Reply::Stream(vec![all.into_bytes()], Then::End);
            }
            Reply::Whole(200, "", completion(&whole, "tool_calls").to_string())
        })
    };
    let stand = Stand::new(native("rm")).await;
    let response = stand.post(&weather()).send().await.unwrap();
    assert_eq!(response.headers()["x-del-refused-calls"], "rm");
    let (text, calls, finish) = told(&document(response).await);
    assert!(calls.is_empty() && finish == "stop" && text.contains("`rm`"), "{text} {finish}");
    let text = stand.post(&streamed(weather())).send().await.unwrap().text().await.unwrap();
    assert!(text.contains(": x-del-refused-calls: rm\n\n") && !text.contains("tool_calls\":"), "{text}");
    // None at all may be made.
    let none = with(weather(), json!({"tool_choice": "none"}));
    assert_eq!(told(&stand.ask(&none).await).1, Vec::new());
    let text = stand.post(&streamed(none)).send().await.unwrap().text().await.unwrap();
    assert!(text.contains(": x-del-refused-calls: rm\n\n") && !text.contains("tool_calls\":"), "{text}");
    // The one that is named goes out, another does not.
    let named = |name: &str| {
        let choice = json!({"type": "function", "function": {"name": name}});
        with(weather(), json!({"tools": [tool("get_weather"), tool("get_time")], "tool_choice": choice}))
    };
    let stand = Stand::new(native("get_time")).await;
    assert_eq!(told(&stand.ask(&named("get_time")).await).1.len(), 1);
    assert_eq!(stand.post(&named("get_weather")).send().await.unwrap().status(), 422);
}

#[tokio::test]
async fn a_tool_that_is_not_there_cannot_be_demanded() {
    for mode in [ToolsMode::Native, ToolsMode::Prompt] {
        let model = Model::new(|seen| says(seen, HERMES, 3));
        let stand = Stand::with(model, |settings| settings.routes[0].tools_mode = mode).await;
        let other = json!({"type": "function", "function": {"name": "get_time"}});
        let allowed =
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [other]}});
        for (choice, says) in [(&other, "got `get_time`"), (&allowed, "names of some of the tools")] {
            let response = stand.post(&with(weather(), json!({"tool_choice": choice}))).send().await.unwrap();
            assert_eq!(response.status(), 400);
            let error = document(response).await["error"]["message"].as_str().unwrap().to_owned();
            assert!(error.contains(says), "{error}");
        }
        assert!(stand.model.seen().is_empty());
    }
}

/// Of several choices, each has to call.
#[tokio::test]
async fn a_call_is_demanded_of_each_choice() {
    let model = |learns: bool| {
        Model::new(move |seen| {
            let told = learns && seen.body()["messages"].to_string().contains("and say nothing else");
            let texts = [HERMES, if told { HERMES } else { "Let me think." }];
            let choices = texts.iter().enumerate();
            if seen.body()["stream"] != true {
                let choices: Vec<Value> = choices
                    .map(|(index, text)| json!({"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}))
                    .collect();
                return Reply::Whole(200, "", json!({"id": "x", "choices": choices}).to_string());
            }
            let pieces = choices.flat_map(|(index, text)| {
                let choice = |delta: Value, finish: Value| json!({"id": "x", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]});
                [choice(json!({"content": text}), json!(null)), choice(json!({}), json!("stop"))]
            });
            let done = "data: [DONE]\n\n".to_owned();
            let all = pieces.map(|chunk| format!("data: {chunk}\n\n")).chain([done]);
            Reply::Stream(all.map(String::into_bytes).collect(), Then::End)
        })
    };
    for stream in [false, true] {
        let body = with(weather(), json!({"tool_choice": "required", "n": 2, "stream": stream}));
        let stand = Stand::new(model(true)).await;
        let text = stand.post(&body).send().await.unwrap().text().await.unwrap();
        assert_eq!(text.matches("get_weather").count(), 2, "{text}");
        assert!(!text.contains("Let me think."), "{text}");
        assert_eq!(stand.model.seen().len(), 2);
        let said = stand.model.last().body()["messages"].clone();
        let before = if stream { "" } else { "Let me think." };
        assert_eq!(said[1]["content"], before, "what the choice said that has no call, where that is known");
        let stand = Stand::new(model(false)).await;
        let refused = stand.post(&body).send().await.unwrap();
        assert_eq!((refused.status().as_u16(), stand.model.seen().len()), (422, 3));
    }
}
