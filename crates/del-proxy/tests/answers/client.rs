//! A client that puts a stream together.

use std::collections::BTreeMap;

use del_dialects::{Dialects, Tool};
use del_proxy::answer::{Reader, Stream, translate, translate_between};
use del_wire::chat::to_client::Chat;
use del_wire::{FromServer, Ids};
use serde_json::{Map, Value, json};

/// What servers call thoughts, and clients after them.
const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];

/// What a client has of one choice in the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Assembled {
    pub(crate) role: String,
    pub(crate) content: String,
    pub(crate) reasoning: String,
    /// Ids, names and arguments.
    pub(crate) calls: Vec<(String, String, String)>,
    pub(crate) finish: Option<String>,
}

/// What a client has in the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Received {
    pub(crate) choices: BTreeMap<u64, Assembled>,
    pub(crate) events: Vec<Value>,
    pub(crate) error: Option<Value>,
    pub(crate) done: bool,
}

impl Assembled {
    /// Without calls that broke off: no client can run what is no JSON.
    pub(crate) fn usable(mut self) -> Self {
        self.calls.retain(|(_, _, arguments)| is_object(arguments));
        self
    }

    /// The choice of an answer that was not streamed.
    pub(crate) fn of(choice: &Value) -> Self {
        let message = &choice["message"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
            let function = &call["function"];
            (text(&call["id"]), text(&function["name"]), text(&function["arguments"]))
        });
        Self {
            role: text(&message["role"]),
            content: text(&message["content"]),
            reasoning: THOUGHTS.iter().map(|name| text(&message[*name])).collect(),
            calls: calls.collect(),
            finish: choice["finish_reason"].as_str().map(str::to_owned),
        }
    }

    fn add(&mut self, choice: &Value) {
        let delta = &choice["delta"];
        assert_eq!(self.finish, None, "nothing comes behind the end: {choice}");
        self.role.push_str(delta["role"].as_str().unwrap_or_default());
        self.content.push_str(delta["content"].as_str().unwrap_or_default());
        let thoughts = THOUGHTS.iter().filter_map(|name| delta[*name].as_str());
        self.reasoning.extend(thoughts);
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let place = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            let function = &call["function"];
            if place == self.calls.len() {
                assert_eq!((&call["type"], &function["arguments"]), (&json!("function"), &json!("")));
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                self.calls.push((text(&call["id"]), text(&function["name"]), String::new()));
            } else {
                assert!(place + 1 == self.calls.len() && call.get("id").is_none(), "{call}");
            }
            // What can run is whole: nothing is added to it.
            assert!(!is_object(&self.calls[place].2), "{call}");
            self.calls[place].2.push_str(function["arguments"].as_str().unwrap());
        }
        self.finish = choice["finish_reason"].as_str().map(str::to_owned);
    }
}

impl Received {
    /// Reads what came, event by event as any client does.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut received = Self::default();
        let text = std::str::from_utf8(bytes).unwrap();
        let comment = |event: &&str| event.starts_with(": x-del-changed-arguments: ");
        for event in text.split_terminator("\n\n").filter(|event| !comment(event)) {
            let data = event.strip_prefix("data: ").unwrap_or_else(|| panic!("no event: {event}"));
            assert!(!received.done, "nothing comes behind [DONE]");
            if data == "[DONE]" {
                received.done = true;
                continue;
            }
            let chunk: Value = serde_json::from_str(data).unwrap();
            if let Some(error) = chunk.get("error") {
                received.error = Some(error.clone());
            }
            for choice in chunk["choices"].as_array().into_iter().flatten() {
                received.choices.entry(choice["index"].as_u64().unwrap()).or_default().add(choice);
            }
            received.events.push(chunk);
        }
        received
    }

    pub(crate) fn only(self) -> Assembled {
        assert_eq!(self.choices.len(), 1, "{self:?}");
        self.choices.into_values().next().unwrap()
    }
}

/// A reader of all dialects.
pub(crate) fn reader(tools: &[Tool]) -> Reader {
    Reader { tools: tools.into(), ..Reader::new(Dialects::builtin()) }
}

/// What a client gets of these bytes, cut like this.
pub(crate) fn stream<'b>(reader: &Reader, pieces: impl IntoIterator<Item = &'b [u8]>) -> Received {
    let mut stream = Stream::new(reader.clone(), Ids::default());
    let mut out = Vec::new();
    for piece in pieces {
        stream.push(piece, &mut out);
    }
    if !stream.is_over() {
        stream.end(None, &mut out);
    }
    Received::read(&out)
}

/// What a client of chats gets of these bytes of another server.
pub(crate) fn stream_between<'b>(
    reader: &Reader,
    server: FromServer,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> Assembled {
    let mut stream = Stream::between(reader.clone(), Ids::default(), server, Box::new(Chat::new(0, false)));
    let mut out = Vec::new();
    pieces.into_iter().for_each(|piece| stream.push(piece, &mut out));
    stream.end(None, &mut out);
    Received::read(&out).only()
}

/// The same of an answer that comes at once.
pub(crate) fn whole_between(reader: &Reader, server: FromServer, body: &str) -> Assembled {
    let answer = translate_between(reader, Ids::default(), body, server, &mut Chat::new(0, false)).unwrap();
    let completion: Value = serde_json::from_str(&answer.body).unwrap();
    Assembled::of(&completion["choices"][0])
}

/// What a client gets of a message that comes at once.
pub(crate) fn whole(reader: &Reader, message: &Value, finish: &str) -> Assembled {
    let body = json!({"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": finish}]});
    let answer = translate(reader, Ids::default(), &body.to_string()).unwrap();
    let completion: Value = serde_json::from_str(&answer.body).unwrap();
    Assembled::of(&completion["choices"][0])
}

/// A stream that says these texts, one after the other.
pub(crate) fn says<'t>(texts: impl IntoIterator<Item = &'t str>, finish: &str) -> String {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let chunk = json!({"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let mut out = chunk(json!({"role": "assistant", "content": ""}), Value::Null);
    out.extend(texts.into_iter().map(|text| chunk(json!({"content": text}), Value::Null)));
    out.push_str(&chunk(json!({}), json!(finish)));
    out.push_str("data: [DONE]\n\n");
    out
}

pub(crate) fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}
