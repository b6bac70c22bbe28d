//! The body of a request, as the model server reads it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Bytes;
use del_agent::Constrain;
use del_dialects::{Detail, Dialect};
use del_grammar::{Choice, Grammar, Options};
use del_wire::prompt::stops;
use del_wire::tools::{self, Format};
use del_wire::{Prompt, ServerApi, ToolChoice, Words, hybrid};
use serde_json::{Map, Value, json};

use super::hold::{self, Hold};
use super::{Request, messages};
use crate::refusal::Refusal;

/// How a request is written in prompt mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writing<'a> {
    /// Calls are written in it.
    pub(crate) dialect: &'a Arc<Dialect>,
    /// Whether calls are held to a grammar, where the server takes one.
    pub(crate) constrain: Constrain,
    /// How the server takes the grammar.
    pub(crate) hold: Option<Hold>,
    /// The tokens that the model reads and writes at most, where the server would go on beyond them.
    pub(crate) context: Option<u64>,
    /// The answer begins with it.
    pub(crate) begun: Option<&'a str>,
    /// What the model's template says of tools.
    pub(crate) words: Option<&'a Words>,
    /// How much it is told of them.
    pub(crate) detail: Detail,
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
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Body(body) => api.text(&body).into(),
        }
    }
}

/// Members that become a part of the prompt.
const IN_PROMPT: [&str; 4] = ["messages", "tools", "tool_choice", "parallel_tool_calls"];

/// What a text is to be. A server that holds an answer to that lets no call through.
const FORMAT: &str = "response_format";

/// The members that say how many tokens an answer may have; the last is llama.cpp's own.
const LIMITS: [&str; 3] = ["max_tokens", "max_completion_tokens", "n_predict"];

impl Request {
    /// The body for a server that is told of the tools: `as_it_came` where that can be.
    pub(crate) fn natively(&self, as_it_came: bool) -> Result<Written<'_>, Refusal> {
        if let Some(hybrid) = self.hybrid() {
            let mut body = self.asked()?.body.clone();
            let mut tools = tools::definitions(&self.asking_tool(&hybrid), Format::OpenAi);
            if let (Value::Array(told), Some(Value::Array(all))) = (&mut tools, body.get("tools")) {
                // As the client wrote them, with members that nobody here knows.
                let named = |name: &str| {
                    all.iter().find(|tool| {
                        tool.pointer("/function/name").or(tool.get("name")) == Some(&json!(name))
                    })
                };
                told.extend(hybrid.defined().filter_map(|tool| named(&tool.name)).cloned());
            }
            body.insert("tools".to_owned(), tools);
            return Ok(Written::Body(Cow::Owned(body)));
        }
        match &self.bytes {
            Some(bytes) if as_it_came => Ok(Written::Bytes(bytes.clone())),
            _ => Ok(Written::Body(Cow::Borrowed(&self.asked()?.body))),
        }
    }

    /// The body for a server that is not told of tools.
    pub(crate) fn in_prompt(&self, writing: Writing<'_>) -> Result<Written<'_>, Refusal> {
        let all = self.tools.as_ref().map_err(|error| Refusal::bad_request(error.to_string()))?;
        let asked = &self.asked()?.body;
        let choice = self.known_choice()?;
        let told;
        let tools = match self.hybrid() {
            Some(hybrid) => {
                told = self
                    .asking_tool(&hybrid)
                    .into_iter()
                    .chain(hybrid.defined().cloned())
                    .collect::<Vec<_>>();
                told.as_slice()
            }
            None => all,
        };
        let mut body: Map<String, Value> = asked
            .iter()
            .filter(|(name, _)| !IN_PROMPT.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let may_call = self.offers_tools() && !tools.is_empty();
        let format = body.get(FORMAT).filter(|format| may_call && is_json(format)).cloned();
        if format.is_some() {
            body.shift_remove(FORMAT);
        }
        let own = hold::MEMBERS.iter().any(|name| body.contains_key(*name));
        let constraint =
            Self::constraint(asked, writing.constrain, &choice).filter(|_| !own && !tools.is_empty());
        let held = writing.constrain == Constrain::On && !tools.is_empty();
        let mut prompt = Prompt::new(writing.dialect, tools)
            .in_words(writing.words)
            .detail(writing.detail)
            .one_call(self.wants_one_call())
            .reminding(held)
            .choosing(choice);
        if let Some(format) = &format {
            let schema = format.pointer("/json_schema/schema").or_else(|| format.get("schema"));
            prompt = prompt.answering_in_json(schema);
        }
        prompt.read(messages(asked)).map_err(|error| Refusal::bad_request(error.to_string()))?;
        body.insert("messages".to_owned(), Value::Array(prompt.into_messages()));
        if self.offers_tools() && asked.get("parallel_tool_calls") != Some(&Value::Bool(true)) {
            stop_at(&mut body, &stops(writing.dialect));
        }
        if let (Some(begun), Some(Value::Array(messages))) = (writing.begun, body.get_mut("messages")) {
            messages.push(json!({"role": "assistant", "content": begun}));
        }
        if let Some((choice, hold)) = constraint.zip(writing.hold) {
            let forced = choice != Choice::Auto;
            // Under a grammar that lets more follow, a small model repeats the call without end.
            let several = asked.get("parallel_tool_calls") == Some(&Value::Bool(true));
            match Grammar::new(writing.dialect, tools, &Options::new(choice).parallel(several)) {
                Ok(grammar) => hold.write(&grammar, &mut body),
                Err(error) if forced || held => return Err(Refusal::bad_request(error.to_string())),
                Err(_) => {}
            }
            // Under a grammar a small model may never close a string. What fits into the context is never cut by this.
            let context =
                writing.context.filter(|_| forced && !LIMITS.iter().any(|name| body.contains_key(*name)));
            if let Some(context) = context {
                body.insert("max_tokens".to_owned(), json!(context));
            }
        }
        Ok(Written::Body(Cow::Owned(body)))
    }

    fn known_choice(&self) -> Result<ToolChoice, Refusal> {
        self.facts.choice.clone().ok_or_else(|| {
            let body = self.asked().map(|asked| &asked.body).ok();
            let got = body.and_then(|body| body.get("tool_choice")).cloned().unwrap_or_default();
            Refusal::bad_request(format!(
                "tool_choice: expected none, auto, required or a named function, got `{got}`"
            ))
        })
    }

    /// What a grammar holds the answer to: plain words, or calls that can be read. With [`Constrain::On`] the model has to
    /// call until a result is there.
    fn constraint(body: &Map<String, Value>, constrain: Constrain, choice: &ToolChoice) -> Option<Choice> {
        if constrain == Constrain::Off {
            return None;
        }
        match choice {
            ToolChoice::None => None,
            ToolChoice::Required => Some(Choice::Required),
            ToolChoice::Named(name) => Some(Choice::Named(name.clone())),
            ToolChoice::Auto => {
                let mut since_user =
                    messages(body).iter().rev().take_while(|message| message["role"] != "user");
                // Definitions are no result.
                let answered = since_user.any(|message| {
                    matches!(message["role"].as_str(), Some("tool" | "function"))
                        && message["name"] != hybrid::REQUEST
                });
                match (constrain, answered) {
                    (Constrain::On, false) => Some(Choice::Required),
                    _ => Some(Choice::Auto),
                }
            }
        }
    }
}

fn is_json(format: &Value) -> bool {
    matches!(format["type"].as_str(), Some("json_schema" | "json_object"))
}

/// Has the model stop at these texts as well, where there is room for them.
fn stop_at(body: &mut Map<String, Value>, stops: &[&str]) {
    /// Servers take no more.
    const MOST: usize = 4;
    let mut list: Vec<Value> = match body.get("stop") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.clone(),
        Some(one) => vec![one.clone()],
    };
    if !stops.is_empty() && list.len() + stops.len() <= MOST {
        list.extend(stops.iter().map(|stop| json!(stop)));
        body.insert("stop".to_owned(), Value::Array(list));
    }
}
