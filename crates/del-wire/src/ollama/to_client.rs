//! Answers in the shape of Ollama's API: a JSON object on each line.

use serde_json::Value;

use crate::chunk::{Times, Usage};
use crate::members::{Members, json_text};
use crate::told::{Block, Blocks, Failure, Piece, ToClient, Told};

/// Writes answers of Ollama's API. Of several choices the first is told.
#[derive(Debug)]
pub struct Ollama {
    model: String,
    created: String,
    /// It answers a request for the completion of one prompt.
    generate: bool,
    /// Calls go out whole.
    open: Option<Open>,
    reason: Option<String>,
    usage: Usage,
    times: Times,
    /// How likely the tokens were whose text has not gone out.
    logprobs: Vec<Value>,
}

/// A call on its way.
#[derive(Debug)]
struct Open {
    index: u32,
    id: String,
    name: String,
    arguments: String,
}

impl Ollama {
    /// Nothing yet. `created` is the time as RFC 3339 has it; `generate` completes a prompt in place of a chat.
    pub fn new(model: impl Into<String>, created: impl Into<String>, generate: bool) -> Self {
        Self {
            model: model.into(),
            created: created.into(),
            generate,
            open: None,
            reason: None,
            usage: Usage::default(),
            times: Times::default(),
            logprobs: Vec::new(),
        }
    }

    fn line(&mut self, text: &str, thinking: &str, calls: Vec<Members>, done: bool) -> Members {
        let mut line = Members::default();
        line.add_text("model", &self.model);
        line.add_text("created_at", &self.created);
        let mut said = Members::default();
        if !self.generate {
            said.add_text("role", "assistant");
        }
        said.add_text(if self.generate { "response" } else { "content" }, text);
        if !thinking.is_empty() {
            said.add_text("thinking", thinking);
        }
        if !calls.is_empty() {
            said.add_list("tool_calls", calls);
        }
        if self.generate {
            line.append(said);
        } else {
            line.add_object("message", &said);
        }
        line.add("done", if done { "true" } else { "false" });
        if done {
            if !self.logprobs.is_empty() {
                line.add_value("logprobs", &std::mem::take(&mut self.logprobs));
            }
            let known = |reason: &&str| matches!(*reason, "length" | "load" | "unload");
            line.add_text("done_reason", self.reason.as_deref().filter(known).unwrap_or("stop"));
            for (name, number) in [
                ("total_duration", self.times.total),
                ("load_duration", self.times.load),
                ("prompt_eval_count", self.usage.prompt),
                ("prompt_eval_duration", self.times.prompt),
                ("eval_count", self.usage.completion),
                ("eval_duration", self.times.completion),
            ] {
                line.add_number(name, number);
            }
        }
        line
    }

    /// A line with more text or thinking. Streams consist of these, so no [`Value`] is made of them.
    fn more(&mut self, text: &str, thinking: &str, out: &mut Vec<u8>) {
        let (open, close): (&[u8], &[u8]) = if self.generate {
            (b",\"response\":", b",\"done\":false")
        } else {
            (b",\"message\":{\"role\":\"assistant\",\"content\":", b"},\"done\":false")
        };
        out.extend_from_slice(b"{\"model\":");
        json_text(&self.model, out);
        out.extend_from_slice(b",\"created_at\":");
        json_text(&self.created, out);
        out.extend_from_slice(open);
        json_text(text, out);
        if !thinking.is_empty() {
            out.extend_from_slice(b",\"thinking\":");
            json_text(thinking, out);
        }
        out.extend_from_slice(close);
        if !text.is_empty() && !self.logprobs.is_empty() {
            let list = Value::Array(std::mem::take(&mut self.logprobs));
            out.extend_from_slice(format!(",\"logprobs\":{list}").as_bytes());
        }
        out.extend_from_slice(b"}\n");
    }

    fn piece(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Text(text) | Piece::Refusal(text) => self.more(text, "", out),
            Piece::Reasoning(text) => self.more("", text, out),
            Piece::Call { index, id, name } => {
                let (id, name) = (id.clone(), name.clone());
                self.open = Some(Open { index: *index, id, name, arguments: String::new() });
            }
            Piece::Arguments { json, .. } => {
                if let Some(open) = &mut self.open {
                    open.arguments.push_str(json);
                }
            }
            Piece::CallEnd { .. } => {
                if let Some(Open { index, id, name, arguments }) = self.open.take() {
                    let call = call(index, &id, &name, &arguments);
                    write(&self.line("", "", vec![call], false), out);
                }
            }
            Piece::Paragraph
            | Piece::Signature(_)
            | Piece::Redacted(_)
            | Piece::Citation(_)
            | Piece::Compaction(_)
            | Piece::Details(_)
            | Piece::Beside { .. }
            | Piece::Custom { .. }
            | Piece::Input { .. } => {}
        }
    }
}

impl ToClient for Ollama {
    fn tell(&mut self, told: &Told<'_>, out: &mut Vec<u8>) {
        self.usage = told.chunk.usage.unwrap_or(self.usage);
        for new in told.choices.iter().filter(|new| new.index == 0) {
            self.logprobs.extend(told.logprobs(new));
            self.times = told.times(new).unwrap_or(self.times);
            new.pieces.iter().for_each(|piece| self.piece(piece, out));
            self.reason = new.reason.clone().or_else(|| self.reason.take());
        }
    }

    fn done(&mut self, _: &[(&str, String)], out: &mut Vec<u8>) {
        write(&self.line("", "", Vec::new(), true), out);
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        let mut line = Members::default();
        line.add_text("error", failure.message);
        write(&line, out);
    }

    fn whole(&mut self, told: &Told<'_>) -> String {
        self.usage = told.chunk.usage.unwrap_or_default();
        let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
        if let Some(new) = told.choices.first() {
            self.reason.clone_from(&new.reason);
            self.logprobs = told.logprobs(new);
            self.times = told.times(new).unwrap_or_default();
            for block in Blocks::of(&new.pieces).whole() {
                match block {
                    Block::Text { text: more, .. } | Block::Refusal(more) => text.push_str(more),
                    Block::Reasoning { text: more, .. } => thinking.push_str(more),
                    Block::Call { id, name, arguments, .. } => {
                        calls.push(call(u32::try_from(calls.len()).unwrap_or(u32::MAX), id, name, arguments));
                    }
                    Block::Redacted(_) | Block::Compaction(_) | Block::Custom { .. } => {}
                }
            }
        }
        self.line(&text, &thinking, calls, true).into_text()
    }

    fn in_one(&self) -> bool {
        true
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    /// Clients read each line as JSON, but none of the white space between.
    fn keep_alive(&self) -> &'static str {
        ""
    }
}

fn call(index: u32, id: &str, name: &str, arguments: &str) -> Members {
    let (mut function, mut call) = (Members::default(), Members::default());
    function.add_number("index", index.into());
    function.add_text("name", name);
    function.add_arguments("arguments", arguments);
    call.add_text("id", id);
    call.add_object("function", &function);
    call
}

fn write(line: &Members, out: &mut Vec<u8>) {
    line.write(out);
    out.push(b'\n');
}
