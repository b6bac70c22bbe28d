//! JSON as the body of an answer.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// One JSON value, and the header that says so.
#[derive(Debug)]
pub(crate) struct Document(pub(crate) Value);

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        let kind = HeaderValue::from_static("application/json");
        ([(header::CONTENT_TYPE, kind)], self.0.to_string()).into_response()
    }
}
