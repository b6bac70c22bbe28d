//! What was odd in the arguments of a call, told when the call is over.

use crate::fault::FaultKind;

/// Of each kind the first place in the answer.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Notes {
    /// The dialect's own markup was guessed, and not only what stands in a value.
    pub(crate) markup: bool,
    /// A bit for each kind that has a place.
    kinds: u16,
    first: [u64; NOTED.len()],
}

const NOTED: [FaultKind; 9] = [
    FaultKind::Repaired,
    FaultKind::GuessedBorder,
    FaultKind::GuessedValue,
    FaultKind::DoubleEncoded,
    FaultKind::DuplicateKey,
    FaultKind::MissingCloser,
    FaultKind::MissingOpener,
    FaultKind::OrphanMark,
    FaultKind::WrongType,
];

impl Notes {
    /// Remembers a place, unless the kind has one already.
    pub(crate) fn add(&mut self, kind: FaultKind, at: u64) {
        let place = NOTED.iter().position(|noted| *noted == kind);
        if let Some(place) = place.filter(|place| self.kinds >> place & 1 == 0) {
            self.kinds |= 1 << place;
            self.first[place] = at;
        }
    }

    /// Remembers a guess about the dialect's own markup.
    pub(crate) fn add_markup(&mut self, kind: FaultKind, at: u64) {
        self.add(kind, at);
        self.markup = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds == 0
    }

    /// All kinds that have a place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FaultKind, u64)> + use<> {
        let kinds = self.kinds;
        let noted = NOTED.into_iter().zip(self.first).enumerate();
        noted.filter(move |(place, _)| kinds >> place & 1 == 1).map(|(_, noted)| noted)
    }
}
