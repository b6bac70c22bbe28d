//! What a client asks, and what the model server is asked in its place.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Bytes;
use del_agent::Constrain;
use del_dialects::{Dialect, Tool};
use del_grammar::{Choice, Grammar, Options};
use del_wire::tools::{self, ToolsError};
use del_wire::{Asked, Prompt, ToolChoice, anthropic, chat, ollama};
use serde_json::{Map, Value, json};

use crate::refusal::Refusal;
use crate::upstream::ServerApi;

/// A request for an answer of a model, as one for a chat completion.
#[derive(Debug)]
pub(crate) struct Request {
    /// As it came, where it may go on so.
    bytes: Option<Bytes>,
    asked: Asked,
    tools: Result<Arc<[Tool]>, ToolsError>,
}

/// How a request is written in prompt mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writing<'a> {
    /// Calls are written in it.
    pub(crate) dialect: &'a Arc<Dialect>,
    /// Whether calls are held to a grammar, where the server takes one.
    pub(crate) constrain: Constrain,
}

/// The body of a request for a chat completion.
#[derive(Debug)]
pub(crate) enum Written<'a> {
    /// As the client wrote it.
    Bytes(Bytes),
    /// As it was made here.
    Body(Cow<'a, Map<String, Value>>),
}

impl Written<'_> {
    /// As a server of this API reads it.
    pub(crate) fn into_bytes(self, api: ServerApi) -> Bytes {
        let body = match self {
            Self::Bytes(bytes) => return bytes,
            Self::Body(body) => body.into_owned(),
        };
        let written = match api {
            ServerApi::OpenAi => chat::to_server::write(body),
            ServerApi::Anthropic => anthropic::to_server::write(&body),
            ServerApi::Ollama => ollama::to_server::write(&body),
        };
        written.to_string().into()
    }
}

/// Under a grammar a small model may never close a string: tokens after which it has lost its way.
const LONGEST_CALL: u64 = 1024;

impl Request {
    /// What was asked; `bytes` is the request as it came, where that was one for a chat completion. `model` takes the
    /// place of the one that the client names.
    pub(crate) fn new(bytes: Bytes, mut asked: Asked, model: Option<&str>) -> Self {
        let mut bytes = (!asked.changed).then_some(bytes);
        if let Some(name) = model
            && asked.body.get("model").and_then(Value::as_str) != Some(name)
        {
            asked.body.insert("model".to_owned(), json!(name));
            bytes = None;
        }
        let tools = match asked.body.get("tools") {
            None | Some(Value::Null) => Ok(Arc::default()),
            Some(tools) => tools::read(tools).map(Into::into),
        };
        Self { bytes, asked, tools }
    }

    /// The body for a server that is told of the tools: `as_it_came` where that can be.
    pub(crate) fn natively(&self, as_it_came: bool) -> Written<'_> {
        match &self.bytes {
            Some(bytes) if as_it_came => Written::Bytes(bytes.clone()),
            _ => Written::Body(Cow::Borrowed(&self.asked.body)),
        }
    }

    /// The model answered without a call, which was demanded: the same request, and what to say to that.
    pub(crate) fn again(&mut self, said: &Map<String, Value>) {
        let demand = match self.choice() {
            Some(ToolChoice::Named(name)) => format!("Call {name} now, and say nothing else."),
            _ => "Call one of the tools now, and say nothing else.".to_owned(),
        };
        let said = said.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(Value::Array(messages)) = self.asked.body.get_mut("messages") {
            messages.push(json!({"role": "assistant", "content": said}));
            messages.push(json!({"role": "user", "content": demand}));
        }
        self.bytes = None;
    }

    /// Tools that were left out, as nobody here has them.
    pub(crate) fn dropped(&self) -> &[String] {
        &self.asked.dropped
    }

    /// The tools that take a text in place of arguments.
    pub(crate) fn custom(&self) -> Arc<BTreeSet<String>> {
        Arc::new(self.asked.custom.clone())
    }

    /// The tools that may be called; `None` where they cannot be read.
    pub(crate) fn offered(&self) -> Option<Arc<BTreeSet<String>>> {
        if !self.offers_tools() {
            return Some(Arc::default());
        }
        let tools = self.tools.as_ref().ok()?;
        Some(Arc::new(match self.choice() {
            Some(ToolChoice::Named(name)) => BTreeSet::from([name]),
            _ => tools.iter().map(|tool| tool.name.clone()).collect(),
        }))
    }

    /// True when the model has to call.
    pub(crate) fn demands_call(&self) -> bool {
        self.offers_tools() && matches!(self.choice(), Some(ToolChoice::Required | ToolChoice::Named(_)))
    }

    /// The model's name.
    pub(crate) fn model(&self) -> &str {
        self.asked.body.get("model").and_then(Value::as_str).unwrap_or_default()
    }

    /// True when the answer is to be streamed.
    pub(crate) fn streams(&self) -> bool {
        self.asked.body.get("stream") == Some(&Value::Bool(true))
    }

    /// True when the model may call.
    pub(crate) fn offers_tools(&self) -> bool {
        let any =
            self.asked.body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty());
        any && self.choice() != Some(ToolChoice::None)
    }

    /// True when something of the request is about tools.
    pub(crate) fn speaks_of_tools(&self) -> bool {
        let of_tools = |message: &Value| {
            matches!(message["role"].as_str(), Some("tool" | "function"))
                || ["tool_calls", "function_call"].iter().any(|key| !message[key].is_null())
        };
        self.asked.body.contains_key("tools") || self.messages().iter().any(of_tools)
    }

    /// No more than one call may go out.
    pub(crate) fn wants_one_call(&self) -> bool {
        self.asked.body.get("parallel_tool_calls") == Some(&Value::Bool(false))
    }

    /// The tools that a parser can know; what is none is the server's affair.
    pub(crate) fn tools(&self) -> Arc<[Tool]> {
        self.tools.as_ref().map(Arc::clone).unwrap_or_default()
    }

    /// The body for a server that is not told of tools.
    pub(crate) fn in_prompt(&self, writing: Writing<'_>) -> Result<Written<'_>, Refusal> {
        let tools = self.tools.as_ref().map_err(|error| Refusal::bad_request(error.to_string()))?;
        let choice = self.known_choice(tools)?;
        let constraint = self.constraint(writing.constrain, &choice).filter(|_| !tools.is_empty());
        let short = writing.constrain == Constrain::On && !tools.is_empty();
        let mut prompt = Prompt::new(writing.dialect, tools).short(short).choosing(choice);
        prompt.read(self.messages()).map_err(|error| Refusal::bad_request(error.to_string()))?;
        let mut body = self.asked.body.clone();
        for name in ["tools", "tool_choice", "parallel_tool_calls"] {
            body.shift_remove(name);
        }
        body.insert("messages".to_owned(), Value::Array(prompt.into_messages()));
        if let Some(choice) = constraint {
            // One call at a time: under a grammar that lets more follow, a small model repeats the call without end.
            let grammar = Grammar::new(writing.dialect, tools, &Options::new(choice));
            let grammar = grammar.map_err(|error| Refusal::bad_request(error.to_string()))?;
            body.insert("grammar".to_owned(), json!(grammar.to_gbnf()));
            if !["max_tokens", "max_completion_tokens"].iter().any(|name| body.contains_key(*name)) {
                body.insert("max_tokens".to_owned(), json!(LONGEST_CALL));
            }
        }
        Ok(Written::Body(Cow::Owned(body)))
    }

    fn messages(&self) -> &[Value] {
        self.asked.body.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// What `tool_choice` says, if that is known here.
    fn choice(&self) -> Option<ToolChoice> {
        match self.asked.body.get("tool_choice") {
            None | Some(Value::Null) => Some(ToolChoice::Auto),
            Some(Value::String(word)) => match word.as_str() {
                "auto" => Some(ToolChoice::Auto),
                "none" => Some(ToolChoice::None),
                "required" | "any" => Some(ToolChoice::Required),
                _ => None,
            },
            Some(named) => {
                let name = named.pointer("/function/name").or_else(|| named.get("name"));
                Some(ToolChoice::Named(name?.as_str()?.to_owned()))
            }
        }
    }

    fn known_choice(&self, tools: &[Tool]) -> Result<ToolChoice, Refusal> {
        let choice = self.choice().ok_or_else(|| {
            let got = self.asked.body.get("tool_choice").cloned().unwrap_or_default();
            Refusal::bad_request(format!(
                "tool_choice: expected none, auto, required or a named function, got `{got}`"
            ))
        })?;
        match &choice {
            ToolChoice::Named(name) if !tools.iter().any(|tool| tool.name == *name) => {
                Err(Refusal::bad_request(format!(
                    "tool_choice: expected the name of one of the tools, got `{name}`"
                )))
            }
            _ => Ok(choice),
        }
    }

    /// What a grammar holds the answer to. With [`Constrain::On`] the model has to call until a result is there: a
    /// grammar of calls lets no answer through.
    fn constraint(&self, constrain: Constrain, choice: &ToolChoice) -> Option<Choice> {
        let own = ["grammar", "json_schema", "response_format"]
            .iter()
            .any(|name| self.asked.body.contains_key(*name));
        if constrain == Constrain::Off || own {
            return None;
        }
        match choice {
            ToolChoice::None => None,
            ToolChoice::Required => Some(Choice::Required),
            ToolChoice::Named(name) => Some(Choice::Named(name.clone())),
            ToolChoice::Auto => {
                let mut since_user =
                    self.messages().iter().rev().take_while(|message| message["role"] != "user");
                let answered =
                    since_user.any(|message| matches!(message["role"].as_str(), Some("tool" | "function")));
                (constrain == Constrain::On && !answered).then_some(Choice::Required)
            }
        }
    }
}
