//! The model server: where it is, what it serves, and how to speak to it.

pub(crate) mod about;
mod client;
mod facts;
mod meeting;
mod options;
pub(crate) mod taught;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
pub(crate) use client::{Way, client};
use client::{login, with_login};
use del_agent::Failure;
use del_detect::Material;
use del_judge::without_password;
use del_proxy::{Engine, Upstream};
use del_wire::count::{Counted, Counter};
use del_wire::{ApiErrorKind, ServerApi};
pub(crate) use options::{ApiOption, ModelOptions, ServerOptions};
use reqwest::header::HeaderValue;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;

use crate::exit::Exit;
use crate::say;
use crate::tls;

/// A model server that was found.
#[derive(Debug)]
pub(crate) struct Server {
    client: Client,
    /// Without a slash at the end, and without the name and password that it was given with.
    pub(crate) base: String,
    /// What those are sent as.
    login: Option<HeaderValue>,
    /// It is on this machine, and no other stands between.
    way: Way,
    key: Option<String>,
    /// The API in which it is asked for answers.
    pub(crate) api: ServerApi,
    /// Somebody named it; otherwise it was merely found here.
    given: bool,
    /// It was asked what it is, and answered.
    met: bool,
    /// What it serves, as far as it says.
    pub(crate) models: Vec<String>,
    /// Why it does not say what it serves.
    pub(crate) unlisted: Option<String>,
    /// The program that it is, where that takes a grammar.
    engine: Option<Engine>,
    /// Its models come from Ollama's library.
    library: bool,
    /// Whether the model's template takes tools, if the server says so.
    pub(crate) takes_tools: Option<bool>,
    /// How long the first byte of an answer may take.
    pub(crate) first_byte: Duration,
    /// Tokens of context, if the server says so.
    context: Option<u32>,
    /// The same of single models, as far as the list of them says so.
    contexts: BTreeMap<String, u64>,
}

const CONNECT: Duration = Duration::from_secs(5);
/// A slow machine reads a long prompt for minutes before its first word.
pub(crate) const SILENCE: Duration = Duration::from_secs(600);
/// Connections that a proxy keeps for later requests, and for how long: some servers close theirs after 5 seconds.
const MOST_IDLE: usize = 64;
const IDLE: Duration = Duration::from_secs(4);
/// Where one of these is set, a proxy may stand before other machines.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
const ASK: Duration = Duration::from_secs(5);

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

impl Server {
    /// Finds the server that the options, the environment or this machine have.
    pub(crate) async fn find(options: &ServerOptions) -> Result<Self> {
        tls::prepare();
        let (given, certain) = options.address();
        let api = certain.unwrap_or_default();
        // A server that was merely found gets no key.
        let key = options.key(given.is_some(), api)?;
        let mut server = match given {
            Some(base) => {
                let mut server = Self { given: true, api, ..Self::new(&base, key)? };
                server.meet(options.names).await?;
                server
            }
            None => Self::probe(key, api, options.names).await?,
        };
        if certain.is_none() && server.is_ollama().await {
            server.api = ServerApi::Ollama;
        }
        Ok(server)
    }

    /// The server that the options name, which is not asked anything yet. It gets the usual key only where that is so
    /// wanted.
    pub(crate) fn named(options: &ServerOptions, usual_key: bool) -> Result<Self> {
        tls::prepare();
        let (base, certain) = options.address();
        let api = certain.unwrap_or_default();
        let key = options.key(usual_key, api)?;
        Ok(Self { given: true, api, ..Self::new(&base.unwrap_or_default(), key)? })
    }

    /// Refuses what is no address of a server.
    pub(crate) fn check(base: &str) -> Result<()> {
        Self::url(base).map(drop).map_err(|wrong| Exit::Usage.because(wrong))
    }

    /// True when it is llama.cpp.
    pub(crate) fn llama_cpp(&self) -> bool {
        self.engine == Some(Engine::LlamaCpp)
    }

    /// True when it fills the model's template with what a request has for that.
    pub(crate) fn fills_templates(&self) -> bool {
        self.engine.is_some()
    }

    /// What the agent has to know of it.
    pub(crate) fn for_agent(&self) -> del_agent::Server {
        del_agent::Server {
            llama_cpp: self.llama_cpp(),
            counts: self.counts(),
            takes_tools: self.takes_tools,
        }
    }

    /// Tokens of context that a model has, as far as the server said so when it was met.
    pub(crate) fn context(&self, model: &str) -> Option<u64> {
        self.context.map(u64::from).or_else(|| self.contexts.get(model).copied())
    }

    /// How it counts the tokens of a request, if it does.
    fn counter(&self) -> Option<Counter> {
        match (self.api, self.engine) {
            (ServerApi::Anthropic, _) => Some(Counter::Anthropic),
            (ServerApi::Responses, _) => Some(Counter::Responses),
            (ServerApi::OpenAi, Some(Engine::LlamaCpp)) => Some(Counter::LlamaCpp),
            (ServerApi::OpenAi, Some(Engine::Vllm)) => Some(Counter::Vllm),
            _ => None,
        }
    }

    /// Whether it counts the tokens of a request.
    pub(crate) fn counts(&self) -> bool {
        self.counter().is_some()
    }

    /// The tokens of a request.
    pub(crate) async fn count(&self, body: &Value) -> Option<u64> {
        let counter = self.counter()?;
        let mut question = counter.ask(body);
        loop {
            let base = if question.above { self.base.trim_end_matches("/v1") } else { self.base.as_str() };
            match counter.hear(&self.posted(&format!("{base}{}", question.path), &question.body).await) {
                Counted::Tokens(tokens) => return Some(tokens),
                Counted::Ask(more) => question = more,
                Counted::Unknown => return None,
            }
        }
    }

    /// True when it was asked what it is, and answered.
    pub(crate) fn is_met(&self) -> bool {
        self.met
    }

    /// A request for an answer.
    pub(crate) fn completion(&self, body: &Value) -> RequestBuilder {
        let request = self.client.post(self.api.address(&self.base));
        self.with_key(request).header("content-type", "application/json").body(body.to_string())
    }

    /// The same server, for a proxy in front of it. Keys of its clients go only to a server that somebody named. A
    /// connection has to stand within `connect`.
    pub(crate) fn into_upstream(self, connect: Duration) -> Result<Upstream> {
        let Self { base, login, way, key, given, engine, takes_tools, context, .. } = self;
        let client = |way| with_login(client(way), login.as_ref());
        let pooled = client(way)
            .connect_timeout(connect)
            .pool_max_idle_per_host(MOST_IDLE)
            .pool_idle_timeout(IDLE)
            .build()?;
        let fresh = client(way).connect_timeout(connect).pool_max_idle_per_host(0).build()?;
        let mut upstream = Upstream::new(pooled, base, key).retrying_on(fresh);
        let proxied = way == Way::Any && PROXIES.iter().any(|name| variable(name).is_some());
        if !proxied && login.is_none() {
            upstream = upstream.direct(connect);
        }
        upstream.passes_keys = given;
        upstream.engine = engine;
        upstream.takes_tools = takes_tools;
        upstream.context = context.map(u64::from);
        Ok(upstream)
    }

    /// The model to use: the one that is named, or the first that is served.
    pub(crate) fn choose(&self, named: Option<&str>) -> String {
        match (named, self.models.as_slice()) {
            (Some(name), _) => name.to_owned(),
            (None, []) => String::new(),
            (None, [only]) => only.clone(),
            (None, [first, ..]) => {
                say(format!("model {first}, the first of {}; -m picks another", self.models.len()));
                first.clone()
            }
        }
    }

    /// What the server tells of a model's chat template: as llama.cpp, Ollama and vLLM do.
    pub(crate) async fn template(&self, model: &str) -> Option<Material> {
        let root = self.base.trim_end_matches("/v1");
        let show = self.client.post(format!("{root}/api/show")).header("content-type", "application/json");
        let asked = serde_json::json!({"model": model}).to_string();
        let requests = [
            self.client.get(format!("{root}/props")),
            show.body(asked),
            self.client.get(format!("{root}/tokenizer_info")),
            self.client.get(format!("{}/tokenizer_info", self.base)),
        ];
        for request in requests {
            let told = match self.with_key(request).timeout(ASK).send().await {
                Ok(response) => told(response).await,
                // One that does not answer in time will not be faster with the next question.
                Err(error) if error.is_timeout() => return None,
                Err(_) => continue,
            };
            let material = told.as_object().and_then(|told| Material::served(told, model));
            if material.is_some() {
                return material;
            }
        }
        None
    }

    /// The address of a server, or what is wrong with it.
    fn url(base: &str) -> std::result::Result<Url, String> {
        let wrong = |reason: &str| {
            let got = without_password(base);
            format!(
                "expected the address of a model server such as http://127.0.0.1:11434/v1, got `{got}` ({reason})"
            )
        };
        let url = Url::parse(base.trim()).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong("no http address"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("what is asked for is put behind it, so it ends with a path"));
        }
        Ok(url)
    }

    fn new(base: &str, key: Option<String>) -> Result<Self> {
        let mut url = Self::url(base).map_err(|wrong| Exit::Usage.because(wrong))?;
        let login = login(&url)?;
        // What has a host can have them.
        let _ = (url.set_username(""), url.set_password(None));
        let way = Way::to(&url);
        let base = if login.is_some() { url.as_str() } else { base.trim() }.trim_end_matches('/');
        let base = base.trim_end_matches("/chat/completions").to_owned();
        let (models, engine) = (Vec::new(), None);
        let client =
            with_login(client(way), login.as_ref()).connect_timeout(CONNECT).pool_max_idle_per_host(0);
        let client = client.build()?;
        Ok(Self {
            client,
            base,
            login,
            way,
            key,
            api: ServerApi::default(),
            given: false,
            met: false,
            models,
            unlisted: None,
            engine,
            library: false,
            takes_tools: None,
            first_byte: SILENCE,
            context: None,
            contexts: BTreeMap::new(),
        })
    }

    /// A refusal for want of a key that none was sent with, and why none was.
    pub(crate) fn named_key(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Refused { status, mut error }
                if error.kind == ApiErrorKind::Authentication && self.key.is_none() =>
            {
                let usual = options::usual_key(self.api);
                let why = match variable(usual) {
                    _ if !self.given => "a server that was merely found gets none".to_owned(),
                    None => format!("{usual} is not set"),
                    Some(_) => "the profile with its address names no `api_key_env`".to_owned(),
                };
                error.message = format!("{} (no key was sent: {why})", error.message);
                Failure::Refused { status, error }
            }
            other => other,
        }
    }

    fn with_key(&self, request: RequestBuilder) -> RequestBuilder {
        let request = match self.api {
            ServerApi::Anthropic => request.header("anthropic-version", "2023-06-01"),
            ServerApi::OpenAi | ServerApi::Responses | ServerApi::Ollama => request,
        };
        match (&self.key, self.api) {
            (Some(key), ServerApi::Anthropic) => request.header("x-api-key", key),
            (Some(key), _) => request.bearer_auth(key),
            (None, _) => request,
        }
    }

    async fn get(&self, url: String, within: Duration) -> reqwest::Result<Response> {
        self.with_key(self.client.get(url)).timeout(within).send().await
    }
}

/// The JSON of an answer; null where it is none, ends too early, or is longer than any server's.
async fn told(mut response: Response) -> Value {
    let mut bytes = Vec::new();
    while let Ok(Some(more)) = response.chunk().await {
        bytes.extend_from_slice(&more);
        if bytes.len() > MAX_TOLD {
            return Value::Null;
        }
    }
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Bytes of an answer. What a tokenizer says of all its tokens has a few million.
const MAX_TOLD: usize = 32 << 20;

/// What went wrong with a request, at the bottom of it.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    if let Some(words) = tls::words(error) {
        return words;
    }
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let why = match cause.downcast_ref::<std::io::Error>() {
        Some(error) => crate::input::plain(error),
        None => cause.to_string(),
    };
    // The address in the sentence around this is the server's, which was perhaps never asked.
    match error.url().filter(|_| error.is_connect()).and_then(client::proxy) {
        Some(variable) => format!("{why}; the way there is through the HTTP proxy in {variable}"),
        None => why,
    }
}
