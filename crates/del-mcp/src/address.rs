//! A server at an address, which speaks streamable HTTP.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};

use crate::child;

/// The way to the server at `url`, with these headers on every request. Neither follows where the server sends it.
pub(crate) fn transport(
    url: &str,
    headers: &[(String, String)],
    connect: Duration,
) -> Result<StreamableHttpClientTransport<Client>, String> {
    let parsed = check(url)?;
    let mut custom = HashMap::new();
    for (name, value) in headers {
        // What is wrong with a value is not said: it may be a secret.
        let pair = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
        let (name, value) = pair.ok_or_else(|| format!("the header '{name}' cannot be sent"))?;
        custom.insert(name, value);
    }
    // Headers may be secrets: they go to this address and nowhere else.
    let mut client =
        Client::builder().redirect(Policy::none()).connect_timeout(connect).pool_max_idle_per_host(0);
    if matches!(parsed.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) {
        client = client.no_proxy();
    }
    let client = client.build().map_err(|error| chain(&error))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.custom_headers = custom;
    config.max_sse_event_size = child::LONGEST_LINE;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// The address, or why no server can be there.
pub(crate) fn check(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url).map_err(|error| format!("'{url}' is no address: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(format!("expected an address that begins with http:// or https://, got '{url}'"));
    }
    Ok(parsed)
}

/// An error with its causes; of what went wrong on the way to an address, what it comes down to.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = Some(error);
    while let Some(cause) = source {
        if let Some(told) = cause.downcast_ref().and_then(trouble) {
            return told;
        }
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

fn trouble(error: &StreamableHttpError<reqwest::Error>) -> Option<String> {
    Some(match error {
        // So the protocol's servers say where to sign in.
        StreamableHttpError::AuthRequired(error)
            if error.www_authenticate_header.contains("resource_metadata") =>
        {
            format!("{}; signing in by a browser, which it offers, is not supported", stranger("401"))
        }
        StreamableHttpError::AuthRequired(_) => stranger("401"),
        StreamableHttpError::InsufficientScope(_) => stranger("403"),
        StreamableHttpError::HttpStatus(error) => status(&error.status.to_string()),
        StreamableHttpError::UnexpectedServerResponse(told) => {
            let code = told.strip_prefix("HTTP ").and_then(|rest| rest.get(..3));
            match code.filter(|code| code.bytes().all(|byte| byte.is_ascii_digit())) {
                Some(code) => status(code),
                None => format!("its answer is no message of the protocol ({told})"),
            }
        }
        StreamableHttpError::UnexpectedContentType(kind) => {
            let kind = kind.as_deref().unwrap_or("no type at all");
            format!("expected JSON or a stream of events, got {kind}; is the address right?")
        }
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            format!("it sent an answer above {} MiB", max_size >> 20)
        }
        StreamableHttpError::Client(error) => broken(error),
        _ => return None,
    })
}

fn status(code: &str) -> String {
    match code {
        "401" | "403" => stranger(code),
        _ if code.starts_with('3') => {
            format!(
                "its address leads on to another one, which is not followed (status {code}); give that one"
            )
        }
        "404" | "405" => format!(
            "it refused (status {code}); is the address right? Servers of the transport SSE, which the protocol has \
             given up, are not supported"
        ),
        _ => format!("it refused (status {code}); is the address right?"),
    }
}

fn stranger(code: &str) -> String {
    format!(
        "it does not know who asks (status {code}); give it a key, or the right one, with --header 'Authorization: \
         Bearer $NAME'"
    )
}

/// What went wrong with a connection. An address may hold a secret in its path or query, so only its host is said.
fn broken(error: &reqwest::Error) -> String {
    let host = error.url().map_or_else(|| "it".to_owned(), host);
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let reason = cause.downcast_ref().map_or_else(|| cause.to_string(), del_tools::plain_error);
    match () {
        () if error.is_timeout() => format!("{host} did not answer in time"),
        () if error.is_connect() => format!("cannot reach {host}: {reason}"),
        () => format!("the connection to {host} broke: {reason}"),
    }
}

fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    url.port_or_known_default().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}
