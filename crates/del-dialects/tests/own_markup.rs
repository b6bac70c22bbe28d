//! A dialect's own markup inside its own values: whole fields, their openers and closers, whole calls, for every key,
//! given or not. Such a call comes out as it was meant, or it is refused, or a fault says that its arguments may have
//! been changed. What must never happen is that it counts with other arguments and nobody is told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use del_dialects::{Call, Dialect, Dialects, End, Message, Parser, Tool, Turn};
use reading::{Dice, chunks, kept, read};
use serde_json::{Value, json};

/// What stands for a value until the real one is put in its place.
const HOLDER: &str = "Xq7holderX";

/// How often each verdict came.
#[derive(Debug, Default)]
struct Counts {
    whole: usize,
    refused: usize,
    told: usize,
    /// The text is just that of other calls.
    alike: usize,
    silent: Vec<String>,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.whole += other.whole;
        self.refused += other.refused;
        self.told += other.told;
        self.alike += other.alike;
        self.silent.extend(other.silent);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { whole, refused, told, alike, silent } = self;
        let silent = silent.len();
        write!(f, "whole {whole}, refused {refused}, told {told}, alike {alike}, silent {silent}")
    }
}

fn tool() -> Tool {
    serde_json::from_value(json!({
        "name": "write_file",
        "description": "Write a file",
        "parameters": {"type": "object", "required": ["content"], "properties": {
            "content": {"type": "string"}, "path": {"type": "string"}, "mode": {"type": "string"},
            "limit": {"type": "integer"},
        }},
    }))
    .unwrap()
}

fn call(members: &[(&str, &str)]) -> Call {
    let members: serde_json::Map<String, Value> =
        members.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    Call { id: None, name: "write_file".to_owned(), arguments: Value::Object(members).to_string() }
}

fn written(dialect: &Arc<Dialect>, members: &[(&str, &str)]) -> Option<String> {
    dialect.render_calls(&[call(members)], &[tool()]).ok()
}

/// The markup of a dialect, cut at the places of values.
fn markup(dialect: &Arc<Dialect>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for key in ["content", "path", "mode", "other"] {
        let Some(text) = written(dialect, &[(key, HOLDER)]) else { continue };
        let Some((front, back)) = text.split_once(HOLDER) else { continue };
        found.push((format!("call of {key}"), format!("{front}x{back}")));
        found.push((format!("call of {key} up to its value"), front.to_owned()));
        found.push((format!("call of {key} from its value on"), back.to_owned()));
        let Some(two) = written(dialect, &[(key, HOLDER), ("limit2", HOLDER)]) else { continue };
        let [_, between, _] = two.split(HOLDER).collect::<Vec<_>>()[..] else { continue };
        found.push((format!("closer of {key} and next field"), between.to_owned()));
        let Some(two) = written(dialect, &[("limit2", HOLDER), (key, HOLDER)]) else { continue };
        let [_, opener, _] = two.split(HOLDER).collect::<Vec<_>>()[..] else { continue };
        found.push((format!("closer, opener of {key}"), opener.to_owned()));
        // The closer of a value is what the two ways of going on share.
        let closer: String =
            between.chars().zip(back.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
        let opener = opener.strip_prefix(&closer).unwrap_or(opener);
        found.push((format!("opener of {key}"), opener.to_owned()));
        found.push((format!("field of {key}"), format!("{opener}x{closer}")));
        found.push((format!("closer of {key}"), closer));
    }
    found.retain(|(_, markup)| !markup.trim().is_empty());
    found
}

/// A value as the dialect writes it, but for what the writer would refuse.
fn spelt(dialect: &Arc<Dialect>, value: &str, known: &mut BTreeMap<char, String>) -> String {
    value.chars().map(|c| known.entry(c).or_insert_with(|| letter(dialect, c)).clone()).collect()
}

fn letter(dialect: &Arc<Dialect>, c: char) -> String {
    let text = written(dialect, &[("content", &format!("{HOLDER}{c}{HOLDER}"))]);
    let spelling = text.as_deref().and_then(|text| text.split(HOLDER).nth(1));
    spelling.map_or_else(|| c.to_string(), str::to_owned)
}

/// Calls with one value that holds markup: the text, and the call that is meant.
fn answers(dialect: &Arc<Dialect>) -> Vec<(String, String, Call)> {
    let orders: [&[&str]; 4] =
        [&["content", "path"], &["path", "content"], &["content"], &["content", "mode", "path"]];
    let around =
        [("How to write:\n", "\n300 more lines.\n"), ("see ", " here"), ("see\n", ""), ("", " here")];
    let (mut found, mut known) = (Vec::new(), BTreeMap::new());
    for (what, markup) in markup(dialect) {
        for keys in orders {
            for (place, key) in keys.iter().enumerate().filter(|(_, key)| **key != "mode") {
                for (before, behind) in around {
                    let value = format!("{before}{markup}{behind}").trim().to_owned();
                    let members: Vec<(&str, &str)> = keys
                        .iter()
                        .enumerate()
                        .map(|(at, key)| (*key, if at == place { HOLDER } else { "a.md" }))
                        .collect();
                    let Some(text) = written(dialect, &members) else { continue };
                    let text = text.replacen(HOLDER, &spelt(dialect, &value, &mut known), 1);
                    let members: Vec<(&str, &str)> = members
                        .iter()
                        .map(|(key, given)| (*key, if *given == HOLDER { value.as_str() } else { *given }))
                        .collect();
                    let about = format!("{what} in {key} of {keys:?}, {before:?} {behind:?}");
                    found.push((about, text, call(&members)));
                }
            }
        }
    }
    found
}

fn same(dialect: &Dialect, got: &Call, meant: &Call) -> bool {
    let plain = |call: &Call| {
        let value: Value = serde_json::from_str(&call.arguments).ok()?;
        let members = value.as_object()?.iter();
        let trimmed =
            members.map(|(key, value)| (key.clone(), value.as_str().map(|text| text.trim().to_owned())));
        Some(trimmed.collect::<BTreeMap<_, _>>())
    };
    let got = kept(dialect, vec![got.clone()]);
    got[0].name == meant.name && plain(&got[0]) == plain(meant)
}

/// True when the dialect itself writes the calls that were read so: the text is theirs, and nobody could tell.
fn is_canonical(dialect: &Arc<Dialect>, message: &Message, text: &str) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let mut message = message.clone();
    for call in &mut message.calls {
        // A key that comes twice is written once.
        call.arguments = serde_json::from_str::<Value>(&call.arguments).unwrap().to_string();
    }
    let letters = |text: &str| {
        let mut letters: Vec<char> = squeezed(text).chars().collect();
        letters.sort_unstable();
        letters
    };
    // Where keys are sorted, those of the text may stand in another order.
    let written = dialect.render_answer(&message, &[tool()]);
    // Each call may stand in a group of its own.
    let each = message.calls.iter().map(|call| dialect.render_calls(std::slice::from_ref(call), &[tool()]));
    let each = each.collect::<Result<String, _>>().map(|calls| message.content.clone() + &calls);
    // Closers that are missing behind a whole value do not change it.
    let short = each.as_ref().is_ok_and(|each| is_part(&squeezed(text), &squeezed(each)));
    short || [written, each].into_iter().flatten().any(|written| letters(&written) == letters(text))
}

/// True when `text` is `whole` with something left out.
fn is_part(text: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    text.chars().all(|c| rest.any(|other| other == c))
}

fn judge(
    dialect: &Arc<Dialect>,
    message: &Message,
    meant: &Call,
    about: &str,
    text: &str,
    counts: &mut Counts,
) {
    let wrong = |place: usize| place > 0 || !same(dialect, &message.calls[place], meant);
    let silent = |place: &usize| wrong(*place) && message.guesses(*place).next().is_none();
    if message.calls.is_empty() {
        counts.refused += 1;
    } else if let Some(place) = (0..message.calls.len()).find(silent) {
        if is_canonical(dialect, message, text) {
            counts.alike += 1;
            return;
        }
        let got = &message.calls[place];
        counts.silent.push(format!("{about}\n  text {text:?}\n  got {got:?}\n  faults {:?}", message.faults));
    } else if message.calls.len() == 1 && same(dialect, &message.calls[0], meant) {
        counts.whole += 1;
    } else {
        counts.told += 1;
    }
}

/// Values of several pieces of markup with words between them, thrown by dice.
fn thrown(dialect: &Arc<Dialect>) -> Vec<(String, String, Call)> {
    let (pieces, mut dice) = (markup(dialect), Dice(dialect.name().len() as u64));
    let (mut found, mut known) = (Vec::new(), BTreeMap::new());
    let joints = ["\n", " ", "", "\nand then\n", " or ", ": "];
    let mut keys = ["content", "path", "mode", "other"];
    for _ in 0..150 {
        keys.swap(dice.below(4), dice.below(4));
        let keys = &keys[..=dice.below(4)];
        let place = dice.below(keys.len());
        let mut value = ["A ", "To write:\n", "x"][dice.below(3)].to_owned();
        for _ in 0..=dice.below(4) {
            value += &pieces[dice.below(pieces.len())].1;
            value += joints[dice.below(joints.len())];
        }
        let value = value.trim().to_owned();
        let holder = |at: usize, real: &'static str| if at == place { HOLDER } else { real };
        let members: Vec<_> = keys.iter().enumerate().map(|(at, key)| (*key, holder(at, "a.md"))).collect();
        let Some(text) = written(dialect, &members) else { continue };
        let text = text.replacen(HOLDER, &spelt(dialect, &value, &mut known), 1);
        let given = |real: &&'static str| if *real == HOLDER { value.clone() } else { (*real).to_owned() };
        let meant: Vec<_> = members.iter().map(|(key, real)| (*key, given(real))).collect();
        let meant: Vec<_> = meant.iter().map(|(key, value)| (*key, value.as_str())).collect();
        found.push((format!("thrown into {} of {keys:?}", keys[place]), text, call(&meant)));
    }
    found
}

/// What makes answers of a dialect: the text, and the call that is meant.
type Make = fn(&Arc<Dialect>) -> Vec<(String, String, Call)>;

/// Reads answers of all dialects in one way: how often each verdict came.
fn trial(make: Make, parser: &dyn Fn(&Arc<Dialect>) -> Parser) {
    let mut all = Counts::default();
    for dialect in reading::of_any_tool() {
        let mut counts = Counts::default();
        for (about, text, meant) in make(dialect) {
            let (message, _) = read(parser(dialect), [text.as_str()], End::End);
            let (pieces, _) = read(parser(dialect), chunks(&text, 1), End::End);
            assert_eq!(pieces, message, "{}: cutting shows in {text:?}", dialect.name());
            judge(dialect, &message, &meant, &format!("{}: {about}", dialect.name()), &text, &mut counts);
        }
        eprintln!("{:<20} {counts}", dialect.name());
        all.add(counts);
    }
    eprintln!("all                  {all}");
    let some = all
        .silent
        .iter()
        .take(std::env::var("SHOW").map_or(12, |n| n.parse().unwrap()))
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    assert!(all.silent.is_empty(), "{} in silence, such as\n{some}", all.silent.len());
    assert!(all.whole > all.refused + all.told, "most are read as they are meant: {all}");
}

#[test]
fn nor_does_what_dice_throw() {
    trial(thrown, &|dialect| dialect.parser(Turn::new(vec![tool()])));
}

#[test]
fn markup_in_a_value_never_changes_a_call_in_silence() {
    trial(answers, &|dialect| dialect.parser(Turn::new(vec![tool()])));
}

#[test]
fn nor_where_no_tools_are_known() {
    trial(answers, &|dialect| dialect.parser(Turn::default()));
}

#[test]
fn nor_among_all_dialects() {
    trial(answers, &|_| Dialects::builtin().parser(Turn::new(vec![tool()])));
}

/// A value that nothing closes, and the next call behind it: the text of the call that swallowed it.
fn swallowing(dialect: &Arc<Dialect>) -> Option<String> {
    let first = call(&[("content", HOLDER)]);
    let next = call(&[("path", "src/next.md")]);
    let alone = dialect.render_calls(std::slice::from_ref(&next), &[tool()]).ok()?;
    let both = dialect.render_calls(&[first, next], &[tool()]).ok()?;
    let (front, back) = both.split_once(HOLDER)?;
    // What opens the next call: the longest end of what stands before its name that opens one alone.
    let name = back.find("write_file")?;
    let opener = &alone[..alone.find("write_file")?];
    let places = opener.char_indices().map(|(at, _)| at);
    let from = places.into_iter().find(|at| back[..name].ends_with(&opener[*at..]))?;
    Some(format!("{front}a text{}", &back[name - (opener.len() - from)..]))
}

#[test]
fn a_call_inside_a_value_that_was_not_closed_is_told() {
    // Their fields open with no mark that the name of another key could not be a part of.
    let silent = ["beam", "vcp"];
    let mut told = 0;
    for dialect in reading::of_any_tool() {
        let Some(text) = swallowing(dialect) else { continue };
        let (message, _) = read(dialect.parser(Turn::new(vec![tool()])), [text.as_str()], End::End);
        let swallowed =
            message.calls.iter().any(|call| call.arguments.contains("a text") && call.arguments.len() > 30);
        let doubted =
            message.faults.iter().any(|fault| fault.kind.changes_arguments() || fault.kind.ends_call());
        assert!(
            !swallowed || doubted || silent.contains(&dialect.name()),
            "{} {text:?} {message:?}",
            dialect.name()
        );
        told += usize::from(swallowed && doubted);
    }
    assert!(told > 20, "{told} dialects tell of it");
}
