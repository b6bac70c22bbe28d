//! Bodies of requests that come packed, or are deeper than anybody needs.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::model::{Model, says};
use crate::stand::{Stand, document};

const PATHS: [&str; 6] = [
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/api/chat",
    "/api/show",
];

fn body() -> Value {
    json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Packed?"}], "input": "Packed?"})
}

fn packed(kind: &str, bytes: &[u8]) -> Vec<u8> {
    match kind {
        "gzip" | "x-gzip" | "GZIP" => {
            let mut packer = GzEncoder::new(Vec::new(), Compression::best());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        }
        "deflate" => {
            let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        }
        "zstd" => {
            // One frame of one block that is not compressed.
            let length = u32::try_from(bytes.len()).unwrap();
            let (size, block) = (length.to_le_bytes(), ((length << 3) | 1).to_le_bytes());
            [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0], &size[..], &block[..3], bytes].concat()
        }
        _ => bytes.to_vec(),
    }
}

async fn post(stand: &Stand, path: &str, kind: &str, bytes: Vec<u8>) -> Response {
    let request = stand.request(Method::POST, path).header("content-encoding", kind);
    request.body(bytes).send().await.unwrap()
}

#[tokio::test]
async fn packed_bodies_are_read_as_others() {
    let stand = Stand::new(Model::new(|seen| says(seen, "Yes.", 4))).await;
    for path in PATHS.into_iter().filter(|path| *path != "/api/show") {
        for kind in ["gzip", "x-gzip", "GZIP", "deflate", "zstd", "identity"] {
            let response = post(&stand, path, kind, packed(kind, body().to_string().as_bytes())).await;
            assert_eq!(
                response.status(),
                StatusCode::OK,
                "{path} {kind}: {}",
                response.text().await.unwrap()
            );
            let seen = stand.model.last();
            assert!(seen.body().to_string().contains("Packed?"), "{path} {kind}");
            assert_eq!(seen.header("content-encoding"), None);
        }
    }
}

/// No text can hold one, and JavaScript writes it where a text was cut in the middle of a sign.
#[tokio::test]
async fn half_a_surrogate_pair_is_replaced() {
    let stand = Stand::new(Model::new(|seen| says(seen, "Yes.", 4))).await;
    for path in PATHS.into_iter().filter(|path| *path != "/api/show") {
        let body = body().to_string().replace("Packed?", r"cut \ud83d, whole \ud83d\ude00");
        let response = stand.request(Method::POST, path).body(body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let sent = stand.model.last().body().to_string();
        assert!(sent.contains("cut \u{fffd}, whole \u{1f600}"), "{path}: {sent}");
    }
}

#[tokio::test]
async fn the_limit_is_that_of_the_unpacked_body() {
    let model = Model::new(|seen| says(seen, "Yes.", 4));
    let stand = Stand::with(model, |settings| settings.max_body = 1 << 20).await;
    let bomb = packed("gzip", &vec![b' '; 64 << 20]);
    assert!(bomb.len() < 1 << 20);
    for path in PATHS {
        let response = post(&stand, path, "gzip", bomb.clone()).await;
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE, "{path}");
        assert!(response.text().await.unwrap().contains("--max-body"));
    }
    assert_eq!(stand.model.seen().len(), 0);
}

#[tokio::test]
async fn what_cannot_be_unpacked_is_an_error_in_the_shape_of_the_api() {
    let stand = Stand::new(Model::new(|seen| says(seen, "Yes.", 4))).await;
    let whole = packed("gzip", body().to_string().as_bytes());
    let twice = packed("gzip", &whole);
    for path in PATHS {
        for (kind, bytes, status, said) in [
            ("br", &whole, StatusCode::UNSUPPORTED_MEDIA_TYPE, "gzip, deflate, zstd; got `br`"),
            ("gzip, gzip", &twice, StatusCode::UNSUPPORTED_MEDIA_TYPE, "got `gzip, gzip`"),
            ("gzip", &whole[..whole.len() / 2].to_vec(), StatusCode::BAD_REQUEST, "packed as gzip"),
            ("gzip", &body().to_string().into_bytes(), StatusCode::BAD_REQUEST, "packed as gzip"),
            ("deflate", &whole, StatusCode::BAD_REQUEST, "packed as deflate"),
            ("zstd", &whole, StatusCode::BAD_REQUEST, "packed as zstd"),
        ] {
            let response = post(&stand, path, kind, bytes.clone()).await;
            assert_eq!(response.status(), status, "{path} {kind}");
            let takes = response.headers().get("accept-encoding").cloned();
            assert_eq!(takes.is_some(), status == StatusCode::UNSUPPORTED_MEDIA_TYPE);
            let error = document(response).await;
            let message = if path.starts_with("/api") { &error["error"] } else { &error["error"]["message"] };
            assert!(message.as_str().unwrap().contains(said), "{path} {kind}: {error}");
            assert_eq!(error["type"] == "error", path.starts_with("/v1/messages"), "{error}");
        }
    }
    assert_eq!(stand.model.seen().len(), 0);
}

#[tokio::test]
async fn no_depth_of_a_body_overflows_a_stack() {
    let stand = Stand::new(Model::new(|seen| says(seen, "Yes.", 4))).await;
    let paths = PATHS.into_iter().chain([
        "/api/generate",
        "/api/embed",
        "/v1/responses/input_tokens",
        "/v1/responses/compact",
    ]);
    for path in paths {
        for member in ["messages", "input", "tools", "system", "options", "metadata", "tool_choice", "own"] {
            for [open, close] in [["[", "]"], ["{\"content\":[", "]}"], ["[{\"tool_calls\":", "}]"]] {
                let deep = open.repeat(50_000) + &close.repeat(50_000);
                let body = format!("{{\"model\":\"m\",\"{member}\":{deep}}}");
                let status = stand.request(Method::POST, path).body(body).send().await.unwrap().status();
                let is_passed_on = path == "/v1/chat/completions" && member == "own";
                assert!(
                    status == StatusCode::BAD_REQUEST || is_passed_on,
                    "{path} {member} {open}: {status}"
                );
            }
        }
    }
}
