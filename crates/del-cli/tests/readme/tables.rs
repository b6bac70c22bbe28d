//! The tables of dialects, from the descriptions.

use std::sync::Arc;

use del_dialects::description::{Codec, Frame};
use del_dialects::{Call, Dialect, Dialects};

/// All that is known of each dialect.
pub(super) fn long(dialects: &Dialects) -> String {
    let mut all: Vec<&Arc<Dialect>> = dialects.iter().collect();
    all.sort_by(|a, b| a.name().cmp(b.name()));
    let head = ["Dialect", "Models", "Form", "A call", "Thinking", "Names elsewhere", "Cases"];
    table(&head, all.into_iter().map(details))
}

fn details(dialect: &Arc<Dialect>) -> String {
    let (name, arguments) = match (dialect.tool(), dialect.codec()) {
        (Some(tool), Codec::Raw { key, .. }) => (tool, format!("{{\"{key}\": \"ls\"}}")),
        _ => ("get_weather", r#"{"city": "Paris", "days": 3}"#.to_owned()),
    };
    let call = Call { id: None, name: name.into(), arguments };
    let call = dialect.render_calls(&[call], &[]).map_or_else(|error| error.to_string(), |text| code(&text));
    let thinking = match (dialect.frame(), dialect.reasoning()) {
        (_, Some(reasoning)) => {
            let marks = reasoning.begin.first().into_iter().chain(reasoning.end.first());
            marks.map(|mark| code(mark.trim())).collect::<Vec<_>>().join(" ")
        }
        (Frame::Channels(_), None) => "a channel".to_owned(),
        (_, None) => String::new(),
    };
    let names = dialect
        .aliases()
        .iter()
        .flat_map(|(engine, names)| names.iter().map(move |name| code(&format!("{engine}:{name}"))));
    let globs = dialect.models().iter().map(|glob| code(glob)).collect::<Vec<_>>().join(" ");
    row(&[
        code(dialect.name()),
        format!("{} {globs}", dialect.title()).trim_end().to_owned(),
        dialect.family().to_owned(),
        call,
        thinking,
        names.collect::<Vec<_>>().join(" "),
        Dialects::cases(dialect.name()).to_string(),
    ])
}

fn table(head: &[&str], rows: impl Iterator<Item = String>) -> String {
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let line = row(&vec!["---".to_owned(); head.len()]);
    rows.fold(row(&head) + &line, |table, row| table + &row)
}

fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Text as code, in as many backticks as it takes.
fn code(text: &str) -> String {
    let text = text.replace('\n', "⏎");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}
