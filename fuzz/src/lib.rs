//! What the targets share: how bytes say what is read, and the laws that every reading keeps.

#[path = "../../crates/del-dialects/tests/reading/mod.rs"]
pub mod reading;

use std::sync::{Arc, LazyLock};

use del_dialects::{Dialect, Dialects, End, Limits, Message, Parser, Span, Start, Tool, Turn};
use reading::{Merged, lawful, read};

/// The tools that models are told of.
pub fn tools() -> Arc<[Tool]> {
    static TOOLS: LazyLock<Arc<[Tool]>> = LazyLock::new(|| {
        let text = include_str!("../../crates/del-dialects/dialects/tools.json");
        let tools: Vec<Tool> = serde_json::from_str(text).expect("a list of tools");
        tools.into()
    });
    Arc::clone(&TOOLS)
}

/// How a text is read: two bytes say it.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// One dialect, or all.
    pub dialect: Option<&'static Arc<Dialect>>,
    pub end: End,
    pub starts: Start,
    /// Whether the tools are declared.
    pub tools: bool,
    /// Characters of a piece.
    pub size: usize,
}

impl Way {
    /// `which` is the place of a dialect in the order of `auto`; behind the last stand all of them.
    pub fn new(which: u8, flags: u8) -> Self {
        let all: Vec<&Arc<Dialect>> = Dialects::builtin().iter().collect();
        Self {
            dialect: all.get(usize::from(which) % (all.len() + 1)).copied(),
            end: if flags & 1 == 0 { End::End } else { End::Cut },
            starts: if flags & 2 == 0 { Start::Text } else { Start::Reasoning },
            tools: flags & 4 == 0,
            size: 1 + usize::from(flags >> 3),
        }
    }

    /// Takes the two bytes off the input; what is left is text.
    pub fn of(data: &[u8]) -> Option<(Self, String)> {
        let (&[which, flags], text) = data.split_first_chunk()?;
        Some((Self::new(which, flags), String::from_utf8_lossy(text).into_owned()))
    }

    pub fn turn(self) -> Turn {
        let tools = if self.tools { tools() } else { Vec::new().into() };
        let mut limits = Limits::default();
        limits.calls = u32::MAX;
        Turn::new(tools).starting(self.starts).limited(limits)
    }

    pub fn parser(self) -> Parser {
        match self.dialect {
            Some(dialect) => dialect.parser(self.turn()),
            None => Dialects::builtin().parser(self.turn()),
        }
    }

    /// Reads a text in pieces, and holds what comes of it to the laws.
    pub fn read<'t>(
        self,
        text: &str,
        pieces: impl IntoIterator<Item = &'t str>,
    ) -> (Message, Vec<(Merged, Span)>) {
        let read = read(self.parser(), pieces, self.end);
        hold(text, &read.1);
        read
    }
}

/// Panics when events break a law.
pub fn hold(text: &str, events: &[(Merged, Span)]) {
    if let Err(why) = lawful(text, events) {
        panic!("{why}\n{text:?}\n{events:#?}");
    }
}
