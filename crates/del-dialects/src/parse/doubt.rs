//! Calls that may be parts of a value, or end inside one.
//!
//! Where nothing escapes the markup that a value may hold, a value that quotes markup looks like its own end, and what it
//! quotes like calls. Guesses about where values end, and closers that nothing opened, give that away, but not which of the
//! calls they belong to: so all of the answer are doubted, those before at once, those behind as they begin.

use super::known::Rest;
use super::{Engine, Io};
use crate::fault::FaultKind;

/// Which calls are in doubt.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Doubt {
    /// Where a value ends was guessed, or a call broke inside one: a call that follows may be a part of that value.
    of_all: bool,
    /// So many calls are known to be doubtful.
    calls: u32,
}

impl Engine {
    /// Markup stands where none can.
    pub(super) fn doubt_calls(&mut self, io: &mut Io<'_>, at: usize) {
        for call in self.doubt.calls..self.call.number {
            io.fault(FaultKind::GuessedBorder, Some(call), at, at);
        }
        self.doubt.calls = self.call.number;
        self.doubt.of_all = true;
    }

    /// What stands at `at` may belong to the last call, with the text between them.
    pub(super) fn doubt_last(&mut self, io: &mut Io<'_>, at: usize) {
        let told = std::mem::replace(&mut self.call.rest, Rest::Doubted) == Rest::Doubted;
        if let Some(last) = self.call.number.checked_sub(1)
            && !told
            && self.doubt.calls <= last
        {
            io.fault(FaultKind::GuessedBorder, Some(last), at, at);
        }
    }

    /// A call begins at `start`, where calls may be doubted.
    pub(super) fn doubt(&mut self, io: &mut Io<'_>, start: usize) {
        if self.doubt.of_all {
            self.doubt.calls = self.call.number + 1;
            io.fault(FaultKind::GuessedBorder, Some(self.call.number), start, start);
        }
    }
}
