//! What has to work in every dialect alike, and is therefore written once: the cases that nobody thinks of.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::cell::Cell;

use del_dialects::description::{Codec, Frame};
use del_dialects::{Call, CallResult, Detail, Dialect, Dialects, End, FaultKind, Message, RenderError};
use reading::{
    all_marks, as_meant, call, chunks, declare, every_dialect, every_parser, in_order, kept, parser, read,
    sample, squeezed, tools, turn, writes_json,
};

/// Renders calls, reads them whole and in pieces, alone and with all other dialects.
fn back(dialect: &std::sync::Arc<Dialect>, calls: &[Call]) -> Message {
    let text =
        dialect.render_calls(calls, &tools()).unwrap_or_else(|error| panic!("{}: {error}", dialect.name()));
    let mut turn = turn();
    // Some forms are calls by the names of declared tools alone.
    declare(&mut turn, calls);
    let own = read(dialect.parser(turn.clone()), [text.as_str()], End::End);
    assert_eq!(read(dialect.parser(turn.clone()), chunks(&text, 1), End::End), own, "{}", dialect.name());
    let all = read(parser(None, turn), [text.as_str()], End::End);
    let framed =
        |calls: &[Call]| calls.iter().map(|call| framed(dialect, &call.arguments)).collect::<Vec<_>>();
    assert_eq!(framed(&all.0.calls), framed(&own.0.calls), "{} with all: {text:?}", dialect.name());
    assert_eq!(all.0.content.trim(), "", "{} with all: {text:?}", dialect.name());
    own.0
}

/// Arguments without the line breaks around their texts, where the same tags in another dialect have lines of their own:
/// there one line break on either side of a value is framing.
fn framed(dialect: &Dialect, arguments: &str) -> String {
    match dialect.codec() {
        Codec::Fields(form) if !form.framed => arguments.replace("\"\\n", "\"").replace("\\n\"", "\""),
        _ => arguments.to_owned(),
    }
}

/// True where values are lines, and these have some that no line can hold.
fn is_out_of_lines(dialect: &std::sync::Arc<Dialect>, calls: &[Call]) -> bool {
    let refused =
        || matches!(dialect.render_calls(calls, &tools()), Err(RenderError::Unrepresentable { .. }));
    matches!(dialect.codec(), Codec::Lines(_)) && refused()
}

/// Calls come back as they were, and nothing was wrong with them.
fn keeps(dialect: &std::sync::Arc<Dialect>, calls: &[Call]) {
    let message = back(dialect, calls);
    let got = kept(dialect, as_meant(message.calls, calls));
    assert_eq!(got, kept(dialect, calls.to_vec()), "{}", dialect.name());
    assert_eq!(message.faults, [], "{}", dialect.name());
}

#[test]
fn nothing_at_all() {
    every_parser(|name| {
        for text in ["", " ", "\n", "\r\n\t \n\n"] {
            for end in [End::End, End::Cut] {
                for pieces in [vec![text], chunks(text, 1)] {
                    let (message, _) = read(parser(name, turn()), pieces, end);
                    assert_eq!(message.content, text, "{name:?}");
                    assert!(
                        message.calls.is_empty() && message.faults.is_empty(),
                        "{name:?} {:?}",
                        message.faults
                    );
                }
            }
        }
    });
}

#[test]
fn pushing_nothing_changes_nothing() {
    every_dialect(|dialect| {
        let text = format!("Hi.\n{}\nBye.", sample(dialect));
        let pieces = chunks(&text, 1).into_iter().flat_map(|piece| ["", piece, ""]);
        let whole = read(dialect.parser(turn()), [text.as_str()], End::End);
        assert_eq!(read(dialect.parser(turn()), pieces, End::End), whole, "{}", dialect.name());
    });
}

/// The same text with a code fence around its JSON, a list with its brackets.
fn fenced(text: &str) -> Option<String> {
    let json = |from: usize, to: usize| serde_json::from_str::<serde_json::Value>(&text[from..to]).is_ok();
    let object = (text.find('{')?, text.rfind('}')? + 1);
    let list = text[..object.0].rfind('[').zip(text[object.1..].find(']').map(|end| object.1 + end + 1));
    let (from, to) = list.into_iter().chain([object]).find(|(from, to)| json(*from, *to))?;
    Some(format!("{}```json\n{}\n```{}", &text[..from], &text[from..to], &text[to..]))
}

#[test]
fn a_fence_around_json_is_no_part_of_it() {
    let fences = Cell::new(0);
    every_dialect(|dialect| {
        // Behind a header its body begins; and some say themselves where a fence may stand.
        let own = all_marks(dialect).iter().any(|mark| mark.starts_with("```"));
        let header = matches!(dialect.frame(), Frame::Channels(_));
        let call = call("get_weather", r#"{"city":"Paris"}"#);
        let text = dialect.render_calls(std::slice::from_ref(&call), &tools()).unwrap();
        let Some(fenced) = fenced(&text).filter(|_| !own && !header && writes_json(dialect)) else {
            return;
        };
        fences.set(fences.get() + 1);
        let whole = read(dialect.parser(turn()), [fenced.as_str()], End::End);
        let said =
            |message: &Message| (message.calls.clone(), message.content.clone(), message.faults.clone());
        let plain = read(dialect.parser(turn()), [text.as_str()], End::End).0;
        assert_eq!(said(&whole.0), said(&plain), "{}: {fenced:?}", dialect.name());
        assert_eq!(read(dialect.parser(turn()), chunks(&fenced, 1), End::End), whole, "{}", dialect.name());
        let all = read(parser(None, turn()), [fenced.as_str()], End::End).0;
        assert_eq!(all.calls, whole.0.calls, "{} with all: {fenced:?}", dialect.name());
        assert_eq!(all.content.trim(), "", "{} with all: {fenced:?}", dialect.name());
    });
    assert!(fences.get() > 40, "{} dialects", fences.get());
}

#[test]
fn lines_may_end_as_on_windows() {
    every_dialect(|dialect| {
        let text = sample(dialect);
        let meant = read(dialect.parser(turn()), [text.as_str()], End::End).0;
        for text in [text.replace('\n', "\r\n"), format!("Hi.\r\n{}\r\n", text.replace('\n', "\r\n"))] {
            let whole = read(dialect.parser(turn()), [text.as_str()], End::End);
            assert_eq!(whole.0.calls, meant.calls, "{}: {text:?}", dialect.name());
            assert_eq!(whole.0.faults, [], "{}: {text:?}", dialect.name());
            assert_eq!(read(dialect.parser(turn()), chunks(&text, 1), End::End), whole, "{}", dialect.name());
            let all = read(parser(None, turn()), [text.as_str()], End::End).0;
            assert_eq!(all.calls, meant.calls, "{} with all: {text:?}", dialect.name());
        }
    });
}

#[test]
fn any_model_may_think_as_most_do() {
    every_dialect(|dialect| {
        if matches!(dialect.frame(), Frame::Channels(_)) {
            return;
        }
        let call = sample(dialect);
        let text = format!("<think>\nLet me see.\n</think>\n\n{call}");
        let (message, _) = read(dialect.parser(turn()), [text.as_str()], End::End);
        assert_eq!(message.reasoning.trim(), "Let me see.", "{}", dialect.name());
        assert_eq!(message.calls, read(dialect.parser(turn()), [call.as_str()], End::End).0.calls);
        // Who thinks of a call in marks that the dialect does not have does not make it.
        let own = |begin: &String| begin.trim() == "<think>";
        if dialect.reasoning().is_some_and(|reasoning| !reasoning.begin.iter().any(own)) {
            let text = format!("<think>\nI could write\n{call}\nbut no.\n</think>\n\nDone.");
            let (message, _) = read(dialect.parser(turn()), [text.as_str()], End::End);
            assert_eq!((message.calls.len(), message.content.trim()), (0, "Done."), "{}", dialect.name());
        }
    });
}

#[test]
fn the_same_call_twice_is_two_calls() {
    let one = call("list_dir", r#"{"path":"."}"#);
    every_dialect(|dialect| keeps(dialect, &[one.clone(), one.clone(), one.clone()]));
}

#[test]
fn many_calls_keep_their_order() {
    let calls: Vec<Call> = (0..60)
        .map(|number| call("write_file", &format!(r#"{{"path":"{number}.txt","content":""}}"#)))
        .collect();
    every_dialect(|dialect| keeps(dialect, &calls));
}

#[test]
fn names_of_all_kinds() {
    for name in [
        "größe_ändern",
        "读取文件",
        "a",
        "get-weather",
        "ns.tool.v2",
        "x1",
        "_private",
        "functions_list",
        "CamelCase",
    ] {
        every_dialect(|dialect| keeps(dialect, &[call(name, r#"{"a":"b"}"#)]));
    }
}

/// But for one that cannot stand in a tag of its own: a dialect says that it cannot write it, or writes it.
#[test]
fn declared_keys_of_all_kinds() {
    for key in ["q", "größe", "a-b", "a.b", "1", "_", "a b", "first name (given)"] {
        let calls = [call("find", &format!("{{\"{key}\":\"x\",\"n\":1}}"))];
        every_dialect(|dialect| {
            if dialect.render_calls(&calls, &tools()).is_ok() {
                keeps(dialect, &calls);
            }
        });
    }
}

#[test]
fn no_name_is_no_call() {
    let nameless = call("", r#"{"city":"Paris"}"#);
    every_dialect(|dialect| {
        let error = dialect.render_calls(std::slice::from_ref(&nameless), &tools()).expect_err("no name");
        assert!(matches!(error, RenderError::Unrepresentable { .. }), "{}: {error}", dialect.name());
        // Written all the same, by a model: the name taken out of a real call.
        let text = sample(dialect).replacen("get_weather", "", 1);
        for name in [Some(dialect.name()), None] {
            let (message, _) = read(parser(name, turn()), chunks(&text, 2), End::End);
            assert!(
                message.calls.iter().all(|call| !call.name.is_empty()),
                "{name:?} {text:?}: {:?}",
                message.calls
            );
        }
    });
}

#[test]
fn numbers_beyond_any_type() {
    let odd =
        r#"{"city":"x","n":12345678901234567890123456789,"e":1e400,"s":-0.0000000000000000000001,"z":-0}"#;
    every_dialect(|dialect| {
        let message = back(dialect, &[call("odd_numbers", odd)]);
        assert_eq!(squeezed(&message.calls[0].arguments), in_order(dialect, odd), "{}", dialect.name());
    });
}

#[test]
fn long_arguments() {
    let line = "let x = \\\"a\\\\n\\\"; // 日本 <b> 'q' {} []\\n\\t";
    let big = call("write_file", &format!(r#"{{"path":"a.rs","content":"{}"}}"#, line.repeat(500)));
    every_dialect(|dialect| {
        if is_out_of_lines(dialect, std::slice::from_ref(&big)) {
            return;
        }
        let message = back(dialect, std::slice::from_ref(&big));
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&message.calls[0].arguments), value(&big.arguments), "{}", dialect.name());
    });
}

#[test]
fn values_that_look_like_something_else() {
    for text in [
        "",
        " ",
        "\n",
        "null",
        "None",
        "true",
        "007",
        "3.0",
        "[1]",
        "{}",
        "{\"a\": 1}",
        "\"quoted\"",
        "'q'",
        "x ",
        " x",
        "\nx\n",
        "a\r\nb",
        "\t",
    ] {
        let content = serde_json::Value::from(text);
        let calls = [call("write_file", &format!(r#"{{"path":{content},"content":{content}}}"#))];
        every_dialect(|dialect| {
            let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
            if is_out_of_lines(dialect, &calls) {
                return;
            }
            match dialect.render_calls(&calls, &tools()) {
                Ok(_) => {
                    let message = back(dialect, &calls);
                    assert_eq!(
                        value(&message.calls[0].arguments),
                        value(&calls[0].arguments),
                        "{}",
                        dialect.name()
                    );
                }
                // XML forgets the white space around a value, and says so.
                Err(error) => {
                    let fields = matches!(dialect.codec(), Codec::Fields(form) if form.xml);
                    assert!(fields && text.trim() != text, "{} {text:?}: {error}", dialect.name());
                }
            }
        });
    }
}

#[test]
fn arguments_that_are_no_object_are_an_error() {
    for arguments in ["", "null", "[]", "\"x\"", "{", "{\"a\":}", "{} x", "{'a': 1}"] {
        every_dialect(|dialect| {
            let error = dialect.render_calls(&[call("list_dir", arguments)], &tools()).expect_err(arguments);
            assert!(matches!(error, RenderError::Arguments { .. }), "{}: {error}", dialect.name());
        });
    }
}

#[test]
fn what_a_dialect_of_one_tool_cannot_carry_is_said_so() {
    for name in ["mini-swe-agent", "smolagents-code"] {
        let dialect = Dialects::builtin().get(name).unwrap();
        let error =
            dialect.render_calls(&[call("get_weather", r#"{"city": "Paris"}"#)], &tools()).unwrap_err();
        assert!(matches!(error, RenderError::Unrepresentable { .. }), "{name}: {error}");
    }
}

#[test]
fn no_calls_render_as_nothing() {
    every_dialect(|dialect| {
        assert_eq!(dialect.render_calls(&[], &tools()).unwrap(), "", "{}", dialect.name());
    });
}

#[test]
fn the_prompt_shows_calls_that_read_and_none_of_a_declared_tool() {
    every_dialect(|dialect| {
        for detail in [Detail::Types, Detail::Full] {
            let prompt = dialect.system_prompt(&tools(), detail);
            for tool in tools().iter() {
                assert!(prompt.contains(&tool.name), "{} {detail:?}: {}", dialect.name(), tool.name);
            }
            let behind = |words: &str| {
                prompt.split_once(words).unwrap_or_else(|| panic!("{}: {words}", dialect.name())).1
            };
            let form = behind("in exactly this form:\n").split_once("\n\nExample").expect("a form").0;
            let example = behind("You:\n").split_once("\n\nWhen no tool fits").expect("an example").0;
            for (text, made_up) in [
                (form, call("tool_name", r#"{"argument_name": "value"}"#)),
                (example, call("book_table", r#"{"restaurant": "Luigi's", "people": 4, "outdoor": true}"#)),
            ] {
                let mut turn = turn();
                declare(&mut turn, std::slice::from_ref(&made_up));
                let (message, _) = read(dialect.parser(turn), [text], End::End);
                let names: Vec<&str> = message.calls.iter().map(|call| call.name.as_str()).collect();
                assert_eq!(names, [made_up.name], "{} {text:?}", dialect.name());
            }
        }
    });
}

#[test]
fn the_shortest_prompt_shows_a_call_that_reads() {
    every_dialect(|dialect| {
        let prompt = dialect.system_prompt(&tools(), Detail::Compact);
        let example = prompt.split_once("write:\n").expect("an example").1.trim_end();
        let (message, _) = read(dialect.parser(turn()), [example], End::End);
        assert_eq!(message.calls.len(), 1, "{} {example:?}", dialect.name());
    });
}

/// A server may go on with what a request begins.
#[test]
fn every_call_begins_with_the_opening_for_it() {
    let (without, all) = (Cell::new(0), tools());
    every_dialect(|dialect| {
        let common = dialect.opening(None);
        for tool in all.iter() {
            let opening = dialect.opening(Some(tool));
            for arguments in ["{}", r#"{"path": "a"}"#, r#"{"b": [1, {"c": null}]}"#] {
                let Ok(written) = dialect.render_calls(&[call(&tool.name, arguments)], &all) else {
                    continue;
                };
                for begun in common.iter().chain(&opening) {
                    let trimmed = written.trim_start();
                    assert!(
                        trimmed.starts_with(begun.as_str()),
                        "{}: {begun:?}, {written:?}",
                        dialect.name()
                    );
                }
            }
        }
        without.set(without.get() + usize::from(common.is_none()));
    });
    // Their calls begin with the name.
    assert!(without.get() < 30, "{}", without.get());
}

#[test]
fn results_are_never_calls() {
    let result =
        |text: &str| CallResult { id: None, name: "get_weather".into(), text: text.into(), ok: true };
    every_dialect(|dialect| {
        let text = dialect.render_results(&[result("20 degrees"), result("")]);
        assert!(text.contains("20 degrees"), "{}", dialect.name());
        // A model that repeats what it was shown makes no call of it.
        for name in [Some(dialect.name()), None] {
            let (message, _) = read(parser(name, turn()), [text.as_str()], End::End);
            assert_eq!(message.calls, [], "{name:?} {text:?}");
        }
    });
}

#[test]
fn junk_in_front_of_a_call_does_not_hide_it() {
    every_dialect(|dialect| {
        let calls = reading::sample_calls();
        for junk in [
            "```\n",
            "Sure!\n\n",
            "{\n",
            "[\n",
            "<\n",
            "\"\n",
            "<|\n",
            "</tool_call>\n",
            "1. \n",
            "\\\n",
            "`\n",
        ] {
            let text = format!("{junk}{}", sample(dialect));
            let (message, _) = read(dialect.parser(turn()), chunks(&text, 3), End::End);
            let fenced = junk.starts_with("```");
            let bare = matches!(dialect.frame(), Frame::Bare);
            // Code in a fence is an example where nothing but its shape makes it a call.
            if !(fenced && bare) {
                let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
                let got: Vec<_> =
                    message.calls.iter().map(|call| (call.name.as_str(), value(&call.arguments))).collect();
                let meant: Vec<_> =
                    calls.iter().map(|call| (call.name.as_str(), value(&call.arguments))).collect();
                assert_eq!(got, meant, "{} {junk:?}", dialect.name());
            }
        }
    });
}

#[test]
fn a_broken_call_does_not_hide_the_next() {
    every_dialect(|dialect| {
        if !writes_json(dialect) {
            return;
        }
        for damage in ["{\"city\": }", "{\"city\" \"x\"}", "{\"city\": nowhere()}", "{\"city\": [}", "{]"] {
            let calls = [call("get_weather", r#"{"city":"Oslo"}"#), call("list_dir", r#"{"path":"."}"#)];
            let text =
                dialect.render_calls(&calls, &tools()).unwrap().replacen(r#"{"city":"Oslo"}"#, damage, 1);
            for name in [Some(dialect.name()), None] {
                let (message, _) = read(parser(name, turn()), chunks(&text, 2), End::End);
                assert_eq!(as_meant(message.calls, &calls[1..]), calls[1..], "{name:?} {text:?}");
                let mut kinds: Vec<FaultKind> = message.faults.iter().map(|fault| fault.kind).collect();
                // Among all dialects another one may miss a mark of its own in the broken call.
                kinds.retain(|kind| name.is_some() || *kind != FaultKind::MissingOpener);
                assert_eq!(kinds, [FaultKind::BadArguments], "{name:?} {text:?}");
                assert_eq!(message.content.trim(), "", "{name:?} {text:?}");
            }
        }
    });
}

/// Some models put what is not theirs to show into a code block: the block goes with the calls that are all of it.
#[test]
fn a_fence_around_calls_goes_with_them() {
    every_dialect(|dialect| {
        let calls = sample(dialect);
        for (before, behind) in [("", ""), ("", "\n"), ("I will look.\n", "")] {
            let text = format!("{before}```xml\n{calls}\n```{behind}");
            for name in [Some(dialect.name()), None] {
                let whole = read(parser(name, turn()), [text.as_str()], End::End);
                assert_eq!(read(parser(name, turn()), chunks(&text, 1), End::End), whole, "{text:?}");
                // Where some calls are in a fence of their own, or a message, it is not around them.
                let around = !calls.contains('`') && dialect.frame().channels().is_none();
                if around && !whole.0.calls.is_empty() {
                    assert_eq!(whole.0.content.trim_end(), before.trim_end(), "{name:?} {text:?}");
                }
            }
        }
    });
}
