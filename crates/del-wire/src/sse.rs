//! The bytes of a streamed answer to the texts in it.
//!
//! Reads server-sent events as the standard has them, and what servers send instead: JSON documents one after
//! another (a line each or spread over lines), events without the empty line between them, `error:` fields.

use std::borrow::Cow;

use memchr::memchr2;

use crate::balance::Balance;
use crate::error::excerpt;
use crate::halves::Halves;

/// What a stream holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// The data of one event, its lines joined by line feeds; bytes that are no UTF-8 became U+FFFD. Where the halves of a
    /// surrogate pair came in two events, both are in the second.
    Data {
        /// The event's name, empty if it has none.
        event: &'a str,
        /// The data, never empty.
        data: &'a str,
    },
    /// `[DONE]`: nothing counts after it.
    Done,
}

/// Why a stream cannot be read further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// One event is too big.
    #[error("one event of the server's stream is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Takes bytes cut anywhere; where they are cut cannot show.
///
/// Holds at most one event and one line, each up to the limit.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    line: Vec<u8>,
    skip_line_feed: bool,
    seen_line: bool,
    event: String,
    data: Option<String>,
    balance: Balance,
    document: bool,
    state: State,
    stray: Option<String>,
    halves: Halves,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Done,
    Failed,
}

impl Decoder {
    /// The default limit of one event: 16 MiB.
    pub const LIMIT: usize = 16 << 20;

    /// A decoder with the default limit.
    pub fn new() -> Self {
        Self::with_limit(Self::LIMIT)
    }

    /// A decoder that fails on a line or an event of more than `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            skip_line_feed: false,
            seen_line: false,
            event: String::new(),
            data: None,
            balance: Balance::default(),
            document: false,
            state: State::Reading,
            stray: None,
            halves: Halves::default(),
        }
    }

    /// Takes the next bytes. After an error every further call gives the same error.
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(Frame<'_>)) -> Result<(), SseError> {
        if self.state == State::Failed {
            return Err(self.fail());
        }
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.skip_line_feed) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(at) = memchr2(b'\n', b'\r', bytes) else {
                return self.hold(bytes);
            };
            self.skip_line_feed = bytes[at] == b'\r';
            let (line, rest) = (&bytes[..at], &bytes[at + 1..]);
            let last = bytes[at] == b'\n' && rest.first() == Some(&b'\n');
            if self.line.is_empty() && at <= self.limit {
                self.end_line(line, last, sink)?;
            } else {
                self.hold(line)?;
                let mut held = std::mem::take(&mut self.line);
                self.end_line(&held, last, sink)?;
                held.clear();
                self.line = held;
            }
            bytes = rest;
        }
        Ok(())
    }

    /// The stream has ended. What was begun is given out as far as it goes: after a hang-up it may be half an event.
    pub fn finish(mut self, sink: &mut impl FnMut(Frame<'_>)) -> Result<(), SseError> {
        if self.state == State::Failed {
            return Err(self.fail());
        }
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, false, sink)?;
        }
        self.dispatch(sink);
        Ok(())
    }

    /// The beginning of the first line that belongs to no event, for the error when no event comes at all.
    pub fn stray(&self) -> Option<&str> {
        self.stray.as_deref()
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        if self.line.len() + bytes.len() > self.limit {
            return Err(self.fail());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn fail(&mut self) -> SseError {
        self.state = State::Failed;
        SseError::TooLong { limit: self.limit }
    }

    /// Takes a line; `last` says that an empty one follows.
    fn end_line(
        &mut self,
        bytes: &[u8],
        last: bool,
        sink: &mut impl FnMut(Frame<'_>),
    ) -> Result<(), SseError> {
        // What is UTF-8, as nearly all is, is told so in one go.
        let text = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        let mut line = &*text;
        if !std::mem::replace(&mut self.seen_line, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        match line.strip_prefix("data: ") {
            _ if self.state != State::Reading => {}
            // An event of one line is given out as it came.
            Some(data) if last && self.data.is_none() => {
                self.give(data, sink);
                self.event.clear();
            }
            _ => self.take_line(line, sink)?,
        }
        Ok(())
    }

    fn take_line(&mut self, line: &str, sink: &mut impl FnMut(Frame<'_>)) -> Result<(), SseError> {
        let bare = line.trim_start();
        if self.document {
            self.add_data(line)?;
        } else if bare.starts_with('{') {
            self.dispatch(sink);
            self.document = true;
            self.add_data(bare)?;
        } else if line.is_empty() {
            self.dispatch(sink);
        } else if bare == "[DONE]" {
            self.dispatch(sink);
            self.give("[DONE]", sink);
        } else {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            self.take_field(name, value.strip_prefix(' ').unwrap_or(value), line, sink)?;
        }
        if self.document && self.balance.is_complete() {
            self.dispatch(sink);
        }
        Ok(())
    }

    fn take_field(
        &mut self,
        name: &str,
        value: &str,
        line: &str,
        sink: &mut impl FnMut(Frame<'_>),
    ) -> Result<(), SseError> {
        match name {
            "data" => {
                if self.holds_document() && (value.starts_with('{') || value == "[DONE]") {
                    self.dispatch(sink);
                }
                self.add_data(value)?;
            }
            "event" => value.clone_into(&mut self.event),
            "error" => {
                self.dispatch(sink);
                self.give(&format!("{{\"error\":{value}}}"), sink);
            }
            "" | "id" | "retry" => {}
            _ if self.stray.is_none() => self.stray = Some(excerpt(line)),
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) -> Result<(), SseError> {
        if self.data.as_ref().map_or(0, |data| data.len() + 1) + value.len() > self.limit {
            return Err(self.fail());
        }
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
        self.balance.follow(value);
        Ok(())
    }

    /// True when the data so far is a whole JSON object: what follows it is another event, blank line or not.
    fn holds_document(&self) -> bool {
        self.balance.is_complete() && self.data.as_deref().is_some_and(|data| data.starts_with('{'))
    }

    fn dispatch(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        self.balance = Balance::default();
        self.document = false;
        if let Some(data) = self.data.take() {
            self.give(&data, sink);
        }
        self.event.clear();
    }

    fn give(&mut self, data: &str, sink: &mut impl FnMut(Frame<'_>)) {
        if data.is_empty() || self.state != State::Reading {
            return;
        }
        if data.trim() == "[DONE]" {
            self.state = State::Done;
            sink(Frame::Done);
        } else {
            sink(Frame::Data { event: &self.event, data: &self.halves.join(data) });
        }
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}
