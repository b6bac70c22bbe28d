//! Every parameter of every tool, with each spelling that models use for it, and how its value is read.

use std::borrow::Cow;

use serde_json::Value;

use crate::outcome::{Code, Failure};

/// A parameter of a tool: its canonical name, other spellings of it (folded, see [`folded`]) and what it holds.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    /// Text, or a list of words that is quoted and joined.
    Command,
    /// Text, or any JSON, for a file that may hold JSON.
    Content,
    Integer {
        min: u64,
        max: u64,
    },
    /// Whole seconds; 1000 and more is taken as milliseconds.
    Seconds {
        max: u64,
    },
    Flag,
    /// A list of words, or text that holds them.
    Words,
    /// A list of anything, or JSON text that holds one; anything else is the only item.
    List,
}

macro_rules! parameters {
    ($($id:ident = $name:literal, $kind:expr, [$($alias:literal),*];)+) => {
        $(pub(crate) static $id: Parameter = Parameter { name: $name, aliases: &[$($alias),*], kind: $kind };)+
    };
}

parameters! {
    PATH = "path", Kind::Text, ["filepath", "file", "filename", "dirpath", "directory", "dir", "absolutepath", "target", "folder"];
    CONTENT = "content", Kind::Content, ["contents", "text", "filetext", "data"];
    OLD_STRING = "old_string", Kind::Text, ["old", "oldstr", "oldtext", "before", "search", "find"];
    NEW_STRING = "new_string", Kind::Text, ["new", "newstr", "newtext", "after", "replace", "replacement"];
    REPLACE_ALL = "replace_all", Kind::Flag, ["allowmultiple", "all"];
    OFFSET = "offset", Kind::Integer { min: 1, max: u64::MAX }, ["startline", "line", "from", "start"];
    LIMIT = "limit", Kind::Integer { min: 1, max: u64::MAX }, ["maxlines", "lines", "count"];
    END_LINE = "end_line", Kind::Integer { min: 1, max: u64::MAX }, ["end", "toline"];
    FROM = "path", Kind::Text, ["from", "source", "src", "oldpath", "filepath", "file", "directory", "dir", "folder"];
    TO = "to", Kind::Text, ["destination", "dest", "newpath", "newname", "target"];
    PATTERN = "pattern", Kind::Text, ["query", "regex", "search"];
    GLOB = "pattern", Kind::Text, ["query", "glob", "filepattern", "search"];
    NAME_GLOB = "pattern", Kind::Text, ["query", "glob", "filter", "filepattern"];
    FILE_PATTERN = "file_pattern", Kind::Text, ["include", "glob", "fileglob", "includepattern"];
    CASE_INSENSITIVE = "case_insensitive", Kind::Flag, ["ignorecase", "i"];
    CASE_SENSITIVE = "case_sensitive", Kind::Flag, [];
    CONTEXT_LINES = "context_lines", Kind::Integer { min: 0, max: 10 }, ["context", "c"];
    LITERAL = "literal", Kind::Flag, ["literaltext", "fixedstrings"];
    MATCH_LIMIT = "limit", Kind::Integer { min: 1, max: 1000 }, ["maxresults", "headlimit", "count"];
    MODE = "mode", Kind::Text, ["outputmode", "output"];
    FILE_TYPE = "type", Kind::Text, ["filetype", "language", "lang"];
    RECURSIVE = "recursive", Kind::Flag, ["r"];
    DEPTH = "depth", Kind::Integer { min: 1, max: 10 }, ["maxdepth"];
    ALL = "all", Kind::Flag, ["hidden", "showhidden"];
    COMMAND = "command", Kind::Command, ["cmd", "script", "code", "input"];
    WORKING_DIRECTORY = "working_directory", Kind::Text, ["workingdir", "workdir", "cwd", "dirpath", "dir", "directory"];
    TIMEOUT = "timeout", Kind::Seconds { max: 600 }, ["timeoutsecs", "timeoutseconds"];
    OPERATION = "operation", Kind::Text, ["op", "action", "command", "cmd", "subcommand"];
    FILES = "files", Kind::Words, ["file", "path", "paths", "filepath", "filename", "pathspec"];
    MESSAGE = "message", Kind::Text, ["msg", "commitmessage", "m"];
    BRANCH = "branch", Kind::Text, ["branchname", "ref", "revision", "name", "target"];
    COMMITS = "limit", Kind::Integer { min: 1, max: 200 }, ["n", "count", "maxcount", "max"];
    STAGED = "staged", Kind::Flag, ["cached"];
    CHECK = "check", Kind::Flag, ["checkonly", "dryrun"];
    FIX = "fix", Kind::Flag, ["autofix"];
    FILTER = "filter", Kind::Text, ["test", "testname", "name", "pattern", "k"];
    QUERY = "query", Kind::Text, ["q", "search", "searchquery", "text"];
    MAX_RESULTS = "max_results", Kind::Integer { min: 1, max: 20 }, ["numresults", "limit", "count", "n"];
    OPERATIONS = "operations", Kind::List, ["edits", "changes", "actions"];
    DRY_RUN = "dry_run", Kind::Flag, ["preview"];
    STOP_ON_ERROR = "stop_on_error", Kind::Flag, ["failfast"];
    BACKGROUND = "background", Kind::Flag, ["runinbackground", "isbackground"];
    TIMEOUT_MS = "timeout_ms", Kind::Integer { min: 1, max: u64::MAX }, ["timeoutmillis", "timeoutmilliseconds"];
}

#[cfg(feature = "code")]
parameters! {
    CODE = "content", Kind::Text, ["contents", "text", "filetext", "data", "code", "source"];
    LANGUAGE = "language", Kind::Text, ["lang", "filetype"];
    INCLUDE_PRIVATE = "include_private", Kind::Flag, ["private", "showprivate", "withprivate"];
    SYMBOL = "symbol", Kind::Text, ["symbolname", "name", "identifier", "query", "pattern", "function", "functionname"];
    INCLUDE_DEFINITION = "include_definition", Kind::Flag, ["includedefinitions", "includedeclaration", "definition", "definitions"];
    SEVERITY = "severity", Kind::Text, ["minseverity", "minimumseverity", "level"];
}

#[derive(Debug, Clone)]
pub(super) enum Typed {
    Text(String),
    Number(u64),
    Flag(bool),
    Words(Vec<String>),
    Json(Value),
}

impl Parameter {
    /// Whether a key is one of the spellings.
    pub(crate) fn answers_to(&self, key: &str) -> bool {
        let key = folded(key);
        key == folded(self.name) || self.aliases.contains(&key.as_ref())
    }

    pub(super) fn declared(&self, properties: &Value) -> String {
        let declared = properties.as_object().and_then(|p| {
            p.keys().find(|key| *key == self.name).or_else(|| p.keys().find(|key| self.answers_to(key)))
        });
        declared.map_or(self.name, String::as_str).to_owned()
    }

    /// `value` as this parameter holds it; `None` when it means "not given".
    pub(super) fn typed(
        &self,
        key: &str,
        value: Value,
        notes: &mut Vec<String>,
    ) -> Result<Option<Typed>, Failure> {
        let wrong = |value: &Value, wanted: &str| {
            let cause = format!("'{key}' must be {wanted}, got {}.", quoted(value));
            Err(Failure::new(Code::BadType, cause))
        };
        if !matches!(self.kind, Kind::Text | Kind::Command | Kind::Content) && means_absent(&value) {
            return Ok(None);
        }
        let typed = match (self.kind, value) {
            (Kind::Content, value @ (Value::Array(_) | Value::Object(_))) => Typed::Json(value),
            (Kind::List, value) => Typed::Json(Value::Array(list(value))),
            (Kind::Command, Value::Array(words)) if words.iter().all(Value::is_string) => {
                let words = words.iter().filter_map(Value::as_str);
                match shlex::try_join(words) {
                    Ok(command) => Typed::Text(command),
                    Err(_) => return wrong(&Value::String("\0".into()), "words without NUL"),
                }
            }
            (Kind::Words, Value::Array(words)) if words.iter().all(Value::is_string) => {
                Typed::Words(words.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            (Kind::Words, value) => match text(value) {
                Ok(text) => Typed::Words(shlex::split(&text).unwrap_or_else(|| vec![text])),
                Err(value) => return wrong(&value, "a string or a list of strings"),
            },
            (Kind::Text | Kind::Command | Kind::Content, value) => match text(value) {
                Ok(text) => Typed::Text(text),
                Err(value) => return wrong(&value, "a string"),
            },
            (Kind::Flag, value) => match flag(&value) {
                Some(flag) => Typed::Flag(flag),
                None => return wrong(&value, "true or false"),
            },
            (Kind::Integer { min, max }, value) => {
                let wanted = if min == 0 { "an integer >= 0" } else { "an integer >= 1" };
                match number(&value) {
                    Some(n) if n >= 0.0 && n.fract() == 0.0 => Typed::Number(within(key, n, min, max, notes)),
                    _ => return wrong(&value, wanted),
                }
            }
            (Kind::Seconds { max }, value) => match number(&value) {
                Some(n) if n >= 0.0 => {
                    let seconds = if n >= 1000.0 { n / 1000.0 } else { n };
                    Typed::Number(within(key, seconds.ceil(), 1, max, notes))
                }
                _ => return wrong(&value, "a number of seconds >= 1"),
            },
        };
        Ok(Some(typed))
    }
}

/// A key without the differences between `file_path`, `filePath` and `File-Path`.
pub(crate) fn folded(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
        return Cow::Borrowed(key);
    }
    Cow::Owned(key.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect())
}

fn text(value: Value) -> Result<String, Value> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Array(mut list) if list.len() == 1 && list[0].is_string() => text(list.remove(0)),
        other => Err(other),
    }
}

fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(inner @ (Value::Array(_) | Value::Object(_))) => list(inner),
            _ => vec![Value::String(text)],
        },
        other => vec![other],
    }
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) if number.as_u64() == Some(1) => Some(true),
        Value::Number(number) if number.as_u64() == Some(0) => Some(false),
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            text.trim().trim_end_matches(['s', 'S']).trim().parse().ok().filter(|n: &f64| n.is_finite())
        }
        _ => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller has checked the sign; the cast saturates"
)]
fn within(key: &str, n: f64, min: u64, max: u64, notes: &mut Vec<String>) -> u64 {
    let n = (n as u64).max(min);
    if n > max {
        notes.push(format!("[{key} reduced to {max}]"));
    }
    n.min(max)
}

fn means_absent(value: &Value) -> bool {
    value.as_str().is_some_and(|s| matches!(s.trim().to_ascii_lowercase().as_str(), "" | "null" | "none"))
}

/// `value` as an error shows it: JSON, not longer than a few words.
pub(super) fn quoted(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => {
            let text = other.to_string();
            match text.char_indices().nth(60) {
                Some((at, _)) => format!("{}…", &text[..at]),
                None => text,
            }
        }
    }
}
