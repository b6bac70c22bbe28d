//! What clients of Ollama's API ask, and what they get.

use del_proxy::ServerApi;
use serde_json::{Value, json};

use super::{HERMES, ask, hermes, post};
use crate::model::{Model, Reply};
use crate::stand::{Stand, document, with};

#[tokio::test]
async fn ollamas_clients_are_answered_in_lines() {
    let stand = Stand::new(hermes()).await;
    let tools = json!([crate::stand::tool("get_weather")]);
    let body = json!({"model": "m", "tools": tools, "options": {"num_predict": 5, "seed": 2}, "format": "json", "messages": [
        {"role": "user", "content": "See.", "images": ["/9jAAA"]},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Rome"}}}]},
        {"role": "tool", "tool_name": "get_weather", "content": "rain"}]});
    let text = post(&stand, "/api/chat", &body).await.text().await.unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let call = lines.iter().find_map(|line| line["message"]["tool_calls"].get(0)).unwrap();
    assert_eq!(call["function"]["arguments"], json!({"city": "Paris"}));
    assert_eq!(
        (&lines.last().unwrap()["done"], &lines.last().unwrap()["done_reason"]),
        (&json!(true), &json!("stop"))
    );
    let sent = stand.model.last().body();
    assert_eq!((&sent["max_tokens"], &sent["seed"], &sent["stream"]), (&json!(5), &json!(2), &json!(true)));
    assert_eq!(sent["response_format"]["type"], "json_object");
    assert_eq!(sent["messages"][0]["content"][1]["image_url"]["url"], "data:image/jpeg;base64,/9jAAA");
    assert_eq!(sent["messages"][1]["tool_calls"][0]["id"], sent["messages"][2]["tool_call_id"]);
    let body = json!({"model": "m", "prompt": "Hi.", "system": "Be brief.", "stream": false});
    let answer = ask(&stand, "/api/generate", &body).await;
    assert_eq!((&answer["response"], &answer["done"]), (&json!(HERMES), &json!(true)));
    assert!(document(stand.get("/api/version").await).await["version"].is_string());
}

#[tokio::test]
async fn ollamas_clients_load_a_model_without_a_word() {
    let stand = Stand::new(hermes()).await;
    for (path, body, reason) in [
        ("/api/generate", json!({"model": "m", "keep_alive": 0}), "unload"),
        ("/api/chat", json!({"model": "m", "messages": [], "keep_alive": "0s"}), "unload"),
        ("/api/chat", json!({"model": "m", "messages": [], "keep_alive": "10m"}), "load"),
        (
            "/api/generate",
            json!({"model": "m", "prompt": "", "system": "Be brief.", "stream": false}),
            "load",
        ),
        ("/api/chat", json!({"model": "m", "messages": []}), "load"),
    ] {
        let line = ask(&stand, path, &body).await;
        assert_eq!(
            (&line["done"], &line["done_reason"], &line["model"]),
            (&json!(true), &json!(reason), &json!("m"))
        );
    }
    assert!(stand.model.seen().is_empty());
    // Where the server has models to load, it is told so.
    let said = json!({"model": "m", "response": "", "done": true, "done_reason": "unload"});
    let stand = Stand::with(Model::saying(Reply::Whole(200, "", said.to_string())), |settings| {
        settings.routes[0].upstreams[0].api = ServerApi::Ollama;
    })
    .await;
    let line = ask(&stand, "/api/generate", &json!({"model": "m", "keep_alive": 0, "stream": false})).await;
    assert_eq!((&line["response"], &line["done_reason"]), (&json!(""), &json!("unload")));
    assert_eq!(stand.model.last().body()["keep_alive"], 0);
}

#[tokio::test]
async fn ollamas_clients_get_vectors_and_see_what_is_loaded() {
    let model = Model::new(|seen| {
        let vectors =
            json!({"data": [{"embedding": [0.5, 1e-9]}, {"embedding": [2]}], "usage": {"prompt_tokens": 4}});
        match seen.path.as_str() {
            "/v1/embeddings" if seen.body()["input"] == "wrong" => {
                Reply::Whole(400, "", json!({"error": {"message": "no vectors here"}}).to_string())
            }
            "/v1/embeddings" => Reply::Whole(200, "", vectors.to_string()),
            "/v1/models" => Reply::Whole(200, "", json!({"data": [{"id": "m", "created": 1}]}).to_string()),
            _ => Reply::Whole(404, "", "{}".to_owned()),
        }
    });
    let stand = Stand::new(model).await;
    let body = json!({"model": "m", "input": ["a", "b"], "dimensions": 2, "truncate": true,
        "options": {"num_ctx": 9}, "é,": 1, "keep_alive": null});
    let response = post(&stand, "/api/embed", &body).await;
    assert_eq!(response.headers()["x-del-dropped-parameters"], "truncate,options,%C3%A9%2C");
    let said = document(response).await;
    assert_eq!((&said["embeddings"], &said["prompt_eval_count"]), (&json!([[0.5, 1e-9], [2]]), &json!(4)));
    let sent = stand.model.last();
    assert_eq!(sent.body(), json!({"model": "m", "input": ["a", "b"], "dimensions": 2}));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    let said = ask(&stand, "/api/embeddings", &json!({"model": "m", "prompt": "a"})).await;
    assert_eq!(said, json!({"embedding": [0.5, 1e-9]}));
    for (body, error) in [
        (json!({"model": "m", "input": 5}), "expected a text or a list of texts as `input`"),
        (json!({"model": "m", "input": "wrong"}), "no vectors here"),
    ] {
        let response = post(&stand, "/api/embed", &body).await;
        assert_eq!(response.status(), 400);
        assert_eq!(document(response).await, json!({"error": error}));
    }
    let loaded = document(stand.get("/api/ps").await).await;
    assert_eq!((&loaded["models"][0]["model"], &loaded["models"][1]), (&json!("m"), &Value::Null));
    assert_eq!(stand.request(reqwest::Method::HEAD, "/").send().await.unwrap().status(), 200);
    assert_eq!(stand.get("/").await.status(), 404);
}

/// Ollama itself knows which models are loaded, also where it is asked by OpenAI's API.
#[tokio::test]
async fn ollama_says_what_is_loaded() {
    let model = Model::new(|seen| match seen.path.as_str() {
        "/api/ps" => {
            Reply::Whole(200, "", json!({"models": [{"model": "loaded", "size_vram": 7}]}).to_string())
        }
        _ => Reply::Whole(200, "", json!({"data": [{"id": "loaded"}, {"id": "other"}]}).to_string()),
    });
    let loaded = document(Stand::new(model).await.get("/api/ps").await).await;
    assert_eq!(loaded, json!({"models": [{"model": "loaded", "size_vram": 7}]}));
}

#[tokio::test]
async fn a_format_that_is_none_is_an_error() {
    let stand = Stand::new(hermes()).await;
    let body = json!({"model": "m", "messages": [], "format": "xml"});
    let response = post(&stand, "/api/chat", &body).await;
    assert_eq!(response.status(), 400);
    let error = "`format` should be \"json\" or a JSON schema, got `\"xml\"`";
    assert_eq!(document(response).await, json!({"error": error}));
}

#[tokio::test]
async fn a_server_of_ollamas_completes_prompts_itself() {
    let said = json!({"model": "served", "response": "b", "done": true, "context": [1, 2]});
    let stand = Stand::with(Model::saying(Reply::Whole(200, "", said.to_string())), |settings| {
        settings.routes[0].upstreams[0].api = ServerApi::Ollama;
        settings.routes[0].model = Some("served".to_owned());
    })
    .await;
    let body =
        json!({"model": "m", "prompt": "a", "suffix": "c", "raw": true, "context": [1], "stream": false});
    assert_eq!(ask(&stand, "/api/generate", &body).await, said);
    let seen = stand.model.last();
    assert_eq!(seen.path, "/api/generate");
    assert_eq!(seen.body(), with(body.clone(), json!({"model": "served"})));
    // Others have no place for it, and that is told.
    let stand = Stand::new(hermes()).await;
    let response = post(&stand, "/api/generate", &body).await;
    assert_eq!(response.headers()["x-del-dropped-parameters"], "suffix,raw,context");
}
