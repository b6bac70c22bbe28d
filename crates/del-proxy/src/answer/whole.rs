//! An answer that comes at once.

use del_dialects::{Call, End};
use del_wire::native::call_json;
use del_wire::{ApiError, Chunk, Delta, Finish, Ids};
use serde_json::{Map, Value, json};

use super::Reader;
use super::choice::{Choice, Piece};
use super::stream::without;

/// An answer for the client.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The completion.
    pub body: Value,
    /// The dialect of its first call.
    pub dialect: Option<String>,
    /// The ids of the calls whose arguments recovery may have changed.
    pub changed: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It is not one of a model server.
    #[error("expected a chat completion: {0}")]
    Garbage(String),
    /// The server gave up.
    #[error("{0}")]
    Refused(ApiError),
}

/// Members of a message that are written anew.
pub(super) const KNOWN: [&str; 7] =
    ["role", "content", "reasoning_content", "reasoning", "thinking", "tool_calls", "function_call"];

/// Turns a completion into that for the client. Members that are not known here stay what they are.
pub fn translate(reader: &Reader, mut ids: Ids, body: &str) -> Result<Answer, Trouble> {
    let chunk = Chunk::read(body).map_err(|error| Trouble::Garbage(error.to_string()))?;
    if let Some(error) = chunk.error {
        return Err(Trouble::Refused(error));
    }
    let mut completion: Map<String, Value> =
        serde_json::from_str(body).map_err(|error| Trouble::Garbage(error.to_string()))?;
    let given = completion.get("choices").and_then(Value::as_array).cloned().unwrap_or_default();
    let (mut dialect, mut changed) = (None, Vec::new());
    let mut choices = Vec::with_capacity(chunk.choices.len());
    for (place, delta) in chunk.choices.iter().enumerate() {
        let mut choice = Choice::new(reader);
        choice.push(delta, reader, &mut ids);
        let end = if delta.finish == Some(Finish::Length) { End::Cut } else { End::End };
        choice.finish(end, reader, &mut ids);
        choices.push(written(&mut choice, delta, given.get(place)));
        changed.extend(choice.changed().map(str::to_owned));
        dialect = dialect.or_else(|| choice.dialect().map(str::to_owned));
    }
    completion.insert("choices".to_owned(), Value::Array(choices));
    Ok(Answer { body: Value::Object(completion), dialect, changed })
}

fn written(choice: &mut Choice, delta: &Delta, given: Option<&Value>) -> Value {
    let (mut content, mut reasoning) = (None::<String>, None::<String>);
    let mut calls: Vec<(u32, String, Call)> = Vec::new();
    for piece in choice.pieces() {
        match piece {
            Piece::Text(text) => content.get_or_insert_default().push_str(&text),
            Piece::Reasoning(text) => reasoning.get_or_insert_default().push_str(&text),
            Piece::Call { index, id, name } => {
                calls.push((index, id, Call { id: None, name, arguments: String::new() }));
            }
            Piece::Arguments { json, .. } => {
                if let Some((_, _, call)) = calls.last_mut() {
                    call.arguments.push_str(&json);
                }
            }
        }
    }
    calls.retain(|(index, ..)| choice.is_whole(*index));
    let given = given.and_then(Value::as_object);
    let mut message = Map::from_iter([
        ("role".to_owned(), json!("assistant")),
        ("content".to_owned(), content.map_or(Value::Null, Value::String)),
    ]);
    if let Some(reasoning) = reasoning {
        message.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    if !calls.is_empty() {
        let calls: Value = calls.iter().map(|(_, id, call)| call_json(id, call)).collect();
        message.insert("tool_calls".to_owned(), calls);
    }
    let mut out = Map::from_iter([("index".to_owned(), json!(delta.choice))]);
    if let Some(given) = given {
        let old = given.get("message").and_then(Value::as_object);
        message.extend(old.map(|old| without(old, &KNOWN)).unwrap_or_default());
        out.insert("message".to_owned(), Value::Object(message));
        out.extend(without(given, &["index", "message", "finish_reason"]));
    } else {
        out.insert("message".to_owned(), Value::Object(message));
    }
    let said = given.and_then(|given| given.get("finish_reason")?.as_str());
    out.insert("finish_reason".to_owned(), json!(choice.reason(delta.finish, said)));
    Value::Object(out)
}
