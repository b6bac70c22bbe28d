//! What a client asks, and what the model server is asked in its place.

use std::sync::Arc;

use axum::body::Bytes;
use del_agent::Constrain;
use del_dialects::{Detail, Dialect, Tool};
use del_grammar::{Choice, Grammar, Options};
use del_wire::{Prompt, ToolChoice, Words, tools};
use serde_json::{Map, Value, json};

use crate::refusal::Refusal;

/// A request for a chat completion.
#[derive(Debug)]
pub(crate) struct Asked {
    /// As it came.
    bytes: Bytes,
    body: Map<String, Value>,
}

/// How a request is written in prompt mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writing<'a> {
    /// Calls are written in it.
    pub(crate) dialect: &'a Arc<Dialect>,
    /// Whether calls are held to a grammar, where the server takes one.
    pub(crate) constrain: Constrain,
    /// What the model's template says of tools.
    pub(crate) words: Option<&'a Words>,
    /// How much it is told of them.
    pub(crate) detail: Detail,
}

/// Under a grammar a small model may never close a string: tokens after which it has lost its way.
const LONGEST_CALL: u64 = 1024;

impl Asked {
    /// Reads a body. `model` takes the place of the one that the client names.
    pub(crate) fn read(bytes: Bytes, model: Option<&str>) -> Result<Self, Refusal> {
        let mut body: Map<String, Value> = serde_json::from_slice(&bytes)
            .map_err(|error| Refusal::bad_request(format!("expected a JSON object as body, got {error}")))?;
        if !body.get("messages").is_some_and(Value::is_array) {
            return Err(Refusal::bad_request("expected a list as `messages`"));
        }
        let bytes = match model {
            Some(name) if body.get("model").and_then(Value::as_str) != Some(name) => {
                body.insert("model".to_owned(), json!(name));
                Value::Object(body.clone()).to_string().into()
            }
            _ => bytes,
        };
        Ok(Self { bytes, body })
    }

    /// The body for the model server, as the client wrote it.
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// The model's name.
    pub(crate) fn model(&self) -> &str {
        self.body.get("model").and_then(Value::as_str).unwrap_or_default()
    }

    /// True when the answer is to be streamed.
    pub(crate) fn streams(&self) -> bool {
        self.body.get("stream") == Some(&Value::Bool(true))
    }

    /// True when the model may call.
    pub(crate) fn offers_tools(&self) -> bool {
        let any = self.body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty());
        any && self.choice() != Some(ToolChoice::None)
    }

    /// True when something of the request is about tools.
    pub(crate) fn speaks_of_tools(&self) -> bool {
        let of_tools = |message: &Value| {
            matches!(message["role"].as_str(), Some("tool" | "function"))
                || ["tool_calls", "function_call"].iter().any(|key| !message[key].is_null())
        };
        self.body.contains_key("tools") || self.messages().iter().any(of_tools)
    }

    /// No more than one call may go out.
    pub(crate) fn wants_one_call(&self) -> bool {
        self.body.get("parallel_tool_calls") == Some(&Value::Bool(false))
    }

    /// The tools that a parser can know; what is none is the server's affair.
    pub(crate) fn tools(&self) -> Vec<Tool> {
        self.checked_tools().unwrap_or_default()
    }

    /// The body for a server that is not told of tools.
    pub(crate) fn in_prompt(&self, writing: Writing<'_>) -> Result<Value, Refusal> {
        let tools = self.checked_tools()?;
        let choice = self.known_choice(&tools)?;
        let constraint = self.constraint(writing.constrain, &choice).filter(|_| !tools.is_empty());
        let held = writing.constrain == Constrain::On && !tools.is_empty();
        let one_call = self.wants_one_call();
        let mut prompt = Prompt::new(writing.dialect, &tools)
            .in_words(writing.words)
            .detail(writing.detail)
            .one_call(one_call)
            .reminding(held)
            .choosing(choice);
        prompt.read(self.messages()).map_err(|error| Refusal::bad_request(error.to_string()))?;
        let mut body = self.body.clone();
        for name in ["tools", "tool_choice", "parallel_tool_calls"] {
            body.shift_remove(name);
        }
        body.insert("messages".to_owned(), Value::Array(prompt.into_messages()));
        if let Some(choice) = constraint {
            let forced = choice != Choice::Auto;
            // Under a grammar that lets more follow, a small model repeats the call without end.
            let several = self.body.get("parallel_tool_calls") == Some(&Value::Bool(true));
            let grammar = Grammar::new(writing.dialect, &tools, &Options::new(choice).parallel(several));
            let grammar = grammar.map_err(|error| Refusal::bad_request(error.to_string()))?;
            body.insert("grammar".to_owned(), json!(grammar.to_gbnf()));
            if forced && !["max_tokens", "max_completion_tokens"].iter().any(|name| body.contains_key(*name))
            {
                body.insert("max_tokens".to_owned(), json!(LONGEST_CALL));
            }
        }
        Ok(Value::Object(body))
    }

    fn messages(&self) -> &[Value] {
        self.body.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn checked_tools(&self) -> Result<Vec<Tool>, Refusal> {
        match self.body.get("tools") {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(tools) => tools::read(tools).map_err(|error| Refusal::bad_request(error.to_string())),
        }
    }

    /// What `tool_choice` says, if that is known here.
    fn choice(&self) -> Option<ToolChoice> {
        match self.body.get("tool_choice") {
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
            let got = self.body.get("tool_choice").cloned().unwrap_or_default();
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

    /// What a grammar holds the answer to. With [`Constrain::On`] the model has to call until a result is there; then
    /// it may answer, or call again.
    fn constraint(&self, constrain: Constrain, choice: &ToolChoice) -> Option<Choice> {
        let own =
            ["grammar", "json_schema", "response_format"].iter().any(|name| self.body.contains_key(*name));
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
                match (constrain, answered) {
                    (Constrain::On, false) => Some(Choice::Required),
                    (Constrain::On, true) => Some(Choice::Auto),
                    _ => None,
                }
            }
        }
    }
}
