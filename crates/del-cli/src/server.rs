//! The model server: where it is, what it serves, and how to speak to it.

pub(crate) mod about;
mod facts;
mod options;
pub(crate) mod taught;

use std::time::Duration;

use anyhow::Result;
use del_detect::Material;
use del_proxy::{Engine, Upstream};
use del_wire::ServerApi;
use del_wire::count::{Counted, Counter};
pub(crate) use options::{ApiOption, ModelOptions, ServerOptions};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;

use crate::exit::Exit;
use crate::say;
use crate::tls;

/// A model server that was found.
#[derive(Debug)]
pub(crate) struct Server {
    client: Client,
    /// Without a slash at the end.
    pub(crate) base: String,
    /// It is on this machine, and no other stands between.
    direct: bool,
    key: Option<String>,
    /// The API in which it is asked for answers.
    pub(crate) api: ServerApi,
    /// Somebody named it; otherwise it was merely found here.
    given: bool,
    /// It was asked what it is, and answered.
    met: bool,
    /// What it serves, as far as it says.
    pub(crate) models: Vec<String>,
    /// The program that it is, where that takes a grammar.
    engine: Option<Engine>,
    /// Its models come from Ollama's library.
    library: bool,
    /// Whether the model's template takes tools, if the server says so.
    pub(crate) takes_tools: Option<bool>,
    /// Tokens of context, if the server says so.
    pub(crate) context: Option<u32>,
}

/// What a server says that it has.
struct Listed {
    names: Vec<String>,
    engine: Option<Engine>,
    /// They come from Ollama's library.
    library: bool,
}

/// What a server says of its models.
enum Listing {
    Models(Listed),
    Refused(StatusCode),
    Unreachable(String),
    /// It answers, but not with a list.
    Unknown(Option<StatusCode>),
}

/// Where servers listen unless told otherwise: Ollama, llama.cpp, LM Studio, vLLM.
const PORTS: [(u16, &str); 4] =
    [(OLLAMA, "Ollama"), (8080, "llama.cpp"), (1234, "LM Studio"), (8000, "vLLM")];
const OLLAMA: u16 = 11434;
const CONNECT: Duration = Duration::from_secs(5);
/// A slow machine reads a long prompt for minutes before its first word.
const SILENCE: Duration = Duration::from_secs(600);
/// Connections that a proxy keeps for later requests, and for how long: some servers close theirs after 5 seconds.
const MOST_IDLE: usize = 64;
const IDLE: Duration = Duration::from_secs(4);
/// Where one of these is set, a proxy may stand before other machines.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
const PROBE: Duration = Duration::from_secs(1);
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
        tls::prepare();
        Self::new(base, None).map(drop)
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
        let Self { base, direct, key, given, engine, takes_tools, .. } = self;
        let pooled = client(direct)
            .connect_timeout(connect)
            .pool_max_idle_per_host(MOST_IDLE)
            .pool_idle_timeout(IDLE)
            .build()?;
        let fresh = client(direct).connect_timeout(connect).pool_max_idle_per_host(0).build()?;
        let mut upstream = Upstream::new(pooled, base, key).retrying_on(fresh);
        if direct || !PROXIES.iter().any(|name| variable(name).is_some()) {
            upstream = upstream.direct(connect);
        }
        upstream.passes_keys = given;
        upstream.engine = engine;
        upstream.takes_tools = takes_tools;
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

    /// Asks it what it is. `names` are those of the options for its address and its key.
    pub(crate) async fn meet(&mut self, [address, key_name]: [&str; 2]) -> Result<()> {
        match self.list(ASK).await {
            Listing::Unreachable(reason) => {
                return Err(Exit::Failed.because(format!(
                    "cannot reach the model server at {} ({reason}); start it, or give another address with {address}",
                    self.base
                )));
            }
            Listing::Refused(status) => {
                return Err(Exit::Authentication.because(format!(
                    "the model server at {} wants another key (status {}); set {}, or name a variable with {key_name}",
                    self.base,
                    status.as_u16(),
                    options::usual_key(self.api)
                )));
            }
            Listing::Models(listed) => self.learn(listed).await,
            Listing::Unknown(Some(StatusCode::NOT_FOUND)) if !self.base.ends_with("/v1") => {
                self.beneath_v1().await;
            }
            // Some servers list nothing; whether this one answers shows with the first question.
            Listing::Unknown(_) => {}
        }
        self.met = true;
        Ok(())
    }

    async fn probe(key: Option<String>, api: ServerApi, [address, _]: [&str; 2]) -> Result<Self> {
        let of_api = |(port, _): &&(u16, &str)| api != ServerApi::Ollama || *port == OLLAMA;
        for (port, _) in PORTS.iter().filter(of_api) {
            let mut server = Self::new(&format!("http://127.0.0.1:{port}/v1"), key.clone())?;
            server.api = api;
            if let Listing::Models(listed) = server.list(PROBE).await {
                say(format!("found a model server at {}", server.base));
                server.learn(listed).await;
                server.met = true;
                return Ok(server);
            }
        }
        let tried: Vec<String> =
            PORTS.iter().filter(of_api).map(|(port, name)| format!("{name} ({port})")).collect();
        Err(Exit::Failed.because(format!(
            "no model server answers on this machine: tried {}; start one, or give its address with {address}",
            tried.join(", ")
        )))
    }

    fn new(base: &str, key: Option<String>) -> Result<Self> {
        let wrong = |reason: &str| {
            Exit::Usage.because(format!(
                "expected the address of a model server such as http://127.0.0.1:11434/v1, got `{base}` ({reason})"
            ))
        };
        let base = base.trim().trim_end_matches('/');
        let url = Url::parse(base).map_err(|error| wrong(&error.to_string()))?;
        let host = match url.host_str() {
            Some(host) if matches!(url.scheme(), "http" | "https") => host,
            _ => return Err(wrong("no http address")),
        };
        // No proxy of the environment stands before this machine.
        let direct = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        let base = base.trim_end_matches("/chat/completions").to_owned();
        let (models, engine) = (Vec::new(), None);
        let client = client(direct).connect_timeout(CONNECT).read_timeout(SILENCE).pool_max_idle_per_host(0);
        let client = client.build()?;
        Ok(Self {
            client,
            base,
            direct,
            key,
            api: ServerApi::default(),
            given: false,
            met: false,
            models,
            engine,
            library: false,
            takes_tools: None,
            context: None,
        })
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

    async fn list(&self, within: Duration) -> Listing {
        let response = match self.get(format!("{}/models", self.base), within).await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return Listing::Unreachable(reason(&error)),
            Err(_) => return Listing::Unknown(None),
        };
        let status = response.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Listing::Refused(status);
        }
        let server = response.headers().get("server").and_then(|name| name.to_str().ok());
        let by_header = server.is_some_and(|name| name.contains("llama.cpp"));
        let listing = told(response).await;
        let Some(models) = listing["data"].as_array().filter(|_| status.is_success()) else {
            return Listing::Unknown(Some(status));
        };
        let names = models.iter().filter_map(|model| Some(model["id"].as_str()?.to_owned())).collect();
        let by = |owner: &str| models.iter().any(|model| model["owned_by"] == owner);
        let engine = match () {
            () if by_header || by("llamacpp") => Some(Engine::LlamaCpp),
            () if by("vllm") => Some(Engine::Vllm),
            () if by("sglang") => Some(Engine::Sglang),
            () => None,
        };
        Listing::Models(Listed { names, engine, library: by("library") })
    }

    /// The address may lack the part that the API lies under.
    async fn beneath_v1(&mut self) {
        let beneath = format!("{}/v1", self.base);
        let given = std::mem::replace(&mut self.base, beneath);
        if let Listing::Models(listed) = self.list(ASK).await {
            say(format!("the API is at {}", self.base));
            self.learn(listed).await;
        } else {
            self.base = given;
        }
    }

    async fn learn(&mut self, Listed { names, engine, library }: Listed) {
        self.models = names;
        self.engine = engine;
        self.library = library;
        if !self.llama_cpp() {
            return;
        }
        let root = self.base.trim_end_matches("/v1");
        let Ok(response) = self.get(format!("{root}/props"), ASK).await else { return };
        let properties = told(response).await;
        let able = &properties["chat_template_caps"];
        let says = |name: &str| able[name].as_bool();
        self.takes_tools = match (says("supports_tools"), says("supports_tool_calls")) {
            (None, None) => None,
            (tools, calls) => Some(tools.unwrap_or(true) && calls.unwrap_or(true)),
        };
        let context = &properties["default_generation_settings"]["n_ctx"];
        self.context = context.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|n| *n > 0);
    }
}

/// What every client of a model server has. One that lies idle while a tool runs may find its connection dead, so only
/// a proxy, which sends such a request once more, keeps connections.
pub(crate) fn client(direct: bool) -> ClientBuilder {
    let client = Client::builder().user_agent(concat!("del/", env!("CARGO_PKG_VERSION")));
    if direct { client.no_proxy() } else { client }
}

/// The API's address for a value of `OLLAMA_HOST`: a host, a port, both, or a URL. A server that listens on all
/// addresses is reached on this machine's own.
fn ollama_address(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => (name, port),
        _ if rest.parse::<u16>().is_ok() => ("", rest),
        _ if scheme == "https" => (rest, "443"),
        _ => (rest, "11434"),
    };
    let name = if matches!(name, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { name };
    format!("{scheme}://{name}:{port}/v1")
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
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    match cause.downcast_ref::<std::io::Error>() {
        Some(error) => crate::input::plain(error),
        None => cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_ollama_host_gives_an_address() {
        for (host, address) in [
            ("127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            (":8081", "http://127.0.0.1:8081/v1"),
            ("8081", "http://127.0.0.1:8081/v1"),
            ("gpu.lan", "http://gpu.lan:11434/v1"),
            ("http://gpu.lan:9/", "http://gpu.lan:9/v1"),
            ("https://gpu.lan", "https://gpu.lan:443/v1"),
        ] {
            assert_eq!(ollama_address(host), address, "{host}");
        }
    }
}
