//! A tool, and what it takes: which arguments, by its schema.

use serde_json::{Map, Value};

use crate::schema::{Place, Schema, Types};

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name a model calls it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments: an object with `properties`, as in OpenAI's `function.parameters`.
    pub parameters: Schema,
}

/// The types that `tool` declares for the argument `key`; none when it declares nothing of it.
pub(crate) fn types_of(tool: Option<&Tool>, key: &str) -> Types {
    tool.map_or_else(Types::default, |tool| tool.parameters.types(key))
}

/// The place of the argument `key` in what `tool` declares.
pub(crate) fn place_of<'t>(tool: Option<&'t Tool>, key: &str) -> Place<'t> {
    tool.map_or(Place::NOWHERE, |tool| tool.parameters.place(key))
}

/// True when `tool` is known and declares the argument `key`, or when nothing is known of the tool.
pub(crate) fn may_have(tool: Option<&Tool>, key: &str) -> bool {
    tool.is_none_or(|tool| tool.parameters.argument(key).is_some())
}

/// The names of the arguments that `tool` declares, but for those of a letter or two, which may be any text.
pub(crate) fn declared(tool: &Tool) -> impl Iterator<Item = &str> {
    properties(tool).into_iter().flat_map(Map::keys).map(String::as_str).filter(|name| name.len() > 2)
}

/// Keys under which models put all the arguments at once, as the definitions that they were shown do.
const WRAPPERS: [&str; 7] = ["arguments", "input", "parameters", "properties", "params", "args", "kwargs"];

/// True for a key that is none of the tool's, and under which all of its arguments may stand.
pub(crate) fn may_wrap(tool: Option<&Tool>, key: &str) -> bool {
    tool.is_some() && WRAPPERS.contains(&key) && !may_have(tool, key)
}

/// True when an object or list for the argument `key` is no value of it: the tool declares none, or it is an object that
/// holds all the arguments.
pub(crate) fn misplaces(tool: Option<&Tool>, key: &str, object: bool) -> bool {
    let others = |tool: &Tool| tool.parameters.get("additionalProperties").is_some_and(|any| any != false);
    let wraps = |tool: &Tool| {
        let around = may_wrap(Some(tool), key) || key == tool.name;
        around && !may_take(Some(tool), key) && !others(tool)
    };
    !types_of(tool, key).may_nest() || (object && tool.is_some_and(wraps))
}

/// False for an argument that is none of those which `tool` declares.
pub(crate) fn may_take(tool: Option<&Tool>, key: &str) -> bool {
    tool.is_none_or(|tool| tool.parameters.get("properties").is_none() || may_have(Some(tool), key))
}

/// True when this very text is one of the constants that `tool` declares for the argument `key`, and what it reads as is
/// none.
pub(crate) fn is_constant(tool: Option<&Tool>, key: &str, text: &str) -> bool {
    tool.is_some_and(|Tool { parameters, .. }| {
        parameters.has_constants(key) && parameters.place(key).is_constant(text)
    })
}

/// The name of the argument that stands at this place when none is named: that of the required one there, where `tool`
/// declares the arguments in the same order, and behind all of these the next one that is declared. A program may have sorted
/// what is declared; then only the last one that is left is known.
pub(crate) fn positional(tool: &Tool, place: usize) -> Option<&str> {
    let properties = properties(tool)?;
    let declared = properties.keys().nth(place)?;
    let required: Vec<&str> = required(tool).collect();
    let only = place == 0 && properties.len() == 1;
    let in_order = || properties.keys().zip(&required).all(|(key, required)| key == required);
    let known = || place + 1 == properties.len() || !properties.keys().is_sorted();
    let optional = place > 0 && place >= required.len() && in_order() && known();
    (only || optional || required.get(place) == Some(&declared.as_str())).then_some(declared.as_str())
}

/// False for a tool that declares that it has no arguments.
pub(crate) fn takes_some(tool: Option<&Tool>) -> bool {
    !tool.and_then(properties).is_some_and(Map::is_empty)
}

/// True for a tool that may be called without arguments.
pub(crate) fn takes_nothing(tool: &Tool) -> bool {
    has_required(tool, |_| false)
}

/// The parameter that takes a text which stands in place of the arguments: the only one, or the only one that is required.
/// Where the tool is not known, it gets a usual name, as nobody can run such a call.
pub(crate) fn parameter_of_text(tool: Option<&Tool>) -> Option<&str> {
    const UNKNOWN: &str = "input";
    let Some(tool) = tool else { return Some(UNKNOWN) };
    let properties = properties(tool)?;
    let mut required = required(tool);
    let only = match (required.next(), required.next()) {
        (Some(only), None) => only,
        (None, _) if properties.len() == 1 => properties.keys().next()?,
        _ => return None,
    };
    let types = types_of(Some(tool), only);
    (types.string || types == Types::default()).then_some(only)
}

/// True when all arguments that `tool` requires are `given`.
pub(crate) fn has_required(tool: &Tool, given: impl Fn(&str) -> bool) -> bool {
    required(tool).all(given)
}

fn properties(tool: &Tool) -> Option<&Map<String, Value>> {
    tool.parameters.get("properties").and_then(Value::as_object)
}

fn required(tool: &Tool) -> impl Iterator<Item = &str> {
    let required = tool.parameters.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

/// The one tool that takes these arguments: it declares all of them, and misses none.
pub(crate) fn meant<'t>(tools: &'t [Tool], arguments: &str) -> Option<&'t Tool> {
    let arguments: Map<String, Value> = serde_json::from_str(arguments).ok()?;
    let takes = |tool: &&Tool| {
        arguments.keys().all(|key| may_have(Some(tool), key))
            && has_required(tool, |key| arguments.contains_key(key))
    };
    let mut fitting = tools.iter().filter(takes);
    fitting.next().filter(|_| fitting.next().is_none())
}
