//! The files that a file of configuration names, in whichever form it is written.

use std::path::Path;

use crate::names::Names;
use crate::outcome::{Code, Failure};
use crate::workspace::without_home;

/// Bytes of a value that are looked at.
const MAX_VALUE: usize = 4096;

/// What stands behind one of the keys, wherever in the file, and may be a path.
pub(super) fn values(path: &Path, text: &str, keys: &Names) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    if keys.is_empty() {
        return Ok(found);
    }
    if path.extension().is_some_and(|extension| extension == "toml") {
        strings_behind(&parsed(path, text)?, keys, false, &mut found);
        return Ok(found);
    }
    let text = unescaped(&without_comments(text));
    for key in keys.iter() {
        for (start, _) in text.match_indices(key) {
            if let Some(value) = value_in(&text[start + key.len()..]) {
                let strings = value.split(['"', '\'', '`']);
                let words = value.split(|c: char| c.is_whitespace() || "\"'`,[]{}()".contains(c));
                found.extend(
                    strings.chain(words).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned),
                );
            }
        }
    }
    found.dedup();
    Ok(found)
}

/// TOML, or JSON.
pub(super) fn parsed(path: &Path, text: &str) -> Result<toml::Value, Failure> {
    let broken = |error: &dyn std::fmt::Display| {
        Failure::new(Code::Failed, format!("{} cannot be read: {error}.", without_home(path)))
    };
    if path.extension().is_some_and(|extension| extension == "json") {
        return serde_json::from_str(text).map_err(|error| broken(&error));
    }
    let table: toml::Table = toml::from_str(text).map_err(|error| broken(&error.message()))?;
    Ok(toml::Value::Table(table))
}

fn strings_behind(value: &toml::Value, keys: &Names, meant: bool, found: &mut Vec<String>) {
    match value {
        toml::Value::String(text) if meant => found.push(text.clone()),
        toml::Value::Array(items) => items.iter().for_each(|item| strings_behind(item, keys, meant, found)),
        toml::Value::Table(table) => {
            table.iter().for_each(|(key, value)| strings_behind(value, keys, meant || keys.has(key), found));
        }
        _ => {}
    }
}

/// The value behind a key: a list, a text, or lines of YAML. Nothing where the word was no key.
fn value_in(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['"', '\'']).trim_start();
    let rest = rest.strip_prefix([':', '='])?.trim_start_matches([' ', '\t', '>']);
    let end = (0..=rest.len().min(MAX_VALUE)).rev().find(|end| rest.is_char_boundary(*end))?;
    let rest = &rest[..end];
    let begun = rest.trim_start();
    let Some(first) = begun.chars().next() else { return Some("") };
    Some(match first {
        '[' | '{' => begun.split([']', '}']).next().unwrap_or(begun),
        '"' | '\'' | '`' => begun.trim_start_matches(first).split(first).next().unwrap_or(begun),
        // A text, or a list that goes on for as long as lines are items of it or indented.
        _ => {
            let goes_on = |line: &str| line.starts_with([' ', '\t', '-']) || line.trim().is_empty();
            let lines = rest.split_inclusive('\n').enumerate();
            let length: usize = lines
                .take_while(|(number, line)| *number == 0 || goes_on(line))
                .map(|(_, line)| line.len())
                .sum();
            &rest[..length]
        }
    })
}

/// `text` without what is a comment in JSON, YAML or a script. What is in quotes stays.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quote, mut at) = (None, 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let comment = match quote {
            Some(_) => None,
            None if rest.starts_with("/*") => Some(rest.find("*/").map_or(rest.len(), |end| end + 2)),
            None if rest.starts_with("//") || c == '#' => Some(rest.find('\n').unwrap_or(rest.len())),
            None => None,
        };
        if let Some(length) = comment {
            out.push(' ');
            at += length;
            continue;
        }
        quote = match quote {
            Some(_) if c == '\n' => None,
            Some(open) if c == open => None,
            None if matches!(c, '"' | '\'' | '`') => Some(c),
            other => other,
        };
        let mut length = c.len_utf8();
        // What is escaped ends nothing.
        if c == '\\' && quote.is_some() {
            length += rest[length..].chars().next().map_or(0, char::len_utf8);
        }
        out.push_str(&rest[..length]);
        at += length;
    }
    out
}

/// `text` with its escapes of characters read: `\u002f`, `\x2f`, `\/`.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('\\');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let digits = match piece.chars().next() {
            Some('u') => 4,
            Some('x') => 2,
            Some('U') => 8,
            _ => 0,
        };
        let code = piece.get(1..=digits).filter(|_| digits > 0);
        let read = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        match read {
            Some(c) => {
                out.push(c);
                out.push_str(&piece[digits + 1..]);
            }
            None if piece.starts_with('/') => out.push_str(piece),
            None => {
                out.push('\\');
                out.push_str(piece);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        values(Path::new(name), text, &"extends extend plugins".to_owned().into()).unwrap()
    }

    #[test]
    fn paths_are_found_behind_their_keys_in_every_form() {
        for (name, text, path) in [
            ("a.json", "{\"extends\": [\"/root/x\"]}", "/root/x"),
            ("a.json", "{\"extends\": \"my dir/x\", \"y\": \"/root/y\"}", "my dir/x"),
            ("a.jsonc", "{\"ext\\u0065nds\": [\"\\u002froot/x\"]}", "/root/x"),
            ("a.jsonc", "{\"extends\": [\"\\/root\\/x\"]}", "/root/x"),
            ("a.jsonc", "{\"extends\" /* : */ : [ /* ] */ \"a\", // ]\n \"/root/x\"]}", "/root/x"),
            ("a.yml", "extends:\n  - ../x.yml\nother: 1\n", "../x.yml"),
            ("a.yml", "extends: ../x.yml # why\n", "../x.yml"),
            ("a.yml", "extends: \"\\x2froot/x\"\n", "/root/x"),
            ("a.toml", "extend = \"\"\"\\\n  /root/x\"\"\"\n", "/root/x"),
            ("a.toml", "[tool.x]\n\"ext\\u0065nd\" = \"\\u002froot/x\"\n", "/root/x"),
            (".prettierrc", "plugins: [./x]", "./x"),
            ("a.js", "module.exports = {extends: [`./x`]}", "./x"),
        ] {
            assert!(found(name, text).contains(&path.to_owned()), "{text}: {:?}", found(name, text));
        }
        for (name, text) in [
            ("a.json", "{\"extends\": [\"./x\"], \"include\": [\"/root/x\"], \"out\": \"${configDir}/x\"}"),
            ("a.js", "class A extends B {} // extends: /root/x"),
            ("a.yml", "extends: ./x\ninclude: /root/x\n"),
            ("a.toml", "extend = \"./x\"\ninclude = \"/root/x\"\n"),
        ] {
            assert!(
                found(name, text).iter().all(|path| !path.contains("root") && !path.contains('$')),
                "{text}"
            );
        }
        for odd in [
            "extends",
            "extends:",
            "extends:[",
            "extends:\"",
            "extends: \\u",
            "\\U0011ffff extends: é\\",
            "/* extends",
            "'extends: \u{fffd}",
        ] {
            found("a.yml", odd);
        }
    }
}
