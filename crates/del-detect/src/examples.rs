//! Examples: outputs of a model, each with the calls that it means.
//!
//! In a folder, `NAME.txt` is an output and `NAME.json` what it means: an object as `del parse` prints it, or a list of
//! calls. `NAME.toml` is both in one, as a case.

use std::path::{Path, PathBuf};

use del_dialects::{Call, Dialects};
use serde_json::Value as Json;
use thiserror::Error;

use crate::cases::{Stated, tools_of};
use crate::describe::{Reasoning, Sketch};
use crate::probe::{Findings, Thinking, Turn};
use crate::report::{Basis, Found, Report};
use crate::{Options, derive, text, verdict};

/// An output and what it means.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Example {
    /// The file's name, without its ending.
    pub name: String,
    /// The output.
    pub text: String,
    /// Its text for the user.
    pub content: String,
    /// Its thinking.
    pub reasoning: String,
    /// Its calls.
    pub calls: Vec<Call>,
}

/// Why examples cannot be used.
#[derive(Debug, Error)]
pub enum ExampleError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file does not say what an output means.
    #[error("{}: expected {expected}, got {got}", path.display())]
    Meaning {
        /// The file.
        path: PathBuf,
        /// What it should say.
        expected: &'static str,
        /// What it says.
        got: String,
    },
    /// There are none.
    #[error("{}: expected NAME.txt with NAME.json beside it, or NAME.toml, got none of them", path.display())]
    None {
        /// The folder.
        path: PathBuf,
    },
}

/// So many files are looked at.
const MAX_FILES: usize = 1000;
/// Bytes of a file.
const MAX_FILE: u64 = 1 << 20;

/// The examples of a folder, by name.
///
/// # Errors
/// When a file cannot be read, or says nothing of what an output means.
pub fn read(folder: &Path) -> Result<Vec<Example>, ExampleError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error| ExampleError::Unreadable { path, error }
    };
    let entries = std::fs::read_dir(folder).map_err(unreadable(folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().take(MAX_FILES).map(|entry| entry.path()).collect();
    paths.sort();
    let mut examples = Vec::new();
    for path in paths {
        let ending = path.extension().unwrap_or_default();
        if ending != "txt" && ending != "toml" {
            continue;
        }
        let load = |path: &Path| {
            let len = std::fs::metadata(path).map_err(unreadable(path))?.len();
            if len > MAX_FILE {
                return Err(wrong(path, "a file of at most one megabyte", &format!("{len} bytes")));
            }
            std::fs::read_to_string(path).map_err(unreadable(path))
        };
        let text = load(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if ending == "toml" {
            let stated: Stated = toml::from_str(&text)
                .map_err(|error| wrong(&path, "a case with text and expect", error.message()))?;
            let (content, reasoning) = (stated.expect.content, stated.expect.reasoning);
            examples.push(Example {
                name,
                text: stated.text,
                content,
                reasoning,
                calls: stated.expect.calls,
            });
        } else {
            let meaning = path.with_extension("json");
            let json: Json = serde_json::from_str(&load(&meaning)?)
                .map_err(|error| wrong(&meaning, "JSON", &error.to_string()))?;
            let field = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
            let calls = calls(&json).ok_or_else(|| {
                wrong(&meaning, "a list of calls with name and arguments", &json.to_string())
            })?;
            examples.push(Example {
                name,
                text,
                content: field("content"),
                reasoning: field("reasoning"),
                calls,
            });
        }
    }
    if examples.is_empty() {
        return Err(ExampleError::None { path: folder.to_owned() });
    }
    Ok(examples)
}

fn wrong(path: &Path, expected: &'static str, got: &str) -> ExampleError {
    ExampleError::Meaning { path: path.to_owned(), expected, got: text::start(got, 80).to_owned() }
}

/// The calls of a message, or of a list.
fn calls(json: &Json) -> Option<Vec<Call>> {
    let list =
        json.as_array().or_else(|| json["tool_calls"].as_array()).or_else(|| json["calls"].as_array())?;
    let call = |call: &Json| {
        let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
        let arguments = match &function["arguments"] {
            Json::String(text) => text.clone(),
            Json::Null => "{}".to_owned(),
            object => object.to_string(),
        };
        serde_json::from_str::<serde_json::Map<String, Json>>(&arguments).ok()?;
        let id = call["id"].as_str().map(str::to_owned);
        Some(Call { id, name: function["name"].as_str()?.to_owned(), arguments })
    };
    list.iter().map(call).collect()
}

/// What the examples are in, and how calls are written in them.
pub fn detect(examples: &[Example], dialects: &Dialects, options: Options) -> Found {
    let (turns, beside): (Vec<Turn>, Vec<Turn>) =
        examples.iter().map(turn).partition(|turn| !turn.calls.is_empty());
    let tools = tools_of(turns.iter().flat_map(|turn| &turn.calls));
    let reasoning = turns.iter().find_map(thinking);
    let findings = Findings {
        shows_calls: true,
        reasoning: reasoning.clone(),
        turns: turns.clone(),
        answer: around_answers(&beside),
        beside,
        ..Findings::default()
    };
    let mut report = Report { source: Basis::Examples, ..Report::default() };
    report.reasoning = reasoning.as_ref().map(verdict::thinking);
    if turns.is_empty() {
        report.warnings.push("no example holds a call".to_owned());
        return Found::only(report);
    }
    verdict::by_calls(&mut report, &findings, &[], dialects, &tools);
    let sketch = Sketch {
        title: "Detected".to_owned(),
        source: "examples of its output".to_owned(),
        content: findings
            .answer
            .clone()
            .map(|mark| Some(mark).filter(|mark| !mark.trim().is_empty()).into_iter().collect()),
        reasoning: reasoning.map(|thinking| Reasoning {
            begin: thinking.begin,
            end: vec![thinking.end],
            until_call: false,
            prefilled: thinking.prefilled,
        }),
        ..Sketch::default()
    };
    let known = verdict::surely(&report, dialects);
    let described = options.describe.then(|| derive::of_turns(&turns, &sketch, &tools, &findings, known));
    Found::with(report, described)
}

fn turn(example: &Example) -> Turn {
    let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    Turn {
        about: example.name.clone(),
        calls: example.calls.clone(),
        said: some(&example.content),
        thought: some(&example.reasoning),
        text: example.text.clone(),
    }
}

/// What stands around the words of answers that call nothing, where it is always the same.
fn around_answers(answers: &[Turn]) -> [String; 2] {
    let mut around = answers.iter().filter(|turn| turn.thought.is_none()).filter_map(|turn| {
        let (before, behind) = turn.text.split_once(turn.said.as_deref()?)?;
        Some([before, behind])
    });
    let Some(first) = around.next().filter(|first| first.iter().all(|mark| mark.len() <= MAX_MARKS)) else {
        return Default::default();
    };
    if around.all(|other| other == first) { first.map(str::to_owned) } else { Default::default() }
}

/// What stands around an answer has at most so many bytes.
const MAX_MARKS: usize = 100;

/// The marks around the thinking of an example.
fn thinking(turn: &Turn) -> Option<Thinking> {
    let (begin, behind) = turn.text.split_once(turn.thought.as_deref()?)?;
    let mark = text::first_mark(behind)?;
    let start = behind.find(mark)?;
    // Brackets may be doubled.
    let doubled = behind[start + mark.len()..].len()
        - behind[start + mark.len()..].trim_start_matches(text::closes).len();
    let mark = &behind[start..start + mark.len() + doubled];
    let at = start + mark.len();
    let space = behind[at..].len() - behind[at..].trim_start().len();
    let end = behind[..at + space].to_owned();
    let begin = begin.trim_start();
    let prefilled = begin.trim().is_empty();
    let opener = || mark.replacen('/', "", 1);
    let begin = if prefilled { opener() } else { begin.to_owned() };
    Some(Thinking { begin, end, prefilled, ..Thinking::default() })
}
