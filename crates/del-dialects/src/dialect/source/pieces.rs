//! Pieces: what a piece is decides which keys it may have.

use super::rewrite::Rewrite;
use super::table::{Field, Table};
use crate::dialect::check::DialectError;
use crate::dialect::{Block, CallForm, Codec, FieldForm, HeadForm, Literal, Loose, Mark, Need, Piece, Slot};

/// Where in a form a mark stands. It decides what may be said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Opens a block.
    Open,
    /// Before the arguments of a call.
    Before,
    /// Behind them.
    Behind,
    /// Closes a block.
    Close,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Open => "a mark that opens a block",
            Self::Before => "a mark before the arguments",
            Self::Behind => "a mark behind the arguments",
            Self::Close => "a mark that closes a block",
        }
    }

    fn in_call(self) -> bool {
        matches!(self, Self::Before | Self::Behind)
    }

    /// What a mark may need here.
    fn needs(self) -> Vec<(&'static str, Need)> {
        let mut needs =
            vec![("must", Need::Must), ("soft", Need::Soft), ("free", Need::Free), ("noise", Need::Noise)];
        if matches!(self, Self::Behind | Self::Close) {
            needs.push(("stop", Need::Stop));
        }
        if self.in_call() {
            needs.push(("id", Need::Id));
        }
        needs
    }
}

/// How the values of fields are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    /// All as JSON.
    Json,
    /// All but strings as Python does.
    Python,
    /// Of these, only the words for true, false and null.
    Words,
}

/// Reads the pieces of a dialect.
pub(super) struct Pieces<'r, 't> {
    pub(super) rewrite: &'r Rewrite<'t>,
    /// Headers open a call, and no line does.
    pub(super) channels: bool,
}

impl<'t> Pieces<'_, 't> {
    /// The marks around a group of calls.
    pub(super) fn block(&self, field: Option<Field<'t>>) -> Result<Block, DialectError> {
        let Some(field) = field else { return Ok(Block::default()) };
        let mut table = field.table("[block]")?;
        // In channels a message opens the first call as any other.
        let open = if self.channels { None } else { table.take("open") };
        let close = table.take("close");
        table.close()?;
        let marks = |field: Option<Field<'t>>, place| match field {
            Some(field) => self.marks(field.tables("a mark")?, place),
            None => Ok(Vec::new()),
        };
        Ok(Block { open: marks(open, Place::Open)?, close: marks(close, Place::Close)? })
    }

    fn marks(&self, list: Vec<Table<'t>>, place: Place) -> Result<Vec<Mark>, DialectError> {
        let mut opens = place == Place::Open;
        list.into_iter()
            .map(|table| {
                let (mark, _) = self.mark(table, place, opens)?;
                opens &= mark.need != Need::Must;
                Ok(mark)
            })
            .collect()
    }

    /// The pieces of a call.
    pub(super) fn call(&self, field: Field<'t>) -> Result<Vec<Piece>, DialectError> {
        let mut pieces = Vec::new();
        let mut place = Place::Before;
        let mut opens = !self.channels;
        for table in field.tables("a piece")? {
            let piece = if table.has("args") {
                place = Place::Behind;
                Piece::Args(self.arguments(table)?)
            } else if table.has("mark") {
                let (mark, head) = self.mark(table, place, opens)?;
                opens &= mark.need != Need::Must && head.is_none();
                Piece::Mark(mark, head)
            } else if table.has("head") {
                opens = false;
                Piece::Head(head(table)?)
            } else {
                return Err(table.error("expected a piece with mark, head or args, got none of them"));
            };
            opens &= place == Place::Before;
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// A mark, and what directly follows it. Only one that may open a call may have to stand at the start of a line.
    fn mark(
        &self,
        table: Table<'t>,
        place: Place,
        opens: bool,
    ) -> Result<(Mark, Option<HeadForm>), DialectError> {
        let mut table = table.titled(place.name());
        let field = table.need("mark")?;
        let spellings = field.strings()?;
        let need = match table.take("need") {
            Some(need) => need.choice(&place.needs())?,
            None => Need::Must,
        };
        let line_start = opens && table.flag("line_start")?;
        let head = match place.in_call().then(|| table.take("head")).flatten() {
            Some(field) => Some(head_form(&field)?),
            None => None,
        };
        table.close()?;
        let trimmed: Vec<String> = spellings.iter().map(|spelling| spelling.trim().to_owned()).collect();
        let mut read = self.spellings(&trimmed);
        read.retain(|spelling| !spelling.is_empty());
        if read.is_empty() && (spellings.is_empty() || need != Need::Soft) {
            return Err(field.wrong("more than white space, or need = \"soft\" beside it,"));
        }
        field.limit(&read)?;
        let write = spellings.into_iter().next().unwrap_or_default();
        Ok((Mark { write, read, need, line_start }, head))
    }

    /// All spellings of marks, without white space around them.
    fn spellings(&self, marks: &[String]) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for spelling in self.rewrite.all(marks) {
            let spelling = spelling.trim();
            if !all.iter().any(|known| known == spelling) {
                all.push(spelling.to_owned());
            }
        }
        all
    }

    fn arguments(&self, mut table: Table<'t>) -> Result<Codec, DialectError> {
        const KINDS: [&str; 6] = ["object", "call", "fields", "elements", "lines", "raw"];
        let kind = table.need("args")?.choice(&KINDS.map(|kind| (kind, kind)))?;
        let mut table = table.titled(format!("args = {kind:?}"));
        let codec = match kind {
            "object" => Codec::Object(match table.take("loose") {
                Some(field) => Literal::Loose(loose(field.table("loose")?)?),
                None => Literal::Json,
            }),
            "call" => {
                let form = table.need("form")?;
                let python = match table.take("values") {
                    Some(values) => values.choice(&[("python", true)])?,
                    None => false,
                };
                Codec::Call(CallForm::new(&form.string()?, python).map_err(|expected| form.wrong(expected))?)
            }
            "fields" => Codec::Fields(Box::new(self.fields(&mut table, false)?)),
            "elements" => Codec::Fields(Box::new(self.fields(&mut table, true)?)),
            "lines" => {
                let form = table.need("form")?;
                let mut line = FieldForm::line(&form.string()?).map_err(|expected| form.wrong(expected))?;
                values(&mut table, &mut line)?;
                Codec::Lines(Box::new(line))
            }
            _ => Codec::Raw { key: table.need("key")?.string()?, close: String::new() },
        };
        table.close()?;
        Ok(codec)
    }

    /// Keys and values between marks; `elements` have objects and lists written as fields, too.
    fn fields(&self, table: &mut Table<'t>, elements: bool) -> Result<FieldForm, DialectError> {
        let field = table.need("form")?;
        let item = if elements { Some(table.need("item")?) } else { table.take("item") };
        let spellings = |mark: &str| self.spellings(&[mark.to_owned()]);
        let form = FieldForm::new(&field.string()?, item.is_some(), spellings);
        let mut form = form.map_err(|expected| field.wrong(expected))?;
        values(table, &mut form)?;
        form.xml = !form.json && table.flag("xml")?;
        form.noise = table.strings("noise")?;
        if !form.value_open.is_empty()
            && let Some(typed) = table.take("typed")
        {
            form.typed = Some(typed.exactly()?.map(|mark: String| spellings(&mark)));
        }
        if form.parts.contains(&Slot::Type) {
            form.types = table.take("types").map(|types| types.exactly()).transpose()?;
        }
        match item {
            Some(item) => form.nested(&item.string()?, elements).map_err(|expected| item.wrong(expected)),
            None => Ok(form),
        }
    }
}

/// A head that stands alone.
fn head(mut table: Table<'_>) -> Result<HeadForm, DialectError> {
    let field = table.need("head")?;
    table.titled("a head").close()?;
    head_form(&field)
}

fn head_form(field: &Field<'_>) -> Result<HeadForm, DialectError> {
    HeadForm::new(&field.string()?).map_err(|expected| field.wrong(expected))
}

fn values(table: &mut Table<'_>, form: &mut FieldForm) -> Result<(), DialectError> {
    const WORDS: [(&str, Values); 3] =
        [("json", Values::Json), ("python", Values::Python), ("words", Values::Words)];
    let values = table.take("values").map(|field| field.choice(&WORDS)).transpose()?;
    form.json = values == Some(Values::Json);
    form.python = matches!(values, Some(Values::Python | Values::Words));
    form.containers = values == Some(Values::Python);
    Ok(())
}

/// A syntax that is not JSON.
fn loose(mut table: Table<'_>) -> Result<Loose, DialectError> {
    let mut byte = |key| {
        let field = table.need(key)?;
        match field.string()?.as_bytes() {
            [byte] => Ok(*byte),
            _ => Err(field.wrong("one ASCII character")),
        }
    };
    let (open, close, pair) = (byte("open")?, byte("close")?, byte("pair")?);
    let quotes = table.need("quotes")?;
    let loose = Loose {
        open,
        close,
        pair,
        quotes: quotes.strings()?,
        quoted_keys: table.flag("quoted_keys")?,
        words: match table.take("words") {
            Some(words) => words.exactly()?,
            None => ["true", "false", "null"].map(str::to_owned),
        },
        comma: table.string("comma")?.unwrap_or_else(|| ", ".to_owned()),
        colon: table.string("colon")?.unwrap_or_else(|| ": ".to_owned()),
        sorted: table.flag("sorted")?,
    };
    if loose.quotes.is_empty() || loose.quotes.iter().any(String::is_empty) {
        return Err(quotes.wrong("at least one quote, none of them empty"));
    }
    table.close()?;
    Ok(loose)
}
