//! A text in the eyes of every dialect.

use std::sync::Arc;

use del_dialects::{Call, Collect, Dialects, End, Message, Parser, Tool, Turn};
use del_wire::tools;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Lens;
use super::reading::Reading;

/// What is to be tried.
#[derive(Debug, Deserialize)]
pub(crate) struct Trial {
    text: String,
    /// It is a chat template, not what a model wrote.
    #[serde(default)]
    template: bool,
    /// The tools that are declared.
    #[serde(default)]
    tools: Option<Value>,
    /// The one dialect to show; without it, what all together find.
    #[serde(default)]
    dialect: Option<String>,
    /// The answer was cut off.
    #[serde(default)]
    cut: bool,
}

/// What one dialect makes of a text.
struct Row<'d> {
    name: &'d str,
    title: &'d str,
    calls: Vec<Call>,
    faults: usize,
    /// It reads what all together read.
    same: bool,
}

impl Trial {
    /// The answer, or what is wrong with the question. Takes its time.
    pub(crate) fn answer(self, dialects: &Dialects, lens: &dyn Lens) -> Result<Value, String> {
        if self.template {
            return Ok(json!({"report": lens.template(&self.text)?}));
        }
        let tools: Arc<[Tool]> = match &self.tools {
            None | Some(Value::Null) => Arc::default(),
            Some(list) => tools::read(list).map_err(|error| error.to_string())?.into(),
        };
        let end = if self.cut { End::Cut } else { End::End };
        let turn = || Turn::new(Arc::clone(&tools));
        let all = message(&self.text, dialects.parser(turn()), end);
        let mut rows: Vec<Row<'_>> = dialects
            .iter()
            .map(|dialect| {
                let read = message(&self.text, dialect.parser(turn()), end);
                Row {
                    name: dialect.name(),
                    title: dialect.title(),
                    same: !read.calls.is_empty() && same(&read.calls, &all.calls),
                    faults: read.faults.len(),
                    calls: read.calls,
                }
            })
            .collect();
        rows.sort_by_key(|row| {
            let won = all.dialect.as_deref() == Some(row.name);
            (!won, !row.same, std::cmp::Reverse(row.calls.len()), row.faults)
        });
        let (parser, shown) = match &self.dialect {
            Some(name) => {
                let dialect = dialects.get(name).ok_or_else(|| format!("there is no dialect `{name}`"))?;
                (dialect.parser(turn()), dialect.name())
            }
            None => (dialects.parser(turn()), "auto"),
        };
        let (reading, _) = Reading::of(&self.text, parser, end).json(&self.text);
        let why = explained(&self.text, &all, &rows);
        let list: Vec<Value> = rows.iter().map(Row::json).collect();
        Ok(json!({"shown": shown, "winner": all.dialect, "why": why, "reading": reading, "dialects": list}))
    }
}

impl Row<'_> {
    fn json(&self) -> Value {
        let names: Vec<&str> = self.calls.iter().map(|call| call.name.as_str()).take(4).collect();
        json!({"name": self.name, "title": self.title, "calls": self.calls.len(), "names": names,
            "faults": self.faults, "same": self.same})
    }
}

fn message(text: &str, mut parser: Parser, end: End) -> Message {
    let mut collect = Collect::new();
    parser.push(text, &mut collect);
    parser.finish(end, &mut collect);
    collect.into_message()
}

/// The same names and arguments, whatever the ids and the spelling.
fn same(calls: &[Call], others: &[Call]) -> bool {
    let value = |call: &Call| serde_json::from_str::<Value>(&call.arguments).unwrap_or_default();
    calls.len() == others.len()
        && calls.iter().zip(others).all(|(a, b)| a.name == b.name && value(a) == value(b))
}

/// Names, of which there may be dozens.
fn some_of(names: &[&str]) -> String {
    const MOST: usize = 5;
    match names.len().checked_sub(MOST) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more, which the table shows,", names[..MOST].join(", ")),
    }
}

/// Why all dialects together read what they read, in sentences.
fn explained(text: &str, all: &Message, rows: &[Row<'_>]) -> Vec<String> {
    let Some(winner) = all.dialect.as_deref() else {
        let some = rows.iter().filter(|row| !row.calls.is_empty()).count();
        return vec![match some {
            0 => "No dialect finds a call in this text.".to_owned(),
            _ => format!(
                "All dialects together find no call: what {some} of them would read alone is not unmistakable, so \
                 the text stays text. Name the dialect where it is known."
            ),
        }];
    };
    let mut lines = Vec::new();
    for (number, known) in all.evidence.iter().enumerate().take(4) {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
        let opening = text.get(at(known.span.start)..at(known.span.end)).unwrap_or_default();
        let opening: String = opening.chars().take(80).collect();
        lines.push(format!(
            "Call {} was known as {} by `{}`, at byte {}.",
            number + 1,
            known.dialect,
            opening.replace('\n', "⏎"),
            known.span.start
        ));
    }
    let others: Vec<&str> =
        rows.iter().filter(|row| row.same && row.name != winner).map(|row| row.name).collect();
    if !others.is_empty() {
        lines.push(format!(
            "Alone, {} would read the same calls. Among dialects that share a mark, those whose opening is complete \
             come first, and of these the one with the lower rank.",
            some_of(&others)
        ));
    }
    let differ = rows.iter().filter(|row| !row.same && !row.calls.is_empty()).count();
    if differ > 0 {
        lines.push(format!(
            "{differ} more would read other calls, or other arguments, if they were read alone."
        ));
    }
    lines
}
