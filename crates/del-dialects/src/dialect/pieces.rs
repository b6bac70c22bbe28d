//! Pieces of calls: what a piece is decides which keys it may have.

use super::check::DialectError;
use super::fields::FieldForm;
use super::form::{CallForm, HeadForm};
use super::literal::{Literal, Loose};
use super::record::{record, variants};
use super::table::{Field, Read, Table};

record! {
    /// Marks around a group of calls; empty when there are none.
    pub struct Block {
        /// In order.
        pub open: Vec<Mark>,
        /// In order.
        pub close: Vec<Mark>,
    }
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

variants!(Piece { Mark(mark, head), Head(form), Args(codec) });

impl Piece {
    /// The mark that it is.
    pub fn mark(&self) -> Option<&Mark> {
        if let Self::Mark(mark, _) = self { Some(mark) } else { None }
    }

    /// What it says of name and id.
    pub fn head(&self) -> Option<&HeadForm> {
        match self {
            Self::Mark(_, head) => head.as_ref(),
            Self::Head(form) => Some(form),
            Self::Args(_) => None,
        }
    }
}

record! {
    /// A piece of markup: read wide, written narrow.
    pub struct Mark {
        /// What is written, white space included.
        pub write: String,
        /// All spellings that are read, without the white space around: the written one first. A NUL in one stands for
        /// any suffix, a colon and a word.
        pub read: Vec<String>,
        /// Whether it has to be there.
        pub need: Need,
        /// True when it only counts at the start of a line.
        pub line_start: bool,
    }
}

/// Whether a mark has to be there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Need {
    /// It has to.
    #[default]
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

variants!(Need { Must, Soft, Free, Noise, Stop, Id });

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

variants!(Codec { Object(syntax), Call(form), Fields(form), Lines(form), Raw { key, close } });

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
    /// What errors call a mark here, and what it may need.
    fn rules(self) -> (&'static str, Vec<(&'static str, Need)>) {
        let usual =
            [("must", Need::Must), ("soft", Need::Soft), ("free", Need::Free), ("noise", Need::Noise)];
        let (stop, id) = (("stop", Need::Stop), ("id", Need::Id));
        let (title, more) = match self {
            Self::Open => ("a mark that opens a block", vec![]),
            Self::Before => ("a mark before the arguments", vec![id]),
            Self::Behind => ("a mark behind the arguments", vec![stop, id]),
            Self::Close => ("a mark that closes a block", vec![stop]),
        };
        (title, usual.into_iter().chain(more).collect())
    }
}

impl Read for Block {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        let mut table = field.table()?;
        // In channels a message opens the first call as any other.
        let open = if table.source.in_channels() { None } else { table.take("open") };
        let close = table.take("close");
        table.close()?;
        let marks = |field: Option<Field<'_>>, place: Place| -> Result<Vec<Mark>, DialectError> {
            let mut opens = place == Place::Open;
            let tables = field.map_or(Ok(Vec::new()), |field| field.tables("a mark"))?;
            tables.into_iter().map(|table| Ok(mark(table, place, &mut opens)?.0)).collect()
        };
        Ok(Self { open: marks(open, Place::Open)?, close: marks(close, Place::Close)? })
    }
}

/// The pieces of a call.
impl Read for Vec<Piece> {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        let (mut pieces, mut place) = (Self::new(), Place::Before);
        let tables = field.tables("a piece")?;
        let mut opens = tables.first().is_some_and(|table| !table.source.in_channels());
        for mut table in tables {
            pieces.push(if table.has("args") {
                (place, opens) = (Place::Behind, false);
                Piece::Args(arguments(table)?)
            } else if table.has("mark") {
                let (mark, head) = mark(table, place, &mut opens)?;
                Piece::Mark(mark, head)
            } else if table.has("head") {
                opens = false;
                let head: HeadForm = Read::read(table.need("head")?)?;
                "a head".clone_into(&mut table.title);
                table.close()?;
                Piece::Head(head)
            } else {
                return Err(table.error("expected a piece with mark, head or args, got none of them"));
            });
        }
        Ok(pieces)
    }
}

/// A mark, and what directly follows it. Only one that may open a call may have to stand at the start of a line.
fn mark(
    mut table: Table<'_>,
    place: Place,
    opens: &mut bool,
) -> Result<(Mark, Option<HeadForm>), DialectError> {
    let (title, needs) = place.rules();
    title.clone_into(&mut table.title);
    let field = table.need("mark")?;
    let spellings = field.strings()?;
    let need = table.take("need").map_or(Ok(Need::Must), |need| need.choice(&needs))?;
    let line_start = *opens && table.get("line_start")?;
    let in_call = matches!(place, Place::Before | Place::Behind);
    let head: Option<HeadForm> = if in_call { table.get("head")? } else { None };
    *opens &= need != Need::Must && head.is_none();
    let mut read = table.source.cores(&spellings);
    table.close()?;
    read.retain(|spelling| !spelling.trim().is_empty());
    // White space is free everywhere: alone it is written, and no mark to be read.
    let blank = spellings.iter().any(|spelling| spelling.trim().is_empty());
    if spellings.is_empty() || (blank && (spellings.len() > 1 || need != Need::Soft)) {
        return Err(field.wrong("more than white space, or need = \"soft\" beside it,"));
    }
    field.limit(&read)?;
    let write = spellings.into_iter().next().unwrap_or_default();
    Ok((Mark { write, read, need, line_start }, head))
}

fn arguments(mut table: Table<'_>) -> Result<Codec, DialectError> {
    const KINDS: [&str; 6] = ["object", "call", "fields", "elements", "lines", "raw"];
    let kind = table.need("args")?.choice(&KINDS.map(|kind| (kind, kind)))?;
    table.title = format!("args = {kind:?}");
    let codec = match kind {
        "object" => Codec::Object(table.get::<Option<Loose>>("loose")?.map_or(Literal::Json, Literal::Loose)),
        "call" => {
            let form = table.need("form")?;
            let python = table.take("values").map(|values| values.choice(&[("python", true)])).transpose()?;
            Codec::Call(form.form(|text| CallForm::new(text, python.is_some()))?)
        }
        "fields" | "elements" => Codec::Fields(Box::new(FieldForm::fields(&mut table, kind == "elements")?)),
        "lines" => Codec::Lines(Box::new(FieldForm::lines(&mut table)?)),
        _ => Codec::Raw { key: String::read(table.need("key")?)?, close: String::new() },
    };
    table.close()?;
    Ok(codec)
}
