//! Every case file of every dialect is one test: `dialects/NAME/cases/NN-slug.toml` is the test `NAME/NN-slug`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "../reading/mod.rs"]
mod reading;

mod case;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::{env, fs};

use case::{Auto, Case};
use del_dialects::description::{Codec, Frame};
use del_dialects::{Call, Collect, Dialects, End, Message, RenderError, Start};
use libtest_mimic::{Arguments, Trial};
use reading::{
    Dice, Merged, borders, chunks, cost, distinct_marks, endless, folder, in_order, read, squeezed,
};

/// Texts that all dialects together read otherwise than their own dialect: test name, expected and got.
static OTHERS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let conclusion = libtest_mimic::run(&arguments, trials());
    let others = OTHERS.lock().expect("no test panics with the lock");
    if !others.is_empty() {
        eprintln!("canonical texts that `auto` reads otherwise than their own dialect:");
        others.iter().for_each(|line| eprintln!("  {line}"));
    }
    conclusion.exit_code()
}

fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for dialect in Dialects::builtin().iter() {
        let name = dialect.name().to_owned();
        let cases = folder().join(&name).join("cases");
        let mut files: Vec<_> = fs::read_dir(&cases)
            .map(|entries| entries.map(|entry| entry.expect("a readable folder").path()).collect())
            .unwrap_or_default();
        files.sort();
        if files.is_empty() {
            trials.push(Trial::test(format!("{name}/cases"), || Err("expected case files, got none".into())));
        }
        let mut heavy = true;
        for file in files {
            let slug = file.file_stem().expect("a file").to_string_lossy().into_owned();
            let case = Case::load(&file);
            // In the ordinary run one canonical text of each dialect is read at full length.
            let long = matches!(&case, Ok(case) if case.canonical) && std::mem::take(&mut heavy);
            let (test, dialect) = (format!("{name}/{slug}"), name.clone());
            let label = test.clone();
            trials.push(Trial::test(test, move || {
                let case = case?;
                check(&label, &dialect, &case, long).map_err(Into::into)
            }));
        }
        if heavy {
            trials.push(Trial::test(format!("{name}/canonical"), || {
                Err("expected a canonical case, got none".into())
            }));
        }
    }
    trials
}

/// Everything that does not hold, or nothing.
fn check(label: &str, dialect: &str, case: &Case, long: bool) -> Result<(), String> {
    let mut wrong = Vec::new();
    let parser = || reading::parser(Some(dialect), case.turn());
    let (message, events) = read(parser(), [case.text.as_str()], case.end());
    compare(case, &message, &mut wrong);
    renders(dialect, case, &mut wrong);
    same_wherever_it_began(dialect, case, &message, &mut wrong);
    // While one works on the engine, whole texts tell the most in the least time.
    if env::var_os("DEL_SHORT").is_none() {
        same_however_split(case, &message, &events, &parser, &mut wrong);
        prefixes(dialect, case, &parser, &mut wrong);
        costs(dialect, case, long, &mut wrong);
    }
    if case.canonical || case.auto.is_some() {
        reads_alike(label, case, &message, &mut wrong);
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\n{}", case.about, wrong.join("\n"))) }
}

/// (a) The whole text says what the case expects.
fn compare(case: &Case, got: &Message, wrong: &mut Vec<String>) {
    let expect = &case.expect;
    let mut differ = |what: &str, expected: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug| {
        let (expected, got) = (format!("{expected:?}"), format!("{got:?}"));
        if expected != got {
            wrong.push(format!("whole: {what}\n  expected {expected}\n  got      {got}"));
        }
    };
    differ("content", &expect.content, &got.content);
    differ("reasoning", &expect.reasoning, &got.reasoning);
    differ("calls", &expect.calls, &got.calls);
    let faults: Vec<&str> = got.faults.iter().map(|fault| fault.kind.as_str()).collect();
    differ("faults", &expect.faults, &faults);
    if let Some(cut) = &expect.cut_call {
        let reported = got.faults.iter().find_map(|fault| fault.call.as_ref());
        differ("the call that does not count", &Some(cut), &reported);
    }
}

/// (b) Chunking cannot show.
fn same_however_split(
    case: &Case,
    message: &Message,
    events: &[(Merged, del_dialects::Span)],
    parser: &dyn Fn() -> del_dialects::Parser,
    wrong: &mut Vec<String>,
) {
    let text = case.text.as_str();
    let mut ways: Vec<(String, Vec<&str>)> = Vec::new();
    for chars in [1, 3, 7] {
        ways.push((format!("pieces of {chars}"), chunks(text, chars)));
    }
    for at in borders(text) {
        ways.push((format!("cut at {at}"), vec![&text[..at], &text[at..]]));
    }
    let mut dice = Dice(text.len() as u64);
    for round in 0..20 {
        ways.push((format!("random split {round}"), dice.split(text)));
    }
    for (way, pieces) in ways {
        let (split, log) = read(parser(), pieces.iter().copied(), case.end());
        if split != *message || log != events {
            let mut report = format!("{way}: other events than the whole text");
            let place =
                log.iter().zip(events).position(|(a, b)| a != b).unwrap_or(log.len().min(events.len()));
            let _ = write!(
                report,
                "\n  whole {:?}\n  split {:?}",
                events.get(place.saturating_sub(1)..events.len().min(place + 2)),
                log.get(place.saturating_sub(1)..log.len().min(place + 2))
            );
            wrong.push(report);
            return;
        }
    }
}

/// (c) Every beginning of the text ends without panic, without markup in the text, and without an invented call.
fn prefixes(name: &str, case: &Case, parser: &dyn Fn() -> del_dialects::Parser, wrong: &mut Vec<String>) {
    let dialect = reading::dialect(name);
    let marks = distinct_marks(&dialect);
    // The beginning of a mark that is made of words is text as long as nothing follows it.
    let words: Vec<&String> = dialect
        .reasoning()
        .iter()
        .flat_map(|reasoning| reasoning.begin.iter().chain(&reasoning.end))
        .filter(|mark| mark.starts_with(char::is_alphabetic))
        .collect();
    for end in [End::Cut, End::End] {
        let (whole, _) = read(parser(), [case.text.as_str()], end);
        // One parser reads on; a copy of it ends at each border.
        let (mut so_far, mut collected, mut from) = (parser(), Collect::new(), 0);
        for at in borders(&case.text) {
            so_far.push(&case.text[from..at], &mut collected);
            from = at;
            let (copy, mut answer) = (so_far.clone(), collected.clone());
            copy.finish(end, &mut answer);
            let message = answer.into_message();
            let mut found = Vec::new();
            for (kind, got, all) in [
                ("content", &message.content, &whole.content),
                ("reasoning", &message.reasoning, &whole.reasoning),
            ] {
                for mark in marks.iter().filter(|mark| got.contains(*mark) && !all.contains(*mark)) {
                    found.push(format!("{mark:?} in {kind} {got:?}"));
                }
                let tail = got.strip_prefix(all.as_str()).unwrap_or(got).trim();
                let half = words.iter().any(|mark| mark.starts_with(tail));
                // Before the mark that tells, what will be thinking is text.
                let undecided = case.turn().starts == Start::Unknown && case.text.starts_with(got.as_str());
                let free = half || undecided || case.prefix_may_differ.is_some();
                if !free && !all.starts_with(got.as_str()) && !is_tail(got, all, &case.text[..at]) {
                    found.push(format!("{kind} {got:?} does not begin {all:?}"));
                }
            }
            if message.calls.len() > whole.calls.len() && case.prefix_may_differ.is_none() {
                found.push(format!("{} calls, {} in the whole", message.calls.len(), whole.calls.len()));
            }
            let raw =
                matches!(dialect.codec(), Codec::Fields(_)) || matches!(dialect.frame(), Frame::Channels(_));
            let raw = raw && end == End::End;
            let calls = message.calls.iter().enumerate();
            for (place, call) in calls.filter(|_| case.prefix_may_differ.is_none()) {
                if members(&call.arguments).is_none() {
                    found.push(format!("arguments that are no object: {}", call.arguments));
                }
                let same = whole.calls.get(place).is_some_and(|known| {
                    // An id that stands behind the arguments may be what was cut off.
                    let unnamed = call.id.is_none() && call.name == known.name;
                    call == known
                        || (unnamed && call.arguments == known.arguments)
                        || (raw && call.name == known.name && begins(&call.arguments, &known.arguments))
                });
                if !same && case.prefix_may_differ.is_none() {
                    found.push(format!("call {place} is {call:?}"));
                }
            }
            if !found.is_empty() {
                wrong.push(format!(
                    "prefix of {at} bytes, {end:?}: {}\n  …{:?}",
                    found.join("; "),
                    case.text[..at]
                        .chars()
                        .rev()
                        .take(40)
                        .collect::<Vec<_>>()
                        .iter()
                        .rev()
                        .collect::<String>()
                ));
                return;
            }
        }
    }
}

/// True when `got` goes beyond `all` only by white space, or at the end of `text` by fewer characters than make a mark
/// or by a single word or the beginning of a fence: at the end of an answer they are text, and in the middle they were framing or half a mark.
fn is_tail(got: &str, all: &str, text: &str) -> bool {
    let common = got.char_indices().zip(all.chars()).find(|((_, a), b)| a != b).map(|((at, _), _)| at);
    let tail = &got[common.unwrap_or(all.len().min(got.len()))..];
    let rest = tail.trim();
    let word = rest.trim_start_matches('`').chars().all(|c| c.is_alphanumeric() || c == '_');
    rest.is_empty() || (text.ends_with(tail) && (word || rest.chars().count() < 3))
}

/// True when an object holds the first members of another: raw fields that are closed are whole, so a model that
/// stops behind one of them and leaves out the closer of the call has made this call; and a body that ends before it
/// begins has no arguments.
fn begins(arguments: &str, whole: &str) -> bool {
    match (members(arguments), members(whole)) {
        (Some(first), Some(all)) => all.starts_with(&first),
        _ => false,
    }
}

fn members(object: &str) -> Option<Vec<(String, String)>> {
    let map: serde_json::Map<String, serde_json::Value> = serde_json::from_str(object).ok()?;
    Some(map.into_iter().map(|(key, value)| (key, value.to_string())).collect())
}

/// (d) The calls render, and read back as they were.
fn renders(name: &str, case: &Case, wrong: &mut Vec<String>) {
    let dialect = reading::dialect(name);
    let calls = &case.expect.calls;
    let turn = case.turn();
    match dialect.render_calls(calls, &turn.tools) {
        Ok(text) => {
            if case.canonical && text != case.text {
                wrong.push(format!("render\n  expected {:?}\n  got      {text:?}", case.text));
            }
            let mut turn = turn;
            turn.starts = Start::Text;
            // When they were called, they were declared.
            reading::declare(&mut turn, calls);
            let (back, _) = read(dialect.parser(turn), [text.as_str()], End::End);
            // Where JSON is not the dialect's own syntax the spelling of values inside it is not kept.
            // An id of another form may be a part of the one that is written for it.
            let carried = |id: &Option<String>, back: &Option<String>| {
                id.as_ref().is_some_and(|id| {
                    text.contains(id.as_str()) && back.as_ref().is_none_or(|back| !back.contains(id.as_str()))
                })
            };
            let alike = back.calls.len() == calls.len()
                && back.calls.iter().zip(calls).all(|(a, b)| {
                    a.name == b.name
                        && (a.id == b.id || !carried(&b.id, &a.id))
                        && squeezed(&in_order(&dialect, &a.arguments))
                            == squeezed(&in_order(&dialect, &b.arguments))
                });
            if !alike {
                wrong
                    .push(format!("parse(render(calls))\n  expected {calls:?}\n  got      {:?}", back.calls));
            }
        }
        Err(error @ (RenderError::Arguments { .. } | RenderError::Unrepresentable { .. }))
            if case.canonical =>
        {
            wrong.push(format!("render: {error}"));
        }
        Err(_) => {}
    }
}

/// (e) The work is linear: each byte is looked at no more than four times.
fn costs(name: &str, case: &Case, long: bool, wrong: &mut Vec<String>) {
    let size = if env::var_os("DEL_LONG").is_some() || long { 1 << 20 } else { 64 << 10 };
    let text = case.text.repeat(size / case.text.len().max(1) + 1);
    if text.is_empty() {
        return;
    }
    for (way, pieces) in [("whole", vec![text.as_str()]), ("byte by byte", chunks(&text, 1))] {
        let turn = endless(&case.turn());
        let (examined, _) = cost(reading::parser(Some(name), turn), pieces);
        if examined > 4 * text.len() as u64 {
            let times = examined / text.len() as u64;
            wrong.push(format!("{way}: {examined} looks at {} bytes, {times} times", text.len()));
        }
    }
}

/// (f) All dialects together find the same calls.
fn reads_alike(label: &str, case: &Case, own: &Message, wrong: &mut Vec<String>) {
    let (message, _) = read(Dialects::builtin().parser(case.turn()), [case.text.as_str()], case.end());
    let alike = message.calls == own.calls;
    match (case.auto.unwrap_or_default(), alike) {
        (Auto::Same, true) => {}
        (Auto::Other, false) if case.auto_reason.as_ref().is_some_and(|reason| !reason.trim().is_empty()) => {
        }
        (Auto::Other, false) => wrong.push("auto: expected a reason in auto_reason, got none".to_owned()),
        (Auto::Other, true) => wrong.push("auto: reads the same now; drop auto = \"other\"".to_owned()),
        (Auto::Same, false) => {
            let names = |calls: &[Call]| calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>();
            let line = format!(
                "{label}: expected {:?}, got {:?} as {} and content {:?}",
                names(&own.calls),
                names(&message.calls),
                message.dialect.as_deref().unwrap_or("no call"),
                message.content
            );
            OTHERS.lock().expect("no test panics with the lock").push(line.clone());
            wrong.push(format!("auto: {line}"));
        }
    }
}

/// (g) Where no thinking shows, an answer that may have begun inside it means the same as one that did not.
fn same_wherever_it_began(dialect: &str, case: &Case, message: &Message, wrong: &mut Vec<String>) {
    let mut turn = case.turn();
    if turn.starts != Start::Text {
        return;
    }
    turn.starts = Start::Unknown;
    let (open, _) = read(reading::parser(Some(dialect), turn), [case.text.as_str()], case.end());
    if open.reasoning.is_empty() && (&open.content, &open.calls) != (&message.content, &message.calls) {
        wrong.push(format!(
            "starts in unknown\n  expected {:?}, {:?}\n  got      {:?}, {:?}",
            message.content, message.calls, open.content, open.calls
        ));
    }
}
