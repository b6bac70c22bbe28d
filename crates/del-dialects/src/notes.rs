//! What a reader found odd on its way, told when the call is over.

use crate::fault::FaultKind;

/// What was odd in arguments: of each kind the first place, in the text at hand.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Notes {
    any: bool,
    /// The dialect's own markup was guessed, and not only what stands in a value.
    pub(crate) markup: bool,
    first: [Option<usize>; NOTED.len()],
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
    pub(crate) fn add(&mut self, kind: FaultKind, at: usize) {
        if let Some(place) = NOTED.iter().position(|noted| *noted == kind) {
            self.first[place].get_or_insert(at);
            self.any = true;
        }
    }

    /// Remembers a guess about the dialect's own markup.
    pub(crate) fn add_markup(&mut self, kind: FaultKind, at: usize) {
        self.add(kind, at);
        self.markup = true;
    }

    /// Remembers what others have noted.
    pub(crate) fn add_all(&mut self, others: Option<Self>) {
        for (kind, at) in others.iter().flat_map(Self::iter) {
            self.add(kind, at);
        }
        self.markup |= others.is_some_and(|others| others.markup);
    }

    /// What was noted since this was asked last, if anything was: it mostly is not, piece after piece.
    pub(crate) fn take(&mut self) -> Option<Self> {
        self.any.then(|| std::mem::take(self))
    }

    /// All kinds that have a place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FaultKind, usize)> + use<> {
        NOTED.into_iter().zip(self.first).filter_map(|(kind, at)| Some((kind, at?)))
    }
}
