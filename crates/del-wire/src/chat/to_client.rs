//! Answers in the shape of chat completions.
//!
//! What a chunk of the server has besides text and calls stays in it, byte for byte; a chunk of nothing but text that
//! goes on unchanged is not written anew.

use std::io::Write as _;

use serde_json::{Map, Value, json};

use super::deltas::Deltas;
use crate::chunk::{Delta, Usage};
use crate::citation::Citation;
use crate::fields::Fields;
use crate::logprobs;
use crate::members::Members;
use crate::told::{Blocks, Failure, Piece, Raw, ToClient, Told, ToldChoice, comments};

/// Writes chat completions.
#[derive(Debug)]
pub struct Chat {
    /// The members of the last chunk but its choices, for chunks that the server did not send.
    envelope: Members,
    /// A chunk that went on as it came, whose members these are where there are no others.
    begun: String,
    /// What stands around the text in chunks that have nothing else to tell.
    silent: String,
    /// The client knows functions, not tools.
    legacy: bool,
    /// For answers of servers that do not say them.
    id: String,
    created: u64,
    /// The client wants to know what a stream cost.
    counts: bool,
    deltas: Deltas,
    /// That, where the server is none of chat completions.
    usage: Option<Usage>,
}

/// Members of a message that are written anew.
const MESSAGE: [&str; 7] =
    ["role", "content", "reasoning_content", "reasoning", "thinking", "tool_calls", "function_call"];
/// Members of a choice that are written anew.
const CHOICE: [&str; 5] = ["index", "delta", "message", "text", "finish_reason"];
const CHUNK: &str = "chat.completion.chunk";
/// Servers say it in the first chunk of a choice.
const BEGINS: &str = "\"role\":\"assistant\"";

impl Chat {
    /// Nothing yet. `created` is the time in seconds; a `legacy` client knows functions, not tools.
    pub fn new(created: u64, legacy: bool) -> Self {
        Self {
            envelope: Members::default(),
            begun: String::new(),
            silent: String::new(),
            legacy,
            id: String::from("chatcmpl-0"),
            created,
            counts: false,
            deltas: Deltas::new(legacy),
            usage: None,
        }
    }

    /// The same of an answer with this id, where the server gives it none.
    #[must_use]
    pub fn named(self, id: String) -> Self {
        Self { id, ..self }
    }

    /// The same for a client that wants to know what a stream cost, or not. Servers of chat completions know it from the
    /// request, and what they say stays.
    #[must_use]
    pub fn counting(self, counts: bool) -> Self {
        Self { counts, ..self }
    }

    fn envelope(&self, told: &Told<'_>, fields: Option<&Fields<'_>>, object: &str) -> Members {
        let mut out = Members::default();
        match fields {
            Some(fields) => {
                let usage = object == CHUNK && fields.get("usage").is_some();
                for (name, json) in fields.iter() {
                    match name {
                        "choices" => {}
                        "usage" if usage => {}
                        "object" if object == CHUNK => {}
                        _ => out.add(name, json),
                    }
                }
                if object != CHUNK && told.chunk.id.is_none() && !fields.has("id") {
                    out.add_text("id", &self.id);
                }
                if object == CHUNK || !fields.has("object") {
                    out.add_text("object", object);
                }
            }
            None => {
                out.add_text("id", told.chunk.id.as_deref().unwrap_or(&self.id));
                out.add_text("object", object);
                out.add_number("created", self.created);
                out.add_text("model", told.chunk.model.as_deref().unwrap_or_default());
            }
        }
        out
    }

    /// Passes on a chunk as the server wrote it, but for a text in it that comes at another time. True where that can be.
    fn pass(&mut self, told: &Told<'_>, raw: &Raw<'_>, out: &mut Vec<u8>) -> bool {
        let event = |parts: &[&str], out: &mut Vec<u8>| {
            out.extend_from_slice(b"data: ");
            for part in parts {
                out.extend_from_slice(part.as_bytes());
            }
            out.extend_from_slice(b"\n\n");
            true
        };
        match (told.choices.as_slice(), told.chunk.choices.as_slice()) {
            ([], []) => event(&[raw.json], out),
            // The first that is heard of a choice, and the last.
            ([new], [delta])
                if new.pieces.is_empty() && is_silent(delta) && (new.first || new.reason.is_some()) =>
            {
                let same = new.reason == delta.reason && !(self.legacy && new.reason.is_some());
                let begins = !new.first || raw.json.contains(BEGINS);
                if !same || !begins {
                    return false;
                }
                if self.envelope.is_empty() && self.begun.is_empty() {
                    raw.json.clone_into(&mut self.begun);
                }
                event(&[raw.json], out)
            }
            ([new], [delta]) if !new.first && new.reason.is_none() => {
                if delta.finish.is_none() && is_same(new, delta) {
                    return event(&[raw.json], out);
                }
                match (new.pieces.as_slice(), raw.around()) {
                    ([Piece::Text(text)], Some((before, behind))) => {
                        event(&[before, &json!(text).to_string(), behind], out)
                    }
                    ([], Some((before, behind))) => self.silent.strip_prefix(before) == Some(behind),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// An event of a choice, and of what it cost.
    fn event(&self, choice: Option<&Members>, usage: Option<&str>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: {");
        out.extend_from_slice(&self.envelope.0);
        let between: &[u8] = if self.envelope.is_empty() { b"" } else { b"," };
        out.extend_from_slice(between);
        out.extend_from_slice(b"\"choices\":[");
        if let Some(choice) = choice {
            choice.write(out);
        }
        out.push(b']');
        if let Some(usage) = usage {
            // A vector takes every write.
            let _ = write!(out, ",\"usage\":{usage}");
        }
        out.extend_from_slice(b"}\n\n");
    }

    /// The choices of the events that tell what is new of one.
    fn events(&mut self, new: &ToldChoice, logprobs: &[Value], raw: Option<&str>) -> Vec<Members> {
        let (mut beside, inside) = unknown(raw, "delta");
        let likely;
        if raw.is_none() && !logprobs.is_empty() {
            likely = logprobs::member(logprobs);
            beside.push(("logprobs".to_owned(), &likely));
        }
        let mut deltas = self.deltas.of(&new.pieces, raw.is_some());
        if new.first {
            let mut first = Members::default();
            first.add_text("role", "assistant");
            first.add("content", "null");
            deltas.insert(0, first);
        } else if deltas.is_empty() && (!inside.is_empty() || beside.iter().any(|(_, json)| *json != "null"))
        {
            deltas.push(Members::default());
        }
        let mut events = Vec::with_capacity(deltas.len() + 1);
        for (place, mut delta) in deltas.into_iter().enumerate() {
            let mut choice = Members::default();
            choice.add_number("index", new.index.into());
            if place == 0 {
                delta.extend(&inside);
            }
            choice.add_object("delta", &delta);
            if place == 0 {
                choice.extend(&beside);
            }
            choice.add("finish_reason", "null");
            events.push(choice);
        }
        if let Some(reason) = &new.reason {
            let reason = if self.legacy && reason == "tool_calls" { "function_call" } else { reason };
            let mut choice = Members::default();
            choice.add_number("index", new.index.into());
            choice.add("delta", "{}");
            choice.add_text("finish_reason", reason);
            events.push(choice);
        }
        events
    }
}

impl ToClient for Chat {
    fn tell(&mut self, told: &Told<'_>, out: &mut Vec<u8>) {
        if told.raw.as_ref().is_some_and(|raw| self.pass(told, raw, out)) {
            return;
        }
        let raw = told.raw.as_ref().map(|raw| raw.json);
        let fields = raw.and_then(|raw| Fields::read(raw, "chunk").ok());
        if raw.is_some() || self.envelope.is_empty() {
            let begun = Fields::read(&self.begun, "chunk").ok().filter(|_| raw.is_none());
            self.envelope = self.envelope(told, fields.as_ref().or(begun.as_ref()), CHUNK);
        }
        let given =
            fields.as_ref().and_then(|fields| fields.list("choices").ok().flatten()).unwrap_or_default();
        let mut choices = Vec::new();
        self.deltas.think_as(told);
        for new in &told.choices {
            let raw = new.place.and_then(|place| given.get(place).copied());
            let logprobs = if raw.is_none() { told.logprobs(new) } else { Vec::new() };
            choices.extend(self.events(new, &logprobs, raw));
        }
        if choices.is_empty()
            && let Some((before, behind)) = told.raw.as_ref().and_then(Raw::around)
        {
            self.silent = [before, behind].concat();
        }
        let usage = fields.as_ref().and_then(|fields| fields.get("usage"));
        if fields.is_none() {
            self.usage = told.chunk.usage.or(self.usage);
        }
        let last = choices.len().saturating_sub(1);
        for (place, choice) in choices.iter().enumerate() {
            self.event(Some(choice), usage.filter(|_| place == last), out);
        }
        if choices.is_empty()
            && let Some(usage) = usage
        {
            self.event(None, Some(usage), out);
        }
    }

    fn done(&mut self, remarks: &[(&str, String)], out: &mut Vec<u8>) {
        if let Some(usage) = self.usage.filter(|_| self.counts) {
            self.event(None, Some(&usage_of(usage).to_string()), out);
        }
        comments(remarks, out);
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn in_one(&self) -> bool {
        true
    }

    fn keeps_unread(&self) -> bool {
        true
    }

    fn cites(&self, citation: &Citation) -> bool {
        citation.for_chat().is_some()
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        let said = failure.raw.and_then(|raw| serde_json::from_str::<Value>(raw).ok()).unwrap_or_default();
        let mut event = if said["error"].is_object() && said["type"] != "error" {
            said
        } else {
            let kind = &said["error"]["type"];
            json!({"error": {"message": failure.message, "type": kind, "param": null, "code": null}})
        };
        if let Some(members) = event["error"].as_object_mut() {
            match failure.error() {
                Some(error) => error.name_in(members),
                // Nobody said more than that.
                None => drop(members.insert("type".to_owned(), json!("upstream_error"))),
            }
        }
        out.extend_from_slice(format!("data: {event}\n\n").as_bytes());
    }

    fn whole(&mut self, told: &Told<'_>) -> String {
        let raw = told.raw.as_ref().map(|raw| raw.json);
        if let (Some(raw), [new], [delta]) = (raw, told.choices.as_slice(), told.chunk.choices.as_slice())
            && is_same(new, delta)
            && new.reason == delta.reason
            && told.chunk.id.is_some()
        {
            return raw.to_owned();
        }
        let fields = raw.and_then(|raw| Fields::read(raw, "completion").ok());
        let given =
            fields.as_ref().and_then(|fields| fields.list("choices").ok().flatten()).unwrap_or_default();
        self.deltas.think_as(told);
        let choices = told.choices.iter().map(|new| {
            let raw = new.place.and_then(|place| given.get(place).copied());
            let (beside, inside) = unknown(raw, "message");
            let blocks = Blocks::of(&new.pieces);
            let mut message = blocks.message();
            if raw.is_some() {
                // What the server has in such members stays.
                for name in ["refusal", "thinking_blocks", "reasoning_details"] {
                    message.shift_remove(name);
                }
            } else {
                let cited: Vec<Value> = blocks.citations().filter_map(Citation::for_chat).collect();
                if !cited.is_empty() {
                    message.insert("annotations".to_owned(), Value::Array(cited));
                }
            }
            let mut reason = new.reason.as_deref().unwrap_or("stop");
            if self.legacy {
                as_function(&mut message, &mut reason);
            }
            let mut text = Members::default();
            for (name, value) in &message {
                text.add_value(self.deltas.name(name), value);
            }
            text.extend(&inside);
            let mut choice = Members::default();
            choice.add_number("index", new.index.into());
            choice.add_object("message", &text);
            choice.extend(&beside);
            let logprobs = if raw.is_none() { told.logprobs(new) } else { Vec::new() };
            if !logprobs.is_empty() {
                choice.add("logprobs", &logprobs::member(&logprobs));
            }
            choice.add_text("finish_reason", reason);
            choice.into_text()
        });
        let choices: Vec<String> = choices.collect();
        let mut out = self.envelope(told, fields.as_ref(), "chat.completion");
        out.add("choices", &format!("[{}]", choices.join(",")));
        if fields.is_none()
            && let Some(usage) = told.chunk.usage
        {
            out.add_value("usage", &usage_of(usage));
        }
        out.into_text()
    }
}

/// It adds nothing to an answer, but may begin or end it.
fn is_silent(delta: &Delta) -> bool {
    let text = delta.content.as_ref().is_some_and(|text| !text.is_empty());
    !text && !has_more(delta)
}

/// Nothing but text is new, and it is what the server wrote.
fn is_same(new: &ToldChoice, delta: &Delta) -> bool {
    !(has_more(delta) || delta.in_parts)
        && matches!(new.pieces.as_slice(), [Piece::Text(text)] if delta.content.as_ref() == Some(text))
}

/// It has something else than text.
fn has_more(delta: &Delta) -> bool {
    let thought = delta.reasoning.is_some() || delta.signature.is_some();
    thought || delta.refusal.is_some() || !delta.calls.is_empty()
}

/// Members of a choice, and of its delta or message, that are not known here: names and JSON.
#[expect(clippy::type_complexity, reason = "two lists of one kind")]
fn unknown<'r>(raw: Option<&'r str>, of: &str) -> (Vec<(String, &'r str)>, Vec<(String, &'r str)>) {
    let without = |fields: &Fields<'r>, known: &[&str]| -> Vec<(String, &'r str)> {
        let unknown = fields.iter().filter(|(name, _)| !known.contains(name));
        unknown.map(|(name, json)| (name.to_owned(), json)).collect()
    };
    let Some(fields) = raw.and_then(|raw| Fields::read(raw, "choice").ok()) else {
        return (Vec::new(), Vec::new());
    };
    let inner = [of, "delta", "message"].iter().find_map(|name| fields.object(name).ok().flatten());
    (without(&fields, &CHOICE), inner.map(|inner| without(&inner, &MESSAGE)).unwrap_or_default())
}

/// The one call of a message as it was before there were tools.
fn as_function(message: &mut Map<String, Value>, reason: &mut &str) {
    if let Some(calls) = message.shift_remove("tool_calls") {
        message.insert("function_call".to_owned(), calls[0]["function"].clone());
        *reason = "function_call";
    }
}

fn usage_of(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt.saturating_add(usage.completion),
        "prompt_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.written},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}
