//! How arguments are written: one file a codec, and in it both directions.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::fault::FaultKind;
use crate::schema::Typed;

pub(crate) mod attributes;
pub(crate) mod call;
pub(crate) mod fields;
pub(crate) mod head;
pub(crate) mod literals;
pub(crate) mod reading;

/// How far the arguments are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgsProgress {
    More,
    /// The first key is read, or there is none: the reader stops here once, before anything is passed on.
    Begun,
    /// All is read, and the closer of the call with this place in its steps, if it was one that followed.
    Done(Option<usize>),
    /// The answer ended behind a value.
    Ended,
    Broken,
    /// A value is nested deeper than the limit.
    TooDeep,
}

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

    /// Remembers what was odd in a value.
    pub(crate) fn add_read(&mut self, read: &Typed, at: usize) {
        if !read.fits {
            self.add(FaultKind::WrongType, at);
        }
        if let Some(kind) = read.mended {
            self.add(kind, at);
        }
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

/// The members of a JSON object, in order, each value as it is spelt; none when `json` is no object.
pub(crate) fn members(json: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    let mut json = serde_json::Deserializer::from_str(json);
    let members = json.deserialize_map(Members).ok()?;
    json.end().ok()?;
    Some(members)
}
