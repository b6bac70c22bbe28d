//! Slips in the markup of a call: a few characters of it are lost, doubled, or stand where none should. Such a call comes
//! out as it was meant, or it is refused, or a fault says that its arguments may have been changed, or that a value does not
//! fit. What must never happen is that it counts with other arguments and nobody is told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::collections::BTreeMap;
use std::sync::Arc;

use del_dialects::{Call, Dialect, Dialects, End, FaultKind, Tool, Turn};
use reading::{chunks, read};
use serde_json::{Value, json};

/// What stands in the calls beside markup: it is left as it is.
const WORDS: [&str; 18] = [
    "get_weather",
    "edit_file",
    "city",
    "days",
    "unit",
    "path",
    "names",
    "opts",
    "text",
    "Xanadu",
    "73",
    "Kelvin",
    "Zorro",
    "Kilo",
    "Lima",
    "Wumpus",
    "Yonder",
    "deep",
];

/// One in so many slips is read in pieces as well.
const CUT: usize = 5;

/// Some slips cannot be told from what a value may hold: half a quote, an opener of which nothing but a word is
/// left, a line that goes on where another should begin, and a value that swallows the rest of its own call and the next. How
/// many there are in each dialect.
const UNTOLD: [(&str, usize); 6] =
    [("beam", 6), ("functiongemma", 2), ("gemma4", 2), ("mimo-xml", 4), ("vcp", 2), ("yaml-xml", 4)];

fn tools() -> Vec<Tool> {
    let text = || json!({"type": "string"});
    serde_json::from_value(json!([
        {"name": "get_weather", "description": "", "parameters": {"type": "object", "required": ["city"],
            "properties": {"city": text(), "days": {"type": "integer"}, "unit": text()}}},
        {"name": "edit_file", "description": "", "parameters": {"type": "object", "required": ["path"],
            "properties": {"path": text(), "names": {"type": "array", "items": text()}, "opts": {"type": "object"},
                "text": text()}}},
    ]))
    .unwrap()
}

fn answers() -> [Vec<Call>; 3] {
    let call = |name: &str, arguments: &str| Call {
        id: None,
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let weather = call("get_weather", r#"{"city": "Xanadu", "days": 73, "unit": "Kelvin"}"#);
    let edit = call(
        "edit_file",
        r#"{"path": "Zorro", "names": ["Kilo", "Lima"], "opts": {"deep": "Wumpus", "days": 73}, "text": "Yonder"}"#,
    );
    [vec![weather.clone()], vec![edit.clone()], vec![weather, edit]]
}

/// The stretches of markup in `text`: what is between the words.
fn stretches(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut inside = vec![false; text.len()];
    for (at, word) in WORDS.iter().flat_map(|word| text.match_indices(word)) {
        inside[at..at + word.len()].fill(true);
    }
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for at in (0..text.len()).filter(|at| !inside[*at]) {
        match found.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

/// `text` with one slip each: up to three characters of its markup are lost, or one is doubled.
fn slips(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for stretch in stretches(text) {
        let places: Vec<usize> = text[stretch.clone()]
            .char_indices()
            .map(|(at, _)| stretch.start + at)
            .chain([stretch.end])
            .collect();
        for (place, from) in places.iter().enumerate() {
            for to in places.iter().skip(place + 1).take(3) {
                all.push(format!("{}{}", &text[..*from], &text[*to..]));
            }
        }
        // What stands beside a word would be a part of it.
        for pair in places.windows(2).filter(|pair| pair[0] > stretch.start && pair[1] < stretch.end) {
            all.push(format!("{}{}", &text[..pair[1]], &text[pair[0]..]));
        }
    }
    all
}

fn value(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| panic!("no JSON: {arguments}"))
}

/// The calls that count with other arguments than those that were meant, and nobody is told.
fn silent(dialect: &Arc<Dialect>, text: &str, meant: &[Call]) -> Vec<String> {
    let (message, _) = read(dialect.parser(Turn::new(tools())), [text], End::End);
    let odd = message.faults.iter().any(|fault| fault.kind == FaultKind::WrongType);
    let same = |call: &Call| {
        meant.iter().any(|meant| meant.name == call.name && value(&meant.arguments) == value(&call.arguments))
    };
    let calls = message.read_calls().into_iter();
    calls
        .filter(|read| read.guess.is_none() && !odd && !same(&read.call))
        .filter(|read| meant.iter().any(|meant| meant.name == read.call.name))
        .map(|read| format!("{text:?}\n    {}({})", read.call.name, read.call.arguments))
        .collect()
}

#[test]
fn no_slip_changes_arguments_in_silence() {
    let mut wrong = Vec::new();
    let mut untold: BTreeMap<&str, usize> = UNTOLD.into_iter().collect();
    for dialect in Dialects::builtin().iter() {
        let mut found = Vec::new();
        for meant in answers() {
            let Ok(text) = dialect.render_calls(&meant, &tools()) else { continue };
            let (message, _) = read(dialect.parser(Turn::new(tools())), [text.as_str()], End::End);
            for (place, slip) in slips(&text).into_iter().enumerate() {
                if place % CUT == 0 {
                    let [whole, cut] = [vec![slip.as_str()], chunks(&slip, 1)]
                        .map(|pieces| read(dialect.parser(Turn::new(tools())), pieces, End::End).0);
                    assert_eq!(whole, cut, "{}: {slip:?}", dialect.name());
                }
                found.extend(silent(dialect, &slip, &message.calls));
            }
        }
        let most = untold.remove(dialect.name()).unwrap_or_default();
        if found.len() != most {
            wrong.push(format!(
                "{}: expected {most}, got {}\n{}",
                dialect.name(),
                found.len(),
                found.iter().take(4).cloned().collect::<Vec<_>>().join("\n")
            ));
        }
    }
    assert!(untold.is_empty(), "no such dialects: {untold:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
