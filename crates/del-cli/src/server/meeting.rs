//! Meeting a server: where one listens, what it is, and which models it has.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use del_proxy::Engine;
use del_wire::ServerApi;
use reqwest::StatusCode;

use super::about::context;
use super::{ASK, Server, options, reason, told, variable};
use crate::exit::Exit;
use crate::say;
use crate::tls;

/// What a server says that it has.
struct Listed {
    names: Vec<String>,
    contexts: BTreeMap<String, u64>,
    engine: Option<Engine>,
    /// They come from Ollama's library.
    library: bool,
}

/// What a server says of its models.
enum Listing {
    Models(Listed),
    Refused(StatusCode),
    Unreachable(String),
    /// It is there, but no encrypted connection to it can be had.
    Distrusted(String),
    /// It answers, but not with a list; why, in words.
    Unknown {
        status: Option<StatusCode>,
        why: String,
    },
}

/// Where servers listen unless told otherwise: Ollama, llama.cpp, LM Studio, vLLM.
const PORTS: [(u16, &str); 4] =
    [(OLLAMA, "Ollama"), (8080, "llama.cpp"), (1234, "LM Studio"), (8000, "vLLM")];
pub(super) const OLLAMA: u16 = 11434;
const PROBE: Duration = Duration::from_secs(1);

impl Server {
    /// Asks it what it is. `names` are those of the options for its address and its key.
    pub(crate) async fn meet(&mut self, [address, key_name]: [&str; 2]) -> Result<()> {
        match self.list(ASK).await {
            Listing::Unreachable(reason) => {
                return Err(Exit::Failed.because(format!(
                    "cannot reach the model server at {} ({reason}); start it, or give another address with {address}",
                    self.base
                )));
            }
            Listing::Distrusted(reason) => {
                return Err(Exit::Failed
                    .because(format!("cannot speak to the model server at {}: {reason}", self.base)));
            }
            Listing::Refused(status) => {
                let usual = options::usual_key(self.api);
                let set = if variable(usual).is_none() { format!("set {usual}, or ") } else { String::new() };
                return Err(Exit::Authentication.because(format!(
                    "the model server at {} wants another key (status {}); {set}name a variable with {key_name}, \
                    in a profile with `api_key_env`",
                    self.base,
                    status.as_u16(),
                )));
            }
            Listing::Models(listed) => self.learn(listed).await,
            // Some servers list nothing; whether this one answers shows with the first question.
            Listing::Unknown { status, why } => {
                self.unlisted = Some(why);
                if status == Some(StatusCode::NOT_FOUND) && !self.base.ends_with("/v1") {
                    self.beneath_v1().await;
                }
            }
        }
        self.met = true;
        Ok(())
    }

    pub(super) async fn probe(key: Option<String>, api: ServerApi, [address, _]: [&str; 2]) -> Result<Self> {
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
        let hosted = [
            ("OPENAI_API_KEY", "--base-url https://api.openai.com/v1"),
            ("ANTHROPIC_API_KEY", "--api anthropic"),
        ];
        let hosted: Vec<String> = hosted
            .iter()
            .filter(|(name, _)| variable(name).is_some())
            .map(|(name, option)| format!("; {name} is set: `{option}` asks the service that it is for"))
            .collect();
        let tried: Vec<String> =
            PORTS.iter().filter(of_api).map(|(port, name)| format!("{name} ({port})")).collect();
        Err(Exit::Failed.because(format!(
            "no model server answers on this machine: tried {}; start one, such as `ollama serve`, or give its address with {address}{}",
            tried.join(", "),
            hosted.concat()
        )))
    }

    async fn list(&self, within: Duration) -> Listing {
        let response = match self.get(format!("{}/models", self.base), within).await {
            Ok(response) => response,
            Err(error) if tls::words(&error).is_some() => return Listing::Distrusted(reason(&error)),
            Err(error) if error.is_connect() => return Listing::Unreachable(reason(&error)),
            Err(error) => return Listing::Unknown { status: None, why: reason(&error) },
        };
        let status = response.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Listing::Refused(status);
        }
        let server = response.headers().get("server").and_then(|name| name.to_str().ok());
        let by_header = server.is_some_and(|name| name.contains("llama.cpp"));
        let listing = told(response).await;
        let Some(models) = listing["data"].as_array().filter(|_| status.is_success()) else {
            let got = match () {
                () if !status.is_success() => format!("status {}", status.as_u16()),
                () if listing.is_null() => "no JSON".to_owned(),
                () => "other JSON".to_owned(),
            };
            let why = format!("expected a list of models, got {got}");
            return Listing::Unknown { status: Some(status), why };
        };
        let names = models.iter().filter_map(|model| Some(model["id"].as_str()?.to_owned())).collect();
        let contexts =
            models.iter().filter_map(|model| Some((model["id"].as_str()?.to_owned(), context(model)?)));
        let contexts = contexts.collect();
        let by = |owner: &str| models.iter().any(|model| model["owned_by"] == owner);
        let engine = match () {
            () if by_header || by("llamacpp") => Some(Engine::LlamaCpp),
            () if by("vllm") => Some(Engine::Vllm),
            () if by("sglang") => Some(Engine::Sglang),
            () => None,
        };
        Listing::Models(Listed { names, contexts, engine, library: by("library") })
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

    async fn learn(&mut self, Listed { names, contexts, engine, library }: Listed) {
        self.unlisted = None;
        self.models = names;
        self.contexts = contexts;
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
