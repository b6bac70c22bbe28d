//! The model server: where it is, what it serves, and how to speak to it.

pub(crate) mod about;
pub(crate) mod taught;

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use del_detect::Material;
use del_proxy::{Engine, Upstream};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;

use crate::exit::Exit;
use crate::say;
use crate::tls;

/// Which model server, and which model on it.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServerOptions {
    /// The model server, usually ending in /v1 [default: `OPENAI_BASE_URL`, `OLLAMA_HOST`, or the first found here]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The model [default: the first that the server has]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The variable that holds the key for the server [default: `OPENAI_API_KEY`]
    #[arg(long, value_name = "VAR")]
    pub(crate) api_key_env: Option<String>,
    /// What the first and the last of these are called on the command line
    #[arg(skip = ["--base-url", "--api-key-env"])]
    pub(crate) names: [&'static str; 2],
    /// The server speaks Anthropic's API, which takes the key in a header of its own
    #[arg(skip)]
    pub(crate) anthropic: bool,
}

/// What is shown to a server.
#[derive(Debug, Clone)]
enum Key {
    Bearer(String),
    Anthropic(String),
}

/// A model server that was found.
#[derive(Debug)]
pub(crate) struct Server {
    client: Client,
    /// Without a slash at the end.
    pub(crate) base: String,
    /// It is on this machine, and no other stands between.
    direct: bool,
    key: Option<Key>,
    /// Somebody named it; otherwise it was merely found here.
    given: bool,
    /// It was asked what it is, and answered.
    met: bool,
    /// What it serves, as far as it says.
    pub(crate) models: Vec<String>,
    /// The program that it is, where that takes a grammar.
    engine: Option<Engine>,
    /// Whether the model's template takes tools, if the server says so.
    pub(crate) takes_tools: Option<bool>,
    /// Tokens of context, if the server says so.
    pub(crate) context: Option<u32>,
}

/// What a server says of its models.
enum Listing {
    Models {
        names: Vec<String>,
        engine: Option<Engine>,
    },
    Refused(StatusCode),
    Unreachable(String),
    /// It answers, but not with a list.
    Unknown(Option<StatusCode>),
}

/// Where servers listen unless told otherwise: Ollama, llama.cpp, LM Studio, vLLM.
const PORTS: [(u16, &str); 4] = [(11434, "Ollama"), (8080, "llama.cpp"), (1234, "LM Studio"), (8000, "vLLM")];
const CONNECT: Duration = Duration::from_secs(5);
/// A slow machine reads a long prompt for minutes before its first word.
const SILENCE: Duration = Duration::from_secs(600);
/// Connections that a proxy keeps for later requests, and for how long: some servers close theirs after 5 seconds.
const MOST_IDLE: usize = 64;
const IDLE: Duration = Duration::from_secs(4);
const PROBE: Duration = Duration::from_secs(1);
const ASK: Duration = Duration::from_secs(5);

impl ServerOptions {
    /// The key that they name, or else the `usual` one.
    fn key(&self, usual: bool) -> Result<Option<Key>> {
        let key = match &self.api_key_env {
            Some(name) => Some(variable(name).ok_or_else(|| {
                Exit::Configuration
                    .because(format!("the variable {name}, named by {}, is not set", self.names[1]))
            })?),
            None if usual => variable("OPENAI_API_KEY"),
            None => None,
        };
        Ok(key.map(if self.anthropic { Key::Anthropic } else { Key::Bearer }))
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

impl Server {
    /// Finds the server that the options, the environment or this machine have.
    pub(crate) async fn find(options: &ServerOptions) -> Result<Self> {
        tls::prepare();
        let given = options
            .base_url
            .clone()
            .or_else(|| variable("OPENAI_BASE_URL"))
            .or_else(|| Some(ollama_address(&variable("OLLAMA_HOST")?)));
        // A server that was merely found gets no key.
        let key = options.key(given.is_some())?;
        match given {
            Some(base) => {
                let mut server = Self { given: true, ..Self::new(&base, key)? };
                server.meet(options.names).await?;
                Ok(server)
            }
            None => Self::probe(key, options.names).await,
        }
    }

    /// The server that the options name, which is not asked anything yet. It gets the usual key only where that is so
    /// wanted.
    pub(crate) fn named(options: &ServerOptions, usual_key: bool) -> Result<Self> {
        tls::prepare();
        let base = options.base_url.as_deref().unwrap_or_default();
        Ok(Self { given: true, ..Self::new(base, options.key(usual_key)?)? })
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

    /// True when it was asked what it is, and answered.
    pub(crate) fn is_met(&self) -> bool {
        self.met
    }

    /// A request for an answer.
    pub(crate) fn completion(&self, body: &Value) -> RequestBuilder {
        let request = self.client.post(format!("{}/chat/completions", self.base));
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
        let key = key.map(|(Key::Bearer(key) | Key::Anthropic(key))| key);
        let mut upstream = Upstream::new(pooled, base, key).retrying_on(fresh);
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
                    "the model server at {} wants another key (status {}); set OPENAI_API_KEY, or name a variable with \
                     {key_name}",
                    self.base,
                    status.as_u16()
                )));
            }
            Listing::Models { names, engine } => self.learn(names, engine).await,
            Listing::Unknown(Some(StatusCode::NOT_FOUND)) if !self.base.ends_with("/v1") => {
                self.beneath_v1().await;
            }
            // Some servers list nothing; whether this one answers shows with the first question.
            Listing::Unknown(_) => {}
        }
        self.met = true;
        Ok(())
    }

    async fn probe(key: Option<Key>, [address, _]: [&str; 2]) -> Result<Self> {
        for (port, _) in PORTS {
            let mut server = Self::new(&format!("http://127.0.0.1:{port}/v1"), key.clone())?;
            if let Listing::Models { names, engine } = server.list(PROBE).await {
                say(format!("found a model server at {}", server.base));
                server.learn(names, engine).await;
                server.met = true;
                return Ok(server);
            }
        }
        let tried: Vec<String> = PORTS.iter().map(|(port, name)| format!("{name} ({port})")).collect();
        Err(Exit::Failed.because(format!(
            "no model server answers on this machine: tried {}; start one, or give its address with {address}",
            tried.join(", ")
        )))
    }

    fn new(base: &str, key: Option<Key>) -> Result<Self> {
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
            given: false,
            met: false,
            models,
            engine,
            takes_tools: None,
            context: None,
        })
    }

    fn with_key(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.key {
            Some(Key::Bearer(key)) => request.bearer_auth(key),
            Some(Key::Anthropic(key)) => {
                request.header("x-api-key", key).header("anthropic-version", "2023-06-01")
            }
            None => request,
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
        Listing::Models { names, engine }
    }

    /// The address may lack the part that the API lies under.
    async fn beneath_v1(&mut self) {
        let beneath = format!("{}/v1", self.base);
        let given = std::mem::replace(&mut self.base, beneath);
        if let Listing::Models { names, engine } = self.list(ASK).await {
            say(format!("the API is at {}", self.base));
            self.learn(names, engine).await;
        } else {
            self.base = given;
        }
    }

    async fn learn(&mut self, models: Vec<String>, engine: Option<Engine>) {
        self.models = models;
        self.engine = engine;
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
