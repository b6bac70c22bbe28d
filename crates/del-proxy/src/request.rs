//! What a client asks, and what the model server is asked in its place.

mod again;
mod facts;
mod given;
mod glance;
mod hold;
mod past;
mod renamed;
mod written;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use del_dialects::Tool;
use del_wire::anthropic::plain;
use del_wire::ollama::unloads;
use del_wire::responses::{self, compaction};
use del_wire::tools::{self, ToolsError};
use del_wire::{Amends, Asked, Hybrid, ServerApi, ToolChoice, ToolNames};
use serde_json::{Map, Value, json};

use crate::answer::Offered;
use crate::refusal::Refusal;

use self::facts::{Facts, choice_of};
pub(crate) use self::given::{Apart, KnownTools};
pub(crate) use self::hold::Hold;
pub(crate) use self::written::{Writing, Written};

/// A request for an answer of a model, as one for a chat completion.
#[derive(Debug)]
pub(crate) struct Request {
    /// As it came, where it may go on so.
    bytes: Option<Bytes>,
    /// All of it, once somebody needs that.
    asked: OnceLock<Result<Asked, Refusal>>,
    tools: Result<Arc<[Tool]>, ToolsError>,
    facts: Facts,
    /// The model gets the definitions that it asks for, as long as that is so.
    hybrid: bool,
    /// The members that the server is not told, as its API has no place for them.
    left_out: Vec<String>,
    /// The tools that the server knows by other names than the client.
    names: Arc<ToolNames>,
}

impl Request {
    /// What was asked; `bytes` is the request as it came, where that was one for a chat completion, and `known` are its
    /// tools, where they were read before. What is wrong with tools is the server's affair where it gets them as they came.
    pub(crate) fn new(bytes: Bytes, asked: Asked, known: Option<Arc<[Tool]>>) -> Result<Self, Refusal> {
        let bytes = (!asked.changed).then_some(bytes);
        let tools = match (known, asked.body.get("tools")) {
            (Some(known), _) => Ok(known),
            (None, None | Some(Value::Null)) => Ok(Arc::default()),
            (None, Some(tools)) => tools::read(tools).map(Into::into),
        };
        if let (None, Err(error)) = (&bytes, &tools) {
            return Err(Refusal::bad_request(error.to_string()));
        }
        let facts = Facts::of(&asked.body);
        Ok(Self {
            bytes,
            asked: OnceLock::from(Ok(asked)),
            tools,
            facts,
            hybrid: false,
            left_out: Vec::new(),
            names: Arc::default(),
        })
    }

    /// All of the request.
    fn asked(&self) -> Result<&Asked, Refusal> {
        let read = self.asked.get_or_init(|| {
            let bytes = self.bytes.as_deref().unwrap_or_default();
            let body = serde_json::from_slice(bytes).map_err(|error| no_object(&error))?;
            Asked::of(body).map_err(|error| Refusal::bad_request(error.to_string()))
        });
        read.as_ref().map_err(Clone::clone)
    }

    /// Asks for this model in the place of the one that the client names.
    pub(crate) fn rename(&mut self, model: &str) -> Result<(), Refusal> {
        if self.facts.model != model {
            self.asked()?;
            if let Some(Ok(asked)) = self.asked.get_mut() {
                asked.body.insert("model".to_owned(), json!(model));
            }
            self.bytes = None;
            model.clone_into(&mut self.facts.model);
        }
        Ok(())
    }

    /// Notes what a server of this API is not told.
    pub(crate) fn note_left_out(&mut self, api: ServerApi) {
        let told = |asked: &Asked| asked.unread.iter().cloned().chain(api.left_out(&asked.body)).collect();
        self.left_out = self.asked().map(told).unwrap_or_default();
    }

    /// The members of the request that the server is not told.
    pub(crate) fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The same of what the server refused before.
    pub(crate) fn left_out_by(&self, amends: Amends) -> Option<&'static str> {
        if amends.are_none() {
            return None;
        }
        amends.left_out(&self.asked().ok()?.body)
    }

    /// Refuses what a server of another API than the client's cannot be told, as nobody here can read it.
    pub(crate) fn check_shape(&self) -> Result<(), Refusal> {
        self.asked()?.check().map_err(|error| Refusal::bad_request(error.to_string()))?;
        let tools = self.tools.as_ref().map(drop);
        tools.map_err(|error| Refusal::bad_request(error.to_string()))
    }

    /// Refuses files that only a server of the client's API could have, for one of another.
    pub(crate) fn check_files(&self, api: ServerApi) -> Result<(), Refusal> {
        let asked = self.asked()?;
        api.check_files(messages(&asked.body)).map_err(|error| Refusal::bad_request(error.to_string()))
    }

    /// Has old calls of functions be calls of tools, for a server that knows no others.
    pub(crate) fn take_function_calls(&mut self) {
        if let Some(Ok(asked)) = self.asked.get_mut() {
            asked.take_function_calls();
        }
    }

    /// Takes out what clients of other APIs say and servers of this one do not read.
    pub(crate) fn make_plain(&mut self, api: ServerApi) {
        if let Some(Ok(asked)) = self.asked.get_mut().filter(|_| api != ServerApi::Anthropic) {
            plain::make(&mut asked.body, api == ServerApi::Responses);
        }
    }

    /// True where the client wants the conversation made shorter, and no answer.
    pub(crate) fn is_about_length(&self) -> bool {
        self.asked().is_ok_and(|asked| messages(&asked.body).iter().any(compaction::is_trigger))
    }

    /// The conversation, without the instructions that it begins with.
    pub(crate) fn conversation(&self) -> &[Value] {
        let messages = self.asked().map(|asked| messages(&asked.body)).unwrap_or_default();
        let begin = messages.iter().position(|message| message["role"] != "system");
        &messages[begin.unwrap_or(messages.len())..]
    }

    /// Adds messages to the conversation.
    pub(crate) fn add(&mut self, more: &[Value]) {
        if let Some(Ok(asked)) = self.asked.get_mut()
            && let Some(Value::Array(messages)) = asked.body.get_mut("messages")
        {
            let known = messages.len();
            messages.extend_from_slice(more);
            messages[known..].iter_mut().for_each(|message| self.names.tell_in(message));
            self.bytes = None;
        }
    }

    /// The model has called as it had to, and may do from now on what it likes.
    pub(crate) fn frees_choice(&mut self) {
        if let Some(Ok(asked)) = self.asked.get_mut() {
            asked.body.insert("tool_choice".to_owned(), json!("auto"));
            self.facts.choice = choice_of(None);
            self.bytes = None;
        }
    }

    /// True when the client wants to know how many tokens a stream cost.
    pub(crate) fn counts_tokens(&self) -> bool {
        self.asked().is_ok_and(|asked| {
            asked.body.get("stream_options").is_some_and(|options| options["include_usage"] == true)
        })
    }

    /// How many choices the client wants.
    pub(crate) fn choices(&self) -> u64 {
        self.facts.choices
    }

    /// Has the model ask for the definitions that it needs, or tells it of all tools at once.
    pub(crate) fn set_hybrid(&mut self, hybrid: bool) {
        self.hybrid = hybrid;
    }

    /// Of which tools the model has the definitions, where it has to ask for them: those that the conversation used, and
    /// the one that it has to call. Several choices of one answer could ask for different ones, so they get all.
    pub(crate) fn hybrid(&self) -> Option<Hybrid<'_>> {
        let tools = self.tools.as_ref().ok().filter(|_| self.hybrid)?;
        let asked = &self.asked().ok()?.body;
        if self.choices() > 1 {
            return None;
        }
        let mut hybrid = Hybrid::new(tools)?;
        hybrid.read(messages(asked));
        if let Some(ToolChoice::Named(name)) = &self.facts.choice {
            hybrid.define(name);
        }
        Some(hybrid)
    }

    /// The tool that asks for definitions, unless there is nothing to ask for.
    fn asking_tool(&self, hybrid: &Hybrid<'_>) -> Vec<Tool> {
        let asks = !matches!(self.facts.choice, Some(ToolChoice::None | ToolChoice::Named(_)));
        asks.then(|| hybrid.request()).into_iter().collect()
    }

    /// The kinds of tools that are left out, as nobody here has them, where the request does not go on `as_it_came`.
    pub(crate) fn dropped(&self, as_it_came: bool) -> &[String] {
        match self.asked.get() {
            Some(Ok(asked)) if !as_it_came || self.bytes.is_none() => &asked.dropped,
            _ => &[],
        }
    }

    /// The tools that take a text in place of arguments.
    pub(crate) fn custom(&self) -> Arc<BTreeSet<String>> {
        match self.asked.get() {
            Some(Ok(asked)) if !asked.custom.is_empty() => Arc::new(asked.custom.clone()),
            _ => Arc::default(),
        }
    }

    /// The tools that may be called.
    pub(crate) fn offered(&self) -> Offered {
        // A server may have tools of its own, and some that cannot be read here.
        let own =
            matches!(self.asked.get(), Some(Ok(asked)) if !asked.dropped.is_empty() && self.bytes.is_some());
        match &self.facts.choice {
            _ if !self.offers_tools() => Offered::Nothing,
            Some(ToolChoice::Named(name)) => Offered::One(name.clone()),
            _ if own || self.tools.is_err() => Offered::Any,
            _ => Offered::Tools,
        }
    }

    /// True when the model has to call.
    pub(crate) fn demands_call(&self) -> bool {
        self.offers_tools() && matches!(self.facts.choice, Some(ToolChoice::Required | ToolChoice::Named(_)))
    }

    /// True when the model has to call this tool.
    pub(crate) fn names(&self, tool: &str) -> bool {
        matches!(&self.facts.choice, Some(ToolChoice::Named(name)) if name == tool)
    }

    /// The model's name.
    pub(crate) fn model(&self) -> &str {
        &self.facts.model
    }

    /// True when the answer is to be streamed.
    pub(crate) fn streams(&self) -> bool {
        self.facts.streams
    }

    /// Refuses a demand for a call of a tool that is not there.
    pub(crate) fn check_choice(&self) -> Result<(), Refusal> {
        match (&self.facts.choice, &self.tools) {
            (Some(ToolChoice::Named(name)), Ok(tools))
                if self.facts.has_tools && !tools.iter().any(|tool| tool.name == *name) =>
            {
                Err(Refusal::bad_request(format!(
                    "tool_choice: expected the name of one of the tools, got `{name}`"
                )))
            }
            _ => Ok(()),
        }
    }

    /// True when the client wants the seals on thoughts, which servers of responses have.
    pub(crate) fn wants_seals(&self) -> bool {
        self.asked().is_ok_and(|asked| responses::wants_seals(&asked.body))
    }

    /// True when there is no message.
    pub(crate) fn says_nothing(&self) -> bool {
        self.asked().is_ok_and(|asked| messages(&asked.body).is_empty())
    }

    /// True when the model is not to stay in the memory.
    pub(crate) fn unloads(&self) -> bool {
        self.asked().is_ok_and(|asked| unloads(&asked.body))
    }

    /// True when there are tools, whether the model may call them or not.
    pub(crate) fn has_tools(&self) -> bool {
        self.facts.has_tools
    }

    /// True when the model may call.
    pub(crate) fn offers_tools(&self) -> bool {
        self.facts.has_tools && self.facts.choice != Some(ToolChoice::None)
    }

    /// True when something of the request is about tools.
    pub(crate) fn speaks_of_tools(&self) -> bool {
        let of_tools = |message: &Value| {
            matches!(message["role"].as_str(), Some("tool" | "function"))
                || ["tool_calls", "function_call"].iter().any(|key| !message[key].is_null())
        };
        self.asked()
            .is_ok_and(|asked| asked.body.contains_key("tools") || messages(&asked.body).iter().any(of_tools))
    }

    /// No more than one call may go out.
    pub(crate) fn wants_one_call(&self) -> bool {
        self.facts.one_call
    }

    /// The names of the tools whose definitions the model has, where it has to ask for them.
    pub(crate) fn defined(&self) -> Option<Arc<BTreeSet<String>>> {
        Some(Arc::new(self.hybrid()?.defined().map(|tool| tool.name.clone()).collect()))
    }

    /// The tools that a parser can know; what is none is the server's affair.
    pub(crate) fn tools(&self) -> Arc<[Tool]> {
        if let Some(hybrid) = self.hybrid() {
            return self
                .tools
                .iter()
                .flat_map(|tools| tools.iter().cloned())
                .chain([hybrid.request()])
                .collect();
        }
        self.tools.as_ref().map(Arc::clone).unwrap_or_default()
    }
}

fn messages(body: &Map<String, Value>) -> &[Value] {
    body.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The body is no JSON object.
pub(crate) fn no_object(error: &serde_json::Error) -> Refusal {
    Refusal::bad_request(format!("expected a JSON object as body: {error}"))
}
