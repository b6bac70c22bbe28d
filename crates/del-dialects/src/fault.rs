//! What was wrong with an answer. A fault is data in the stream, never an error.

use std::fmt;

/// One thing that was wrong, or was mended. Where it stands is the event's span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What it is.
    pub kind: FaultKind,
    /// The call it belongs to, when that call has begun.
    pub call: Option<u32>,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The answer ended inside a call. The call does not count.
    UnclosedCall,
    /// The call's arguments cannot be read. The call does not count.
    BadArguments,
    /// The call has no name, or its opening is broken. The call does not count.
    BadCall,
    /// Closing markup is missing; everything before it is whole, so the call counts.
    MissingCloser,
    /// Opening markup is missing; the rest is unmistakable, so the call counts.
    MissingOpener,
    /// A marker stands where it has no meaning, and was dropped.
    OrphanMark,
    /// The arguments were mended where that cannot change them: other quotes, bare keys, comments, a trailing comma.
    Repaired,
    /// A delimiter inside the arguments is missing, doubled or misspelt: where a value or a key ends is a guess.
    GuessedBorder,
    /// A value, a word or a number was mended by a guess.
    GuessedValue,
    /// The arguments were JSON inside a JSON string, and were unwrapped.
    DoubleEncoded,
    /// An argument is given twice; of fields between marks the last counts, of a call object's members the first.
    DuplicateKey,
    /// The model wrote the result of a tool itself; the block was dropped.
    InventedResult,
    /// The answer ended inside the model's thinking.
    UnclosedReasoning,
    /// The thinking was closed without having been opened.
    ReasoningNotOpened,
    /// The value does not fit the type that the tool's schema declares; it is passed on as text.
    WrongType,
    /// An object or a call of Python in the text has the form of a call, and names no declared tool: it is text.
    NotDeclared,
    /// More than [`Limits`](crate::Limits) allow: the call does not count.
    Limit,
}

impl FaultKind {
    /// Every kind there is.
    pub const ALL: &'static [Self] = &[
        Self::UnclosedCall,
        Self::BadArguments,
        Self::BadCall,
        Self::MissingCloser,
        Self::MissingOpener,
        Self::OrphanMark,
        Self::Repaired,
        Self::GuessedBorder,
        Self::GuessedValue,
        Self::DoubleEncoded,
        Self::DuplicateKey,
        Self::InventedResult,
        Self::UnclosedReasoning,
        Self::ReasoningNotOpened,
        Self::WrongType,
        Self::NotDeclared,
        Self::Limit,
    ];

    /// The name of this kind in answers of `del parse`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnclosedCall => "unclosed_call",
            Self::BadArguments => "bad_arguments",
            Self::BadCall => "bad_call",
            Self::MissingCloser => "missing_closer",
            Self::MissingOpener => "missing_opener",
            Self::OrphanMark => "orphan_mark",
            Self::Repaired => "repaired",
            Self::GuessedBorder => "guessed_border",
            Self::GuessedValue => "guessed_value",
            Self::DoubleEncoded => "double_encoded",
            Self::DuplicateKey => "duplicate_key",
            Self::InventedResult => "invented_result",
            Self::UnclosedReasoning => "unclosed_reasoning",
            Self::ReasoningNotOpened => "reasoning_not_opened",
            Self::WrongType => "wrong_type",
            Self::NotDeclared => "not_declared",
            Self::Limit => "limit",
        }
    }

    /// One sentence for a person.
    pub const fn message(self) -> &'static str {
        match self {
            Self::UnclosedCall => "the answer ended inside a call; the call was left out",
            Self::BadArguments => "the arguments cannot be read; the call was left out",
            Self::BadCall => "this opens a call that has no readable name; it was left out",
            Self::MissingCloser => "closing markup is missing; the call is whole without it",
            Self::MissingOpener => "opening markup is missing; the call is clear without it",
            Self::OrphanMark => "a marker stands here without a call; it was dropped",
            Self::Repaired => "the arguments were not quite as the dialect writes them and were mended",
            Self::GuessedBorder => {
                "a delimiter in the arguments is missing or misplaced; where a value ends is a guess"
            }
            Self::GuessedValue => "a value in the arguments was mended by a guess",
            Self::DoubleEncoded => "the arguments were JSON inside a string and were unwrapped",
            Self::DuplicateKey => "an argument is given twice",
            Self::InventedResult => "the model invented the result of a tool; it was dropped",
            Self::UnclosedReasoning => "the answer ended inside the model's thinking",
            Self::ReasoningNotOpened => "thinking was closed that had not been opened",
            Self::WrongType => "a value does not fit the declared type and is passed on as text",
            Self::NotDeclared => "this reads like a call, but no tool of this name is declared; it is text",
            Self::Limit => "a limit was reached; the call was left out",
        }
    }

    /// True when recovery may have changed a value, a key or the border of one: ask before such a call acts.
    pub const fn changes_arguments(self) -> bool {
        matches!(self, Self::GuessedBorder | Self::GuessedValue | Self::DuplicateKey)
    }

    /// True when the call that the fault belongs to does not count.
    pub const fn ends_call(self) -> bool {
        matches!(self, Self::UnclosedCall | Self::BadArguments | Self::BadCall | Self::Limit)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
