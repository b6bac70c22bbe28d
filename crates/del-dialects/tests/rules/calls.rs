//! Rules 9 to 11: when a call counts, whose name, and which arguments.

use del_dialects::description::Frame;
use del_dialects::{End, FaultKind, Turn};

use crate::faults;
use crate::reading::{
    as_meant, call, chunks, every_dialect, kept, names_decide, parser, read, tools, turn, writes_json,
};

#[test]
fn rule_09_a_call_that_is_cut_inside_its_arguments_never_ends() {
    let calls = [call("write_file", r#"{"path":"a","content":"one two three"}"#)];
    every_dialect(|dialect| {
        let text = dialect.render_calls(&calls, &tools()).unwrap();
        let from = text.rfind("write_file").unwrap() + "write_file".len();
        let to = text.find("three").unwrap() + "three".len();
        for at in (from..=to).filter(|at| text.is_char_boundary(*at)) {
            for name in [Some(dialect.name()), None] {
                let cut = &text[..at];
                let (message, events) = read(parser(name, turn()), [cut], End::Cut);
                assert_eq!(message.calls, [], "{name:?} {cut:?}");
                assert_eq!(message.content.trim(), "", "{name:?} {cut:?}");
                let known = faults(&events);
                assert!(known.contains(&FaultKind::UnclosedCall), "{name:?} {cut:?}: {known:?}");
            }
        }
    });
}

#[test]
fn rule_09_a_call_counts_when_only_closing_markup_is_missing() {
    let calls = [call("list_dir", r#"{"path":"."}"#)];
    every_dialect(|dialect| {
        let text = dialect.render_calls(&calls, &tools()).unwrap();
        for end in [End::End, End::Cut] {
            // Where the arguments are JSON they are provably whole with their last brace.
            let whole = if writes_json(dialect) { text.find('}').unwrap() + 1 } else { text.len() };
            for at in (whole..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let (message, _) = read(dialect.parser(turn()), [&text[..at]], end);
                assert_eq!(
                    kept(dialect, as_meant(message.calls, &calls)),
                    kept(dialect, calls.to_vec()),
                    "{} {end:?} {:?}",
                    dialect.name(),
                    &text[..at]
                );
            }
        }
    });
}

#[test]
fn rule_10_unknown_names_are_calls() {
    let calls = [call("never_heard.of-it", r#"{"a":"b"}"#)];
    every_dialect(|dialect| {
        for tools in [tools(), Vec::new().into()] {
            if names_decide(dialect) || (!tools.is_empty() && *dialect.frame() == Frame::Bare) {
                // Without a mark it is text.
                continue;
            }
            let text = dialect.render_calls(&calls, &tools).unwrap_or_else(|error| panic!("{error}"));
            let (message, _) = read(dialect.parser(Turn::new(tools)), [text.as_str()], End::End);
            let got = kept(dialect, as_meant(message.calls, &calls));
            assert_eq!(got, kept(dialect, calls.to_vec()), "{}", dialect.name());
        }
    });
}

#[test]
fn rule_11_json_passes_byte_for_byte() {
    let odd =
        "{ \"days\" :1.50e+2 ,\"city\": \"\\u00e9\\/ \\ud83d\\ude00 ü\",\n\t\"z\":[ ],\"a\":{ } , \"n\":-0 }";
    every_dialect(|dialect| {
        if !writes_json(dialect) {
            return;
        }
        let calls = [call("get_weather", odd)];
        let text = dialect.render_calls(&calls, &tools()).unwrap();
        assert!(text.contains(odd), "{}", dialect.name());
        for pieces in [vec![text.as_str()], chunks(&text, 1)] {
            let (message, _) = read(dialect.parser(turn()), pieces, End::End);
            assert_eq!(as_meant(message.calls, &calls), calls, "{}", dialect.name());
        }
    });
}

#[test]
fn rule_11_other_syntaxes_become_json_by_the_schema() {
    let calls = [
        call("get_weather", r#"{"city":"007","days":3}"#),
        call("add_item", r#"{"item":{"a":[1,null,"x"]},"tags":["true","1"],"ok":false}"#),
        call("set_option", r#"{"value":null,"ratio":-0.5}"#),
        call("write_file", r#"{"path":"null","content":"{\"a\": 1}"}"#),
    ];
    every_dialect(|dialect| {
        let text = dialect.render_calls(&calls, &tools()).unwrap_or_else(|error| panic!("{error}"));
        let (message, events) = read(dialect.parser(turn()), chunks(&text, 3), End::End);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        for (got, meant) in message.calls.iter().zip(&calls) {
            assert_eq!(value(&got.arguments), value(&meant.arguments), "{}", dialect.name());
        }
        assert_eq!((message.calls.len(), faults(&events)), (calls.len(), vec![]), "{}", dialect.name());
    });
}

#[test]
fn rule_11_no_arguments_are_an_empty_object() {
    let calls = [call("project_context", "{}"), call("list_dir", "{}")];
    every_dialect(|dialect| {
        let text = dialect.render_calls(&calls, &tools()).unwrap_or_else(|error| panic!("{error}"));
        let (message, _) = read(dialect.parser(turn()), [text.as_str()], End::End);
        assert_eq!(as_meant(message.calls, &calls), calls, "{}", dialect.name());
    });
}
