//! One JSON text of an answer, streamed or whole, to what it adds.

mod alike;
mod plain;
mod usage;

use serde_json::{Map, Value};

pub use self::alike::Chunks;
use self::plain::{Plain, Whole};
use self::usage::times;
pub use self::usage::{Times, Usage};
use crate::api_error::ApiError;
use crate::citation::Citation;
use crate::error::WireError;
use crate::fields::{Fields, list, string};

/// What one JSON text from the server says: a chunk of a stream, a whole completion, or an error.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chunk {
    /// The answer's id.
    pub id: Option<String>,
    /// The model that answers, in the server's words.
    pub model: Option<String>,
    /// What is added to which choice, in the order in which the model wrote it; empty in a chunk that only carries usage.
    pub choices: Vec<Delta>,
    /// Tokens, once the server says them.
    pub usage: Option<Usage>,
    /// The server gave up.
    pub error: Option<Box<ApiError>>,
}

/// What stands before a text, or a thought, that is a paragraph of its own.
pub const GAP: &str = "\n\n";

/// What is added to one choice. A whole message is one big delta.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    /// Which choice.
    pub choice: u32,
    /// Thinking, exact.
    pub reasoning: Option<String>,
    /// The thinking came in the member `reasoning`, in which its server reads it again.
    pub as_reasoning: bool,
    /// Pieces of thoughts in the server's own words (`reasoning_details`), as it takes them back.
    pub details: Vec<Value>,
    /// The thinking is a summary of what the model thought.
    pub summary: bool,
    /// The server's seal on the thinking, or a piece of it.
    pub signature: Option<String>,
    /// Thoughts that are whole, with their seals, as `thinking_blocks` of a request take them back.
    pub thinking_blocks: Vec<Value>,
    /// Text, exact.
    pub content: Option<String>,
    /// The text, or the thought, came in the parts of a list, which few clients read.
    pub in_parts: bool,
    /// The text, or the thought, begins with [`GAP`], which is none of the server's: it stands in a message or block of its
    /// own, and not in that of what was said, or thought, before.
    pub gap: bool,
    /// Why the model does not do as it was asked, which servers tell apart from text.
    pub refusal: Option<String>,
    /// Where the text has something from.
    pub citations: Vec<Citation>,
    /// What stands for the conversation so far from now on, as the server of a response says it.
    pub compaction: Option<Value>,
    /// The kinds of what the server has in its answer that no other API has a place for, such as what its own tools did, and
    /// the pictures that it made.
    pub unread: Vec<String>,
    /// How likely the tokens of the text were: the server's list, as JSON.
    pub logprobs: Option<String>,
    /// Pieces of calls.
    pub calls: Vec<CallDelta>,
    /// Why the choice ended.
    pub finish: Option<Finish>,
    /// The same in the server's words.
    pub reason: Option<String>,
    /// The text at which the server stopped, of those that the request names.
    pub stopped_at: Option<String>,
    /// How long it took, where the server says that.
    pub times: Option<Times>,
}

impl Delta {
    /// It has something of the answer.
    pub fn adds(&self) -> bool {
        let texts = [&self.content, &self.reasoning, &self.refusal];
        texts.into_iter().flatten().any(|text| !text.is_empty()) || !self.calls.is_empty()
    }

    /// It has something else than calls. White space is nothing.
    pub(crate) fn says_more(&self) -> bool {
        let is_text = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        [&self.content, &self.reasoning, &self.refusal].into_iter().any(is_text)
            || self.signature.is_some()
            || !self.thinking_blocks.is_empty()
    }
}

/// A piece of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallDelta {
    /// Which call of the choice, if the server says.
    pub index: Option<u32>,
    /// The call's id, if it is here.
    pub id: Option<String>,
    /// The name or a piece of it.
    pub name: Option<String>,
    /// Argument text or a piece of it; what a server sends as an object is its text as sent.
    pub arguments: Option<String>,
    /// Members of the call that are not known here, as its server wants them back.
    pub beside: Map<String, Value>,
}

/// Why a choice ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// The model was done, or met a stop string.
    Stop,
    /// The answer was cut at a limit of tokens.
    Length,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The server withheld the rest.
    ContentFilter,
    /// A reason of the server's own.
    Other,
}

impl Finish {
    /// Reads a server's word, of any API.
    pub fn from_reason(reason: &str) -> Self {
        match reason {
            "stop" | "eos" | "eos_token" | "end_turn" | "pause_turn" | "stop_sequence" | "done" => Self::Stop,
            "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => Self::Length,
            "tool_calls" | "function_call" | "tool_use" => Self::ToolCalls,
            "content_filter" | "safety" => Self::ContentFilter,
            _ => Self::Other,
        }
    }
}

impl Chunk {
    /// Reads a chunk of a stream or a whole answer: of a chat completion, or of Ollama's own chat.
    pub fn read(json: &str) -> Result<Self, WireError> {
        match Plain::read(json) {
            Some(plain) => Ok(plain.into_chunk()),
            None => Self::of(&Fields::read(json, "chunk")?, json),
        }
    }

    /// The same of what is most likely a whole answer.
    pub fn read_whole(json: &str) -> Result<Self, WireError> {
        match Whole::read(json) {
            Some(whole) => Ok(whole.into_chunk()),
            None => Self::of(&Fields::read(json, "chunk")?, json),
        }
    }

    /// The same of a text whose members were found already.
    pub(crate) fn of(fields: &Fields<'_>, json: &str) -> Result<Self, WireError> {
        if is_error(fields) {
            return Ok(Self { error: Some(Box::new(ApiError::from_stream(json))), ..Self::default() });
        }
        let mut usage = usage::usage(fields);
        let choices = match fields.list("choices")? {
            Some(choices) => {
                choices.into_iter().map(|json| choice(json, &mut usage)).collect::<Result<_, _>>()?
            }
            None if fields.get("message").is_some() || fields.has("done") => vec![ollama(fields)?],
            None if fields.has("choices") || fields.has("usage") => Vec::new(),
            None => return Err(WireError::shape("chunk", "an object with `choices` or `error`", json)),
        };
        Ok(Self {
            id: fields.text("id").ok().flatten(),
            model: fields.text("model").ok().flatten(),
            choices,
            usage,
            error: None,
        })
    }
}

/// True for what a server says when it gives up. Some name it in the event alone: what is left has words and no choice.
fn is_error(fields: &Fields<'_>) -> bool {
    let says = |name| fields.get(name).is_some_and(|json| json.starts_with('"'));
    fields.get("error").is_some()
        || fields.get("object") == Some("\"error\"")
        || !fields.has("choices") && (says("message") || fields.get("detail").is_some())
}

/// Why it ended. Some servers send an empty text as long as it has not.
fn reason(fields: &Fields<'_>, name: &str) -> Result<Option<String>, WireError> {
    Ok(fields.text(name)?.filter(|reason| !reason.is_empty()))
}

/// Reads a choice. It may say what the answer cost, where nothing else does.
fn choice(json: &str, usage: &mut Option<Usage>) -> Result<Delta, WireError> {
    let fields = Fields::read(json, "choices[]")?;
    *usage = usage.or_else(|| usage::of_object(&fields));
    let (part, whole) = match fields.object("delta")? {
        Some(delta) => (Some(delta), false),
        None => (fields.object("message")?, true),
    };
    let mut delta = match part {
        Some(part) => message(&part, whole)?,
        // A text completion.
        None => Delta { content: fields.text("text")?, ..Delta::default() },
    };
    delta.choice = fields.number("index").and_then(|index| u32::try_from(index).ok()).unwrap_or(0);
    delta.reason = reason(&fields, "finish_reason")?;
    delta.finish = delta.reason.as_deref().map(Finish::from_reason);
    delta.logprobs = fields.get("logprobs").and_then(tokens);
    delta.stopped_at = ["stop_reason", "matched_stop"].iter().find_map(|name| word(&fields, name));
    Ok(delta)
}

/// The list of tokens in what a choice says of how likely they were.
fn tokens(logprobs: &str) -> Option<String> {
    let fields = Fields::read(logprobs, "logprobs").ok()?;
    let list = ["content", "refusal"].iter().find_map(|name| fields.get(name));
    list.filter(|list| list.starts_with('[')).map(str::to_owned)
}

/// A member that may be a number, which says nothing here, or a text.
fn word(fields: &Fields<'_>, name: &str) -> Option<String> {
    fields.get(name).filter(|json| json.starts_with('"')).and_then(|json| string(json, name).ok())
}

fn ollama(fields: &Fields<'_>) -> Result<Delta, WireError> {
    let mut delta = match fields.object("message")? {
        Some(part) => message(&part, true)?,
        None => Delta::default(),
    };
    delta.logprobs = fields.get("logprobs").filter(|list| list.starts_with('[')).map(str::to_owned);
    if fields.get("done") == Some("true") {
        delta.reason = reason(fields, "done_reason")?;
        delta.finish = Some(delta.reason.as_deref().map_or(Finish::Stop, Finish::from_reason));
        delta.times = times(fields);
    }
    Ok(delta)
}

/// Reads a `message`, or a `delta`, which is the same in pieces. In a whole message every call is its own.
pub(crate) fn message(fields: &Fields<'_>, whole: bool) -> Result<Delta, WireError> {
    let mut delta = Delta::default();
    if let Some(content) = fields.get("content") {
        content_parts(content, &mut delta)?;
    }
    delta.refusal = word(fields, "refusal").filter(|text| !text.is_empty());
    if let Some(Ok(Value::Array(list))) = fields.get("annotations").map(serde_json::from_str) {
        delta.citations.extend(list.into_iter().map(Citation::of_chat));
    }
    let made =
        ["audio", "images"].into_iter().filter(|name| fields.get(name).is_some_and(|json| json != "[]"));
    delta.unread.extend(made.map(str::to_owned));
    for name in ["reasoning_content", "reasoning", "thinking"] {
        let here = fields.get(name).filter(|json| json.starts_with('"'));
        if let Some(text) = here.map(|json| string(json, name)).transpose()?.filter(|text| !text.is_empty()) {
            delta.reasoning = Some(text);
            delta.as_reasoning = name == "reasoning";
            break;
        }
    }
    if let Some(Ok(Value::Array(details))) = fields.get("reasoning_details").map(serde_json::from_str) {
        delta.details = details;
    }
    for (index, json) in fields.list("tool_calls")?.unwrap_or_default().into_iter().enumerate() {
        let mut piece = call(json)?;
        if whole && piece.index.is_none() {
            piece.index = u32::try_from(index).ok();
        }
        delta.calls.push(piece);
    }
    if let Some(legacy) = fields.object("function_call")? {
        delta.calls.push(CallDelta { index: Some(0), ..function(&legacy)? });
    }
    Ok(delta)
}

/// Content is a string, or a list of parts of which text and thinking count.
fn content_parts(json: &str, delta: &mut Delta) -> Result<(), WireError> {
    if !json.starts_with('[') {
        delta.content = Some(string(json, "content")?);
        return Ok(());
    }
    delta.in_parts = true;
    for part in list(json, "content")? {
        if part.starts_with('"') {
            delta.content.get_or_insert_default().push_str(&string(part, "content[]")?);
            continue;
        }
        let part = Fields::read(part, "content[]")?;
        if let Some(thinking) = part.get("thinking") {
            let mut inner = Delta::default();
            content_parts(thinking, &mut inner)?;
            delta.reasoning.get_or_insert_default().push_str(&inner.content.unwrap_or_default());
            delta.unread.append(&mut inner.unread);
        } else if let Some(text) = part.text("text")? {
            delta.content.get_or_insert_default().push_str(&text);
        } else {
            delta.unread.extend(word(&part, "type"));
        }
    }
    Ok(())
}

fn call(json: &str) -> Result<CallDelta, WireError> {
    let fields = Fields::read(json, "tool_calls[]")?;
    let piece = match fields.object("function")? {
        Some(inner) => function(&inner)?,
        None => function(&fields)?,
    };
    Ok(CallDelta {
        index: fields.number("index").and_then(|index| u32::try_from(index).ok()),
        id: fields.get("id").and_then(id),
        beside: beside(&fields),
        ..piece
    })
}

/// Members of a call that are not known here.
fn beside(fields: &Fields<'_>) -> Map<String, Value> {
    const KNOWN: [&str; 7] = ["index", "id", "type", "function", "custom", "name", "arguments"];
    let others = fields.iter().filter(|(name, json)| !KNOWN.contains(name) && *json != "null");
    others.filter_map(|(name, json)| Some((name.to_owned(), serde_json::from_str(json).ok()?))).collect()
}

/// The id of a call. Some servers number their calls; what is neither a text nor a number is none.
fn id(json: &str) -> Option<String> {
    let id =
        if json.starts_with('"') { string(json, "id").ok()? } else { json.parse::<u64>().ok()?.to_string() };
    (!id.is_empty()).then_some(id)
}

fn function(fields: &Fields<'_>) -> Result<CallDelta, WireError> {
    let arguments = match fields.get("arguments") {
        Some(json) if json.starts_with('"') => Some(string(json, "arguments")?),
        Some(json) => Some(json.to_owned()),
        None => None,
    };
    Ok(CallDelta {
        name: fields.text("name")?.filter(|name| !name.is_empty()),
        arguments,
        ..CallDelta::default()
    })
}

#[cfg(test)]
mod tests;
