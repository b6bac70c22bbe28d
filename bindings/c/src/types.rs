//! What C sees: objects, events, and the values of enumerations.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use del_dialects::{Event as Read, Span};

use crate::reader::Reader;

/// Where an answer starts.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum Start {
    /// As text.
    DelInText = 0,
    /// Inside thinking: the prompt ended with its opening mark.
    DelInReasoning = 1,
    /// Nobody said: what stands before a mark that ends thinking, and that nothing opened, is thinking. For whole answers, as
    /// `del parse` reads them: in a stream, text may be held until the end.
    DelInUnknown = 2,
}

/// How much a model is told of its tools.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum Detail {
    /// The form that the dialect's family is shown.
    DelFull = 0,
    /// Types of TypeScript.
    DelTypes = 1,
    /// Names, required arguments and one sentence, for very small models.
    DelCompact = 2,
}

/// A notation of grammars.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum Notation {
    /// For llama.cpp.
    DelGbnf = 0,
    /// For llguidance.
    DelLark = 1,
    /// For `XGrammar`, as JSON.
    DelStructuralTag = 2,
    /// One regular expression.
    DelRegex = 3,
}

/// What an event is.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum EventType {
    /// `text` is for the user.
    DelText = 0,
    /// `text` is the model's thinking.
    DelReasoning = 1,
    /// A call begins: `text` is the tool's name, `id` the model's own id, if there is one.
    DelCallStart = 2,
    /// `text` is a piece of the call's arguments, as JSON. All pieces together are one object.
    DelArguments = 3,
    /// The call is complete. A call without this event must not run.
    DelCallEnd = 4,
    /// Something was wrong, or was mended: `text` is its kind, `message` one sentence.
    DelFault = 5,
}

/// Text that is there while the callback runs. It does not end with a NUL. `data` is NULL where there is none.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Text {
    /// UTF-8.
    pub data: *const c_char,
    /// Bytes.
    pub len: usize,
}

/// One step of an answer.
#[derive(Debug)]
#[repr(C)]
pub struct Event {
    /// What it is.
    pub r#type: EventType,
    /// The number of the call that it belongs to, from 0 on; -1 where there is none.
    pub call: i64,
    /// See `del_event_type`.
    pub text: Text,
    /// The id of a call, at its start or at its end.
    pub id: Text,
    /// The dialect that a call is written in, at its start.
    pub dialect: Text,
    /// A fault in one sentence.
    pub message: Text,
    /// A fault after which a value may be another than the model meant: ask before the call acts.
    pub changes_arguments: bool,
    /// The first byte of the answer that it stands for.
    pub start: u64,
    /// The byte behind the last.
    pub end: u64,
}

/// Takes an event. It must return: no jump, no exception.
pub type Callback = Option<unsafe extern "C" fn(event: *const Event, data: *mut c_void)>;

/// How a family of models writes tool calls.
#[derive(Debug)]
pub struct Dialect(pub(crate) Arc<del_dialects::Dialect>);

/// The tools that a model was told of, read once.
#[derive(Debug)]
pub struct Tools(pub(crate) Arc<[del_dialects::Tool]>);

/// Reads one answer as it arrives.
#[derive(Debug)]
pub struct Parser(pub(crate) Reader);

const NONE: Text = Text { data: std::ptr::null(), len: 0 };

/// An event for C, which lends its texts.
pub(crate) fn told(event: &Read<'_>, span: &Span) -> Event {
    let lent = |text: &str| Text { data: text.as_ptr().cast(), len: text.len() };
    let some = |text: Option<&str>| text.map_or(NONE, lent);
    let of = |r#type, call: Option<u32>, text| Event {
        r#type,
        call: call.map_or(-1, i64::from),
        text,
        id: NONE,
        dialect: NONE,
        message: NONE,
        changes_arguments: false,
        start: span.start,
        end: span.end,
    };
    match *event {
        Read::Text(text) => of(EventType::DelText, None, lent(text)),
        Read::Reasoning(text) => of(EventType::DelReasoning, None, lent(text)),
        Read::CallStart { call, name, id, dialect } => Event {
            id: some(id),
            dialect: lent(dialect),
            ..of(EventType::DelCallStart, Some(call), lent(name))
        },
        Read::Args { call, json } => of(EventType::DelArguments, Some(call), lent(json)),
        Read::CallEnd { call, id } => Event { id: some(id), ..of(EventType::DelCallEnd, Some(call), NONE) },
        Read::Fault(fault) => Event {
            message: lent(fault.kind.message()),
            changes_arguments: fault.kind.changes_arguments(),
            ..of(EventType::DelFault, fault.call, lent(fault.kind.as_str()))
        },
    }
}
