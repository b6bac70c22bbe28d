//! What running a tool gives: a result, or a failure that tells the model what to do next.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

/// What a tool did and what the model is told of it.
#[derive(Debug, Clone, Serialize)]
pub struct ToolResult {
    /// False when the tool failed or was denied. A command that ended with a non-zero exit code is a result, not a failure.
    pub ok: bool,
    /// The text for the model; never empty.
    pub text: String,
    /// Facts for programs: `code` of a failure, counts, the exit code of a command.
    pub data: Option<Value>,
    /// True when `text` leaves something out and says so.
    pub truncated: bool,
    /// Where the whole output lies, if it was too long for `text`. The file lives as long as the [`crate::Toolbox`].
    pub full_output: Option<PathBuf>,
    /// The files that were written.
    pub changes: Vec<FileChange>,
}

impl ToolResult {
    /// A success that tells the model `text`.
    pub fn success(text: impl Into<String>) -> Self {
        let text = text.into();
        let text = if text.is_empty() { "(no output)".to_owned() } else { text };
        Self { ok: true, text, data: None, truncated: false, full_output: None, changes: Vec::new() }
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    pub(crate) fn with_change(mut self, change: FileChange) -> Self {
        self.changes.push(change);
        self
    }

    pub(crate) fn shortened(mut self, truncated: bool) -> Self {
        self.truncated |= truncated;
        self
    }

    /// Adds a fact for programs.
    pub(crate) fn add(&mut self, name: &str, fact: Value) {
        self.data.get_or_insert_with(|| json!({}))[name] = fact;
    }

    /// Adds a line of its own at the end.
    pub fn note(&mut self, note: &str) {
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(note);
    }
}

impl From<Failure> for ToolResult {
    fn from(failure: Failure) -> Self {
        let data = json!({"code": failure.code.as_str()});
        Self { ok: false, ..Self::success(failure.to_string()).with_data(data) }
    }
}

/// A file that a tool wrote.
#[derive(Debug, Clone, Serialize)]
pub struct FileChange {
    /// The file, relative to the working directory (absolute in an allowed directory).
    pub path: String,
    /// Whether it was there before.
    pub kind: ChangeKind,
    /// Lines added, as the diff counts them.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// The bytes before the change, if there were any: what undoing it puts back.
    #[serde(skip)]
    pub before: Option<Arc<[u8]>>,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there before.
    Created,
    /// It was there with other content.
    Modified,
    /// It is gone.
    Removed,
}

/// A tool call that did not do what was asked: the cause, and the remedy where there is one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{cause}", .code.prefix())]
pub struct Failure {
    /// The kind of failure; stable, for programs.
    pub code: Code,
    /// A sentence of cause and one of remedy, for the model.
    pub cause: String,
}

impl Failure {
    /// A failure that tells the model `cause`, which says what to do next.
    pub fn new(code: Code, cause: impl Into<String>) -> Self {
        Self { code, cause: cause.into() }
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// Kinds of failure. The words are stable; they stand in `data.code` of a result.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// The stable word.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

codes! {
    /// No tool of that name is offered.
    UnknownTool = "unknown_tool",
    /// The arguments are not a JSON object.
    BadJson = "bad_json",
    /// A required argument is absent.
    MissingArg = "missing_arg",
    /// An argument has a type or value that the tool cannot take.
    BadType = "bad_type",
    /// Two spellings of one argument carry different values.
    Conflict = "conflict",
    /// Nothing is there.
    NotFound = "not_found",
    /// A directory stands where a file is wanted.
    IsDir = "is_dir",
    /// A file stands where a directory is wanted.
    NotDir = "not_dir",
    /// A pipe, socket or device.
    NotRegular = "not_regular",
    /// Outside what the tools may touch.
    Outside = "outside",
    /// More than the tool takes.
    TooLarge = "too_large",
    /// Not text.
    Binary = "binary",
    /// Text in an encoding that would not survive the change.
    NotUtf8 = "not_utf8",
    /// The text to replace is not there.
    NoMatch = "no_match",
    /// The text to replace is there more than once.
    NotUnique = "not_unique",
    /// The change would change nothing.
    NoChange = "no_change",
    /// The file changed since it was read or shown.
    Stale = "stale",
    /// Something is there already.
    Exists = "exists",
    /// Content that leaves a part out by a placeholder.
    Placeholder = "placeholder",
    /// A pattern that cannot be used.
    BadPattern = "bad_pattern",
    /// It took longer than it may.
    Timeout = "timeout",
    /// A program that wants a person at the keyboard.
    Interactive = "interactive",
    /// Consent was not given, or policy forbids it.
    Denied = "denied",
    /// The user stopped it.
    Cancelled = "cancelled",
    /// A program that the tool needs is not installed.
    ToolMissing = "tool_missing",
    /// A program that the tool ran failed.
    Failed = "failed",
    /// What the tool needs is not set up.
    NotConfigured = "not_configured",
    /// The network, or a server on it.
    Network = "network",
    /// Too often in a short time.
    RateLimited = "rate_limited",
    /// The operating system refused.
    System = "system",
}

impl Code {
    fn prefix(self) -> &'static str {
        match self {
            Self::Denied | Self::Outside => "Denied: ",
            _ => "Error: ",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `n` with thousands separated: `53,201`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 line`, `1,204 lines`: the noun takes its `-s` (or `-es`, or `-ies`) by itself.
pub fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    let number = grouped(n);
    match noun {
        _ if n == 1 => format!("1 {noun}"),
        noun if noun.ends_with("ch") => format!("{number} {noun}es"),
        noun if noun.ends_with('y') => format!("{number} {}ies", &noun[..noun.len() - 1]),
        noun => format!("{number} {noun}s"),
    }
}

/// The beginning of a word that was sent, for a message: at most so many characters, and none that controls a terminal.
pub(crate) fn excerpt(word: &str, most: usize) -> String {
    word.chars().filter(|c| !c.is_control()).take(most).collect()
}

/// A size for people, in decimal units: `812 B`, `1.2 kB`, `3.4 MB`.
pub(crate) fn sized(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    for (unit, name) in UNITS {
        if bytes >= unit {
            let tenths = bytes / (unit / 10);
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}

/// Cuts a text that is too long for the model, at the end of a line where there is one. Tools keep to the limit
/// themselves, but for their last remarks; this is for what they cannot foresee, such as a diff of very long lines.
pub(crate) fn cap(result: &mut ToolResult, limit: usize) {
    let limit = limit + 1024;
    if result.text.len() <= limit {
        return;
    }
    let mut cut = limit;
    while !result.text.is_char_boundary(cut) {
        cut -= 1;
    }
    if let Some(newline) = result.text[..cut].rfind('\n').filter(|at| *at > limit / 2) {
        cut = newline;
    }
    let omitted = result.text.len() - cut;
    result.text.truncate(cut);
    result.note(&format!("... [{omitted} bytes omitted] ..."));
    result.truncated = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(counted(2, "directory"), "2 directories");
        assert_eq!(counted(3, "match"), "3 matches");
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(sized(999), "999 B");
        assert_eq!(sized(1_250), "1.2 kB");
        assert_eq!(sized(1_073_741_824), "1.0 GB");
    }

    #[test]
    fn a_refusal_says_denied_and_a_mistake_says_error() {
        let outside = ToolResult::from(Failure::new(Code::Outside, "x is outside."));
        assert_eq!((outside.ok, outside.text.as_str()), (false, "Denied: x is outside."));
        let missing = ToolResult::from(Failure::new(Code::NotFound, "file not found: x."));
        assert_eq!(missing.text, "Error: file not found: x.");
        assert_eq!(missing.data, Some(json!({"code": "not_found"})));
    }
}
