//! Which model server is asked, and how.

use std::time::Duration;

use anyhow::Result;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use del_wire::{ServerApi, Think};
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::{Server, variable};
use crate::exit::Exit;
use crate::say;

/// Which model server, and which model on it.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServerOptions {
    /// The model server, usually ending in /v1 [default: `OPENAI_BASE_URL`, `OLLAMA_HOST`, or the first found here]
    #[arg(long, value_name = "URL", value_parser = address)]
    pub(crate) base_url: Option<String>,
    /// The API that it speaks [default: ollama where Ollama answers, anthropic at api.anthropic.com, else openai]
    #[arg(long, value_enum, value_name = "API")]
    pub(crate) api: Option<ApiOption>,
    /// The model [default: the first that the server has]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The variable that holds the key for the server, '' for no key [default: `OPENAI_API_KEY`, or `ANTHROPIC_API_KEY` with that API]
    #[arg(long, value_name = "VAR")]
    pub(crate) api_key_env: Option<String>,
    /// What the address and the key are called on the command line
    #[arg(skip = ["--base-url", "--api-key-env"])]
    pub(crate) names: [&'static str; 2],
}

/// The API of a model server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ApiOption(pub(crate) ServerApi);

impl ValueEnum for ApiOption {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self(ServerApi::OpenAi),
            Self(ServerApi::Responses),
            Self(ServerApi::Anthropic),
            Self(ServerApi::Ollama),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let about = match self.0 {
            ServerApi::OpenAi => "OpenAI's chat completions",
            ServerApi::Responses => "OpenAI's responses",
            ServerApi::Anthropic => "Anthropic's messages",
            ServerApi::Ollama => "Ollama's own chat",
        };
        Some(PossibleValue::new(self.0.name()).help(about))
    }
}

/// How the model is asked, beside the conversation.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelOptions {
    /// Whether the model thinks before it answers, and how much [default: as it does by itself]
    #[arg(long, value_enum, value_name = "HOW")]
    think: Option<ThinkOption>,
    /// Tokens of context that Ollama gives the model [default: as Ollama is set]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(256..))]
    pub(crate) num_ctx: Option<u32>,
    /// How long Ollama keeps the model loaded, as 10m or -1 [default: as Ollama is set]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    keep_alive: Option<String>,
    /// Seconds that the model server may take until the first byte of an answer [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    first_byte_timeout: Option<u32>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ThinkOption {
    Off,
    On,
    Low,
    Medium,
    High,
}

/// An address of a server, as it was given.
fn address(text: &str) -> Result<String, String> {
    Server::url(text).map(|_| text.to_owned())
}

/// Where Anthropic itself is.
const ANTHROPIC: &str = "https://api.anthropic.com/v1";

impl ServerOptions {
    /// The address that is named, here or in the environment, and the API where that is certain.
    pub(super) fn address(&self) -> (Option<String>, Option<ServerApi>) {
        let api = self.api.map(|ApiOption(api)| api);
        let ollama = || variable("OLLAMA_HOST").map(|host| ollama_address(&host));
        let openai = || variable("OPENAI_BASE_URL");
        let base = self.base_url.clone().or_else(|| match api {
            Some(ServerApi::Anthropic) => variable("ANTHROPIC_BASE_URL").or(Some(ANTHROPIC.to_owned())),
            Some(ServerApi::Ollama) => ollama().or_else(openai),
            _ => openai().or_else(ollama),
        });
        let host = base.as_deref().and_then(|base| Url::parse(base).ok());
        let anthropic = host.is_some_and(|url| url.host_str() == Some("api.anthropic.com"));
        (base, api.or(anthropic.then_some(ServerApi::Anthropic)))
    }

    /// Whether they, or the environment, name a server.
    pub(crate) fn names_a_server(&self) -> bool {
        self.address().0.is_some()
    }

    /// The key that they name, or else the `usual` one of the API.
    pub(super) fn key(&self, usual: bool, api: ServerApi) -> Result<Option<String>> {
        let (name, key) = match &self.api_key_env {
            Some(name) if name.is_empty() => return Ok(None),
            Some(name) => {
                let unset = || {
                    Exit::Configuration
                        .because(format!("the variable {name}, named by {}, is not set", self.names[1]))
                };
                (name.as_str(), variable(name).ok_or_else(unset)?)
            }
            None => match variable(usual_key(api)).filter(|_| usual) {
                Some(key) => (usual_key(api), key),
                None => return Ok(None),
            },
        };
        // What is read from a file often ends with a line break.
        let key = key.trim();
        if let Some(control) = key.chars().find(|c| c.is_control()) {
            let control = control.escape_debug();
            return Err(Exit::Configuration.because(format!(
                "the variable {name}: expected a key, got one with the character {control} in it"
            )));
        }
        Ok(Some(key.to_owned()))
    }
}

/// The variable that usually holds a server's key.
pub(super) fn usual_key(api: ServerApi) -> &'static str {
    match api {
        ServerApi::Anthropic => "ANTHROPIC_API_KEY",
        ServerApi::OpenAi | ServerApi::Responses | ServerApi::Ollama => "OPENAI_API_KEY",
    }
}

impl ModelOptions {
    /// Sets how much the model thinks, in the word of the option.
    pub(crate) fn think(&mut self, how: &str) -> Result<()> {
        let expected = |_| Exit::Usage.because(format!("expected off, on, low, medium or high; got {how}"));
        self.think = Some(ThinkOption::from_str(how, false).map_err(expected)?);
        Ok(())
    }

    /// How long the first byte of an answer may take.
    pub(crate) fn first_byte(&self) -> Duration {
        self.first_byte_timeout.map_or(super::SILENCE, |seconds| Duration::from_secs(seconds.into()))
    }

    /// Tokens that the model takes, as far as is known before it has answered.
    pub(crate) fn context(&self, server: &Server, model: &str) -> Option<u64> {
        let asked = self.num_ctx.filter(|_| server.api == ServerApi::Ollama);
        asked.map(u64::from).or_else(|| server.context(model))
    }

    /// The members that a request for this server has beside the conversation.
    pub(crate) fn members(&self, server: &Server) -> Map<String, Value> {
        let think = self.think.map(|think| match think {
            ThinkOption::Off => Think::Off,
            ThinkOption::On => Think::On,
            ThinkOption::Low => Think::Low,
            ThinkOption::Medium => Think::Medium,
            ThinkOption::High => Think::High,
        });
        let mut members =
            think.map(|think| server.api.thinking(think, server.fills_templates())).unwrap_or_default();
        if server.api != ServerApi::Ollama {
            if self.num_ctx.is_some() || self.keep_alive.is_some() {
                say(
                    "num_ctx and keep_alive are for Ollama's own API, and count for nothing here (`--api ollama`)",
                );
            }
            return members;
        }
        if let Some(tokens) = self.num_ctx {
            members.insert("options".to_owned(), json!({"num_ctx": tokens}));
        }
        if let Some(time) = &self.keep_alive {
            // A number of seconds, or a text with a unit.
            let value = time.parse::<i64>().map_or_else(|_| json!(time), |seconds| json!(seconds));
            members.insert("keep_alive".to_owned(), value);
        }
        members
    }
}

/// The API's address for a value of `OLLAMA_HOST`: a host, a port, both, or a URL. A server that listens on all
/// addresses is reached on this machine's own.
pub(super) fn ollama_address(host: &str) -> String {
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
