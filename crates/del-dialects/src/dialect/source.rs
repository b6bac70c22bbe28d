//! The TOML form of a description.

mod definitions;
mod tables;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::check::{DialectError, line_of};
use super::{
    Block, CallForm, Codec, Content, Definitions, Dialect, FieldForm, Frame, HeadForm, Literal, Loose, Mark,
    Need, Piece, Reasoning, Results,
};
use crate::scan::suffix::{MAX_WORD, SUFFIX, is_word};
use tables::{ArgsSource, Description, FrameKind, NeedSource, PieceSource};

/// Reads a description; [`check`](super::check) has the last word on its meaning.
pub(super) fn read(name: &str, text: &str) -> Result<Dialect, DialectError> {
    let source = toml::from_str(text).map_err(|error| DialectError {
        line: error.span().map_or(1, |span| line_of(text, span.start)),
        message: error.message().trim().replace('\n', "\\n"),
    })?;
    lower(name, text, source)
}

/// The same with `text` as a table already.
pub(super) fn read_table<'d>(
    name: &str,
    text: &str,
    table: impl Deserializer<'d>,
) -> Result<Dialect, DialectError> {
    let source = Description::deserialize(table).map_err(|error| DialectError::new(1, error.to_string()))?;
    lower(name, text, source)
}

fn lower(name: &str, text: &str, source: Description) -> Result<Dialect, DialectError> {
    let suffix = source.suffix.as_ref();
    if let Some(suffix) = suffix.filter(|suffix| !is_suffix(suffix.get_ref())) {
        return Err(DialectError::new(
            line_of(text, suffix.span().start),
            format!("expected a colon and a word of at most {MAX_WORD} bytes, got {:?}", suffix.get_ref()),
        ));
    }
    let suffix = suffix.map(|suffix| suffix.get_ref().as_str());
    let pieces = Pieces {
        fold: &source.fold,
        spaces: &source.spaces,
        namespaces: &source.namespaces,
        respell: &source.respell,
        suffix,
        text,
    };
    let frame = match (source.frame, source.channels) {
        (FrameKind::Tags, None) => Frame::Tags,
        (FrameKind::Bare, None) => Frame::Bare,
        (FrameKind::Channels, Some(channels)) => Frame::Channels(Box::new(channels.into_inner().into())),
        (FrameKind::Channels, None) => {
            return Err(DialectError::new(
                1,
                "expected a [channels] table for frame = \"channels\", got none",
            ));
        }
        (_, Some(channels)) => {
            return Err(DialectError::new(
                line_of(text, channels.span().start),
                "expected frame = \"channels\" beside a [channels] table",
            ));
        }
    };
    let channels_frame = matches!(frame, Frame::Channels(_));
    // What is written stands first.
    let thought_marks = |list: Vec<String>| -> Vec<String> {
        let read: Vec<String> = list.iter().flat_map(|mark| pieces.suffixed(mark)).collect();
        list.first().into_iter().filter(|written| !read.contains(written)).chain(&read).cloned().collect()
    };
    let fold = |list: Vec<String>| list.iter().flat_map(|mark| pieces.folded(mark)).collect::<Vec<_>>();
    let marks = |list: Vec<Spanned<PieceSource>>| -> Result<Vec<Mark>, DialectError> {
        list.into_iter()
            .map(|piece| {
                let line = line_of(text, piece.span().start);
                match pieces.piece(piece)? {
                    Piece::Mark(mark, None) => Ok(mark),
                    _ => Err(DialectError::new(
                        line,
                        "expected only marks in a block, got a head or arguments",
                    )),
                }
            })
            .collect()
    };
    let pieces_of = |list: Vec<Spanned<PieceSource>>| -> Result<Vec<Piece>, DialectError> {
        let mut list = list.into_iter().map(|piece| pieces.piece(piece)).collect::<Result<Vec<_>, _>>()?;
        let start = match &frame {
            Frame::Channels(channels) => channels.start.first(),
            _ => None,
        };
        close_raw(&mut list, start);
        Ok(list)
    };
    let leads = source.call.lead.into_vec();
    let mut dialect = Dialect {
        name: name.to_owned(),
        title: source.title,
        family: source.family,
        source: source.source,
        models: source.models,
        aliases: source.aliases.into_iter().map(|(engine, names)| (engine, names.into_vec())).collect(),
        rank: source.rank,
        frame: frame.clone(),
        reasoning: match source.reasoning {
            Some(reasoning) => Some(Reasoning {
                begin: thought_marks(reasoning.begin.into_vec()),
                end: thought_marks(reasoning.end.into_vec()),
                until_call: reasoning.until_call,
                holds_calls: reasoning.holds_calls,
                prefilled: reasoning.prefilled,
            }),
            // Models that think in channels have no other thinking; any other model may be one that was taught this.
            None => (!channels_frame).then(|| Reasoning {
                begin: vec!["<think>\n".to_owned()],
                end: vec!["\n</think>\n\n".to_owned()],
                until_call: false,
                holds_calls: false,
                prefilled: false,
            }),
        },
        content: Content { begin: source.content.begin, end: source.content.end },
        block: Block { open: marks(source.block.open)?, close: marks(source.block.close)? },
        call: pieces_of(source.call.pieces)?,
        between: source.call.between,
        lead: leads.first().cloned().unwrap_or_default(),
        leads,
        none: source.call.none,
        ids: source.call.ids,
        tool: None,
        reads: source.reads,
        variants: Vec::new(),
        results: Results {
            invented: source
                .results
                .invented
                .iter()
                .flat_map(|[open, close]| pieces.pairs(open, close))
                .collect(),
            ..source.results.into()
        },
        definitions: source.definitions.into(),
        ends: fold(source.ends),
        detect: source.detect.map(Into::into),
        text: text.to_owned(),
        once: super::Once::default(),
    };
    for variant in source.variant {
        dialect.variants.push(Arc::new(Dialect {
            block: Block { open: marks(variant.block.open)?, close: marks(variant.block.close)? },
            call: pieces_of(variant.pieces)?,
            between: variant.between,
            tool: variant.tool,
            ..dialect.form_only()
        }));
    }
    Ok(dialect)
}

impl Dialect {
    /// This dialect without what its variants share with it by being read beside it.
    fn form_only(&self) -> Self {
        Self {
            name: self.name.clone(),
            title: self.title.clone(),
            family: self.family.clone(),
            source: self.source.clone(),
            models: Vec::new(),
            aliases: BTreeMap::new(),
            rank: self.rank,
            frame: self.frame.clone(),
            reasoning: self.reasoning.clone(),
            content: Content::default(),
            block: Block::default(),
            call: Vec::new(),
            between: String::new(),
            lead: self.lead.clone(),
            leads: self.leads.clone(),
            none: self.none.clone(),
            ids: self.ids.clone(),
            tool: None,
            reads: Vec::new(),
            variants: Vec::new(),
            results: Results::default(),
            definitions: Definitions::default(),
            ends: self.ends.clone(),
            detect: None,
            text: String::new(),
            once: super::Once::default(),
        }
    }
}

/// A raw body ends at the mark behind it, in channels where there is none at the next message; so does a value of a
/// field that nothing closes.
fn close_raw(pieces: &mut [Piece], start: Option<&String>) {
    let behind =
        pieces.iter().skip_while(|piece| !matches!(piece, Piece::Args(_))).find_map(|piece| match piece {
            Piece::Mark(mark, _) => mark.read.first().cloned(),
            _ => None,
        });
    for piece in pieces {
        match piece {
            Piece::Args(Codec::Raw { close, .. }) => {
                *close = behind.as_ref().or(start).cloned().unwrap_or_default();
            }
            Piece::Args(Codec::Fields(form)) if form.value_close.is_empty() => {
                form.borders = form.open.iter().chain(&behind).cloned().collect();
            }
            _ => {}
        }
    }
}

/// True for a colon and a word.
fn is_suffix(text: &str) -> bool {
    let word = text.strip_prefix(':').unwrap_or_default();
    (1..=MAX_WORD).contains(&word.len()) && word.bytes().all(is_word)
}

struct Pieces<'a> {
    fold: &'a [String],
    spaces: &'a [String],
    namespaces: &'a [String],
    suffix: Option<&'a str>,
    respell: &'a [[String; 2]],
    text: &'a str,
}

impl Pieces<'_> {
    fn piece(&self, piece: Spanned<PieceSource>) -> Result<Piece, DialectError> {
        let line = line_of(self.text, piece.span().start);
        let expected = |what: &str| DialectError::new(line, format!("expected {what}"));
        let piece = piece.into_inner();
        if let Some(write) = piece.mark {
            if piece.args.is_some() {
                return Err(expected("mark and args as two pieces, got both in one"));
            }
            let head = piece.head.map(|form| HeadForm::new(&form)).transpose().map_err(expected)?;
            let mut read = Vec::new();
            for spelling in std::iter::once(&write).chain(&piece.also) {
                for folded in self.folded(spelling.trim()) {
                    if !folded.is_empty() && !read.contains(&folded) {
                        read.push(folded);
                    }
                }
            }
            let need = match piece.need {
                None | Some(NeedSource::Must) => Need::Must,
                Some(NeedSource::Soft) => Need::Soft,
                Some(NeedSource::Free) => Need::Free,
                Some(NeedSource::Noise) => Need::Noise,
                Some(NeedSource::Stop) => Need::Stop,
                Some(NeedSource::Id) => Need::Id,
            };
            return Ok(Piece::Mark(Mark { write, read, need, line_start: piece.line_start }, head));
        }
        match (piece.head, piece.args) {
            (Some(form), None) => HeadForm::new(&form).map(Piece::Head).map_err(expected),
            (None, Some(args)) => {
                let form = piece.form;
                let codec = match args {
                    ArgsSource::Object => Codec::Object(
                        piece
                            .loose
                            .map(Loose::try_from)
                            .transpose()
                            .map_err(expected)?
                            .map_or(Literal::Json, Literal::Loose),
                    ),
                    ArgsSource::Call => {
                        let form = form.ok_or_else(|| {
                            expected("form = '{\"name\": \"{name}\", …}' beside args = \"call\"")
                        })?;
                        Codec::Call(CallForm::new(&form, piece.python).map_err(expected)?)
                    }
                    ArgsSource::Fields | ArgsSource::Elements => {
                        let form = form.ok_or_else(|| {
                            expected("form = \"<key {key}>{value}</key>\" beside args = \"fields\"")
                        })?;
                        let written = matches!(args, ArgsSource::Elements);
                        let mut form = FieldForm::new(&form, piece.item.is_some(), |mark| self.folded(mark))
                            .map_err(expected)?;
                        form.xml = piece.xml;
                        form.json = piece.json;
                        form.python = piece.python;
                        form.containers = piece.containers;
                        form.typed = piece.typed.map(|marks| marks.map(|mark| self.folded(&mark)));
                        form.noise = piece.noise;
                        form.types = piece.types;
                        form.open.extend(piece.also.iter().flat_map(|open| self.folded(open)));
                        Codec::Fields(Box::new(match piece.item {
                            Some(item) => form.nested(&item, written).map_err(expected)?,
                            None if written => {
                                return Err(expected("item = \"…{value}…\" beside args = \"elements\""));
                            }
                            None => form,
                        }))
                    }
                    ArgsSource::Lines => {
                        let form = form.ok_or_else(|| {
                            expected("form = \"{key}: {value}\\n\" beside args = \"lines\"")
                        })?;
                        let form = FieldForm::line(&form).map_err(expected)?;
                        let (json, python, containers) = (piece.json, piece.python, piece.containers);
                        Codec::Lines(Box::new(FieldForm { json, python, containers, ..form }))
                    }
                    ArgsSource::Raw => {
                        let key = piece.key.ok_or_else(|| expected("key = \"…\" beside args = \"raw\""))?;
                        Codec::Raw { key, close: String::new() }
                    }
                };
                Ok(Piece::Args(codec))
            }
            (None, None) => Err(expected("a piece with mark, head or args, got none of them")),
            (Some(_), Some(_)) => Err(expected("head and args as two pieces, got both in one")),
        }
    }

    /// The spellings of an opener, each with its closer.
    fn pairs(&self, open: &str, close: &str) -> Vec<[String; 2]> {
        let closes = self.folded(close);
        let opens = self.folded(open).into_iter();
        opens.zip(closes.iter().cycle()).map(|(open, close)| [open, close.clone()]).collect()
    }

    /// A mark with any suffix in the place of its own, and without one.
    fn suffixed(&self, spelling: &str) -> Vec<String> {
        match self.suffix.and_then(|suffix| spelling.split_once(suffix)) {
            Some((before, behind)) if !before.is_empty() && !behind.bytes().next().is_some_and(is_word) => {
                vec![format!("{before}{SUFFIX}{behind}"), format!("{before}{behind}")]
            }
            _ => vec![spelling.to_owned()],
        }
    }

    /// All spellings of a mark: with characters that stand for each other, with and without a free space, and with a
    /// namespace.
    fn folded(&self, spelling: &str) -> Vec<String> {
        let mut spellings = self.exchanged(spelling);
        for word in self.spaces.iter().flat_map(|word| self.exchanged(word)) {
            let spaced = format!("{word} ");
            for place in 0..spellings.len() {
                let bare = spellings[place].replace(&spaced, &word);
                let other = if bare == spellings[place] { bare.replace(&word, &spaced) } else { bare };
                if !spellings.contains(&other) {
                    spellings.push(other);
                }
            }
        }
        let other = self.respell.iter().fold(spelling.to_owned(), |text, [from, to]| text.replace(from, to));
        if other != spelling {
            spellings.push(other.trim().to_owned());
        }
        for namespace in self.namespaces {
            if let Some(rest) = spelling.strip_prefix("</") {
                spellings.push(format!("</{namespace}{rest}"));
            } else if let Some(rest) = spelling.strip_prefix('<') {
                spellings.push(format!("<{namespace}{rest}"));
            }
        }
        spellings.iter().flat_map(|spelling| self.suffixed(spelling)).collect()
    }

    /// All spellings of a mark whose characters stand for each other, the given one first; within one spelling the
    /// choice is the same throughout.
    fn exchanged(&self, spelling: &str) -> Vec<String> {
        let mut spellings = vec![spelling.to_owned()];
        for group in self.fold {
            let chars: Vec<char> = group.chars().collect();
            if !spelling.contains(|c| chars.contains(&c)) {
                continue;
            }
            spellings = spellings
                .iter()
                .flat_map(|spelling| {
                    chars
                        .iter()
                        .map(|to| spelling.replace(|c| chars.contains(&c), to.encode_utf8(&mut [0; 4])))
                })
                .collect();
        }
        if let Some(at) = spellings.iter().position(|folded| folded == spelling) {
            spellings.swap(0, at);
        }
        spellings
    }
}
