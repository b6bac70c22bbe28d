//! Lists and mappings as YAML writes them in lines of their own. What is rarer there (anchors, tags, texts of several lines
//! without a sign) is not read.

use std::collections::HashSet;

use serde_json::{Number, from_str};

use super::text;
use crate::fault::FaultKind;
use crate::typed::{Spelling, as_json};
use crate::value::quoted;

/// The list or mapping that `value` holds in lines of their own, at most `depth` deep, as JSON.
pub(in crate::codec::fields) fn nodes(value: &str, depth: usize) -> Option<String> {
    let raw: Vec<&str> = value.trim_start_matches([' ', '\t']).strip_prefix('\n')?.lines().collect();
    let lines = raw.iter().enumerate().flat_map(|(number, line)| split(number, line, depth)).collect();
    let mut nodes = Nodes { raw, lines, at: 0 };
    let first = nodes.peek()?;
    let node = nodes.node(first.indent, depth)?;
    nodes.peek().is_none().then_some(node)
}

/// What stands in a line, and how far it is indented.
#[derive(Clone, Copy)]
struct Line<'v> {
    number: usize,
    indent: usize,
    text: &'v str,
}

/// A line, and apart from it what an item begins with that is a list or a mapping itself, as deep as they may be.
fn split(number: usize, line: &str, depth: usize) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut text = line.trim_start_matches(' ');
    if text.trim().is_empty() || text.starts_with('#') {
        return lines;
    }
    loop {
        let indent = line.len() - text.len();
        let inside = text.strip_prefix("- ").map(|rest| rest.trim_start_matches(' '));
        let Some(rest) = inside.filter(|rest| lines.len() < depth && (is_item(rest) || pair(rest).is_some()))
        else {
            lines.push(Line { number, indent, text: text.trim_end() });
            return lines;
        };
        lines.push(Line { number, indent, text: "-" });
        text = rest;
    }
}

struct Nodes<'v> {
    raw: Vec<&'v str>,
    lines: Vec<Line<'v>>,
    at: usize,
}

impl<'v> Nodes<'v> {
    fn peek(&self) -> Option<Line<'v>> {
        self.lines.get(self.at).copied()
    }

    /// The next line, if it is indented so far and begins an item or not.
    fn next(&mut self, indent: usize, item: bool) -> Option<Line<'v>> {
        let line = self.peek().filter(|line| line.indent == indent && is_item(line.text) == item)?;
        self.at += 1;
        Some(line)
    }

    /// The list or mapping whose lines are indented so far.
    fn node(&mut self, indent: usize, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let list = is_item(self.peek()?.text);
        let (mut members, mut keys) = (Vec::new(), HashSet::new());
        while let Some(line) = self.next(indent, list) {
            if list {
                members.push(self.value(line, line.text[1..].trim(), depth)?);
            } else {
                let (key, rest) = pair(line.text)?;
                members.push(format!("{}:{}", quoted(&key), self.value(line, rest, depth)?));
                if !keys.insert(key) {
                    return None;
                }
            }
        }
        let ends = self.peek().is_none_or(|line| line.indent <= indent);
        let members = members.join(",");
        ends.then(|| if list { format!("[{members}]") } else { format!("{{{members}}}") })
    }

    /// The value that begins with `rest` behind a key or the sign of an item.
    fn value(&mut self, line: Line<'v>, rest: &'v str, depth: usize) -> Option<String> {
        let key = !is_item(line.text);
        match (rest.as_bytes().first(), self.peek()) {
            (None, Some(next)) if next.indent > line.indent => self.node(next.indent, depth),
            (None, Some(next)) if key && next.indent == line.indent && is_item(next.text) => {
                self.node(next.indent, depth)
            }
            (None, _) => Some("null".to_owned()),
            (Some(b'|' | b'>'), _) => {
                let behind = self.raw[line.number + 1..].iter();
                let inside = |raw: &&&str| {
                    raw.trim().is_empty() || raw.len() - raw.trim_start_matches(' ').len() > line.indent
                };
                let block: Vec<&str> = behind.take_while(inside).copied().collect();
                let end = line.number + block.len();
                self.at += self.lines[self.at..].iter().take_while(|line| line.number <= end).count();
                text(&format!("{rest}\n{}\n", block.join("\n"))).map(|text| quoted(&text))
            }
            _ => scalar(rest, depth),
        }
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// The key that `text` begins with, and what stands behind its colon.
fn pair(text: &str) -> Option<(String, &str)> {
    let quoted = match text.as_bytes().first()? {
        b'"' => Some(1 + text[1..].find('"')? + 1),
        b'\'' => Some(1 + text[1..].find('\'')? + 1),
        b'[' | b'{' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' | b'?' | b'#' => return None,
        _ => None,
    };
    let end = quoted.or_else(|| text.find(": ")).or_else(|| text.strip_suffix(':').map(str::len))?;
    let rest =
        text[end..].trim_start().strip_prefix(':').filter(|rest| rest.is_empty() || rest.starts_with(' '))?;
    let key = text[..end].trim_end();
    let key = match quoted {
        Some(_) if key.starts_with('"') => from_str(key).ok()?,
        Some(_) => super::text(key)?,
        None => key.to_owned(),
    };
    Some((key, rest.trim()))
}

/// A value on the line of its key or item.
fn scalar(value: &str, depth: usize) -> Option<String> {
    let comment = value.find(" #").filter(|_| !value.starts_with(['"', '\'']));
    let value = comment.map_or(value, |at| value[..at].trim_end());
    let word = match value.as_bytes().first()? {
        b'"' => return from_str::<String>(value).ok().map(|_| value.to_owned()),
        b'\'' => return text(value).map(|text| quoted(&text)),
        b'[' | b'{' => {
            let read = as_json(value, Spelling { python: false, max_depth: depth }).ok()??;
            let sure = !read.mended.is_some_and(FaultKind::changes_arguments);
            return Some(read.json).filter(|_| sure);
        }
        b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b'|' | b'>' => return None,
        // Not everybody counts this to eight.
        b'0' if value.len() > 1 && value.bytes().all(|byte| byte.is_ascii_digit()) => return None,
        _ => match value {
            "~" | "null" | "Null" | "NULL" => "null",
            "true" | "True" | "TRUE" => "true",
            "false" | "False" | "FALSE" => "false",
            _ if from_str::<Number>(value).is_ok() => value,
            _ => return Some(quoted(value)),
        },
    };
    Some(word.to_owned())
}
