//! The service that searches the web, and the client that speaks to it.

use std::sync::Arc;
use std::time::Duration;

use del_tools::{Fetch, Provider, Web, WebAnswer, WebRequest};
use reqwest::header::{CONTENT_ENCODING, LOCATION};
use reqwest::{Client, Method, Response, redirect};

use crate::exit::Exit;
use crate::tls;

/// How often it is looked whether somebody has had enough.
const TICK: Duration = Duration::from_millis(50);

/// The service that the environment names: `DEL_WEB_PROVIDER`, `DEL_WEB_URL`, and `DEL_WEB_API_KEY_ENV` for the variable with
/// the key.
pub(crate) fn service() -> anyhow::Result<Option<Web>> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let Some(provider) = variable("DEL_WEB_PROVIDER") else { return Ok(None) };
    let provider: Provider = provider
        .parse()
        .map_err(|error| Exit::Configuration.because(format!("DEL_WEB_PROVIDER: {error}")))?;
    let named = variable("DEL_WEB_API_KEY_ENV");
    let name = named.as_deref().or(provider.key_variable());
    let key = name.and_then(variable);
    if let Some(name) = name.filter(|_| key.is_none()) {
        let cause = format!(
            "{provider} needs a key: the variable {name} is not set (DEL_WEB_API_KEY_ENV names another)"
        );
        return Err(Exit::Configuration.because(cause));
    }
    let url = variable("DEL_WEB_URL");
    let web = Web::new(provider, url.as_deref(), key, Arc::new(Messenger));
    Ok(Some(web.map_err(|error| Exit::Configuration.because(format!("DEL_WEB_URL: {error}")))?))
}

/// Sends requests, each with a client of its own, as each may connect to other addresses.
#[derive(Debug)]
struct Messenger;

impl Fetch for Messenger {
    fn fetch(&self, request: &WebRequest, stop: &(dyn Fn() -> bool + Sync)) -> Result<WebAnswer, String> {
        tls::prepare();
        // The caller may be a task of another runtime, in which none may be started.
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.map_err(|error| error.to_string())?.block_on(async {
                    tokio::select! {
                        answer = send(request) => answer.map_err(|error| plain(&error)),
                        () = stopped(stop) => Err("it was stopped".to_owned()),
                    }
                })
            });
            worker.join().unwrap_or_else(|_| Err("the client broke down".to_owned()))
        })
    }
}

async fn send(request: &WebRequest) -> reqwest::Result<WebAnswer> {
    let client = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        // What is unpacked has no bound that the sender keeps.
        .no_gzip()
        .no_zstd()
        .timeout(request.timeout)
        .resolve_to_addrs(&request.host, &request.addresses)
        .build()?;
    let method = if request.body.is_some() { Method::POST } else { Method::GET };
    let mut sent = client.request(method, &request.url);
    for (name, value) in &request.headers {
        sent = sent.header(*name, value);
    }
    if let Some(body) = &request.body {
        sent = sent.body(body.clone());
    }
    let mut response = sent.send().await?;
    let header = |response: &Response, name| {
        response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let mut answer = WebAnswer {
        status: response.status().as_u16(),
        location: header(&response, LOCATION),
        encoding: header(&response, CONTENT_ENCODING),
        ..WebAnswer::default()
    };
    while let Some(piece) = response.chunk().await? {
        let room = piece.len().min(request.max_bytes - answer.body.len());
        answer.body.extend_from_slice(&piece[..room]);
        if room < piece.len() {
            answer.cut = true;
            break;
        }
    }
    Ok(answer)
}

async fn stopped(stop: &(dyn Fn() -> bool + Sync)) {
    while !stop() {
        tokio::time::sleep(TICK).await;
    }
}

/// What an error comes down to. Addresses with their queries stay out of it.
fn plain(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it does not answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.downcast_ref().map_or_else(|| del_tools::uncapped(&cause.to_string()), del_tools::plain_error)
}
