//! Every canonical case through real engines, whole and mutated.

use std::fs;
use std::path::Path;

use crate::of_any_tool;
use del_dialects::description::Codec;
use del_dialects::{Call, Dialect, Tool};
use del_grammar::Choice;
use serde_json::{Map, Value, json};

use super::built;
use super::gbnf::Gbnf;
use super::guidance::Guidance;

/// The same grammar in each engine that can be asked here.
pub(crate) struct Engines {
    gbnf: Gbnf,
    lark: Guidance,
    regex: Option<Guidance>,
}

impl Engines {
    pub(crate) fn new(dialect: &Dialect, tools: &[Tool], choice: &Choice, parallel: bool) -> Self {
        let name = dialect.name();
        let grammar = built(dialect, tools, choice, parallel).unwrap();
        let (gbnf, lark) = (grammar.to_gbnf(), grammar.to_lark());
        let guidance = |kind: &str, text: &str, read: Result<Guidance, String>| {
            read.unwrap_or_else(|error| panic!("{name} {kind}: {error}\n{text}"))
        };
        Self {
            gbnf: Gbnf::read(&gbnf).unwrap_or_else(|error| panic!("{name}: {error}\n{gbnf}")),
            lark: guidance("lark", &lark, Guidance::lark(&lark)),
            regex: grammar.to_regex().ok().map(|regex| guidance("regex", &regex, Guidance::regex(&regex))),
        }
    }

    /// What all of them say; they must not differ.
    #[track_caller]
    pub(crate) fn accept(&self, what: &str, text: &str) -> bool {
        let answer = self.gbnf.accepts(text);
        assert_eq!(self.lark.accepts(text), answer, "{what}: Lark against GBNF: {text}");
        if let Some(regex) = &self.regex {
            assert_eq!(regex.accepts(text), answer, "{what}: the regular expression against GBNF: {text}");
        }
        answer
    }
}

/// The engines, and what they were asked.
struct Asked {
    engines: Engines,
    /// The grammar for others.
    line: Value,
    accepted: Vec<String>,
    refused: Vec<String>,
}

impl Asked {
    fn new(dialect: &Dialect, tools: &[Tool], choice: &Choice) -> Self {
        let grammar = built(dialect, tools, choice, true).unwrap();
        let line = json!({
            "dialect": dialect.name(), "choice": format!("{choice:?}"), "gbnf": grammar.to_gbnf(),
            "regex": grammar.to_regex().ok(), "structural_tag": grammar.to_structural_tag(),
        });
        let engines = Engines::new(dialect, tools, choice, true);
        Self { engines, line, accepted: Vec::new(), refused: Vec::new() }
    }

    #[track_caller]
    fn accepts(&mut self, what: &str, text: &str) -> bool {
        let answer = self.engines.accept(what, text);
        if answer { &mut self.accepted } else { &mut self.refused }.push(text.to_owned());
        answer
    }

    fn into_line(mut self) -> String {
        self.line["accepted"] = json!(self.accepted);
        self.line["refused"] = json!(self.refused);
        format!("{}\n", self.line)
    }
}

struct Canonical {
    name: String,
    text: String,
    calls: Vec<Call>,
}

impl Canonical {
    /// True where a raw value holds what ends it, which the reader knows by what follows; where the arguments have
    /// other white space than the writer's; or where they do not fit the tool.
    fn is_out_of_reach(&self, dialect: &Dialect, tools: &[Tool]) -> bool {
        let closers = match dialect.codec() {
            Codec::Fields(form) => &form.value_close[..],
            _ => &[],
        };
        self.calls.iter().any(|call| {
            let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).unwrap();
            let holds = |(key, value): (&String, &Value)| {
                let text = value.as_str().unwrap_or_default();
                closers.iter().any(|mark| text.contains(mark.replace("{key}", key).trim()))
            };
            let required = &tools.iter().find(|tool| tool.name == call.name).unwrap().parameters["required"];
            let missing = |key: &Value| !arguments.contains_key(key.as_str().unwrap());
            let fits = !required.as_array().into_iter().flatten().any(missing);
            !fits || call.arguments.contains('\n') || arguments.iter().any(holds)
        })
    }

    /// The text with one thing wrong in it, and what that is.
    fn mutated(&self) -> Vec<(&'static str, String)> {
        let text = &self.text;
        let last = text.chars().next_back().unwrap().len_utf8();
        let end = &text[text.len() - last..];
        let half = text.char_indices().nth(text.chars().count() / 2).unwrap().0;
        let mut wrong = vec![
            ("a cut end", text[..text.len() - last].to_owned()),
            ("half of it", text[..half].to_owned()),
            ("its last sign twice", format!("{text}{end}")),
            ("junk behind it", format!("{text} and so on")),
            ("text before it", format!("So: {text}")),
            ("another name", text.replace(&self.calls[0].name, "no_such_tool")),
        ];
        for (key, other) in [("city", "town"), ("item", "thing"), ("content", "text")] {
            let arguments: Map<String, Value> = serde_json::from_str(&self.calls[0].arguments).unwrap();
            if arguments.contains_key(key) {
                wrong.push(("another key", text.replace(key, other)));
            }
        }
        wrong
    }
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../del-dialects/dialects"))
}

fn tools() -> Vec<Tool> {
    serde_json::from_str(&fs::read_to_string(folder().join("tools.json")).unwrap()).unwrap()
}

fn canonical(dialect: &str) -> Vec<Canonical> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder().join(dialect).join("cases")).unwrap() {
        let path = file.unwrap().path();
        let case: toml::Table = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        if case.get("canonical").and_then(toml::Value::as_bool) != Some(true) {
            continue;
        }
        let string =
            |table: &toml::Table, key: &str| table.get(key).and_then(|v| v.as_str()).map(str::to_owned);
        let calls = case["expect"].get("calls").and_then(toml::Value::as_array).into_iter().flatten();
        let calls = calls.map(|call| {
            let call = call.as_table().unwrap();
            Call {
                id: string(call, "id"),
                name: string(call, "name").unwrap(),
                arguments: string(call, "arguments").unwrap_or_else(|| "{}".to_owned()),
            }
        });
        found.push(Canonical {
            name: format!("{dialect}/{}", path.file_stem().unwrap().display()),
            text: string(&case, "text").unwrap(),
            calls: calls.collect(),
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// `GRAMMARS=FILE` writes what the engines here were asked to a file, for those that are not to be had from Rust.
#[test]
fn canonical_cases_are_accepted_and_mutated_ones_refused() {
    let tools = tools();
    let (mut whole, mut mutated, mut told) = (0, 0, String::new());
    for dialect in of_any_tool() {
        let mut auto = Asked::new(dialect, &tools, &Choice::Auto);
        let mut required = Asked::new(dialect, &tools, &Choice::Required);
        for case in canonical(dialect.name()) {
            let (name, text) = (&case.name, &case.text);
            let known = case.calls.iter().all(|call| tools.iter().any(|tool| tool.name == call.name));
            if case.calls.is_empty() || !known {
                continue;
            }
            if case.is_out_of_reach(dialect, &tools) {
                assert!(!required.accepts(name, text), "{name} is accepted after all: {text}");
                continue;
            }
            whole += 1;
            assert!(auto.accepts(name, text), "{name} is refused: {text}");
            assert!(required.accepts(name, text), "{name} is refused: {text}");
            for (what, wrong) in case.mutated() {
                mutated += 1;
                assert!(!required.accepts(name, &wrong), "{name} took {what}: {wrong}");
            }
        }
        for asked in [auto, required] {
            told.push_str(&asked.into_line());
        }
    }
    assert!(whole >= 340 && mutated > 4 * whole, "only {whole} canonical cases and {mutated} mutated ones");
    if let Some(file) = std::env::var_os("GRAMMARS") {
        fs::write(file, told).unwrap();
    }
}
