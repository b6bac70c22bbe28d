//! What a dialect is: a frame, an ordered walk of pieces, and a codec for the arguments.
//!
//! The reader, the writer and the grammar all walk the same [`Dialect`]. Nothing in it is code. Its parts follow the
//! language of descriptions: they gain fields with it, and are made by [`Dialect::from_toml`] alone.

mod channels;
mod check;
mod definitions;
mod form;
mod id;
mod once;
mod results;
mod source;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use channels::{Channels, Route, Written};
pub use check::DialectError;
pub use definitions::{Definitions, ParameterForm, Spelling, TypeForms};
pub use form::{CallForm, FieldForm, HeadForm, KeyKind, Nest, Slot};
pub(crate) use once::{Memo, Once};
pub use results::Results;

/// One dialect: everything that is known of how a family of models writes tool calls.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Dialect {
    /// Canonical name: the folder's name.
    pub name: String,
    /// The model family, for people.
    pub title: String,
    /// The group it belongs to in the documentation.
    pub family: String,
    /// Where the format is specified.
    pub source: String,
    /// Globs over model ids.
    pub models: Vec<String>,
    /// Names of this dialect in other engines: engine → names.
    pub aliases: BTreeMap<String, Vec<String>>,
    /// Place in the order of `auto` among dialects that could read the same text; lower reads first.
    pub rank: u16,
    /// How calls sit in the text.
    pub frame: Frame,
    /// Thinking.
    pub reasoning: Option<Reasoning>,
    /// Marks around the answer for the user.
    pub content: Content,
    /// Marks around a group of calls.
    pub block: Block,
    /// One call, in the order of its pieces.
    pub call: Vec<Piece>,
    /// Written between two calls of one answer.
    pub between: String,
    /// Written between text and the first call.
    pub lead: String,
    /// What is read as markup there, when it is there exactly: the longest that fits.
    pub leads: Vec<String>,
    /// Names by which a model says that it calls nothing: such a call is read and left out.
    pub none: Vec<String>,
    /// Names under which a model gives its answer, unless a tool of that name is declared: what such a call holds is text.
    pub answers: Vec<String>,
    /// A text in place of the arguments is the value of the tool's only parameter.
    pub takes_text: bool,
    /// The shape of ids, where a model knows no other: `#` stands for a digit, `*` for a letter or digit.
    pub ids: Option<String>,
    /// The tool that every call of this form is for, where the form itself says so.
    pub tool: Option<String>,
    /// Dialects that engines read under the same name, and that a parser of this one reads as well.
    pub reads: Vec<String>,
    /// Other forms of calls in the same dialect.
    pub variants: Vec<Arc<Dialect>>,
    /// Results on their way to the model, and invented ones on their way out.
    pub results: Results,
    /// How tools are shown to the model.
    pub definitions: Definitions,
    /// Tokens that end a turn; dropped where a server left them in the text.
    pub ends: Vec<String>,
    /// By what a chat template of this dialect is known, where its marks do not tell.
    pub detect: Option<Detect>,
    /// The TOML text.
    pub text: String,
    pub(crate) once: Once,
}

/// How calls sit in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Markers open and close a call.
    Tags,
    /// No marker: a bounded prefix at the start of the answer or of a line decides between call and text.
    Bare,
    /// A header routes each body to thinking, text or a call.
    Channels(Box<Channels>),
}

/// The marks of thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reasoning {
    /// Opens it; the first spelling is written.
    pub begin: Vec<String>,
    /// Closes it; the first spelling is written.
    pub end: Vec<String>,
    /// True when a call ends thinking that was not closed.
    pub until_call: bool,
    /// True when calls may stand inside thinking, which goes on behind them.
    pub holds_calls: bool,
    /// True when the prompt normally ends inside the thinking.
    pub prefilled: bool,
}

/// Marks around the answer for the user, which are not for the user; empty when there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Content {
    /// Begins it, where nothing but thinking comes before.
    pub begin: Vec<String>,
    /// Ends it, where it was begun.
    pub end: Vec<String>,
}

/// Marks around a group of calls; empty when there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// In order.
    pub open: Vec<Mark>,
    /// In order.
    pub close: Vec<Mark>,
}

/// One step of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A mark, and with it what directly follows it.
    Mark(Mark, Option<HeadForm>),
    /// Where name or id stand.
    Head(HeadForm),
    /// The arguments.
    Args(Codec),
}

/// A piece of markup: read wide, written narrow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// What is written, white space included.
    pub write: String,
    /// All spellings that are read, without the white space around: the written one first. A NUL in one stands for any
    /// suffix, a colon and a word.
    pub read: Vec<String>,
    /// Whether it has to be there.
    pub need: Need,
    /// True when it only counts at the start of a line.
    pub line_start: bool,
}

/// Whether a mark has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It has to.
    Must,
    /// It is written, and forgiven when it is missing.
    Soft,
    /// It is written, and may be missing: the format knows both.
    Free,
    /// It is forgiven when it is there, and never written.
    Noise,
    /// It is written, and the stop sequence of the request may have eaten it: the end of the answer stands for it.
    Stop,
    /// It is written when the call carries an id, and may be missing.
    Id,
}

/// How arguments are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codec {
    /// The arguments alone, as one object.
    Object(Literal),
    /// The whole call as one JSON object.
    Call(CallForm),
    /// Keys and values between marks.
    Fields(Box<FieldForm>),
    /// Keys and values on lines of their own.
    Lines(Box<FieldForm>),
    /// The whole body is the one argument of this key.
    Raw {
        /// The argument's key.
        key: String,
        /// What ends the body: the first mark behind it.
        close: String,
    },
}

/// The syntax of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// JSON, passed on byte for byte.
    Json,
    /// Bare keys, own quotes and words.
    Loose(Loose),
}

/// A literal syntax that is not JSON: Python's keyword arguments, Gemma's objects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loose {
    /// Opens the arguments: `(` or `{`.
    pub open: u8,
    /// Closes them.
    pub close: u8,
    /// Between key and value at the outer level: `=` or `:`.
    pub pair: u8,
    /// The quotes of strings; the first is written. Quotes of one byte know backslash escapes.
    pub quotes: Vec<String>,
    /// Quotes around the keys of inner objects; those of the outer level are bare, unless it is written with the same
    /// brackets.
    pub quoted_keys: bool,
    /// The words for true, false and null that are written. JSON's and Python's are always read.
    pub words: [String; 3],
    /// Written between two items.
    pub comma: String,
    /// Written between key and value of inner objects.
    pub colon: String,
    /// Keys are written in alphabetical order.
    pub sorted: bool,
}

impl Loose {
    /// Python's literals, as its `repr` writes them.
    pub fn python() -> Self {
        Self {
            open: b'{',
            close: b'}',
            pair: b':',
            quotes: vec!["'".to_owned()],
            quoted_keys: true,
            words: ["True", "False", "None"].map(str::to_owned),
            comma: ", ".to_owned(),
            colon: ": ".to_owned(),
            sorted: false,
        }
    }

    /// True for a key that is written without quotes: the syntax does so, and it is read as one word.
    pub fn writes_bare(&self, key: &str) -> bool {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let head = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        !self.quoted_keys && head && key.len() <= 64 && key.bytes().all(word)
    }

    /// True when the outer level is written as the objects inside.
    pub fn is_uniform(&self) -> bool {
        self.open == b'{' && self.quoted_keys
    }
}

/// By what a chat template is known, as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detect {
    /// All of these stand in it.
    pub all: Vec<String>,
    /// One of these does, where there are any.
    pub any: Vec<String>,
    /// None of these does.
    pub none: Vec<String>,
}

impl Dialect {
    /// Reads and checks a description.
    ///
    /// # Errors
    /// Says what was expected, what was found and in which line.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, DialectError> {
        source::read(name, text)
    }

    /// The codec of the arguments.
    pub fn codec(&self) -> &Codec {
        self.call
            .iter()
            .find_map(|piece| if let Piece::Args(codec) = piece { Some(codec) } else { None })
            .unwrap_or(&Codec::Object(Literal::Json))
    }

    /// The pieces of a call behind its header; all of them where calls have none.
    pub fn body(&self) -> &[Piece] {
        &self.call[self.header().unwrap_or(0)..]
    }

    /// How many pieces make the header of a call: up to the mark that ends it.
    pub(crate) fn header(&self) -> Option<usize> {
        let Frame::Channels(channels) = &self.frame else { return None };
        let ends =
            |mark: &Mark| channels.message.iter().any(|message| mark.write.ends_with(message.as_str()));
        let place = self.call.iter().position(|piece| matches!(piece, Piece::Mark(mark, _) if ends(mark)));
        place.map(|place| place + 1)
    }

    /// All marks but those of headers, in the order in which they are written.
    pub fn marks(&self) -> impl Iterator<Item = &Mark> {
        let call = self.body().iter().filter_map(|piece| match piece {
            Piece::Mark(mark, _) => Some(mark),
            _ => None,
        });
        self.block.open.iter().chain(call).chain(&self.block.close)
    }
}

/// True for a tag such as `<response>` or `</response>`, which any document may hold.
pub(crate) fn is_plain_tag(mark: &str) -> bool {
    let word = mark.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    word.map(|word| word.strip_prefix('/').unwrap_or(word))
        .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// True when text begins with a token of a model's own markup, such as `<|…` or `[TOOL_CALLS]`.
pub(crate) fn is_token(text: &str) -> bool {
    text.starts_with("<|")
        || text.starts_with("<｜")
        || text.strip_prefix('[').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}
