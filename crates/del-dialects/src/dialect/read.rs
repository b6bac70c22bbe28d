//! Reads a description, and checks what no key says alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::check::{DialectError, check};
use super::rewrite::Rewrite;
use super::table::{Field, Read, Source, Table};
use super::{Block, Channels, Codec, Definitions, Dialect, Frame, Piece, Reasoning, Results, Slot};

/// The place of a dialect in the order of `auto` that asks for no other.
const DEFAULT_RANK: u16 = 50;

/// Reads the description of a dialect. `builtin` says whether a dialect of this name is built in.
pub(super) fn read(name: &str, text: &str, builtin: &dyn Fn(&str) -> bool) -> Result<Dialect, DialectError> {
    let source = Source::new(text);
    super::name::check(name)
        .map_err(|expected| source.error(0, format!("expected {expected}, got {name:?}")))?;
    let mut table = source.table()?;
    let rewrite = table.take("rewrite").map(Rewrite::read).transpose()?;
    let rewrite = source.rewrite.get_or_init(|| rewrite.unwrap_or_default());
    let frame = frame(&mut table)?;
    let mut call = table.need("call")?.table()?;
    let leads = if source.in_channels() { Vec::new() } else { call.get("lead")? };
    let base = Dialect {
        name: name.to_owned(),
        title: table.need("title")?.said()?,
        source: table.need("source")?.said()?,
        family: table.get("family")?,
        models: table.get("models")?,
        aliases: table.take("aliases").map_or(Ok(BTreeMap::new()), Field::aliases)?,
        rank: table.take("rank").map_or(Ok(DEFAULT_RANK), |rank| rank.number("a number up to 65535"))?,
        frame,
        reasoning: match table.take("reasoning") {
            Some(field) => Some(Reasoning::read(field)?),
            // Models that think in channels have no other thinking; any other model may be one that was taught this.
            None => (!source.in_channels()).then(Reasoning::usual),
        },
        content: table.get("content")?,
        leads,
        none: call.get("none")?,
        answers: call.get("answers")?,
        reads: table.take("reads").map_or(Ok(Vec::new()), |field| reads(&field, name, builtin))?,
        results: Results::keys(table.table("results")?)?,
        definitions: Definitions::keys(table.table("definitions")?)?,
        ends: table.take("ends").map_or(Ok(Vec::new()), Field::marks)?,
        detect: table.get("detect")?,
        ..Dialect::default()
    };
    let block = table.take("block");
    let mut dialect = base.form(block, &mut call)?;
    if dialect.says_id() {
        dialect.ids = call.get("ids")?;
    }
    call.close()?;
    for mut variant in table.take("variant").map_or(Ok(Vec::new()), |field| field.tables("[[variant]]"))? {
        let block = variant.take("block");
        let form = dialect.shared().form(block, &mut variant)?;
        variant.close()?;
        dialect.variants.push(Arc::new(form));
    }
    table.close()?;
    rewrite.check()?;
    Ok(dialect)
}

fn frame(table: &mut Table<'_>) -> Result<Frame, DialectError> {
    let words = ["tags", "bare", "channels"].map(|word| (word, word));
    let word = table.take("frame").map_or(Ok("tags"), |kind| kind.choice(&words))?;
    let in_channels = table.source.in_channels.get_or_init(|| word == "channels");
    match (table.take("channels"), word) {
        (Some(channels), _) if *in_channels => Ok(Frame::Channels(Box::new(Channels::read(channels)?))),
        (Some(channels), _) => Err(channels
            .error(format!("expected frame = \"channels\" beside a [channels] table, got frame = {word:?}"))),
        (None, "channels") => {
            Err(table.error("expected a [channels] table for frame = \"channels\", got none"))
        }
        (None, "bare") => Ok(Frame::Bare),
        (None, _) => Ok(Frame::Tags),
    }
}

/// Other dialects, by the names that the built-in ones have.
fn reads(field: &Field<'_>, own: &str, builtin: &dyn Fn(&str) -> bool) -> Result<Vec<String>, DialectError> {
    let names = field.strings()?;
    let expected = "expected the name of another built-in dialect in `reads`";
    let unknown = names.iter().find(|name| *name == own || !builtin(name));
    unknown.map_or(Ok(()), |name| Err(field.error(format!("{expected}, got {name:?}"))))?;
    Ok(names)
}

impl Dialect {
    /// This dialect with the form of calls that stands in `table`.
    fn form(self, block: Option<Field<'_>>, table: &mut Table<'_>) -> Result<Self, DialectError> {
        let pieces = table.need("pieces")?;
        let place = pieces.error("");
        let mut form = Self {
            block: block.map_or_else(|| Ok(Block::default()), Read::read)?,
            call: Read::read(pieces)?,
            between: table.get("between")?,
            takes_text: table.get("text")?,
            tool: table.get("tool")?,
            ..self
        };
        form.close_raw();
        check(&form).map_err(|message| DialectError { message, ..place })?;
        Ok(form)
    }

    /// What variants share with this dialect, by being read beside it.
    fn shared(&self) -> Self {
        Self {
            name: self.name.clone(),
            rank: self.rank,
            frame: self.frame.clone(),
            reasoning: self.reasoning.clone(),
            leads: self.leads.clone(),
            none: self.none.clone(),
            answers: self.answers.clone(),
            ids: self.ids.clone(),
            ends: self.ends.clone(),
            ..Self::default()
        }
    }

    /// A raw body ends at the mark behind it, in channels where there is none at the next message; so does a value of a
    /// field that nothing closes.
    fn close_raw(&mut self) {
        let args = |piece: &Piece| matches!(piece, Piece::Args(_));
        let behind = self.call.iter().skip_while(|piece| !args(piece)).find_map(|piece| match piece {
            Piece::Mark(mark, _) => mark.read.first().cloned(),
            _ => None,
        });
        let start = self.frame.channels().and_then(|channels| channels.start.first());
        for piece in &mut self.call {
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

    /// True where an id is written, in calls or in results.
    fn says_id(&self) -> bool {
        let says = |piece: &Piece| match piece {
            Piece::Head(form) | Piece::Mark(_, Some(form)) => form.parts.contains(&Slot::Id),
            Piece::Args(Codec::Call(form)) => form.id.is_some(),
            _ => false,
        };
        self.call.iter().any(says) || self.results.forms().any(|form| form.contains("{id}"))
    }
}
