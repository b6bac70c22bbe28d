//! What a client says of the conversation so far, mended where a model server or its chat template would refuse it, or
//! would show the model calls that it never made: markup that leaked into a text, arguments that are no object, calls
//! and results without each other.
//!
//! Ids and texts follow from the messages alone, and a message that is right stays as it is: what is mended in one request is
//! mended in the same way in the next, so that a server that keeps the beginning of a prompt finds it again.

mod results;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use del_dialects::{Collect, Dialect, Dialects, End, Message, Tool, Turn};
use serde_json::{Map, Value, json};

use crate::arguments::{self, Arguments};
use crate::native::call_json;
use crate::reading::same;

/// How the texts of past answers are read.
#[derive(Debug, Clone, Copy)]
pub struct History<'a> {
    /// All dialects that are known.
    pub dialects: &'static Dialects,
    /// The one to read; without it, all.
    pub dialect: Option<&'a Arc<Dialect>>,
    /// The tools that the request declares. Only calls of these are looked for in texts.
    pub tools: &'a Arc<[Tool]>,
}

/// What was wrong with a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mending {
    /// A call stood in a text, and is one of the API now.
    LeakedCall,
    /// Arguments were no JSON object, and are one now that says the same.
    Arguments,
    /// Arguments that cannot be read are the text in an object.
    BrokenArguments,
    /// A call or a result had no id.
    NoId,
    /// A call had no result, and has one that says so.
    NoResult,
    /// A result stood apart from its call or before that of an earlier one, and is in its place now.
    MovedResult,
    /// A result of no call is told by the user.
    NoCall,
}

/// How often each was mended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mendings(BTreeMap<Mending, usize>);

/// The member of an object that holds arguments which cannot be read.
pub const BROKEN: &str = "invalid_arguments";

impl Mending {
    /// Its name in headers and counts.
    pub fn name(self) -> &'static str {
        match self {
            Self::LeakedCall => "leaked_call",
            Self::Arguments => "arguments",
            Self::BrokenArguments => "broken_arguments",
            Self::NoId => "no_id",
            Self::NoResult => "no_result",
            Self::MovedResult => "moved_result",
            Self::NoCall => "no_call",
        }
    }
}

impl Mendings {
    /// True when nothing was wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was mended, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Mending, usize)> {
        self.0.iter().map(|(kind, count)| (*kind, *count))
    }

    fn add(&mut self, kind: Mending) {
        *self.0.entry(kind).or_default() += 1;
    }
}

impl fmt::Display for Mendings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (kind, count)) in self.iter().enumerate() {
            write!(f, "{}{}={count}", if place == 0 { "" } else { "," }, kind.name())?;
        }
        Ok(())
    }
}

impl History<'_> {
    /// Mends the messages of a chat. Where nothing is wrong they stay byte for byte.
    pub fn mend(&self, messages: &mut Vec<Value>) -> Mendings {
        let mut mendings = Mendings::default();
        let assistants =
            messages.iter_mut().enumerate().filter(|(_, message)| message["role"] == "assistant");
        for (place, message) in assistants {
            let Some(fields) = message.as_object_mut() else { continue };
            Self::mend_calls(place, fields, &mut mendings);
            self.take_leaked(place, fields, &mut mendings);
        }
        results::mend(messages, &mut mendings);
        mendings
    }

    /// Gives calls ids, and arguments that are objects.
    fn mend_calls(place: usize, fields: &mut Map<String, Value>, mendings: &mut Mendings) {
        let Some(Value::Array(calls)) = fields.get_mut("tool_calls") else { return };
        for (number, call) in calls.iter_mut().enumerate() {
            if call["id"].as_str().is_none_or(str::is_empty)
                && let Some(members) = call.as_object_mut()
            {
                members.insert("id".to_owned(), json!(id(place, number)));
                mendings.add(Mending::NoId);
            }
            let Some(function) = call.get_mut("function").and_then(Value::as_object_mut) else { continue };
            let mended = match function.get("arguments") {
                Some(Value::String(text)) => match arguments::read(text) {
                    Arguments::Whole => continue,
                    Arguments::Mended(json) => json,
                    Arguments::Broken => {
                        mendings.add(Mending::BrokenArguments);
                        let told = json!({ BROKEN: text });
                        function.insert("arguments".to_owned(), json!(told.to_string()));
                        continue;
                    }
                },
                None | Some(Value::Null) => "{}".to_owned(),
                Some(object @ Value::Object(_)) => object.to_string(),
                Some(other) => json!({ BROKEN: other }).to_string(),
            };
            mendings.add(Mending::Arguments);
            function.insert("arguments".to_owned(), json!(mended));
        }
    }

    /// Makes calls of those that stand in the text. A text with a call of no declared tool, or one that is broken, stays.
    fn take_leaked(&self, place: usize, fields: &mut Map<String, Value>, mendings: &mut Mendings) {
        let Some(text) = fields.get("content").and_then(text_of).filter(|_| !self.tools.is_empty()) else {
            return;
        };
        let Message { content, reasoning, calls: leaked, faults, .. } = self.read(&text);
        let declared = |name: &str| self.tools.iter().any(|tool| tool.name == name);
        let broken = faults.iter().any(|fault| fault.kind.ends_call());
        if leaked.is_empty() || broken || !leaked.iter().all(|call| declared(&call.name)) {
            return;
        }
        let mut twins = crate::prompt::calls(fields).unwrap_or_default();
        let calls = fields.entry("tool_calls").or_insert_with(|| json!([]));
        if !calls.is_array() {
            *calls = json!([]);
        }
        let Value::Array(calls) = calls else { return };
        for call in leaked {
            mendings.add(Mending::LeakedCall);
            // Some servers read a call and leave it in the text.
            match twins.iter().position(|twin| same(twin, &call)) {
                Some(twin) => drop(twins.remove(twin)),
                None => calls.push(call_json(&id(place, calls.len()), &call)),
            }
        }
        fields.insert("content".to_owned(), json!(if content.trim().is_empty() { "" } else { &content }));
        if !reasoning.is_empty() && !fields.contains_key("reasoning_content") {
            fields.insert("reasoning_content".to_owned(), json!(reasoning));
        }
    }

    fn read(&self, text: &str) -> Message {
        let turn = Turn::new(Arc::clone(self.tools));
        let mut parser = match self.dialect {
            Some(dialect) => dialect.parser(turn),
            None => self.dialects.parser(turn),
        };
        let mut collect = Collect::new();
        parser.push(text, &mut collect);
        parser.finish(End::End, &mut collect);
        collect.into_message()
    }
}

/// The id of a call that has none.
fn id(place: usize, number: usize) -> String {
    format!("call_{place}_{number}")
}

/// A content that is nothing but text.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => parts
            .iter()
            .map(|part| (part["type"] == "text").then(|| part["text"].as_str()).flatten())
            .collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
