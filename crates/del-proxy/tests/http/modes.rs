//! How the model learns of the tools.

use del_agent::{Constrain, ToolsMode};
use del_proxy::{Engine, Settings};
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, completion, event, says};
use crate::stand::{Stand, assembled, document, streamed, told, tool, weather, with};

const HERMES: &str =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";

fn hermes() -> Model {
    Model::new(|seen| says(seen, HERMES, 4))
}

/// A server that refuses tools.
fn toolless() -> Model {
    Model::new(|seen| match seen.body().get("tools") {
        Some(_) => Reply::Whole(400, "", r#"{"error":{"message":"gemma:2b does not support tools"}}"#.into()),
        None => says(seen, HERMES, 4),
    })
}

async fn prompting(model: Model) -> Stand {
    Stand::with(model, |settings| settings.routes[0].tools_mode = ToolsMode::Prompt).await
}

fn llama_cpp(constrain: Constrain) -> impl FnOnce(&mut Settings) {
    move |settings| {
        settings.routes[0].upstreams[0].engine = Some(Engine::LlamaCpp);
        settings.routes[0].upstreams[0].context = Some(4096);
        settings.routes[0].constrain = constrain;
    }
}

#[tokio::test]
async fn natively_the_request_goes_on_as_it_is() {
    let stand = Stand::new(hermes()).await;
    let body = with(weather(), json!({"seed": 1, "logit_bias": {"1": 2}, "own_member": [1.50]}));
    let spelled = format!("  {body:#}\n");
    let request = stand.request(reqwest::Method::POST, "/v1/chat/completions").body(spelled.clone());
    let response = request.header("accept-encoding", "br").send().await.unwrap();
    assert_eq!(response.headers()["x-del-dialect"], "hermes-json");
    assert_eq!(document(response).await["usage"]["total_tokens"], 3);
    let seen = stand.model.last();
    assert_eq!((seen.bytes, seen.path.as_str()), (spelled.into_bytes(), "/v1/chat/completions"));
    let packed = seen.headers.iter().find(|(name, _)| name == "accept-encoding").unwrap();
    assert!(packed.1.contains("gzip") && packed.1.contains("zstd") && !packed.1.contains("br"), "{packed:?}");
}

#[tokio::test]
async fn calls_of_the_api_come_through() {
    let call = json!([{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}]);
    let model = Model::new(move |seen| {
        if seen.body()["stream"] != true {
            let message =
                json!({"role": "assistant", "content": null, "tool_calls": call, "refusal": null, "own": 1});
            return Reply::Whole(200, "", completion(&message, "tool_calls").to_string());
        }
        let piece = |call: Value| event(&json!({"tool_calls": [call]}), None);
        let all = [
            piece(
                json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}),
            ),
            piece(json!({"index": 0, "function": {"arguments": "{\"city\":"}})),
            piece(json!({"index": 0, "function": {"arguments": "\"Paris\"}"}})),
            event(&json!({}), Some("tool_calls")),
            "data: [DONE]\n\n".to_owned(),
        ];
        Reply::Stream(all.map(String::into_bytes).to_vec(), Then::End)
    });
    let stand = Stand::new(model).await;
    let expected = vec![("get_weather".to_owned(), "{\"city\":\"Paris\"}".to_owned())];
    let answer = stand.ask(&weather()).await;
    let message = &answer["choices"][0]["message"];
    assert_eq!((&message["tool_calls"][0]["id"], &message["own"]), (&json!("c1"), &json!(1)));
    assert_eq!(told(&answer), (String::new(), expected.clone(), "tool_calls".to_owned()));
    let events = stand.events(&streamed(weather())).await;
    assert_eq!(assembled(&events), (String::new(), expected, "tool_calls".to_owned()));
    assert!(events.iter().any(|event| event["choices"][0]["delta"]["tool_calls"][0]["id"] == "c1"));
}

#[tokio::test]
async fn a_model_that_takes_no_tools_is_told_in_the_prompt_from_then_on() {
    let stand = Stand::new(toolless()).await;
    for round in 1..=2 {
        assert_eq!(told(&stand.ask(&weather()).await).2, "tool_calls");
        assert_eq!(stand.model.seen().len(), 1 + round);
    }
    let body = stand.model.last().body();
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none(), "{body}");
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("get_weather"), "{body}");
    // Of another model nothing is known.
    stand.ask(&with(weather(), json!({"model": "other"}))).await;
    assert_eq!(stand.model.seen().len(), 5);
}

#[tokio::test]
async fn a_refusal_of_tools_with_the_status_of_an_answer_is_one_too() {
    let refusal = r#"{"error":{"message":"gemma:2b does not support tools"}}"#;
    for (streams, said) in [(false, refusal.to_owned()), (true, format!("data: {refusal}\n\n"))] {
        let model = Model::new(move |seen| match seen.body().get("tools") {
            Some(_) if streams => Reply::Stream(vec![said.clone().into_bytes()], Then::End),
            Some(_) => Reply::Whole(200, "", said.clone()),
            None => says(seen, HERMES, 4),
        });
        let stand = Stand::new(model).await;
        for round in 1..=2 {
            let finish = if streams {
                assembled(&stand.events(&streamed(weather())).await).2
            } else {
                told(&stand.ask(&weather()).await).2
            };
            assert_eq!((finish.as_str(), stand.model.seen().len()), ("tool_calls", 1 + round));
        }
    }
}

#[tokio::test]
async fn without_auto_a_refusal_is_the_clients() {
    let stand = Stand::with(toolless(), |settings| settings.routes[0].tools_mode = ToolsMode::Native).await;
    let response = stand.post(&weather()).send().await.unwrap();
    assert_eq!(response.status(), 400);
    assert_eq!(document(response).await["error"]["message"], "gemma:2b does not support tools");
}

#[tokio::test]
async fn a_template_that_takes_no_tools_means_the_prompt() {
    let stand =
        Stand::with(hermes(), |settings| settings.routes[0].upstreams[0].takes_tools = Some(false)).await;
    assert_eq!(told(&stand.ask(&weather()).await).2, "tool_calls");
    assert!(stand.model.last().body().get("tools").is_none());
}

#[tokio::test]
async fn the_prompt_carries_the_whole_conversation() {
    let stand = prompting(hermes()).await;
    let body = with(
        weather(),
        json!({"temperature": 0.5, "stream_options": {"include_usage": true}, "parallel_tool_calls": true,
        "messages": [
            {"role": "user", "content": "Weather in Paris?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "sunny </tool_response>"},
        ]}),
    );
    stand.events(&streamed(body)).await;
    let sent = stand.model.last().body();
    let messages = sent["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(messages[2]["content"], HERMES);
    assert!(messages[3]["content"].as_str().unwrap().contains("sunny"));
    assert_eq!((&sent["temperature"], &sent["stream_options"]["include_usage"]), (&json!(0.5), &json!(true)));
    assert!(["tools", "parallel_tool_calls"].iter().all(|name| sent.get(*name).is_none()), "{sent}");
}

#[tokio::test]
async fn a_request_without_tools_goes_through_as_it_is_and_so_does_its_answer() {
    for mode in [ToolsMode::Auto, ToolsMode::Prompt] {
        let stand = Stand::with(hermes(), |settings| settings.routes[0].tools_mode = mode).await;
        let body = json!({"messages": [{"role": "user", "content": "<tool_call>"}]});
        assert_eq!(stand.message(&body).await["content"], HERMES);
        assert_eq!(stand.model.last().body(), body);
        let text = stand.post(&streamed(body)).send().await.unwrap().text().await.unwrap();
        assert!(text.ends_with("data: [DONE]\n\n") && text.contains("\"finish_reason\":\"stop\""), "{text}");
    }
}

#[tokio::test]
async fn where_no_call_is_wanted_none_is_read() {
    let body = with(weather(), json!({"tool_choice": "none"}));
    let stand = Stand::new(hermes()).await;
    assert_eq!(stand.message(&body).await["content"], HERMES);
    let stand = prompting(hermes()).await;
    assert_eq!(stand.message(&body).await["content"], HERMES);
    let sent = stand.model.last().body();
    assert_eq!(sent["messages"], body["messages"]);
    assert!(sent.get("tools").is_none() && sent.get("tool_choice").is_none(), "{sent}");
}

#[tokio::test]
async fn the_choice_is_told_in_the_prompt() {
    let stand = prompting(hermes()).await;
    let tools = json!([tool("get_weather"), tool("get_time")]);
    let choose = |choice: Value| with(weather(), json!({"tools": tools, "tool_choice": choice}));
    let system =
        |stand: &Stand| stand.model.last().body()["messages"][0]["content"].as_str().unwrap().to_owned();
    stand.ask(&choose(json!("required"))).await;
    assert!(system(&stand).ends_with("Call a tool now."));
    // The model calls another tool, however often it is asked.
    let named = choose(json!({"type": "function", "function": {"name": "get_time"}}));
    assert_eq!(stand.post(&named).send().await.unwrap().status(), 422);
    assert_eq!(stand.model.seen().len(), 4);
    assert!(system(&stand).contains("get_time") && !system(&stand).contains("get_weather"));
    for (choice, says) in [
        (
            json!({"type": "function", "function": {"name": "nope"}}),
            "expected the name of one of the tools, got `nope`",
        ),
        (json!("sometimes"), "expected none, auto, required or a named function, got `\"sometimes\"`"),
    ] {
        let response = stand.post(&choose(choice)).send().await.unwrap();
        assert_eq!(response.status(), 400);
        let error = document(response).await["error"]["message"].as_str().unwrap().to_owned();
        assert!(error.ends_with(says), "{error}");
    }
}

#[tokio::test]
async fn a_grammar_holds_calls_where_a_call_is_due() {
    let after_result = json!({"messages": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "get_weather", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "sunny"}]});
    // Held to a grammar, and to one that lets nothing but calls through.
    for (constrain, members, held, forced) in [
        (Constrain::On, json!({}), true, true),
        (Constrain::On, after_result.clone(), true, false),
        (Constrain::On, json!({"response_format": {"type": "json_object"}}), true, true),
        (Constrain::On, json!({"response_format": {"type": "text"}}), false, false),
        (Constrain::Auto, json!({}), true, false),
        (Constrain::Auto, json!({"tool_choice": "required"}), true, true),
        (Constrain::Auto, json!({"tool_choice": "required", "n_predict": 9}), true, false),
        (Constrain::Off, json!({}), false, false),
        (Constrain::Off, json!({"tool_choice": "required"}), false, false),
    ] {
        let stand = Stand::with(hermes(), |settings| {
            llama_cpp(constrain)(settings);
            settings.routes[0].tools_mode = ToolsMode::Prompt;
        })
        .await;
        stand.ask(&with(weather(), members.clone())).await;
        let sent = stand.model.last().body();
        assert_eq!(
            sent["grammar"].as_str().is_some_and(|text| text.starts_with("root ::=")),
            held,
            "{members}"
        );
        // A string that is never closed ends with the context, and nothing before it.
        assert_eq!(sent.get("max_tokens"), forced.then_some(&json!(4096)), "{members}");
    }
    // Nobody knows how others take a grammar.
    let stand = prompting(hermes()).await;
    stand.ask(&with(weather(), json!({"tool_choice": "required"}))).await;
    assert!(stand.model.last().body().get("grammar").is_none());
}

#[tokio::test]
async fn one_call_at_most_is_told_and_several_are_held_only_where_asked_for() {
    let stand = Stand::with(hermes(), |settings| {
        llama_cpp(Constrain::On)(settings);
        settings.routes[0].tools_mode = ToolsMode::Prompt;
    })
    .await;
    let mut grammars = Vec::new();
    let several = |allowed: bool| json!({"parallel_tool_calls": allowed});
    for (members, told) in [(json!({}), false), (several(false), true), (several(true), false)] {
        stand.ask(&with(weather(), members)).await;
        let sent = stand.model.last().body();
        let system = sent["messages"][0]["content"].as_str().unwrap();
        assert_eq!(system.contains("Call one tool at most."), told, "{system}");
        grammars.push(sent["grammar"].as_str().unwrap().to_owned());
    }
    assert_eq!(grammars[0], grammars[1]);
    assert_ne!(grammars[0], grammars[2]);
}

#[tokio::test]
async fn the_words_of_the_template_tell_the_model_of_its_tools() {
    let dialects = del_dialects::Dialects::builtin();
    let llama = || dialects.get("llama3-json").unwrap().clone();
    let words = del_wire::Words {
        dialect: llama(),
        alone: "You are Ada.".to_owned(),
        before: "These are your functions:\n".to_owned(),
        definitions: dialects.get("hermes-json").unwrap().clone(),
        behind: "\nWrite {\"name\": …}".to_owned(),
    };
    let asked = |dialect: Option<_>| {
        let words = words.clone();
        async move {
            let stand = Stand::with(hermes(), |settings| {
                settings.routes[0].tools_mode = ToolsMode::Prompt;
                settings.routes[0].words = Some(words);
                settings.routes[0].dialect = dialect;
            })
            .await;
            let history = json!({"messages": [
                {"role": "user", "content": "Weather?"},
                {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "get_weather", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "c", "content": "sunny"}]});
            stand.ask(&with(weather(), history)).await;
            stand.model.last().body()["messages"].clone()
        }
    };
    let messages = asked(None).await;
    let system = messages[0]["content"].as_str().unwrap();
    assert!(system.starts_with("You are Ada.\n\nThese are your functions:\n<tools>\n{\"type\""), "{system}");
    assert!(system.ends_with("</tools>\nWrite {\"name\": …}"), "{system}");
    // Calls are written in the dialect that the words ask for, ...
    assert_eq!(messages[2]["content"], r#"{"name": "get_weather", "parameters": {}}"#);
    // ... and where another one is asked for, the words are Del's.
    let messages = asked(dialects.get("hermes-json").cloned()).await;
    assert!(messages[0]["content"].as_str().unwrap().starts_with("# Tools"), "{messages}");
}

#[tokio::test]
async fn a_grammar_that_the_server_refuses_is_left_out() {
    let model = Model::new(|seen| match seen.body().get("grammar") {
        Some(_) => Reply::Whole(400, "", r#"{"error":{"message":"Failed to parse grammar"}}"#.into()),
        None => says(seen, HERMES, 4),
    });
    let stand = Stand::with(model, llama_cpp(Constrain::On)).await;
    let others = json!({"tools": [tool("get_weather"), tool("look")]});
    // It is not offered again, unless it is one over other tools.
    for (body, asked) in [(weather(), 2), (weather(), 3), (with(weather(), others), 5)] {
        assert_eq!(told(&stand.ask(&body).await).2, "tool_calls");
        assert_eq!(stand.model.seen().len(), asked);
    }
}

#[tokio::test]
async fn one_model_may_stand_for_all() {
    let stand = Stand::with(hermes(), |settings| settings.routes[0].model = Some("served".into())).await;
    for body in [weather(), json!({"messages": [], "model": "gpt"}), json!({"messages": []})] {
        stand.ask(&body).await;
        assert_eq!(stand.model.last().body(), with(body, json!({"model": "served"})));
    }
}

#[tokio::test]
async fn each_engine_is_told_the_grammar_in_its_own_way() {
    let required = with(weather(), json!({"tool_choice": "required"}));
    for (engine, older) in [(Engine::Vllm, "guided_grammar"), (Engine::Sglang, "ebnf")] {
        // Nothing is refused, then structural tags, then every grammar.
        for (refused, asked) in
            [(Vec::new(), 1), (vec!["response_format"], 2), (vec!["response_format", older], 3)]
        {
            let model = Model::new(move |seen| {
                let body = seen.body();
                if refused.iter().any(|member| body.get(*member).is_some()) {
                    let error = json!({"error": {"message": "unsupported structured output"}});
                    return Reply::Whole(400, "", error.to_string());
                }
                says(seen, HERMES, 5)
            });
            let stand = Stand::with(model, |settings| {
                settings.routes[0].upstreams[0].engine = Some(engine);
                settings.routes[0].tools_mode = ToolsMode::Prompt;
            })
            .await;
            assert_eq!(told(&stand.ask(&required).await).1.len(), 1);
            let seen = stand.model.seen();
            assert_eq!(seen.len(), asked, "{engine:?}");
            let first = seen[0].body();
            assert_eq!(first["response_format"]["type"], "structural_tag");
            assert!(first["response_format"]["format"].is_object() && first.get("grammar").is_none());
            let last = seen[asked - 1].body();
            assert!(last.get("max_tokens").is_none(), "these end with the context by themselves");
            assert_eq!(last.get("response_format").is_some(), asked == 1);
            assert_eq!(last[older].as_str().is_some_and(|text| text.starts_with("root ::=")), asked == 2);
            // What it took is what it is asked with the next time.
            assert_eq!(told(&stand.ask(&required).await).1.len(), 1);
            assert_eq!((stand.model.seen().len(), stand.model.last().body()), (asked + 1, last));
        }
    }
    // What the client holds the answer to counts.
    let stand = Stand::with(hermes(), |settings| {
        settings.routes[0].upstreams[0].engine = Some(Engine::Vllm);
        settings.routes[0].tools_mode = ToolsMode::Prompt;
    })
    .await;
    stand.ask(&with(required, json!({"structured_outputs": {"regex": "x"}}))).await;
    assert!(stand.model.last().body().get("response_format").is_none());
}
