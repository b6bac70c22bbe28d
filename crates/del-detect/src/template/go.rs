//! Templates in Go, as far as chat templates go: fields, conditions, ranges, variables, templates in templates and a
//! handful of functions.
//!
//! What is not known is an error, never a guess.

mod run;

use std::collections::HashMap;

use serde_json::Value as Json;

use super::RenderError;

/// A template, parsed.
#[derive(Debug)]
pub(super) struct Program {
    nodes: Vec<Node>,
    /// The templates that it defines, by name.
    defined: HashMap<String, Vec<Node>>,
}

#[derive(Debug)]
enum Node {
    Text(String),
    Show(Vec<Word>),
    Set(String, Vec<Word>),
    If(Vec<Word>, Vec<Node>, Vec<Node>),
    Range([Option<String>; 2], Vec<Word>, Vec<Node>, Vec<Node>),
    With(Vec<Word>, Vec<Node>, Vec<Node>),
    /// A template of this name, given a value or nothing.
    Template(String, Vec<Word>),
    Break,
    Continue,
}

#[derive(Debug, Clone, PartialEq)]
enum Word {
    /// `.A.B`, or `.` alone.
    Field(Vec<String>),
    /// `$x.A`, or `$` alone.
    Variable(String, Vec<String>),
    Value(Json),
    Function(String),
    /// What stands in parentheses, and a field of what it gives.
    Group(Vec<Word>, Vec<String>),
    Pipe,
}

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
        let mut defined = HashMap::new();
        let mut pieces = Pieces { list: pieces(source)?.into_iter(), defined: &mut defined };
        let (nodes, end) = pieces.block(0)?;
        if end.is_empty() { Ok(Self { nodes, defined }) } else { Err(wrong("a block before it", &end)) }
    }
}

/// The pieces that are left, and the templates that were defined among them.
struct Pieces<'t, 'd> {
    list: std::vec::IntoIter<Piece<'t>>,
    defined: &'d mut HashMap<String, Vec<Node>>,
}

impl Pieces<'_, '_> {
    /// Nodes up to an `end` or `else`, which is given back.
    fn block(&mut self, depth: usize) -> Result<(Vec<Node>, String), RenderError> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let mut nodes = Vec::new();
        while let Some(piece) = self.list.next() {
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
                "continue" => nodes.push(Node::Continue),
                "if" | "with" | "range" => nodes.push(self.opened(word, rest, depth)?),
                "define" => self.define(rest, depth).map(|_| ())?,
                "block" => {
                    let (name, given) = self.define(rest, depth)?;
                    nodes.push(Node::Template(name, given));
                }
                "template" => {
                    let (name, given) = named(rest)?;
                    nodes.push(Node::Template(name, given));
                }
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

    /// A template up to its end: its name, and what it is given if it is shown where it stands.
    fn define(&mut self, rest: &str, depth: usize) -> Result<(String, Vec<Word>), RenderError> {
        let (name, given) = named(rest)?;
        let (nodes, end) = self.block(depth + 1)?;
        if end != "end" {
            return Err(wrong("end", &end));
        }
        self.defined.insert(name.clone(), nodes);
        Ok((name, given))
    }

    fn opened(&mut self, word: &str, rest: &str, depth: usize) -> Result<Node, RenderError> {
        let (body, end) = self.block(depth + 1)?;
        let other = match end.strip_prefix("else").map(str::trim) {
            Some("") => {
                let (other, end) = self.block(depth + 1)?;
                if end != "end" {
                    return Err(wrong("end", &end));
                }
                other
            }
            Some(chained) => {
                let (word, rest) = chained.split_once(char::is_whitespace).unwrap_or((chained, ""));
                vec![self.opened(word, rest, depth + 1)?]
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
}

/// The name of a template, and what stands behind it.
fn named(rest: &str) -> Result<(String, Vec<Word>), RenderError> {
    let mut words = words(rest)?;
    match words.first() {
        Some(Word::Value(Json::String(name))) => Ok((name.clone(), words.split_off(1))),
        _ => Err(wrong("the name of a template in quotes", rest)),
    }
}

/// `$x = value`; a comparison is written as a function, so an equals sign means nothing else.
fn assignment(action: &str) -> Option<(&str, &str)> {
    action.split_once('=').filter(|(name, _)| name.trim().starts_with('$') && !name.contains('"'))
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
                let behind = &rest[1..];
                let field = behind.strip_prefix('.').map_or(0, |path| 1 + word_len(path));
                len += field;
                Some(Word::Group(group, path(&behind[..field])))
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
                len = word_len(rest);
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

/// How long the word is that a text begins with.
fn word_len(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '|')).unwrap_or(text.len())
}

fn path(text: &str) -> Vec<String> {
    text.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn word(text: &str) -> Result<Word, RenderError> {
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
