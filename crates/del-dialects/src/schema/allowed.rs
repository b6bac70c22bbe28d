//! Which types a schema allows: all its words together, references and alternatives included.

use serde_json::Value;

use std::cell::Cell;

use super::{MAX_DEPTH, MAX_PLACES, Types, reference};

/// A type of JSON, with numbers that are integers told from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
    String,
}

/// The types of the values that a schema is known to allow. Where none is, because it refers to what is not there or
/// contradicts itself, the value is text.
pub(super) fn types(root: &Value, schema: &Value) -> Types {
    let allows =
        |kind| Reader { root, kind, left: Cell::new(MAX_PLACES) }.allows(schema, 0, false) == Some(true);
    let types = Types {
        null: allows(Kind::Null),
        integer: allows(Kind::Integer),
        number: allows(Kind::Number),
        boolean: allows(Kind::Boolean),
        object: allows(Kind::Object),
        array: allows(Kind::Array),
        string: allows(Kind::String),
    };
    let Types { null: _, integer, number, boolean, object, array, string } = types;
    if integer && number && boolean && object && array && string && is_foreign(schema) {
        return Types::TEXT;
    }
    Types { string: types.string || types == Types::default(), ..types }
}

/// True when a type that nobody knows stands beside words about types. They exclude nothing, and still somebody meant
/// something by them.
fn is_foreign(schema: &Value) -> bool {
    let unknown = schema.get("type").and_then(Value::as_str).is_some_and(|name| kinds_of(name).is_none());
    unknown && WORDS.iter().any(|word| schema.get(word).is_some())
}

/// The words beside `type` that say of what type a value is.
const WORDS: [&str; 6] = ["enum", "const", "allOf", "anyOf", "oneOf", "$ref"];

struct Reader<'s> {
    root: &'s Value,
    kind: Kind,
    left: Cell<usize>,
}

impl Reader<'_> {
    /// Whether a schema allows some value of the kind; none where that cannot be known. What is `nullable` may be null
    /// where only its types speak against it; constants say themselves whether null is one of them.
    fn allows(&self, schema: &Value, depth: usize, nullable: bool) -> Option<bool> {
        let kind = self.kind;
        let left = self.left.get().checked_sub(1).filter(|_| depth <= MAX_DEPTH)?;
        self.left.set(left);
        let Some(words) = schema.as_object() else { return Some(schema != &Value::Bool(false)) };
        let says_nullable = kind == Kind::Null && words.get("nullable") == Some(&Value::Bool(true));
        let nullable = nullable || says_nullable;
        let inner = |member: &Value| self.allows(member, depth + 1, nullable);
        let mut all = None;
        for (word, value) in words {
            let this = match (word.as_str(), value) {
                ("type", _) if nullable => Some(true),
                ("type", Value::String(name)) => Some(is_of(kind, name)),
                ("type", Value::Array(names)) => {
                    Some(names.iter().filter_map(Value::as_str).any(|name| is_of(kind, name)))
                }
                ("const", constant) => Some(kind_of(constant) == kind),
                ("enum", Value::Array(constants)) => {
                    Some(constants.is_empty() || constants.iter().any(|constant| kind_of(constant) == kind))
                }
                ("$ref", _) => reference(self.root, schema).and_then(inner),
                ("allOf", Value::Array(members)) => {
                    members.iter().map(inner).reduce(|a, b| and(kind, a, b)).unwrap_or(Some(true))
                }
                ("anyOf", Value::Array(members)) if !members.is_empty() => {
                    members.iter().map(inner).fold(Some(false), or)
                }
                ("oneOf", Value::Array(members)) if !members.is_empty() && nullable => {
                    members.iter().map(inner).fold(Some(false), or)
                }
                ("oneOf", Value::Array(members)) if !members.is_empty() => {
                    one(kind, members.iter().map(inner))
                }
                ("not", member) => match self.allows(member, depth + 1, false) {
                    // What allows some values of a kind with many need not allow all.
                    Some(true) if kind != Kind::Null => Some(!says_only_types(member)),
                    other => other.map(|allowed| !allowed),
                },
                // What is said of members or items is said of an object or a list.
                ("properties", _) if !words.contains_key("type") && !nullable => Some(kind == Kind::Object),
                ("items", _) if !words.contains_key("type") && !nullable => Some(kind == Kind::Array),
                _ => continue,
            };
            all = Some(all.map_or(this, |all| and(kind, all, this)));
        }
        let all = all.unwrap_or(Some(true));
        if says_nullable { all.or(Some(true)) } else { all }
    }
}

/// Both. What is not known takes nothing away, but that null needs to be allowed for sure.
fn and(kind: Kind, a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        (None, None) => None,
        _ => (kind != Kind::Null).then_some(true),
    }
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// Exactly one of several: of null there is but one value, of other kinds there may be one for each.
fn one(kind: Kind, members: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    if kind != Kind::Null {
        return members.fold(Some(false), or);
    }
    let (mut allowing, mut unknown) = (0, false);
    for member in members {
        allowing += usize::from(member == Some(true));
        unknown |= member.is_none();
    }
    match allowing {
        2.. => Some(false),
        _ if unknown => None,
        _ => Some(allowing == 1),
    }
}

fn says_only_types(schema: &Value) -> bool {
    schema.as_object().is_some_and(|words| words.keys().all(|word| word == "type"))
}

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Boolean,
        Value::Number(number) if number.is_f64() => Kind::Number,
        Value::Number(_) => Kind::Integer,
        Value::String(_) => Kind::String,
        Value::Array(_) => Kind::Array,
        Value::Object(_) => Kind::Object,
    }
}

/// True when a type of this name holds such values. A name that nobody knows says nothing.
fn is_of(kind: Kind, name: &str) -> bool {
    kinds_of(name).is_none_or(|kinds| kinds.contains(&kind))
}

/// What a type of this name holds, in JSON Schema or in the languages that tools are written in.
fn kinds_of(name: &str) -> Option<&'static [Kind]> {
    let name = name.to_ascii_lowercase();
    let starts = |heads: &[&str]| heads.iter().any(|head| name.starts_with(head));
    Some(match name.as_str() {
        "null" | "none" => &[Kind::Null],
        "boolean" | "bool" => &[Kind::Boolean],
        "object" | "dict" | "map" => &[Kind::Object],
        "array" | "list" | "tuple" => &[Kind::Array],
        "string" | "str" | "text" | "varchar" | "char" | "enum" => &[Kind::String],
        _ if starts(&["int", "uint", "long", "short", "unsigned"]) => &[Kind::Integer],
        _ if starts(&["num", "float", "double", "decimal"]) => &[Kind::Integer, Kind::Number],
        _ => return None,
    })
}
