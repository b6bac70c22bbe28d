//! A place in the text at hand: the readers of arguments move one, each for its part.

use std::ops::{Deref, DerefMut, Range};

use crate::event::End;
use crate::fault::FaultKind;
use crate::notes::Notes;
use crate::scan::{Anchored, Automaton, Match, Scan};

/// Takes JSON text, and the place in the input that it stands for.
pub(crate) type Emit<'e> = &'e mut dyn FnMut(&str, Range<usize>);

/// How far the text at hand has been read, and what was odd in it.
#[derive(Debug)]
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t str,
    pub(crate) bytes: &'t [u8],
    /// Where in the answer the text begins.
    pub(crate) base: u64,
    /// How the answer ended, if it did.
    pub(crate) end: Option<End>,
    /// The byte at hand.
    pub(crate) look: usize,
    /// The first byte that has not been passed on. Everything from it on has to be there again next time.
    pub(crate) kept: usize,
    /// Bytes that were looked at again.
    pub(crate) again: u64,
    /// Where in the answer a search for the rest of a value ended in vain.
    pub(crate) doubted: u64,
    pub(crate) notes: &'t mut Notes,
}

impl<'t> Cursor<'t> {
    /// At the beginning of a text that is there as a whole, or will be where `end` is none.
    pub(crate) fn new(text: &'t str, end: Option<End>, notes: &'t mut Notes) -> Self {
        Self { text, bytes: text.as_bytes(), base: 0, end, look: 0, kept: 0, again: 0, doubted: 0, notes }
    }

    /// No more text will come.
    pub(crate) fn last(&self) -> bool {
        self.end.is_some()
    }

    /// The text from the byte at hand on.
    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.look..]
    }

    /// Goes back to read something again.
    pub(crate) fn rewind(&mut self, to: usize) {
        self.again += self.look.saturating_sub(to) as u64;
        self.look = to;
    }

    /// Where in the answer this place of the text is.
    pub(crate) fn place(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    /// Something was odd at this place of the text.
    pub(crate) fn note(&mut self, kind: FaultKind, at: usize) {
        let place = self.place(at);
        self.notes.add(kind, place);
    }

    /// The dialect's own markup was guessed there.
    pub(crate) fn note_markup(&mut self, kind: FaultKind, at: usize) {
        let place = self.place(at);
        self.notes.add_markup(kind, place);
    }

    /// The next of `marks` from the byte at hand on.
    pub(crate) fn find(&mut self, marks: &Automaton, scan: &mut Scan) -> Option<Match> {
        marks.find(scan, self.bytes, &mut self.look, &mut self.again)
    }

    /// Which of `marks` stands at hand.
    pub(crate) fn follow(&mut self, marks: &Automaton, scan: &mut Scan) -> Anchored {
        marks.follow(scan, self.bytes, &mut self.look, &mut self.again)
    }
}

/// A place, what is `given` to the reader there, and where what it reads goes.
pub(crate) struct On<'c, 't, G> {
    pub(crate) given: G,
    pub(crate) at: &'c mut Cursor<'t>,
    pub(crate) emit: Emit<'c>,
}

impl<'t, G> Deref for On<'_, 't, G> {
    type Target = Cursor<'t>;

    fn deref(&self) -> &Cursor<'t> {
        self.at
    }
}

impl<G> DerefMut for On<'_, '_, G> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.at
    }
}
