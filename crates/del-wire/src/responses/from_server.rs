//! Answers of servers of responses.

mod said;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use self::said::Said;
use crate::api_error::ApiError;
use crate::chunk::{CallDelta, Chunk, Delta, Finish, GAP, Usage};
use crate::citation::{self, Citation};
use crate::error::WireError;
use crate::fields::Fields;
use crate::heard::Heard;

/// Reads the events of one response, or a whole one.
#[derive(Debug, Default)]
pub struct Responses {
    /// Items of which something came before they were whole. Some servers number none, so their kinds count as well.
    begun: HashSet<(Kind, u32)>,
    /// Items of which arguments came before they were whole.
    argued: HashSet<u32>,
    /// The numbers of items that have begun and of which nobody has said that they are whole, by their ids.
    open: HashMap<String, u32>,
    /// Some item has begun.
    itemised: bool,
    calls: bool,
    said: Said,
    /// How many items have ended, for servers that number none.
    ended: u32,
    /// Items of which a citation came before they were whole.
    cited: HashSet<u32>,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Message,
    Thought,
    Call,
}

const EXPECTED: &str = "a response of OpenAI's API, or an event of one";

impl Responses {
    pub(crate) fn event(&mut self, data: &str) -> Result<Heard<'static>, WireError> {
        let fields = Fields::read(data, "event")?;
        let kind = fields.text("type")?.unwrap_or_default();
        let number = |name| fields.number(name).and_then(|number| u32::try_from(number).ok());
        let index = number("output_index").unwrap_or(self.ended);
        let part = number("summary_index").or_else(|| number("content_index")).unwrap_or(0);
        let said = || fields.text("delta");
        let delta = match kind.as_str() {
            "error" => return Ok(failed(data)),
            "response.created" | "response.in_progress" => {
                let mut chunk = of(Delta::default());
                if let Some(response) = fields.object("response")? {
                    (chunk.id, chunk.model) = (response.text("id")?, response.text("model")?);
                }
                return Ok(Heard::Chunk(Cow::Owned(chunk), None));
            }
            "response.output_text.delta" => {
                self.begun.insert((Kind::Message, index));
                let logprobs = fields.get("logprobs").filter(|list| !is_empty(list)).map(str::to_owned);
                Delta { logprobs, ..self.said.says(index, said()?) }
            }
            "response.content_part.added" => {
                let part = fields.object("part")?;
                let kind = part.and_then(|part| part.text("type").ok().flatten());
                if kind.is_none_or(|kind| kind == "output_text") {
                    self.said.begins_part(index);
                }
                return Ok(Heard::Nothing);
            }
            "response.output_text.annotation.added" => {
                self.cited.insert(index);
                let citation = fields.get("annotation").and_then(|json| serde_json::from_str(json).ok());
                let citation = citation.map(|json| self.said.cites(json));
                Delta { citations: citation.into_iter().collect(), ..Delta::default() }
            }
            "response.refusal.delta" => {
                self.begun.insert((Kind::Message, index));
                Delta { refusal: said()?, ..Delta::default() }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.begun.insert((Kind::Thought, index));
                let summary = kind.contains("summary");
                Delta { summary, ..self.said.thinks(index, part, said()?) }
            }
            // Some servers say it only once it is whole.
            "response.output_text.done" if self.begun.insert((Kind::Message, index)) => {
                self.said.says(index, fields.text("text")?)
            }
            "response.function_call_arguments.delta" => {
                self.argued.insert(index);
                arguments(index, said()?)
            }
            "response.function_call_arguments.done" if self.argued.insert(index) => {
                arguments(index, fields.text("arguments")?)
            }
            "response.output_item.added" | "response.output_item.done" => match fields.get("item") {
                Some(item) => self.item(item, index, kind.ends_with("done"))?,
                None => return Ok(Heard::Nothing),
            },
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                return self.over(fields.get("response").unwrap_or("{}"));
            }
            // A server may answer at once all the same, or say what is wrong with no event around it.
            "" if fields.has("output") || fields.get("error").is_some() => {
                return self.whole(data).map(|chunk| Heard::Chunk(Cow::Owned(chunk), None));
            }
            "" => return Err(WireError::shape("type", EXPECTED, data)),
            _ => return Ok(Heard::Nothing),
        };
        Ok(Heard::Chunk(Cow::Owned(of(delta)), None))
    }

    pub(crate) fn whole(&mut self, body: &str) -> Result<Chunk, WireError> {
        let fields = Fields::read(body, "response")?;
        if fields.get("error").is_some() {
            return Ok(refusal(body));
        }
        if let Some(gone) = without_answer(&fields)? {
            return Ok(refusal(&gone));
        }
        if !fields.has("output") {
            return Err(WireError::shape("output", EXPECTED, body));
        }
        let items = fields.list("output")?.unwrap_or_default();
        let mut choices = Vec::with_capacity(items.len() + 1);
        for (place, json) in items.into_iter().enumerate() {
            choices.push(self.item(json, u32::try_from(place).unwrap_or(u32::MAX), true)?);
        }
        let mut end = Delta::default();
        self.finish(&fields, &mut end)?;
        choices.push(end);
        let (id, model) = (fields.text("id")?, fields.text("model")?);
        Ok(Chunk { id, model, choices, usage: usage(&fields), ..Chunk::default() })
    }

    /// The last event of a stream.
    fn over(&mut self, response: &str) -> Result<Heard<'static>, WireError> {
        let fields = Fields::read(response, "response")?;
        if fields.get("error").is_some() {
            return Ok(failed(response));
        }
        if let Some(gone) = without_answer(&fields)? {
            return Ok(failed(&gone));
        }
        let mut choices = self.missed(&fields)?;
        let mut delta = Delta::default();
        self.finish(&fields, &mut delta)?;
        choices.push(delta);
        Ok(Heard::Chunk(Cow::Owned(Chunk { choices, usage: usage(&fields), ..Chunk::default() }), None))
    }

    /// What only the response as a whole says: items that no event was about, or not once they were whole.
    fn missed(&mut self, response: &Fields<'_>) -> Result<Vec<Delta>, WireError> {
        let mut missed = Vec::new();
        let none = !self.itemised;
        for (place, json) in response.list("output")?.unwrap_or_default().into_iter().enumerate() {
            let id = Fields::read(json, "output[]")?.text("id")?;
            let open = id.and_then(|id| self.open.get(&id).copied());
            if let Some(index) = open.or_else(|| u32::try_from(place).ok().filter(|_| none)) {
                missed.push(self.item(json, index, true)?);
            }
        }
        Ok(missed)
    }

    /// What an item adds: as it begins, or once it is whole. Some servers say it only then.
    fn item(&mut self, json: &str, index: u32, whole: bool) -> Result<Delta, WireError> {
        let item = Fields::read(json, "item")?;
        let mut delta = Delta::default();
        self.itemised = true;
        if whole {
            self.ended += 1;
        } else {
            self.said.begins_item();
        }
        if let Some(id) = item.text("id")? {
            if whole {
                self.open.remove(&id);
            } else {
                self.open.insert(id, index);
            }
        }
        match item.text("type")?.as_deref() {
            Some("function_call") => {
                let first = self.begun.insert((Kind::Call, index));
                self.calls = true;
                let arguments = item.text("arguments")?.filter(|_| whole && self.argued.insert(index));
                if first || arguments.is_some() {
                    let (id, name) = (item.text("call_id")?, item.text("name")?.filter(|_| first));
                    let index = Some(index);
                    delta.calls.push(CallDelta { index, id, name, arguments, ..CallDelta::default() });
                }
            }
            Some("reasoning") if whole => {
                let summary = texts(&item, "summary")?;
                let is_summary = !summary.is_empty();
                let thought = if is_summary { summary } else { texts(&item, "content")? };
                if !thought.is_empty() && self.begun.insert((Kind::Thought, index)) {
                    delta = self.said.thinks(index, 0, Some(thought.clone()));
                    delta.summary = is_summary;
                }
                if let Some(seal) = item.text("encrypted_content")? {
                    delta.thinking_blocks =
                        vec![json!({"type": "thinking", "thinking": thought, "signature": seal})];
                    delta.signature = Some(seal);
                }
            }
            Some("compaction" | "compaction_summary") if whole => {
                delta.compaction = serde_json::from_str(json).ok();
            }
            Some("message") if whole => {
                let first = self.begun.insert((Kind::Message, index));
                if first {
                    delta = self.said.says(index, Some(texts(&item, "content")?));
                }
                self.cite(&item, index, &mut delta)?;
                if first {
                    delta.refusal =
                        Some(said_in(&item, "content", "refusal")?.concat()).filter(|text| !text.is_empty());
                    let lists = item.list("content")?.unwrap_or_default().into_iter().filter_map(|part| {
                        Fields::read(part, "content").ok()?.get("logprobs").filter(|list| !is_empty(list))
                    });
                    delta.logprobs = lists.map(str::to_owned).next();
                }
            }
            Some("message" | "reasoning" | "compaction" | "compaction_summary" | "") | None => {}
            Some(other) if whole => delta.unread.push(other.to_owned()),
            Some(_) => {}
        }
        Ok(delta)
    }

    /// Adds the citations of a whole message, whose text has come.
    fn cite(&mut self, item: &Fields<'_>, index: u32, delta: &mut Delta) -> Result<(), WireError> {
        let unheard = self.cited.insert(index);
        let mut parts = Vec::new();
        for part in item.list("content")?.unwrap_or_default() {
            let part = Fields::read(part, "content")?;
            let length = part.text("text")?.as_deref().map_or(0, citation::length);
            let cited =
                part.get("annotations").and_then(|list| serde_json::from_str::<Vec<Value>>(list).ok());
            parts.push((length, cited.unwrap_or_default()));
        }
        let all: u64 = parts.iter().map(|(length, _)| length).sum();
        let mut before = self.said.begin_of_last(all);
        for (length, cited) in parts {
            if unheard {
                delta.citations.extend(cited.into_iter().map(|json| Citation::of_response(json, before)));
            }
            before += length;
        }
        Ok(())
    }

    fn finish(&self, response: &Fields<'_>, delta: &mut Delta) -> Result<(), WireError> {
        let cut = match response.object("incomplete_details")? {
            Some(details) => details.text("reason")?,
            None => None,
        };
        let reason = cut.or(response.text("status")?);
        delta.finish = Some(match reason.as_deref() {
            Some("max_output_tokens" | "incomplete") => Finish::Length,
            Some("content_filter") => Finish::ContentFilter,
            _ if self.calls => Finish::ToolCalls,
            _ => Finish::Stop,
        });
        delta.reason = reason;
        Ok(())
    }
}

/// More of the arguments of a call.
fn arguments(index: u32, more: Option<String>) -> Delta {
    Delta {
        calls: vec![CallDelta { index: Some(index), arguments: more, ..CallDelta::default() }],
        ..Delta::default()
    }
}

/// An error for a response that the server gave up without a word on why.
fn without_answer(response: &Fields<'_>) -> Result<Option<String>, WireError> {
    let status = response.text("status")?.filter(|status| matches!(status.as_str(), "failed" | "cancelled"));
    Ok(status.map(|status| {
        json!({"error": {"message": format!("expected an answer, got a response that is {status}")}})
            .to_string()
    }))
}

fn of(delta: Delta) -> Chunk {
    Chunk { choices: vec![delta], ..Chunk::default() }
}

fn failed(json: &str) -> Heard<'static> {
    Heard::Chunk(Cow::Owned(refusal(json)), None)
}

fn refusal(json: &str) -> Chunk {
    Chunk { error: Some(Box::new(ApiError::from_stream(json))), ..Chunk::default() }
}

/// The texts of a list of parts.
fn texts(item: &Fields<'_>, name: &str) -> Result<String, WireError> {
    let between = if item.text("type")?.as_deref() == Some("reasoning") { GAP } else { "" };
    Ok(said_in(item, name, "text")?.join(between))
}

/// What the parts of a list say in this member.
fn said_in(item: &Fields<'_>, name: &str, member: &str) -> Result<Vec<String>, WireError> {
    let mut said = Vec::new();
    for part in item.list(name)?.unwrap_or_default() {
        said.extend(Fields::read(part, name)?.text(member)?);
    }
    Ok(said)
}

/// True for a list with nothing in it, and for what is none.
fn is_empty(list: &str) -> bool {
    list.strip_prefix('[').is_none_or(|rest| rest.trim_start().starts_with(']'))
}

fn usage(response: &Fields<'_>) -> Option<Usage> {
    let usage: Value = serde_json::from_str(response.get("usage")?).ok()?;
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    Some(Usage {
        written: number("/input_tokens_details/cache_write_tokens"),
        prompt: number("/input_tokens"),
        completion: number("/output_tokens"),
        cached: number("/input_tokens_details/cached_tokens"),
        reasoning: number("/output_tokens_details/reasoning_tokens"),
    })
}

#[cfg(test)]
mod tests;
