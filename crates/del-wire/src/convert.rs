//! The records of `del convert --jsonl`: a transcript a line in, the same with its calls in another dialect out.
//!
//! A record is an object with `messages` (those of the role `assistant` are rewritten) or with `text`. Everything else in
//! it stays as it is, byte for byte, but for what it says of how its text is to be read. A record that cannot be written
//! in the other dialect without a change of meaning is an error, and never comes out in part; neither does one with a
//! guess in the arguments of a call, for who reads what comes out could not tell the guess from what the model wrote.

mod record;

use std::sync::Arc;

use del_dialects::{Dialect, Dialects, End, FaultKind, RenderError, Start, Tool};

use crate::error::WireError;
use crate::fields::Fields;
use crate::native;
use crate::records::{RecordError, RecordErrorCode, RecordId, Said, object};
use crate::tools::{KnownTools, ToolsError};
use record::{Reading, Record};

/// What calls are written in before.
#[derive(Debug, Clone)]
pub enum Source {
    /// The API's own `tool_calls`; a text holds the JSON of a message.
    Native,
    /// Text of one dialect.
    Text(Arc<Dialect>),
    /// Text of any of these, and the API's own.
    Any(&'static Dialects),
}

/// What calls are written in afterwards.
#[derive(Debug, Clone)]
pub enum Target {
    /// The API's own `tool_calls`; a text becomes the JSON of a message.
    Native,
    /// Text of a dialect.
    Text(Arc<Dialect>),
}

/// Rewrites answers and records, one after another.
#[derive(Debug, Clone)]
pub struct Converter {
    from: Source,
    to: Target,
    thinking: bool,
    guesses: bool,
    tools: Arc<[Tool]>,
    /// The tools of records that had their own.
    own: KnownTools,
    /// The member that is rewritten where it is neither `messages` nor `text`.
    member: Option<Arc<str>>,
    /// What records may say that they are written in.
    dialects: Option<&'static Dialects>,
}

/// What a table has in a cell.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// One answer.
    Answer(&'a str),
    /// The JSON of a list of messages.
    Messages(&'a str),
}

/// What else the row of a cell says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Beside<'a> {
    /// The JSON of the row's own tools.
    pub tools: Option<&'a str>,
    /// What stands in the columns [`Said::MEMBERS`].
    pub said: [Option<&'a str>; 3],
}

/// What became of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The record's line, without a line end, or what the cell has now.
    pub text: String,
    /// Its calls.
    pub calls: u64,
    /// What was wrong in it and was mended.
    pub faults: Vec<FaultKind>,
}

/// Why an answer has no form in the other dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// A call in it does not count, so it cannot be written again.
    #[error("expected calls that are whole, got one at byte {at} that is not: {why}")]
    Broken {
        /// Where it begins in the text.
        at: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The arguments of a call in it were mended by a guess.
    #[error("expected calls with nothing to guess in them, got one at byte {at}: {why}")]
    Guessed {
        /// Where the guess stands in the text.
        at: u64,
        /// What had to be guessed.
        why: &'static str,
    },
    /// The other dialect has no form for it.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The text is no message of the API.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl Converter {
    /// `tools` are those of records that bring none of their own: they type raw values. Without `thinking`, what the model
    /// thought is left out, which dialects need that have no form for it.
    pub fn new(from: Source, to: Target, thinking: bool, tools: impl Into<Arc<[Tool]>>) -> Self {
        Self {
            from,
            to,
            thinking,
            guesses: false,
            tools: tools.into(),
            own: KnownTools::default(),
            member: None,
            dialects: None,
        }
    }

    /// The same, for records that have what is to be rewritten in the member `name`: a list of messages, or a text.
    #[must_use]
    pub fn of_member(self, name: &str) -> Self {
        Self { member: Some(name.into()), ..self }
    }

    /// The same, that takes guesses for what the model meant. What comes out does not show them.
    #[must_use]
    pub fn with_guesses(self) -> Self {
        Self { guesses: true, ..self }
    }

    /// The same, for records that may say how their text is to be read: the dialect is one of `dialects`. What comes out
    /// says what is right afterwards: [`Self::says`].
    #[must_use]
    pub fn among(self, dialects: &'static Dialects) -> Self {
        Self { dialects: Some(dialects), ..self }
    }

    /// What a record that was rewritten says in the member, or column, `name`, where it says something: another dialect,
    /// and a text that starts as any does. None for what stays as it is. `list` is true for transcripts, in which only the
    /// dialect counts.
    pub fn says(&self, name: &str, list: bool) -> Option<&str> {
        self.dialects?;
        match (name, &self.to) {
            ("dialect", Target::Native) => Some(native::NAME),
            ("dialect", Target::Text(dialect)) => Some(dialect.name()),
            ("starts_in", _) if !list => Some("text"),
            _ => None,
        }
    }

    /// True where what comes out is the API's own, and JSON. Calls get ids there, which are made from the place of their
    /// record; elsewhere what becomes of a record does not depend on that.
    pub fn is_native(&self) -> bool {
        matches!(self.to, Target::Native)
    }

    /// Rewrites one answer.
    pub fn text(&self, text: &str) -> Result<String, ConvertError> {
        Record::new(self, Arc::clone(&self.tools), Reading::of(&self.from), (text.as_bytes(), 0)).text(text)
    }

    /// How the text of a record is to be read that says this. Those of a `list` are whole, and start as any.
    fn reading(
        &self,
        said: impl FnOnce() -> Result<Said, String>,
        list: bool,
    ) -> Result<Reading, RecordError> {
        let Some(dialects) = self.dialects else { return Ok(Reading::of(&self.from)) };
        let Said { dialect, starts_in, cut } = said().map_err(RecordError::invalid)?;
        let from = match dialect.as_deref() {
            None => self.from.clone(),
            Some(native::NAME) => Source::Native,
            Some(name) => {
                Source::Text(Arc::clone(dialects.named(name).map_err(|error| RecordError::unknown(&error))?))
            }
        };
        if list {
            return Ok(Reading::of(&from));
        }
        let starts = starts_in.unwrap_or(Start::Unknown);
        Ok(Reading { from, starts, end: if cut { End::Cut } else { End::End } })
    }

    /// Rewrites the record in `line`. `place` is that of the line, and no other record's: the ids of calls that have none are
    /// made from it and from the line.
    pub fn record(&mut self, line: &[u8], place: u64) -> Result<Converted, RecordError> {
        let (text, fields, id) = object(line)?;
        let fail = |code, message| RecordError { id: id.clone(), code, message };
        let tools = self
            .tools_of(&fields)
            .map_err(|error| fail(RecordErrorCode::InvalidRequest, error.to_string()))?;
        let Some((name, json)) = self.rewritten(&fields) else {
            let message = match &self.member {
                Some(name) => format!("expected `{name}`, got nothing of that name"),
                None => "expected `messages` or `text`, got neither".to_owned(),
            };
            return Err(fail(RecordErrorCode::InvalidRequest, message));
        };
        let list = if self.member.is_some() { json.starts_with('[') } else { name == "messages" };
        let reading = self.reading(|| Said::of(&fields), list);
        let reading = reading.map_err(|error| RecordError { id: id.clone(), ..error })?;
        let mut record = Record::new(self, tools, reading, (line, place));
        let new = if list {
            record.messages(name, json)
        } else {
            record.string(json).map_err(|error| Trouble { at: name.to_owned(), error })
        };
        let new = new.map_err(|trouble| trouble.of(id.clone()))?;
        let mut parts = vec![(json, new)];
        for name in Said::MEMBERS {
            if let (Some(old), Some(new)) = (fields.get(name), self.says(name, list)) {
                parts.push((old, format!("\"{new}\"")));
            }
        }
        Ok(Converted { text: splice(text, parts), calls: record.calls, faults: record.faults })
    }

    /// Rewrites what stands in a cell of a table. `place` is that of its row.
    pub fn cell(
        &mut self,
        cell: Cell<'_>,
        Beside { tools, said }: Beside<'_>,
        place: u64,
    ) -> Result<Converted, RecordError> {
        let tools = tools.map_or_else(|| Ok(Arc::clone(&self.tools)), |json| self.own.read(json));
        let tools = tools.map_err(|error| RecordError::invalid(error.to_string()))?;
        let reading = self.reading(|| Said::read(said), matches!(cell, Cell::Messages(_)))?;
        let (Cell::Answer(whole) | Cell::Messages(whole)) = cell;
        let mut record = Record::new(self, tools, reading, (whole.as_bytes(), place));
        let text = match cell {
            Cell::Answer(text) => record.text(text).map_err(|error| Trouble { at: String::new(), error }),
            Cell::Messages(json) => record.messages("messages", json),
        };
        let text = text.map_err(|trouble| trouble.of(RecordId::default()))?;
        Ok(Converted { text, calls: record.calls, faults: record.faults })
    }

    /// The member that is to be rewritten.
    fn rewritten<'n, 'f>(&'n self, fields: &Fields<'f>) -> Option<(&'n str, &'f str)> {
        let names = self.member.as_deref().map_or(vec!["messages", "text"], |name| vec![name]);
        names.into_iter().find_map(|name| Some((name, fields.get(name)?)))
    }

    fn tools_of(&mut self, fields: &Fields<'_>) -> Result<Arc<[Tool]>, ToolsError> {
        match fields.get("tools") {
            Some(json) => self.own.read(json),
            None => Ok(Arc::clone(&self.tools)),
        }
    }
}

/// An error, and the member of the record that it is about.
struct Trouble {
    at: String,
    error: ConvertError,
}

impl Trouble {
    fn of(self, id: RecordId) -> RecordError {
        let Self { at, error } = self;
        let code = match &error {
            ConvertError::Broken { .. } => RecordErrorCode::BrokenCall,
            ConvertError::Guessed { .. } => RecordErrorCode::GuessedCall,
            ConvertError::Render(_) => RecordErrorCode::Unrepresentable,
            ConvertError::Wire(_) => RecordErrorCode::InvalidRequest,
        };
        let message = if at.is_empty() { error.to_string() } else { format!("{at}: {error}") };
        RecordError { id, code, message }
    }
}

/// `text` with the second of each of `parts` in the place of the first, which is a part of it.
fn splice(text: &str, mut parts: Vec<(&str, String)>) -> String {
    let place = |part: &str| (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    parts.sort_by_key(|(old, _)| place(old));
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (old, new) in parts {
        out.push_str(text.get(from..place(old)).unwrap_or_default());
        out.push_str(&new);
        from = place(old) + old.len();
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
