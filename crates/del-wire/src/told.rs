//! What a client is told of an answer, whatever its API: pieces of choices, in their order.

mod blocks;
mod details;
mod paragraphs;

use std::fmt::Debug;
use std::ops::Range;

use serde_json::{Map, Value};

pub use self::blocks::{Block, Blocks};
pub use self::paragraphs::Paragraphs;
use crate::api_error::ApiError;
use crate::chunk::{Chunk, Delta, Times};
use crate::citation::Citation;
use crate::logprobs;
use crate::members::Members;

/// The seal of a thought whose server has none: some clients leave thoughts out that have no seal at all. No server gets it.
pub(crate) const UNSEALED: &str = "unsealed";

/// Something new of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// More of what the model thought.
    Reasoning(String),
    /// The server's seal on the thinking before it.
    Signature(String),
    /// A thought that the server shows to nobody, as it wants it back.
    Redacted(String),
    /// Pieces of thoughts in the server's own words, as it takes them back.
    Details(Vec<Value>),
    /// More text.
    Text(String),
    /// The text, or the thought, that comes next is a paragraph of its own. Once [`Paragraphs`] were written, it stands
    /// before texts alone, in messages that have them apart.
    Paragraph,
    /// Where the text before it has something from.
    Citation(Citation),
    /// An item that stands for the conversation so far from now on.
    Compaction(Value),
    /// More of why the model does not do as it was asked.
    Refusal(String),
    /// A call begins. Its arguments and its end come before anything else; one that something else follows has broken off.
    Call {
        /// Its number in the choice.
        index: u32,
        /// Its id, which no other call has.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of the arguments of a call that has begun.
    Arguments {
        /// Its number.
        index: u32,
        /// JSON text.
        json: String,
    },
    /// Members of a call that are not known here.
    Beside {
        /// Its number.
        index: u32,
        /// The members.
        members: Map<String, Value>,
    },
    /// The call is whole.
    CallEnd {
        /// Its number.
        index: u32,
    },
    /// A call of a tool that takes a text in place of arguments begins, as other calls do.
    Custom {
        /// Its number.
        index: u32,
        /// Its id.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of that text.
    Input {
        /// The number of the call.
        index: u32,
        /// What is new.
        text: String,
    },
}

/// What one text of the server, streamed or whole, tells the client.
#[derive(Debug)]
pub struct Told<'a> {
    /// The server's own words, where they are a chat completion or a chunk of one.
    pub raw: Option<Raw<'a>>,
    /// The same, read.
    pub chunk: &'a Chunk,
    /// What is new of the choices.
    pub choices: Vec<ToldChoice>,
}

/// A chat completion, or a chunk of one.
#[derive(Debug, Clone)]
pub struct Raw<'a> {
    /// All of it.
    pub json: &'a str,
    /// Where its text stands in it, if it is a chunk with that and nothing else.
    pub text: Option<Range<usize>>,
}

impl Raw<'_> {
    /// What stands before and behind that text and its quotes.
    pub(crate) fn around(&self) -> Option<(&str, &str)> {
        let text = self.text.as_ref()?;
        Some((self.json.get(..text.start.checked_sub(1)?)?, self.json.get(text.end + 1..)?))
    }
}

impl Told<'_> {
    /// How likely the tokens were that are new of a choice.
    pub(crate) fn logprobs(&self, new: &ToldChoice) -> Vec<Value> {
        self.said_of(new).filter_map(|delta| delta.logprobs.as_deref()).flat_map(logprobs::read).collect()
    }

    /// True when what is new of its thinking is a summary.
    pub(crate) fn summarises(&self, new: &ToldChoice) -> bool {
        self.said_of(new).any(|delta| delta.summary)
    }

    /// At which text of the request's the server stopped.
    pub(crate) fn stopped_at(&self, new: &ToldChoice) -> Option<&str> {
        self.said_of(new).find_map(|delta| delta.stopped_at.as_deref())
    }

    /// How long the answer took.
    pub(crate) fn times(&self, new: &ToldChoice) -> Option<Times> {
        self.said_of(new).find_map(|delta| delta.times)
    }

    fn said_of(&self, new: &ToldChoice) -> impl Iterator<Item = &Delta> {
        let index = new.index;
        self.chunk.choices.iter().filter(move |delta| delta.choice == index)
    }
}

/// What is new of one choice.
#[derive(Debug, Default)]
pub struct ToldChoice {
    /// Its number.
    pub index: u32,
    /// Its place among those of the chunk, where it stands there.
    pub place: Option<usize>,
    /// Nothing was told of it before.
    pub first: bool,
    /// In their order.
    pub pieces: Vec<Piece>,
    /// Why it has ended, in the words of chat completions.
    pub reason: Option<String>,
}

/// Why a stream breaks off.
#[derive(Debug, Clone, Copy)]
pub struct Failure<'a> {
    /// In words.
    pub message: &'a str,
    /// What the server said of it, where it said so as JSON.
    pub raw: Option<&'a str>,
    /// The status that the answer would have had, where that is known.
    pub status: Option<u16>,
}

impl Failure<'_> {
    /// The error that it is, where something says so.
    pub(crate) fn error(&self) -> Option<ApiError> {
        let raw = self.raw?;
        Some(match self.status {
            Some(status) => ApiError::from_response(status, raw),
            None => ApiError::from_stream(raw),
        })
    }
}

/// Writes answers in the shape of one API.
pub trait ToClient: Debug + Send {
    /// What is new, as a part of a stream.
    fn tell(&mut self, told: &Told<'_>, out: &mut Vec<u8>);

    /// The stream is over. `remarks` are names and values of what headers would say of an answer that comes at once.
    fn done(&mut self, remarks: &[(&str, String)], out: &mut Vec<u8>);

    /// The stream breaks off.
    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>);

    /// An answer that comes at once.
    fn whole(&mut self, told: &Told<'_>) -> String;

    /// True where a message has all its text in one place, and all that was thought in another.
    fn in_one(&self) -> bool {
        false
    }

    /// True where the API has a place for this citation.
    fn cites(&self, _: &Citation) -> bool {
        false
    }

    /// True where what is not read of a server's answer goes on as it is, if the server speaks this API.
    fn keeps_unread(&self) -> bool {
        false
    }

    /// The answer as its client may ask for it again, as JSON, once it is over; nothing where the API has no such thing.
    fn kept(&self) -> Option<String> {
        None
    }

    /// The type of a stream.
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// What keeps a silent stream alive.
    fn keep_alive(&self) -> &'static str {
        ": keep-alive\n\n"
    }
}

/// One server-sent event with a name.
pub(crate) fn named_event(name: &str, data: &Members, out: &mut Vec<u8>) {
    for part in ["event: ", name, "\ndata: "] {
        out.extend_from_slice(part.as_bytes());
    }
    data.write(out);
    out.extend_from_slice(b"\n\n");
}

/// What headers would say, as comments of a stream.
pub(crate) fn comments(remarks: &[(&str, String)], out: &mut Vec<u8>) {
    for (name, value) in remarks {
        out.extend_from_slice(format!(": {name}: {value}\n\n").as_bytes());
    }
}
