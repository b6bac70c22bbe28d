//! A mark in a code fence behind prose: an example that the prose cites, or a call. It is an example when prose goes on
//! behind the fence.

use super::body::MAX_BARE;
use super::{Engine, Flow, Io, State};
use crate::scan::find;
use crate::value::white_space;

/// A mark that waits for the end of its fence. Offsets count from the first byte that is held.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cited {
    /// Where the mark begins.
    start: usize,
    /// Where the fence ends, once that is known.
    end: Option<usize>,
}

impl Engine {
    /// True when a mark here has to wait for the end of the fence that it stands in.
    pub(super) fn awaits_fence(&self) -> bool {
        self.text.fence.is_open() && self.text.fence.behind_prose && !self.quotes.fence_ends
    }

    /// Waits for the end of the fence around `start`.
    pub(super) fn wait_for_fence(&mut self, io: &mut Io<'_>, start: usize) {
        io.rewind(start);
        self.state = State::Cited(Cited { start: start - io.at, end: None });
    }

    pub(super) fn cited(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Cited(cited) = &mut self.state else { return Flow::Next };
        let start = io.at + cited.start;
        if cited.end.is_none() {
            let marks = self.text.fence.closer();
            let from = io.look.saturating_sub(marks.len() - 1).max(start);
            cited.end = closing_line(&io.bytes[start..], from - start, marks).map(|end| start + end - io.at);
            io.look = cited.end.map_or(io.bytes.len(), |end| io.look.max(io.at + end));
        }
        let end = cited.end.map(|end| io.at + end);
        let behind = end.map(|end| end + white_space(&io.bytes[end..]));
        let goes_on = behind.is_some_and(|behind| behind < io.bytes.len());
        let long = io.bytes.len() - start > MAX_BARE;
        if !goes_on && !long && !io.last() {
            io.look = io.bytes.len();
            return Flow::More;
        }
        let example = end.filter(|_| goes_on);
        self.quotes.fence_ends = example.is_none();
        // Nothing in an example is a mark.
        io.rewind(example.unwrap_or(start));
        self.resume_text();
        Flow::Next
    }
}

/// Where the line ends that closes a fence with these marks, from this place of `text` on. It may be indented, or stand right
/// behind markup.
fn closing_line(text: &[u8], mut from: usize, marks: &[u8]) -> Option<usize> {
    loop {
        let at = from + find(text.get(from..)?, marks)?;
        let indent = text[..at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if text[..at - indent].ends_with(b"\n") || text[..at].ends_with(b">") {
            return Some(at + marks.len());
        }
        from = at + 1;
    }
}
