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
            let fence = self.text.fence.closer();
            let from = io.look.saturating_sub(fence.len() - 1).max(start);
            let found = find(&io.bytes[from..], fence);
            cited.end = found.map(|at| from + at + fence.len() - io.at);
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
