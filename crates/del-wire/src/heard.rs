//! What one event of a stream says, whichever API it is in.

use std::borrow::Cow;
use std::ops::Range;

use crate::chunk::Chunk;

/// What one event of a stream says.
#[derive(Debug)]
pub enum Heard<'a> {
    /// More of the answer, or an error; and where its text stands in the event, if that is a chunk of a chat with a text
    /// and nothing else.
    Chunk(Cow<'a, Chunk>, Option<Range<usize>>),
    /// Nothing of the answer.
    Nothing,
    /// The answer is over.
    Done,
}
