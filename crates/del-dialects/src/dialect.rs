//! What a dialect is: a frame, an ordered walk of pieces, and a codec for the arguments.
//!
//! The reader, the writer and the grammar all walk the same [`Dialect`]. Nothing in it is code. The build reads the
//! built-in descriptions by this module alone, so it stands on no other of the crate.

mod channels;
mod check;
mod definitions;
mod fields;
mod form;
mod literal;
mod name;
mod once;
mod pieces;
mod read;
mod record;
mod rewrite;
mod table;
mod tables;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use channels::{Channels, Route, Written};
pub use check::DialectError;
pub use definitions::{Definitions, ParameterForm, Spelling};
pub use fields::{FieldForm, KeyKind, Nest};
pub use form::{CallForm, HeadForm, Slot};
pub use literal::{Literal, Loose};
pub(crate) use name::plain;
pub(crate) use once::{Memo, Once};
pub use pieces::{Block, Codec, Mark, Need, Piece};
pub(crate) use record::Stored;
use record::{record, variants};
pub(crate) use rewrite::{MAX_WORD, SUFFIX, is_word};
pub use tables::{Content, Detect, Reasoning, Results};

record! {
    /// One dialect: everything that is known of how a family of models writes tool calls.
    pub struct Dialect {
        /// Canonical name: the folder's name.
        pub(crate) name: String => &str,
        /// The model family, for people.
        pub(crate) title: String => &str,
        /// The group it belongs to in the documentation.
        pub(crate) family: String => &str,
        /// Where the format is specified.
        pub(crate) source: String => &str,
        /// Globs over model ids.
        pub(crate) models: Vec<String> => &[String],
        /// Names of this dialect in other engines: engine → names.
        pub(crate) aliases: BTreeMap<String, Vec<String>> => &BTreeMap<String, Vec<String>>,
        pub(crate) rank: u16,
        /// How calls sit in the text.
        pub(crate) frame: Frame => &Frame,
        pub(crate) reasoning: Option<Reasoning>,
        /// Marks around the answer for the user.
        pub(crate) content: Content => &Content,
        /// Marks around a group of calls.
        pub(crate) block: Block => &Block,
        /// One call, in the order of its pieces.
        pub(crate) call: Vec<Piece> => &[Piece],
        /// Written between two calls of one answer.
        pub(crate) between: String => &str,
        /// What is read as markup between text and the first call, when it is there exactly: the longest that fits.
        pub(crate) leads: Vec<String> => &[String],
        /// Names by which a model says that it calls nothing: such a call is read and left out.
        pub(crate) none: Vec<String> => &[String],
        /// Names under which a model gives its answer, unless a tool of that name is declared: what such a call holds is
        /// text.
        pub(crate) answers: Vec<String> => &[String],
        /// A text in place of the arguments is the value of the tool's only parameter.
        pub(crate) takes_text: bool,
        pub(crate) ids: Option<String>,
        pub(crate) tool: Option<String>,
        /// Dialects that engines read under the same name, and that a parser of this one reads as well.
        pub(crate) reads: Vec<String> => &[String],
        /// Other forms of calls in the same dialect.
        pub(crate) variants: Vec<Arc<Dialect>> => &[Arc<Dialect>],
        /// How results go to the model, and what invented ones look like on their way out.
        pub(crate) results: Results => &Results,
        pub(crate) definitions: Definitions,
        /// Tokens that end a turn; dropped where a server left them in the text.
        pub(crate) ends: Vec<String> => &[String],
        pub(crate) detect: Option<Detect>,
        pub(crate) once: Once,
    }
}

/// How calls sit in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Frame {
    /// Markers open and close a call.
    #[default]
    Tags,
    /// No marker: a bounded prefix at the start of the answer or of a line decides between call and text.
    Bare,
    /// A header routes each body to thinking, text or a call.
    Channels(Box<Channels>),
}

variants!(Frame { Tags, Bare, Channels(channels) });

impl Frame {
    /// How headers are read, where there are any.
    pub fn channels(&self) -> Option<&Channels> {
        if let Self::Channels(channels) = self { Some(channels) } else { None }
    }
}

/// What a description says, as it is read: for those who show a dialect, constrain a model to it or find it.
impl Dialect {
    /// Reads and checks a description. `builtin` says whether a dialect of a name is built in.
    pub(crate) fn read(name: &str, text: &str, builtin: &dyn Fn(&str) -> bool) -> Result<Self, DialectError> {
        read::read(name, text, builtin)
    }

    /// Place in the order of `auto` among dialects that could read the same text; lower reads first.
    pub fn rank(&self) -> u16 {
        self.rank
    }

    /// Thinking.
    pub fn reasoning(&self) -> Option<&Reasoning> {
        self.reasoning.as_ref()
    }

    /// Of these, what is written.
    pub fn lead(&self) -> &str {
        self.leads.first().map_or("", String::as_str)
    }

    /// The shape of ids, where a model knows no other: `#` stands for a digit, `*` for a letter or digit.
    pub fn ids(&self) -> Option<&str> {
        self.ids.as_deref()
    }

    /// The tool that every call of this form is for, where the form itself says so.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// How tools are shown to the model.
    pub fn definition_forms(&self) -> &Definitions {
        &self.definitions
    }

    /// By what a chat template of this dialect is known, where its marks do not tell.
    pub fn detect(&self) -> Option<&Detect> {
        self.detect.as_ref()
    }

    /// The TOML text.
    pub fn text(&self) -> &str {
        &self.once.text
    }

    /// The codec of the arguments.
    pub fn codec(&self) -> &Codec {
        const JSON: &Codec = &Codec::Object(Literal::Json);
        self.call
            .iter()
            .find_map(|piece| if let Piece::Args(codec) = piece { Some(codec) } else { None })
            .unwrap_or(JSON)
    }

    /// The pieces of a call behind its header; all of them where calls have none.
    pub fn body(&self) -> &[Piece] {
        &self.call[self.header().unwrap_or(0)..]
    }

    /// All marks but those of headers, in the order in which they are written.
    pub fn marks(&self) -> impl Iterator<Item = &Mark> {
        let call = self.body().iter().filter_map(Piece::mark);
        self.block.open.iter().chain(call).chain(&self.block.close)
    }

    /// How many pieces make the header of a call: up to the mark that ends it.
    pub(crate) fn header(&self) -> Option<usize> {
        let channels = self.frame.channels()?;
        let ends =
            |mark: &Mark| channels.message.iter().any(|message| mark.write.ends_with(message.as_str()));
        let place = self.call.iter().position(|piece| piece.mark().is_some_and(ends));
        place.map(|place| place + 1)
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
