//! What is written reads back, what is read does not depend on the cuts, and what is no description is an error.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use del_dialects::description::Frame;
use del_dialects::{Call, CallResult, Dialect, Dialects, End, Message, Part, RenderError, Start, Tool, Turn};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use reading::{Raw, all_marks, chunks, dialects_of, lawful, parser, read, tools, turn};
use serde_json::{Map, Value};

/// More of them with `PROPTEST_CASES`.
fn config() -> ProptestConfig {
    let few = ProptestConfig { cases: 200, ..ProptestConfig::default() };
    let config = if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default() } else { few };
    // No file of old failures: a failure that matters becomes a case.
    ProptestConfig { failure_persistence: None, ..config }
}

/// Every spelling of every dialect.
fn marks() -> Vec<String> {
    Dialects::builtin().iter().flat_map(|dialect| all_marks(dialect)).collect()
}

/// Strings that hurt: marks, halves of marks, quotes, escapes, control characters, Unicode, nothing.
fn hostile_text() -> impl Strategy<Value = String> {
    let half = (select(marks()), any::<prop::sample::Index>()).prop_map(|(mark, index)| {
        let borders = reading::borders(&mark);
        mark[..borders[index.index(borders.len())]].to_owned()
    });
    let word = select(
        [
            "",
            " ",
            "\n",
            "\r\n",
            "\t",
            "\"",
            "'",
            "\\",
            "\\n",
            "\\\"",
            "null",
            "true",
            "007",
            "1.0",
            "{",
            "}",
            "[]",
            "{\"a\": 1}",
            "&lt;",
            "&amp;",
            "<![CDATA[x]]>",
            "]]>",
            "\0",
            "\u{1b}[0m",
            "\u{7f}",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{200b}",
            "日本",
            "😀",
            "e\u{301}",
            "`",
            "```",
            "<b>",
            "</b>",
            "None",
            "True",
            "'''",
            "\"\"\"",
        ]
        .map(str::to_owned)
        .to_vec(),
    );
    vec(prop_oneof![2 => select(marks()), 1 => half, 3 => word, 2 => "[a-z ]{0,8}"], 0..6)
        .prop_map(|parts| parts.concat())
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
        hostile_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((any_key(), inner), 0..4).prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[a-z_]{1,6}", 1 => hostile_text()]
}

/// Calls of declared and of unknown tools, with arguments that fit and that do not.
fn any_call() -> impl Strategy<Value = Call> {
    let name = prop_oneof![
        6 => select(tools().iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()),
        2 => "[a-zA-Z_][a-zA-Z0-9_.-]{0,12}",
        1 => hostile_text(),
    ];
    let key = prop_oneof![
        8 => select(["city", "days", "item", "tags", "ok", "path", "content", "value", "ratio"].map(str::to_owned).to_vec()),
        1 => any_key(),
    ];
    (name, vec((key, any_value()), 0..4)).prop_map(|(name, members)| {
        let arguments = Value::from(Map::from_iter(members)).to_string();
        Call { id: None, name, arguments }
    })
}

/// An answer of these texts and calls: the order says which kind comes next.
fn answer(texts: &[String], calls: &[Call], order: &[usize]) -> Message {
    let (mut texts, mut places) = (texts.iter(), 0..calls.len());
    let mut parts: Vec<Part> = Vec::new();
    for kind in order {
        parts.extend(match kind {
            0 => texts.next().cloned().map(Part::Reasoning),
            1 => texts.next().cloned().map(Part::Text),
            _ => places.next().map(Part::Call),
        });
    }
    let calls = calls[..places.start].to_vec();
    Message { parts, calls, ..Message::default() }
}

/// What can be seen of an answer: its parts in order, of a kind as one, without the white space around them.
fn seen(answer: &Message) -> Vec<(char, String)> {
    let mut all: Vec<(char, String)> = Vec::new();
    for part in &answer.parts {
        let (kind, text) = match part {
            Part::Reasoning(text) => ('r', text.clone()),
            Part::Text(text) => ('t', text.clone()),
            Part::Call(place) => {
                let call = &answer.calls[*place];
                let mut arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                arguments.sort_all_objects();
                ('c', format!("{} {arguments}", call.name))
            }
        };
        match all.last_mut() {
            _ if text.trim().is_empty() => {}
            Some((last, before)) if *last == kind && kind != 'c' => before.push_str(&text),
            _ => all.push((kind, text)),
        }
    }
    all.into_iter().map(|(kind, text)| (kind, text.trim().to_owned())).collect()
}

fn same(a: &str, b: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    a == b || value(a) == value(b)
}

/// Whether a value is the beginning of JSON, so that the marks behind it may belong to it when the answer is cut off.
fn may_go_on(call: &Call) -> bool {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
    let begins = |value: &Value| value.as_str().is_some_and(|text| text.trim_start().starts_with(['{', '[']));
    arguments.as_object().is_some_and(|fields| fields.values().any(begins))
}

/// A turn in which these tools are declared as well.
fn declaring(calls: &[Call]) -> Turn {
    let mut turn = turn();
    reading::declare(&mut turn, calls);
    turn
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_renders_reads_back(calls in vec(any_call(), 1..4), cut in 1_usize..9) {
        for dialect in reading::tested() {
            let text = match dialect.render_calls(&calls, &tools()) {
                Ok(text) => text,
                Err(RenderError::Unrepresentable { .. } | RenderError::Arguments { .. }) => continue,
                Err(error) => return Err(TestCaseError::fail(format!("{}: {error}", dialect.name()))),
            };
            for end in [End::End, End::Cut] {
                let (message, _) = read(dialect.parser(declaring(&calls)), chunks(&text, cut), end);
                if end == End::End || !calls.iter().any(may_go_on) {
                    prop_assert_eq!(message.calls.len(), calls.len(), "{} {:?}", dialect.name(), &text);
                }
                for (got, meant) in message.calls.iter().zip(&calls) {
                    let alike = got.name == meant.name && same(&got.arguments, &meant.arguments);
                    prop_assert!(alike, "{} {text:?}: {got:?} for {meant:?}", dialect.name());
                }
                prop_assert_eq!(message.content, "", "{}", dialect.name());
            }
        }
    }

    #[test]
    fn whole_answers_read_back(
        texts in vec(prop_oneof![3 => "[a-z .\n]{0,12}", 2 => hostile_text()], 0..5),
        calls in vec(any_call(), 0..4),
        order in vec(0_usize..3, 0..6),
        cut in 1_usize..9,
    ) {
        let answer = answer(&texts, &calls, &order);
        for dialect in reading::tested() {
            let Ok(text) = dialect.render_answer(&answer, &tools()) else { continue };
            let (message, _) = read(dialect.parser(declaring(&calls)), chunks(&text, cut), End::End);
            prop_assert_eq!(seen(&message), seen(&answer), "{} {:?}", dialect.name(), &text);
        }
    }

    #[test]
    fn json_dialects_carry_every_value(members in vec((any_key(), any_value()), 0..4)) {
        let arguments = Value::from(Map::from_iter(members)).to_string();
        let calls = [reading::call("write_file", &arguments)];
        for name in ["hermes-json", "jamba", "mistral-json", "mistral-args", "llama3-json", "openai-json",
            "llama-function", "deepseek-v3", "deepseek-v31", "del-chinese", "harmony", "markdown-call", "del-legacy"]
        {
            let dialect = reading::dialect(name);
            let text = dialect.render_calls(&calls, &tools());
            let text = text.map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
            let (message, _) = read(dialect.parser(turn()), [text.as_str()], End::End);
            prop_assert_eq!(&message.calls, &calls, "{}", name);
        }
    }

    #[test]
    fn cuts_never_show(
        pieces in vec(prop_oneof![3 => select(marks()), 2 => hostile_text(), 1 => "[a-z\n ]{0,9}"], 0..14),
        seed in any::<u64>(),
        inside in any::<bool>(),
        cut in any::<bool>(),
    ) {
        let text = pieces.concat();
        let start = if inside { Start::Reasoning } else { Start::Text };
        let end = if cut { End::Cut } else { End::End };
        let mut dice = reading::Dice(seed);
        let names = reading::tested().map(|dialect| Some(dialect.name())).chain([None]);
        for name in names {
            let parser = || parser(name, turn().starting(start));
            let whole = read(parser(), [text.as_str()], end);
            for pieces in [chunks(&text, 1), dice.split(&text), dice.split(&text)] {
                let split = read(parser(), pieces, end);
                prop_assert_eq!(&whole, &split, "{:?} {:?}", name, &text);
            }
            let mut raw = Raw::default();
            let mut once = parser();
            once.push(&text, &mut raw);
            once.finish(end, &mut raw);
            prop_assert_eq!(lawful(&text, &raw.0), Ok(()), "{:?} {:?}", name, &text);
        }
    }

    #[test]
    fn damaged_calls_stay_lawful(
        calls in vec(any_call(), 1..4),
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        length in 0_usize..8,
        instead in prop_oneof![Just(String::new()), select(marks()), hostile_text()],
        (last, seed, cut, all) in (any::<prop::sample::Index>(), any::<u64>(), any::<bool>(), any::<bool>()),
    ) {
        let known: Vec<_> = reading::tested().collect();
        let dialect = known[which.index(known.len())];
        let Ok(text) = dialect.render_calls(&calls, &tools()) else { return Ok(()) };
        let borders = reading::borders(&text);
        let from = place.index(borders.len());
        let to = (from + length).min(borders.len() - 1);
        let mut text = format!("{}{instead}{}", &text[..borders[from]], &text[borders[to]..]);
        let borders = reading::borders(&text);
        if cut {
            text.truncate(borders[last.index(borders.len())]);
        }
        let end = if cut { End::Cut } else { End::End };
        let name = (!all).then_some(dialect.name());
        let whole = read(parser(name, turn()), [text.as_str()], end);
        let mut dice = reading::Dice(seed);
        for pieces in [chunks(&text, 1), dice.split(&text), dice.split(&text)] {
            let split = read(parser(name, turn()), pieces, end);
            prop_assert_eq!(&whole, &split, "{} {:?} {:?}", dialect.name(), name, &text);
        }
        let mut raw = Raw::default();
        let mut once = parser(name, turn());
        once.push(&text, &mut raw);
        once.finish(end, &mut raw);
        prop_assert_eq!(lawful(&text, &raw.0), Ok(()), "{} {:?} {:?}", dialect.name(), name, &text);
    }

    #[test]
    fn neutral_text_holds_no_mark_and_restores(
        parts in vec(prop_oneof![2 => select(marks()), 2 => hostile_text(), 1 => "[a-z|<>\\[\n ]{0,9}"], 0..8),
    ) {
        let (all, text) = (Dialects::builtin(), parts.concat());
        let neutral = all.neutralise(&text);
        for mark in all.iter().flat_map(|dialect| reading::broken_marks(dialect)) {
            prop_assert!(!neutral.contains(&mark), "{:?} in {:?} of {:?}", mark, neutral, &text);
        }
        prop_assert_eq!(&*all.restore(&neutral), &text);
        // Twice there and twice back: what is neutral is a text like any other.
        let twice = all.neutralise(&neutral);
        prop_assert_eq!(&*all.restore(&twice), &*neutral);
    }

    #[test]
    fn any_part_of_neutral_text_restores(
        parts in vec(prop_oneof![2 => select(marks()), 1 => "[a-z|<>\\[\n ]{0,9}"], 0..6),
        (from, to) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        doubled in any::<bool>(),
    ) {
        let (all, text) = (Dialects::builtin(), parts.concat());
        let neutral = all.neutralise(&text);
        let borders = reading::borders(&neutral);
        let mut ends = [borders[from.index(borders.len())], borders[to.index(borders.len())]];
        ends.sort_unstable();
        let part = &neutral[ends[0]..ends[1]];
        let copied = if doubled { part.replace('\u{200b}', "\u{200b}\u{200b}") } else { part.to_owned() };
        prop_assert_eq!(&*all.restore(&copied), part.replace('\u{200b}', ""), "{:?} of {:?}", part, &neutral);
    }

    #[test]
    fn no_mark_forms_between_neutral_texts(
        parts in vec(prop_oneof![2 => select(marks()), 1 => "[a-z|<>\\[\n ]{0,9}"], 0..4),
        place in any::<prop::sample::Index>(),
    ) {
        let (all, text) = (Dialects::builtin(), parts.concat());
        let borders = reading::borders(&text);
        let (before, behind) = text.split_at(borders[place.index(borders.len())]);
        let halves = [before, behind].map(|half| (half, all.neutralise(half)));
        let both: String = halves.iter().map(|(_, neutral)| neutral.as_ref()).collect();
        for mark in all.iter().flat_map(|dialect| reading::broken_marks(dialect)) {
            prop_assert!(!both.contains(&mark), "{:?} in {:?}", mark, &both);
        }
        for (half, neutral) in &halves {
            prop_assert_eq!(&*all.restore(neutral), *half);
        }
    }

    #[test]
    fn others_bring_no_mark_into_a_prompt(
        texts in vec(prop_oneof![3 => hostile_text(), 1 => "[a-z<>|/_]{0,12}"], 8),
    ) {
        let said = |text: &dyn Fn(usize) -> String| {
            let tool = Tool {
                name: text(0),
                description: text(1),
                parameters: serde_json::json!({
                    "type": "object", "required": [text(2)], text(6): text(7),
                    "properties": {text(2): {"type": "string", "description": text(3), text(4): text(5)}},
                })
                .into(),
            };
            let result = |text: String| CallResult { id: Some(text.clone()), name: text.clone(), text, ok: true };
            (tool, [result(text(0)), result(text(1))])
        };
        let hostile = said(&|place| texts[place].clone());
        let plain = said(&|place| format!("x{place}"));
        for dialect in reading::tested() {
            let written = |(tool, results): &(Tool, [CallResult; 2])| {
                [dialect.definitions(std::slice::from_ref(tool)), dialect.render_results(results)].concat()
            };
            let (hostile, plain) = (written(&hostile), written(&plain));
            for mark in reading::broken_marks(dialect) {
                let (found, own) = (hostile.matches(&mark).count(), plain.matches(&mark).count());
                prop_assert!(found <= own, "{}: {:?} in {:?}", dialect.name(), mark, &hostile);
            }
        }
    }

    #[test]
    fn a_broken_description_is_an_error_with_a_line(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        length in 0_usize..12,
        instead in prop_oneof![Just(String::new()), "[\"'=\\[\\]{}#a-z\n]{1,3}", hostile_text()],
    ) {
        let all: Vec<_> = Dialects::builtin().iter().collect();
        let dialect = all[which.index(all.len())];
        let (name, text) = (dialect.name(), dialect.text());
        let borders = reading::borders(text);
        let from = place.index(borders.len());
        let to = (from + length).min(borders.len() - 1);
        let broken = format!("{}{instead}{}", &text[..borders[from]], &text[borders[to]..]);
        match Dialect::from_toml(name, &broken) {
            Ok(read) => {
                // What is still a description is read and written without a panic.
                let read = std::sync::Arc::new(read);
                let calls = reading::sample_calls();
                if let Ok(text) = read.render_calls(&calls, &tools()) {
                    let (message, _) = reading::read(read.parser(turn()), chunks(&text, 3), End::End);
                    prop_assert_eq!(message.calls.len(), calls.len());
                }
                let _ = read.system_prompt(&tools(), del_dialects::Detail::Full);
            }
            Err(error) => {
                let lines = broken.lines().count().max(1);
                prop_assert!((1..=lines + 1).contains(&error.line), "line {} of {lines}", error.line);
                prop_assert!(!error.message.trim().is_empty() && !error.message.contains('\n'), "{:?}", error.message);
            }
        }
    }
}

#[test]
fn every_dialect_writes_plain_calls() {
    // Else the properties above could hold because nothing renders.
    for dialect in dialects_of(None) {
        reading::sample(&dialect);
    }
}

#[test]
fn every_dialect_writes_plain_answers() {
    let calls = reading::sample_calls();
    let said = |text: &str| Part::Text(text.to_owned());
    let thought = || Part::Reasoning("The user wants the weather.".to_owned());
    let whole = [thought(), said("I will look."), Part::Call(0), Part::Call(1)];
    let between = [
        said("First this."),
        Part::Call(0),
        said("Then that."),
        Part::Call(1),
        said("That is all there is."),
    ];
    reading::every_dialect(|dialect| {
        // A format of channels may know no thinking.
        let thinks = match dialect.frame() {
            Frame::Channels(channels) => !channels.written.reasoning.is_empty(),
            _ => true,
        };
        for parts in [&whole[usize::from(!thinks)..], &whole[1..], &whole[2..], &whole[1..2], &between] {
            let answer = Message { parts: parts.to_vec(), calls: calls.to_vec(), ..Message::default() };
            let text = dialect.render_answer(&answer, &tools());
            let text = text.unwrap_or_else(|error| panic!("{}: {error}", dialect.name()));
            let (message, _) = read(dialect.parser(turn()), [text.as_str()], End::End);
            assert_eq!(seen(&message), seen(&answer), "{} {text:?}", dialect.name());
        }
    });
}
