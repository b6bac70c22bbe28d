//! Prompt mode: a conversation with tools as messages that any server takes. Definitions stand in the system prompt,
//! calls and results are text in a dialect.

mod message;
mod own_words;
mod words;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use del_dialects::description::{Frame, Need, Piece};
use del_dialects::{Call, CallResult, Detail, Dialect, Dialects, Tool};
use serde_json::{Map, Value};

use self::message::Message;
pub use self::message::Part;
use self::own_words::{ANSWER_WITH_RESULT, ONE_CALL, in_words, reminder, text_in_json};
pub use self::words::Words;
use crate::error::{WireError, excerpt};
use crate::failed;
use crate::fields::{said, said_part};
use crate::request::ToolChoice;

/// Writes a conversation, message by message.
///
/// Results go in the user's role: every template and server takes that, while messages of other roles are refused by
/// some and wrapped in markup of their own by others. What users and tools say is neutralised. Two messages of the
/// user, or two of the model, become one where nothing but their content is known of them.
#[derive(Debug)]
pub struct Prompt<'a> {
    dialect: &'a Arc<Dialect>,
    tools: &'a [Tool],
    words: Option<&'a Words>,
    detail: Detail,
    choice: ToolChoice,
    one_call: bool,
    reminds: bool,
    /// What a text is to be, where the model calls no tool.
    form: Option<String>,
    messages: Vec<Message>,
    /// What the user said last.
    question: String,
    /// The tools of calls, by the ids of these.
    names: HashMap<String, String>,
    unwritten: Option<PromptError>,
}

/// A message that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("messages[{at}]: {reason}")]
pub struct PromptError {
    /// Its place in the list, from 0.
    pub at: usize,
    /// What was expected there, and what came.
    pub reason: String,
}

impl<'a> Prompt<'a> {
    /// An empty conversation about these tools.
    pub fn new(dialect: &'a Arc<Dialect>, tools: &'a [Tool]) -> Self {
        Self {
            dialect,
            tools,
            words: None,
            detail: Detail::default(),
            choice: ToolChoice::Auto,
            one_call: false,
            reminds: false,
            form: None,
            messages: Vec::new(),
            question: String::new(),
            names: HashMap::new(),
            unwritten: None,
        }
    }

    /// Tells of the tools in the words of the model's own chat template, where calls are written in its dialect.
    #[must_use]
    pub fn in_words(mut self, words: Option<&'a Words>) -> Self {
        self.words = words.filter(|words| words.dialect.name() == self.dialect.name());
        self
    }

    /// How much the model is told of its tools. The shortest form has words of its own.
    #[must_use]
    pub fn detail(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }

    /// Tells the model to call one tool at most.
    #[must_use]
    pub fn one_call(mut self, one_call: bool) -> Self {
        self.one_call = one_call;
        self
    }

    /// Says behind results which question they are for. For constrained calls, which are for small models: these forget
    /// what they were asked.
    #[must_use]
    pub fn reminding(mut self, reminds: bool) -> Self {
        self.reminds = reminds;
        self
    }

    /// An answer without a call is to be JSON, of this schema where there is one.
    #[must_use]
    pub fn answering_in_json(mut self, schema: Option<&Value>) -> Self {
        self.form = Some(text_in_json(schema));
        self
    }

    /// What the model is told of calling: nothing of tools under [`ToolChoice::None`], and of the one tool that is
    /// named alone.
    #[must_use]
    pub fn choosing(mut self, choice: ToolChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Instructions for the model.
    pub fn system(&mut self, text: &str) {
        self.push("system", Part::Text, text);
    }

    /// What the user says.
    pub fn user(&mut self, text: &str) {
        let text = Dialects::builtin().neutralise(text);
        self.push("user", Part::Text, &text);
        self.question = text.into_owned();
    }

    /// What the program says to the model, in the user's role.
    pub fn note(&mut self, text: &str) {
        self.push("user", Part::Text, text);
    }

    /// What the model said. A call that the dialect cannot write is told in plain words.
    pub fn assistant(&mut self, text: &str, calls: &[Call]) {
        let mut message = Message::of("assistant");
        message.add_text(Part::Text, "", text);
        self.add_calls(&mut message, calls);
        self.join(message);
    }

    /// The results of calls.
    pub fn results(&mut self, results: &[CallResult]) {
        self.add_results(results, Vec::new());
    }

    /// Messages of the API. Content parts that are no text and members that are not known here stay what they are.
    pub fn read(&mut self, messages: &[Value]) -> Result<(), PromptError> {
        let (mut results, mut others) = (Vec::new(), Vec::new());
        for (at, message) in messages.iter().enumerate() {
            let wrong = |expected: &str, got: &Value| PromptError {
                at,
                reason: format!("expected {expected}, got `{}`", excerpt(&got.to_string())),
            };
            let fields = message.as_object().ok_or_else(|| wrong("an object", message))?;
            let role = fields.get("role").and_then(Value::as_str);
            let role = role.ok_or_else(|| wrong("a message with a role", message))?;
            check_content(fields).map_err(|error| PromptError { at, reason: error.to_string() })?;
            if matches!(role, "tool" | "function") {
                results.push(self.result(fields));
                others.extend(parts(fields).iter().filter(|part| text_of(part).is_none()).cloned());
                continue;
            }
            self.flush(&mut results, &mut others);
            let mut written = Message::with(fields, &["content", "tool_calls", "function_call"]);
            match role {
                "assistant" => {
                    let calls = calls(fields).map_err(|got| wrong("calls with the name of a tool", got))?;
                    written.add_content(fields, Cow::Borrowed);
                    let writable = self.unwritten.is_none();
                    self.add_calls(&mut written, &calls);
                    if let Some(error) = self.unwritten.as_mut().filter(|_| writable) {
                        error.at = at;
                    }
                }
                "system" | "developer" => written.add_content(fields, Cow::Borrowed),
                _ => {
                    written.add_content(fields, |text| Dialects::builtin().neutralise(text));
                    if role == "user" {
                        self.question = written.text();
                    }
                }
            }
            self.join(written);
        }
        self.flush(&mut results, &mut others);
        Ok(())
    }

    /// The first message with calls that the dialect cannot write.
    pub fn unwritten(&self) -> Option<&PromptError> {
        self.unwritten.as_ref()
    }

    /// The conversation.
    pub fn into_messages(mut self) -> Vec<Value> {
        self.define();
        self.messages.into_iter().filter_map(|message| message.into_json(None)).collect()
    }

    /// Nothing but this part of each message, without those that have none of it.
    pub fn into_part(mut self, part: Part) -> Vec<Value> {
        self.define();
        self.messages.into_iter().filter_map(|message| message.into_json(Some(part))).collect()
    }

    /// Puts the definitions where the system prompt ends, which is the first message.
    fn define(&mut self) {
        let alone =
            !self.messages.first().is_some_and(|first| matches!(first.role(), "system" | "developer"));
        let about = self.about_tools(alone);
        if about.is_empty() {
            return;
        }
        if alone {
            self.messages.insert(0, Message::of("system"));
        }
        self.messages[0].add_text(Part::Definitions, "\n\n", &about);
    }

    fn about_tools(&self, alone: bool) -> String {
        let named;
        let (tools, demand) = match &self.choice {
            ToolChoice::None => return String::new(),
            ToolChoice::Auto => (self.tools, None),
            ToolChoice::Required => (self.tools, Some("Call a tool now.".to_owned())),
            ToolChoice::Named(name) => {
                named = self.tools.iter().filter(|tool| tool.name == *name).cloned().collect::<Vec<_>>();
                (named.as_slice(), Some(format!("Call {} now.", Dialects::builtin().neutralise(name))))
            }
        };
        if tools.is_empty() {
            return String::new();
        }
        let about = match self.words.filter(|_| self.detail != Detail::Compact) {
            Some(words) => words.about(tools, self.detail, alone),
            None => self.dialect.system_prompt(tools, self.detail),
        };
        let once = self.one_call.then(|| ONE_CALL.to_owned());
        let result = self.reminds.then(|| ANSWER_WITH_RESULT.to_owned());
        let form = self.form.clone().filter(|_| demand.is_none());
        let parts = [Some(about.trim().to_owned()), once, result, form, demand];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }

    fn push(&mut self, role: &str, part: Part, text: &str) {
        let mut message = Message::of(role);
        message.add_text(part, "", text);
        self.join(message);
    }

    /// Adds a message, or lengthens the last one.
    fn join(&mut self, message: Message) {
        if message.is_empty() {
            return;
        }
        let role = message.role();
        match self.messages.last_mut() {
            Some(last) if matches!(role, "user" | "assistant") && last.is_alike(&message) => {
                last.append("\n\n", message);
            }
            _ => self.messages.push(message),
        }
    }

    fn add_calls(&mut self, message: &mut Message, calls: &[Call]) {
        if calls.is_empty() {
            return;
        }
        for call in calls {
            if let Some(id) = &call.id {
                self.names.insert(id.clone(), call.name.clone());
            }
        }
        let written = self.dialect.render_calls(calls, self.tools).unwrap_or_else(|error| {
            self.unwritten.get_or_insert(PromptError { at: 0, reason: error.to_string() });
            in_words(calls)
        });
        let lead = if self.dialect.lead().is_empty() { "\n" } else { self.dialect.lead() };
        message.add_text(Part::Calls, lead, &written);
    }

    fn result(&self, fields: &Map<String, Value>) -> CallResult {
        let id = fields.get("tool_call_id").and_then(Value::as_str);
        let said = fields.get("name").and_then(Value::as_str);
        let name = said.or_else(|| self.names.get(id?).map(String::as_str)).unwrap_or_default().to_owned();
        let mut text = match fields.get("content") {
            Some(Value::String(text)) => text.clone(),
            _ => parts(fields).iter().filter_map(text_of).collect::<Vec<_>>().join("\n"),
        };
        let ok = !failed::is(fields);
        if !ok && self.dialect.results().failed.is_none() {
            failed::add_words(&mut text);
        }
        CallResult { id: id.map(str::to_owned), name, text, ok }
    }

    fn flush(&mut self, results: &mut Vec<CallResult>, others: &mut Vec<Value>) {
        if !results.is_empty() {
            self.add_results(&std::mem::take(results), std::mem::take(others));
        }
    }

    fn add_results(&mut self, results: &[CallResult], others: Vec<Value>) {
        let mut message = Message::of("user");
        message.add_text(Part::Results, "", &self.dialect.render_results(results));
        for part in others {
            message.add_part(Part::Results, part);
        }
        if self.reminds {
            message.add_text(Part::Text, "\n\n", &reminder(&self.question));
        }
        self.join(message);
    }
}

/// The texts at which a request in this dialect has the model stop: closing marks of calls that the dialect takes for read
/// where the answer ends before them. One call an answer is what comes of it. Headers of channels end by tokens of the
/// model's own.
pub fn stops(dialect: &Dialect) -> Vec<&str> {
    let forms = std::iter::once(dialect).chain(dialect.variants().iter().map(Arc::as_ref));
    let forms = forms.filter(|form| !matches!(form.frame(), Frame::Channels(_)));
    let closers = forms.filter_map(|form| {
        form.call().iter().rev().find_map(|piece| match piece {
            Piece::Mark(mark, _) if mark.need == Need::Stop => Some(mark.write.trim()),
            _ => None,
        })
    });
    let mut stops: Vec<&str> = Vec::new();
    for closer in closers {
        if !stops.contains(&closer) {
            stops.push(closer);
        }
    }
    stops
}

/// The calls of an assistant's message, or what is none.
pub(crate) fn calls(fields: &Map<String, Value>) -> Result<Vec<Call>, &Value> {
    let list = match fields.get("tool_calls") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(list)) => list.as_slice(),
        Some(other) => return Err(other),
    };
    let legacy = fields.get("function_call").filter(|call| !call.is_null());
    list.iter().chain(legacy).map(|call| self::call(call).ok_or(call)).collect()
}

fn call(value: &Value) -> Option<Call> {
    let function = value.get("function").unwrap_or(value);
    let arguments = match function.get("arguments") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) if text.trim().is_empty() => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let id = value.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    Some(Call { id: id.map(str::to_owned), name: function.get("name")?.as_str()?.to_owned(), arguments })
}

/// An error for a content whose text would be lost: it is a text, or a list of parts, which may be texts.
fn check_content(fields: &Map<String, Value>) -> Result<(), WireError> {
    match fields.get("content") {
        Some(Value::Array(parts)) => {
            let parts = parts.iter().enumerate().filter(|(_, part)| !part.is_string());
            parts.into_iter().try_for_each(|(place, part)| said_part(part, &format!("content[{place}]")))
        }
        Some(content) => said(content, "content").map(drop),
        None => Ok(()),
    }
}

/// The parts of a content that is a list.
fn parts(fields: &Map<String, Value>) -> &[Value] {
    fields.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text of a content part, if it is one of text.
fn text_of(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text")?.as_str())
}

#[cfg(test)]
mod tests;
