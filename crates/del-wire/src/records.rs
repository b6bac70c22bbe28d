//! The records of `del parse --jsonl`: a request a line, an answer a line.

use std::sync::Arc;

use del_dialects::{Message, Start, Tool, UnknownDialect};
use serde::Serialize;
use serde_json::json;

use crate::answer::answer;
use crate::error::{WireError, excerpt};
use crate::fields::{Fields, whole_string};
use crate::ids::Ids;
use crate::tools::KnownTools;

/// One text to read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Comes back with the answer.
    pub id: RecordId,
    /// The model's output.
    pub text: String,
    /// The tools that the model was told of; `None` when the record has no such member.
    pub tools: Option<Arc<[Tool]>>,
    /// How the text is to be read.
    pub said: Said,
}

/// What a record says of how its text is to be read, beside the tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// The dialect's name; `None` for `auto`.
    pub dialect: Option<String>,
    /// Where the text starts; `None` when the record does not say.
    pub starts_in: Option<Start>,
    /// The answer was cut off rather than ended.
    pub cut: bool,
}

impl Said {
    /// The members, or columns, that say it.
    pub const MEMBERS: [&str; 3] = ["dialect", "starts_in", "finish"];

    /// Reads what stands in these; the error says what was expected and what came.
    pub fn read([dialect, starts_in, finish]: [Option<&str>; 3]) -> Result<Self, String> {
        Ok(Self {
            dialect: dialect.filter(|name| *name != "auto").map(str::to_owned),
            starts_in: starts_in.map(start).transpose()?,
            cut: finish.map(cut).transpose()?.unwrap_or(false),
        })
    }

    /// The same of the members of a record.
    pub(crate) fn of(fields: &Fields<'_>) -> Result<Self, String> {
        let [dialect, starts_in, finish] = Self::MEMBERS.map(|name| fields.text(name));
        let texts = (|| Ok([dialect?, starts_in?, finish?]))();
        let texts: [Option<String>; 3] = texts.map_err(|error: WireError| error.to_string())?;
        Self::read(texts.each_ref().map(Option::as_deref))
    }
}

fn start(word: &str) -> Result<Start, String> {
    let got = |_| format!("`starts_in` should be `text`, `reasoning` or `unknown`, got `{}`", excerpt(word));
    word.parse().map_err(got)
}

fn cut(word: &str) -> Result<bool, String> {
    match word {
        "end" => Ok(false),
        "cut" => Ok(true),
        _ => Err(format!("`finish` should be `end` or `cut`, got `{}`", excerpt(word))),
    }
}

/// The id of a record: any JSON, given back byte for byte. `null` when there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordId(String);

impl Default for RecordId {
    fn default() -> Self {
        Self("null".to_owned())
    }
}

/// Why a record has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RecordError {
    /// The record's id, as far as it could be read.
    pub id: RecordId,
    /// What kind of error it is.
    pub code: RecordErrorCode,
    /// What was expected and what came.
    pub message: String,
}

/// Kinds of errors in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordErrorCode {
    /// The line is no JSON object, or no UTF-8.
    InvalidJson,
    /// A member is missing or of another type.
    InvalidRequest,
    /// There is no such dialect.
    UnknownDialect,
    /// A call in it is cut off or cannot be read.
    BrokenCall,
    /// The arguments of a call in it were mended by a guess.
    GuessedCall,
    /// The other dialect has no form for it.
    Unrepresentable,
}

impl RecordErrorCode {
    /// The code as it stands in the error line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::InvalidRequest => "invalid_request",
            Self::UnknownDialect => "unknown_dialect",
            Self::BrokenCall => "broken_call",
            Self::GuessedCall => "guessed_call",
            Self::Unrepresentable => "unrepresentable",
        }
    }
}

impl Request {
    /// Reads a line, without its line end. Unknown members are ignored.
    pub fn read(line: &[u8], known: &mut KnownTools) -> Result<Self, RecordError> {
        let (_, fields, id) = object(line)?;
        Self::from_fields(&fields, "text", &id, known).map_err(|message| RecordError::new(id, message))
    }

    /// Reads a record that keeps all its members and gets one more, `into`. The text stands in the member `column`.
    pub fn read_to_extend(
        line: &[u8],
        column: &str,
        into: &str,
        known: &mut KnownTools,
    ) -> Result<Self, RecordError> {
        let (_, fields, id) = object(line)?;
        if fields.has(into) {
            let message = format!("expected no member `{into}`, for the answer goes there");
            return Err(RecordError::new(id, message));
        }
        Self::from_fields(&fields, column, &id, known).map_err(|message| RecordError::new(id, message))
    }

    fn from_fields(
        fields: &Fields<'_>,
        column: &str,
        id: &RecordId,
        known: &mut KnownTools,
    ) -> Result<Self, String> {
        let text = fields.get(column).ok_or_else(|| format!("`{column}` should be a string, got nothing"))?;
        // Strict, for offsets count bytes of this text.
        let text = whole_string(text, column).map_err(|error| error.to_string())?;
        let tools = fields.get("tools").map(|json| known.read(json)).transpose();
        let tools = tools.map_err(|error| error.to_string())?;
        Ok(Self { id: id.clone(), text, tools, said: Said::of(fields)? })
    }

    /// The error for a dialect that does not exist. `hint` says what to do.
    pub fn unknown_dialect(&self, hint: &str) -> RecordError {
        let name = self.said.dialect.as_deref().unwrap_or("auto");
        RecordError {
            id: self.id.clone(),
            code: RecordErrorCode::UnknownDialect,
            message: format!("expected the name of a dialect, got `{name}`; {hint}"),
        }
    }

    /// Appends the line of the answer, without a line end. Ids of calls that have none are made from the line that was read,
    /// and from `place`, which no other line has.
    pub fn write_answer(&self, message: &Message, line: &[u8], place: u64, lines: &mut Vec<u8>) {
        write_line(&self.id, &answer(message, &mut ids(message, line, place)), lines);
    }
}

/// Appends the record `line`, which was read, with the answer as its last member, `into`, and without a line end. Ids of calls
/// that have none are made from the line, and from `place`, which no other line has.
pub fn write_extended(line: &[u8], into: &str, message: &Message, place: u64, lines: &mut Vec<u8>) {
    let mut ids = ids(message, line, place);
    let line = String::from_utf8_lossy(line);
    let open = line.trim_start_matches('\u{feff}').trim().strip_suffix('}').unwrap_or_default().trim_end();
    lines.extend_from_slice(open.as_bytes());
    lines.extend_from_slice(b", ");
    write_json(into, lines);
    lines.extend_from_slice(b": ");
    write_json(&answer(message, &mut ids), lines);
    lines.push(b'}');
}

/// Most answers have no call, and their lines need not be looked at.
fn ids(message: &Message, line: &[u8], place: u64) -> Ids {
    if message.calls.is_empty() { Ids::default() } else { Ids::of_record(line, place) }
}

impl RecordError {
    fn new(id: RecordId, message: String) -> Self {
        Self { id, code: RecordErrorCode::InvalidRequest, message }
    }

    /// The error for what is not what it should be, and has no id that could be read.
    pub fn invalid(message: String) -> Self {
        Self::new(RecordId::default(), message)
    }

    /// The error for a dialect that does not exist.
    pub(crate) fn unknown(error: &UnknownDialect) -> Self {
        Self { code: RecordErrorCode::UnknownDialect, ..Self::invalid(error.to_string()) }
    }

    /// Appends the line of the error with the record that it is about as a text, so that nothing is lost.
    pub fn write_with(&self, record: &[u8], lines: &mut Vec<u8>) {
        let error = json!({"code": self.code.as_str(), "message": self.message});
        write_line(&self.id, &json!({"error": error, "record": String::from_utf8_lossy(record)}), lines);
    }

    /// Appends the line of the error, without a line end.
    pub fn write(&self, lines: &mut Vec<u8>) {
        let error = json!({"code": self.code.as_str(), "message": self.message});
        write_line(&self.id, &json!({ "error": error }), lines);
    }
}

/// The object in a line: its text, its members, and its id.
pub(crate) fn object(line: &[u8]) -> Result<(&str, Fields<'_>, RecordId), RecordError> {
    let invalid = |got: &str, reason: String| RecordError {
        id: RecordId::default(),
        code: RecordErrorCode::InvalidJson,
        message: match excerpt(got).as_str() {
            "" => "expected a JSON object on one line, got an empty line".to_owned(),
            got => format!("expected a JSON object on one line, got `{got}` ({reason})"),
        },
    };
    let text =
        str::from_utf8(line).map_err(|error| invalid(&String::from_utf8_lossy(line), error.to_string()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fields = Fields::read(text, "record").map_err(|error| match error {
        WireError::Json { reason, .. } => invalid(text, reason),
        other @ WireError::Shape { .. } => invalid(text, other.to_string()),
    })?;
    let id = fields.get("id").map_or_else(RecordId::default, |json| RecordId(json.to_owned()));
    Ok((text, fields, id))
}

/// Appends `object`, which has members, with the id before them.
fn write_line(RecordId(id): &RecordId, object: &impl Serialize, lines: &mut Vec<u8>) {
    lines.extend_from_slice(b"{\"id\":");
    lines.extend_from_slice(id.as_bytes());
    let open = lines.len();
    write_json(object, lines);
    lines[open] = b',';
}

/// Appends `value`, whose keys are strings.
fn write_json(value: &(impl Serialize + ?Sized), lines: &mut Vec<u8>) {
    let written = serde_json::to_writer(lines, value);
    debug_assert!(written.is_ok(), "memory takes everything, and no key is anything but a string");
}

#[cfg(test)]
mod tests {
    use del_dialects::{Message, Start};

    use super::{RecordError, RecordErrorCode};
    use crate::tools::KnownTools;

    fn request(line: &[u8]) -> Result<super::Request, RecordError> {
        super::Request::read(line, &mut KnownTools::default())
    }

    fn written(error: &RecordError) -> String {
        let mut line = Vec::new();
        error.write(&mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_full_record() {
        let request = request(
            br#"{"id":[1, 12345678901234567890123],"text":"a\n","dialect":"jamba","tools":[{"name":"f"}],"starts_in":"reasoning","finish":"cut","more":1}"#,
        )
        .unwrap();
        assert_eq!((request.text.as_str(), request.said.dialect.as_deref()), ("a\n", Some("jamba")));
        assert_eq!((request.said.starts_in, request.said.cut), (Some(Start::Reasoning), true));
        assert_eq!(request.tools.as_ref().unwrap()[0].name, "f");
        let mut line = Vec::new();
        request.write_answer(&Message::default(), b"", 1, &mut line);
        let line = String::from_utf8(line).unwrap();
        assert!(
            line.starts_with(r#"{"id":[1, 12345678901234567890123],"dialect":null,"role":"assistant""#),
            "{line}"
        );
        serde_json::from_str::<serde_json::Value>(&line).unwrap();
    }

    #[test]
    fn what_may_be_missing() {
        let request = request(br#"{"text":"","dialect":"auto"}"#).unwrap();
        assert_eq!((request.said, request.tools), (super::Said::default(), None));
    }

    #[test]
    fn where_a_text_starts_may_be_unknown() {
        let said = request(br#"{"text":"","starts_in":"unknown"}"#).unwrap().said;
        assert_eq!(said.starts_in, Some(Start::Unknown));
    }

    #[test]
    fn a_bad_line_gives_an_error_line() {
        let line = |line: &[u8]| written(&request(line).unwrap_err());
        let code = |line: &[u8]| request(line).unwrap_err().code;
        for bad in [&b"{"[..], b"", b"[]", b"\xff", b"{\"text\":\"a\"} x"] {
            assert_eq!(code(bad), RecordErrorCode::InvalidJson);
        }
        for bad in [
            &br"{}"[..],
            br#"{"text":1}"#,
            br#"{"text":"\ud800"}"#,
            br#"{"text":"","dialect":1}"#,
            br#"{"text":"","tools":"x"}"#,
            br#"{"text":"","starts_in":"x"}"#,
            br#"{"text":"","finish":"stop"}"#,
        ] {
            assert_eq!(code(bad), RecordErrorCode::InvalidRequest);
        }
        assert_eq!(
            line(br#"{"id":"x"}"#),
            r#"{"id":"x","error":{"code":"invalid_request","message":"`text` should be a string, got nothing"}}"#
        );
        assert_eq!(
            line(br#"{"id":7,"text":"","finish":"stop"}"#),
            r#"{"id":7,"error":{"code":"invalid_request","message":"`finish` should be `end` or `cut`, got `stop`"}}"#
        );
        assert!(line(b" ").contains("got an empty line"));
        assert!(line(b"nonsense").starts_with(r#"{"id":null,"error":{"code":"invalid_json","message":"expected a JSON object on one line, got `nonsense`"#));
    }

    #[test]
    fn an_unknown_dialect_keeps_the_id() {
        let request = request(br#"{"id":1,"text":"","dialect":"nope"}"#).unwrap();
        assert_eq!(
            written(&request.unknown_dialect("see `del dialects`")),
            r#"{"id":1,"error":{"code":"unknown_dialect","message":"expected the name of a dialect, got `nope`; see `del dialects`"}}"#
        );
    }
}
