//! The tables of a description but for pieces and definitions.

use super::rewrite::Rewrite;
use super::table::{Field, Table};
use crate::dialect::check::DialectError;
use crate::dialect::{Channels, Content, Detect, Reasoning, Results, Route, Written};

pub(super) fn reasoning(mut table: Table<'_>, rewrite: &Rewrite<'_>) -> Result<Reasoning, DialectError> {
    let (begin, end) = (table.need("begin")?.marks()?, table.need("end")?.marks()?);
    let holds_calls = table.flag("holds_calls")?;
    let reasoning = Reasoning {
        begin: written_first(&begin, rewrite),
        end: written_first(&end, rewrite),
        // What goes on behind a call was not ended by it.
        until_call: !holds_calls && table.flag("until_call")?,
        holds_calls,
        prefilled: table.flag("prefilled")?,
    };
    table.close()?;
    Ok(reasoning)
}

/// All spellings of marks, and before them the one that is written.
fn written_first(marks: &[String], rewrite: &Rewrite<'_>) -> Vec<String> {
    let mut all = rewrite.all(marks);
    if let Some(written) = marks.first().filter(|written| !all.contains(written)) {
        all.insert(0, written.clone());
    }
    all
}

pub(super) fn content(mut table: Table<'_>, rewrite: &Rewrite<'_>) -> Result<Content, DialectError> {
    let (begin, end) = (table.marks("begin")?, table.marks("end")?);
    table.close()?;
    Ok(Content { begin: rewrite.all(&begin), end: rewrite.all(&end) })
}

pub(super) fn channels(mut table: Table<'_>, rewrite: &Rewrite<'_>) -> Result<Channels, DialectError> {
    const ROUTES: [(&str, Route); 4] = [
        ("text", Route::Text),
        ("reasoning", Route::Reasoning),
        ("call", Route::Call),
        ("dropped", Route::Dropped),
    ];
    let start = some(&table.need("start")?)?;
    let message = some(&table.need("message")?)?;
    let recipient = table.string("recipient")?.unwrap_or_default();
    let channel = table.marks("channel")?;
    let routes = table.need("routes")?.table("[channels.routes]")?.entries();
    let channels = Channels {
        start: rewrite.all(&start),
        // Where the opening mark was left out, a header begins with its recipient.
        also: if recipient.is_empty() { Vec::new() } else { vec![format!(" {recipient}")] },
        author: table.string("author")?.unwrap_or_default(),
        recipient,
        bare: if channel.is_empty() { Vec::new() } else { table.strings("bare")? },
        channel: rewrite.all(&channel),
        constrain: rewrite.all(&table.marks("constrain")?),
        // A header that only white space ends looks like any line.
        known: message.iter().any(|mark| mark.trim().is_empty()),
        message: rewrite.all(&message),
        ends: rewrite.all(&table.marks("ends")?),
        routes: routes
            .into_iter()
            .map(|field| field.choice(&ROUTES).map(|route| (field.key, route)))
            .collect::<Result<_, _>>()?,
        prefix: table.string("prefix")?.unwrap_or_default(),
        content: table.string("content")?.unwrap_or_default(),
        doubled: table.flag("doubled")?,
        written: written(table.table("written", "[channels.written]")?)?,
    };
    table.close()?;
    Ok(channels)
}

/// At least one mark; a line feed may be one.
fn some(field: &Field<'_>) -> Result<Vec<String>, DialectError> {
    let marks = field.strings()?;
    field.limit(&marks)?;
    if marks.is_empty() || marks.iter().any(String::is_empty) {
        Err(field.wrong("a mark"))
    } else {
        Ok(marks)
    }
}

fn written(mut table: Table<'_>) -> Result<Written, DialectError> {
    let mut text = |key| Ok::<_, DialectError>(table.string(key)?.unwrap_or_default());
    let written = Written {
        reasoning: text("reasoning")?,
        text: text("text")?,
        preamble: text("preamble")?,
        end: text("end")?,
    };
    table.close()?;
    Ok(written)
}

/// Reads `[results]`. What a model may make up is what results are written in, where nothing else is said; in channels
/// the header of a message tells who made it.
pub(super) fn results(
    mut table: Table<'_>,
    rewrite: &Rewrite<'_>,
    in_channels: bool,
) -> Result<Results, DialectError> {
    let mut results = Results {
        role: table.string("role")?.unwrap_or_else(|| "user".to_owned()),
        open: table.string("open")?.unwrap_or_default(),
        each: table.string("each")?.unwrap_or_else(|| "{text}".to_owned()),
        failed: table.string("failed")?,
        between: table.string("between")?.unwrap_or_else(|| "\n".to_owned()),
        close: table.string("close")?.unwrap_or_default(),
        invented: Vec::new(),
    };
    let invented = match table.take("invented") {
        Some(field) => field.pairs()?,
        None if in_channels => Vec::new(),
        None => results.tags(),
    };
    table.close()?;
    for [open, close] in invented {
        let closes = rewrite.spellings(&close);
        let opens = rewrite.spellings(&open).into_iter();
        results.invented.extend(opens.zip(closes.iter().cycle()).map(|(open, close)| [open, close.clone()]));
    }
    Ok(results)
}

pub(super) fn detect(mut table: Table<'_>) -> Result<Detect, DialectError> {
    let detect =
        Detect { all: table.strings("all")?, any: table.strings("any")?, none: table.strings("none")? };
    table.close()?;
    Ok(detect)
}
