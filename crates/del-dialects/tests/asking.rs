//! What may not be what the model meant never runs unasked, in any dialect.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::cell::Cell;
use std::sync::Arc;

use del_dialects::{Dialect, End, Message};
use reading::{call, chunks, every_dialect, parser, read, tools, turn, writes_json};
use serde_json::Value;

/// The message of `text` by this dialect alone and by all, whole and in pieces.
fn messages(name: &str, text: &str) -> Vec<Message> {
    [Some(name), None]
        .into_iter()
        .map(|name| {
            let whole = read(parser(name, turn()), [text], End::End).0;
            assert_eq!(read(parser(name, turn()), chunks(text, 1), End::End).0, whole, "{name:?} {text:?}");
            whole
        })
        .collect()
}

#[test]
fn a_schema_that_is_echoed_asks() {
    every_dialect(|dialect| {
        for (key, arguments) in [
            ("properties", r#"{"properties":{"city":"Paris"}}"#),
            ("city", r#"{"city":{"type":"string","value":"Paris"}}"#),
            ("city", r#"{"days":2,"city":{"value":"Paris"}}"#),
        ] {
            let Ok(text) = dialect.render_calls(&[call("get_weather", arguments)], &tools()) else {
                continue;
            };
            for message in messages(dialect.name(), &text) {
                for read in message.read_calls() {
                    let value: Value = serde_json::from_str(&read.call.arguments).unwrap();
                    if value[key].is_object() {
                        assert!(read.guess.is_some(), "{} {text:?}", dialect.name());
                    }
                }
            }
        }
    });
}

#[test]
fn what_stands_between_the_arguments_and_the_closing_mark_makes_a_call_ask() {
    every_dialect(|dialect| {
        if !writes_json(dialect) {
            return;
        }
        let arguments = r#"{"city":"Oslo"}"#;
        let text = dialect.render_calls(&[call("get_weather", arguments)], &tools()).unwrap();
        let end = text.find(arguments).unwrap() + arguments.len();
        let brackets = text[end..].find(|c: char| !"}])".contains(c)).unwrap_or(text.len() - end);
        let (before, behind) = text.split_at(end + brackets);
        if behind.trim().is_empty() {
            return;
        }
        // Among all dialects a tag of one word may be the user's own.
        let tag = behind.trim_start().starts_with("</") && !behind.contains('_');
        for inside in ["\n<code>\nprint(1)\n</code>\n", "\nfor the whole week\n"] {
            let text = format!("{before}{inside}{behind}");
            for message in messages(dialect.name(), &text).into_iter().take(if tag { 1 } else { 2 }) {
                for read in message.read_calls() {
                    assert!(read.guess.is_some(), "{} {text:?}: {message:?}", dialect.name());
                }
            }
        }
    });
}

/// True for a text in which Rome stands: each call that is read in it asks.
fn asks_about_rome(dialect: &Dialect, text: &str) -> bool {
    let tried = text.contains("Rome");
    for message in messages(dialect.name(), text).iter().filter(|_| tried) {
        for read in message.read_calls() {
            assert!(read.guess.is_some(), "{} {text:?}: {message:?}", dialect.name());
        }
    }
    tried
}

#[test]
fn a_value_in_the_tag_of_a_field_asks_where_the_form_has_it_behind() {
    let tried = Cell::new(0);
    every_dialect(|dialect| {
        let text = dialect.render_calls(&[call("get_weather", r#"{"city":"Oslo"}"#)], &tools()).unwrap();
        let tag = |inside: &str| text.replacen(r#"="city">Oslo"#, &format!(r#"="city"{inside}"#), 1);
        for text in [tag(r#" value="Rome">"#), tag(r" value='Rome'>Oslo")] {
            tried.set(tried.get() + u32::from(asks_about_rome(dialect, &text)));
        }
    });
    assert!(tried.get() > 3, "{tried:?}");
}

#[test]
fn words_behind_a_key_ask() {
    let tried = Cell::new(0);
    every_dialect(|dialect| {
        let text = dialect.render_calls(&[call("get_weather", r#"{"city":"Oslo"}"#)], &tools()).unwrap();
        for open in ["=city>", "ARG: city"] {
            let (key, end) = open.split_at(open.len() - usize::from(open.ends_with('>')));
            let text = text.replacen(open, &format!("{key} Rome{end}"), 1);
            tried.set(tried.get() + u32::from(asks_about_rome(dialect, &text)));
        }
    });
    assert!(tried.get() > 3, "{tried:?}");
}

#[test]
fn the_rest_of_a_closing_tag_closes_no_call() {
    for (name, text) in [
        ("cline", "<get_weather>>\n<city>\nOslo\n</city>\n</get_weather>"),
        ("yaml-xml", "<get_weather>>\ncity: Oslo\n</get_weather>"),
        ("bracket-name", "[get_weather]]\n{\"city\":\"Oslo\"}\n[END_TOOL_REQUEST]"),
        ("llama-function", "<function=get_weather</function>>{\"city\":\"Oslo\"}</function>"),
        ("del-legacy", "TOOL_USE: get_weather\n} {\"city\":\"Oslo\"}"),
    ] {
        for message in messages(name, text) {
            for read in message.read_calls() {
                assert!(
                    read.guess.is_some() || read.call.arguments.contains("Oslo"),
                    "{text:?}: {message:?}"
                );
            }
        }
    }
}

/// Where this closer stands in the middle of a call, a call with fewer arguments asks.
fn closed_in_the_middle(dialect: &Arc<Dialect>, closer: &str) {
    let arguments = r#"{"city":"Oslo","days":3}"#;
    let text = dialect.render_calls(&[call("get_weather", arguments)], &tools()).unwrap();
    let wanted: Value = serde_json::from_str(arguments).unwrap();
    for (at, _) in text.match_indices(['<', ',', '{', '\n']) {
        let text = format!("{}{closer}{}", &text[..at], &text[at..]);
        for message in messages(dialect.name(), &text) {
            for read in message.read_calls().into_iter().filter(|read| read.call.name == "get_weather") {
                let arguments: Value = serde_json::from_str(&read.call.arguments).unwrap();
                let less = wanted.as_object().unwrap().iter().any(|(key, _)| arguments.get(key).is_none());
                assert!(read.guess.is_some() || !less, "{} {text:?}: {message:?}", dialect.name());
            }
        }
    }
}

#[test]
fn arguments_behind_a_closer_ask() {
    every_dialect(|dialect| {
        // Another closer stands before its own, and may be missing.
        if dialect.name() != "bfcl-xml" {
            for closer in ["</tool_call>", "</function>"] {
                closed_in_the_middle(dialect, closer);
            }
        }
    });
}

#[test]
fn arguments_behind_the_name_of_a_call_are_read_or_ask() {
    // What else a header says is about the form of its message.
    const IN_HEADERS: [&str; 4] = ["harmony", "inkling", "llm-jp-harmony", "muse-atem"];
    const SAID: [&str; 6] =
        [r#" city="Rome""#, " city='Rome'", " city=Rome", " Rome", r#" {"city":"Rome"}"#, r#"(city="Rome")"#];
    let tried = Cell::new(0);
    every_dialect(|dialect| {
        let text = dialect.render_calls(&[call("get_weather", r#"{"days":3}"#)], &tools()).unwrap();
        let opens = |at: &usize| !text[..*at].ends_with("</") && !IN_HEADERS.contains(&dialect.name());
        for at in text.match_indices("get_weather").map(|(at, _)| at).filter(opens) {
            let end = at + "get_weather".len();
            let quoted = end + usize::from(text[end..].starts_with(['"', '\'']));
            for (said, end) in SAID.iter().flat_map(|said| [(said, end), (said, quoted)]) {
                let text = format!("{}{said}{}", &text[..end], &text[end..]);
                tried.set(tried.get() + u32::from(asks_or_reads(dialect, &text)));
            }
        }
    });
    assert!(tried.get() > 100, "{tried:?}");
}

/// Each call of the weather in a text where Rome stands asks, or is about Rome; true where there is one.
fn asks_or_reads(dialect: &Dialect, text: &str) -> bool {
    let mut any = false;
    for message in messages(dialect.name(), text) {
        for read in message.read_calls().into_iter().filter(|read| read.call.name == "get_weather") {
            any = true;
            let is_read = read.call.arguments.contains("Rome");
            assert!(is_read || read.guess.is_some(), "{} {text:?}: {message:?}", dialect.name());
        }
    }
    any
}

/// Wherever a word stands in a call, the arguments are those without it, or hold it, or ask.
#[test]
fn a_word_anywhere_in_a_call_changes_nothing_untold() {
    let arguments = r#"{"city":"Oslo","days":3}"#;
    let wanted: Value = serde_json::from_str(arguments).unwrap();
    let tried = Cell::new(0);
    every_dialect(|dialect| {
        let text = dialect.render_calls(&[call("get_weather", arguments)], &tools()).unwrap();
        for word in ["Rome", " Rome ", " city=\"Rome\" ", "\nRome\n"] {
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let text = format!("{}{word}{}", &text[..at], &text[at..]);
                // A line ends a call without arguments, and what follows is content.
                if text.contains("TOOL_USE: get_weather\n") || text.contains("TOOL_USE: get_weather \n") {
                    continue;
                }
                for name in [Some(dialect.name()), None] {
                    let message = read(parser(name, turn()), [text.as_str()], End::End).0;
                    for read in message.read_calls() {
                        let given: Value = serde_json::from_str(&read.call.arguments).unwrap();
                        let told = read.guess.is_some() || read.call.name != "get_weather";
                        let is_read = given == wanted || read.call.arguments.contains("Rome");
                        assert!(told || is_read, "{name:?} {text:?}: {message:?}");
                        tried.set(tried.get() + 1);
                    }
                }
            }
        }
    });
    assert!(tried.get() > 10_000, "{tried:?}");
}
