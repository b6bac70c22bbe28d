//! A scripted server and user.

use del_agent::{Agent, Done, Effect, Entry, Input, Notice, Settings, SettingsError, ToolsMode, View};
use del_dialects::{Call, CallResult, Dialects, ReadCall, Tool};
use serde_json::{Value, json};

/// An agent and what it has shown.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) agent: Agent,
    pub(crate) shown: Vec<String>,
    notices: Vec<Notice>,
}

pub(crate) fn settings() -> Settings {
    let tool = |name: &str, description: &str| {
        Tool {
        name: name.into(),
        description: description.into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["path"]}).into(),
    }
    };
    Settings {
        model: "m".into(),
        system: "You are Del.".into(),
        tools: vec![
            tool("read_file", "Reads a file. Use it for 'src/main.py'."),
            tool("write_file", "Writes a file."),
        ],
        ..Settings::default()
    }
}

pub(crate) fn prompt_mode() -> Settings {
    Settings { tools_mode: ToolsMode::Prompt, ..settings() }
}

impl Talk {
    pub(crate) fn new(settings: Settings) -> Self {
        Self::try_new(settings).unwrap()
    }

    pub(crate) fn try_new(settings: Settings) -> Result<Self, SettingsError> {
        Ok(Self { agent: Agent::new(Dialects::builtin(), settings)?, shown: Vec::new(), notices: Vec::new() })
    }

    pub(crate) fn with_entries(settings: Settings, entries: Vec<Entry>) -> Self {
        let mut talk = Self::new(settings);
        talk.agent = talk.agent.with_entries(entries);
        talk
    }

    pub(crate) fn reconfigure(self, settings: Settings) -> Self {
        Self { agent: self.agent.reconfigure(settings).unwrap(), ..self }
    }

    pub(crate) fn step(&mut self, input: Input<'_>) -> Effect {
        let (shown, notices) = (&mut self.shown, &mut self.notices);
        self.agent.step(input, &mut |view| match view {
            View::Notice(notice) => notices.push(notice.clone()),
            View::Text(text) => shown.push(format!("text {text}")),
            View::Reasoning(text) => shown.push(format!("reasoning {text}")),
            View::CallStart { call, name, dialect, .. } => {
                shown.push(format!("start {call} {name} {dialect}"));
            }
            View::Args { call, json } => shown.push(format!("args {call} {json}")),
            View::Repeating(repeats) => shown.push(format!("repeating {repeats}")),
            View::CallEnd { call } => shown.push(format!("end {call}")),
            View::Fault { fault, .. } => shown.push(format!("fault {}", fault.kind)),
            _ => {}
        })
    }

    /// The user asks; the body of the request.
    pub(crate) fn ask(&mut self, text: &str) -> Value {
        request(self.step(Input::Start(text)))
    }

    /// The server answers with these chunks, as a stream cut into small pieces.
    pub(crate) fn answer(&mut self, chunks: &[Value]) -> Effect {
        self.shown.clear();
        for piece in sse(chunks).as_bytes().chunks(7) {
            match self.step(Input::Bytes(piece)) {
                Effect::Continue => {}
                effect => return effect,
            }
        }
        self.step(Input::End)
    }

    pub(crate) fn answer_with_calls(&mut self, chunks: &[Value]) -> Vec<Call> {
        match self.answer(chunks) {
            Effect::Run(calls) => plain(calls),
            effect => panic!("expected calls, got {effect:?}"),
        }
    }

    pub(crate) fn answer_with_text(&mut self, chunks: &[Value]) -> Done {
        match self.answer(chunks) {
            Effect::Done(done) => done,
            effect => panic!("expected an answer, got {effect:?}"),
        }
    }

    /// The tools have run; the body of the next request.
    pub(crate) fn give(&mut self, results: Vec<CallResult>) -> Value {
        request(self.step(Input::Results(results)))
    }

    pub(crate) fn refuse(&mut self, status: u16, body: &str, retry_after: Option<u64>) -> Effect {
        self.step(Input::Refused { status, body, retry_after })
    }

    pub(crate) fn notices(&self) -> &[Notice] {
        &self.notices
    }

    pub(crate) fn shown_text(&self) -> String {
        self.shown.iter().filter_map(|shown| shown.strip_prefix("text ")).collect()
    }

    pub(crate) fn shown_calls(&self) -> Vec<&str> {
        self.shown.iter().map(String::as_str).filter(|shown| !shown.starts_with("text ")).collect()
    }
}

pub(crate) fn request(effect: Effect) -> Value {
    match effect {
        Effect::Request(body) => body,
        effect => panic!("expected a request, got {effect:?}"),
    }
}

pub(crate) fn sse(chunks: &[Value]) -> String {
    let events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{}data: [DONE]\n\n", events.concat())
}

/// A text in pieces, the end, the usage.
pub(crate) fn text_answer(pieces: &[&str]) -> Vec<Value> {
    let mut chunks =
        vec![json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": null}}]})];
    chunks.extend(pieces.iter().map(|piece| json!({"choices": [{"index": 0, "delta": {"content": piece}}]})));
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": null}));
    chunks.push(usage());
    chunks
}

/// One call over the API; its last chunk says the end and the usage.
pub(crate) fn native_call(id: &str, name: &str, arguments: &[&str]) -> Vec<Value> {
    let call = |value: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [value]}}]});
    let mut chunks = vec![call(
        json!({"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}),
    )];
    chunks.extend(arguments.iter().map(|piece| call(json!({"index": 0, "function": {"arguments": piece}}))));
    let mut last = usage();
    last["choices"] = json!([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]);
    chunks.push(last);
    chunks
}

fn usage() -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}})
}

pub(crate) fn call_text(name: &str, arguments: &str) -> String {
    format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>")
}

pub(crate) fn tool_results(calls: &[Call], text: &str) -> Vec<CallResult> {
    calls
        .iter()
        .map(|call| CallResult { id: call.id.clone(), name: call.name.clone(), text: text.into(), ok: true })
        .collect()
}

/// The calls without what was guessed in them.
pub(crate) fn plain(calls: Vec<ReadCall>) -> Vec<Call> {
    calls.into_iter().map(|read| read.call).collect()
}
