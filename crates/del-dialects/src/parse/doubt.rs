//! Calls that may be parts of a value, or end inside one.
//!
//! Where nothing escapes the markup that a value may hold, a value that quotes markup looks like its own end, and what it
//! quotes like calls. Guesses about where values end, and closers that nothing opened, give that away, but not which of the
//! calls they belong to: so all of the answer are doubted, those before at once, those behind as they begin.

use super::{Engine, Io};
use crate::fault::FaultKind;

impl Engine {
    /// Markup stands where none can.
    pub(super) fn doubt_calls(&mut self, io: &mut Io<'_>, at: usize) {
        for call in self.doubted_calls..self.call {
            io.fault(FaultKind::GuessedBorder, Some(call), at, at);
        }
        self.doubted_calls = self.call;
        self.doubtful = true;
    }

    /// A call begins at `start`, where calls may be doubted.
    pub(super) fn doubt(&mut self, io: &mut Io<'_>, start: usize) {
        if self.doubtful {
            self.doubted_calls = self.call + 1;
            io.fault(FaultKind::GuessedBorder, Some(self.call), start, start);
        }
    }
}
