//! A mark that is written twice, left out, or put where it does not belong never makes a call run untold with other arguments.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::cell::Cell;
use std::ops::Range;

use del_dialects::End;
use reading::{call, every_dialect, parser, read, tools, turn};
use serde_json::{Map, Value};

/// What models write where it does not belong.
const INSERTED: [&str; 11] =
    ["```", "\n\n", "<br>", "</tool_call>", "}}", "\"}", "\n}", "</parameter>", "</function>", "null", "; "];

/// What is not changed: names and values.
const DATA: [&str; 5] = ["Oslo", "3", "city", "days", "get_weather"];

/// The marks of `text`: words and single characters beside its data, tags and lines.
fn marks(text: &str) -> Vec<Range<usize>> {
    let data: Vec<Range<usize>> =
        DATA.iter().flat_map(|data| text.match_indices(data)).map(|(at, data)| at..at + data.len()).collect();
    let (mut marks, mut word, mut tag, mut line) = (Vec::new(), None, None, 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let kept = data.iter().any(|data| data.contains(&at));
        if kept || c.is_whitespace() || c.is_ascii_punctuation() {
            marks.extend(word.take().map(|from| from..at));
            marks.extend((!kept).then_some(at..end));
        } else {
            word.get_or_insert(at);
        }
        match c {
            '<' => tag = Some(at),
            '>' => marks.extend(tag.take().map(|from| from..end)),
            '\n' => marks.push(std::mem::replace(&mut line, end)..end),
            _ => {}
        }
    }
    marks.extend(word.map(|from| from..text.len()));
    marks.retain(|mark| !data.iter().any(|data| mark.contains(&data.start)));
    marks
}

/// The text with this mark changed, in every way.
fn changed(text: &str, mark: &Range<usize>) -> impl Iterator<Item = String> {
    let (before, it, behind) = (&text[..mark.start], &text[mark.clone()], &text[mark.end..]);
    let once = [format!("{before}{behind}"), format!("{before}{it}{it}{behind}"), format!("{text}{it}")];
    once.into_iter().chain(INSERTED.map(|inserted| format!("{before}{inserted}{it}{behind}")))
}

/// True where all of `wanted` is there, each text perhaps with what was inserted in it, and nothing else.
fn holds(given: &Map<String, Value>, wanted: &Map<String, Value>) -> bool {
    let same = |(key, value): (&String, &Value)| match (value, wanted.get(key)) {
        (Value::String(value), Some(Value::String(wanted))) => value.contains(wanted.as_str()),
        (value, wanted) => wanted == Some(value),
    };
    given.len() == wanted.len() && given.iter().all(same)
}

/// What is known to run otherwise: a fence in the middle ends the code that the call is, a closer of arguments may be that
/// of the call, and what ends no line of YAML is data.
fn is_known(dialect: &str, text: &str) -> bool {
    match dialect {
        "continue" | "pythonic" | "tool-code" => text.matches("```").count() % 2 == 1,
        "bfcl-xml" => text.contains("</function><param"),
        "yaml-xml" => text.contains("Oslodays") || text.contains("daysnull"),
        _ => false,
    }
}

#[test]
fn a_mark_that_is_not_where_it_belongs_changes_nothing_untold() {
    let tried = Cell::new(0);
    every_dialect(|dialect| {
        for arguments in [r#"{"city":"Oslo","days":3}"#, r#"{"city":"Oslo"}"#] {
            let Value::Object(wanted) = serde_json::from_str(arguments).unwrap() else { continue };
            let text = dialect.render_calls(&[call("get_weather", arguments)], &tools()).unwrap();
            let texts = marks(&text).into_iter().flat_map(|mark| changed(&text, &mark).collect::<Vec<_>>());
            for text in texts.filter(|text| !is_known(dialect.name(), text)) {
                for name in [Some(dialect.name()), None] {
                    let message = read(parser(name, turn()), [text.as_str()], End::End).0;
                    let untold = message.read_calls().into_iter().filter(|read| read.guess.is_none());
                    for read in untold.filter(|read| read.call.name == "get_weather") {
                        let given: Map<String, Value> = serde_json::from_str(&read.call.arguments).unwrap();
                        // The tool takes no others, and no text as a number: such a call fails, and says why.
                        let fails = given.keys().any(|key| !wanted.contains_key(key) && key != "days")
                            || given.get("days").is_some_and(Value::is_string);
                        assert!(fails || holds(&given, &wanted), "{name:?} {text:?}: {message:?}");
                        tried.set(tried.get() + 1);
                    }
                }
            }
        }
    });
    assert!(tried.get() > 10_000, "{tried:?}");
}
