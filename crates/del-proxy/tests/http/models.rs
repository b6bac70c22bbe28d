//! Which models there are, as clients of each API read it, whatever API the server speaks.

use del_proxy::{ServerApi, Settings};
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen};
use crate::stand::{Stand, document, route};

/// A server of Anthropic's API with 25 models, which lists ten at once at most, and knows another name of one.
fn claude() -> Model {
    Model::new(|seen| match seen.path.split_once('?').unwrap_or((&seen.path, "")) {
        ("/v1/models", query) => page(seen, query),
        ("/v1/models/claude-3" | "/v1/models/latest", _) => Reply::Whole(200, "", one(3).to_string()),
        _ => Reply::Whole(404, "", json!({"type": "error", "error": {"message": "none"}}).to_string()),
    })
}

fn one(number: usize) -> Value {
    json!({"type": "model", "id": format!("claude-{number}"), "display_name": format!("Claude {number}"),
        "created_at": "2025-02-19T00:00:00Z"})
}

fn page(seen: &Seen, query: &str) -> Reply {
    assert!(seen.header("anthropic-version").is_some());
    let after = query.split('&').find_map(|pair| pair.strip_prefix("after_id=claude-"));
    let begin = after.map_or(0, |after| after.parse::<usize>().unwrap() + 1);
    let asked = query.split('&').find_map(|pair| pair.strip_prefix("limit="));
    let end = 25.min(begin + asked.map_or(10, |limit| limit.parse().unwrap()).min(10));
    let models: Vec<Value> = (begin..end).map(one).collect();
    let list = json!({"data": models, "has_more": end < 25, "first_id": models[0]["id"], "last_id": models.last().unwrap()["id"]});
    Reply::Whole(200, "", list.to_string())
}

fn anthropic(settings: &mut Settings) {
    settings.routes[0].upstreams[0].api = ServerApi::Anthropic;
}

async fn get(stand: &Stand, path: &str, of_anthropic: bool) -> Value {
    let mut request = stand.request(Method::GET, path);
    if of_anthropic {
        request = request.header("anthropic-version", "2023-06-01");
    }
    document(request.send().await.unwrap()).await
}

#[tokio::test]
async fn clients_of_openai_get_all_models_of_an_anthropic_server_in_their_shape() {
    let stand = Stand::with(claude(), anthropic).await;
    let list = get(&stand, "/v1/models", false).await;
    assert_eq!(list["object"], "list");
    assert!(list.get("has_more").is_none());
    let models = list["data"].as_array().unwrap();
    assert_eq!(models.len(), 25);
    let told = json!({"id": "claude-24", "object": "model", "created": 1_739_923_200, "owned_by": "anthropic",
        "display_name": "Claude 24", "created_at": "2025-02-19T00:00:00Z"});
    assert_eq!(models[24], told);
    for name in ["claude-3", "latest"] {
        let model = get(&stand, &format!("/v1/models/{name}"), false).await;
        assert_eq!((&model["object"], &model["id"]), (&json!("model"), &json!("claude-3")), "{name}");
    }
    let none = get(&stand, "/v1/models/none", false).await;
    assert!(none["error"]["message"].as_str().unwrap().contains("none"), "{none}");
    let tags = get(&stand, "/api/tags", false).await;
    assert_eq!(tags["models"][24]["modified_at"], "2025-02-19T00:00:00Z");
    // A client of its own API has the server's own pages.
    let own = get(&stand, "/v1/models?limit=5&after_id=claude-3", true).await;
    assert_eq!((&own["first_id"], &own["last_id"]), (&json!("claude-4"), &json!("claude-8")));
}

#[tokio::test]
async fn clients_of_anthropic_get_what_the_servers_said_in_pages() {
    let other = Model::new(|_| {
        Reply::Whole(
            200,
            "",
            json!({"data": [{"id": "gpt", "object": "model", "created": 951_782_400}]}).to_string(),
        )
    });
    let stand = Stand::with(claude(), |settings| {
        settings.routes[0].models = vec!["claude*".to_owned()];
        anthropic(settings);
        settings.routes.push(route(&[&other]));
        settings.routes[1].models = vec!["gpt".to_owned()];
    })
    .await;
    let all = get(&stand, "/v1/models", true).await;
    assert_eq!((all["data"].as_array().unwrap().len(), &all["has_more"]), (26, &json!(false)));
    assert_eq!(all["data"][3], one(3));
    let gpt =
        json!({"type": "model", "id": "gpt", "display_name": "gpt", "created_at": "2000-02-29T00:00:00Z"});
    assert_eq!(all["data"][25], gpt);
    for (query, first, last, more) in [
        ("limit=5", "claude-0", "claude-4", true),
        ("limit=5&after_id=claude-3", "claude-4", "claude-8", true),
        ("after_id=claude-23", "claude-24", "gpt", false),
        ("limit=2&before_id=claude-3", "claude-1", "claude-2", true),
        ("limit=3&before_id=claude-3", "claude-0", "claude-2", false),
    ] {
        let page = get(&stand, &format!("/v1/models?{query}"), true).await;
        let told = (&page["first_id"], &page["last_id"], &page["has_more"]);
        assert_eq!(told, (&json!(first), &json!(last), &json!(more)), "{query}");
    }
    let end = get(&stand, "/v1/models?after_id=gpt", true).await;
    assert_eq!(end, json!({"data": [], "has_more": false, "first_id": null, "last_id": null}));
    for query in ["limit=0", "limit=x", "limit=1001", "after_id=none"] {
        let refused = get(&stand, &format!("/v1/models?{query}"), true).await;
        assert_eq!(refused["error"]["type"], "invalid_request_error", "{query}: {refused}");
    }
}

/// llama.cpp lists its model and has no path for it.
#[tokio::test]
async fn a_model_of_the_list_is_told_where_the_server_tells_of_none_alone() {
    let stand = Stand::new(Model::new(|seen| match seen.path.as_str() {
        "/v1/models" => Reply::Whole(
            200,
            "",
            json!({"object": "list", "data": [{"id": "org/m", "object": "model"}]}).to_string(),
        ),
        _ => Reply::Whole(404, "", json!({"error": {"message": "File Not Found"}}).to_string()),
    }))
    .await;
    assert_eq!(get(&stand, "/v1/models/org/m", false).await["id"], "org/m");
    let none = stand.get("/v1/models/none").await;
    assert_eq!(
        (none.status().as_u16(), document(none).await["error"]["message"].clone()),
        (404, json!("File Not Found"))
    );
}
