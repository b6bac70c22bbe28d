//! The part of the shell's language that is understood exactly: simple commands, groups, `if`, `for` and `while read`,
//! joined by `|`, `&&`, `||`, `;` and newlines, of words, wildcards, variables and substitutions, with redirections.
//!
//! What this reads, bash reads the same way. Everything else is an [`Unclear`] and never a guess.

mod flat;
mod lexer;
mod parser;
mod sum;
mod word;

use std::ops::Range;

pub(crate) use flat::is_own_name;
pub(crate) use parser::{assigned, parse};

/// A longer text is not read.
pub(crate) const MAX_LENGTH: usize = 16 * 1024;
/// More commands than this in one text are not read.
pub(crate) const MAX_COMMANDS: usize = 48;
/// More words than this in one text are not read.
pub(crate) const MAX_WORDS: usize = 512;

/// Pipelines in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Script {
    pub(crate) pipelines: Vec<Pipeline>,
}

/// Commands whose output feeds the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pipeline {
    pub(crate) link: Link,
    /// Behind `!`: its status is turned round.
    pub(crate) negated: bool,
    /// Behind `time`: how long it took is said.
    pub(crate) timed: bool,
    pub(crate) commands: Vec<Command>,
}

/// A part of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    Simple(Simple),
    Compound(Compound, Vec<Redirection>),
}

/// Commands that hold commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compound {
    /// `{ … }`
    Group(Script),
    /// `( … )`, or conditions in `[[ … ]]`
    Subshell(Script),
    /// `if`, with the conditions and what follows each of them.
    If { arms: Vec<(Script, Script)>, otherwise: Option<Script> },
    /// `for NAME in WORDS`
    For { name: String, words: Vec<Word>, body: Script },
    /// `while read NAME …`: whether backslashes are characters, and what stands between the fields of a line.
    Read { names: Vec<String>, raw: bool, separators: String, body: Script },
}

/// When a pipeline runs, after those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Whatever became of them.
    Always,
    /// If the last one that ran succeeded: `&&`.
    And,
    /// If the last one that ran failed: `||`.
    Or,
}

/// A program with its words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirections: Vec<Redirection>,
}

/// `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: Word,
}

/// A word as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    /// How many bytes at its beginning are neither quoted nor escaped.
    pub(crate) plain: usize,
    /// Whether it is more than these bytes: quotes, even empty ones, or something to be expanded.
    pub(crate) quoted: bool,
    /// Where it stands.
    pub(crate) span: Range<usize>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// These characters and no others.
    Text(String),
    /// `*`
    Any,
    /// `?`
    One,
    /// `[a-z]`: the characters from the first to the last of each range, or all others.
    Set { others: bool, ranges: Vec<(char, char)> },
    /// `{a,b}`: one word for each.
    Choice(Vec<String>),
    /// `$NAME`, or `$?`, between double quotes or not.
    Variable { name: String, quoted: bool },
    /// `$(…)`, between double quotes or not.
    Output { script: Box<Script>, quoted: bool },
    /// `<(…)`: a file with what these print. It is a word of its own.
    File(Box<Script>),
    /// `$((…))` with names in it.
    Sum(String),
    /// A value that stands outside of quotes: blanks divide it, and wildcards in it match.
    Value(String),
}

/// Commands whose output stands in a word, or in a file that the word names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Substitution<'a> {
    pub(crate) script: &'a Script,
    pub(crate) is_file: bool,
}

/// Variables whose values are known before anything runs.
pub(crate) const VARIABLES: [&str; 6] = ["HOME", "LOGNAME", "PATH", "PWD", "SHELL", "USER"];

/// What happens to an input or output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Redirection {
    /// `2>/dev/null`
    Discard(Output),
    /// `&>/dev/null`
    DiscardBoth,
    /// `2>&1`: the first goes where the second goes.
    Join(Output, Output),
    /// `> FILE`: it stands at this character.
    Write(usize),
    /// `< FILE`
    Input(Word),
    /// `<<< TEXT`, with the newline that the shell adds, or a here-document.
    Text(Word),
}

/// An output of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Descriptor 1.
    Standard,
    /// Descriptor 2.
    Error,
}

/// Why a text is not understood, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {}: {cause}", at + 1)]
pub(crate) struct Unclear {
    /// In characters from the beginning.
    pub(crate) at: usize,
    pub(crate) cause: Cause,
}

/// What is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Cause {
    #[error("there is no command")]
    Empty,
    #[error("the command is longer than {MAX_LENGTH} bytes")]
    Long,
    #[error("more than {MAX_COMMANDS} commands or {MAX_WORDS} words")]
    Many,
    #[error("a control character")]
    Control,
    #[error("an invisible or unusual character")]
    Unusual,
    #[error("`$` may expand to anything")]
    Dollar,
    #[error("a backquote runs a command")]
    Backquote,
    #[error("`~` stands for a directory elsewhere")]
    Tilde,
    #[error("braces that may expand in another way than is read here")]
    Brace,
    #[error("`[` that is no plain list of characters")]
    Bracket,
    #[error("a word of the shell's own language")]
    Keyword,
    #[error(
        "parentheses that are not read: functions, lists, arithmetic, and files that are parts of words or written to"
    )]
    Parenthesis,
    #[error("a command inside of commands without its beginning or end")]
    Nesting,
    #[error("of loops only `for NAME in WORDS` and `while read NAME` are read")]
    Loop,
    #[error("a condition that is not read")]
    Condition,
    #[error("`&` runs a command in the background")]
    Background,
    #[error("a quote without its end")]
    Quote,
    #[error("a backslash at the end")]
    Backslash,
    #[error("`{0}` has nothing to its right or left")]
    Dangling(&'static str),
    #[error("this redirection may write a file")]
    Writes,
    #[error("this redirection is not read")]
    Redirection,
    #[error("a here-document that computes something, or without its end")]
    HereDocument,
    #[error("a wildcard where one exact word is needed")]
    Wildcard,
}
