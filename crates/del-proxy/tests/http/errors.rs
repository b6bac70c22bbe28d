//! What a client is told when there is no answer.

mod sentences;

use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, event, says};
use crate::stand::{Stand, document, streamed, weather, with};

#[tokio::test]
async fn a_server_that_is_not_there() {
    let mut model = Model::away();
    let shown = model.base.clone();
    model.base = shown.replace("//", "//user:s3cret@");
    let stand = Stand::new(model).await;
    for body in [weather(), streamed(weather()), json!({"messages": []})] {
        let response = stand.post(&body).send().await.unwrap();
        assert_eq!(response.status(), 502);
        let error = document(response).await["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("cannot reach the model server at {shown} (")), "{message}");
        assert!(!message.contains("s3cret"));
        assert!(error["hint"].as_str().unwrap().contains("--upstream"), "{error}");
    }
    let health = document(stand.get("/health").await).await;
    assert_eq!((&health["status"], &health["upstream"]["status"]), (&json!("ok"), &json!("unreachable")));
}

#[tokio::test]
async fn refusals_keep_their_status_and_get_the_shape_of_the_api() {
    for (said, message) in [
        (r#"{"error": {"message": "slow down", "type": "tokens", "code": 7}}"#, "slow down"),
        (r#"{"error": "slow down"}"#, "slow down"),
        (r#"{"detail": "slow down"}"#, "slow down"),
        ("<html>busy</html>", "expected an error message in JSON, got `<html>busy</html>`"),
    ] {
        let stand = Stand::new(Model::saying(Reply::Whole(429, "retry-after: 7\r\n", said.to_owned()))).await;
        let response = stand.post(&streamed(weather())).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["retry-after"]),
            (429, &"7".parse().unwrap())
        );
        let error = document(response).await["error"].clone();
        assert_eq!(error["message"], message);
        let named = if said.contains("tokens") {
            (json!("tokens"), json!(7))
        } else {
            (json!("rate_limit_error"), json!("rate_limit_exceeded"))
        };
        assert_eq!((error["type"].clone(), error["code"].clone()), named);
    }
}

#[tokio::test]
async fn answers_that_are_none() {
    let stand = Stand::new(Model::saying(Reply::Whole(200, "", "<html>".to_owned()))).await;
    let plain = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]});
    for body in [weather(), streamed(weather()), plain.clone(), streamed(plain)] {
        let response = stand.post(&body).send().await.unwrap();
        assert_eq!(response.status(), 502);
        let error = document(response).await["error"].clone();
        assert!(error["message"].as_str().unwrap().contains("expected JSON, got `<html>`"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("--upstream"), "{error}");
    }

    let refused = "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n";
    let begun = event(&json!({"content": "Let me"}), None) + refused;
    let stand = Stand::new(Model::saying(Reply::Stream(vec![begun.into()], Then::End))).await;
    let error = json!({"error": {"message": "out of memory", "code": 500, "type": "server_error"}});
    assert_eq!(stand.events(&streamed(weather())).await.last(), Some(&error));
}

/// Some gateways answer with status 200 whatever happens.
#[tokio::test]
async fn an_error_in_the_place_of_an_answer_is_what_it_says() {
    let messages = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]});
    for (said, status, code, kind) in [
        (
            json!({"message": "This model's maximum context length is 10 tokens.", "code": 400}),
            400,
            json!("context_length_exceeded"),
            "invalid_request_error",
        ),
        (json!({"message": "no such key", "code": 401}), 401, json!(401), "authentication_error"),
        (json!({"message": "no such model", "code": 404}), 404, json!(404), "not_found_error"),
        (json!({"message": "slow down", "code": 429}), 429, json!(429), "rate_limit_error"),
        (json!({"message": "out of memory", "code": 500}), 500, json!(500), "api_error"),
        (json!({"message": "loading", "code": 503}), 503, json!(503), "api_error"),
        (
            json!({"message": "no", "type": "invalid_request_error"}),
            400,
            Value::Null,
            "invalid_request_error",
        ),
        (json!({"message": "no", "type": "overloaded_error"}), 529, Value::Null, "overloaded_error"),
        (json!({"message": "no"}), 502, Value::Null, "api_error"),
    ] {
        let body = json!({ "error": said });
        let event = format!("data: {body}\n\n").into_bytes();
        for reply in [Reply::Whole(200, "", body.to_string()), Reply::Stream(vec![event], Then::End)] {
            let is_stream = matches!(reply, Reply::Stream(..));
            let stand = Stand::new(Model::saying(reply)).await;
            // A stream of which nothing has gone out is none yet.
            for stream in [is_stream, true] {
                let asked = with(weather(), json!({"stream": stream}));
                let response = stand.post(&asked).send().await.unwrap();
                assert_eq!(response.status(), status, "{said} {stream}");
                let error = document(response).await["error"].clone();
                assert_eq!((&error["message"], &error["code"]), (&said["message"], &code));
                let known = match status {
                    401 => "authentication_error",
                    429 => "rate_limit_error",
                    400..500 => "invalid_request_error",
                    _ => "server_error",
                };
                assert_eq!(error["type"], said["type"].as_str().unwrap_or(known));
                let asked = with(messages.clone(), json!({"stream": stream}));
                let request = stand.request(Method::POST, "/v1/messages").body(asked.to_string());
                let response = request.send().await.unwrap();
                assert_eq!(response.status(), status, "{said} {stream}");
                assert_eq!(document(response).await["error"]["type"], kind);
            }
        }
        // Behind a beginning it is an event, of the same kind.
        let begun = crate::model::event(&json!({"content": "Let me"}), None) + &format!("data: {body}\n\n");
        let stand = Stand::new(Model::saying(Reply::Stream(vec![begun.into()], Then::End))).await;
        let asked = with(messages.clone(), json!({"stream": true}));
        let request = stand.request(Method::POST, "/v1/messages").body(asked.to_string());
        let text = request.send().await.unwrap().text().await.unwrap();
        assert!(text.contains(&format!(r#""error":{{"type":"{kind}""#)), "{kind}: {text}");
    }
}

/// The server refuses once the client has heard that it is asked: what was its status is the kind of an event.
#[tokio::test]
async fn the_status_of_a_refusal_that_comes_late_is_told_as_its_kind() {
    let body = json!({"model": "m", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "Hi."}]});
    for (status, kind) in [
        (400, "invalid_request_error"),
        (404, "not_found_error"),
        (429, "rate_limit_error"),
        (529, "overloaded_error"),
    ] {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let wait = std::sync::Mutex::new(wait);
        let model = Model::new(move |_| {
            wait.lock().unwrap().recv().unwrap();
            Reply::Whole(status, "", json!({"error": {"message": "no"}}).to_string())
        });
        let stand =
            Stand::with(model, |settings| settings.keep_alive = std::time::Duration::from_millis(5)).await;
        let request = stand.request(Method::POST, "/v1/messages").body(body.to_string());
        let mut response = request.send().await.unwrap();
        response.chunk().await.unwrap();
        go.send(()).unwrap();
        let text = response.text().await.unwrap();
        assert!(text.contains(&format!(r#""error":{{"type":"{kind}""#)), "{kind}: {text}");
    }
}

#[tokio::test]
async fn requests_that_are_none() {
    let stand = Stand::new(Model::new(|seen| says(seen, "hi", 1))).await;
    for (body, says) in [
        (json!([]), "expected a JSON object as body"),
        (json!({"model": "m"}), "expected a list as `messages`"),
    ] {
        let response = stand.post(&body).send().await.unwrap();
        assert_eq!(response.status(), 400);
        let error = document(response).await["error"].clone();
        assert!(error["message"].as_str().unwrap().starts_with(says), "{error}");
        assert_eq!((&error["type"], &error["param"]), (&json!("invalid_request_error"), &Value::Null));
    }
    let response = stand.get("/chat/completions").await;
    assert_eq!(response.status(), 404);
    assert!(document(response).await["error"]["hint"].as_str().unwrap().contains("/v1"));
    let response = stand.get("/v1/chat/completions").await;
    assert_eq!(response.status(), 405);
    assert_eq!(document(response).await["error"]["message"], "/v1/chat/completions takes no GET");
    assert!(stand.model.seen().is_empty());
}

#[tokio::test]
async fn members_of_another_type_are_refused_in_every_api() {
    let stand = Stand::new(Model::new(|seen| says(seen, "hi", 1))).await;
    let user = json!([{"role": "user", "content": "Hi."}]);
    let anthropic = |members: Value| with(json!({"model": "m", "max_tokens": 9, "messages": user}), members);
    let responses = |members: Value| with(json!({"model": "m", "input": "Hi."}), members);
    let ollama = |members: Value| with(json!({"model": "m", "messages": user}), members);
    for (path, body, says) in [
        ("/v1/chat/completions", with(weather(), json!({"stream": "yes"})), "`stream`, got `\"yes\"`"),
        ("/v1/messages", anthropic(json!({"stream": 1})), "`stream`"),
        ("/v1/messages", anthropic(json!({"tools": {}})), "`tools` should be a list"),
        ("/v1/messages", anthropic(json!({"tools": [{"name": 1}]})), "tools[0].function.name"),
        (
            "/v1/messages",
            anthropic(json!({"messages": [{"role": "user", "content": 5}]})),
            "messages[0].content",
        ),
        ("/v1/responses", responses(json!({"tools": {}})), "`tools` should be a list"),
        ("/v1/responses", responses(json!({"tools": [{"type": "function"}]})), "tools[0].function.name"),
        ("/v1/responses", responses(json!({"input": [{"role": "user", "content": 5}]})), "input[0].content"),
        ("/v1/responses", responses(json!({"previous_response_id": 5})), "an earlier response, got `5`"),
        ("/api/chat", ollama(json!({"tools": {}})), "`tools` should be a list"),
        ("/api/chat", ollama(json!({"stream": "no"})), "`stream`"),
        ("/api/chat", ollama(json!({"messages": ["Hi."]})), "messages[0]"),
        ("/api/chat", ollama(json!({"messages": [{"role": "user", "content": []}]})), "messages[0]"),
    ] {
        let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
        assert_eq!(response.status(), 400, "{path} {body}");
        let error = document(response).await["error"].clone();
        let message = error.as_str().or(error["message"].as_str()).unwrap();
        assert!(message.contains(says), "{path} {body}: {message}");
    }
    assert!(stand.model.seen().is_empty());
}

#[tokio::test]
async fn another_method_names_those_that_there_are() {
    let stand = Stand::new(Model::saying(Reply::Silence)).await;
    for (method, path, allowed) in [
        (Method::GET, "/v1/messages", "POST"),
        (Method::GET, "/api/chat", "POST"),
        (Method::POST, "/api/tags", "GET,HEAD"),
        (Method::GET, "/v1/responses", "POST"),
    ] {
        let response = stand.request(method, path).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), response.headers()["allow"].to_str().unwrap()),
            (405, allowed)
        );
    }
}

#[tokio::test]
async fn what_goes_on_unread_ends_with_an_error_of_the_api_as_well() {
    let plain = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]});
    let stand =
        Stand::new(Model::saying(Reply::Whole(502, "retry-after: 7\r\n", "<html>busy</html>".into()))).await;
    for body in [plain.clone(), streamed(plain.clone())] {
        let response = stand.post(&body).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), response.headers()["retry-after"].to_str().unwrap()),
            (502, "7")
        );
        let message = document(response).await["error"]["message"].clone();
        assert_eq!(message, "expected an error message in JSON, got `<html>busy</html>`");
    }
    let begun = event(&json!({"content": "Let me"}), None).into_bytes();
    let stand = Stand::new(Model::saying(Reply::Stream(vec![begun.clone()], Then::Cut))).await;
    let response = stand.post(&plain).send().await.unwrap();
    assert_eq!(response.status(), 502);
    let message = document(response).await["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("broke off in the middle of its answer"), "{message}");
    let events = stand.events(&streamed(plain.clone())).await;
    assert_eq!(events[0]["choices"][0]["delta"]["content"], "Let me");
    let message = events[1]["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("the model server broke off in the middle of its answer: "), "{message}");
    assert_eq!(events.len(), 2);
    // Behind half an event there is no place for one.
    let half = [&*begun, &begun[..20]].concat();
    let stand = Stand::new(Model::saying(Reply::Stream(vec![half], Then::Cut))).await;
    let got = async { stand.post(&streamed(plain)).send().await?.text().await };
    assert!(got.await.is_err());
}

#[tokio::test]
async fn a_servers_refusal_has_the_shape_of_the_clients_api() {
    let said =
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"r"}"#;
    let reply = Reply::Whole(429, "retry-after: 7\r\n", said.to_owned());
    let stand = Stand::with(Model::saying(reply), |settings| {
        settings.routes[0].upstreams[0].api = ServerApi::Anthropic;
    })
    .await;
    let messages = json!([{"role": "user", "content": "Hi."}]);
    for (path, body, error) in [
        (
            "/v1/chat/completions",
            json!({"messages": messages}),
            json!({"error": {"message": "slow down", "type": "rate_limit_error", "param": null,
                "code": "rate_limit_exceeded"}}),
        ),
        (
            "/v1/messages",
            json!({"messages": messages, "max_tokens": 9}),
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}),
        ),
        ("/api/chat", json!({"messages": messages}), json!({"error": "slow down"})),
    ] {
        let mut body = body;
        body["model"] = json!("m");
        let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["retry-after"]),
            (429, &"7".parse().unwrap())
        );
        assert_eq!(document(response).await, error, "{path}");
    }
    let several = json!({"model": "m", "messages": messages, "n": 2});
    let response = stand.post(&several).send().await.unwrap();
    assert_eq!(response.status(), 400);
    assert!(response.text().await.unwrap().contains("no more than one choice"));
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_known_by_its_error() {
    let words = "This model's maximum context length is 10 tokens.";
    let messages = json!([{"role": "user", "content": "Hi."}]);
    let body = json!({"model": "m", "messages": messages, "input": "Hi.", "max_tokens": 9});
    // A server's own code is another one, and often a number.
    for said in [
        json!({"object": "error", "message": words, "code": 400}),
        json!({"error": {"message": words, "type": "BadRequestError", "param": null, "code": 400}}),
        json!({"error": {"message": words, "type": "exceed_context_size_error", "code": 400, "n_ctx": 10}}),
        json!({"error": words}),
    ] {
        let stand = Stand::new(Model::saying(Reply::Whole(400, "", said.to_string()))).await;
        for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages"] {
            let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
            let error = document(response).await["error"].clone();
            let message = error["message"].as_str().unwrap();
            assert!(message.ends_with(words), "{message}");
            if path == "/v1/messages" {
                assert!(message.starts_with("prompt is too long: "), "{message}");
            } else {
                assert_eq!(error["code"], "context_length_exceeded", "{said} to {path}");
            }
        }
    }
}

/// What is said of such a conversation to clients of each API.
fn is_told_as_too_long(path: &str, text: &str) -> bool {
    text.contains(match path {
        "/v1/messages" => r#""message":"prompt is too long: This model"#,
        _ => r#""code":"context_length_exceeded""#,
    })
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_known_in_a_stream_as_well() {
    let said =
        json!({"error": {"message": "This model's maximum context length is 10 tokens.", "code": 400}});
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}], "input": "Hi.", "max_tokens": 9,
        "stream": true});
    for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages"] {
        let event = format!("data: {said}\n\n").into_bytes();
        let stand = Stand::new(Model::saying(Reply::Stream(vec![event], Then::End))).await;
        let mut body = body.clone();
        body["tools"] = match path {
            "/v1/messages" => json!([{"name": "f", "input_schema": {"type": "object"}}]),
            "/v1/responses" => json!([{"type": "function", "name": "f"}]),
            _ => json!([{"type": "function", "function": {"name": "f"}}]),
        };
        let request = stand.request(Method::POST, path).body(body.to_string());
        let text = request.send().await.unwrap().text().await.unwrap();
        assert!(is_told_as_too_long(path, &text), "{path}: {text}");
        // The server refuses once the client has heard that it is asked.
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let (wait, refusal) = (std::sync::Mutex::new(wait), said.to_string());
        let model = Model::new(move |_| {
            wait.lock().unwrap().recv().unwrap();
            Reply::Whole(400, "", refusal.clone())
        });
        let stand =
            Stand::with(model, |settings| settings.keep_alive = std::time::Duration::from_millis(5)).await;
        let request = stand.request(Method::POST, path).body(body.to_string());
        let mut response = request.send().await.unwrap();
        response.chunk().await.unwrap();
        go.send(()).unwrap();
        let text = response.text().await.unwrap();
        assert!(is_told_as_too_long(path, &text), "{path}: {text}");
    }
}

#[tokio::test]
async fn an_overloaded_server_is_one_in_a_stream_as_well() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let start = json!({"type": "message_start", "message": {"id": "msg", "model": "c"}});
    let delta =
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}});
    let block =
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let stand = async |said: &[&Value]| {
        let events =
            said.iter().map(|data| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()));
        let model = Model::saying(Reply::Stream(vec![events.collect::<String>().into_bytes()], Then::End));
        Stand::with(model, |settings| settings.routes[0].upstreams[0].api = ServerApi::Anthropic).await
    };
    let body = json!({"model": "m", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "Hi."}]});
    let ping = json!({"type": "ping"});
    let early = stand(&[&start, &ping, &error]).await;
    let response = early.request(Method::POST, "/v1/messages").body(body.to_string()).send().await.unwrap();
    assert_eq!(response.status(), 529, "nothing has gone out");
    let stand = stand(&[&start, &block, &delta, &error]).await;
    let response = stand.request(Method::POST, "/v1/messages").body(body.to_string()).send().await.unwrap();
    let text = response.text().await.unwrap();
    assert!(text.ends_with(&format!("event: error\ndata: {error}\n\n")), "{text}");
    let response = stand.post(&body).send().await.unwrap().text().await.unwrap();
    let last: Value = serde_json::from_str(response.trim_end().rsplit("data: ").next().unwrap()).unwrap();
    assert_eq!(last["error"]["message"], "Overloaded");
    assert!(last.get("type").is_none(), "{last}");
}
