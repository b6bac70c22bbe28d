//! A request as the page shows it.

use std::time::UNIX_EPOCH;

use del_agent::Mode;
use del_dialects::{Collect, End, Message, Parser, Turn as Told};
use del_wire::time::rfc3339;
use del_wire::{Assembly, Decoder, Delta, Finish, Frame, FromServer, Heard};
use serde_json::{Value, json};

use super::Lens;
use super::completed::completed;
use super::reading::Reading;
use super::record::{Entry, Kept, Turn};
use crate::answer::Reader;

/// What a server said, put together.
#[derive(Debug, Default)]
struct Said {
    text: String,
    reasoning: String,
    native: Collect,
    calls: Vec<Value>,
    finish: Option<Finish>,
    reason: Option<String>,
    error: Option<String>,
    /// There was more than is kept.
    cut: bool,
}

impl Entry {
    /// Its line in the list.
    pub(crate) fn line(&self) -> Value {
        self.facts(&self.kept())
    }

    fn facts(&self, kept: &Kept) -> Value {
        let at = self.at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let state = match (kept.end, kept.status) {
            (None, _) => "open",
            (Some(_), Some(status)) if status >= 400 => "failed",
            (Some(_), _) if !kept.whole => "cut",
            _ => "done",
        };
        json!({
            "id": self.id, "at": rfc3339(at), "path": self.path, "model": kept.model, "state": state,
            "status": kept.status, "turns": kept.turns.len(), "asked": kept.asked.all, "given": kept.given.all,
            "head": kept.head, "first": kept.first, "end": kept.end,
        })
    }

    /// All of it.
    pub(crate) fn page(&self) -> Value {
        let kept = self.kept();
        let mut page = self.facts(&kept);
        page["asked"] = part(&kept.asked.bytes, kept.asked.all);
        page["given"] = part(&kept.given.bytes, kept.given.all);
        page["turns"] = kept.turns.iter().map(turn).collect();
        page
    }

    /// One answer as a case file: the dialect of its calls, and its text.
    pub(crate) fn case(&self, number: usize, lens: &dyn Lens) -> Option<(String, String)> {
        let kept = self.kept();
        let turn = kept.turns.get(number)?;
        let said = Said::of(turn);
        let (end, parser) = (said.end(), parser(turn.reader.as_ref()?));
        let (_, message): (Value, Message) = Reading::of(&said.text, parser, end).json(&said.text);
        let dialect = message.dialect.clone().unwrap_or_else(|| "no-dialect".to_owned());
        let about = format!("What {} wrote, seen by the proxy.", kept.model);
        Some((dialect, lens.case(&about, &said.text, end, &message)))
    }
}

/// What is kept of a body that had so many bytes.
fn part(kept: &[u8], all: usize) -> Value {
    json!({"text": String::from_utf8_lossy(kept), "bytes": all, "kept": kept.len(), "cut": all > kept.len()})
}

fn turn(turn: &Turn) -> Value {
    let said = Said::of(turn);
    let mode = turn.mode.map(|mode| match mode {
        Mode::Native => "native",
        Mode::Prompt => "prompt",
    });
    let reading = turn.reader.as_ref().filter(|reader| reader.reads).map(|reader| {
        let (mut json, _) = Reading::of(&said.text, parser(reader), said.end()).json(&said.text);
        json["alone"] = json!(reader.dialect.as_ref().map(|dialect| dialect.name().to_owned()));
        json
    });
    json!({
        "mode": mode, "sent": part(&turn.sent.bytes, turn.sent.all), "status": turn.status,
        "answer": part(&turn.answer.bytes, turn.answer.all),
        "begun": turn.begun, "head": turn.head, "first": turn.first, "end": turn.end,
        "text": said.text, "reasoning": said.reasoning, "calls": said.calls, "finish": said.reason, "error": said.error,
        "reading": reading,
    })
}

fn parser(reader: &Reader) -> Parser {
    let told = Told::new(std::sync::Arc::clone(&reader.tools));
    match &reader.dialect {
        Some(dialect) => dialect.parser(told),
        None => reader.dialects.parser(told),
    }
}

impl Said {
    fn of(turn: &Turn) -> Self {
        let bytes = &turn.answer.bytes;
        let mut said = Self { cut: turn.answer.all > bytes.len(), ..Self::default() };
        let mut server = turn.api.reader();
        let mut assembly = Assembly::new();
        let whole = String::from_utf8_lossy(bytes);
        let streams = !whole.trim_start().starts_with('{') || turn.api == del_wire::ServerApi::Ollama;
        if streams {
            let mut decoder = Decoder::new();
            let mut frames = |frame: Frame<'_>| {
                if let Frame::Data { data, .. } = frame {
                    said.event(&mut server, data, &mut assembly);
                }
            };
            let pushed = decoder.push(bytes, &mut frames);
            if pushed.is_ok() {
                let _ = decoder.push(b"\n\n", &mut frames);
            }
        } else if let Ok(chunk) = server.whole(&if said.cut { completed(&whole).into() } else { whole }) {
            said.error = chunk.error.map(|error| error.message);
            chunk.choices.iter().for_each(|delta| said.delta(delta, &mut assembly));
        }
        assembly.finish(said.end(), &(0..0), &mut said.native);
        let calls = std::mem::take(&mut said.native).into_message().calls;
        said.calls =
            calls.iter().map(|call| json!({"name": call.name, "arguments": call.arguments})).collect();
        said
    }

    fn event(&mut self, server: &mut FromServer, data: &str, calls: &mut Assembly) {
        if let Ok(Heard::Chunk(chunk, _)) = server.event(data) {
            let error = chunk.error.as_ref().map(|error| error.message.clone());
            self.error = error.or_else(|| self.error.take());
            chunk.choices.iter().for_each(|delta| self.delta(delta, calls));
        }
    }

    /// Of several choices the first is shown.
    fn delta(&mut self, delta: &Delta, calls: &mut Assembly) {
        if delta.choice != 0 {
            return;
        }
        self.text.push_str(delta.content.as_deref().unwrap_or_default());
        self.text.push_str(delta.refusal.as_deref().unwrap_or_default());
        self.reasoning.push_str(delta.reasoning.as_deref().unwrap_or_default());
        self.finish = delta.finish.or(self.finish);
        self.reason = delta.reason.clone().or_else(|| self.reason.take());
        for piece in &delta.calls {
            calls.push(piece, &(0..0), &mut self.native);
        }
    }

    fn end(&self) -> End {
        if self.cut || self.finish == Some(Finish::Length) { End::Cut } else { End::End }
    }
}
