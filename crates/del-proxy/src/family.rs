//! Which API a request is of, as far as errors have a shape there.

use axum::http::Uri;
use axum::http::request::Parts;

/// Those whose errors have one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    OpenAi,
    Anthropic,
    Ollama,
}

impl Family {
    /// That of a request, also of one to a path that there is not.
    pub(crate) fn of(parts: &Parts) -> Self {
        Self::of_path(&parts.uri, parts.headers.contains_key("anthropic-version"))
    }

    fn of_path(uri: &Uri, anthropic: bool) -> Self {
        let path = uri.path();
        if anthropic || path.starts_with("/v1/messages") {
            Self::Anthropic
        } else if path == "/api" || path.starts_with("/api/") {
            Self::Ollama
        } else {
            Self::OpenAi
        }
    }
}
