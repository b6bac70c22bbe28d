//! Servers that refuse in no more than a sentence, wherever they say it.

use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply};
use crate::stand::{Stand, document};

#[tokio::test]
async fn a_refusal_in_a_sentence_has_the_type_that_its_status_means() {
    let sentence = "no model of that name";
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}], "input": "Hi.", "max_tokens": 9});
    for (status, kind, code, anthropic) in [
        (400, "invalid_request_error", Value::Null, "invalid_request_error"),
        (401, "authentication_error", json!("invalid_api_key"), "authentication_error"),
        (403, "permission_error", Value::Null, "permission_error"),
        (404, "invalid_request_error", json!("model_not_found"), "not_found_error"),
        (422, "invalid_request_error", Value::Null, "invalid_request_error"),
        (429, "rate_limit_error", json!("rate_limit_exceeded"), "rate_limit_error"),
        (500, "server_error", Value::Null, "api_error"),
    ] {
        for said in [
            json!({"error": sentence}),
            json!({"detail": sentence}),
            json!({"message": sentence}),
            json!({"error": {"message": sentence}}),
            json!({"object": "error", "message": sentence, "param": null}),
        ] {
            for api in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Anthropic, ServerApi::Ollama] {
                let stand =
                    Stand::with(Model::saying(Reply::Whole(status, "", said.to_string())), |settings| {
                        settings.routes[0].upstreams[0].api = api;
                    })
                    .await;
                for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat"] {
                    let request = stand.request(Method::POST, path).body(body.to_string());
                    let response = request.send().await.unwrap();
                    assert_eq!(response.status(), status);
                    let got = document(response).await;
                    let (told, at) = (&got["error"], format!("{status} {said} {api:?} {path}: {got}"));
                    match path {
                        "/api/chat" => assert_eq!(*told, sentence, "{at}"),
                        "/v1/messages" => {
                            assert_eq!(got["type"], "error", "{at}");
                            assert_eq!(*told, json!({"type": anthropic, "message": sentence}), "{at}");
                        }
                        _ => {
                            assert_eq!(
                                (&told["message"], &told["type"]),
                                (&json!(sentence), &json!(kind)),
                                "{at}"
                            );
                            assert_eq!(told["code"], code, "{at}");
                        }
                    }
                }
            }
        }
    }
}
