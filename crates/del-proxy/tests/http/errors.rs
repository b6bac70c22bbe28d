//! What a client is told when there is no answer.

use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, says};
use crate::stand::{Stand, document, events, streamed, weather};

#[tokio::test]
async fn a_server_that_is_not_there() {
    let mut model = Model::saying(Reply::Silence);
    // Nothing listens on the port of a socket that is gone.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    model.base = format!("http://user:s3cret@{free}/v1");
    let stand = Stand::new(model).await;
    for body in [weather(), streamed(weather()), json!({"messages": []})] {
        let response = stand.post(&body).send().await.unwrap();
        assert_eq!(response.status(), 502);
        let error = document(response).await["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with(&format!("cannot reach the model server at http://{free}/v1 (")),
            "{message}"
        );
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
        assert_eq!(error["code"], if said.contains("tokens") { json!(7) } else { Value::Null });
    }
}

#[tokio::test]
async fn answers_that_are_none() {
    let stand = Stand::new(Model::saying(Reply::Whole(200, "", "<html>".to_owned()))).await;
    let response = stand.post(&weather()).send().await.unwrap();
    assert_eq!(response.status(), 502);
    let error = document(response).await["error"]["message"].clone();
    assert!(error.as_str().unwrap().contains("expected JSON, got `<html>`"), "{error}");
    let error = &stand.events(&streamed(weather())).await[0]["error"]["message"];
    assert!(error.as_str().unwrap().contains("got `<html>`"), "{error}");

    let refused = "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n";
    let stand = Stand::new(Model::saying(Reply::Stream(vec![refused.into()], Then::End))).await;
    let response = stand.post(&streamed(weather())).send().await.unwrap();
    let error = json!({"error": {"message": "out of memory", "code": 500}});
    assert_eq!(events(&response.text().await.unwrap()), [error]);
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
