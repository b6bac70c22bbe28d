//! The TOML form of a description: read table by table, and lowered to what the engine walks.

mod definitions;
mod pieces;
mod rewrite;
mod table;
mod tables;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::check::{DialectError, check};
use super::{Block, Codec, Content, Definitions, Dialect, Frame, Piece, Reasoning, Results, Slot};
use crate::dialects::Dialects;
use pieces::Pieces;
use rewrite::Rewrite;
use table::{Field, Table};

/// Reads a description; [`check`](super::check()) has the last word on each form of a call.
pub(super) fn read(name: &str, text: &str) -> Result<Dialect, DialectError> {
    let mut table = Table::parse(text)?;
    let (title, source) = (said(&table.need("title")?)?, said(&table.need("source")?)?);
    let family = table.string("family")?.unwrap_or_default();
    let rewrite = Rewrite::read(table.take("rewrite"))?;
    let frame = frame(&mut table, &rewrite)?;
    let in_channels = matches!(frame, Frame::Channels(_));
    let pieces = Pieces { rewrite: &rewrite, channels: in_channels };
    let mut call = table.need("call")?.table("[call]")?;
    let list = call.need("pieces")?;
    let line = list.line();
    let list = pieces_of(&pieces, list, &frame)?;
    let results = tables::results(table.table("results", "[results]")?, &rewrite, in_channels)?;
    let leads = if in_channels { Vec::new() } else { call.strings("lead")? };
    let mut dialect = Dialect {
        name: name.to_owned(),
        title,
        family,
        source,
        models: table.strings("models")?,
        aliases: aliases(table.take("aliases"))?,
        rank: match table.take("rank") {
            Some(field) => field.number("a number up to 65535")?,
            None => DEFAULT_RANK,
        },
        reasoning: match table.take("reasoning") {
            Some(field) => Some(tables::reasoning(field.table("[reasoning]")?, &rewrite)?),
            // Models that think in channels have no other thinking; any other model may be one that was taught this.
            None => (!in_channels).then(Reasoning::usual),
        },
        content: tables::content(table.table("content", "[content]")?, &rewrite)?,
        block: pieces.block(table.take("block"))?,
        ids: if says_id(&list, &results) { call.string("ids")? } else { None },
        call: list,
        between: call.string("between")?.unwrap_or_default(),
        lead: leads.first().cloned().unwrap_or_default(),
        leads,
        none: call.strings("none")?,
        answers: call.strings("answers")?,
        takes_text: call.flag("text")?,
        tool: call.string("tool")?,
        reads: reads(name, table.take("reads"))?,
        variants: Vec::new(),
        results,
        definitions: definitions::read(table.table("definitions", "[definitions]")?)?,
        ends: rewrite.all(&table.marks("ends")?),
        detect: match table.take("detect") {
            Some(field) => Some(tables::detect(field.table("[detect]")?)?),
            None => None,
        },
        frame,
        text: text.to_owned(),
        once: super::Once::default(),
    };
    call.close()?;
    check(&dialect, line)?;
    let variants = table.take("variant").map_or(Ok(Vec::new()), |field| field.tables("[[variant]]"))?;
    for mut variant in variants {
        let list = variant.need("pieces")?;
        let line = list.line();
        let form = Dialect {
            tool: variant.string("tool")?,
            takes_text: variant.flag("text")?,
            block: pieces.block(variant.take("block"))?,
            call: pieces_of(&pieces, list, &dialect.frame)?,
            between: variant.string("between")?.unwrap_or_default(),
            ..dialect.form_only()
        };
        variant.close()?;
        check(&form, line)?;
        dialect.variants.push(Arc::new(form));
    }
    table.close()?;
    rewrite.check()?;
    Ok(dialect)
}

/// The place of a dialect in the order of `auto` that asks for no other.
const DEFAULT_RANK: u16 = 50;

fn frame(table: &mut Table<'_>, rewrite: &Rewrite<'_>) -> Result<Frame, DialectError> {
    let kind = table.take("frame");
    let word = kind.as_ref().map_or(Ok("tags"), |kind| {
        kind.choice(&[("tags", "tags"), ("bare", "bare"), ("channels", "channels")])
    })?;
    match (word, table.take("channels")) {
        ("channels", Some(channels)) => {
            Ok(Frame::Channels(Box::new(tables::channels(channels.table("[channels]")?, rewrite)?)))
        }
        ("channels", None) => {
            Err(table.error("expected a [channels] table for frame = \"channels\", got none"))
        }
        (_, Some(channels)) => Err(channels
            .error(format!("expected frame = \"channels\" beside a [channels] table, got frame = {word:?}"))),
        ("bare", None) => Ok(Frame::Bare),
        _ => Ok(Frame::Tags),
    }
}

fn aliases(field: Option<Field<'_>>) -> Result<BTreeMap<String, Vec<String>>, DialectError> {
    let engines = field.map_or(Ok(Vec::new()), |field| Ok(field.table("[aliases]")?.entries()))?;
    engines.into_iter().map(|engine| Ok((engine.key.clone(), engine.strings()?))).collect()
}

/// Other dialects, by the names that the built-in ones have.
fn reads(own: &str, field: Option<Field<'_>>) -> Result<Vec<String>, DialectError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    let names = field.strings()?;
    let known = |name: &str| name != own && Dialects::sources().iter().any(|(known, _)| *known == name);
    match names.iter().find(|name| !known(name)) {
        Some(name) => {
            Err(field
                .error(format!("expected the name of another built-in dialect in `reads`, got {name:?}")))
        }
        None => Ok(names),
    }
}

/// A text for people, which has to say something.
fn said(field: &Field<'_>) -> Result<String, DialectError> {
    let text = field.string()?;
    if text.trim().is_empty() { Err(field.wrong("a text")) } else { Ok(text) }
}

/// True where an id is written, in calls or in results.
fn says_id(call: &[Piece], results: &Results) -> bool {
    let says = |piece: &Piece| match piece {
        Piece::Head(form) | Piece::Mark(_, Some(form)) => form.parts.contains(&Slot::Id),
        Piece::Args(Codec::Call(form)) => form.id.is_some(),
        _ => false,
    };
    call.iter().any(says) || results.forms().any(|form| form.contains("{id}"))
}

fn pieces_of(pieces: &Pieces<'_, '_>, field: Field<'_>, frame: &Frame) -> Result<Vec<Piece>, DialectError> {
    let mut list = pieces.call(field)?;
    let start = match frame {
        Frame::Channels(channels) => channels.start.first(),
        _ => None,
    };
    close_raw(&mut list, start);
    Ok(list)
}

impl Reasoning {
    /// Thinking as most models write it that think.
    fn usual() -> Self {
        Self {
            begin: vec!["<think>\n".to_owned()],
            end: vec!["\n</think>\n\n".to_owned()],
            until_call: false,
            holds_calls: false,
            prefilled: false,
        }
    }
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
            answers: self.answers.clone(),
            takes_text: false,
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
