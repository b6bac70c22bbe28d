//! An assistant message with `tool_calls`, as the API writes it: to a message and back.
//!
//! Read are a message alone, a whole completion (its first choice), an answer of Ollama's own API, and a list of
//! `tool_calls`; arguments as JSON text or as an object; `function_call` of old.

use del_dialects::{Call, Collect, End, Event, Message, Sink};
use serde_json::{Value, json};

use crate::assembly::Assembly;
use crate::chunk::{Chunk, Delta, message};
use crate::error::WireError;
use crate::fields::{Fields, list};
use crate::ids::Ids;

pub use crate::assembly::NATIVE as NAME;

/// Reads a document. Calls that cannot be used are faults in the message, as everywhere.
pub fn read(text: &str) -> Result<Message, WireError> {
    let mut collect = Collect::new();
    read_into(text, &mut collect)?;
    Ok(collect.into_message())
}

/// Reads a document as events; each names the whole document as its place.
pub fn read_into(text: &str, sink: &mut impl Sink) -> Result<(), WireError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let delta = delta(text)?;
    let span = 0..text.len() as u64;
    if let Some(reasoning) = delta.reasoning.filter(|reasoning| !reasoning.is_empty()) {
        sink.event(Event::Reasoning(&reasoning), span.clone());
    }
    if let Some(content) = delta.content.filter(|content| !content.is_empty()) {
        sink.event(Event::Text(&content), span.clone());
    }
    if let Some(refusal) = delta.refusal {
        sink.event(Event::Text(&refusal), span.clone());
    }
    let mut assembly = Assembly::new();
    for piece in &delta.calls {
        assembly.push(piece, &span, sink);
    }
    assembly.finish(End::End, &span, sink);
    Ok(())
}

/// Writes an assistant message. Content is never null: some servers' templates cannot take it.
pub fn write(content: &str, calls: &[Call], ids: &mut Ids) -> Value {
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] =
            calls.iter().map(|call| call_json(&ids.keep_or_mint(call.id.as_deref()), call)).collect();
    }
    message
}

/// One element of `tool_calls`.
pub fn call_json(id: &str, call: &Call) -> Value {
    json!({"id": id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
}

fn delta(text: &str) -> Result<Delta, WireError> {
    const EXPECTED: &str = "an assistant message with `content` or `tool_calls`, or a completion";
    if text.trim_start().starts_with('[') {
        list(text, "document")?;
        let wrapped = format!("{{\"tool_calls\":{text}}}");
        return message(&Fields::read(&wrapped, "document")?, true);
    }
    let fields = Fields::read(text, "document")?;
    if fields.has("choices") || fields.has("message") {
        let mut choices = Chunk::read(text)?.choices;
        return if choices.is_empty() {
            Err(WireError::shape("choices", "a choice", text))
        } else {
            Ok(choices.remove(0))
        };
    }
    if ["content", "tool_calls", "function_call"].iter().any(|name| fields.has(name)) {
        return message(&fields, true);
    }
    Err(WireError::shape("document", EXPECTED, text))
}

#[cfg(test)]
mod tests {
    use del_dialects::{Call, Dialect, FaultKind, Message};
    use serde_json::json;

    use super::{NAME, read, write};
    use crate::ids::Ids;

    const DEVSTRAL: &str = r#"{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_abc123","type":"function","function":{"name":"read_file","arguments":"{\"file_path\": \"src/main.py\"}"}}]}}]}"#;

    fn calls(message: &Message) -> Vec<(&str, &str)> {
        message.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }

    #[test]
    fn the_devstral_document() {
        let message = read(DEVSTRAL).unwrap();
        assert_eq!(message.dialect.as_deref(), Some(NAME));
        assert_eq!(calls(&message), [("read_file", r#"{"file_path": "src/main.py"}"#)]);
        assert_eq!(message.calls[0].id.as_deref(), Some("call_abc123"));
        assert!(message.faults.is_empty());
    }

    #[test]
    fn every_wrapping_gives_the_same_call() {
        let inner = r#"{"function":{"name":"f","arguments":{"a":1}}}"#;
        for document in [
            format!("[{inner}]"),
            format!(r#"{{"role":"assistant","tool_calls":[{inner}]}}"#),
            format!(r#"{{"message":{{"content":"","tool_calls":[{inner}]}},"done":true}}"#),
            format!(r#"{{"choices":[{{"message":{{"tool_calls":[{inner}]}}}}]}}"#),
            r#"{"content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}}"#.to_owned(),
        ] {
            assert_eq!(calls(&read(&document).unwrap()), [("f", r#"{"a":1}"#)], "{document}");
        }
    }

    #[test]
    fn a_call_that_cannot_be_used_is_a_fault() {
        let message = read(
            r#"{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":"}},{"function":{"name":"g","arguments":"[1]"}},{"function":{"arguments":"{}"}},{"function":{"name":"h"}}]}"#,
        )
        .unwrap();
        assert_eq!(calls(&message), [("h", "{}")]);
        let kinds: Vec<_> = message.faults.iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::UnclosedCall, FaultKind::BadArguments, FaultKind::BadCall]);
        assert_eq!(message.faults[0].call.as_ref().unwrap().arguments, r#"{"a":"#);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let call =
            |id: &str| Call { id: Some(id.into()), name: "f".into(), arguments: r#"{"s":"\"é"}"#.into() };
        let written = write("text", &[call("x"), call("y")], &mut Ids::default());
        let message = read(&written.to_string()).unwrap();
        assert_eq!((message.content.as_str(), message.calls), ("text", vec![call("x"), call("y")]));
        assert_eq!(write("", &[], &mut Ids::default()), json!({"role": "assistant", "content": ""}));
    }

    #[test]
    fn a_refusal_is_what_was_said() {
        let message = read(r#"{"choices":[{"message":{"content":null,"refusal":"No."}}]}"#).unwrap();
        assert_eq!((message.content.as_str(), message.calls.len()), ("No.", 0));
    }

    #[test]
    fn no_dialect_has_its_name() {
        let error = Dialect::from_toml(NAME, "").unwrap_err();
        assert!(error.message.contains("taken"), "{error}");
    }

    #[test]
    fn other_documents_say_what_was_expected() {
        let error = read(r#"{"a":1}"#).unwrap_err().to_string();
        assert!(
            error.contains("should be an assistant message") && error.contains(r#"got `{"a":1}`"#),
            "{error}"
        );
        assert!(read("hello").is_err());
        assert!(read(r#"{"choices":[]}"#).is_err());
    }
}
