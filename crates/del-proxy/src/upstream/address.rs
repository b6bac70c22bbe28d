//! Where a server is, and what is asked for there.

use axum::http::HeaderValue;
use axum::http::uri::PathAndQuery;
use reqwest::Url;

/// What is asked for at a server.
#[derive(Debug)]
pub(crate) struct Goal {
    pub(super) url: String,
    /// On a connection of the server's own, where it has some.
    pub(super) path: Option<PathAndQuery>,
}

impl Goal {
    pub(super) fn of(url: String) -> Self {
        Self { path: Address::path(&url), url }
    }
}

/// Where a server is that takes plain HTTP.
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
    /// What it is called in requests.
    pub(super) name: HeaderValue,
}

impl Address {
    const SCHEME: &str = "http://";

    /// `None` for an address that needs more than a connection.
    pub(super) fn of(base: &str) -> Option<Self> {
        Self::path(base)?;
        let url = Url::parse(base).ok()?;
        if !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let host = url.host_str()?;
        let name = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        Some(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port_or_known_default()?,
            name: HeaderValue::from_str(&name).ok()?,
        })
    }

    /// Where it is asked there, where a request can say so.
    fn path(url: &str) -> Option<PathAndQuery> {
        let rest = url.strip_prefix(Self::SCHEME)?;
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let path = &rest[at..];
        if path.contains('#') {
            return None;
        }
        PathAndQuery::try_from(if path.is_empty() { "/" } else { path }).ok()
    }
}
