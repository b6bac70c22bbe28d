//! The part of the shell's language that is understood exactly: simple commands with literal words, quotes and the
//! wildcards `*` and `?`, joined by `|`, `&&`, `||`, `;` and newlines, with redirections that write nothing.
//!
//! What this reads, bash reads the same way. Everything else is an [`Unclear`] and never a guess.

mod lexer;
mod parser;

use std::ops::Range;

pub(crate) use parser::parse;

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
    pub(crate) commands: Vec<Simple>,
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
    pub(crate) value: String,
}

/// A word as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    /// How many bytes at its beginning are neither quoted nor escaped.
    pub(crate) plain: usize,
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
    /// One of [`VARIABLES`], between double quotes or not.
    Variable { name: &'static str, quoted: bool },
}

/// Variables whose values are known before anything runs.
pub(crate) const VARIABLES: [&str; 6] = ["HOME", "LOGNAME", "PATH", "PWD", "SHELL", "USER"];

/// What happens to an input or output of a command. None of these writes a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Redirection {
    /// `2>/dev/null`
    Discard(Output),
    /// `&>/dev/null`
    DiscardBoth,
    /// `2>&1`: the first goes where the second goes.
    Join(Output, Output),
    /// `< FILE`
    Input(Word),
    /// `<<< TEXT`, with the newline that the shell adds.
    Text(String),
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
    #[error("braces may expand to several words")]
    Brace,
    #[error("`[` may match any of several characters")]
    Bracket,
    #[error("a word of the shell's own language")]
    Keyword,
    #[error("parentheses, functions and subshells are not read")]
    Parenthesis,
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
    #[error("a here-document is not read")]
    HereDocument,
    #[error("a wildcard where one exact word is needed")]
    Wildcard,
}

impl Word {
    /// The word itself when it holds no wildcard.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The word with its wildcards as characters: what the shell leaves when nothing matches.
    pub(crate) fn unmatched(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Any => text.push('*'),
                Piece::One => text.push('?'),
                Piece::Variable { name, .. } => {
                    text.push('$');
                    text.push_str(name);
                }
            }
        }
        text
    }

    /// The word with the values of its variables. `None` where a value is not known, or would fall apart into several
    /// words or match file names outside of quotes.
    pub(crate) fn with_values(&self, value: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let mut pieces: Vec<Piece> = Vec::new();
        for piece in &self.pieces {
            let piece = match piece {
                Piece::Variable { name, quoted } => {
                    let value = value(name)
                        .filter(|value| !value.is_empty() && !value.chars().any(char::is_control))?;
                    let plain = |c: char| {
                        c.is_alphanumeric() || matches!(c, '/' | '_' | '.' | ':' | '-' | '+' | '@' | ',')
                    };
                    if !quoted && !value.chars().all(plain) {
                        return None;
                    }
                    Piece::Text(value)
                }
                piece => piece.clone(),
            };
            match (pieces.last_mut(), piece) {
                (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
                (_, piece) => pieces.push(piece),
            }
        }
        Some(Self { pieces, ..self.clone() })
    }
}
