//! Answers of servers of responses.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::chunk::{CallDelta, Chunk, Delta, Finish, Usage};
use crate::error::WireError;
use crate::fields::Fields;
use crate::heard::Heard;

/// Reads the events of one response, or a whole one.
#[derive(Debug, Default)]
pub struct Responses {
    /// Items of which something came before they were whole.
    begun: HashSet<u32>,
    /// Items of which arguments came before they were whole.
    argued: HashSet<u32>,
    calls: bool,
    /// Something was thought, so that what is thought next is a paragraph of its own.
    thought: bool,
}

const EXPECTED: &str = "a response of OpenAI's API, or an event of one";

impl Responses {
    pub(crate) fn event(&mut self, data: &str) -> Result<Heard<'static>, WireError> {
        let fields = Fields::read(data, "event")?;
        let kind = fields.text("type")?.unwrap_or_default();
        let index = fields.number("output_index").and_then(|index| u32::try_from(index).ok()).unwrap_or(0);
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
                self.begun.insert(index);
                let logprobs = fields.get("logprobs").filter(|list| !is_empty(list)).map(str::to_owned);
                Delta { content: said()?, logprobs, ..Delta::default() }
            }
            "response.refusal.delta" => {
                self.begun.insert(index);
                Delta { refusal: said()?, ..Delta::default() }
            }
            "response.reasoning_summary_part.added" if self.thought => {
                Delta { reasoning: Some("\n\n".to_owned()), ..Delta::default() }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.begun.insert(index);
                self.thought = true;
                Delta { reasoning: said()?, ..Delta::default() }
            }
            "response.function_call_arguments.delta" => {
                self.argued.insert(index);
                let piece = CallDelta { index: Some(index), arguments: said()?, ..CallDelta::default() };
                Delta { calls: vec![piece], ..Delta::default() }
            }
            "response.output_item.added" | "response.output_item.done" => match fields.get("item") {
                Some(item) => self.item(item, index, kind.ends_with("done"))?,
                None => return Ok(Heard::Nothing),
            },
            "response.completed" | "response.incomplete" | "response.failed" => {
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
        Ok(Chunk { id, model, choices, usage: usage(&fields), error: None })
    }

    /// The last event of a stream.
    fn over(&mut self, response: &str) -> Result<Heard<'static>, WireError> {
        let fields = Fields::read(response, "response")?;
        if fields.get("error").is_some() {
            return Ok(failed(response));
        }
        let mut delta = Delta::default();
        self.finish(&fields, &mut delta)?;
        Ok(Heard::Chunk(Cow::Owned(Chunk { usage: usage(&fields), ..of(delta) }), None))
    }

    /// What an item adds: as it begins, or once it is whole. Some servers say it only then.
    fn item(&mut self, json: &str, index: u32, whole: bool) -> Result<Delta, WireError> {
        let item = Fields::read(json, "item")?;
        let mut delta = Delta::default();
        match item.text("type")?.as_deref() {
            Some("function_call") => {
                let first = self.begun.insert(index);
                self.calls = true;
                let arguments = item.text("arguments")?.filter(|_| whole && !self.argued.contains(&index));
                if first || arguments.is_some() {
                    let (id, name) = (item.text("call_id")?, item.text("name")?.filter(|_| first));
                    delta.calls.push(CallDelta { index: Some(index), id, name, arguments });
                }
            }
            Some("reasoning") if whole => {
                let thought = [texts(&item, "summary")?, texts(&item, "content")?];
                let thought = thought.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
                if let Some(seal) = item.text("encrypted_content")? {
                    delta.thinking_blocks =
                        vec![json!({"type": "thinking", "thinking": thought, "signature": seal})];
                    delta.signature = Some(seal);
                }
                delta.reasoning =
                    Some(thought).filter(|text| !text.is_empty() && !self.begun.contains(&index));
            }
            Some("message") if whole && !self.begun.contains(&index) => {
                delta.content = Some(texts(&item, "content")?).filter(|text| !text.is_empty());
                delta.refusal =
                    Some(said_in(&item, "content", "refusal")?.concat()).filter(|text| !text.is_empty());
                let lists = item.list("content")?.unwrap_or_default().into_iter().filter_map(|part| {
                    Fields::read(part, "content").ok()?.get("logprobs").filter(|list| !is_empty(list))
                });
                delta.logprobs = lists.map(str::to_owned).next();
            }
            _ => {}
        }
        Ok(delta)
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

fn of(delta: Delta) -> Chunk {
    Chunk { choices: vec![delta], ..Chunk::default() }
}

fn failed(json: &str) -> Heard<'static> {
    Heard::Chunk(Cow::Owned(refusal(json)), None)
}

fn refusal(json: &str) -> Chunk {
    Chunk { error: Some(ApiError::from_stream(json)), ..Chunk::default() }
}

/// The texts of a list of parts.
fn texts(item: &Fields<'_>, name: &str) -> Result<String, WireError> {
    Ok(said_in(item, name, "text")?.join(if name == "summary" { "\n\n" } else { "" }))
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
