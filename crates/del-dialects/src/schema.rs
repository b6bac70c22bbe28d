//! What a JSON Schema says of an argument, and of what lies in it.

mod allowed;
mod declared;

use std::borrow::Cow;

use serde_json::Value;

pub use declared::Schema;

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
    /// One of which nothing is said.
    pub(crate) const NOWHERE: Self = Self { root: &Value::Null, schema: None };

    /// The place of a member of an object.
    pub(crate) fn member(self, key: &str) -> Self {
        let member = self.schema.and_then(|schema| {
            let others = || part(self.root, schema, &|schema| schema.get("additionalProperties"));
            property(self.root, schema, key).or_else(others)
        });
        Self { schema: member, ..self }
    }

    /// The place of the items of a list.
    pub(crate) fn items(self) -> Self {
        let items = self.schema.and_then(|schema| part(self.root, schema, &|schema| schema.get("items")));
        Self { schema: items, ..self }
    }

    /// True when this very text is one of the constants that are declared here, and what it reads as is none.
    pub(crate) fn is_constant(self, text: &str) -> bool {
        self.constants().is_some_and(|constants| {
            let other = serde_json::from_str(text).is_ok_and(|value: Value| constants.contains(&value));
            !other && constants.iter().any(|constant| constant == text)
        })
    }

    fn constants(self) -> Option<&'s Vec<Value>> {
        part(self.root, self.schema?, &|schema| schema.get("enum")?.as_array())
    }

    /// True when something is declared here.
    pub(crate) fn is_declared(self) -> bool {
        self.schema.is_some()
    }

    /// The declared types; none when nothing is declared.
    pub(crate) fn types(self) -> Types {
        self.schema.map_or_else(Types::default, |schema| allowed::types(self.root, schema))
    }
}

impl Types {
    /// Text, and nothing else.
    pub(crate) const TEXT: Self = Self {
        null: false,
        integer: false,
        number: false,
        boolean: false,
        object: false,
        array: false,
        string: true,
    };

    /// What is of any of the types of both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            null: self.null || other.null,
            integer: self.integer || other.integer,
            number: self.number || other.number,
            boolean: self.boolean || other.boolean,
            object: self.object || other.object,
            array: self.array || other.array,
            string: self.string || other.string,
        }
    }

    /// True when the value can only be text, so that it can go out while it arrives.
    pub(crate) fn only_string(self) -> bool {
        self == Self::TEXT
    }

    /// True when something is declared, and text is not.
    pub(crate) fn excludes_string(self) -> bool {
        !self.string && !self.is_unknown()
    }

    /// True when the value may be an object or a list.
    pub(crate) fn may_nest(self) -> bool {
        self.object || self.array || self.is_unknown()
    }

    pub(crate) fn is_unknown(self) -> bool {
        self == Self::default()
    }
}

/// How many places of a schema are looked at: references may go in circles, and alternatives multiply.
const MAX_PLACES: usize = 1024;

/// How deep references and alternatives are followed.
const MAX_DEPTH: usize = 64;

fn property<'s>(root: &'s Value, schema: &'s Value, key: &str) -> Option<&'s Value> {
    part(root, schema, &|schema| schema.get("properties").and_then(|properties| properties.get(key)))
}

/// What `find` finds in a schema, in what it refers to, or in one of its alternatives.
fn part<'s, T>(root: &'s Value, schema: &'s Value, find: &dyn Fn(&'s Value) -> Option<T>) -> Option<T> {
    visit(root, schema, &mut |schema| find(schema))
}

/// Shows `find` a schema, what it refers to, and its alternatives, until it finds something.
fn visit<'s, T>(
    root: &'s Value,
    schema: &'s Value,
    find: &mut dyn FnMut(&'s Value) -> Option<T>,
) -> Option<T> {
    let mut waiting = vec![schema];
    for _ in 0..MAX_PLACES {
        let schema = waiting.pop()?;
        if let Some(found) = find(schema) {
            return Some(found);
        }
        let members = ["oneOf", "anyOf", "allOf"]
            .iter()
            .flat_map(|word| schema.get(word).and_then(Value::as_array).into_iter().flatten().rev());
        waiting.extend(members);
        waiting.extend(reference(root, schema));
    }
    None
}

fn reference<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    // Beside an address of its own, a reference is one from there; beside one into another scope, nobody knows.
    if ["$id", "$dynamicRef", "$recursiveRef"].iter().any(|word| schema.get(word).is_some()) {
        return None;
    }
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(&decoded(pointer)?)
}

/// A part of a URL without its percent signs; none when they stand for no text.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first == b'%' {
            let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &behind[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}
