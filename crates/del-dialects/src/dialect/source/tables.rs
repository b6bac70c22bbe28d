//! The tables of a description, as TOML has them.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::definitions::DefinitionsSource;
use crate::dialect::{Channels, Detect, Loose, Results, Route, Written};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    pub(super) title: String,
    #[serde(default)]
    pub(super) family: String,
    pub(super) source: String,
    #[serde(default)]
    pub(super) models: Vec<String>,
    #[serde(default)]
    pub(super) aliases: BTreeMap<String, Strings>,
    #[serde(default = "default_rank")]
    pub(super) rank: u16,
    #[serde(default)]
    pub(super) frame: FrameKind,
    /// Dialects that are read as well, under the name of this one.
    #[serde(default)]
    pub(super) reads: Vec<String>,
    /// Characters that stand for each other in marks: `["|｜", "▁_ "]`.
    #[serde(default)]
    pub(super) fold: Vec<String>,
    /// Words in marks behind which a space may stand or be missing: `["｜DSML｜"]`.
    #[serde(default)]
    pub(super) spaces: Vec<String>,
    /// Prefixes that tags may carry: `<x:invoke` is read as `<invoke`.
    #[serde(default)]
    pub(super) namespaces: Vec<String>,
    /// What marks carry that differs from checkpoint to checkpoint: `:opensource`.
    pub(super) suffix: Option<Spanned<String>>,
    /// Parts of marks that are also spelled otherwise, all of them at once: `[["<|sep|>", " <|sep|>"]]`.
    #[serde(default)]
    pub(super) respell: Vec<[String; 2]>,
    pub(super) reasoning: Option<ReasoningSource>,
    pub(super) channels: Option<Spanned<ChannelsSource>>,
    #[serde(default)]
    pub(super) content: ContentSource,
    #[serde(default)]
    pub(super) block: BlockSource,
    pub(super) call: CallSource,
    #[serde(default)]
    pub(super) variant: Vec<VariantSource>,
    #[serde(default)]
    pub(super) results: ResultsSource,
    #[serde(default)]
    pub(super) definitions: DefinitionsSource,
    #[serde(default)]
    pub(super) ends: Vec<String>,
    pub(super) detect: Option<DetectSource>,
}

pub(super) fn default_rank() -> u16 {
    50
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Strings {
    One(String),
    Many(Vec<String>),
}

impl Default for Strings {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Strings {
    pub(super) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum FrameKind {
    #[default]
    Tags,
    Bare,
    Channels,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReasoningSource {
    pub(super) begin: Strings,
    pub(super) end: Strings,
    #[serde(default)]
    pub(super) until_call: bool,
    #[serde(default)]
    pub(super) holds_calls: bool,
    #[serde(default)]
    pub(super) prefilled: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ContentSource {
    pub(super) begin: Vec<String>,
    pub(super) end: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelsSource {
    pub(super) start: Strings,
    #[serde(default)]
    pub(super) also: Vec<String>,
    #[serde(default)]
    pub(super) author: String,
    #[serde(default)]
    pub(super) recipient: String,
    #[serde(default)]
    pub(super) channel: Strings,
    #[serde(default)]
    pub(super) constrain: Strings,
    pub(super) message: Strings,
    #[serde(default)]
    pub(super) ends: Vec<String>,
    pub(super) routes: BTreeMap<String, RouteSource>,
    #[serde(default)]
    pub(super) prefix: String,
    #[serde(default)]
    pub(super) content: String,
    #[serde(default)]
    pub(super) bare: Vec<String>,
    #[serde(default)]
    pub(super) known: bool,
    #[serde(default)]
    pub(super) doubled: bool,
    #[serde(default)]
    pub(super) written: WrittenSource,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenSource {
    pub(super) reasoning: String,
    pub(super) text: String,
    pub(super) preamble: String,
    pub(super) end: String,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum RouteSource {
    Text,
    Reasoning,
    Call,
    Dropped,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockSource {
    #[serde(default)]
    pub(super) open: Vec<Spanned<PieceSource>>,
    #[serde(default)]
    pub(super) close: Vec<Spanned<PieceSource>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallSource {
    pub(super) pieces: Vec<Spanned<PieceSource>>,
    #[serde(default)]
    pub(super) between: String,
    #[serde(default)]
    pub(super) lead: Strings,
    /// Names by which a model says that it calls nothing.
    #[serde(default)]
    pub(super) none: Vec<String>,
    /// The shape of ids.
    pub(super) ids: Option<String>,
}

/// Another form of calls in the same dialect.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantSource {
    /// The tool that it calls.
    pub(super) tool: Option<String>,
    #[serde(default)]
    pub(super) block: BlockSource,
    pub(super) pieces: Vec<Spanned<PieceSource>>,
    #[serde(default)]
    pub(super) between: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct PieceSource {
    pub(super) mark: Option<String>,
    #[serde(default)]
    pub(super) also: Vec<String>,
    pub(super) need: Option<NeedSource>,
    #[serde(default)]
    pub(super) line_start: bool,
    pub(super) head: Option<String>,
    pub(super) args: Option<ArgsSource>,
    pub(super) form: Option<String>,
    /// The argument's key, for `args = "raw"`.
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) xml: bool,
    #[serde(default)]
    pub(super) json: bool,
    #[serde(default)]
    pub(super) python: bool,
    #[serde(default)]
    pub(super) containers: bool,
    /// Marks around the type of a field, for `args = "fields"`.
    pub(super) typed: Option<[String; 2]>,
    /// What may stand between the marks of fields, for `args = "fields"`.
    #[serde(default)]
    pub(super) noise: Vec<String>,
    /// An item of a list, where values may be elements themselves.
    pub(super) item: Option<String>,
    /// The words of `{type}` for text, an object, a list and anything else.
    pub(super) types: Option<[String; 4]>,
    pub(super) loose: Option<LooseSource>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum NeedSource {
    Must,
    Soft,
    Free,
    Noise,
    Stop,
    Id,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum ArgsSource {
    Object,
    Call,
    Fields,
    Elements,
    Lines,
    Raw,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LooseSource {
    pub(super) open: char,
    pub(super) close: char,
    pub(super) pair: char,
    pub(super) quotes: Vec<String>,
    #[serde(default)]
    pub(super) quoted_keys: bool,
    pub(super) words: Option<[String; 3]>,
    #[serde(default = "default_comma")]
    pub(super) comma: String,
    #[serde(default = "default_colon")]
    pub(super) colon: String,
    #[serde(default)]
    pub(super) sorted: bool,
}

pub(super) fn default_comma() -> String {
    ", ".to_owned()
}

pub(super) fn default_colon() -> String {
    ": ".to_owned()
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ResultsSource {
    pub(super) role: Option<String>,
    pub(super) open: String,
    pub(super) each: Option<String>,
    pub(super) failed: Option<String>,
    pub(super) between: Option<String>,
    pub(super) close: String,
    pub(super) invented: Vec<[String; 2]>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DetectSource {
    pub(super) all: Vec<String>,
    pub(super) any: Vec<String>,
    pub(super) none: Vec<String>,
}

impl From<DetectSource> for Detect {
    fn from(source: DetectSource) -> Self {
        Self { all: source.all, any: source.any, none: source.none }
    }
}

impl TryFrom<LooseSource> for Loose {
    type Error = &'static str;

    fn try_from(source: LooseSource) -> Result<Self, Self::Error> {
        let byte = |c: char| u8::try_from(c).map_err(|_| "ASCII characters for open, close and pair");
        if source.quotes.iter().any(String::is_empty) || source.quotes.is_empty() {
            return Err("at least one quote, none of them empty");
        }
        Ok(Self {
            open: byte(source.open)?,
            close: byte(source.close)?,
            pair: byte(source.pair)?,
            quotes: source.quotes,
            quoted_keys: source.quoted_keys,
            words: source.words.unwrap_or_else(|| ["true", "false", "null"].map(str::to_owned)),
            comma: source.comma,
            colon: source.colon,
            sorted: source.sorted,
        })
    }
}

impl From<RouteSource> for Route {
    fn from(source: RouteSource) -> Self {
        match source {
            RouteSource::Text => Self::Text,
            RouteSource::Reasoning => Self::Reasoning,
            RouteSource::Call => Self::Call,
            RouteSource::Dropped => Self::Dropped,
        }
    }
}

impl From<ChannelsSource> for Channels {
    fn from(source: ChannelsSource) -> Self {
        Self {
            start: source.start.into_vec(),
            also: source.also,
            author: source.author,
            recipient: source.recipient,
            channel: source.channel.into_vec(),
            constrain: source.constrain.into_vec(),
            message: source.message.into_vec(),
            ends: source.ends,
            routes: source.routes.into_iter().map(|(key, route)| (key, route.into())).collect(),
            prefix: source.prefix,
            content: source.content,
            bare: source.bare,
            known: source.known,
            doubled: source.doubled,
            written: source.written.into(),
        }
    }
}

impl From<WrittenSource> for Written {
    fn from(source: WrittenSource) -> Self {
        Self { reasoning: source.reasoning, text: source.text, preamble: source.preamble, end: source.end }
    }
}

impl From<ResultsSource> for Results {
    fn from(source: ResultsSource) -> Self {
        Self {
            role: source.role.unwrap_or_else(|| "user".to_owned()),
            open: source.open,
            each: source.each.unwrap_or_else(|| "{text}".to_owned()),
            failed: source.failed,
            between: source.between.unwrap_or_else(|| "\n".to_owned()),
            close: source.close,
            invented: source.invented,
        }
    }
}
