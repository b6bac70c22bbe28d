//! Every row of `docs/recovery.md` is what the reader does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::fs;
use std::path::Path;

use del_dialects::{End, FaultKind, Limits, Message, Part};
use reading::{chunks, parser, read, spans, turn};

const KINDS: [FaultKind; 15] = [
    FaultKind::UnclosedCall,
    FaultKind::BadArguments,
    FaultKind::BadCall,
    FaultKind::MissingCloser,
    FaultKind::MissingOpener,
    FaultKind::OrphanMark,
    FaultKind::Repaired,
    FaultKind::GuessedBorder,
    FaultKind::GuessedValue,
    FaultKind::DoubleEncoded,
    FaultKind::DuplicateKey,
    FaultKind::InventedResult,
    FaultKind::UnclosedReasoning,
    FaultKind::ReasoningNotOpened,
    FaultKind::WrongType,
];

/// A line of a table, its cells as code spans.
struct Row {
    what: String,
    cells: Vec<Vec<String>>,
}

#[test]
fn the_tables_of_recovery_say_what_is_read() {
    let rows = rows();
    assert!(rows.len() > 50, "expected the tables of docs/recovery.md, got {} rows", rows.len());
    let mut wrong = Vec::new();
    for Row { what, cells } in &rows {
        let [dialect, answer, meant, faults] = cells.as_slice() else { panic!("{what}: {cells:?}") };
        let (answer, end) = match answer[0].strip_suffix('✂') {
            Some(cut) => (cut, End::Cut),
            None => (answer[0].as_str(), End::End),
        };
        let answer = answer.replace('⏎', "\n");
        for pieces in [vec![answer.as_str()], chunks(&answer, 1)] {
            let (message, _) = read(parser(Some(&dialect[0]), turn()), pieces, end);
            let got = said(&message);
            let kinds: Vec<&str> = message.faults.iter().map(|fault| fault.kind.as_str()).collect();
            if got != *meant || kinds != *faults {
                wrong.push(format!("{what}\n  expected {meant:?} {faults:?}\n  got      {got:?} {kinds:?}"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows of docs/recovery.md:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_kind_of_fault_has_a_row() {
    let rows = rows();
    for kind in KINDS {
        let told = rows.iter().any(|row| row.cells[3].iter().any(|fault| fault == kind.as_str()));
        assert!(told, "no row of docs/recovery.md shows {kind}");
    }
}

/// What was read, as the tables write it.
fn said(message: &Message) -> Vec<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => format!("text {text}"),
        Part::Reasoning(text) => format!("thinking {text}"),
        Part::Call(place) => {
            let call = &message.calls[*place];
            format!("call {} {}", call.name, call.arguments)
        }
    };
    let cut = message.faults.iter().filter_map(|fault| fault.call.as_ref());
    let cut = cut.map(|call| format!("cut {} {}", call.name, call.arguments));
    let said = message.parts.iter().map(part).chain(cut);
    said.map(|said| said.replace('\n', "⏎").trim_end().to_owned()).collect()
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recovery.md");
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().filter(|line| line.starts_with('|') && line.contains('`'));
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let mut cells: Vec<String> = vec![String::new()];
    let mut escaped = false;
    for c in line.trim().trim_matches('|').chars() {
        match c {
            '|' if !std::mem::take(&mut escaped) => cells.push(String::new()),
            '|' => {
                let cell = cells.last_mut().unwrap();
                cell.pop();
                cell.push('|');
            }
            c => {
                escaped = c == '\\';
                cells.last_mut().unwrap().push(c);
            }
        }
    }
    let what = cells.remove(0).trim().to_owned();
    Row { what, cells: cells.iter().map(|cell| spans(cell)).collect() }
}

/// The numbers of the page are those of the code.
#[test]
fn the_limits_are_those_of_the_page() {
    let Limits { depth, calls, name, held, arguments, .. } = Limits::default();
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.md")).unwrap();
    let row = |what: &str, most: String| {
        assert!(page.contains(&format!("| {what} | {most} |")), "docs/events.md: {what} should be {most}");
    };
    row("calls in an answer", format!("{},{:03}", calls / 1000, calls % 1000));
    row("the name of a call", format!("{name} bytes"));
    row("objects and lists inside each other in arguments", depth.to_string());
    row("arguments of a call", format!("{} MiB", arguments >> 20));
    row("held back at a time", format!("{} MiB", held >> 20));
}
