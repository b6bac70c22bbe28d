//! Rules 6 to 8: order, bytes, and what is markup.

use del_dialects::{End, Part, Start};

use crate::faults;
use crate::reading::{
    all_marks, as_meant, borders, call, chunks, dialects_of, distinct_marks, every_dialect, every_parser,
    kept, parser, read, sample, tools, turn, writes_json,
};

#[test]
fn rule_06_text_calls_and_thinking_keep_their_order_and_bytes() {
    let before = "Odd \t text\r\n  with\u{a0}spaces \u{0}x\r\n\r\n";
    let after = "\r\n \t and\u{2028}more\r\n\n";
    every_dialect(|dialect| {
        let text = format!("{before}{}{after}{}", sample(dialect), sample(dialect));
        let (message, _) = read(dialect.parser(turn()), [text.as_str()], End::End);
        let lead =
            |text: &str| dialect.leads().iter().filter(|lead| text.ends_with(*lead)).map(String::len).max();
        let cut = |text: &'static str| &text[..text.len() - lead(text).unwrap_or(0)];
        let expected = [
            Part::Text(cut(before).to_owned()),
            Part::Call(0),
            Part::Call(1),
            Part::Text(cut(after).to_owned()),
            Part::Call(2),
            Part::Call(3),
        ];
        assert_eq!(message.parts, expected, "{}", dialect.name());
    });
}

#[test]
fn rule_07_markup_never_reaches_text_or_reasoning() {
    every_dialect(|dialect| {
        let marks = distinct_marks(dialect);
        let mut texts = vec![format!("Hello.\n{}\nBye.", sample(dialect))];
        if let Some(reasoning) = dialect.reasoning()
            && let (Some(begin), Some(end)) = (reasoning.begin.first(), reasoning.end.first())
        {
            texts.push(format!("{begin}Hm.{end}{}\nBye.", sample(dialect)));
        }
        for text in texts {
            let (message, _) = read(dialect.parser(turn()), [text.as_str()], End::End);
            for said in [&message.content, &message.reasoning] {
                let leak = marks.iter().find(|mark| said.contains(*mark));
                assert_eq!(leak, None, "{}: {said:?}", dialect.name());
                assert!(!said.contains("think>"), "{}: {said:?}", dialect.name());
            }
        }
    });
}

#[test]
fn rule_07_half_a_mark_never_reaches_text() {
    every_dialect(|dialect| {
        for mark in distinct_marks(dialect).iter().filter(|mark| mark.starts_with(['<', '['])) {
            for at in borders(mark).into_iter().skip(3) {
                let text = format!("Hello\n{}", &mark[..at]);
                let (message, events) = read(dialect.parser(turn()), [text.as_str()], End::Cut);
                let known = faults(&events);
                assert_eq!(message.content.trim_end(), "Hello", "{}: {text:?} {known:?}", dialect.name());
            }
        }
    });
}

#[test]
fn rule_07_reasoning_never_reaches_text() {
    every_dialect(|dialect| {
        let Some(reasoning) = dialect.reasoning() else { return };
        for (begin, end) in reasoning.begin.iter().zip(&reasoning.end) {
            let [begin, end] = [begin, end].map(|mark| mark.replace('\0', ":b-9"));
            for (text, start) in [
                (format!("{begin}secret{end}Hello."), Start::Text),
                (format!("secret{end}Hello."), Start::Reasoning),
                // A model may write the mark once more that the prompt ended with.
                (format!("{begin}secret{end}Hello."), Start::Reasoning),
            ] {
                for pieces in [vec![text.as_str()], chunks(&text, 1)] {
                    let (message, _) = read(dialect.parser(turn().starting(start)), pieces, End::End);
                    let got = (message.reasoning.as_str(), message.content.as_str());
                    assert_eq!(got, ("secret", "Hello."), "{} {text:?} {start:?}", dialect.name());
                }
            }
        }
    });
}

#[test]
fn rule_08_a_mark_inside_a_string_is_data() {
    every_dialect(|dialect| {
        for mark in all_marks(dialect) {
            let content = serde_json::Value::from(format!("a {mark} b\n{mark}\nc"));
            let calls = [call("write_file", &format!("{{\"path\":\"x\",\"content\":{content}}}"))];
            match dialect.render_calls(&calls, &tools()) {
                Ok(text) => {
                    let (message, events) = read(dialect.parser(turn()), chunks(&text, 2), End::End);
                    let got = kept(dialect, as_meant(message.calls, &calls));
                    assert_eq!(got, kept(dialect, calls.to_vec()), "{} {mark:?}", dialect.name());
                    let rest = (message.content.as_str(), faults(&events));
                    assert_eq!(rest, ("", vec![]), "{} {mark:?}", dialect.name());
                }
                Err(error) => assert!(!writes_json(dialect), "{} {mark:?}: {error}", dialect.name()),
            }
        }
    });
}

#[test]
fn rule_08_a_mark_in_backticks_is_talked_about() {
    every_parser(|name| {
        // Code between backticks ends with the line.
        let marks = dialects_of(name).iter().flat_map(|dialect| distinct_marks(dialect)).collect::<Vec<_>>();
        for mark in marks.iter().filter(|mark| !mark.contains('\n')) {
            for text in [format!("The `{mark}` mark."), format!("Write `x {mark} y` so.")] {
                let (message, events) = read(parser(name, turn()), chunks(&text, 3), End::End);
                assert_eq!((message.content.as_str(), faults(&events)), (text.as_str(), vec![]), "{name:?}");
            }
        }
    });
}
