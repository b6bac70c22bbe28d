//! Templates in Go, as far as chat templates go: fields, conditions, ranges, variables and a handful of functions.
//!
//! What is not known is an error, never a guess.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::RenderError;

/// A template, parsed.
#[derive(Debug)]
pub(super) struct Program(Vec<Node>);

#[derive(Debug)]
enum Node {
    Text(String),
    Show(Vec<Word>),
    Set(String, Vec<Word>),
    If(Vec<Word>, Vec<Node>, Vec<Node>),
    Range([Option<String>; 2], Vec<Word>, Vec<Node>, Vec<Node>),
    With(Vec<Word>, Vec<Node>, Vec<Node>),
    Break,
}

#[derive(Debug, Clone, PartialEq)]
enum Word {
    /// `.A.B`, or `.` alone.
    Field(Vec<String>),
    /// `$x.A`, or `$` alone.
    Variable(String, Vec<String>),
    Value(Json),
    Function(String),
    Group(Vec<Word>),
    Pipe,
}

/// Steps of one rendering.
const STEPS: usize = 200_000;
const MAX_TEXT: usize = 4 << 20;
const MAX_DEPTH: usize = 64;

fn wrong(expected: &str, got: &str) -> RenderError {
    RenderError::Syntax(format!("expected {expected}, got {got:?}"))
}

fn too_deep() -> RenderError {
    RenderError::Excess {
        expected: "blocks and parentheses in a template that stand in each other 64 times at most",
        got: "more".to_owned(),
    }
}

/// A stretch of a template: text, or what stands in braces.
enum Piece<'t> {
    Text(&'t str),
    Action(&'t str),
}

/// Cuts a template at its braces; `{{-` and `-}}` take away the white space outside.
fn pieces(source: &str) -> Result<Vec<Piece<'_>>, RenderError> {
    let mut pieces = Vec::new();
    let mut rest = source;
    let mut trims = false;
    while let Some(at) = rest.find("{{") {
        let end = rest[at..].find("}}").ok_or_else(|| wrong("}}", "the end"))? + at;
        let (mut text, mut action) = (&rest[..at], &rest[at + 2..end]);
        if trims {
            text = text.trim_start();
        }
        if let Some(inner) = action.strip_prefix('-') {
            text = text.trim_end();
            action = inner;
        }
        trims = action.ends_with('-');
        pieces.push(Piece::Text(text));
        let action = action.strip_suffix('-').unwrap_or(action).trim();
        if !action.starts_with("/*") {
            pieces.push(Piece::Action(action));
        }
        rest = &rest[end + 2..];
    }
    pieces.push(Piece::Text(if trims { rest.trim_start() } else { rest }));
    Ok(pieces)
}

impl Program {
    pub(super) fn new(source: &str) -> Result<Self, RenderError> {
        let pieces = pieces(source)?;
        let mut pieces = pieces.into_iter();
        let (nodes, end) = block(&mut pieces, 0)?;
        if end.is_empty() { Ok(Self(nodes)) } else { Err(wrong("a block before it", &end)) }
    }

    /// The text for a context.
    pub(super) fn render(&self, context: &Json) -> Result<String, RenderError> {
        let mut run = Run { root: context, variables: HashMap::new(), out: String::new(), steps: 0 };
        run.nodes(&self.0, context)?;
        Ok(run.out)
    }
}

/// Nodes up to an `end` or `else`, which is given back.
fn block<'t>(
    pieces: &mut impl Iterator<Item = Piece<'t>>,
    depth: usize,
) -> Result<(Vec<Node>, String), RenderError> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    let mut nodes = Vec::new();
    while let Some(piece) = pieces.next() {
        let action = match piece {
            Piece::Text(text) => {
                nodes.push(Node::Text(text.to_owned()));
                continue;
            }
            Piece::Action(action) => action,
        };
        let (word, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
        match word {
            "end" | "else" => return Ok((nodes, action.to_owned())),
            "break" => nodes.push(Node::Break),
            "if" | "with" | "range" => nodes.push(opened(word, rest, pieces, depth)?),
            _ => nodes.push(match action.split_once(":=").or_else(|| assignment(action)) {
                Some((name, value)) if name.trim().starts_with('$') => {
                    Node::Set(name.trim().to_owned(), words(value)?)
                }
                _ => Node::Show(words(action)?),
            }),
        }
    }
    Ok((nodes, String::new()))
}

/// `$x = value`; a comparison is written as a function, so an equals sign means nothing else.
fn assignment(action: &str) -> Option<(&str, &str)> {
    action.split_once('=').filter(|(name, _)| name.trim().starts_with('$') && !name.contains('"'))
}

fn opened<'t>(
    word: &str,
    rest: &str,
    pieces: &mut impl Iterator<Item = Piece<'t>>,
    depth: usize,
) -> Result<Node, RenderError> {
    let (body, end) = block(pieces, depth + 1)?;
    let other = match end.strip_prefix("else").map(str::trim) {
        Some("") => {
            let (other, end) = block(pieces, depth + 1)?;
            if end != "end" {
                return Err(wrong("end", &end));
            }
            other
        }
        Some(chained) => {
            let (word, rest) = chained.split_once(char::is_whitespace).unwrap_or((chained, ""));
            vec![opened(word, rest, pieces, depth + 1)?]
        }
        None if end == "end" => Vec::new(),
        None => return Err(wrong("end", &end)),
    };
    match word {
        "if" => Ok(Node::If(words(rest)?, body, other)),
        "with" => Ok(Node::With(words(rest)?, body, other)),
        "range" => {
            let (names, list) = rest.split_once(":=").unwrap_or(("", rest));
            let mut names =
                names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
            let names = match (names.next(), names.next()) {
                (Some(item), None) => [None, Some(item)],
                pair => [pair.0, pair.1],
            };
            Ok(Node::Range(names, words(list)?, body, other))
        }
        _ => Err(wrong("if, with or range", word)),
    }
}

/// The words of an action.
fn words(text: &str) -> Result<Vec<Word>, RenderError> {
    let mut stack: Vec<Vec<Word>> = vec![Vec::new()];
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        let mut len = c.len_utf8();
        let word = match c {
            '(' if stack.len() >= MAX_DEPTH => return Err(too_deep()),
            '(' => {
                stack.push(Vec::new());
                None
            }
            ')' => {
                let group = stack.pop().unwrap_or_default();
                if stack.is_empty() {
                    return Err(wrong("( before )", text));
                }
                // A field of what the parentheses give would follow directly.
                if rest[1..].starts_with('.') {
                    return Err(wrong("white space behind )", rest));
                }
                Some(Word::Group(group))
            }
            '|' => Some(Word::Pipe),
            '"' | '`' => {
                let close = rest[1..].char_indices().scan(false, |escaped, (at, found)| {
                    let closes = found == c && !*escaped;
                    *escaped = found == '\\' && c == '"' && !*escaped;
                    Some((at, closes))
                });
                let end = close.into_iter().find(|(_, closes)| *closes).map(|(at, _)| at + 2);
                len = end.ok_or_else(|| wrong("a closing quote", rest))?;
                let raw = &rest[..len];
                let value = if c == '"' {
                    serde_json::from_str(raw).ok()
                } else {
                    Some(Json::from(&raw[1..len - 1]))
                };
                Some(Word::Value(value.ok_or_else(|| wrong("a text", raw))?))
            }
            _ if c.is_whitespace() => None,
            _ => {
                len = rest
                    .find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '|'))
                    .unwrap_or(rest.len());
                Some(word(&rest[..len])?)
            }
        };
        if let (Some(word), Some(last)) = (word, stack.last_mut()) {
            last.push(word);
        }
        rest = &rest[len..];
    }
    match stack.len() {
        1 => Ok(stack.pop().unwrap_or_default()),
        _ => Err(wrong(")", "the end")),
    }
}

fn word(text: &str) -> Result<Word, RenderError> {
    let path = |text: &str| text.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    if let Some(rest) = text.strip_prefix('.') {
        return Ok(Word::Field(path(rest)));
    }
    if text.starts_with('$') {
        let (name, rest) = text.split_once('.').unwrap_or((text, ""));
        return Ok(Word::Variable(name.to_owned(), path(rest)));
    }
    if let Ok(value) = serde_json::from_str::<Json>(text) {
        return Ok(Word::Value(value));
    }
    if text == "nil" {
        return Ok(Word::Value(Json::Null));
    }
    let name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if name { Ok(Word::Function(text.to_owned())) } else { Err(wrong("a field, a text or a function", text)) }
}

struct Run<'c> {
    root: &'c Json,
    variables: HashMap<String, Json>,
    out: String,
    steps: usize,
}

impl Run<'_> {
    /// Runs nodes; true when a `break` was met.
    fn nodes(&mut self, nodes: &[Node], dot: &Json) -> Result<bool, RenderError> {
        for node in nodes {
            self.steps += 1;
            if self.steps > STEPS || self.out.len() > MAX_TEXT {
                return Err(RenderError::Endless);
            }
            let broken = match node {
                Node::Text(text) => {
                    self.out.push_str(text);
                    false
                }
                Node::Show(words) => {
                    let value = self.value(words, dot)?;
                    self.out.push_str(&shown(&value));
                    false
                }
                Node::Set(name, words) => {
                    let value = self.value(words, dot)?;
                    self.variables.insert(name.clone(), value);
                    false
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
                    false
                }
                Node::Break => true,
            };
            if broken {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn range(
        &mut self,
        [key, item]: &[Option<String>; 2],
        list: &Json,
        body: &[Node],
        other: &[Node],
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
            if self.nodes(body, value)? {
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
            Word::Variable(name, path) if name == "$" => Ok(field(self.root, path)),
            Word::Variable(name, path) => Ok(field(self.variables.get(name).unwrap_or(&Json::Null), path)),
            Word::Value(value) => Ok(value.clone()),
            Word::Group(words) => self.value(words, dot),
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
