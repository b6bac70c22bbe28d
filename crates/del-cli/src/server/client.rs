//! The HTTP client of a model server.

use anyhow::Result;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Client, ClientBuilder, Url};

use super::{PROXIES, variable};

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Perhaps through a proxy that the environment names.
    Any,
    /// On this machine, where no such proxy stands before it.
    Here,
    /// So, and without encryption.
    Plain,
}

impl Way {
    pub(super) fn to(url: &Url) -> Self {
        match (url.host_str().unwrap_or_default(), url.scheme()) {
            ("localhost" | "127.0.0.1" | "[::1]", "http") => Self::Plain,
            ("localhost" | "127.0.0.1" | "[::1]", _) => Self::Here,
            _ => Self::Any,
        }
    }
}

/// What every client of a model server has. One that lies idle while a tool runs may find its connection dead, so only
/// a proxy, which sends such a request once more, keeps connections.
pub(crate) fn client(way: Way) -> ClientBuilder {
    let client = Client::builder().user_agent(concat!("del/", env!("CARGO_PKG_VERSION")));
    let client = client.redirect(Policy::custom(stay));
    match way {
        Way::Any => client,
        Way::Here => client.no_proxy(),
        // To read the certificates of the system is most of what a start costs.
        Way::Plain => client.no_proxy().tls_certs_only([]),
    }
}

/// The variable that names the proxy which stands before an address, as far as the environment says; `NO_PROXY` may except it.
pub(super) fn proxy(url: &Url) -> Option<&'static str> {
    let excepted = ["NO_PROXY", "no_proxy"].iter().filter_map(|name| variable(name)).any(|list| {
        let host = url.host_str().unwrap_or_default();
        list.split(',')
            .map(|rule| rule.trim().trim_start_matches('.'))
            .any(|rule| rule == "*" || (!rule.is_empty() && host.ends_with(rule)))
    });
    let names = match url.scheme() {
        "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        _ => PROXIES,
    };
    let found = names.into_iter().find(|name| variable(name).is_some());
    found.filter(|_| Way::to(url) == Way::Any && !excepted)
}

/// The name and the password in an address, as a header.
pub(super) fn login(url: &Url) -> Result<Option<HeaderValue>> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let request = Client::builder().tls_certs_only([]).build()?.get(url.clone()).build()?;
    Ok(request.headers().get(AUTHORIZATION).cloned())
}

/// The client with this header, where a request has no other key.
pub(super) fn with_login(client: ClientBuilder, login: Option<&HeaderValue>) -> ClientBuilder {
    let Some(login) = login else { return client };
    client.default_headers(HeaderMap::from_iter([(AUTHORIZATION, login.clone())]))
}

/// What is asked of one server, and its key, is for no other.
fn stay(attempt: Attempt<'_>) -> Action {
    let asked = attempt.previous().first().map(Url::origin);
    if asked != Some(attempt.url().origin()) {
        let to = attempt.url().to_string();
        attempt.error(Redirected::Elsewhere(to))
    } else if attempt.previous().len() > MOST_REDIRECTIONS {
        attempt.error(Redirected::TooOften)
    } else {
        attempt.follow()
    }
}

const MOST_REDIRECTIONS: usize = 5;

/// Why a redirection is not followed.
#[derive(Debug, thiserror::Error)]
enum Redirected {
    #[error("it redirects to another address, `{0}`, which has to be given in its place")]
    Elsewhere(String),
    #[error("it redirects more than {MOST_REDIRECTIONS} times")]
    TooOften,
}
