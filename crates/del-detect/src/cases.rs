//! Cases: what a description was made from, as files that can be checked again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use del_dialects::{Call, Collect, Dialect, End, Message, Start, Tool, Turn as Reading};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::compare::{is_clean, read, same_calls};
use crate::describe::quoted;
use crate::probe::{self, Turn};

/// A case file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The file's name.
    pub name: String,
    /// Its text.
    pub toml: String,
}

/// How the first line of each case ends that is written here.
pub const WRITTEN: &str = ", as it was written.\"";

/// A case for each turn that the dialect reads.
pub(crate) fn of(dialect: &Arc<Dialect>, turns: &[Turn], tools: &[Tool]) -> Vec<Case> {
    beside(dialect, turns, tools, 0)
}

/// The same, numbered from behind those that there are.
pub(crate) fn beside(dialect: &Arc<Dialect>, turns: &[Turn], tools: &[Tool], from: usize) -> Vec<Case> {
    let cases = turns.iter().filter_map(|turn| {
        let message = read(dialect, &turn.text, tools);
        let right = same_calls(&message.calls, &turn.calls) && is_clean(&message, turn);
        right.then(|| {
            let about = quoted(&capital(&turn.about));
            let about = format!("{}{WRITTEN}", about.trim_end_matches('"'));
            // White space before a lone call is no part of it.
            let alone = turn.said.is_none() && turn.thought.is_none();
            let text = if alone { turn.text.trim() } else { &turn.text };
            let written = dialect.render_calls(&turn.calls, tools).unwrap_or_default();
            let canonical = if written == text { "canonical = true\n" } else { "" };
            let out = format!("about = {about}\n{canonical}{}", stated(text, &message));
            (slug(&turn.about), out)
        })
    });
    let numbered = cases.enumerate();
    numbered
        .map(|(place, (slug, toml))| Case { name: format!("{:02}-{slug}.toml", from + place + 1), toml })
        .collect()
}

/// A case of an answer, as it was read. `end` is how it ended.
pub fn of_answer(about: &str, text: &str, end: End, message: &Message) -> String {
    let finish = if end == End::Cut { "finish = \"cut\"\n" } else { "" };
    format!("about = {}\n{finish}{}", quoted(about), stated(text, message))
}

/// A text, and what it means.
fn stated(text: &str, message: &Message) -> String {
    let mut out = format!("text = {}\n\n[expect]\n", quoted(text));
    for (key, said) in [("content", &message.content), ("reasoning", &message.reasoning)] {
        if !said.trim().is_empty() {
            let _ = writeln!(out, "{key} = {}", quoted(said));
        }
    }
    let call = |call: &Call| {
        let id = call.id.as_ref().map(|id| format!(", id = {}", quoted(id))).unwrap_or_default();
        format!("{{ name = {}, arguments = {}{id} }}", quoted(&call.name), quoted(&call.arguments))
    };
    let calls: Vec<String> = message.calls.iter().map(call).collect();
    if !calls.is_empty() {
        let _ = writeln!(out, "calls = [\n  {},\n]", calls.join(",\n  "));
    }
    if !message.faults.is_empty() {
        let faults: Vec<String> = message.faults.iter().map(|fault| quoted(fault.kind.as_str())).collect();
        let _ = writeln!(out, "faults = [{}]", faults.join(", "));
    }
    if let Some(cut) = message.faults.iter().find_map(|fault| fault.call.as_ref()) {
        let _ = writeln!(out, "cut_call = {}", call(cut));
    }
    out
}

/// What a case file says.
#[derive(Debug, Deserialize)]
pub(crate) struct Stated {
    #[serde(default)]
    about: String,
    pub(crate) text: String,
    starts_in: Option<String>,
    #[serde(default)]
    finish: String,
    #[serde(default)]
    pub(crate) expect: Expected,
}

/// What an answer means.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Expected {
    pub(crate) content: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<Call>,
    faults: Vec<String>,
}

/// Reads the case of a file and compares; `Err` says what differs.
///
/// # Errors
/// When the file is no case, or the dialect reads it otherwise than it says.
pub fn check(dialect: &Arc<Dialect>, toml: &str) -> Result<(), String> {
    let stated: Stated = toml::from_str(toml).map_err(|error| error.message().to_owned())?;
    let starts = stated.starts_in.as_deref().map_or(Ok(Start::default()), str::parse);
    let starts = starts.map_err(|error| format!("`starts_in`: {error}"))?;
    let end = if stated.finish == "cut" { End::Cut } else { End::End };
    // Cases of examples call tools of their own.
    let mut tools = probe::tools();
    let own = tools_of(stated.expect.calls.iter());
    tools.extend(own.into_iter().filter(|own| probe::tools().iter().all(|tool| tool.name != own.name)));
    let mut parser = dialect.parser(Reading::new(tools).starting(starts));
    let mut collect = Collect::new();
    parser.push(&stated.text, &mut collect);
    parser.finish(end, &mut collect);
    let message = collect.into_message();
    let expected = &stated.expect;
    let faults: Vec<&str> = message.faults.iter().map(|fault| fault.kind.as_str()).collect();
    let differs = |what: &str, expected: String, got: String| {
        Err(format!("{} expected {what} {expected}, got {got}", stated.about))
    };
    if !same_calls(&message.calls, &expected.calls) {
        return differs("the calls", shown(&expected.calls), shown(&message.calls));
    }
    if message.content.trim() != expected.content.trim() {
        return differs("the content", quoted(&expected.content), quoted(&message.content));
    }
    if message.reasoning.trim() != expected.reasoning.trim() {
        return differs("the reasoning", quoted(&expected.reasoning), quoted(&message.reasoning));
    }
    if faults != expected.faults {
        return differs("the faults", format!("{:?}", expected.faults), format!("{faults:?}"));
    }
    Ok(())
}

/// Tools that the calls would be for: the types of their arguments tell texts from numbers.
pub(crate) fn tools_of<'c>(calls: impl Iterator<Item = &'c Call>) -> Vec<Tool> {
    let mut known: BTreeMap<&str, serde_json::Map<String, Json>> = BTreeMap::new();
    for call in calls {
        let properties = known.entry(&call.name).or_default();
        let arguments: serde_json::Map<String, Json> =
            serde_json::from_str(&call.arguments).unwrap_or_default();
        for (key, value) in arguments {
            let kind = match value {
                Json::String(_) => "string",
                Json::Number(_) => "number",
                Json::Bool(_) => "boolean",
                Json::Array(_) => "array",
                Json::Object(_) => "object",
                Json::Null => continue,
            };
            properties.insert(key, json!({"type": kind}));
        }
    }
    let tool = |(name, properties): (&str, serde_json::Map<String, Json>)| Tool {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": properties}).into(),
    };
    known.into_iter().map(tool).collect()
}

fn shown(calls: &[Call]) -> String {
    let calls: Vec<String> = calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
    format!("[{}]", calls.join(", "))
}

fn slug(about: &str) -> String {
    let words: Vec<&str> =
        about.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-").to_ascii_lowercase()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
