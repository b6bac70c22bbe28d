//! Bodies of requests that come packed. Their size counts as it is when they are unpacked.

use std::future::ready;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use tower::{Service as _, service_fn};
use tower_http::decompression::Decompression;

use crate::coding::{KINDS, PLAIN, known};
use crate::coming::Cause;
use crate::refusal::Refusal;

/// How this body is packed, if it is.
pub(crate) fn kind(headers: &HeaderMap) -> Result<Option<&'static str>, Refusal> {
    let given = headers.get_all(header::CONTENT_ENCODING).iter();
    let given: Vec<_> = given.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    if given.is_empty() {
        return Ok(None);
    }
    if let [word] = given.as_slice()
        && let Some(kind) = known(word)
    {
        return Ok(Some(kind).filter(|kind| *kind != PLAIN));
    }
    let message = format!(
        "expected a body that is plain or packed once, by one of {KINDS}; got `{}`",
        given.join(", ")
    );
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request_error", message)
        .header(header::ACCEPT_ENCODING, HeaderValue::from_static(KINDS)))
}

/// The body as it was before it was packed in this way. It is unpacked as it is read.
pub(crate) async fn unpacked(kind: &'static str, body: Body) -> Result<Body, Refusal> {
    let mut packed = Some(body);
    // What unpacks answers of servers does it here.
    let given = service_fn(move |_: Request<()>| {
        let body = packed.take().ok_or_else(|| Cause::from("expected one question for a body, got two"));
        let packed = body.map(|body| {
            let mut response = Response::new(body);
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(kind));
            response
        });
        ready(packed)
    });
    let unpacked = Decompression::new(given).call(Request::new(())).await;
    let unpacked = unpacked.map_err(|error| Refusal::bad_request(error.to_string()))?;
    Ok(Body::new(unpacked.into_body()))
}
