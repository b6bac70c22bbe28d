//! What else a model server says of itself.

use serde_json::{Value, json};

use super::meeting::OLLAMA;
use super::{ASK, Server, told};

/// Which program a server is, and how much a model on it reads.
#[derive(Debug, Default)]
pub(crate) struct About {
    /// The program, if it can be told.
    pub(crate) program: Option<&'static str>,
    /// Tokens of context that the model has as it is loaded.
    pub(crate) context: Option<u64>,
}

impl Server {
    /// Asks for it. Some servers know it only once the model has answered something.
    pub(crate) async fn about(&self, model: &str) -> About {
        let about = |program, context| About { program: Some(program), context };
        if self.llama_cpp() {
            return about("llama.cpp", self.context.map(u64::from));
        }
        let root = self.base.trim_end_matches("/v1");
        if self.said(&format!("{root}/api/version")).await["version"].is_string() {
            let running = self.said(&format!("{root}/api/ps")).await;
            return about("Ollama", of_model(&running["models"], "name", model, "context_length"));
        }
        let studio = self.said(&format!("{root}/api/v0/models")).await;
        if studio["data"].as_array().into_iter().flatten().any(|row| row["max_context_length"].is_u64()) {
            return about("LM Studio", of_model(&studio["data"], "id", model, "loaded_context_length"));
        }
        let listed = self.said(&format!("{}/models", self.base)).await;
        let context = row(&listed["data"], "id", model).and_then(context);
        let by_vllm = listed["data"].as_array().into_iter().flatten().any(|row| row["owned_by"] == "vllm");
        About { program: by_vllm.then_some("vLLM"), context }
    }

    /// True when it is Ollama beyond doubt: what looks like it is asked for its version.
    pub(super) async fn is_ollama(&self) -> bool {
        let root = self.base.trim_end_matches("/v1");
        let likely = self.library || root.ends_with(&format!(":{OLLAMA}"));
        let named = || {
            super::variable("OLLAMA_HOST")
                .is_some_and(|host| super::options::ollama_address(&host) == self.base)
        };
        (likely || named()) && self.said(&format!("{root}/api/version")).await["version"].is_string()
    }

    /// Whether a model sees images, where the server tells: llama.cpp and Ollama do.
    pub(crate) async fn sees(&self, model: &str) -> Option<bool> {
        let root = self.base.trim_end_matches("/v1");
        if self.llama_cpp() {
            return self.said(&format!("{root}/props")).await["modalities"]["vision"].as_bool();
        }
        let shown = self.shown(model).await;
        let able = shown["capabilities"].as_array()?;
        Some(able.iter().any(|ability| ability == "vision"))
    }

    /// What Ollama says of a model; null from others.
    pub(super) async fn shown(&self, model: &str) -> Value {
        let root = self.base.trim_end_matches("/v1");
        self.posted(&format!("{root}/api/show"), &json!({"model": model})).await
    }

    /// What it answers to this; null if nothing.
    pub(super) async fn posted(&self, url: &str, body: &Value) -> Value {
        let request = self.client.post(url).header("content-type", "application/json");
        match self.with_key(request.body(body.to_string())).timeout(ASK).send().await {
            Ok(response) if response.status().is_success() => told(response).await,
            _ => Value::Null,
        }
    }

    /// What it says at an address; null if nothing.
    pub(super) async fn said(&self, url: &str) -> Value {
        match self.get(url.to_owned(), ASK).await {
            Ok(response) if response.status().is_success() => told(response).await,
            _ => Value::Null,
        }
    }
}

/// What a context is called in the lists of vLLM, Anthropic, `OpenRouter`, Groq and Mistral.
const CONTEXTS: [&str; 5] =
    ["max_model_len", "max_input_tokens", "context_length", "context_window", "max_context_length"];

/// Tokens that a model takes, where its row in a list says so.
pub(super) fn context(row: &Value) -> Option<u64> {
    CONTEXTS.iter().find_map(|key| row[*key].as_u64()).filter(|tokens| *tokens > 0)
}

/// The number under `key` in the row of the model.
fn of_model(rows: &Value, named: &str, model: &str, key: &str) -> Option<u64> {
    row(rows, named, model)?[key].as_u64().filter(|tokens| *tokens > 0)
}

fn row<'v>(rows: &'v Value, named: &str, model: &str) -> Option<&'v Value> {
    // Ollama's names end in a tag, which may be left out.
    let fits = |name: &str| name == model || name.strip_suffix(":latest") == Some(model);
    let mut rows = rows.as_array()?.iter();
    rows.find(|row| row[named].as_str().is_some_and(fits))
}
