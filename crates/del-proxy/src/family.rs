//! Which API a request is of, as far as errors have a shape there.

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
        if parts.headers.contains_key("anthropic-version") {
            Self::Anthropic
        } else {
            Self::of_path(parts.uri.path().as_bytes())
        }
    }

    /// That of the first line of a request, or of as much of it as has come.
    pub(crate) fn of_line(line: &[u8]) -> Self {
        Self::of_path(line.split(|byte| *byte == b' ').nth(1).unwrap_or_default())
    }

    fn of_path(path: &[u8]) -> Self {
        if path.starts_with(b"/v1/messages") {
            Self::Anthropic
        } else if path == b"/api" || path.starts_with(b"/api/") {
            Self::Ollama
        } else {
            Self::OpenAi
        }
    }
}
