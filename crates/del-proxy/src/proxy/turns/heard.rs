//! One answer of the model, as the turns go on with it.

use del_dialects::{Call, FaultKind, Report};
use serde_json::{Map, Value};

use crate::answer::{Answer, Asking, Stream};

/// One answer of the model.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) message: Map<String, Value>,
    pub(super) guesses: Vec<(String, FaultKind)>,
    pub(super) broken: Vec<Report>,
    /// It ended at a limit of tokens.
    pub(super) cut: bool,
    pub(super) refused: Vec<String>,
    pub(super) dialect: Option<String>,
    /// It asks for definitions, and does nothing else.
    pub(super) asking: Option<Asking>,
}

impl Heard {
    /// A streamed answer; `None` for one that broke off.
    pub(super) fn of(stream: &Stream) -> Option<Self> {
        Some(Self {
            message: stream.message()?,
            guesses: stream.guesses().map(|(id, kind)| (id.to_owned(), kind)).collect(),
            broken: stream.broken().cloned().collect(),
            cut: stream.is_cut(),
            refused: stream.refused().map(str::to_owned).collect(),
            dialect: stream.calls().0.map(str::to_owned),
            asking: None,
        })
    }
}

impl From<Answer> for Heard {
    fn from(answer: Answer) -> Self {
        let Answer { blocks, guesses, broken, cut, refused, dialect, asking, .. } = answer;
        Self { message: blocks.past(), guesses, broken, cut, refused, dialect, asking }
    }
}

/// The calls of a message.
pub(super) fn calls_of(message: &Map<String, Value>) -> Vec<Call> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    calls
        .map(|call| {
            // A call of a custom tool has no arguments, and is the client's.
            let function = call.get("function").unwrap_or(&call["custom"]);
            Call {
                id: call["id"].as_str().map(str::to_owned),
                name: text(&function["name"]),
                arguments: text(&function["arguments"]),
            }
        })
        .collect()
}
