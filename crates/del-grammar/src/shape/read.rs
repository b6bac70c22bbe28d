//! Reads a JSON Schema.

use std::collections::{HashMap, HashSet};

use del_dialects::Tool;
use serde_json::{Map, Value};

use super::bounds::{bound, count, outer_bound};
use super::{Definition, Member, Shape};
use crate::rules::keep_first;
use crate::{Warning, Warnings, pattern};

/// The most schemas in one tool's parameters; what is beyond is taken for any value.
const MAX_SCHEMAS: usize = 20_000;
/// How deep schemas are followed without a reference.
const MAX_DEPTH: usize = 48;
/// Counts beyond this are no bound: a grammar would hold each of them.
const MAX_COUNT: u64 = 1000;

/// What says nothing about values.
const NOTES: [&str; 17] = [
    "title",
    "description",
    "default",
    "example",
    "examples",
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "deprecated",
    "readOnly",
    "writeOnly",
    "discriminator",
    "strict",
    "nullable",
];

/// What a grammar cannot say.
const BEYOND: [&str; 18] = [
    "multipleOf",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "if",
    "then",
    "else",
    "not",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "unevaluatedProperties",
];

pub(super) struct Reader<'a> {
    root: &'a Value,
    tool: &'a str,
    warnings: &'a mut Warnings,
    pub(super) definitions: Vec<Definition>,
    /// References that were read, and the places of what they refer to.
    places: HashMap<String, usize>,
    budget: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(tool: &'a Tool, warnings: &'a mut Warnings) -> Self {
        Self {
            root: &tool.parameters,
            tool: &tool.name,
            warnings,
            definitions: Vec::new(),
            places: HashMap::new(),
            budget: MAX_SCHEMAS,
        }
    }

    pub(super) fn shape(&mut self, schema: &Value, path: &mut String, depth: usize) -> Shape {
        let Some(schema) = schema.as_object() else { return Shape::Any };
        if depth > MAX_DEPTH || self.budget == 0 {
            self.warn(path, "properties");
            return Shape::Any;
        }
        self.budget -= 1;
        let mut nullable = schema.get("nullable") == Some(&Value::Bool(true));
        let shape = if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
            for keyword in schema.keys().filter(|word| *word != "$ref" && !is_note(word)) {
                self.warn(path, keyword);
            }
            self.reference(pointer, path)
        } else if let Some(members) = schema.get("allOf").and_then(Value::as_array) {
            let mut whole = schema.clone();
            whole.remove("allOf");
            match members.as_slice() {
                [one] if whole.keys().all(|word| is_note(word)) => self.shape(one, path, depth + 1),
                members => {
                    for member in members {
                        merge(&mut whole, self.resolved(member));
                    }
                    self.shape(&Value::Object(whole), path, depth + 1)
                }
            }
        } else if let Some((word, members)) =
            ["anyOf", "oneOf"].iter().find_map(|word| Some((*word, schema.get(*word)?.as_array()?)))
        {
            let mut base = schema.clone();
            base.remove(word);
            let plain = base.keys().all(|word| is_note(word));
            let shapes: Vec<Shape> = members
                .iter()
                .map(|member| {
                    if plain {
                        return self.shape(member, path, depth + 1);
                    }
                    let mut whole = base.clone();
                    merge(&mut whole, self.resolved(member));
                    self.shape(&Value::Object(whole), path, depth + 1)
                })
                .collect();
            one_of(shapes)
        } else if let Some(value) = schema.get("const") {
            Shape::Const(value.clone())
        } else if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            one_of(values.iter().cloned().map(Shape::Const).collect())
        } else {
            let kinds = kinds(schema);
            if kinds.is_empty() {
                nullable = false;
                self.warn_beyond(schema, path);
                Shape::Any
            } else {
                let shapes = kinds.iter().map(|kind| self.simple(kind, schema, path, depth)).collect();
                self.warn_beyond(schema, path);
                one_of(shapes)
            }
        };
        if nullable { one_of(vec![shape, Shape::Null]) } else { shape }
    }

    /// A schema of one type.
    fn simple(&mut self, kind: &str, schema: &Map<String, Value>, path: &mut String, depth: usize) -> Shape {
        match kind {
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "string" => self.string(schema, path),
            "integer" => {
                let bound = |words: [&str; 2], inward: i64| bound(schema, words, inward);
                let min = bound(["minimum", "exclusiveMinimum"], 1);
                let max = bound(["maximum", "exclusiveMaximum"], -1);
                if min.zip(max).is_some_and(|(min, max)| min > max) {
                    self.warn(path, "minimum");
                    return Shape::Integer { min: None, max: None };
                }
                Shape::Integer { min, max }
            }
            "number" => {
                let bounds = [
                    (["minimum", "exclusiveMinimum"], f64::floor as fn(f64) -> f64),
                    (["maximum", "exclusiveMaximum"], f64::ceil),
                ];
                let [min, max] = bounds.map(|(words, round)| {
                    let (bound, is_exact) = outer_bound(schema, words, round);
                    let said = words.into_iter().filter(|word| !is_exact && schema.contains_key(*word));
                    said.for_each(|word| self.warn(path, word));
                    bound
                });
                if min.zip(max).is_some_and(|(min, max)| min > max) {
                    self.warn(path, "minimum");
                    return Shape::Number { min: None, max: None };
                }
                Shape::Number { min, max }
            }
            "array" => {
                let (min, max) = self.counts(schema, ["minItems", "maxItems"], path);
                let word = ["prefixItems", "items"].into_iter().find(|word| {
                    schema.get(*word).and_then(Value::as_array).is_some_and(|first| !first.is_empty())
                });
                let Some(word) = word else {
                    let items = match schema.get("items") {
                        Some(items) => self.inside(path, "[]", items, depth),
                        None => Shape::Any,
                    };
                    return Shape::Array { items: Box::new(items), min, max };
                };
                let first = schema[word].as_array().into_iter().flatten();
                let first: Vec<Shape> = first
                    .enumerate()
                    .map(|(place, schema)| self.inside(path, &format!("[{place}]"), schema, depth))
                    .collect();
                let rest = schema.get(if word == "items" { "additionalItems" } else { "items" });
                let items = rest.map_or(Shape::Any, |items| self.inside(path, "[]", items, depth));
                let no_more = rest == Some(&Value::Bool(false));
                let count = u32::try_from(first.len()).unwrap_or(u32::MAX);
                let max = if no_more { Some(max.map_or(count, |max| max.min(count))) } else { max };
                if max.is_some_and(|max| max < min) {
                    self.warn(path, "minItems");
                    return Shape::Array { items: Box::new(Shape::Any), min: 0, max: None };
                }
                Shape::Tuple { first, items: Box::new(items), min, max }
            }
            "object" => self.object(schema, path, depth),
            _ => Shape::Any,
        }
    }

    fn string(&mut self, schema: &Map<String, Value>, path: &str) -> Shape {
        let word = |word: &str| schema.get(word).and_then(Value::as_str);
        let by_pattern = word("pattern").map(pattern::read);
        let by_format = word("format").map(pattern::of_format);
        // The tighter of the two is held to, as there is no way to ask for both.
        for (word, is_held) in [
            ("pattern", matches!(by_pattern, Some(Some(_)))),
            ("format", by_pattern.is_none() && matches!(by_format, Some(Some((_, true))))),
        ] {
            if schema.contains_key(word) && !is_held {
                self.warn(path, word);
            }
        }
        let held = by_pattern.unwrap_or_else(|| Some(by_format??.0));
        let Some(text) = held else {
            let (min, max) = self.counts(schema, ["minLength", "maxLength"], path);
            return Shape::Text { min, max };
        };
        for word in ["minLength", "maxLength"] {
            if schema.contains_key(word) {
                self.warn(path, word);
            }
        }
        let keyword = if schema.contains_key("pattern") { "pattern" } else { "format" };
        Shape::Pattern { text, keyword }
    }

    fn object(&mut self, schema: &Map<String, Value>, path: &mut String, depth: usize) -> Shape {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let mut required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        keep_first(&mut required);
        let has_to_be: HashSet<&str> = required.iter().copied().collect();
        let mut members: Vec<Member> = Vec::new();
        for (key, schema) in properties {
            let shape = self.inside(path, key, schema, depth);
            members.push(Member { key: key.clone(), required: has_to_be.contains(key.as_str()), shape });
        }
        for key in required {
            if !properties.contains_key(key) {
                members.push(Member { key: key.to_owned(), required: true, shape: Shape::Any });
            }
        }
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => Shape::Object { members, others: None },
            additional if members.is_empty() => {
                let values = additional.map_or(Shape::Any, |values| self.inside(path, "*", values, depth));
                Shape::Map(Box::new(values))
            }
            Some(others) => {
                // Any key is one of the others to a grammar, a declared one too.
                self.warn(path, "additionalProperties");
                let others = self.inside(path, "*", others, depth);
                Shape::Object { members, others: Some(Box::new(others)) }
            }
            None => Shape::Object { members, others: None },
        }
    }

    /// The shape of a part of the value at `path`.
    fn inside(&mut self, path: &mut String, part: &str, schema: &Value, depth: usize) -> Shape {
        let len = path.len();
        if !path.is_empty() && !part.starts_with('[') {
            path.push('.');
        }
        path.push_str(part);
        let shape = self.shape(schema, path, depth + 1);
        path.truncate(len);
        shape
    }

    fn reference(&mut self, pointer: &str, path: &mut String) -> Shape {
        if let Some(place) = self.places.get(pointer) {
            return Shape::Ref(*place);
        }
        let target = pointer.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target else {
            self.warn(path, "$ref");
            return Shape::Any;
        };
        let place = self.definitions.len();
        let name = pointer.rsplit('/').next().filter(|name| *name != "#").unwrap_or("arguments").to_owned();
        self.definitions.push(Definition { name, shape: Shape::Any });
        self.places.insert(pointer.to_owned(), place);
        self.definitions[place].shape = self.shape(target, path, 0);
        Shape::Ref(place)
    }

    /// A member of `allOf` and its kin, behind its reference.
    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let pointer =
            schema.get("$ref").and_then(Value::as_str).and_then(|pointer| pointer.strip_prefix('#'));
        pointer.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema)
    }

    fn counts(&mut self, schema: &Map<String, Value>, words: [&str; 2], path: &str) -> (u32, Option<u32>) {
        let [min, max] = words.map(|word| schema.get(word).and_then(count));
        let known = |count: u64| u32::try_from(count.min(MAX_COUNT)).unwrap_or(0);
        let far = |bound: Option<u64>| bound.is_some_and(|bound| bound > MAX_COUNT);
        for (word, bound) in words.iter().zip([min, max]) {
            if far(bound) {
                self.warn(path, word);
            }
        }
        let least = min.map_or(0, known);
        let most = max.filter(|max| *max <= MAX_COUNT).map(known);
        if most.is_some_and(|most| most < least) {
            self.warn(path, words[0]);
            return (0, None);
        }
        (least, most)
    }

    fn warn_beyond(&mut self, schema: &Map<String, Value>, path: &str) {
        for (word, value) in schema {
            let says_nothing = value == &Value::Bool(false) && word == "uniqueItems";
            if BEYOND.contains(&word.as_str()) && !says_nothing {
                self.warn(path, word);
            }
        }
    }

    fn warn(&mut self, path: &str, keyword: &str) {
        self.warnings.add(Warning {
            tool: self.tool.to_owned(),
            path: path.to_owned(),
            keyword: keyword.to_owned(),
        });
    }
}

fn is_note(word: &str) -> bool {
    NOTES.contains(&word) || word.starts_with("x-")
}

/// The types that a schema declares, or shows by its other keywords.
fn kinds(schema: &Map<String, Value>) -> Vec<&str> {
    let declared: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !declared.is_empty() {
        return declared;
    }
    let shows = |words: &[&str]| words.iter().any(|word| schema.contains_key(*word));
    if shows(&["properties", "required", "additionalProperties"]) {
        vec!["object"]
    } else if shows(&["items", "minItems", "maxItems", "prefixItems"]) {
        vec!["array"]
    } else if shows(&["minLength", "maxLength", "pattern", "format"]) {
        vec!["string"]
    } else if shows(&["minimum", "maximum", "multipleOf"]) {
        vec!["number"]
    } else {
        Vec::new()
    }
}

fn one_of(shapes: Vec<Shape>) -> Shape {
    let mut flat: Vec<Shape> = Vec::new();
    for shape in shapes {
        if let Shape::OneOf(shapes) = shape { flat.extend(shapes) } else { flat.push(shape) }
    }
    keep_first(&mut flat);
    match flat.len() {
        _ if flat.contains(&Shape::Any) => Shape::Any,
        0 => Shape::Any,
        1 => flat.remove(0),
        _ => Shape::OneOf(flat),
    }
}

/// Adds what another schema asks of the same value. Where both ask the same, the other one is heard.
fn merge(whole: &mut Map<String, Value>, other: &Value) {
    let Some(other) = other.as_object() else { return };
    for (word, value) in other.iter().filter(|(word, _)| !is_note(word)) {
        match (word.as_str(), whole.get_mut(word), value) {
            ("properties", Some(Value::Object(all)), Value::Object(more)) => {
                for (key, schema) in more {
                    match all.get_mut(key) {
                        Some(Value::Object(known)) => merge(known, schema),
                        _ => {
                            all.insert(key.clone(), schema.clone());
                        }
                    }
                }
            }
            ("required" | "allOf", Some(Value::Array(all)), Value::Array(more)) => {
                all.extend(more.iter().cloned());
                keep_first(all);
            }
            _ => {
                whole.insert(word.clone(), value.clone());
            }
        }
    }
}
