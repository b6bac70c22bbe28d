//! Calls that an answer shows and does not make: in code fences, as objects or as if tools were commands. They are examples,
//! and never run.

use del_dialects::Tool;
use serde_json::Value;

/// What an answer without a call shows of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// How to call these declared tools, each once, in their order.
    Examples(Vec<String>),
    /// A call of a tool of this name, which nobody has, and not a word besides.
    Unknown(String),
}

/// What `text`, an answer without a call, shows of calls, if it shows any. `undeclared`: something in it reads like a call
/// of a tool that is not declared.
pub(crate) fn shown(text: &str, undeclared: bool, tools: &[Tool]) -> Option<Shown> {
    let blocks = Blocks::of(text);
    let objects: Vec<Value> = blocks.inside.iter().flat_map(|block| objects(block)).collect();
    let commands = blocks.inside.iter().flat_map(|block| block.lines()).filter_map(command);
    let mut names: Vec<String> = Vec::new();
    for name in objects.iter().filter_map(called).chain(commands) {
        if tools.iter().any(|tool| tool.name == name) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    if !names.is_empty() {
        return Some(Shown::Examples(names));
    }
    if tools.is_empty() {
        return None;
    }
    if undeclared && text.starts_with(['{', '[']) {
        return Some(Shown::Unknown(named(text).to_owned()));
    }
    // An object with other members as well is data.
    let call = |object: &Value| called(object).is_some() && object.as_object().is_some_and(|o| o.len() == 2);
    let first = objects.first().filter(|_| blocks.outside.trim().is_empty() && objects.iter().all(call));
    first.and_then(called).map(|name| Shown::Unknown(name.to_owned()))
}

/// The first name in what is no JSON.
fn named(text: &str) -> &str {
    let behind = text.split_once("\"name\"").map_or("", |(_, behind)| behind);
    behind.trim_start_matches([' ', ':']).split('"').nth(1).unwrap_or_default()
}

/// The objects that a block consists of.
fn objects(block: &str) -> Vec<Value> {
    match serde_json::from_str(block) {
        Ok(Value::Array(objects)) => objects,
        Ok(object) => vec![object],
        Err(_) => Vec::new(),
    }
}

/// The tool that an object calls, if it has the form of a call.
fn called(object: &Value) -> Option<&str> {
    let with_arguments = ["arguments", "parameters"].iter().any(|key| object[*key].is_object());
    object["name"].as_str().filter(|_| with_arguments)
}

/// What a line of code begins with, if no program has such a name.
fn command(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
    Some(&line[..end]).filter(|name| name.contains('_'))
}

#[derive(Debug, Default)]
struct Blocks {
    /// What stands in code fences that are closed.
    inside: Vec<String>,
    /// All else.
    outside: String,
}

impl Blocks {
    fn of(text: &str) -> Self {
        let (mut blocks, mut block) = (Self::default(), None::<String>);
        for line in text.lines() {
            match &mut block {
                _ if line.trim_start().starts_with("```") => match block.take() {
                    Some(whole) => blocks.inside.push(whole),
                    None => block = Some(String::new()),
                },
                Some(begun) => begun.extend([line, "\n"]),
                None => blocks.outside.extend([line, "\n"]),
            }
        }
        blocks.outside.extend(block);
        blocks
    }
}
