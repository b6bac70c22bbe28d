//! How a model server is told the grammar that an answer is held to.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use del_grammar::Grammar;
use serde_json::{Map, Value, json};

use super::Request;
use crate::upstream::Engine;

/// The members of a request that tell one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// A grammar in GBNF, as llama.cpp takes it.
    Gbnf,
    /// A structural tag, as vLLM and `SGLang` take it.
    Tag(Engine),
    /// The same grammar in EBNF, for releases of theirs that know no such tag.
    Ebnf(Engine),
}

impl Request {
    /// A number that tells the tools from those of other requests: a grammar is made of them.
    pub(crate) fn number_of_tools(&self) -> u64 {
        let tools = self.asked().ok().and_then(|asked| asked.body.get("tools"));
        let mut hasher = DefaultHasher::new();
        tools.map(Value::to_string).hash(&mut hasher);
        hasher.finish()
    }
}

/// The members with which clients hold an answer to something of their own.
pub(super) const MEMBERS: [&str; 13] = [
    "grammar",
    "json_schema",
    "response_format",
    "structured_outputs",
    "structural_tag",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "guided_json_object",
    "guided_decoding_backend",
    "ebnf",
    "regex",
];

impl Hold {
    /// The best that an engine takes.
    pub(crate) fn of(engine: Engine) -> Self {
        match engine {
            Engine::LlamaCpp => Self::Gbnf,
            Engine::Vllm | Engine::Sglang => Self::Tag(engine),
        }
    }

    /// What is tried once this was refused.
    pub(crate) fn next(self) -> Option<Self> {
        match self {
            Self::Tag(engine) => Some(Self::Ebnf(engine)),
            Self::Gbnf | Self::Ebnf(_) => None,
        }
    }

    /// True when what a server says is about such members.
    pub(crate) fn is_meant_by(message: &str) -> bool {
        let message = message.to_lowercase();
        ["grammar", "structural", "structured", "response_format", "guided", "ebnf"]
            .iter()
            .any(|word| message.contains(word))
    }

    /// Adds them to a request.
    pub(super) fn write(self, grammar: &Grammar, body: &mut Map<String, Value>) {
        let mut add = |name: &str, value: Value| {
            body.insert(name.to_owned(), value);
        };
        match self {
            Self::Gbnf => add("grammar", json!(grammar.to_gbnf())),
            Self::Tag(_) => add("response_format", grammar.to_structural_tag()),
            Self::Ebnf(Engine::Sglang) => add("ebnf", json!(grammar.to_gbnf())),
            Self::Ebnf(_) => {
                // The second is what it was called before; a server leaves out what it does not know.
                add("structured_outputs", json!({"grammar": grammar.to_gbnf()}));
                add("guided_grammar", json!(grammar.to_gbnf()));
            }
        }
    }
}
