//! Answers of servers that speak Anthropic's messages.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::chunk::{CallDelta, Chunk, Delta, Finish, GAP, Usage};
use crate::citation::{self, Citation};
use crate::error::WireError;
use crate::fields::Fields;
use crate::heard::Heard;

/// Reads the events of one message, or a whole one.
#[derive(Debug, Default)]
pub struct Messages {
    usage: Usage,
    /// The thought that is under way.
    thought: Option<Thought>,
    /// Characters of text so far, and up to the block that is under way.
    said: u64,
    before: u64,
    /// Where that block has something from.
    cited: Vec<Value>,
    text: Paragraphs,
    thoughts: Paragraphs,
    /// The block that is under way is a call. What servers' own tools get comes in the same events.
    calls: bool,
}

/// Which texts, or thoughts, are paragraphs of their own. Texts right behind each other are one: each block of them has
/// sources of its own.
#[derive(Debug, Default)]
struct Paragraphs {
    /// There was something.
    some: bool,
    /// Another block has begun since.
    apart: bool,
}

/// A thought and its seal.
#[derive(Debug, Default)]
struct Thought {
    text: String,
    seal: String,
}

const EXPECTED: &str = "a message of Anthropic's API, or an event of one";

impl Messages {
    pub(crate) fn event(&mut self, data: &str) -> Result<Heard<'static>, WireError> {
        let fields = Fields::read(data, "event")?;
        let kind = fields.text("type")?.unwrap_or_default();
        let index = fields.number("index").and_then(|index| u32::try_from(index).ok());
        let chunk = match kind.as_str() {
            "error" => Chunk { error: Some(Box::new(ApiError::from_stream(data))), ..Chunk::default() },
            "message_stop" => return Ok(Heard::Done),
            "ping" => return Ok(Heard::Nothing),
            "content_block_stop" => {
                let thought = self.thought.take();
                let delta = Delta {
                    signature: thought.as_ref().and_then(Thought::signature),
                    thinking_blocks: thought.and_then(Thought::sealed).into_iter().collect(),
                    citations: self.citations(),
                    ..Delta::default()
                };
                if delta.thinking_blocks.is_empty() && delta.citations.is_empty() {
                    return Ok(Heard::Nothing);
                }
                of(delta)
            }
            // A server may answer at once all the same.
            "message" => self.whole(data)?,
            "message_start" => {
                let message = fields.object("message")?;
                let mut chunk = Chunk { choices: vec![Delta::default()], ..Chunk::default() };
                if let Some(message) = message {
                    chunk.id = message.text("id")?;
                    chunk.model = message.text("model")?;
                    self.count(&message);
                    chunk.usage = Some(self.usage);
                }
                chunk
            }
            "content_block_start" => match fields.object("content_block")? {
                Some(block) => {
                    let mut delta = self.begin(&block, index)?;
                    self.thought =
                        (block.text("type")?.as_deref() == Some("thinking")).then(Thought::default);
                    self.think(&mut delta);
                    self.cite(&block);
                    self.part(&mut delta);
                    of(delta)
                }
                None => return Ok(Heard::Nothing),
            },
            "content_block_delta" => match fields.object("delta")? {
                Some(delta) => {
                    if let Some(citation) = delta.get("citation") {
                        self.cited.extend(serde_json::from_str::<Value>(citation));
                    }
                    let mut delta = self::delta(&delta, index)?;
                    delta.calls.retain(|_| self.calls);
                    self.think(&mut delta);
                    self.part(&mut delta);
                    of(delta)
                }
                None => return Ok(Heard::Nothing),
            },
            "message_delta" => {
                self.count(&fields);
                let mut delta = Delta::default();
                if let Some(end) = fields.object("delta")? {
                    finish(&end, &mut delta)?;
                }
                Chunk { usage: Some(self.usage), ..of(delta) }
            }
            "" => return Err(WireError::shape("type", EXPECTED, data)),
            _ => return Ok(Heard::Nothing),
        };
        Ok(Heard::Chunk(Cow::Owned(chunk), None))
    }

    /// Keeps what is added to a thought. Its seal goes on once it is whole: clients take the last piece of one for all of it.
    fn think(&mut self, delta: &mut Delta) {
        if let Some(Thought { text, seal }) = &mut self.thought {
            text.push_str(delta.reasoning.as_deref().unwrap_or_default());
            seal.push_str(&delta.signature.take().unwrap_or_default());
        }
    }

    /// What a block begins with.
    fn begin(&mut self, block: &Fields<'_>, index: Option<u32>) -> Result<Delta, WireError> {
        let kind = block.text("type")?.unwrap_or_default();
        self.text.apart |= kind != "text";
        self.calls = kind == "tool_use";
        // Each thought has a seal of its own.
        self.thoughts.apart = true;
        self::block(&kind, block, index)
    }

    /// Puts a gap before a text or a thought that is a paragraph of its own, and counts the characters of the text.
    fn part(&mut self, delta: &mut Delta) {
        for (said, paragraphs) in
            [(&mut delta.content, &mut self.text), (&mut delta.reasoning, &mut self.thoughts)]
        {
            let Some(said) = said.as_mut().filter(|said| !said.is_empty()) else { continue };
            let apart = std::mem::take(&mut paragraphs.apart);
            if std::mem::replace(&mut paragraphs.some, true) && apart {
                said.insert_str(0, GAP);
                delta.gap = true;
            }
        }
        if let Some(text) = &delta.content {
            if delta.gap {
                self.before += citation::length(GAP);
            }
            self.said += citation::length(text);
        }
    }

    /// Begins a block that has these citations.
    fn cite(&mut self, block: &Fields<'_>) {
        self.before = self.said;
        if let Some(Ok(Value::Array(list))) = block.get("citations").map(serde_json::from_str) {
            self.cited.extend(list);
        }
    }

    /// The citations of the block that ends.
    fn citations(&mut self) -> Vec<Citation> {
        let span = [self.before, self.said];
        self.cited.drain(..).map(|json| Citation::of_message(json, span)).collect()
    }

    pub(crate) fn whole(&mut self, body: &str) -> Result<Chunk, WireError> {
        let fields = Fields::read(body, "message")?;
        if fields.get("error").is_some() {
            return Ok(Chunk { error: Some(Box::new(ApiError::from_stream(body))), ..Chunk::default() });
        }
        if !fields.has("content") {
            return Err(WireError::shape("content", EXPECTED, body));
        }
        let blocks = fields.list("content")?.unwrap_or_default();
        let mut choices = Vec::with_capacity(blocks.len() + 1);
        for (place, json) in blocks.into_iter().enumerate() {
            let given = Fields::read(json, "content[]")?;
            let mut delta = self.begin(&given, u32::try_from(place).ok())?;
            let (text, seal) =
                (delta.reasoning.clone().unwrap_or_default(), delta.signature.clone().unwrap_or_default());
            delta.thinking_blocks.extend(Thought { text, seal }.sealed());
            self.cite(&given);
            self.part(&mut delta);
            delta.citations = self.citations();
            choices.push(delta);
        }
        let mut end = Delta::default();
        finish(&fields, &mut end)?;
        if end.finish == Some(Finish::Length) {
            choices.iter_mut().last().into_iter().flat_map(|last| &mut last.calls).for_each(cut);
        }
        choices.push(end);
        self.count(&fields);
        let (id, model) = (fields.text("id")?, fields.text("model")?);
        Ok(Chunk { id, model, choices, usage: Some(self.usage), ..Chunk::default() })
    }

    /// Here tokens that were read before are counted apart from the others.
    fn count(&mut self, fields: &Fields<'_>) {
        let Ok(Some(usage)) = fields.object("usage") else { return };
        let number = |name| usage.number(name);
        // What a later event leaves out, an earlier one has said.
        let (was, of) = (self.usage, &mut self.usage);
        of.cached = number("cache_read_input_tokens").unwrap_or(was.cached);
        of.written = number("cache_creation_input_tokens").unwrap_or(was.written);
        let read = number("input_tokens")
            .unwrap_or(was.prompt.saturating_sub(was.cached.saturating_add(was.written)));
        of.prompt = read.saturating_add(of.cached).saturating_add(of.written);
        let details = usage.object("output_tokens_details").ok().flatten();
        let thought = details.and_then(|details| details.number("thinking_tokens"));
        self.usage.reasoning = thought.unwrap_or(self.usage.reasoning);
        self.usage.completion = number("output_tokens").unwrap_or(self.usage.completion);
    }
}

/// The last call of an answer that was cut at a limit: its arguments are shown as an object, as far as they came.
fn cut(call: &mut CallDelta) {
    let shown = call.arguments.as_deref().map(str::trim_end).and_then(|json| json.strip_suffix('}'));
    call.arguments = Some(shown.unwrap_or("{").to_owned());
}

impl Thought {
    fn signature(&self) -> Option<String> {
        (!self.seal.is_empty()).then(|| self.seal.clone())
    }

    /// The thought as the server wants it back. Without a seal it takes none.
    fn sealed(self) -> Option<Value> {
        let Self { text, seal } = self;
        (!seal.is_empty()).then(|| json!({"type": "thinking", "thinking": text, "signature": seal}))
    }
}

fn of(delta: Delta) -> Chunk {
    Chunk { choices: vec![delta], ..Chunk::default() }
}

fn finish(fields: &Fields<'_>, delta: &mut Delta) -> Result<(), WireError> {
    let reason = fields.text("stop_reason")?;
    delta.finish = reason.as_deref().map(|reason| match reason {
        "refusal" => Finish::ContentFilter,
        other => Finish::from_reason(other),
    });
    delta.reason = reason;
    delta.stopped_at = fields.text("stop_sequence")?;
    // It says so outside of the content, of which there may be none.
    if let Some(details) = fields.object("stop_details")? {
        delta.refusal = details.text("explanation")?.filter(|text| !text.is_empty());
    }
    Ok(())
}

fn block(kind: &str, block: &Fields<'_>, index: Option<u32>) -> Result<Delta, WireError> {
    let mut delta = Delta::default();
    match kind {
        "text" => delta.content = block.text("text")?,
        "thinking" => {
            delta.reasoning = block.text("thinking")?;
            delta.signature = block.text("signature")?.filter(|seal| !seal.is_empty());
        }
        // A thought that is shown to nobody.
        "redacted_thinking" => {
            delta.thinking_blocks.push(json!({"type": kind, "data": block.text("data")?}));
        }
        "tool_use" => {
            // It is empty in a stream, and comes later.
            let input =
                block.get("input").filter(|json| !json.trim_matches(['{', '}', ' ', '\n']).is_empty());
            let (id, name) = (block.text("id")?, block.text("name")?);
            let arguments = input.map(str::to_owned);
            delta.calls.push(CallDelta { index, id, name, arguments, ..CallDelta::default() });
        }
        "" => {}
        other => delta.unread.push(other.to_owned()),
    }
    Ok(delta)
}

fn delta(fields: &Fields<'_>, index: Option<u32>) -> Result<Delta, WireError> {
    let mut delta = Delta {
        content: fields.text("text")?,
        reasoning: fields.text("thinking")?,
        signature: fields.text("signature")?,
        ..Delta::default()
    };
    if let Some(arguments) = fields.text("partial_json")?.filter(|json| !json.is_empty()) {
        delta.calls.push(CallDelta { index, arguments: Some(arguments), ..CallDelta::default() });
    }
    Ok(delta)
}
