//! What a server refuses of a request although its API has it: it is asked again without, and not asked so any more.

use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, completion};
use crate::stand::{Stand, weather, with};

const DROPPED: &str = "x-del-dropped-parameters";

fn refused(message: &str) -> Reply {
    let error = json!({"error": {"message": message, "type": "invalid_request_error"}});
    Reply::Whole(400, "", error.to_string())
}

fn yes() -> Reply {
    Reply::Whole(200, "", completion(&json!({"role": "assistant", "content": "Yes."}), "stop").to_string())
}

fn response() -> Reply {
    Reply::Whole(200, "", json!({"id": "r", "status": "completed", "output": []}).to_string())
}

async fn ask(stand: &Stand, path: &str, body: &Value) -> u16 {
    let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
    response.status().as_u16()
}

async fn at(api: ServerApi, server: fn(&Seen) -> Reply) -> Stand {
    Stand::with(Model::new(server), |settings| settings.routes[0].upstreams[0].api = api).await
}

fn messages() -> Value {
    json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]})
}

#[tokio::test]
async fn a_limit_goes_by_the_name_that_the_model_takes() {
    let stand = at(ServerApi::OpenAi, |seen| match seen.body().get("max_tokens") {
        Some(_) => refused(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        None => yes(),
    })
    .await;
    for requests in [2, 3] {
        assert_eq!(ask(&stand, "/v1/messages", &messages()).await, 200);
        assert_eq!(stand.model.seen().len(), requests);
        assert_eq!(stand.model.last().body()["max_completion_tokens"], 9);
    }
    let chat = with(weather(), json!({"max_tokens": 7}));
    assert_eq!(ask(&stand, "/v1/chat/completions", &chat).await, 200);
    assert_eq!(
        (stand.model.seen().len(), &stand.model.last().body()["max_completion_tokens"]),
        (4, &json!(7))
    );
    // Of another model nothing is known.
    assert_eq!(ask(&stand, "/v1/messages", &with(messages(), json!({"model": "other"}))).await, 200);
    assert_eq!(stand.model.seen().len(), 6);
}

#[tokio::test]
async fn what_was_added_on_the_way_is_left_out_where_it_is_refused() {
    let stand = at(ServerApi::OpenAi, |seen| match seen.body().get("stream_options") {
        Some(_) => refused("Unrecognized request argument supplied: stream_options"),
        None => yes(),
    })
    .await;
    let body = with(messages(), json!({"stream": true}));
    assert_eq!(ask(&stand, "/v1/messages", &body).await, 200);
    assert_eq!(stand.model.seen().len(), 2);
    // Who asks for it is told.
    let stand =
        at(ServerApi::OpenAi, |_| refused("Unrecognized request argument supplied: stream_options")).await;
    let chat = with(weather(), json!({"stream": true, "stream_options": {"include_usage": true}}));
    assert_eq!(ask(&stand, "/v1/chat/completions", &chat).await, 400);
}

#[tokio::test]
async fn summaries_and_seals_are_asked_for_where_there_are_some() {
    let stand = at(ServerApi::Responses, |seen| {
        let body = seen.body();
        if body["reasoning"]["summary"].is_string() {
            return refused("Your organization must be verified to generate reasoning summaries.");
        }
        if body["include"].is_array() {
            return refused("Encrypted content is not supported with this model.");
        }
        response()
    })
    .await;
    let chat = with(weather(), json!({"reasoning_effort": "low"}));
    for requests in [3, 4] {
        assert_eq!(ask(&stand, "/v1/chat/completions", &chat).await, 200);
        let asked = stand.model.last().body();
        assert_eq!((&asked["reasoning"], asked.get("include")), (&json!({"effort": "low"}), None));
        assert_eq!(stand.model.seen().len(), requests);
    }
    // So it is for clients of the same API, unless they ask for it themselves.
    let tool = json!({"type": "function", "name": "f", "parameters": {"type": "object"}});
    let mut body = json!({"model": "m", "input": "Hi.", "tools": [tool]});
    assert_eq!(ask(&stand, "/v1/responses", &with(body.clone(), json!({"model": "n"}))).await, 200);
    body["include"] = json!(["reasoning.encrypted_content"]);
    assert_eq!(ask(&stand, "/v1/responses", &with(body, json!({"model": "o"}))).await, 400);
    let own = json!({"model": "m", "input": "Hi.", "reasoning": {"effort": "low", "summary": "auto"}});
    let stand = at(ServerApi::Responses, |_| refused("No reasoning summaries.")).await;
    assert_eq!(ask(&stand, "/v1/responses", &own).await, 400);
    let stand = at(ServerApi::Responses, |_| response()).await;
    assert_eq!(ask(&stand, "/v1/chat/completions", &chat).await, 200);
    assert_eq!(stand.model.last().body()["include"], json!(["reasoning.encrypted_content"]));
}

/// A conversation in which the model thought.
fn thought() -> Value {
    let call = json!({"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Paris"}});
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": ""});
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "12"});
    with(
        messages(),
        json!({"tools": [{"name": "get_weather", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": [thinking, call]},
            {"role": "user", "content": [result]}]}),
    )
}

#[tokio::test]
async fn thoughts_go_back_as_the_server_calls_them() {
    let stand = at(ServerApi::OpenAi, |_| {
        let message = json!({"role": "assistant", "content": "Yes.", "reasoning": "Well."});
        Reply::Whole(200, "", completion(&message, "stop").to_string())
    })
    .await;
    for name in ["reasoning_content", "reasoning"] {
        assert_eq!(ask(&stand, "/v1/messages", &thought()).await, 200);
        assert_eq!(stand.model.last().body()["messages"][1][name], "Hm.");
    }
    let said = stand.message(&weather()).await;
    assert_eq!((&said["reasoning"], said.get("reasoning_content")), (&json!("Well."), None));
}

#[tokio::test]
async fn thoughts_stay_away_from_a_server_that_refuses_them() {
    let stand = at(ServerApi::OpenAi, |seen| {
        let refuses = seen.body()["messages"].to_string().contains("reasoning");
        if refuses { refused("'messages.1' : property 'reasoning_content' is unsupported") } else { yes() }
    })
    .await;
    for requests in [2, 3] {
        assert_eq!(ask(&stand, "/v1/messages", &thought()).await, 200);
        assert_eq!(stand.model.seen().len(), requests);
    }
}

#[tokio::test]
async fn effort_is_told_to_an_anthropic_server_and_left_out_for_a_model_that_knows_none() {
    let refuses = |seen: &Seen| match seen.body()["output_config"].get("effort") {
        Some(_) if seen.body()["model"] == "small" => {
            refused("This model does not support the effort parameter.")
        }
        _ => {
            let text = json!([{"type": "text", "text": "Yes."}]);
            let body = json!({"id": "msg", "type": "message", "role": "assistant", "model": "c", "content": text,
                "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}});
            Reply::Whole(200, "", body.to_string())
        }
    };
    let stand = at(ServerApi::Anthropic, refuses).await;
    let schema = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}});
    let chat = |effort: &str| {
        with(weather(), json!({"model": "large", "reasoning_effort": effort, "response_format": schema}))
    };
    let response = json!({"model": "large", "input": "Hi.", "reasoning": {"effort": "high"}});
    for (path, body, effort) in [
        ("/v1/chat/completions", chat("medium"), json!("medium")),
        ("/v1/chat/completions", chat("minimal"), json!("low")),
        ("/v1/chat/completions", chat("xhigh"), json!("xhigh")),
        ("/v1/chat/completions", chat("none"), Value::Null),
        ("/v1/responses", response, json!("high")),
    ] {
        let got = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
        assert_eq!((got.status().as_u16(), got.headers().get(DROPPED)), (200, None), "{body}");
        let config = &stand.model.last().body()["output_config"];
        assert_eq!(
            (&config["effort"], config["format"].is_object()),
            (&effort, path.contains("chat")),
            "{body}"
        );
    }
    // What it was left out for is told, the first time as well.
    let asked = stand.model.seen().len();
    for requests in [2, 3] {
        let body = with(chat("low"), json!({"model": "small"}));
        let got = stand.post(&body).send().await.unwrap();
        assert_eq!(got.status(), 200);
        assert_eq!(got.headers()[DROPPED], "reasoning_effort");
        assert_eq!(stand.model.seen().len(), asked + requests);
        assert!(stand.model.last().body()["output_config"]["format"].is_object());
    }
    let got = stand.post(&with(weather(), json!({"model": "small"}))).send().await.unwrap();
    assert_eq!((got.status().as_u16(), got.headers().get(DROPPED)), (200, None));
    // Who asks for it by the server's own API is told.
    let own = with(messages(), json!({"model": "small", "output_config": {"effort": "low"}}));
    let fresh = at(ServerApi::Anthropic, refuses).await;
    assert_eq!(ask(&fresh, "/v1/messages", &own).await, 400);
}
