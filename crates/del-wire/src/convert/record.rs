//! One record on its way from one dialect to another.

use std::collections::VecDeque;
use std::sync::Arc;

use del_dialects::{Call, Collect, End, FaultKind, Message, Part, Start, Tool, Turn};
use serde_json::Value;

use super::{ConvertError, Converter, Source, Target, Trouble};
use crate::error::WireError;
use crate::fields::{Fields, list, no_halves, whole_string};
use crate::ids::Ids;
use crate::native::{self, call_json};

/// How the texts of a record are read.
pub(super) struct Reading {
    pub(super) from: Source,
    pub(super) starts: Start,
    pub(super) end: End,
}

impl Reading {
    /// As any text in this.
    pub(super) fn of(from: &Source) -> Self {
        Self { from: from.clone(), starts: Start::Unknown, end: End::End }
    }
}

/// One record on its way.
pub(super) struct Record<'c> {
    converter: &'c Converter,
    reading: Reading,
    tools: Arc<[Tool]>,
    /// Made when a call wants one, from these.
    ids: Option<Ids>,
    origin: (&'c [u8], u64),
    /// Ids that were given to calls and wait for their results.
    waiting: VecDeque<String>,
    pub(super) calls: u64,
    pub(super) faults: Vec<FaultKind>,
}

impl<'c> Record<'c> {
    /// Ids of its calls are made from `origin`: what it was, and its place.
    pub(super) fn new(
        converter: &'c Converter,
        tools: Arc<[Tool]>,
        reading: Reading,
        origin: (&'c [u8], u64),
    ) -> Self {
        Self {
            converter,
            reading,
            tools,
            ids: None,
            origin,
            waiting: VecDeque::new(),
            calls: 0,
            faults: Vec::new(),
        }
    }

    pub(super) fn messages(&mut self, name: &str, json: &str) -> Result<String, Trouble> {
        let mut out = String::with_capacity(json.len());
        let here = |place: usize| move |error| Trouble { at: format!("{name}[{place}]"), error };
        let messages =
            list(json, name).map_err(|error| Trouble { at: name.to_owned(), error: error.into() })?;
        for (place, message) in messages.into_iter().enumerate() {
            out.push_str(if place == 0 { "[" } else { ", " });
            let fields = Fields::read(message, "message").map_err(|error| here(place)(error.into()))?;
            let role = fields.text("role").map_err(|error| here(place)(error.into()))?;
            match role.as_deref() {
                Some("assistant") => {
                    self.waiting.clear();
                    out.push_str(&self.message(message, &fields).map_err(here(place))?);
                }
                Some("tool") if !fields.has("tool_call_id") && !self.waiting.is_empty() => {
                    let id = self.waiting.pop_front().unwrap_or_default();
                    out.push_str(&with_members(&fields, |_| false, &[("tool_call_id", Value::from(id))]));
                }
                _ => out.push_str(message),
            }
        }
        out.push_str(if out.is_empty() { "[]" } else { "]" });
        Ok(out)
    }

    /// An assistant's message.
    fn message(&mut self, json: &str, fields: &Fields<'_>) -> Result<String, ConvertError> {
        let native = CALLS.iter().any(|name| fields.has(name));
        for name in CALLS.iter().chain(&["content"]) {
            fields.get(name).map_or(Ok(()), |json| no_halves(json, name))?;
        }
        let answer = match (&self.reading.from, native) {
            (Source::Native, false) => return Ok(json.to_owned()),
            (Source::Native, true) => native::read(json)?,
            (_, false) => self.read(&content(fields)?)?,
            // The calls in the text come first, as the model wrote them.
            (_, true) => {
                let (mut answer, native) = (self.read(&content(fields)?)?, native::read(json)?);
                for call in native.calls {
                    answer.parts.push(Part::Call(answer.calls.len()));
                    answer.calls.push(call);
                }
                answer.faults.extend(native.faults);
                answer
            }
        };
        let mut answer = self.checked(answer)?;
        // The template itself shows the model its thinking when it stands in a member of its own.
        if THINKING.iter().any(|name| fields.has(name)) {
            without_thinking(&mut answer);
        }
        let members = match &self.converter.to {
            Target::Text(dialect) => {
                vec![("content", Value::from(dialect.render_answer(&answer, &self.tools)?))]
            }
            Target::Native => self.native(&answer),
        };
        let thinking = self.converter.thinking;
        let dropped = |name: &str| CALLS.contains(&name) || (!thinking && THINKING.contains(&name));
        Ok(with_members(fields, dropped, &members))
    }

    /// The members of a message that hold the answer. Content is never null: some servers' templates cannot take it.
    fn native(&mut self, answer: &Message) -> Vec<(&'static str, Value)> {
        let visible = |text: &str| if text.trim().is_empty() { String::new() } else { text.to_owned() };
        let mut members = vec![("content", Value::from(visible(&answer.content)))];
        let reasoning = visible(&answer.reasoning);
        if !reasoning.is_empty() {
            members.push(("reasoning_content", Value::from(reasoning)));
        }
        if !answer.calls.is_empty() {
            let call = |call: &Call| {
                let (text, place) = self.origin;
                let ids = self.ids.get_or_insert_with(|| Ids::of_record(text, place));
                let id = ids.keep_or_mint(call.id.as_deref());
                self.waiting.push_back(id.clone());
                call_json(&id, call)
            };
            members.push(("tool_calls", answer.calls.iter().map(call).collect()));
        }
        members
    }

    /// A member that holds an answer.
    pub(super) fn string(&mut self, json: &str) -> Result<String, ConvertError> {
        let text = whole_string(json, "text")?;
        Ok(text_of(&Value::from(self.text(&text)?)))
    }

    pub(super) fn text(&mut self, text: &str) -> Result<String, ConvertError> {
        let answer = self.read(text)?;
        let answer = self.checked(answer)?;
        match &self.converter.to {
            Target::Text(dialect) => Ok(dialect.render_answer(&answer, &self.tools)?),
            Target::Native => {
                let role = ("role".to_owned(), Value::from("assistant"));
                let members = self.native(&answer).into_iter().map(|(key, value)| (key.to_owned(), value));
                Ok(text_of(&std::iter::once(role).chain(members).collect()))
            }
        }
    }

    fn read(&self, text: &str) -> Result<Message, ConvertError> {
        let turn = Turn::new(Arc::clone(&self.tools)).starting(self.reading.starts);
        let mut parser = match &self.reading.from {
            Source::Text(dialect) => dialect.parser(turn),
            Source::Any(all) => all.parser(turn),
            Source::Native => {
                no_halves(text, "text")?;
                return Ok(native::read(text)?);
            }
        };
        let mut collect = Collect::new();
        parser.push(text, &mut collect);
        parser.finish(self.reading.end, &mut collect);
        Ok(collect.into_message())
    }

    /// An answer all of whose calls count, as the model wrote them.
    fn checked(&mut self, mut answer: Message) -> Result<Message, ConvertError> {
        if let Some(fault) = answer.faults.iter().find(|fault| fault.kind.ends_call()) {
            return Err(ConvertError::Broken { at: fault.span.start, why: fault.kind.message() });
        }
        let guess = answer.faults.iter().find(|fault| fault.kind.changes_arguments());
        if let Some(fault) = guess.filter(|_| !self.converter.guesses) {
            return Err(ConvertError::Guessed { at: fault.span.start, why: fault.kind.message() });
        }
        self.calls += answer.calls.len() as u64;
        self.faults.extend(answer.faults.iter().map(|fault| fault.kind));
        if !self.converter.thinking {
            without_thinking(&mut answer);
        }
        Ok(answer)
    }
}

/// Members in which servers put what the model thought.
const THINKING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];
const CALLS: [&str; 2] = ["tool_calls", "function_call"];

fn without_thinking(answer: &mut Message) {
    answer.reasoning.clear();
    answer.parts.retain(|part| !matches!(part, Part::Reasoning(_)));
}

/// The text of a message: its content, or the text parts of that.
fn content(fields: &Fields<'_>) -> Result<String, WireError> {
    match fields.get("content") {
        None => Ok(String::new()),
        Some(json) if json.starts_with('[') => {
            let mut text = String::new();
            for part in list(json, "content")? {
                let part = Fields::read(part, "content[]")?;
                let said = part.get("text").map(|json| whole_string(json, "content[].text"));
                text.push_str(&said.transpose()?.unwrap_or_default());
            }
            Ok(text)
        }
        Some(json) => whole_string(json, "content"),
    }
}

/// An object without some members and with others: where it has those, in their places.
fn with_members(fields: &Fields<'_>, without: impl Fn(&str) -> bool, with: &[(&str, Value)]) -> String {
    let mut out = String::from("{");
    let mut add = |key: &str, value: &str| {
        out.push_str(if out.len() > 1 { ", " } else { "" });
        out.push_str(&text_of(&Value::from(key)));
        out.push_str(": ");
        out.push_str(value);
    };
    let given = |name: &str| with.iter().find(|(key, _)| *key == name);
    for (key, text) in fields.iter() {
        match given(key) {
            Some((_, value)) => add(key, &text_of(value)),
            None if without(key) => {}
            None => add(key, text),
        }
    }
    for (key, value) in with.iter().filter(|(key, _)| !fields.has(key)) {
        add(key, &text_of(value));
    }
    out.push('}');
    out
}

/// What no value fails to be, at twice the speed of its `Display`.
fn text_of(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
