//! Earlier responses, which a client may ask for again.

use del_proxy::{ClientKey, Settings};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::model::{Model, says};
use crate::stand::{Stand, document};

const CALLS: &str =
    "Well.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";

async fn stand(set: impl FnOnce(&mut Settings)) -> Stand {
    Stand::with(Model::new(|seen| says(seen, CALLS, 4)), set).await
}

fn asked(stream: bool) -> Value {
    let tool = json!({"type": "function", "name": "get_weather", "parameters": {"type": "object"}});
    json!({"model": "m", "stream": stream, "tools": [tool], "instructions": "Be brief.", "input": [
        {"role": "user", "content": "Weather in Rome?"},
        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": [
            {"type": "input_text", "text": "rain"}, {"type": "input_image", "image_url": "data:x"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "And in Paris?"}]},
    ]})
}

/// The response, as it came.
async fn told(stand: &Stand, body: &Value, key: &str) -> Value {
    let request = stand.request(Method::POST, "/v1/responses").bearer_auth(key).body(body.to_string());
    let text = request.send().await.unwrap().text().await.unwrap();
    let last: Value = serde_json::from_str(text.trim_end().rsplit("data: ").next().unwrap()).unwrap();
    last.get("response").unwrap_or(&last).clone()
}

async fn send(stand: &Stand, method: Method, path: &str, key: &str) -> Response {
    stand.request(method, &format!("/v1/responses/{path}")).bearer_auth(key).send().await.unwrap()
}

async fn get(stand: &Stand, path: &str) -> (u16, Value) {
    let response = send(stand, Method::GET, path, "").await;
    (response.status().as_u16(), document(response).await)
}

#[tokio::test]
async fn a_response_is_there_again_until_it_is_deleted() {
    let stand = stand(|_| {}).await;
    for stream in [false, true] {
        let response = told(&stand, &asked(stream), "").await;
        assert_eq!(response["output"][1]["status"], "completed", "{response}");
        let id = response["id"].as_str().unwrap();
        assert_eq!(get(&stand, id).await, (200, response.clone()));
        assert_eq!(get(&stand, &format!("{id}?include=message.output_text.logprobs")).await.0, 200);
        assert_eq!(get(&stand, &format!("{id}?stream=true")).await.0, 400);
        assert_eq!(send(&stand, Method::POST, &format!("{id}/cancel"), "").await.status(), 400);
        let deleted = send(&stand, Method::DELETE, id, "").await;
        assert_eq!(deleted.status(), 200);
        assert_eq!(document(deleted).await, json!({"id": id, "object": "response", "deleted": true}));
        let (status, body) = get(&stand, id).await;
        let error = &body["error"];
        assert_eq!(
            (status, &error["type"], &error["param"]),
            (404, &json!("invalid_request_error"), &Value::Null)
        );
        assert_eq!(error["message"], format!("Response with id '{id}' not found."));
        for (method, path) in [
            (Method::DELETE, id.to_owned()),
            (Method::GET, format!("{id}/input_items")),
            (Method::POST, format!("{id}/cancel")),
        ] {
            assert_eq!(send(&stand, method, &path, "").await.status(), 404, "{path}");
        }
        let mut next = asked(false);
        next["previous_response_id"] = json!(id);
        assert_eq!(told(&stand, &next, "").await["error"]["type"], "invalid_request_error");
    }
}

#[tokio::test]
async fn what_a_response_was_given_to_is_listed_in_pages() {
    let stand = stand(|_| {}).await;
    let response = told(&stand, &asked(false), "").await;
    let id = response["id"].as_str().unwrap();
    let path = format!("{id}/input_items");
    let (_, all) = get(&stand, &format!("{path}?order=asc")).await;
    assert_eq!((&all["object"], &all["has_more"]), (&json!("list"), &json!(false)));
    let mut items = all["data"].as_array().unwrap().clone();
    assert_eq!((&all["first_id"], &all["last_id"]), (&items[0]["id"], &items[3]["id"]));
    let bare: Vec<Value> = items
        .iter()
        .cloned()
        .map(|mut item| {
            assert!(item["id"].as_str().unwrap().len() > 10 && item["status"] == "completed", "{item}");
            item.as_object_mut().unwrap().retain(|name, _| name != "id" && name != "status");
            item
        })
        .collect();
    let user = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    assert_eq!(
        json!(bare),
        json!([
            user("Weather in Rome?"),
            {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": [
                {"type": "input_text", "text": "rain"},
                {"type": "input_image", "image_url": "data:x", "detail": "auto"}]},
            user("And in Paris?"),
        ])
    );
    // The newest come first.
    items.reverse();
    assert_eq!(get(&stand, &path).await.1["data"], json!(items));
    let (_, page) = get(&stand, &format!("{path}?limit=2")).await;
    assert_eq!((&page["data"], &page["has_more"]), (&json!(items[..2]), &json!(true)));
    let after = page["last_id"].as_str().unwrap();
    let (_, page) = get(&stand, &format!("{path}?limit=2&after={after}")).await;
    assert_eq!((&page["data"], &page["has_more"]), (&json!(items[2..]), &json!(false)));
    for wrong in ["limit=0", "limit=101", "limit=x", "order=up", "after=msg_1"] {
        assert_eq!(get(&stand, &format!("{path}?{wrong}")).await.0, 400, "{wrong}");
    }
    // What was asked in an earlier response belongs to the conversation, and so does the answer.
    let next = json!({"model": "m", "input": "And now?", "previous_response_id": id});
    let next = told(&stand, &next, "").await;
    let path = format!("{}/input_items?order=asc", next["id"].as_str().unwrap());
    let (_, all) = get(&stand, &path).await;
    let kinds: Vec<&str> =
        all["data"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[3..], ["message", "message", "function_call", "message"], "{all}");
    assert_eq!(all["data"][4]["content"][0]["type"], "output_text");
}

#[tokio::test]
async fn what_others_said_is_not_there() {
    what_others_said(401, || vec![ClientKey::new("a", "key-a"), ClientKey::new("b", "key-b")]).await;
    // Where the proxy asks for no key, clients may show those of the model server.
    what_others_said(404, Vec::new).await;
}

async fn what_others_said(stranger: u16, keys: impl FnOnce() -> Vec<ClientKey>) {
    let stand = stand(|settings| settings.keys = keys()).await;
    let response = told(&stand, &asked(false), "key-a").await;
    let id = response["id"].as_str().unwrap();
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(send(&stand, method, id, "key-b").await.status(), 404);
    }
    for other in ["wrong", ""] {
        assert_eq!(send(&stand, Method::GET, id, other).await.status(), stranger);
    }
    let mut next = asked(false);
    next["previous_response_id"] = json!(id);
    assert!(told(&stand, &next, "key-b").await["error"].is_object());
    assert_eq!(told(&stand, &next, "key-a").await["status"], "completed");
    assert_eq!(send(&stand, Method::GET, id, "key-a").await.status(), 200);
}

#[tokio::test]
async fn nothing_is_there_where_nothing_is_kept() {
    for (memory, store) in [(0, true), (1 << 20, false)] {
        let stand = stand(|settings| settings.memory = memory).await;
        let mut body = asked(false);
        body["store"] = json!(store);
        let response = told(&stand, &body, "").await;
        let (status, said) = get(&stand, response["id"].as_str().unwrap()).await;
        assert_eq!(status, 404);
        assert!(said["error"]["hint"].as_str().unwrap().contains("--response-memory"), "{said}");
    }
}
