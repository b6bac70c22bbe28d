//! A streamed answer.

use std::collections::BTreeMap;

use del_dialects::End;
use del_wire::{Chunk, Decoder, Delta, Finish, Frame, Ids};
use serde_json::{Map, Value, json};

use super::choice::{Choice, Piece};
use super::{CHANGED, Reader};
use crate::refusal;

/// Turns the bytes of a streamed answer into those for the client. Where either is cut cannot show in what it says.
///
/// Each chunk keeps the members that are not known here. The last event is `[DONE]`, or an error.
#[derive(Debug)]
pub struct Stream {
    reader: Reader,
    ids: Ids,
    decoder: Decoder,
    choices: BTreeMap<u32, Choice>,
    /// The last chunk without its choices, for chunks that the server did not send.
    envelope: Map<String, Value>,
    over: bool,
}

/// The API allows no more.
const MOST_CHOICES: usize = 128;

impl Stream {
    /// Nothing yet. `ids` are for calls that have none.
    pub fn new(reader: Reader, ids: Ids) -> Self {
        Self {
            reader,
            ids,
            decoder: Decoder::new(),
            choices: BTreeMap::new(),
            envelope: Map::new(),
            over: false,
        }
    }

    /// True when nothing more is to come, whatever the server still says.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Takes bytes of the server, and adds what follows from them to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut decoder = std::mem::take(&mut self.decoder);
        let pushed = decoder.push(bytes, &mut |frame| self.frame(frame, out));
        self.decoder = decoder;
        if let Err(error) = pushed {
            self.fail(&error.to_string(), out);
        }
    }

    /// The server's answer has ended; `broken` says why, where it ended otherwise than answers do.
    pub fn end(&mut self, broken: Option<&str>, out: &mut Vec<u8>) {
        if broken.is_none() {
            // The last line counts without its end; half of one is what a broken connection leaves.
            self.push(b"\n", out);
        }
        let decoder = std::mem::take(&mut self.decoder);
        let stray = decoder.stray().map(str::to_owned);
        if broken.is_none()
            && let Err(error) = decoder.finish(&mut |frame| self.frame(frame, out))
        {
            self.fail(&error.to_string(), out);
        }
        if self.over {
            return;
        }
        if self.choices.is_empty() && broken.is_none() {
            let got = stray.map_or_else(|| "an empty body".to_owned(), |line| format!("`{line}`"));
            return self.fail(&format!("expected a stream of chat completion chunks, got {got}"), out);
        }
        if broken.is_none() && self.choices.values().all(Choice::is_over) {
            return self.done(out);
        }
        self.flush(End::Cut, false, out);
        let reason = broken.unwrap_or("its stream ended");
        self.fail(&format!("the model server broke off in the middle of its answer: {reason}"), out);
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        match frame {
            Frame::Done => {
                self.flush(End::End, true, out);
                self.done(out);
            }
            Frame::Data { data, .. } => {
                if let Err(reason) = self.chunk(data, out) {
                    self.fail(&reason, out);
                }
            }
        }
    }

    fn chunk(&mut self, data: &str, out: &mut Vec<u8>) -> Result<(), String> {
        let chunk = Chunk::read(data).map_err(|error| error.to_string())?;
        let mut envelope: Map<String, Value> =
            serde_json::from_str(data).map_err(|error| error.to_string())?;
        if let Some(error) = chunk.error {
            let shaped = envelope.get("error").is_some_and(Value::is_object);
            let event = if shaped { Value::Object(envelope) } else { refusal::upstream(&error.message) };
            write(&event, out);
            self.over = true;
            return Ok(());
        }
        if chunk.choices.is_empty() {
            write(&Value::Object(envelope), out);
            return Ok(());
        }
        let choices = envelope.shift_remove("choices");
        let usage = envelope.get("usage").is_some_and(|usage| !usage.is_null());
        let usage = if usage { envelope.shift_remove("usage") } else { None };
        envelope.insert("object".to_owned(), json!("chat.completion.chunk"));
        self.envelope = envelope;
        let mut told = Vec::new();
        for (place, delta) in chunk.choices.iter().enumerate() {
            let raw = choices.as_ref().and_then(|list| list.get(place)?.as_object());
            self.choice(delta, raw, &mut told)?;
        }
        if let Some(usage) = usage {
            match told.last_mut() {
                Some(last) => last["usage"] = usage,
                None => {
                    let mut alone = self.wrapped(Vec::new());
                    alone["usage"] = usage;
                    told.push(alone);
                }
            }
        }
        for chunk in &told {
            write(chunk, out);
        }
        Ok(())
    }

    /// What a delta adds to a choice; `raw` is the choice in the server's words.
    fn choice(
        &mut self,
        delta: &Delta,
        raw: Option<&Map<String, Value>>,
        told: &mut Vec<Value>,
    ) -> Result<(), String> {
        let index = delta.choice;
        if self.choices.len() >= MOST_CHOICES && !self.choices.contains_key(&index) {
            return Err(format!("expected at most {MOST_CHOICES} choices, got more"));
        }
        let fresh = !self.choices.contains_key(&index);
        let choice = self.choices.entry(index).or_insert_with(|| Choice::new(&self.reader));
        if choice.is_over() {
            return Ok(());
        }
        choice.push(delta, &self.reader, &mut self.ids);
        let reason = delta.finish.map(|finish| {
            let end = if finish == Finish::Length { End::Cut } else { End::End };
            choice.finish(end, &self.reader, &mut self.ids);
            let said = raw.and_then(|raw| raw.get("finish_reason")?.as_str());
            choice.reason(Some(finish), said)
        });
        let mut deltas: Vec<Map<String, Value>> = choice.pieces().into_iter().map(written).collect();
        let (beside, inside) = unknown(raw);
        if fresh {
            deltas.insert(0, map(json!({"role": "assistant", "content": null})));
        } else if deltas.is_empty() && (!inside.is_empty() || beside.values().any(|value| !value.is_null())) {
            deltas.push(Map::new());
        }
        if let Some(first) = deltas.first_mut() {
            first.extend(inside);
        }
        let mut beside = Some(beside);
        for delta in deltas {
            let mut choice = map(json!({"index": index, "delta": delta}));
            choice.extend(beside.take().unwrap_or_default());
            choice.insert("finish_reason".to_owned(), Value::Null);
            told.push(self.wrapped(vec![Value::Object(choice)]));
        }
        if let Some(reason) = reason {
            told.push(self.ended(index, &reason));
        }
        Ok(())
    }

    /// Ends every choice that the server did not end. Only where it said that it was done, clients are told so.
    fn flush(&mut self, end: End, done: bool, out: &mut Vec<u8>) {
        let mut told = Vec::new();
        for (&index, choice) in self.choices.iter_mut().filter(|(_, choice)| !choice.is_over()) {
            choice.finish(end, &self.reader, &mut self.ids);
            for piece in choice.pieces() {
                told.push(json!({"index": index, "delta": written(piece), "finish_reason": null}));
            }
            if done {
                told.push(json!({"index": index, "delta": {}, "finish_reason": choice.reason(None, None)}));
            }
        }
        for choice in told {
            write(&self.wrapped(vec![choice]), out);
        }
    }

    fn ended(&self, index: u32, reason: &str) -> Value {
        self.wrapped(vec![json!({"index": index, "delta": {}, "finish_reason": reason})])
    }

    fn wrapped(&self, choices: Vec<Value>) -> Value {
        let mut chunk = self.envelope.clone();
        chunk.insert("choices".to_owned(), Value::Array(choices));
        Value::Object(chunk)
    }

    fn done(&mut self, out: &mut Vec<u8>) {
        let changed: Vec<&str> = self.choices.values().flat_map(Choice::changed).collect();
        if !changed.is_empty() {
            out.extend_from_slice(format!(": {CHANGED}: {}\n\n", changed.join(",")).as_bytes());
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
        self.over = true;
    }

    fn fail(&mut self, reason: &str, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.over, true) {
            write(&refusal::upstream(reason), out);
        }
    }
}

/// Members of a choice, and of its delta, that are not known here.
fn unknown(raw: Option<&Map<String, Value>>) -> (Map<String, Value>, Map<String, Value>) {
    const CHOICE: [&str; 5] = ["index", "delta", "message", "text", "finish_reason"];
    let Some(raw) = raw else { return (Map::new(), Map::new()) };
    let delta = raw.get("delta").or_else(|| raw.get("message")).and_then(Value::as_object);
    let delta = delta.map(|delta| without(delta, &super::whole::KNOWN)).unwrap_or_default();
    (without(raw, &CHOICE), delta)
}

pub(super) fn without(members: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    let unknown = members.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    unknown.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// A piece as the delta that adds it.
fn written(piece: Piece) -> Map<String, Value> {
    map(match piece {
        Piece::Reasoning(text) => json!({"reasoning_content": text}),
        Piece::Text(text) => json!({"content": text}),
        Piece::Call { index, id, name } => json!({"tool_calls": [
            {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]}),
        Piece::Arguments { index, json } => {
            json!({"tool_calls": [{"index": index, "function": {"arguments": json}}]})
        }
    })
}

fn map(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

fn write(event: &Value, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("data: {event}\n\n").as_bytes());
}
