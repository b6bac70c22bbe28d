//! The headers of a format of channels, as the reader needs them.

use crate::dialect::{Channels, Mark, Need, Piece};
use crate::scan::Automaton;

/// All that concerns the headers of one dialect.
#[derive(Debug)]
pub(in crate::parse) struct Heading {
    /// The marks in a header.
    pub(in crate::parse) marks: Automaton,
    pub(in crate::parse) kinds: Vec<HeaderMark>,
    /// The words that begin what is left of a header without its marks: each with the author before it, and then each
    /// alone.
    pub(in crate::parse) residues: Automaton,
    /// Ends a body.
    pub(in crate::parse) end: Mark,
    /// Bodies of calls begin and name them by themselves, as tags do.
    pub(in crate::parse) inside: bool,
    /// The walks whose headers begin alike: the header tells them apart.
    pub(in crate::parse) group: Vec<usize>,
    /// The kind of thinking that bodies are, and of results that a model invents in one.
    pub(in crate::parse) thought: usize,
    pub(in crate::parse) invented: usize,
}

/// What a mark in a header is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum HeaderMark {
    /// It ends the header.
    Message,
    /// The content type follows.
    Constrain,
    /// The author or the channel follows.
    Opener,
}

impl Heading {
    pub(super) fn new(channels: &Channels, body: &[Piece]) -> Self {
        let Channels { message, constrain, start, channel, .. } = channels;
        let marks = message.iter().chain(constrain).chain(start).chain(channel);
        let mut kinds = vec![HeaderMark::Message; message.len()];
        kinds.resize(kinds.len() + constrain.len(), HeaderMark::Constrain);
        kinds.resize(kinds.len() + start.len() + channel.len(), HeaderMark::Opener);
        let bare: Vec<String> = channels.residues().chain(channels.bare.iter().cloned()).collect();
        Self {
            residues: Automaton::new(bare.iter().map(String::as_str)),
            marks: Automaton::new(marks.map(String::as_str)),
            kinds,
            end: Mark {
                write: String::new(),
                read: channels.ends.clone(),
                need: Need::Free,
                line_start: false,
            },
            inside: !matches!(body.first(), Some(Piece::Args(_))),
            group: Vec::new(),
            thought: 0,
            invented: 0,
        }
    }
}
