//! What browsers are told, so that pages of other sites can ask (Cross-Origin Resource Sharing).

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::response::IntoResponse as _;

/// A browser that asks whether a page may, as it does before most requests.
pub(crate) fn is_preflight(request: &Parts) -> bool {
    request.method == Method::OPTIONS
        && request.headers.contains_key(header::ORIGIN)
        && request.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The page may, with all headers that it asks for: keys count here, and nothing that a browser sends by itself.
pub(crate) fn may_ask(asked: &HeaderMap) -> Response<Body> {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, POST, DELETE"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    if let Some(names) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    // From a site on the net to a proxy on the user's own machine.
    if asked.contains_key("access-control-request-private-network") {
        let allows = HeaderName::from_static("access-control-allow-private-network");
        headers.insert(allows, HeaderValue::from_static("true"));
    }
    response
}

/// Pages of this site may read the answer.
pub(crate) fn may_read(site: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, site);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}
