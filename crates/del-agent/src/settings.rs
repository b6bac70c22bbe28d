//! What a session is set to.

use std::sync::Arc;

use del_dialects::{Detail, Dialect, Limits, Start, Tool};
use del_grammar::GrammarError;
use del_wire::{ServerApi, Words};
use serde_json::{Map, Value};

/// How an [`Agent`](crate::Agent) works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The model's name, for the server and for choosing a dialect.
    pub model: String,
    /// Instructions; the agent adds the tools to them in prompt mode.
    pub system: String,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// How the model learns of the tools.
    pub tools_mode: ToolsMode,
    /// The one dialect to write and read; `None` writes the model's and reads all.
    pub dialect: Option<Arc<Dialect>>,
    /// What the model's chat template says of tools, where it is known; calls are then written in its dialect.
    pub words: Option<Words>,
    /// How much the model is told of its tools in its prompt.
    pub detail: Detail,
    /// The name of the dialect to write for a model of which nothing is known.
    pub fallback: String,
    /// Whether the server is made to sample nothing but calls.
    pub constrain: Constrain,
    /// The API that the server speaks.
    pub api: ServerApi,
    /// What is known of the server.
    pub server: Server,
    /// Requests that one question may cost, retries not counted; at least 1.
    pub max_turns: u32,
    /// Whether answers come as they are written, or whole.
    pub stream: bool,
    /// Randomness, from 0; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// The longest answer in tokens; `None` leaves it to the server.
    pub max_tokens: Option<u64>,
    /// Tokens that the model reads and writes at most, where that is known: room is made before they are used up.
    pub context: Option<u64>,
    /// Members for every request, such as a server's own options.
    pub extra: Map<String, Value>,
    /// Where answers begin: a template may end inside the model's thinking.
    pub starts: Start,
    /// What bounds the reading of one answer.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: String::new(),
            system: String::new(),
            tools: Vec::new(),
            tools_mode: ToolsMode::default(),
            dialect: None,
            words: None,
            detail: Detail::default(),
            fallback: "hermes-json".to_owned(),
            constrain: Constrain::default(),
            api: ServerApi::default(),
            server: Server::default(),
            max_turns: 25,
            stream: true,
            temperature: None,
            max_tokens: None,
            context: None,
            extra: Map::new(),
            starts: Start::Text,
            limits: Limits::default(),
        }
    }
}

/// How the model learns of the tools, as set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolsMode {
    /// Natively, until the server or the model cannot; then by prompt for the rest of the session.
    #[default]
    Auto,
    /// Through the API.
    Native,
    /// Written into the system prompt, in the model's dialect.
    Prompt,
    /// First the names alone, then the definitions that the model asks for: natively as in [`Auto`](Self::Auto), or in
    /// the prompt where a dialect is named.
    Hybrid,
}

impl ToolsMode {
    /// Whether the prompt takes over where the server or the model cannot.
    pub const fn learns(self) -> bool {
        matches!(self, Self::Auto | Self::Hybrid)
    }
}

/// How the model learns of the tools, as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Through the API.
    Native,
    /// Written into the system prompt.
    Prompt,
}

/// Whether a grammar holds the model to calls that can be read; where the server takes one, in prompt mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Constrain {
    /// The model may answer in plain words, and what begins as a call goes on as one.
    #[default]
    Auto,
    /// Nothing but calls until a result is there; then as [`Auto`](Self::Auto).
    On,
    /// There is no grammar.
    Off,
}

/// What is known of the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Server {
    /// It is llama.cpp, which takes a `grammar`.
    pub llama_cpp: bool,
    /// It counts the tokens of a request, where it is asked to ([`Effect::Count`](crate::Effect::Count)).
    pub counts: bool,
    /// Whether the model's template takes tools, where the server says so; some servers drop tools in silence.
    pub takes_tools: Option<bool>,
}

/// Settings that do not go together.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// No dialect to write in.
    #[error("expected the name of a dialect to write calls in, got `{got}`")]
    NoDialect {
        /// The name.
        got: String,
    },
    /// The dialect and the tools give no grammar.
    #[error("constrained calls need a grammar: {0}")]
    Grammar(#[from] GrammarError),
}
