//! Who may come in.

use del_proxy::{ClientKey, Proxy, Settings, SettingsError, Upstream};
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::model::{Model, Reply, says};
use crate::stand::{Stand, client, document, route, weather};

fn model() -> Model {
    Model::new(|seen| says(seen, "hi", 1))
}

#[tokio::test]
async fn other_names_and_other_sites_stay_out() {
    let stand = Stand::new(model()).await;
    for (header, value) in [("host", "evil.example"), ("origin", "https://evil.example"), ("origin", "null")]
    {
        for (method, path) in
            [(Method::POST, "/v1/chat/completions"), (Method::GET, "/v1/models"), (Method::GET, "/health")]
        {
            let response = stand.request(method, path).header(header, value).body("{}").send().await.unwrap();
            assert_eq!(response.status(), 403, "{header}: {value}");
            assert_eq!(document(response).await["error"]["type"], "permission_error");
        }
    }
    assert!(stand.model.seen().is_empty());
    let host = format!("localhost:{}", stand.address.port());
    let origin = format!("http://{host}");
    let request = stand.post(&weather()).header("host", host).header("origin", origin);
    assert_eq!(request.send().await.unwrap().status(), 200);
    // As it is where another port leads here.
    let request = stand.post(&weather()).header("host", "localhost:1");
    assert_eq!(request.send().await.unwrap().status(), 200);
}

/// The answer to a request with these lines behind its first ones.
async fn raw(stand: &Stand, first: &str, lines: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(stand.address).await.unwrap();
    let request = format!(
        "{first} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{lines}\r\n{body}",
        stand.address,
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.to_ascii_lowercase()
}

const PREFLIGHT: &str = "Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n\
    Access-Control-Request-Headers: authorization,content-type,x-stainless-os\r\n";
const ALLOWS: &str = "access-control-allow-origin: https://app.example\r\n";

#[tokio::test]
async fn no_page_may_ask_by_default() {
    let stand = Stand::with(
        Model::saying(Reply::Whole(200, "Access-Control-Allow-Origin: *\r\n", "{}".to_owned())),
        |settings| settings.metrics = true,
    )
    .await;
    for path in ["/v1/chat/completions", "/v1/messages", "/api/chat", "/v1/models", "/health", "/nothing"] {
        let answer = raw(&stand, &format!("OPTIONS {path}"), PREFLIGHT, "").await;
        assert!(answer.starts_with("http/1.1 403 "), "{path}: {answer}");
        let answer = raw(&stand, &format!("OPTIONS {path}"), "", "").await;
        assert!(answer.starts_with("http/1.1 40"), "{path}: {answer}");
        let own = raw(&stand, &format!("POST {path}"), "", "{\"messages\": []}").await;
        assert!(!own.contains("access-control-"), "{path}: {own}");
    }
}

#[tokio::test]
async fn pages_of_a_site_that_is_allowed_ask_and_read() {
    let stand = Stand::with(model(), |settings| {
        settings.origins = vec!["https://other.example".to_owned(), "https://app.example".to_owned()];
        settings.keys = vec![ClientKey::new("one", "s3cret")];
    })
    .await;
    for path in ["/v1/chat/completions", "/v1/messages", "/v1/models", "/api/tags"] {
        let answer = raw(&stand, &format!("OPTIONS {path}"), PREFLIGHT, "").await;
        assert!(answer.starts_with("http/1.1 204 ") && answer.contains(ALLOWS), "{path}: {answer}");
        for line in [
            "access-control-allow-headers: authorization,content-type,x-stainless-os\r\n",
            "access-control-allow-methods: get, head, post, delete\r\n",
            "vary: origin\r\n",
        ] {
            assert!(answer.contains(line), "{path}: {answer}");
        }
        assert!(!answer.contains("credentials") && !answer.contains("private-network"), "{answer}");
    }
    let (key, from) = ("Authorization: Bearer s3cret\r\n", "Origin: https://app.example\r\n");
    let (ask, streams) = (weather().to_string(), crate::stand::streamed(weather()).to_string());
    for (first, lines, body, status) in [
        ("POST /v1/chat/completions", format!("{key}{from}"), ask.as_str(), 200),
        ("POST /v1/chat/completions", format!("{key}{from}"), streams.as_str(), 200),
        // What went wrong, a page may read as well.
        ("POST /v1/chat/completions", from.to_owned(), ask.as_str(), 401),
        ("POST /v1/messages", format!("{key}{from}"), "{", 400),
        ("GET /nothing", format!("{key}{from}"), "", 404),
    ] {
        let answer = raw(&stand, first, &lines, body).await;
        assert!(
            answer.starts_with(&format!("http/1.1 {status} ")) && answer.contains(ALLOWS),
            "{first}: {answer}"
        );
        assert!(answer.contains("access-control-expose-headers: *\r\n"), "{first}: {answer}");
    }
    let private = format!("{PREFLIGHT}Access-Control-Request-Private-Network: true\r\n");
    let answer = raw(&stand, "OPTIONS /v1/models", &private, "").await;
    assert!(answer.contains("access-control-allow-private-network: true\r\n"), "{answer}");
    for (first, lines) in [
        ("POST /v1/chat/completions", "Origin: https://evil.example\r\n".to_owned()),
        ("OPTIONS /v1/chat/completions", PREFLIGHT.replace("app", "evil")),
        ("OPTIONS /v1/chat/completions", format!("Origin: null\r\n{PREFLIGHT}")),
        ("OPTIONS /", PREFLIGHT.to_owned()),
        ("GET /inspector/events", from.to_owned()),
    ] {
        let answer = raw(&stand, first, &format!("{key}{lines}"), "").await;
        assert!(answer.starts_with("http/1.1 403 "), "{first}: {answer}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let stand = Stand::with(model(), |settings| settings.max_body = 1000).await;
    let fits = json!({"messages": [], "x": "x".repeat(900)});
    assert_eq!(stand.post(&fits).send().await.unwrap().status(), 200);
    for path in ["/v1/chat/completions", "/v1/embeddings"] {
        let response = stand.request(Method::POST, path).body("x".repeat(1001)).send().await.unwrap();
        assert_eq!(response.status(), 413);
        let error = document(response).await["error"].clone();
        assert_eq!(error["message"], "expected a body of at most 1000 bytes, got more");
    }
    assert_eq!(stand.model.seen().len(), 1);
}

#[tokio::test]
async fn with_a_key_only_those_who_show_it_come_in_and_it_goes_no_further() {
    let stand = Stand::with(model(), |settings| {
        settings.keys = vec![ClientKey::new("one", "s3cret")];
        settings.routes[0].upstreams[0].passes_keys = true;
    })
    .await;
    for key in [None, Some("wrong"), Some("s3cret2")] {
        let request = stand.post(&weather());
        let request = if let Some(key) = key { request.bearer_auth(key) } else { request };
        let response = request.send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["www-authenticate"]),
            (401, &"Bearer".parse().unwrap())
        );
        assert!(!response.text().await.unwrap().contains("s3cret"));
    }
    assert!(stand.model.seen().is_empty());
    assert_eq!(stand.post(&weather()).bearer_auth("s3cret").send().await.unwrap().status(), 200);
    assert_eq!(stand.model.last().header("authorization"), None);
    assert_eq!(stand.get("/health").await.status(), 200);
}

#[tokio::test]
async fn a_clients_key_goes_on_only_where_that_is_meant() {
    for (own, passes, gets) in [
        (None, true, Some("Bearer theirs")),
        (None, false, None),
        (Some("ours"), true, Some("Bearer ours")),
        (Some("ours"), false, Some("Bearer ours")),
    ] {
        let stand = Stand::with(model(), |settings| {
            let base = settings.routes[0].upstreams[0].place();
            settings.routes[0].upstreams[0] = Upstream::new(client(), base, own.map(str::to_owned));
            settings.routes[0].upstreams[0].passes_keys = passes;
        })
        .await;
        let request =
            stand.post(&weather()).bearer_auth("theirs").header("cookie", "a=b").header("x-title", "t");
        assert_eq!(request.send().await.unwrap().status(), 200);
        let seen = stand.model.last();
        assert_eq!(seen.header("authorization"), gets);
        assert_eq!((seen.header("cookie"), seen.header("x-title")), (None, Some("t")));
    }
}

#[tokio::test]
async fn nobody_listens_for_others_without_a_key() {
    let settings = || Settings::new(vec![route(&[&model()])]);
    let everywhere = "0.0.0.0:8787".parse().unwrap();
    let proxy = Proxy::new(settings(), everywhere);
    assert!(matches!(proxy, Err(SettingsError::NoKey { .. })), "{proxy:?}");
    let with_key = Settings { keys: vec![ClientKey::new("one", "s3cret")], ..settings() };
    let proxy = Proxy::new(with_key, everywhere).unwrap();
    assert!(proxy.reload(settings()).is_err());
}

#[tokio::test]
async fn other_paths_of_the_api_go_through_as_they_are() {
    let model = Model::new(|seen| {
        let said = format!("{} {}", seen.path, String::from_utf8_lossy(&seen.bytes));
        Reply::Whole(if seen.path.contains("none") { 404 } else { 200 }, "x-own: 1\r\n", said)
    });
    let stand = Stand::new(model).await;
    for (method, path, body) in [
        (Method::POST, "/v1/embeddings?a=b", "any bytes"),
        (Method::POST, "/v1/completions", "{ }"),
        (Method::GET, "/v1/models", ""),
        (Method::GET, "/v1/models/org/model", ""),
        (Method::GET, "/v1/models/none", ""),
    ] {
        let response = stand.request(method, path).body(body).send().await.unwrap();
        assert_eq!(response.status(), if path.contains("none") { 404 } else { 200 });
        assert_eq!(response.headers()["x-own"], "1");
        assert_eq!(response.text().await.unwrap(), format!("{path} {body}"));
    }
}

#[tokio::test]
async fn no_path_leads_out_of_the_api() {
    let stand = Stand::new(model()).await;
    for name in
        ["..", "../../x", "a/../../../x", "%2e%2e/x", "%2E./x", ".%2e%2fx", "..%5cx", "..\\x", "./x", "%ff"]
    {
        for path in ["/v1/models/", "/v1/responses/"] {
            let answer = raw(&stand, &format!("GET {path}{name}"), "", "").await;
            assert!(
                answer.starts_with("http/1.1 404 ") && answer.contains("there is no /v1"),
                "{name}: {answer}"
            );
        }
    }
    assert!(stand.model.seen().is_empty());
    let answer = raw(&stand, "GET /v1/models/org/..model.", "", "").await;
    assert!(answer.starts_with("http/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn a_head_has_its_limit() {
    let stand = Stand::new(model()).await;
    for (size, status) in [(60_000, 200), (150_000, 431)] {
        let line = format!("X-Long: {}\r\n", "a".repeat(size));
        let answer = raw(&stand, "GET /ready", &line, "").await;
        assert!(answer.starts_with(&format!("http/1.1 {status} ")), "{size}: {answer}");
    }
}

#[tokio::test]
async fn a_length_that_is_too_large_is_refused_before_the_body() {
    let stand = Stand::new(model()).await;
    let mut stream = TcpStream::connect(stand.address).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-length: 1000000000\r\n\r\n",
        stand.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 100];
    stream.read_exact(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 413 "), "{}", String::from_utf8_lossy(&answer));
}

#[tokio::test]
async fn what_goes_through_is_counted_and_has_an_id() {
    let text = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
    let stand =
        Stand::with(Model::new(move |seen| says(seen, text, 3)), |settings| settings.metrics = true).await;
    stand.ask(&weather()).await;
    stand.events(&crate::stand::streamed(weather())).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let request = stand.post(&weather()).header("x-request-id", "mine").header("traceparent", trace);
    assert_eq!(request.send().await.unwrap().headers()["x-request-id"], "mine");
    assert_eq!(stand.model.last().header("traceparent"), Some(trace));
    let response = stand.get("/metrics").await;
    assert!(response.headers()["x-request-id"].to_str().unwrap().starts_with("req_"));
    let text = response.text().await.unwrap();
    for line in [
        "del_requests_total{path=\"/v1/chat/completions\",status=\"200\"} 3",
        "del_calls_total{dialect=\"hermes-json\"} 3",
        "del_answer_begun_seconds_count{path=\"/v1/chat/completions\"} 3",
        "del_calls_refused_total 0",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(stand.get("/ready").await.status(), 200);
    assert_eq!(Stand::new(model()).await.get("/metrics").await.status(), 404);
}

#[tokio::test]
async fn a_proxy_without_its_server_is_alive_and_not_ready() {
    let stand = Stand::new(Model::away()).await;
    assert_eq!(
        (stand.get("/health").await.status(), stand.get("/ready").await.status().as_u16()),
        (reqwest::StatusCode::OK, 503)
    );
}
