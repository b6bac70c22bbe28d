//! Forms: short templates such as `functions.{name}` that are read from both ends.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::check::DialectError;
use super::record::{record, variants};
use super::table::{Field, Read};

/// A part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// Literal text.
    Text(String),
    /// `{name}`: the tool's name.
    Name,
    /// `{id}`: the call's id.
    Id,
    /// `{index}`: the call's number in the answer.
    Index,
    /// `{number}`: the call's number in the answer, counted from 1; it is the call's id.
    Number,
    /// `{args}`: the arguments as JSON.
    Args,
    /// `{key}`: an argument's key.
    Key,
    /// `{value}`: an argument's value.
    Value,
    /// `{is_string}`: `true` when the value is a string and stands as it is, `false` when it is JSON.
    IsString,
    /// `{type}`: the JSON type of the value.
    Type,
}

variants!(Slot { Text(text), Name, Id, Index, Number, Args, Key, Value, IsString, Type });

record! {
    /// A head: where name and id stand, such as `functions.{name}:{index}`.
    pub struct HeadForm {
        /// Text and slots, in order.
        pub parts: Vec<Slot>,
        /// True when the whole head is also the call's id.
        pub is_id: bool,
        /// The attributes that the slots are values of, in any order when read; none where the head is plain text.
        pub attributes: BTreeMap<String, Slot>,
    }
}

record! {
    /// A call as one JSON object, such as `{"name": "{name}", "arguments": {args}}`.
    pub struct CallForm {
        /// Text and slots, in order.
        pub parts: Vec<Slot>,
        /// The key that holds the name; none when the name itself is the key.
        pub name: Option<String>,
        /// The key that holds the arguments.
        pub args: String,
        /// Keys of the objects that the arguments stand in, from outside.
        pub around: Vec<String>,
        /// Other keys, whose values mean nothing.
        pub others: Vec<String>,
        /// The key that holds the id.
        pub id: Option<String>,
        /// The object is a literal of Python.
        pub python: bool,
    }
}

/// Cuts a form into text and slots. An unknown or unclosed brace is text.
pub(super) fn parts(form: &str) -> Vec<Slot> {
    const SLOTS: [(&str, Slot); 9] = [
        ("{name}", Slot::Name),
        ("{id}", Slot::Id),
        ("{index}", Slot::Index),
        ("{number}", Slot::Number),
        ("{args}", Slot::Args),
        ("{key}", Slot::Key),
        ("{value}", Slot::Value),
        ("{is_string}", Slot::IsString),
        ("{type}", Slot::Type),
    ];
    let mut parts = Vec::new();
    let (mut rest, mut from) = (form, 0);
    while let Some(at) = rest[from..].find('{').map(|at| from + at) {
        let Some((spelling, slot)) = SLOTS.iter().find(|(spelling, _)| rest[at..].starts_with(spelling))
        else {
            from = at + 1;
            continue;
        };
        parts.extend((at > 0).then(|| Slot::Text(rest[..at].to_owned())));
        parts.push(slot.clone());
        (rest, from) = (&rest[at + spelling.len()..], 0);
    }
    parts.extend((!rest.is_empty()).then(|| Slot::Text(rest.to_owned())));
    parts
}

impl Read for HeadForm {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        field.form(Self::new)
    }
}

impl HeadForm {
    /// `text` as a form; `Err` holds what was expected.
    fn new(text: &str) -> Result<Self, &'static str> {
        let parts = parts(text);
        if !parts.iter().any(|part| matches!(part, Slot::Name | Slot::Id)) {
            return Err("a head with {name} or {id}");
        }
        if parts.windows(2).any(|pair| !pair.iter().any(|part| matches!(part, Slot::Text(_)))) {
            return Err("text between two slots of a head");
        }
        let is_id = parts.contains(&Slot::Index);
        let attribute = |pair: &[Slot]| match pair {
            [Slot::Text(before), slot] => {
                let name = before.strip_suffix("=\"")?.rsplit(['"', ' ']).next()?;
                Some((name.to_owned(), slot.clone()))
            }
            _ => None,
        };
        // Collecting would sort, which is much code for each type.
        let mut attributes = BTreeMap::new();
        for (name, slot) in parts.windows(2).filter_map(attribute) {
            attributes.insert(name, slot);
        }
        Ok(Self { parts, is_id, attributes })
    }
}

impl CallForm {
    /// `text` as a form; `Err` holds what was expected.
    pub(super) fn new(text: &str, python: bool) -> Result<Self, &'static str> {
        let parts = parts(text);
        // With its slots filled the form is JSON, and JSON tells which key holds what.
        let filled = |part: &Slot| match part {
            Slot::Text(text) => text.clone(),
            Slot::Name => "{name}".to_owned(),
            Slot::Id => "{id}".to_owned(),
            Slot::Args => "\"{args}\"".to_owned(),
            _ => String::new(),
        };
        let probe: String = parts.iter().map(filled).collect();
        let probe = if python { probe.replace('\'', "\"") } else { probe };
        let object: Map<String, Value> = serde_json::from_str(&probe)
            .map_err(|_| "a form that is a JSON object once its slots are filled")?;
        let key_of = |object: &Map<String, Value>, slot: &str| {
            object.iter().find(|(_, value)| value.as_str() == Some(slot)).map(|(key, _)| key.clone())
        };
        let (mut around, mut inner) = (Vec::new(), &object);
        let args = loop {
            if let Some(key) = key_of(inner, "{args}") {
                break key;
            }
            let nested = inner.iter().find_map(|(key, value)| Some((key, value.as_object()?)));
            let (key, object) = nested.ok_or("a form with {args}")?;
            around.push(key.clone());
            inner = object;
        };
        let (name, id) = (key_of(&object, "{name}"), key_of(&object, "{id}"));
        if name.is_none() && args != "{name}" {
            return Err("a form with \"{name}\" as a value or as the key of {args}");
        }
        let other = |value: &Value| {
            !value.is_object() && !matches!(value.as_str(), Some("{name}" | "{id}" | "{args}"))
        };
        let others = object.iter().filter(|(_, value)| other(value)).map(|(key, _)| key.clone());
        // Whether objects keep their order is the application's choice. Collecting would sort, which is much code for each type.
        let mut names = BTreeSet::new();
        names.extend(others);
        let others = names.into_iter().collect();
        Ok(Self { parts, name, args, around, others, id, python })
    }
}
