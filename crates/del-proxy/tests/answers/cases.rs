//! Every case of every dialect.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use del_dialects::{Collect, Dialect, Dialects, End, FaultKind, Message, Tool, Turn};
use del_proxy::answer::Reader;
use serde::Deserialize;
use serde_json::json;

use crate::client::{Assembled, is_object, reader, says, stream, whole};

/// As much of a case file as matters here.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Case {
    pub(crate) text: String,
    #[serde(default)]
    finish: String,
    #[serde(default)]
    tools: String,
    #[serde(default)]
    pub(crate) canonical: bool,
}

impl Case {
    /// The reason of the end, as a server says it.
    pub(crate) fn finish(&self) -> &'static str {
        if self.finish == "cut" { "length" } else { "stop" }
    }
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../del-dialects/dialects"))
}

pub(crate) fn tools() -> Vec<Tool> {
    serde_json::from_str(&fs::read_to_string(folder().join("tools.json")).unwrap()).unwrap()
}

pub(crate) fn cases(dialect: &Dialect) -> Vec<(String, Case)> {
    let mut files: Vec<_> = fs::read_dir(folder().join(dialect.name()).join("cases"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    files.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

/// What the engine says of a text.
fn engine(reader: &Reader, case: &Case) -> Message {
    let turn = Turn::new(Arc::clone(&reader.tools));
    let mut parser = match &reader.dialect {
        Some(dialect) => dialect.parser(turn),
        None => reader.dialects.parser(turn),
    };
    let mut collect = Collect::new();
    parser.push(&case.text, &mut collect);
    parser.finish(if case.finish == "cut" { End::Cut } else { End::End }, &mut collect);
    collect.into_message()
}

/// How the sentence begins that says of a call that it could not be read.
const UNREAD: [&str; 2] = ["The model's call of `", "A call of the model's could"];

/// The message of the engine as a client is to have it. Ids that were minted are taken from what the client has.
fn expected(message: &Message, case: &Case, got: &Assembled) -> Assembled {
    let visible = |text: &str| if text.trim().is_empty() { String::new() } else { text.to_owned() };
    let call = |(place, call): (usize, &del_dialects::Call)| {
        let minted = || got.calls.get(place).map(|(id, ..)| id.clone()).unwrap_or_default();
        let id = call.id.clone().filter(|id| got.calls.get(place).is_some_and(|(known, ..)| known == id));
        (id.unwrap_or_else(minted), call.name.clone(), call.arguments.clone())
    };
    let broken = || message.faults.iter().filter(|fault| fault.kind.ends_call());
    let last = message.evidence.last().map(|known| known.span.start);
    let is_last_cut =
        broken().any(|fault| fault.kind == FaultKind::UnclosedCall && Some(fault.span.start) > last);
    let finish = match case.finish() {
        _ if !message.calls.is_empty() && !is_last_cut => "tool_calls",
        // A client that has a part of a call is told that there was no more.
        other if broken().next().is_some() => {
            if got.finish.as_deref() == Some("length") {
                "length"
            } else {
                other
            }
        }
        other => other,
    };
    let unread = broken().next().filter(|_| message.calls.is_empty() && finish == "stop");
    let before = if visible(&message.content).is_empty() { "" } else { "\n\n" };
    let unread = unread.map(|_| {
        let place = UNREAD.iter().find_map(|begin| got.content.rfind(begin)).unwrap();
        [before, &got.content[place..]].concat()
    });
    Assembled {
        role: "assistant".to_owned(),
        content: visible(&message.content) + &unread.unwrap_or_default(),
        reasoning: visible(&message.reasoning),
        calls: message.calls.iter().enumerate().map(call).collect(),
        finish: Some(finish.to_owned()),
    }
}

/// A text in pieces of so many characters.
fn chunks(text: &str, size: usize) -> Vec<&str> {
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(size).collect();
    places.push(text.len());
    places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// Sizes that look random and are the same every time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % n as u64).unwrap()
    }

    pub(crate) fn pieces<'t>(&mut self, text: &'t str) -> Vec<&'t str> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let count = 1 + self.below(12);
            let at = rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at);
            pieces.push(&rest[..at]);
            rest = &rest[at..];
        }
        pieces
    }

    pub(crate) fn bytes<'b>(&mut self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = (1 + self.below(97)).min(rest.len());
            pieces.push(&rest[..at]);
            rest = &rest[at..];
        }
        pieces
    }
}

fn check(name: &str, case: &Case, reader: &Reader) {
    let message = json!({"role": "assistant", "content": case.text});
    let at_once = whole(reader, &message, case.finish());
    assert_eq!(at_once, expected(&engine(reader, case), case, &at_once), "{name}");
    let mut dice = Dice(case.text.len() as u64);
    let by = |size| chunks(&case.text, size);
    let random = dice.pieces(&case.text);
    let mut splits = vec![(by(1), false), (random, true)];
    if reader.dialect.is_some() {
        splits.extend([(by(usize::MAX), false), (by(3), true), (by(7), false)]);
    }
    for (pieces, cut) in splits {
        let bytes = says(pieces.iter().copied(), case.finish());
        let cut = if cut { dice.bytes(bytes.as_bytes()) } else { vec![bytes.as_bytes()] };
        let received = stream(reader, cut);
        assert!(received.done && received.error.is_none(), "{name}: {received:?}");
        assert_eq!(received.only().usable(), at_once, "{name}: {pieces:?}");
    }
}

fn every_case(reader: impl Fn(&Arc<Dialect>, &[Tool]) -> Reader) {
    let tools = tools();
    let mut count = 0;
    for dialect in Dialects::builtin().iter() {
        for (name, case) in cases(dialect) {
            let known: &[Tool] = if case.tools == "none" { &[] } else { &tools };
            check(&name, &case, &reader(dialect, known));
            count += 1;
        }
    }
    assert!(count > 500, "only {count} cases were found");
}

#[test]
fn each_dialect_alone_gives_the_same_however_it_is_cut() {
    every_case(|dialect, tools| Reader { dialect: Some(Arc::clone(dialect)), ..reader(tools) });
}

#[test]
fn all_dialects_together_give_the_same_however_it_is_cut() {
    every_case(|_, tools| reader(tools));
}

/// Whatever of a call has gone out before it is whole is no object: nobody runs it.
#[test]
fn nothing_that_is_not_whole_can_run() {
    let tools = tools();
    for dialect in Dialects::builtin().iter() {
        let reader = Reader { dialect: Some(Arc::clone(dialect)), ..reader(&tools) };
        for (name, case) in cases(dialect).into_iter().filter(|(_, case)| case.canonical) {
            let places: Vec<usize> = case.text.char_indices().map(|(at, _)| at).collect();
            for at in places {
                let cut = says([&case.text[..at]], "length");
                let case =
                    Case { text: case.text[..at].to_owned(), finish: "cut".to_owned(), ..Case::default() };
                let known = engine(&reader, &case).calls.len();
                let calls = stream(&reader, [cut.as_bytes()]).only().calls;
                let whole = calls.iter().filter(|(_, _, arguments)| is_object(arguments)).count();
                assert_eq!(whole, known, "{name} at {at}: {calls:?}");
                assert!(calls.iter().all(|(_, _, arguments)| !arguments.is_empty()), "{name} at {at}");
            }
        }
    }
}
