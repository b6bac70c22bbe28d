//! Four examples of a made-up dialect of each frame, and twenty outputs more that its description has to read.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::format_collect)]

use std::sync::Arc;

use del_detect::examples::{self, Example};
use del_detect::{Options, cases};
use del_dialects::{Call, Collect, Dialect, Dialects, End, Message, Tool, Turn};
use serde_json::{Value, json};

/// Writes the calls of one answer.
type Writer = fn(&[(&str, Value)]) -> String;

fn members(arguments: &Value) -> impl Iterator<Item = (&String, &Value)> {
    arguments.as_object().unwrap().iter()
}

fn raw(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn joined(calls: &[(&str, Value)], between: &str, each: impl Fn(&str, &Value) -> String) -> String {
    calls.iter().map(|(name, arguments)| each(name, arguments)).collect::<Vec<_>>().join(between)
}

fn tags(calls: &[(&str, Value)]) -> String {
    joined(calls, "\n", |name, arguments| {
        format!("<<do>>{{\"tool\": \"{name}\", \"with\": {arguments}}}<</do>>")
    })
}

fn nested_tags(calls: &[(&str, Value)]) -> String {
    let all = joined(calls, "\n", |name, arguments| {
        format!("<act>\n<who>{name}</who>\n<what>{arguments}</what>\n</act>")
    });
    format!("<plan>\n{all}\n</plan>")
}

fn name_in_header(calls: &[(&str, Value)]) -> String {
    joined(calls, "", |name, arguments| format!("[[CALL {name}]]\n{arguments}\n[[DONE]]\n"))
}

fn xml(calls: &[(&str, Value)]) -> String {
    joined(calls, "\n", |name, arguments| {
        let fields: String = members(arguments)
            .map(|(key, value)| format!("  <field key=\"{key}\">{}</field>\n", raw(value)))
            .collect();
        format!("<job name=\"{name}\">\n{fields}</job>")
    })
}

fn bare_json(calls: &[(&str, Value)]) -> String {
    let all = joined(calls, ", ", |name, arguments| format!("{{\"fn\": \"{name}\", \"kw\": {arguments}}}"));
    format!("[{all}]")
}

fn keywords(calls: &[(&str, Value)]) -> String {
    let all = joined(calls, "; ", |name, arguments| {
        let all: Vec<String> = members(arguments).map(|(key, value)| format!("{key}={value}")).collect();
        format!("{name}({})", all.join(", "))
    });
    format!("<run>{all}</run>")
}

fn element_per_key(calls: &[(&str, Value)]) -> String {
    joined(calls, "\n", |name, arguments| {
        let fields: String =
            members(arguments).map(|(key, value)| format!("<p:{key}>{}</p:{key}>", raw(value))).collect();
        format!("<p:use tool=\"{name}\">{fields}</p:use>")
    })
}

const FRAMES: [(&str, Writer); 7] = [
    ("tags", tags),
    ("nested tags", nested_tags),
    ("name in a header", name_in_header),
    ("XML-like", xml),
    ("bare JSON with odd keys", bare_json),
    ("keywords", keywords),
    ("an element for each key", element_per_key),
];

fn tools() -> Vec<Tool> {
    let tool = |name: &str, properties: Value| Tool {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": properties}).into(),
    };
    vec![
        tool(
            "find_route",
            json!({"from": {"type": "string"}, "to": {"type": "string"}, "legs": {"type": "integer"}}),
        ),
        tool("set_lamp", json!({"room": {"type": "string"}, "on": {"type": "boolean"}})),
        tool("take_note", json!({"text": {"type": "string"}, "labels": {"type": "array"}})),
    ]
}

/// Answers that differ from each other in tools, arguments and number of calls.
fn answer(number: usize) -> Vec<(&'static str, Value)> {
    let cities = ["Orsk", "Lund", "Split", "Gent", "Bari"];
    let city = |place: usize| cities[(number + place) % cities.len()];
    let route = ("find_route", json!({"from": city(0), "to": city(2), "legs": number + 2}));
    let lamp = ("set_lamp", json!({"room": format!("hall {}", city(1)), "on": number.is_multiple_of(2)}));
    let note = ("take_note", json!({"text": format!("call {} at noon", city(3)), "labels": ["x", city(4)]}));
    match number % 5 {
        0 => vec![route],
        1 => vec![route, lamp],
        2 => vec![note],
        3 => vec![lamp, note, route],
        _ => vec![lamp],
    }
}

fn calls(answer: &[(&str, Value)]) -> Vec<Call> {
    let call = |(name, arguments): &(&str, Value)| Call {
        id: None,
        name: (*name).to_owned(),
        arguments: arguments.to_string(),
    };
    answer.iter().map(call).collect()
}

fn read(dialect: &Arc<Dialect>, text: &str) -> Message {
    let mut parser = dialect.parser(Turn::new(tools()));
    let mut collect = Collect::new();
    parser.push(text, &mut collect);
    parser.finish(End::End, &mut collect);
    collect.into_message()
}

#[test]
fn four_examples_of_each_frame_are_enough() {
    for (frame, write) in FRAMES {
        let four: Vec<Example> = (0..4)
            .map(|number| {
                let answer = answer(number);
                let (thought, said) = match number {
                    2 => ("I write it down.", ""),
                    1 if frame != "bare JSON with odd keys" => ("", "Two things at once."),
                    _ => ("", ""),
                };
                let mut text = String::new();
                if !thought.is_empty() {
                    text += &["<muse>", thought, "</muse>\n"].concat();
                }
                if !said.is_empty() {
                    text += &[said, "\n"].concat();
                }
                text.push_str(&write(&answer));
                Example {
                    name: format!("{number}"),
                    text,
                    content: said.to_owned(),
                    reasoning: thought.to_owned(),
                    calls: calls(&answer),
                }
            })
            .collect();
        let options = Options { rules: true, describe: true };
        let found = examples::detect(&four, Dialects::builtin(), options);
        let known = found.report.dialect.as_deref();
        assert!(known.is_none() || found.report.confidence < 0.8, "{frame}: {:#?}", found.report);
        let description = found.description.unwrap_or_else(|| panic!("{frame}: no description"));
        let dialect = Arc::new(Dialect::from_toml("made-up", &description.toml).unwrap());
        assert_eq!(description.read, 4, "{frame}:\n{}", description.toml);
        for case in &description.cases {
            assert_eq!(cases::check(&dialect, &case.toml), Ok(()), "{frame}: {}", case.toml);
        }
        for number in 4..24 {
            let answer = answer(number);
            let text = write(&answer);
            let message = read(&dialect, &text);
            let expected = calls(&answer);
            let values = |calls: &[Call]| -> Vec<(String, Value)> {
                calls
                    .iter()
                    .map(|call| (call.name.clone(), serde_json::from_str(&call.arguments).unwrap()))
                    .collect()
            };
            assert_eq!(values(&message.calls), values(&expected), "{frame}: {text}\n{}", description.toml);
            assert_eq!(message.content.trim(), "", "{frame}: {text}\n{}", description.toml);
        }
    }
}

#[test]
fn a_known_dialect_is_named() {
    let hermes = Dialects::builtin().get("qwen3-coder").unwrap();
    let four: Vec<Example> = (0..4)
        .map(|number| {
            let calls = calls(&answer(number));
            let text = hermes.render_calls(&calls, &tools()).unwrap();
            Example { name: number.to_string(), text, calls, ..Example::default() }
        })
        .collect();
    let report = examples::detect(&four, Dialects::builtin(), Options::default()).report;
    assert_eq!(report.dialect.as_deref(), Some("qwen3-coder"), "{report:#?}");
    assert!(report.confidence > 0.8);
}

#[test]
fn examples_without_calls_describe_nothing() {
    let one = Example { name: "a".to_owned(), text: "Hello.".to_owned(), ..Example::default() };
    let found = examples::detect(&[one], Dialects::builtin(), Options { rules: true, describe: true });
    assert!(found.description.is_none());
    assert!(!found.report.tool_calls);
}

/// One text argument in each of four examples, written by `write`.
fn texts_alone(write: Writer) -> Vec<Example> {
    [("run", "cmd", "ls"), ("read", "path", "a.txt"), ("open", "url", "b"), ("say", "text", "hi")]
        .iter()
        .map(|(name, key, value)| {
            let answer = [(*name, json!({*key: value}))];
            Example {
                name: (*name).to_owned(),
                text: write(&answer),
                calls: calls(&answer),
                ..Example::default()
            }
        })
        .collect()
}

fn described(examples: &[Example]) -> del_detect::Found {
    examples::detect(examples, Dialects::builtin(), Options { rules: true, describe: true })
}

#[test]
fn json_explains_more_than_the_text_around_it() {
    let write: [Writer; 2] = [
        |calls| joined(calls, "", |name, arguments| format!("<act>{name}|{}</act>", spaced_json(arguments))),
        |calls| {
            joined(calls, "", |name, arguments| format!("[[{name}]]\n{}\n[[/]]\n", spaced_json(arguments)))
        },
    ];
    for write in write {
        let description = described(&texts_alone(write)).description.unwrap();
        let dialect = Arc::new(Dialect::from_toml("made-up", &description.toml).unwrap());
        for arguments in [
            json!({"cmd": "x", "dir": "y"}),
            json!({"cmd": "say \"hi\""}),
            json!({}),
            json!({"n": 3}),
            json!({"cmd": "two\nlines"}),
        ] {
            let text = write(&[("run", arguments.clone())]);
            let message = read(&dialect, &text);
            let got: Vec<Value> =
                message.calls.iter().map(|call| serde_json::from_str(&call.arguments).unwrap()).collect();
            assert_eq!(got, std::slice::from_ref(&arguments), "{text}\n{}", description.toml);
            assert_eq!(message.faults.len(), 0, "{text}");
        }
    }
}

/// As models write JSON, with a space behind each colon.
fn spaced_json(arguments: &Value) -> String {
    arguments.to_string().replace("\":", "\": ").replace("\",\"", "\", \"")
}

#[test]
fn what_examples_do_not_show_is_open() {
    let open = |examples: &[Example]| described(examples).description.unwrap().open.join("; ");
    let fields: Writer = |calls| {
        joined(calls, "\n", |name, arguments| {
            let all: String = members(arguments)
                .map(|(key, value)| format!("<in k=\"{key}\">{}</in>", raw(value)))
                .collect();
            format!("<op n=\"{name}\">{all}</op>")
        })
    };
    let said = open(&texts_alone(fields));
    for question in
        ["two calls", "between two arguments", "without arguments", "numbers", "quotes", "line feeds"]
    {
        assert!(said.contains(question), "{question}: {said}");
    }
    // JSON says all of that by itself.
    let said = open(&texts_alone(nested_tags));
    assert!(said.contains("two calls") && !said.contains("numbers") && !said.contains("quotes"), "{said}");
    // An example with text before its calls shows them as well.
    let mut examples = texts_alone(nested_tags);
    let answer = answer(1);
    let text = ["Two at once.\n", nested_tags(&answer).as_str()].concat();
    let content = "Two at once.".to_owned();
    examples.push(Example {
        name: "two".to_owned(),
        text,
        content,
        calls: calls(&answer),
        ..Example::default()
    });
    assert_eq!(open(&examples), "");
}

#[test]
fn one_odd_example_does_not_sink_the_rest() {
    let mut examples: Vec<Example> = (0..6)
        .map(|number| {
            let answer = answer(number);
            Example {
                name: number.to_string(),
                text: xml(&answer),
                calls: calls(&answer),
                ..Example::default()
            }
        })
        .collect();
    examples[0].text = "find_route: from Orsk, to Split, 2 legs".to_owned();
    let cut = examples[2].text.len() / 2;
    examples[2].text.truncate(cut);
    let description = described(&examples).description.unwrap();
    assert_eq!((description.read, description.turns), (4, 6), "{}", description.toml);
    assert_eq!(description.missed, ["0", "2"]);
    assert_eq!(description.cases.len(), 4);
}

#[test]
fn attributes_of_a_tag_that_is_called_as_the_tool_are_those_of_a_known_dialect() {
    let attributes: Writer =
        |calls| joined(calls, "\n", |name, arguments| format!("<{name}{}/>", attributes(arguments)));
    let description = described(&texts_alone(attributes)).description.unwrap();
    assert_eq!((description.copy_of.as_deref(), description.missed.len()), (Some("cline"), 0));
}

/// Arguments as attributes of a tag.
fn attributes(arguments: &Value) -> String {
    members(arguments).map(|(key, value)| format!(" {key}=\"{}\"", raw(value))).collect()
}

#[test]
fn what_is_not_found_is_said() {
    let attributes: Writer = |calls| {
        joined(calls, "\n", |name, arguments| format!("<op tool=\"{name}\"{}/>", attributes(arguments)))
    };
    let found = described(&texts_alone(attributes));
    assert_eq!(found.description, None);
    assert!(found.report.tool_calls);
    assert!(found.undescribed.is_some_and(|why| why.contains("attributes")));
    let behind: Writer = |calls| {
        joined(calls, "\n", |name, arguments| {
            let all: String = members(arguments).map(|(_, value)| format!("({})", raw(value))).collect();
            format!("{all} -> {name}")
        })
    };
    let found = described(&texts_alone(behind));
    assert_eq!(found.description, None);
    assert!(found.undescribed.is_some_and(|why| why.contains("behind the arguments")));
}

#[test]
fn every_value_may_stand_in_a_section() {
    let sections: Writer = |calls| {
        joined(calls, "\n", |name, arguments| {
            let all: String = members(arguments)
                .map(|(key, value)| format!("<in k=\"{key}\"><![CDATA[{}]]></in>", raw(value)))
                .collect();
            format!("<op n=\"{name}\">{all}</op>")
        })
    };
    let examples: Vec<Example> = (0..4)
        .map(|number| {
            let answer = answer(number);
            Example {
                name: number.to_string(),
                text: sections(&answer),
                calls: calls(&answer),
                ..Example::default()
            }
        })
        .collect();
    let description = described(&examples).description.unwrap();
    assert_eq!(description.read, 4, "{}", description.toml);
    let dialect = Arc::new(Dialect::from_toml("made-up", &description.toml).unwrap());
    let message = read(&dialect, &sections(&[("find_route", json!({"from": "a < b && c", "legs": 7}))]));
    assert_eq!(message.calls[0].arguments, r#"{"from":"a < b && c","legs":7}"#);
}

#[test]
fn marks_that_count_the_calls_are_named() {
    let counted: Writer = |calls| {
        let each = calls.iter().enumerate();
        each.map(|(place, (name, arguments))| format!("§call#{} {name}§{arguments}§end§", place + 1))
            .collect()
    };
    let examples: Vec<Example> = (0..4)
        .map(|number| {
            let answer = answer(number);
            let calls = calls(&answer[..answer.len().min(2)]);
            let text = counted(&answer[..answer.len().min(2)]);
            Example { name: number.to_string(), text, calls, ..Example::default() }
        })
        .collect();
    let open = described(&examples).description.unwrap().open;
    assert!(open.iter().any(|line| line.contains("count the calls")), "{open:?}");
}

#[test]
fn a_form_that_cannot_carry_other_arguments_is_no_form() {
    let pairs: Writer = |calls| {
        joined(calls, "\n", |name, arguments| {
            let all: String =
                members(arguments).map(|(key, value)| format!(", [\"{key}\", {value}]")).collect();
            format!("<q>[\"{name}\"{all}]</q>")
        })
    };
    let mut examples = texts_alone(pairs);
    let two = [("read", json!({"path": "z"})), ("say", json!({"text": "ok"}))];
    let text = pairs(&two);
    examples.push(Example { name: "two".to_owned(), text, calls: calls(&two), ..Example::default() });
    let found = described(&examples);
    assert_eq!(found.description, None);
    assert!(found.undescribed.is_some_and(|why| why.contains("written and read again")));
}

#[test]
fn closing_marks_repeat_the_name() {
    let glued: Writer =
        |calls| joined(calls, "\n", |name, arguments| format!("[begin:{name}]\n{arguments}\n[end:{name}]"));
    let apart: Writer =
        |calls| joined(calls, "\n", |name, arguments| format!("[begin {name}]\n{arguments}\n[end {name}]"));
    let examples = |write: Writer| -> Vec<Example> {
        (0..4)
            .map(|number| {
                let answer = answer(number);
                let text = write(&answer);
                Example { name: number.to_string(), text, calls: calls(&answer), ..Example::default() }
            })
            .collect()
    };
    for write in [glued, apart] {
        let description = described(&examples(write)).description.unwrap();
        assert_eq!((description.read, description.open.len()), (4, 0), "{}", description.toml);
    }
}
