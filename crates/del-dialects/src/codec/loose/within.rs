//! A mark inside a text that only follows a call: the text may never have been closed.
//!
//! The text is data with all that stands in it, calls in their own quotes included, if a quote closes it further on.
//! If none does, its call is broken, and the one inside it is meant.

use super::marks::TextEnd;
use super::{LooseProgress, LooseReader, On, State, Stop};
use crate::codec::json::white_space;
use crate::turn::End;

/// How far the text behind the mark has been looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Within {
    /// In a call inside the text.
    call: bool,
    /// In a text of that call.
    open: bool,
    /// So many quotes belong to such calls.
    quotes: usize,
    /// Behind a quote that opens a text of such a call, or closes the text at hand.
    quote: bool,
}

impl Default for Within {
    fn default() -> Self {
        Self { call: true, open: false, quotes: 0, quote: false }
    }
}

/// So far a quote is looked for, in bytes.
const AHEAD: usize = 4096;

impl LooseReader {
    pub(super) fn within(&mut self, on: &mut On<'_, '_>, mut at: Within) -> Stop {
        let Some(ends) = &on.given.marks.closers[self.text.quote_place()] else {
            return Some(LooseProgress::Broken);
        };
        let edge = on.kept + AHEAD;
        let window = &on.bytes[..on.bytes.len().min(edge)];
        let closed = loop {
            if at.quote {
                on.look += white_space(&window[on.look..]);
                let Some(&byte) = window.get(on.look) else { break None };
                if byte == b',' || self.stack.iter().any(|bracket| bracket.closer() == byte) {
                    break Some(());
                }
                at = Within { open: true, quotes: at.quotes + 1, quote: false, ..at };
            }
            let Some(hit) = ends.marks.find(&mut self.scan, window, &mut on.look, &mut on.again) else {
                break None;
            };
            match ends.kind(hit) {
                TextEnd::Quote if !at.call => break Some(()),
                TextEnd::Quote if at.open => at = Within { open: false, quotes: at.quotes + 1, ..at },
                TextEnd::Quote => {
                    on.look = hit.end;
                    at.quote = true;
                }
                TextEnd::Lost => at.call &= at.open,
                TextEnd::Other => at.call = true,
                TextEnd::Escape => {}
            }
        };
        let goes_on = match closed {
            Some(()) => true,
            None if window.len() == edge => true,
            None if on.given.end.is_some() && at.quotes == 0 => true,
            None if on.given.end == Some(End::End) => at.quote,
            None => {
                self.state = State::Within(at);
                return Some(LooseProgress::More);
            }
        };
        if closed.is_none() {
            self.doubted = self.base + on.look as u64;
        }
        on.back(on.kept);
        if !goes_on {
            return Some(LooseProgress::Broken);
        }
        self.text.sure = true;
        self.text.quotes = closed.map(|()| at.quotes);
        self.enter(State::Text);
        None
    }
}
