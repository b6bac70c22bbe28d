//! String or number? What a tool's JSON Schema says of one argument, and how raw text becomes JSON by it.

use serde_json::Value;

use crate::codec::json::{ESCAPES, Json, Progress};
use crate::message::Tool;

/// What a value may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Types {
    pub(crate) null: bool,
    pub(crate) integer: bool,
    pub(crate) number: bool,
    pub(crate) boolean: bool,
    pub(crate) object: bool,
    pub(crate) array: bool,
    pub(crate) string: bool,
}

/// A place in a tool's schema, which may say nothing of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'s> {
    root: &'s Value,
    schema: Option<&'s Value>,
}

impl<'s> Place<'s> {
    /// The place of the argument `key`.
    pub(crate) fn argument(tool: Option<&'s Tool>, key: &str) -> Self {
        let root = tool.map_or(&Value::Null, |tool| &tool.parameters);
        Self { root, schema: property(root, root, key, 0) }
    }

    /// The place of a member of an object.
    pub(crate) fn member(self, key: &str) -> Self {
        let member = self.schema.and_then(|schema| {
            let others = || part(self.root, schema, 0, &|schema| schema.get("additionalProperties"));
            property(self.root, schema, key, 0).or_else(others)
        });
        Self { schema: member, ..self }
    }

    /// The place of the items of a list.
    pub(crate) fn items(self) -> Self {
        let items = self.schema.and_then(|schema| part(self.root, schema, 0, &|schema| schema.get("items")));
        Self { schema: items, ..self }
    }

    /// True when something is declared here.
    pub(crate) fn is_declared(self) -> bool {
        self.schema.is_some()
    }

    /// The declared types; none when nothing is declared.
    pub(crate) fn types(self) -> Types {
        let mut types = Types::default();
        if let Some(schema) = self.schema {
            gather(self.root, schema, &mut types, 0);
        }
        types
    }
}

/// The types that `tool` declares for the argument `key`; none when it declares nothing of it.
pub(crate) fn types_of(tool: Option<&Tool>, key: &str) -> Types {
    Place::argument(tool, key).types()
}

/// True when `tool` is known and declares the argument `key`, or when nothing is known of the tool.
pub(crate) fn may_have(tool: Option<&Tool>, key: &str) -> bool {
    tool.is_none_or(|tool| property(&tool.parameters, &tool.parameters, key, 0).is_some())
}

/// The one tool that takes these arguments: it declares all of them, and misses none.
pub(crate) fn meant<'t>(tools: &'t [Tool], arguments: &str) -> Option<&'t Tool> {
    let arguments: serde_json::Map<String, Value> = serde_json::from_str(arguments).ok()?;
    let takes = |tool: &&Tool| {
        let required = tool.parameters.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        arguments.keys().all(|key| may_have(Some(tool), key))
            && required.all(|key| arguments.contains_key(key))
    };
    let mut fitting = tools.iter().filter(takes);
    fitting.next().filter(|_| fitting.next().is_none())
}

impl Types {
    /// True when the value can only be text, so that it can go out while it arrives.
    pub(crate) fn only_string(self) -> bool {
        self == Self { string: true, ..Self::default() }
    }

    /// True when something is declared, and text is not.
    pub(crate) fn excludes_string(self) -> bool {
        !self.string && !self.is_unknown()
    }

    /// True when the value may be an object or a list.
    pub(crate) fn may_nest(self) -> bool {
        self.object || self.array || self.is_unknown()
    }

    fn is_unknown(self) -> bool {
        self == Self::default()
    }
}

/// How deep references and alternatives are followed.
const MAX_DEPTH: usize = 16;

fn property<'s>(root: &'s Value, schema: &'s Value, key: &str, depth: usize) -> Option<&'s Value> {
    part(root, schema, depth, &|schema| schema.get("properties").and_then(|properties| properties.get(key)))
}

/// What `find` finds in a schema, in what it refers to, or in one of its alternatives.
fn part<'s>(
    root: &'s Value,
    schema: &'s Value,
    depth: usize,
    find: &dyn Fn(&'s Value) -> Option<&'s Value>,
) -> Option<&'s Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    if let Some(found) = find(schema) {
        return Some(found);
    }
    if let Some(target) = reference(root, schema) {
        return part(root, target, depth + 1, find);
    }
    ["allOf", "anyOf", "oneOf"].iter().find_map(|word| {
        schema.get(word)?.as_array()?.iter().find_map(|member| part(root, member, depth + 1, find))
    })
}

fn reference<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

fn gather(root: &Value, schema: &Value, types: &mut Types, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match schema.get("type") {
        Some(Value::String(word)) => types.add(word),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).for_each(|word| types.add(word)),
        _ => {}
    }
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        types.null = true;
    }
    let constants = schema
        .get("const")
        .into_iter()
        .chain(schema.get("enum").and_then(Value::as_array).into_iter().flatten());
    if schema.get("type").is_none() {
        constants.for_each(|value| types.add_value(value));
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        for member in schema.get(word).and_then(Value::as_array).into_iter().flatten() {
            gather(root, member, types, depth + 1);
        }
    }
    if let Some(target) = reference(root, schema) {
        gather(root, target, types, depth + 1);
    }
    if types.is_unknown() {
        types.object |= schema.get("properties").is_some();
        types.array |= schema.get("items").is_some();
    }
}

impl Types {
    fn add(&mut self, word: &str) {
        match word.to_ascii_lowercase().as_str() {
            "null" | "none" => self.null = true,
            "boolean" | "bool" => self.boolean = true,
            "object" | "dict" | "map" => self.object = true,
            "array" | "list" | "tuple" => self.array = true,
            "string" | "str" | "text" | "varchar" | "char" | "enum" => self.string = true,
            word if ["int", "uint", "long", "short", "unsigned"]
                .iter()
                .any(|head| word.starts_with(head)) =>
            {
                self.integer = true;
            }
            word if ["num", "float", "double", "decimal"].iter().any(|head| word.starts_with(head)) => {
                self.number = true;
            }
            _ => {}
        }
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::Null => self.null = true,
            Value::Bool(_) => self.boolean = true,
            Value::Number(number) if number.is_f64() => self.number = true,
            Value::Number(_) => self.integer = true,
            Value::String(_) => self.string = true,
            Value::Array(_) => self.array = true,
            Value::Object(_) => self.object = true,
        }
    }
}

/// A value is nested deeper than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// Raw text as JSON: the most specific declared type that it can be read as, and text where it fits none. The flag is
/// false when it fits none of the declared types.
pub(crate) fn typed(text: &str, types: Types, max_depth: usize) -> Result<(String, bool), TooDeep> {
    let value = text.trim();
    if types.only_string() {
        return Ok((quoted(text), true));
    }
    if types.is_unknown() {
        let json = as_json(value, max_depth)?.filter(|json| !json.starts_with('"'));
        return Ok((json.unwrap_or_else(|| quoted(text)), true));
    }
    let word = value.to_ascii_lowercase();
    if types.null && matches!(word.as_str(), "null" | "none") {
        return Ok(("null".to_owned(), true));
    }
    if (types.integer || types.number) && is_number(value) {
        let integral = value.strip_suffix(".0").filter(|_| types.integer && !types.number);
        let fits = types.number || !value.contains(['.', 'e', 'E']) || integral.is_some();
        if fits {
            return Ok((integral.unwrap_or(value).to_owned(), true));
        }
    }
    // A number as people write it, where it can be nothing else.
    let digits = value.strip_prefix('+').unwrap_or(value).trim_start_matches('0');
    let all_digits =
        value.ends_with(|c: char| c.is_ascii_digit()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if types.integer && !types.string && all_digits {
        return Ok((if digits.is_empty() { "0" } else { digits }.to_owned(), true));
    }
    if types.boolean {
        let boolean = match word.as_str() {
            "true" => Some("true"),
            "false" => Some("false"),
            "1" if !types.string => Some("true"),
            "0" if !types.string => Some("false"),
            _ => None,
        };
        if let Some(boolean) = boolean {
            return Ok((boolean.to_owned(), true));
        }
    }
    let opens = |byte: u8| value.as_bytes().first() == Some(&byte);
    if (types.object && opens(b'{')) || (types.array && opens(b'[')) {
        if let Some(json) = as_json(value, max_depth)? {
            return Ok((json, true));
        }
        // Some models write what would stand inside a JSON string.
        if let Ok(plain) = serde_json::from_str::<String>(&format!("\"{value}\""))
            && let Some(json) = as_json(&plain, max_depth)?
        {
            return Ok((json, true));
        }
    }
    // A quoted string where text is declared beside other types was written as JSON.
    if types.string
        && opens(b'"')
        && types != (Types { string: true, ..Types::default() })
        && let Some(json) = as_json(value, max_depth)?.filter(|json| json.starts_with('"'))
    {
        return Ok((json, true));
    }
    Ok((quoted(text), types.string))
}

/// `text` as one JSON value, with JSON's or Python's spelling of literals.
fn as_json(text: &str, max_depth: usize) -> Result<Option<String>, TooDeep> {
    if is_number(text) {
        return Ok(Some(text.to_owned()));
    }
    let (mut json, mut out, mut look) = (Json::new(max_depth), String::new(), 0);
    // A word or number ends only at what follows it.
    let ended = format!("{text}\n");
    let progress = json.read(&ended, &mut look, &mut 0, &mut |piece, _| out.push_str(piece));
    let whole = progress == Progress::Done && ended[look..].trim().is_empty();
    if progress == Progress::TooDeep {
        return Err(TooDeep);
    }
    Ok(whole.then(|| out.trim().to_owned()))
}

fn is_number(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b'-' | b'0'..=b'9'))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape(text, &mut out);
    out.push('"');
    out
}

/// Appends `text` as it stands inside a JSON string.
pub(crate) fn escape(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0..=0x1f => ESCAPES[byte as usize],
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(escape);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}
