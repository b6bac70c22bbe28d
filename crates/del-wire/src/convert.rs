//! The records of `del convert --jsonl`: a transcript a line in, the same with its calls in another dialect out.
//!
//! A record is an object with `messages` (those of the role `assistant` are rewritten) or with `text`. Everything else in
//! it stays as it is, byte for byte. A record that cannot be written in the other dialect without a change of meaning is
//! an error, and never comes out in part; neither does one with a guess in the arguments of a call, for who reads what
//! comes out could not tell the guess from what the model wrote.

use std::collections::VecDeque;
use std::sync::Arc;

use del_dialects::{
    Call, Collect, Dialect, Dialects, End, FaultKind, Message, Part, RenderError, Start, Tool, Turn,
};
use serde_json::Value;

use crate::error::WireError;
use crate::fields::{Fields, list, string};
use crate::ids::Ids;
use crate::native::{self, call_json};
use crate::records::{RecordError, RecordErrorCode, RecordId, object};
use crate::tools::{KnownTools, ToolsError};

/// What calls are written in before.
#[derive(Debug, Clone)]
pub enum Source {
    /// The API's own `tool_calls`; a text holds the JSON of a message.
    Native,
    /// Text of one dialect.
    Text(Arc<Dialect>),
    /// Text of any of these, and the API's own.
    Any(&'static Dialects),
}

/// What calls are written in afterwards.
#[derive(Debug, Clone)]
pub enum Target {
    /// The API's own `tool_calls`; a text becomes the JSON of a message.
    Native,
    /// Text of a dialect.
    Text(Arc<Dialect>),
}

/// Rewrites answers and records, one after another.
#[derive(Debug, Clone)]
pub struct Converter {
    from: Source,
    to: Target,
    thinking: bool,
    guesses: bool,
    tools: Arc<[Tool]>,
    /// The tools of records that had their own.
    own: KnownTools,
    /// The member that is rewritten where it is neither `messages` nor `text`.
    member: Option<Arc<str>>,
}

/// What a table has in a cell.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// One answer.
    Answer(&'a str),
    /// The JSON of a list of messages.
    Messages(&'a str),
}

/// What became of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The record's line, without a line end, or what the cell has now.
    pub text: String,
    /// Its calls.
    pub calls: u64,
    /// What was wrong in it and was mended.
    pub faults: Vec<FaultKind>,
}

/// Why an answer has no form in the other dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// A call in it does not count, so it cannot be written again.
    #[error("expected calls that are whole, got one at byte {at} that is not: {why}")]
    Broken {
        /// Where it begins in the text.
        at: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The arguments of a call in it were mended by a guess.
    #[error("expected calls with nothing to guess in them, got one at byte {at}: {why}")]
    Guessed {
        /// Where the guess stands in the text.
        at: u64,
        /// What had to be guessed.
        why: &'static str,
    },
    /// The other dialect has no form for it.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The text is no message of the API.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl Converter {
    /// `tools` are those of records that bring none of their own: they type raw values. Without `thinking`, what the model
    /// thought is left out, which dialects need that have no form for it.
    pub fn new(from: Source, to: Target, thinking: bool, tools: impl Into<Arc<[Tool]>>) -> Self {
        Self {
            from,
            to,
            thinking,
            guesses: false,
            tools: tools.into(),
            own: KnownTools::default(),
            member: None,
        }
    }

    /// The same, for records that have what is to be rewritten in the member `name`: a list of messages, or a text.
    #[must_use]
    pub fn of_member(self, name: &str) -> Self {
        Self { member: Some(name.into()), ..self }
    }

    /// The same, that takes guesses for what the model meant. What comes out does not show them.
    #[must_use]
    pub fn with_guesses(self) -> Self {
        Self { guesses: true, ..self }
    }

    /// Rewrites one answer.
    pub fn text(&self, text: &str) -> Result<String, ConvertError> {
        Record::new(self, Arc::clone(&self.tools), 0).text(text)
    }

    /// Rewrites the record in `line`. `number` is the line's: the ids of calls that have none are made from it.
    pub fn record(&mut self, line: &[u8], number: u64) -> Result<Converted, RecordError> {
        let (text, fields, id) = object(line)?;
        let fail = |code, message| RecordError { id: id.clone(), code, message };
        let tools = self
            .tools_of(&fields)
            .map_err(|error| fail(RecordErrorCode::InvalidRequest, error.to_string()))?;
        let Some((name, json)) = self.rewritten(&fields) else {
            let message = match &self.member {
                Some(name) => format!("expected `{name}`, got nothing of that name"),
                None => "expected `messages` or `text`, got neither".to_owned(),
            };
            return Err(fail(RecordErrorCode::InvalidRequest, message));
        };
        let mut record = Record::new(self, tools, number);
        let list = if self.member.is_some() { json.starts_with('[') } else { name == "messages" };
        let new = if list {
            record.messages(name, json)
        } else {
            record.string(json).map_err(|error| Trouble { at: name.to_owned(), error })
        };
        let new = new.map_err(|trouble| trouble.of(id.clone()))?;
        Ok(Converted { text: splice(text, json, &new), calls: record.calls, faults: record.faults })
    }

    /// Rewrites what stands in the cell of the row `number` of a table. `tools` is the JSON of the row's own.
    pub fn cell(
        &mut self,
        cell: Cell<'_>,
        tools: Option<&str>,
        number: u64,
    ) -> Result<Converted, RecordError> {
        let tools = tools.map_or_else(|| Ok(Arc::clone(&self.tools)), |json| self.own.read(json));
        let tools = tools.map_err(|error| RecordError::invalid(error.to_string()))?;
        let mut record = Record::new(self, tools, number);
        let text = match cell {
            Cell::Answer(text) => record.text(text).map_err(|error| Trouble { at: String::new(), error }),
            Cell::Messages(json) => record.messages("messages", json),
        };
        let text = text.map_err(|trouble| trouble.of(RecordId::default()))?;
        Ok(Converted { text, calls: record.calls, faults: record.faults })
    }

    /// The member that is to be rewritten.
    fn rewritten<'n, 'f>(&'n self, fields: &Fields<'f>) -> Option<(&'n str, &'f str)> {
        let names = self.member.as_deref().map_or(vec!["messages", "text"], |name| vec![name]);
        names.into_iter().find_map(|name| Some((name, fields.get(name)?)))
    }

    fn tools_of(&mut self, fields: &Fields<'_>) -> Result<Arc<[Tool]>, ToolsError> {
        match fields.get("tools") {
            Some(json) => self.own.read(json),
            None => Ok(Arc::clone(&self.tools)),
        }
    }
}

/// An error, and the member of the record that it is about.
struct Trouble {
    at: String,
    error: ConvertError,
}

impl Trouble {
    fn of(self, id: RecordId) -> RecordError {
        let Self { at, error } = self;
        let code = match &error {
            ConvertError::Broken { .. } => RecordErrorCode::BrokenCall,
            ConvertError::Guessed { .. } => RecordErrorCode::GuessedCall,
            ConvertError::Render(_) => RecordErrorCode::Unrepresentable,
            ConvertError::Wire(_) => RecordErrorCode::InvalidRequest,
        };
        let message = if at.is_empty() { error.to_string() } else { format!("{at}: {error}") };
        RecordError { id, code, message }
    }
}

/// One record on its way.
struct Record<'c> {
    converter: &'c Converter,
    tools: Arc<[Tool]>,
    ids: Ids,
    /// Ids that were given to calls and wait for their results.
    waiting: VecDeque<String>,
    calls: u64,
    faults: Vec<FaultKind>,
}

impl<'c> Record<'c> {
    fn new(converter: &'c Converter, tools: Arc<[Tool]>, number: u64) -> Self {
        Self {
            converter,
            tools,
            ids: Ids::of_line(number),
            waiting: VecDeque::new(),
            calls: 0,
            faults: Vec::new(),
        }
    }

    fn messages(&mut self, name: &str, json: &str) -> Result<String, Trouble> {
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
        let native = fields.has("tool_calls") || fields.has("function_call");
        let answer = match (&self.converter.from, native) {
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
                let id = self.ids.keep_or_mint(call.id.as_deref());
                self.waiting.push_back(id.clone());
                call_json(&id, call)
            };
            members.push(("tool_calls", answer.calls.iter().map(call).collect()));
        }
        members
    }

    /// A member that holds an answer.
    fn string(&mut self, json: &str) -> Result<String, ConvertError> {
        let text = string(json, "text")?;
        Ok(text_of(&Value::from(self.text(&text)?)))
    }

    fn text(&mut self, text: &str) -> Result<String, ConvertError> {
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
        let turn = Turn::new(Arc::clone(&self.tools)).starting(Start::Unknown);
        let mut parser = match &self.converter.from {
            Source::Text(dialect) => dialect.parser(turn),
            Source::Any(all) => all.parser(turn),
            Source::Native => return Ok(native::read(text)?),
        };
        let mut collect = Collect::new();
        parser.push(text, &mut collect);
        parser.finish(End::End, &mut collect);
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
                text.push_str(&part.text("text")?.unwrap_or_default());
            }
            Ok(text)
        }
        Some(json) => string(json, "content"),
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

/// `text` with `new` in the place of `old`, which is a part of it.
fn splice(text: &str, old: &str, new: &str) -> String {
    let from = (old.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let (before, behind) = (text.get(..from), text.get(from + old.len()..));
    [before.unwrap_or_default(), new, behind.unwrap_or_default()].concat()
}
