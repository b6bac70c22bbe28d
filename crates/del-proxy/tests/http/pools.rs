//! Several servers of a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, Then, completion, event, says};
use crate::stand::{Stand, assembled, document, route, streamed, weather};

/// A server that says its name.
fn named(name: &'static str) -> Model {
    Model::new(move |seen| match seen.path.as_str() {
        "/v1/models" => Reply::Whole(200, "", json!({"data": [{"id": name}]}).to_string()),
        _ => says(seen, name, 3),
    })
}

/// A proxy in front of all of them.
async fn stand(models: &[&Model]) -> Stand {
    Stand::with(Model::at(models[0].base.clone()), |settings| {
        settings.routes = vec![route(models)];
        settings.metrics = true;
    })
    .await
}

async fn words(stand: &Stand, count: usize, body: &Value) -> Vec<String> {
    let mut words = Vec::new();
    for _ in 0..count {
        words.push(if body["stream"] == true {
            assembled(&stand.events(body).await).0
        } else {
            stand.message(body).await["content"].as_str().unwrap().to_owned()
        });
    }
    words
}

#[tokio::test]
async fn servers_take_turns() {
    let (a, b, c) = (named("a"), named("b"), named("c"));
    let stand = stand(&[&a, &b, &c]).await;
    assert_eq!(words(&stand, 6, &weather()).await, ["a", "b", "c", "a", "b", "c"]);
    let text = stand.get("/metrics").await.text().await.unwrap();
    for (model, count) in [(&a, 2), (&b, 2), (&c, 2)] {
        let line =
            format!("del_upstream_requests_total{{upstream=\"{}\",ended=\"answered\"}} {count}", model.base);
        assert!(text.contains(&line), "{line}: {text}");
        assert!(text.contains(&format!("del_upstream_up{{upstream=\"{}\"}} 1", model.base)), "{text}");
    }
}

#[tokio::test]
async fn what_one_server_cannot_answer_another_does() {
    let whole = |status, said: &str| Model::saying(Reply::Whole(status, "", said.to_owned()));
    let cut = |pieces: Vec<Vec<u8>>| Model::saying(Reply::Stream(pieces, Then::Cut));
    let began = |event: &str| {
        // However its bytes come.
        let pieces = event.as_bytes().chunks(9).map(<[u8]>::to_vec).chain([b"\n\n".to_vec()]);
        Model::saying(Reply::Stream(pieces.collect(), Then::End))
    };
    let half = completion(&json!({"role": "assistant", "content": "half"}), "stop").to_string();
    let half = half.as_bytes()[..40].to_vec();
    for (broken, streams) in [
        (Model::away(), true),
        (Model::away(), false),
        (whole(503, r#"{"error": {"message": "Loading model"}}"#), true),
        (whole(502, ""), false),
        (whole(429, r#"{"error": {"message": "slow down"}}"#), false),
        (whole(529, r#"{"error": {"message": "overloaded"}}"#), false),
        (whole(200, r#"{"error": {"message": "Loading model", "code": 503}}"#), false),
        (whole(200, "{\n  \"error\": {\n    \"message\": \"slow down\", \"code\": 429\n  }\n}"), true),
        (began(r#"data: {"error": {"message": "away", "code": 502}}"#), true),
        (
            began(
                ": waits\n\nevent: error\ndata: {\"error\": {\"message\": \"no\", \"type\": \"overloaded_error\"}}",
            ),
            true,
        ),
        (cut(Vec::new()), true),
        (cut(Vec::new()), false),
        // Nothing of an answer that comes at once has gone out before it is whole.
        (cut(vec![half]), false),
    ] {
        // What goes on unread is kept to the same.
        for body in [weather(), json!({"model": "m", "messages": []})] {
            let works = named("works");
            let stand = stand(&[&broken, &works]).await;
            let body = if streams { streamed(body) } else { body };
            assert_eq!(words(&stand, 2, &body).await, ["works", "works"], "{}", broken.base);
            let text = stand.get("/metrics").await.text().await.unwrap();
            assert!(text.contains("del_upstream_retries_total 1"), "{text}");
        }
    }
}

#[tokio::test]
async fn once_text_went_out_nothing_is_asked_again() {
    let begin = event(&json!({"content": "Once upon "}), None).into_bytes();
    let (breaks, works) = (Model::saying(Reply::Stream(vec![begin], Then::Cut)), named("works"));
    let stand = stand(&[&breaks, &works]).await;
    let told = stand.events(&streamed(weather())).await;
    assert_eq!(assembled(&told).0, "Once upon ");
    let error = told.last().unwrap()["error"]["message"].as_str().unwrap();
    assert!(error.contains("broke off"), "{error}");
    assert!(works.seen().is_empty());
}

#[tokio::test]
async fn an_error_of_the_request_is_not_asked_again() {
    for (status, error, told) in [
        (400, json!({"message": "too long"}), 400),
        (200, json!({"message": "too long", "code": 400}), 400),
        // Whose fault it is, nobody says.
        (200, json!({"message": "too long"}), 502),
    ] {
        let refuses = Model::saying(Reply::Whole(status, "", json!({"error": error}).to_string()));
        for body in [weather(), json!({"model": "m", "messages": []})] {
            let works = named("works");
            let stand = stand(&[&refuses, &works]).await;
            let response = stand.post(&body).send().await.unwrap();
            assert_eq!(response.status(), told);
            assert_eq!(document(response).await["error"]["message"], "too long");
            assert!(works.seen().is_empty());
        }
    }
}

#[tokio::test]
async fn a_server_that_fails_is_left_alone_until_it_is_back() {
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, broken) = (Arc::clone(&asked), Arc::new(AtomicUsize::new(1)));
    let is_broken = Arc::clone(&broken);
    let failing = Model::new(move |seen: &Seen| {
        let broken = is_broken.load(Ordering::SeqCst) == 1;
        match seen.path.as_str() {
            _ if broken && seen.path == "/v1/models" => Reply::Whole(500, "", String::new()),
            "/v1/models" => Reply::Whole(200, "", json!({"data": []}).to_string()),
            _ => {
                count.fetch_add(1, Ordering::SeqCst);
                if broken { Reply::Whole(503, "", String::new()) } else { says(seen, "back", 3) }
            }
        }
    });
    let works = named("works");
    let stand = Stand::with(Model::at(works.base.clone()), |settings| {
        settings.routes = vec![route(&[&failing, &works])];
        settings.health_interval = Duration::from_millis(20);
    })
    .await;
    let start = Instant::now();
    assert!(words(&stand, 12, &weather()).await.iter().all(|word| word == "works"));
    let tries = asked.load(Ordering::SeqCst);
    // One left alone is tried again after five seconds at the earliest: on a busy machine that may be now.
    let again = start.elapsed().as_secs() / 5;
    assert!(tries as u64 <= 3 + again, "asked {tries} times");
    let health = document(stand.get("/health").await).await;
    assert_eq!(
        (&health["upstream"]["status"], &health["upstreams"][0]["status"]),
        (&json!("ok"), &json!("error"))
    );
    assert_eq!(
        (&health["upstreams"][1]["url"], &health["upstreams"][1]["status"]),
        (&json!(works.base), &json!("ok"))
    );
    let ready = stand.get("/ready").await;
    assert_eq!(ready.status(), 200);
    assert_eq!(document(ready).await["upstreams"][0]["ready"], false);
    broken.store(0, Ordering::SeqCst);
    // The look at its health finds it, and it takes its turns again.
    while !words(&stand, 2, &weather()).await.contains(&"back".to_owned()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn where_all_are_away_each_is_asked_and_the_error_is_clear() {
    let (one, other) = (Model::away(), Model::away());
    let stand = stand(&[&one, &other]).await;
    for _ in 0..5 {
        let response = stand.post(&weather()).send().await.unwrap();
        assert_eq!(response.status(), 502);
        let error = document(response).await;
        assert!(
            error["error"]["message"].as_str().unwrap().starts_with("cannot reach the model server at"),
            "{error}"
        );
    }
    let response = stand.get("/ready").await;
    assert_eq!(response.status(), 503);
}
