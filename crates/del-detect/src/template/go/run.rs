//! Running a template.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::{MAX_DEPTH, Node, Program, Word, wrong};
use crate::template::RenderError;

/// Steps of one rendering.
const STEPS: usize = 200_000;
const MAX_TEXT: usize = 4 << 20;

impl Program {
    /// The text for a context.
    pub(crate) fn render(&self, context: &Json) -> Result<String, RenderError> {
        let variables = HashMap::new();
        let mut run = Run { program: self, root: context, variables, out: String::new(), steps: 0, depth: 0 };
        run.nodes(&self.nodes, context)?;
        Ok(run.out)
    }
}

struct Run<'c> {
    program: &'c Program,
    root: &'c Json,
    variables: HashMap<String, Json>,
    out: String,
    steps: usize,
    /// How many templates stand in each other.
    depth: usize,
}

/// How running goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Break,
    Continue,
}

impl<'c> Run<'c> {
    fn nodes(&mut self, nodes: &'c [Node], dot: &Json) -> Result<Flow, RenderError> {
        for node in nodes {
            self.steps += 1;
            if self.steps > STEPS || self.out.len() > MAX_TEXT {
                return Err(RenderError::Endless);
            }
            let flow = match node {
                Node::Text(text) => {
                    self.out.push_str(text);
                    Flow::On
                }
                Node::Show(words) => {
                    let value = self.value(words, dot)?;
                    self.out.push_str(&shown(&value));
                    Flow::On
                }
                Node::Set(name, words) => {
                    let value = self.value(words, dot)?;
                    self.variables.insert(name.clone(), value);
                    Flow::On
                }
                Node::Template(name, given) => {
                    self.template(name, given, dot)?;
                    Flow::On
                }
                Node::If(words, body, other) => {
                    let holds = is_true(&self.value(words, dot)?);
                    self.nodes(if holds { body } else { other }, dot)?
                }
                Node::With(words, body, other) => {
                    let value = self.value(words, dot)?;
                    if is_true(&value) { self.nodes(body, &value)? } else { self.nodes(other, dot)? }
                }
                Node::Range(names, words, body, other) => {
                    let list = self.value(words, dot)?;
                    self.range(names, &list, body, other, dot)?;
                    Flow::On
                }
                Node::Break => Flow::Break,
                Node::Continue => Flow::Continue,
            };
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    /// A template inside this one: the value that it is given is all that it knows.
    fn template(&mut self, name: &str, given: &[Word], dot: &Json) -> Result<(), RenderError> {
        let nodes = self.program.defined.get(name);
        let nodes = nodes.ok_or_else(|| wrong("the name of a template that is defined", name))?;
        if self.depth >= MAX_DEPTH {
            return Err(RenderError::Recursion);
        }
        let value = if given.is_empty() { Json::Null } else { self.value(given, dot)? };
        let variables =
            std::mem::replace(&mut self.variables, HashMap::from([("$".to_owned(), value.clone())]));
        self.depth += 1;
        self.nodes(nodes, &value)?;
        self.depth -= 1;
        self.variables = variables;
        Ok(())
    }

    fn range(
        &mut self,
        [key, item]: &[Option<String>; 2],
        list: &Json,
        body: &'c [Node],
        other: &'c [Node],
        dot: &Json,
    ) -> Result<(), RenderError> {
        let items: Vec<(Json, &Json)> = match list {
            Json::Array(items) => items.iter().enumerate().map(|(at, item)| (Json::from(at), item)).collect(),
            Json::Object(members) => {
                members.iter().map(|(key, item)| (Json::from(key.as_str()), item)).collect()
            }
            _ => Vec::new(),
        };
        if items.is_empty() {
            self.nodes(other, dot)?;
        }
        for (place, value) in items {
            for (name, value) in [(key, &place), (item, value)] {
                if let Some(name) = name {
                    self.variables.insert(name.clone(), value.clone());
                }
            }
            if self.nodes(body, value)? == Flow::Break {
                break;
            }
        }
        Ok(())
    }

    /// What a pipeline gives: each part is handed to the next as its last argument.
    fn value(&mut self, words: &[Word], dot: &Json) -> Result<Json, RenderError> {
        let mut piped: Option<Json> = None;
        for part in words.split(|word| *word == Word::Pipe) {
            let mut values = Vec::new();
            for word in part.iter().skip(usize::from(matches!(part.first(), Some(Word::Function(_))))) {
                values.push(self.word(word, dot)?);
            }
            values.extend(piped.take());
            piped = Some(match part.first() {
                Some(Word::Function(name)) => call(name, values)?,
                Some(_) if values.len() == 1 => values.pop().unwrap_or_default(),
                _ => return Err(RenderError::Failed("expected one value or a function".to_owned())),
            });
            self.steps += 1;
            if self.steps > STEPS
                || piped.as_ref().and_then(Json::as_str).is_some_and(|text| text.len() > MAX_TEXT)
            {
                return Err(RenderError::Endless);
            }
        }
        piped.ok_or_else(|| RenderError::Failed("expected a value, got none".to_owned()))
    }

    fn word(&mut self, word: &Word, dot: &Json) -> Result<Json, RenderError> {
        match word {
            Word::Field(path) => Ok(field(dot, path)),
            Word::Variable(name, path) if name == "$" => {
                Ok(field(self.variables.get("$").unwrap_or(self.root), path))
            }
            Word::Variable(name, path) => Ok(field(self.variables.get(name).unwrap_or(&Json::Null), path)),
            Word::Value(value) => Ok(value.clone()),
            Word::Group(words, path) => Ok(field(&self.value(words, dot)?, path)),
            Word::Function(name) => call(name, Vec::new()),
            Word::Pipe => Ok(Json::Null),
        }
    }
}

/// The member at the end of a path; Go's `ToolCalls` is JSON's `tool_calls`.
fn field(value: &Json, path: &[String]) -> Json {
    let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
    let step = |value: &Json, name: &String| -> Option<Json> {
        let mut members = value.as_object()?.iter();
        members.find(|(key, _)| plain(key) == plain(name)).map(|(_, value)| value.clone())
    };
    path.iter().try_fold(value.clone(), |value, name| step(&value, name)).unwrap_or_default()
}

fn is_true(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(holds) => *holds,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
    }
}

fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}

fn call(name: &str, mut values: Vec<Json>) -> Result<Json, RenderError> {
    let number = |value: Option<&Json>| value.and_then(Json::as_i64).unwrap_or_default();
    Ok(match (name, values.as_slice()) {
        ("eq", [first, rest @ ..]) => Json::Bool(rest.contains(first)),
        ("ne", [a, b]) => Json::Bool(a != b),
        ("lt", [a, b]) => Json::Bool(number(Some(a)) < number(Some(b))),
        ("le", [a, b]) => Json::Bool(number(Some(a)) <= number(Some(b))),
        ("gt", [a, b]) => Json::Bool(number(Some(a)) > number(Some(b))),
        ("ge", [a, b]) => Json::Bool(number(Some(a)) >= number(Some(b))),
        ("not", [value]) => Json::Bool(!is_true(value)),
        ("and", [.., last]) => values.iter().find(|value| !is_true(value)).unwrap_or(last).clone(),
        ("or", [.., last]) => values.iter().find(|value| is_true(value)).unwrap_or(last).clone(),
        ("len", [Json::String(text)]) => Json::from(text.len()),
        ("len", [Json::Array(items)]) => Json::from(items.len()),
        ("len", [Json::Object(members)]) => Json::from(members.len()),
        ("len", [_]) => Json::from(0),
        ("slice", [Json::Array(items), from, rest @ ..]) => {
            let place = |value: &Json| usize::try_from(number(Some(value))).unwrap_or(0).min(items.len());
            let from = place(from);
            let until = rest.first().map_or(items.len(), place);
            Json::Array(items.get(from..until).unwrap_or_default().to_vec())
        }
        // Bytes, as Go counts them.
        ("slice", [Json::String(text), from, rest @ ..]) => {
            let place = |value: &Json| usize::try_from(number(Some(value))).unwrap_or(0).min(text.len());
            let from = place(from);
            let until = rest.first().map_or(text.len(), place).max(from);
            let bytes = text.as_bytes().get(from..until).unwrap_or_default();
            Json::from(String::from_utf8_lossy(bytes).into_owned())
        }
        ("index", [Json::Array(items), place]) => usize::try_from(number(Some(place)))
            .ok()
            .and_then(|place| items.get(place))
            .cloned()
            .unwrap_or_default(),
        ("index", [Json::Object(members), Json::String(key)]) => {
            members.get(key).cloned().unwrap_or_default()
        }
        ("json" | "toJson", [value]) => Json::from(value.to_string()),
        ("print", _) => Json::from(values.iter().map(shown).collect::<String>()),
        ("printf", [Json::String(form), rest @ ..]) => Json::from(printed(form, rest)),
        ("currentDate", []) => Json::from("2025-01-15"),
        ("yesterdayDate", []) => Json::from("2025-01-14"),
        ("true" | "false", []) => Json::Bool(name == "true"),
        _ => {
            values.truncate(3);
            return Err(RenderError::Failed(format!(
                "expected a known function, got {name} of {} values",
                values.len()
            )));
        }
    })
}

/// A text with values in the place of its verbs.
fn printed(form: &str, values: &[Json]) -> String {
    let mut out = String::new();
    let mut values = values.iter();
    let mut chars = form.chars();
    while let Some(c) = chars.next() {
        match (c == '%').then(|| chars.next()).flatten() {
            None => out.push(c),
            Some('%') => out.push('%'),
            Some('q') => out
                .push_str(&values.next().map_or(String::new(), |value| Json::from(shown(value)).to_string())),
            Some(_) => out.push_str(&values.next().map_or(String::new(), shown)),
        }
    }
    out
}
