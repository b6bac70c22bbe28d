//! Rules 1 to 5: what a dialect is, what comes out, and when.

use del_dialects::{Dialect, Dialects, End, Event, Span, Start};

use crate::reading::{
    Both, Dice, Log, Merged, Raw, all_marks, call, chunks, dialects_of, every_dialect, every_parser, jumble,
    lawful, parser, read, sample, tools, turn,
};

#[test]
fn rule_01_a_dialect_names_its_specification() {
    for dialect in Dialects::builtin().iter() {
        let (name, text) = (dialect.name(), dialect.text());
        assert!(!dialect.source().trim().is_empty(), "{name}");
        let line = text.lines().find(|line| line.starts_with("source = ")).expect("a source");
        for without in [text.replace(line, ""), text.replace(line, "source = \" \"")] {
            assert!(Dialect::from_toml(name, &without).is_err(), "{name} is read without a source");
        }
    }
}

#[test]
fn rule_02_any_text_gives_ordered_events_and_faults_with_ranges() {
    every_parser(|name| {
        let marks: Vec<String> = dialects_of(name).iter().flat_map(|dialect| all_marks(dialect)).collect();
        let mut dice = Dice(2);
        for round in 0..400 {
            let text = jumble(&mut dice, &marks, 14);
            for end in [End::End, End::Cut] {
                let start = if round % 5 == 0 { Start::Reasoning } else { Start::Text };
                let mut raw = Raw::default();
                let mut parser = parser(name, turn().starting(start));
                for piece in dice.split(&text) {
                    parser.push(piece, &mut raw);
                }
                parser.finish(end, &mut raw);
                if let Err(why) = lawful(&text, &raw.0) {
                    panic!("{name:?} {end:?} {text:?}\n{why}");
                }
            }
        }
    });
}

#[test]
fn rule_03_a_whole_text_takes_the_same_way_as_its_pieces() {
    every_dialect(|dialect| {
        let text = format!("{}\n\nThat was it, thanks.", sample(dialect));
        for pieces in [vec![text.as_str()], chunks(&text, 1)] {
            let mut both = Both::default();
            let mut parser = dialect.parser(turn());
            for piece in pieces {
                parser.push(piece, &mut both);
            }
            // Nothing waits for the end: what is settled is out before it.
            let ended = both.log.0.iter().filter(|(event, _)| matches!(event, Merged::End { .. })).count();
            assert_eq!(ended, 2, "{}", dialect.name());
            let message = both.collect.into_message();
            assert!(message.content.ends_with("it, thanks."), "{}: {:?}", dialect.name(), message.content);
        }
    });
}

#[test]
fn rule_04_chunking_cannot_show() {
    let mut text = String::new();
    for dialect in crate::reading::of_any_tool() {
        text.push_str("Let me look.\n");
        text.push_str(&sample(dialect));
        text.push_str("\n<think>hm</think> `<tool_call>` <tool_ca [TOOL ```json\n{}\n```\n");
    }
    every_parser(|name| {
        let whole = read(parser(name, turn()), [text.as_str()], End::End);
        let mut dice = Dice(4);
        let mut ways: Vec<Vec<&str>> = [1, 2, 3, 5, 7, 64, 1000].map(|chars| chunks(&text, chars)).into();
        ways.extend((0..60).map(|_| dice.split(&text)));
        for pieces in ways {
            let split = read(parser(name, turn()), pieces.iter().copied(), End::End);
            if let Some(place) = split.1.iter().zip(&whole.1).position(|(split, whole)| split != whole) {
                panic!("{name:?}: whole {:?}, split {:?}", whole.1[place], split.1[place]);
            }
            assert_eq!(whole.0, split.0, "{name:?}");
        }
    });
}

#[test]
fn rule_04_odd_white_space_before_a_name_is_the_same_in_every_piece() {
    let text = r#"title = "Own"
family = "own"
models = []
source = "this test"
rank = 90
frame = "bare"

[call]
pieces = [{ head = "{name}" }, { args = "object", loose = { open = "(", close = ")", pair = "=", quotes = ["'"], quoted_keys = true } }]
between = "\n"

[results]
role = "tool"

[detect]
all = ["own("]
"#;
    let dialect = std::sync::Arc::new(Dialect::from_toml("own", text).unwrap());
    for space in ["\n", "\u{b}", "\u{c}", "\u{85}", "\u{a0}", "\u{3000}"] {
        let text = format!("{space}list_dir(path='.')");
        let whole = read(dialect.parser(turn()), [text.as_str()], End::End);
        let split = read(dialect.parser(turn()), chunks(&text, 1), End::End);
        assert_eq!(split, whole, "behind {space:?}");
        assert_eq!(whole.0.calls.len(), usize::from(space == "\n"), "behind {space:?}");
    }
}

#[test]
fn rule_04_what_is_too_long_is_so_in_every_piece() {
    let calls = [call("list_dir", r#"{"path":"."}"#), call("list_dir", "{}")];
    every_dialect(|dialect| {
        let text = dialect.render_calls(&calls, &tools()).unwrap();
        // A key and its quotes may be 1,024 bytes long.
        let keys = [500, 600, 1021, 1022, 1023, 1024, 1025, 2000].map(|length| ("path", length));
        for (place, length) in keys.into_iter().chain([("list_dir", 300), ("list_dir", 600)]) {
            let long = text.replacen(place, &"k".repeat(length), 1);
            let whole = read(dialect.parser(turn()), [long.as_str()], End::End);
            for chars in [1, 7] {
                let split = read(dialect.parser(turn()), chunks(&long, chars), End::End);
                assert_eq!(split, whole, "{} with {length} bytes for {place}", dialect.name());
            }
        }
    });
}

#[test]
fn rule_04_a_tag_is_too_long_in_every_piece() {
    let call = [call("list_dir", r#"{"path":"."}"#)];
    every_dialect(|dialect| {
        let text = dialect.render_calls(&call, &tools()).unwrap();
        let name = text.find("list_dir").unwrap_or_default();
        let Some(end) = text[name..].find('>').map(|end| name + end) else { return };
        // Attributes behind a name may be 512 bytes long.
        for length in 495..520 {
            let long = format!("{} a=\"{}\"{}", &text[..end], "k".repeat(length), &text[end..]);
            let whole = read(dialect.parser(turn()), [long.as_str()], End::End);
            let split = read(dialect.parser(turn()), chunks(&long, 1), End::End);
            assert_eq!(split, whole, "{} with {length} bytes", dialect.name());
        }
    });
}

#[test]
fn rule_05_nothing_is_taken_back() {
    every_dialect(|dialect| {
        let text = format!("Let me look.\n{}\nDone.", sample(dialect));
        for name in [Some(dialect.name()), None] {
            let (_, whole) = read(parser(name, turn()), [text.as_str()], End::End);
            let mut log = Log::default();
            let mut parser = parser(name, turn());
            for piece in chunks(&text, 1) {
                parser.push(piece, &mut log);
                for (place, ((said, _), (all, _))) in log.0.iter().zip(&whole).enumerate() {
                    let last = place + 1 == log.0.len();
                    let fits = match (said, all) {
                        (Merged::Text(said), Merged::Text(all))
                        | (Merged::Reasoning(said), Merged::Reasoning(all))
                        | (Merged::Args { json: said, .. }, Merged::Args { json: all, .. })
                            if last =>
                        {
                            all.starts_with(said.as_str())
                        }
                        _ => said == all,
                    };
                    assert!(fits, "{name:?} said {said:?} and takes it back for {all:?}");
                }
            }
        }
    });
}

#[test]
fn rule_05_prose_is_held_no_longer_than_a_mark() {
    let prose =
        "If a < b, then [1] {x: 2} is <b>bold</b> – `code`, # no heading | not a bar. 日本 \\ 'q' \"r\" "
            .repeat(50);
    every_parser(|name| {
        let dialects = dialects_of(name);
        let marks = dialects.iter().flat_map(|dialect| all_marks(dialect));
        let longest = marks.map(|mark| mark.len()).max().unwrap();
        let lead = dialects.iter().map(|dialect| dialect.lead().len()).max().unwrap();
        let mut parser = parser(name, turn());
        let mut both = Both::default();
        for piece in chunks(&prose, 1) {
            parser.push(piece, &mut both);
            assert!(parser.held() <= longest + lead, "{name:?} holds {} bytes", parser.held());
        }
        // A word goes out at once, letter by letter.
        for piece in ["w", "o", "r", "d"] {
            parser.push(piece, &mut both);
        }
        assert_eq!(parser.held(), 0, "{name:?} holds prose");
        parser.finish(End::End, &mut both);
        assert_eq!(both.collect.into_message().content, format!("{prose}word"), "{name:?}");
    });
}

#[test]
fn rule_05_arguments_stream_in_every_dialect() {
    let long = "word ".repeat(200);
    let calls = [call("write_file", &format!(r#"{{"path":"a","content":"{long}"}}"#))];
    every_dialect(|dialect| {
        let text = dialect.render_calls(&calls, &tools()).unwrap();
        let begin = text[..text.find("word").unwrap()].chars().count();
        for name in [Some(dialect.name()), None] {
            let mut parser = parser(name, turn());
            let (mut started, mut seen) = (None, 0);
            for (at, piece) in chunks(&text, 1).into_iter().enumerate() {
                parser.push(piece, &mut |event: Event<'_>, _: Span| match event {
                    Event::CallStart { .. } => started = Some(at),
                    Event::Args { json, .. } => seen += json.len(),
                    _ => {}
                });
                assert!(parser.held() <= 256, "{name:?} {} holds {}", dialect.name(), parser.held());
                // What has arrived of a string is out, but for what may be the beginning of its end.
                if at > begin + 200 && at < begin + long.len() {
                    let come = at - begin;
                    assert!(seen + 64 >= come, "{name:?} {}: {seen} of {come}", dialect.name());
                }
            }
            assert!(
                started.is_some_and(|at| at <= begin),
                "{name:?} {}: the call starts late",
                dialect.name()
            );
            parser.finish(End::End, &mut |_: Event<'_>, _: Span| {});
        }
    });
}

#[test]
fn rule_03_what_is_longer_than_may_be_held_is_cut_the_same() {
    let long = "é ".repeat(3000);
    every_dialect(|dialect| {
        let sample = sample(dialect);
        // Behind each quote and bracket something begins that does not end.
        for (at, _) in sample.match_indices(['"', '{', '[', '>', ':']) {
            let text = format!("{}{long}", &sample[..=at]);
            let whole = read(dialect.parser(turn()), [text.as_str()], End::End);
            for size in [1, 700] {
                let split = read(dialect.parser(turn()), chunks(&text, size), End::End);
                assert_eq!(split.0, whole.0, "{} behind {:?} by {size}", dialect.name(), &sample[..=at]);
            }
        }
    });
}
