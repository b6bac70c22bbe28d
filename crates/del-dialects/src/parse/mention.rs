//! A mark among the words of a quotation: it is talked about. It is so when plain words follow it, up to the quote that
//! closes the quotation, on the same line.

use super::tail::REACH;
use super::{Engine, Flow, Io, State};
use crate::scan::Scan;

/// A mark that may be talked about. Offsets count from the first byte that is held.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    /// Where the mark begins and ends.
    start: usize,
    end: usize,
    /// The quote that is open before it, once that was looked for.
    quote: Option<u8>,
    /// The kind of thinking that it stands in.
    thought: Option<usize>,
}

/// The quotation that is open, as far as the text was looked at for one.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Quotation {
    to: u64,
    open: Option<u8>,
    /// How far it is known of marks whether they stand in one.
    known: u64,
}

impl Engine {
    /// True when it has to be seen first whether the mark is talked about.
    pub(super) fn may_be_mentioned(
        &mut self,
        io: &mut Io<'_>,
        (start, end): (usize, usize),
        thought: Option<usize>,
    ) -> bool {
        let known = io.base + (start as u64) < self.quotes.quotation.known;
        let behind = io.bytes.get(end).is_none_or(|byte| is_beside(*byte));
        if known || !behind || !is_beside(self.before(io, start)[1]) {
            return false;
        }
        io.rewind(end);
        let (start, end) = (start - io.at, end - io.at);
        self.state = State::Mention(Mention { start, end, quote: None, thought });
        true
    }

    /// Whether a mark stands in quotes that were found to close behind it.
    pub(super) fn is_mentioned(&self, io: &Io<'_>, start: usize) -> bool {
        io.base + (start as u64) < self.quotes.closed_to
    }

    pub(super) fn mention(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Mention(mention) = self.state else { return Flow::Next };
        let (start, end) = (io.at + mention.start, io.at + mention.end);
        let quote = match mention.quote {
            Some(quote) => Some(quote),
            None => match io.bytes[end..].iter().take(2).find(|byte| **byte != b' ') {
                None if io.bytes.len() < end + 2 && !io.last() => return Flow::More,
                // No plain words follow, so the text before need not be looked at.
                Some(byte) if ends_words(*byte) => None,
                _ => self.quote_around(io, start, end),
            },
        };
        let closed = quote.map_or(Some(false), |quote| closes(io, end, quote));
        let Some(closed) = closed else {
            self.state = State::Mention(Mention { quote, ..mention });
            return Flow::More;
        };
        self.quotes.quotation.known = io.base + end as u64;
        if closed {
            self.quotes.closed_to = self.quotes.quotation.known;
        }
        io.rewind(start);
        self.state = match mention.thought {
            Some(kind) => State::Thought { kind, scan: Scan::default() },
            None => State::Text(Scan::default()),
        };
        Flow::Next
    }

    /// The quote that is open before a mark, where nothing but it or a space stands beside the mark.
    fn quote_around(&mut self, io: &mut Io<'_>, start: usize, end: usize) -> Option<u8> {
        let beside = [self.before(io, start)[1], *io.bytes.get(end)?];
        let quote = if is_beside(beside[1]) { self.open_quote(io, start)? } else { return None };
        beside.iter().all(|byte| *byte == b' ' || *byte == quote).then_some(quote)
    }

    /// The quote that is open before `start`, on its line.
    pub(super) fn open_quote(&mut self, io: &mut Io<'_>, start: usize) -> Option<u8> {
        let here = io.base + start as u64;
        let from = here.saturating_sub(REACH as u64 - 1);
        if self.quotes.quotation.to < from {
            (self.quotes.quotation.to, self.quotes.quotation.open) = (from, None);
        }
        let held = usize::try_from(here.saturating_sub(self.quotes.quotation.to)).unwrap_or(0);
        let tail = self.tail_before(io, start);
        let tail = tail.bytes();
        io.again += held as u64;
        for at in REACH - held..REACH {
            let (before, byte) = (tail[at - 1], tail[at]);
            let behind = tail.get(at + 1).copied().unwrap_or(b'<');
            match self.quotes.quotation.open {
                _ if byte == b'\n' => self.quotes.quotation.open = None,
                Some(quote) if byte == quote && !is_word(behind) && !before.is_ascii_whitespace() => {
                    self.quotes.quotation.open = None;
                }
                None if is_quote(byte) && !is_word(before) => self.quotes.quotation.open = Some(byte),
                _ => {}
            }
        }
        self.quotes.quotation.to = here;
        self.quotes.quotation.open
    }
}

/// Whether plain words follow `end`, up to the quote that closes a quotation; none when that cannot be said yet.
fn closes(io: &mut Io<'_>, end: usize, quote: u8) -> Option<bool> {
    while let Some(&byte) = io.bytes.get(io.look) {
        if io.look - end >= REACH || ends_words(byte) {
            return Some(false);
        }
        if byte == quote {
            let before = io.bytes[io.look - 1];
            match io.bytes.get(io.look + 1) {
                None if !io.last() => return None,
                Some(behind) if is_word(*behind) && is_word(before) => {}
                Some(behind) if is_word(*behind) => return Some(false),
                _ => return Some(!before.is_ascii_whitespace()),
            }
        }
        io.look += 1;
    }
    io.last().then_some(false)
}

/// True for what is no part of plain words.
fn ends_words(byte: u8) -> bool {
    matches!(byte, b'\n' | b'<' | b'{' | b'[' | b'=')
}

/// True for what stands beside a mark that is talked about.
fn is_beside(byte: u8) -> bool {
    byte == b' ' || is_quote(byte)
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// True for a byte of a word, in which a quote is an apostrophe.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
