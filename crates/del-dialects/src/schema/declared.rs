//! What a tool declares of its arguments: looked for in its schema once, and kept with it.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{Place, Types, property, visit};

/// The JSON Schema of a tool's arguments.
///
/// It is the [`Value`] that it was made of, and keeps what readers have found out about it. Tools are shared by the answers
/// of a session, so each of them is looked into once.
#[derive(Default)]
pub struct Schema {
    json: Value,
    arguments: OnceLock<HashMap<Box<str>, Argument>>,
}

/// What is known of one argument.
#[derive(Debug, Default)]
pub(crate) struct Argument {
    types: OnceLock<Types>,
    /// Whether it may only be one of some constants.
    constants: OnceLock<bool>,
}

impl Schema {
    /// What is declared of the argument `key`; none where nothing is.
    pub(crate) fn argument(&self, key: &str) -> Option<&Argument> {
        self.arguments.get_or_init(|| declared(&self.json)).get(key)
    }

    /// The types of the argument `key`; none where nothing is declared of it. Where it stands in alternatives alone, those of
    /// all of them, as the others among the arguments may tell which is meant.
    pub(crate) fn types(&self, key: &str) -> Types {
        let Some(argument) = self.argument(key) else { return Types::default() };
        *argument.types.get_or_init(|| {
            let place = |schema| Place { root: &self.json, schema };
            match own(&self.json, key) {
                None => every(&self.json, key)
                    .map(|schema| place(Some(schema)).types())
                    .fold(Types::default(), Types::or),
                own => place(own).types(),
            }
        })
    }

    /// True when constants are declared for the argument `key`.
    pub(crate) fn has_constants(&self, key: &str) -> bool {
        self.argument(key)
            .is_some_and(|argument| *argument.constants.get_or_init(|| self.place(key).constants().is_some()))
    }

    /// The place of the argument `key`.
    pub(crate) fn place(&self, key: &str) -> Place<'_> {
        Place { root: &self.json, schema: property(&self.json, &self.json, key) }
    }
}

/// All arguments that [`property`] finds.
fn declared(root: &Value) -> HashMap<Box<str>, Argument> {
    let mut arguments = HashMap::new();
    visit::<()>(root, root, &mut |schema| {
        let properties = schema.get("properties").and_then(Value::as_object);
        for key in properties.into_iter().flat_map(serde_json::Map::keys) {
            arguments.entry(key.as_str().into()).or_default();
        }
        None
    });
    arguments
}

/// What is said of an argument beside all alternatives.
fn own<'s>(root: &'s Value, key: &str) -> Option<&'s Value> {
    root.get("properties")?.get(key)
}

/// What is said of an argument anywhere.
fn every<'s>(root: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> {
    let mut all = Vec::new();
    visit::<()>(root, root, &mut |schema| {
        all.extend(own(schema, key));
        None
    });
    all.into_iter()
}

impl From<Value> for Schema {
    fn from(json: Value) -> Self {
        Self { json, arguments: OnceLock::new() }
    }
}

impl From<Schema> for Value {
    fn from(schema: Schema) -> Self {
        schema.json
    }
}

impl Deref for Schema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.json
    }
}

/// What was found out is forgotten.
impl DerefMut for Schema {
    fn deref_mut(&mut self) -> &mut Value {
        self.arguments.take();
        &mut self.json
    }
}

impl Clone for Schema {
    fn clone(&self) -> Self {
        self.json.clone().into()
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

impl PartialEq<Value> for Schema {
    fn eq(&self, other: &Value) -> bool {
        self.json == *other
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json.fmt(f)
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_stand_behind_references_and_in_alternatives() {
        let schema = Schema::from(json!({
            "$defs": {"more": {"properties": {"far": {"enum": ["1", "x"]}, "near": {"type": "boolean"}}}},
            "properties": {"near": {"type": "integer"}},
            "anyOf": [
                {"$ref": "#/$defs/more"},
                {"properties": {"near": {}, "last": {"type": ["array", "null"]}, "either": {"type": "string"}}},
                {"properties": {"either": {"type": "integer"}}},
            ],
        }));
        for _ in 0..2 {
            assert_eq!(schema.types("near"), Types { integer: true, ..Types::default() });
            assert_eq!(schema.types("far"), Types::TEXT);
            assert_eq!(schema.types("last"), Types { array: true, null: true, ..Types::default() });
            assert_eq!(schema.types("either"), Types { integer: true, ..Types::TEXT });
            assert_eq!(schema.types("gone"), Types::default());
            assert!(schema.argument("gone").is_none() && schema.argument("last").is_some());
            let constants = ["near", "far", "last", "gone"].map(|key| schema.has_constants(key));
            assert_eq!(constants, [false, true, false, false]);
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = Schema::from(json!({"$ref": "#", "allOf": [{"$ref": "#"}, {"$ref": "#"}]}));
        assert!(schema.argument("any").is_none());
    }

    #[test]
    fn what_was_found_out_is_forgotten_with_a_change() {
        let mut schema = Schema::from(json!({"properties": {"a": {"type": "integer"}}}));
        let copy = schema.clone();
        assert!(schema.types("a").integer && copy == schema);
        schema["properties"]["a"]["type"] = json!("string");
        assert!(schema.types("a").only_string() && copy != schema);
        assert!(copy.types("a").integer);
    }

    #[test]
    fn a_schema_reads_writes_and_compares_as_its_json() {
        for json in [json!({"properties": {"a": {"type": "integer"}}}), json!({}), json!(true), Value::Null] {
            let schema: Schema = serde_json::from_value(json.clone()).unwrap();
            let _ = schema.types("a");
            assert_eq!(schema, json);
            assert_eq!(schema, Schema::from(json.clone()));
            assert_eq!(serde_json::to_string(&schema).unwrap(), json.to_string());
            assert_eq!(format!("{schema:?}"), format!("{json:?}"));
            assert_eq!(Value::from(schema), json);
        }
    }
}
