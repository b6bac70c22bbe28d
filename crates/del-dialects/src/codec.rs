//! How arguments are written: one file a codec, and in it both directions.

pub(crate) mod attributes;
pub(crate) mod call;
pub(crate) mod fields;
pub(crate) mod head;
pub(crate) mod literals;
pub(crate) mod misplaced;
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
