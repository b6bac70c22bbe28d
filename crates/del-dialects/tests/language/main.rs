//! The language of descriptions: which key means something where, asked of every table and every key of all
//! descriptions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod errors;
mod guide;

use std::collections::{BTreeMap, BTreeSet};

use del_dialects::{Dialect, DialectError, Dialects};
use serde_json::Value;

/// Tables whose keys are free.
const FREE: [&str; 3] = ["/aliases", "/channels/routes", "/rewrite/"];

/// What decides what a piece is.
const KINDS: [&str; 3] = ["mark", "head", "args"];

/// A description as a tree, and back: a line for each key at the top.
fn tree(text: &str) -> Value {
    toml::from_str(text).unwrap()
}

fn written(tree: &Value) -> String {
    let line = |(key, value): (&String, &Value)| format!("{} = {}", Value::from(key.as_str()), inline(value));
    tree.as_object().unwrap().iter().map(line).collect::<Vec<_>>().join("\n")
}

fn inline(value: &Value) -> String {
    let joined = |all: Vec<String>| all.join(", ");
    match value {
        Value::Array(list) => format!("[{}]", joined(list.iter().map(inline).collect())),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                format!("{} = {}", Value::from(key.as_str()), inline(value))
            };
            format!("{{ {} }}", joined(members.iter().map(member).collect()))
        }
        other => other.to_string(),
    }
}

fn read(tree: &Value) -> Result<Dialect, DialectError> {
    Dialect::from_toml("example", &written(tree))
}

/// The line of what stands in a place.
fn line(tree: &Value, pointer: &str) -> usize {
    let top = pointer.split('/').nth(1).unwrap();
    tree.as_object().unwrap().keys().position(|key| key == top).unwrap() + 1
}

/// The places of all tables in a description, as JSON pointers.
fn tables(tree: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(tree, "", &mut |pointer, value| {
        if value.is_object() && !FREE.iter().any(|free| pointer.starts_with(free)) {
            found.push(pointer.to_owned());
        }
    });
    found
}

fn walk(value: &Value, pointer: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(pointer, value);
    let inner = |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| walk(value, &inner(key), visit)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, value)| walk(value, &inner(&at.to_string()), visit));
        }
        _ => {}
    }
}

fn with(tree: &Value, table: &str, key: &str, value: Value) -> Value {
    let mut tree = tree.clone();
    tree.pointer_mut(table).unwrap().as_object_mut().unwrap().insert(key.to_owned(), value);
    tree
}

/// What no built-in description says.
const LINES: &str = r#"
title = "Lines"
source = "a test"
call.pieces = [
  { mark = "<use " },
  { head = "{name}" },
  { args = "lines", form = "\n{key}: {value}", values = "json" },
  { mark = "</use>" },
]
"#;

fn descriptions() -> Vec<(&'static str, Value)> {
    let all = Dialects::builtin().iter().map(|dialect| (dialect.name(), dialect.text()));
    all.chain([("lines", LINES)]).map(|(name, text)| (name, tree(text))).collect()
}

/// What an error says of a key that does not belong: the keys that do, and where.
fn belonging(error: &DialectError, key: &str) -> Option<(Vec<String>, String)> {
    let rest = error.message.strip_prefix("expected ")?.strip_suffix(&format!(", got `{key}`"))?;
    let (keys, place) = rest.split_once(" in ")?;
    Some((keys.split(", ").map(|key| key.trim_matches('`').to_owned()).collect(), place.to_owned()))
}

/// A kind of place in the language: how errors call it, and the keys that belong there; with one such place.
type Places<'t> = BTreeMap<(String, Vec<String>), (&'static str, &'t Value, String)>;

fn places<'t>(all: &'t [(&'static str, Value)]) -> Places<'t> {
    let mut places = Places::new();
    for (name, tree) in all {
        for table in tables(tree) {
            let odd = with(tree, &table, "zz", Value::from("x"));
            let error = read(&odd).map(|_| ()).expect_err("an unknown key");
            let expected = if table.is_empty() { line(&odd, "/zz") } else { line(&odd, &table) };
            assert_eq!(error.line, expected, "{name} {table}: {error}");
            let (keys, place) = belonging(&error, "zz").unwrap_or_else(|| panic!("{name} {table}: {error}"));
            places.entry((place, keys)).or_insert((name, tree, table));
        }
    }
    places
}

/// Some values that a key has somewhere.
fn samples(all: &[(&'static str, Value)]) -> BTreeMap<String, Vec<Value>> {
    const MOST: usize = 6;
    let mut samples: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (_, tree) in all {
        walk(tree, "", &mut |pointer, value| {
            let known = samples.entry(pointer.rsplit('/').next().unwrap().to_owned()).or_default();
            if known.len() < MOST && !known.contains(value) {
                known.push(value.clone());
            }
        });
    }
    // A key that no description has.
    samples.insert("null".to_owned(), vec![Value::from("null")]);
    samples
}

#[test]
fn a_key_where_it_does_not_belong_is_an_error() {
    let all = descriptions();
    let places = places(&all);
    let language: BTreeSet<&str> = places.keys().flat_map(|(_, keys)| keys).map(String::as_str).collect();
    let samples = samples(&all);
    assert!(places.len() > 20 && language.len() > 60, "{} places, {} keys", places.len(), language.len());
    let mut tried = 0;
    for ((place, keys), (name, tree, table)) in &places {
        let is_piece = keys.iter().any(|key| KINDS.contains(&key.as_str()));
        for key in language.iter().filter(|key| !keys.iter().any(|known| known == *key)) {
            if is_piece && KINDS.contains(key) {
                continue;
            }
            let odd = with(tree, table, key, samples[*key][0].clone());
            let error = read(&odd).map(|_| ()).expect_err(&format!("{name}: `{key}` in {place}"));
            let named =
                error.message.contains(&format!("`{key}`")) || error.message.contains(&format!("[{key}]"));
            assert!(named, "{name}: `{key}` in {place}: {error}");
            tried += 1;
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn a_key_where_it_belongs_says_something() {
    let all = descriptions();
    let samples = samples(&all);
    for ((place, keys), (name, tree, table)) in &places(&all) {
        let whole = read(tree).unwrap();
        let there = tree.pointer(table).unwrap().as_object().unwrap();
        for key in keys.iter().filter(|key| !there.contains_key(*key)) {
            // Of keys that exclude each other, the other one is an error then; a rule may be for others' marks.
            let says = |value: &Value| match read(&with(tree, table, key, value.clone())) {
                Ok(read) => read != whole,
                Err(error) => {
                    error.message.contains(key.as_str())
                        || there.keys().any(|other| belonging(&error, other).is_some())
                }
            };
            assert!(samples[key].iter().any(says), "{name}: `{key}` in {place} says nothing");
        }
    }
}

#[test]
fn a_piece_is_of_one_kind() {
    let (_, tree) = descriptions().remove(0);
    for kinds in [&["mark", "args"][..], &["head", "args"], &["mark", "head", "args"]] {
        let mut odd = tree.clone();
        let piece: serde_json::Map<String, Value> = kinds
            .iter()
            .map(|kind| {
                ((*kind).to_owned(), Value::from(if *kind == "args" { "object" } else { "<{name}>" }))
            })
            .collect();
        odd["call"]["pieces"].as_array_mut().unwrap().push(piece.into());
        let error = read(&odd).map(|_| ()).expect_err("two kinds");
        assert!(
            error.message.contains("got `mark`") || error.message.contains("got `head`"),
            "{kinds:?}: {error}"
        );
    }
}

#[test]
fn a_value_of_another_type_is_an_error() {
    let odd = Value::from(1.5);
    for (name, tree) in descriptions() {
        walk(&tree, "", &mut |pointer, _| {
            if pointer.is_empty() {
                return;
            }
            let mut wrong = tree.clone();
            *wrong.pointer_mut(pointer).unwrap() = odd.clone();
            let error = read(&wrong).map(|_| ()).expect_err(&format!("{name}: 1.5 for {pointer}"));
            assert_eq!(error.line, line(&wrong, pointer), "{name} {pointer}: {error}");
            assert!(error.message.contains("expected "), "{name} {pointer}: {error}");
        });
    }
}

#[test]
fn every_key_of_a_description_says_something() {
    let mut silent = Vec::new();
    for (name, tree) in descriptions() {
        let whole = read(&tree).unwrap();
        walk(&tree, "", &mut |pointer, value| {
            for key in value.as_object().into_iter().flat_map(|members| members.keys()) {
                let mut without = tree.clone();
                without.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key);
                if read(&without).is_ok_and(|read| read == whole) {
                    silent.push(format!("{name}: {pointer}/{key}"));
                }
            }
        });
    }
    assert!(silent.is_empty(), "these keys say what is so without them:\n{}", silent.join("\n"));
}
