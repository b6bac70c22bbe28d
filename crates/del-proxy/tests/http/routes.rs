//! Which server a request goes to, by its model, and how much may be asked.

use del_proxy::{ClientKey, RouteSettings, Settings};
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, completion, says};
use crate::stand::{Stand, document, events, route, streamed, weather, with};

/// A server with these models, whose answers say what it was asked for.
fn server(models: &'static [&'static str]) -> Model {
    Model::new(move |seen: &Seen| {
        if seen.path.ends_with("/models") {
            let list: Value = models.iter().map(|name| json!({"id": name, "created": 7, "own": 1})).collect();
            return Reply::Whole(200, "", json!({"data": list}).to_string());
        }
        let said = format!("{} as {}", models[0], seen.body()["model"].as_str().unwrap_or_default());
        if seen.path.ends_with("/embeddings") {
            Reply::Whole(200, "", json!({"said": said}).to_string())
        } else {
            says(seen, &said, 4)
        }
    })
}

fn leading(models: &[&str], server: &Model, target: Option<&str>) -> RouteSettings {
    RouteSettings {
        models: models.iter().map(|name| (*name).to_owned()).collect(),
        model: target.map(str::to_owned),
        ..route(&[server])
    }
}

#[tokio::test]
async fn the_name_of_the_model_decides_where_a_request_goes() {
    let (big, small) = (server(&["big-1", "big-2", "secret"]), server(&["small"]));
    let stand = Stand::with(server(&["any"]), |settings| {
        settings.routes.insert(0, leading(&["big-*"], &big, None));
        settings.routes.insert(1, leading(&["gpt-4o", "big-9"], &small, Some("small")));
    })
    .await;
    for (model, said) in [
        ("big-1", "big-1 as big-1"),
        ("big-7", "big-1 as big-7"),
        ("big-9", "small as small"),
        ("gpt-4o", "small as small"),
        ("other", "any as other"),
    ] {
        let asked = |body: Value| with(body, json!({"model": model}));
        assert_eq!(stand.message(&asked(weather())).await["content"], said);
        let text = crate::stand::assembled(&stand.events(&asked(streamed(weather()))).await).0;
        assert_eq!(text, said);
        let plain = asked(json!({"messages": [{"role": "user", "content": "Hi."}]}));
        assert_eq!(stand.message(&plain).await["content"], said, "without tools");
        let request =
            stand.request(Method::POST, "/v1/embeddings").body(asked(json!({"input": "x"})).to_string());
        assert_eq!(document(request.send().await.unwrap()).await["said"], said);
        let message = asked(json!({"max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]}));
        let request = stand.request(Method::POST, "/v1/messages").body(message.to_string());
        let message = document(request.send().await.unwrap()).await;
        assert_eq!((&message["content"][0]["text"], &message["model"]), (&json!(said), &json!(model)));
    }
    let names = |list: &Value| -> Vec<String> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|model| model["id"].as_str().or(model["name"].as_str()).unwrap().to_owned())
            .collect()
    };
    let expected = ["big-1", "big-2", "gpt-4o", "big-9", "any"];
    let listed = document(stand.get("/v1/models").await).await;
    assert_eq!(names(&listed["data"]), expected);
    assert_eq!((&listed["object"], &listed["data"][2]["own"]), (&json!("list"), &json!(1)));
    assert_eq!(names(&document(stand.get("/api/tags").await).await["models"]), expected);
    let request = stand.request(Method::GET, "/v1/models").header("anthropic-version", "2023-06-01");
    assert_eq!(names(&document(request.send().await.unwrap()).await["data"]), expected);
    assert_eq!(document(stand.get("/v1/models/gpt-4o").await).await["id"], "gpt-4o");
    // SDKs write names as addresses want them.
    assert_eq!(document(stand.get("/v1/models/gpt%2D4o").await).await["id"], "gpt-4o");
    let request = stand.request(Method::GET, "/v1/models/gpt-4o").header("anthropic-version", "2023-06-01");
    let model = document(request.send().await.unwrap()).await;
    assert_eq!((&model["type"], &model["display_name"]), (&json!("model"), &json!("gpt-4o")));
    assert_eq!(stand.get("/v1/models/secret").await.status(), 404);
}

#[tokio::test]
async fn a_model_without_a_route_is_refused_in_the_shape_of_the_api() {
    let gone = Model::at("http://127.0.0.1:1/v1".to_owned());
    let stand = Stand::with(server(&["a"]), |settings| {
        settings.routes[0].models = vec!["a".to_owned()];
        settings.routes.push(leading(&["lost"], &gone, None));
    })
    .await;
    let response = stand.post(&with(weather(), json!({"model": "b"}))).send().await.unwrap();
    assert_eq!(response.status(), 404);
    let error = &document(response).await["error"];
    assert_eq!(
        (&error["message"], &error["hint"]),
        (&json!("there is no route for the model `b`"), &json!("the routes are for a, lost"))
    );
    let chat = json!({"model": "b", "messages": []}).to_string();
    let response = stand.request(Method::POST, "/api/chat").body(chat).send().await.unwrap();
    assert_eq!(response.status(), 404);
    assert!(document(response).await["error"].as_str().unwrap().contains("no route"));
    // A server that is away takes its models out of the list, and no others.
    let listed = document(stand.get("/v1/models").await).await;
    assert_eq!((&listed["data"][0]["id"], listed["data"].as_array().unwrap().len()), (&json!("a"), 1));
}

#[tokio::test]
async fn other_settings_count_for_the_requests_that_follow() {
    let (first, second) = (server(&["first"]), server(&["second"]));
    let stand = Stand::new(first).await;
    assert_eq!(stand.message(&weather()).await["content"], "first as m");
    stand.proxy.reload(Settings::new(vec![route(&[&second])])).unwrap();
    assert_eq!(stand.message(&weather()).await["content"], "second as m");
    // What cannot be used changes nothing.
    assert!(stand.proxy.reload(Settings::new(vec![RouteSettings::new(Vec::new())])).is_err());
    assert_eq!(stand.message(&weather()).await["content"], "second as m");
}

#[tokio::test]
async fn each_key_has_its_limits() {
    let stand = Stand::with(server(&["a"]), |settings| {
        settings.metrics = true;
        settings.keys = vec![
            ClientKey { per_minute: Some(2), ..ClientKey::new("few", "k1") },
            ClientKey::new("many", "k2"),
        ];
    })
    .await;
    let ask = async |key: &str| stand.post(&weather()).bearer_auth(key).send().await.unwrap();
    assert_eq!([ask("k1").await.status(), ask("k1").await.status()], [200, 200]);
    let refused = ask("k1").await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers()["retry-after"].to_str().unwrap().parse::<u32>().unwrap() >= 1);
    let error = document(refused).await;
    assert_eq!(
        error["error"]["message"],
        "expected at most 2 requests in a minute with this key, got one more"
    );
    for _ in 0..4 {
        assert_eq!(ask("k2").await.status(), 200);
    }
    let counted = stand.request(Method::GET, "/metrics").bearer_auth("k2").send().await.unwrap();
    assert!(counted.text().await.unwrap().contains("del_limited_total{key=\"few\"} 1"));
}

#[tokio::test]
async fn a_place_is_taken_until_the_answer_has_gone_out() {
    let model = Model::new(|seen: &Seen| {
        if seen.body()["stream"] == true {
            let begin = crate::model::event(&json!({"content": "Wait."}), None);
            return Reply::Stream(vec![begin.into_bytes()], crate::model::Then::Silence);
        }
        Reply::Whole(200, "", completion(&json!({"role": "assistant", "content": "hi"}), "stop").to_string())
    });
    for by_key in [true, false] {
        let stand = Stand::with(Model::at(model.base.clone()), |settings| {
            if by_key {
                settings.keys = vec![ClientKey { max_concurrent: Some(1), ..ClientKey::new("one", "k") }];
            } else {
                settings.routes[0].max_concurrent = Some(1);
            }
        })
        .await;
        let ask = async |body: &Value| stand.post(body).bearer_auth("k").send().await.unwrap();
        assert_eq!(ask(&weather()).await.status(), 200);
        assert_eq!(ask(&weather()).await.status(), 200, "given back");
        let mut waits = ask(&streamed(weather())).await;
        assert!(waits.chunk().await.unwrap().is_some());
        let refused = ask(&weather()).await;
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()["retry-after"]),
            (429, &"1".parse().unwrap())
        );
        let refused = ask(&streamed(weather())).await;
        assert_eq!(refused.status(), 429);
        assert!(events(&format!("data: {}", refused.text().await.unwrap()))[0]["error"].is_object());
        drop(waits);
        // The proxy notices in its own time that the client is gone.
        while ask(&weather()).await.status() != 200 {
            tokio::task::yield_now().await;
        }
    }
}
