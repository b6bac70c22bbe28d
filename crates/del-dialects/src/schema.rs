//! String or number? What a tool's JSON Schema says of one argument, and how raw text becomes JSON by it.

mod allowed;
mod declared;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use crate::fault::FaultKind;
use crate::message::Tool;
use crate::turn::End;
use crate::value::quoted;
use crate::value::{Family, Given, Marks, Progress, Reader, Syntax, number};
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
    /// The place of the argument `key`.
    pub(crate) fn argument(tool: Option<&'s Tool>, key: &str) -> Self {
        tool.map_or(Self { root: &Value::Null, schema: None }, |tool| tool.parameters.place(key))
    }

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
    fn is_constant(self, text: &str) -> bool {
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

/// The types that `tool` declares for the argument `key`; none when it declares nothing of it.
pub(crate) fn types_of(tool: Option<&Tool>, key: &str) -> Types {
    tool.map_or_else(Types::default, |tool| tool.parameters.types(key))
}

/// True when `tool` is known and declares the argument `key`, or when nothing is known of the tool.
pub(crate) fn may_have(tool: Option<&Tool>, key: &str) -> bool {
    tool.is_none_or(|tool| tool.parameters.argument(key).is_some())
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
/// declares the arguments in the same order.
pub(crate) fn positional(tool: &Tool, place: usize) -> Option<&str> {
    let declared = tool.parameters.get("properties")?.as_object()?.keys().nth(place)?;
    let required = tool.parameters.get("required").and_then(|required| required.get(place)?.as_str());
    let only = place == 0 && tool.parameters.get("properties")?.as_object()?.len() == 1;
    (only || required == Some(declared)).then_some(declared.as_str())
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
    let properties = tool.parameters.get("properties").and_then(Value::as_object)?;
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

fn required(tool: &Tool) -> impl Iterator<Item = &str> {
    let required = tool.parameters.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

/// The one tool that takes these arguments: it declares all of them, and misses none.
pub(crate) fn meant<'t>(tools: &'t [Tool], arguments: &str) -> Option<&'t Tool> {
    let arguments: serde_json::Map<String, Value> = serde_json::from_str(arguments).ok()?;
    let takes = |tool: &&Tool| {
        arguments.keys().all(|key| may_have(Some(tool), key))
            && has_required(tool, |key| arguments.contains_key(key))
    };
    let mut fitting = tools.iter().filter(takes);
    fitting.next().filter(|_| fitting.next().is_none())
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

    fn is_unknown(self) -> bool {
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

/// A value is nested deeper than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// A value as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Typed {
    pub(crate) json: String,
    /// False when it fits none of the declared types.
    pub(crate) fits: bool,
    /// The gravest that was mended in it.
    pub(crate) mended: Option<FaultKind>,
}

impl Typed {
    fn new(json: impl Into<String>, fits: bool) -> Self {
        Self { json: json.into(), fits, mended: None }
    }

    fn guessed(json: &str) -> Self {
        Self { mended: Some(FaultKind::GuessedValue), ..Self::new(json, true) }
    }
}

/// The graver of two mends: one that may have changed the arguments.
pub(crate) fn graver(one: Option<FaultKind>, other: Option<FaultKind>) -> Option<FaultKind> {
    if one.is_some_and(FaultKind::changes_arguments) { one } else { other.or(one) }
}

/// How values are spelt, and how deep they may be nested.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling {
    /// Literals are Python's.
    pub(crate) python: bool,
    pub(crate) max_depth: usize,
}

/// Raw text as JSON: the most specific declared type that it can be read as, and text where it fits none.
pub(crate) fn typed(text: &str, types: Types, spelling: Spelling) -> Result<Typed, TooDeep> {
    let value = text.trim();
    if types.only_string() {
        return Ok(Typed::new(quoted(text), true));
    }
    let family = if spelling.python { Family::Python } else { Family::Either };
    if types.is_unknown() {
        // What nobody declares and only a guess makes a value is text.
        let sure = |read: &Typed| !read.mended.is_some_and(FaultKind::changes_arguments);
        let json = as_json(value, spelling)?.filter(|read| !read.json.starts_with('"') && sure(read));
        return Ok(json.unwrap_or_else(|| Typed::new(quoted(text), true)));
    }
    let nothing = |words: &[&str]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    if (types.null && nothing(&["null", "none"])) || (!types.string && nothing(&["null", "none", "nil"])) {
        return Ok(Typed::new("null", types.null));
    }
    if let Some(read) = numeric(value, types, family).or_else(|| truth(value, types)) {
        return Ok(read);
    }
    if let Some(read) = nested(value, types, spelling)? {
        return Ok(read);
    }
    // A value in quotes, where no text may stand.
    if let Some(inside) = unquoted(value).filter(|_| !types.string) {
        let read = typed(inside, types, spelling)?;
        if read.fits {
            return Ok(read);
        }
    }
    Ok(Typed::new(quoted(text), types.string))
}

fn numeric(value: &str, types: Types, family: Family) -> Option<Typed> {
    if (types.integer || types.number) && is_number(value) {
        let integral = value.strip_suffix(".0").filter(|_| types.integer && !types.number);
        let whole = || value.parse().is_ok_and(|number: f64| number.fract() == 0.0);
        let fits = types.number || !value.contains(['.', 'e', 'E']) || integral.is_some();
        if fits || (!types.string && whole()) {
            return Some(Typed::new(integral.unwrap_or(value), true));
        }
    }
    // A number as people write it, where it can be nothing else.
    let declared = (types.integer || types.number) && !types.string;
    let (json, mended) = number(value, family).filter(|_| declared)?;
    let fits = types.number || !json.contains(['.', 'e', 'E']);
    fits.then(|| Typed { mended, ..Typed::new(json, true) })
}

fn truth(value: &str, types: Types) -> Option<Typed> {
    if !types.boolean {
        return None;
    }
    let word = value.to_ascii_lowercase();
    match word.as_str() {
        "true" | "false" => Some(Typed::new(word, true)),
        "1" | "yes" | "on" if !types.string => Some(Typed::guessed("true")),
        "0" | "no" | "off" if !types.string => Some(Typed::guessed("false")),
        _ => None,
    }
}

/// An object or a list, where one may stand.
fn nested(value: &str, types: Types, spelling: Spelling) -> Result<Option<Typed>, TooDeep> {
    let opens = |byte: u8| value.as_bytes().first() == Some(&byte);
    let fits = (types.object && opens(b'{')) || (types.array && opens(b'['));
    // An object where a list is declared is still what the model means.
    let nests = (types.object || types.array) && !types.string && (opens(b'{') || opens(b'['));
    if !fits && !nests {
        return Ok(None);
    }
    if let Some(read) = as_json(value, spelling)? {
        return Ok(Some(Typed { fits, ..read }));
    }
    // Some models write what would stand inside a JSON string.
    let Ok(plain) = serde_json::from_str::<String>(&format!("\"{value}\"")) else { return Ok(None) };
    let read = as_json(&plain, spelling)?;
    Ok(read.map(|read| Typed { fits, mended: graver(read.mended, Some(FaultKind::Repaired)), ..read }))
}

/// What stands between the quotes of `text`, which may be escaped; none where it holds more of them.
fn unquoted(text: &str) -> Option<&str> {
    let inside = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inside("\"").or_else(|| inside("\\\"")).filter(|inside| !inside.contains('"'))
}

/// `text` as one JSON value, with JSON's or Python's spelling of literals.
pub(crate) fn as_json(text: &str, spelling: Spelling) -> Result<Option<Typed>, TooDeep> {
    if is_number(text) {
        return Ok(Some(Typed::new(text, true)));
    }
    let syntax = if spelling.python { Syntax::python() } else { Syntax::either() };
    let given = Given { syntax, marks: &Marks::default(), text, end: Some(End::End) };
    let (mut values, mut out, mut look) = (Reader::new(spelling.max_depth), String::new(), 0);
    let mut emit = |piece: &str, _: Range<usize>| out.push_str(piece);
    let progress = values.read(given, &mut look, &mut 0, &mut 0, &mut emit);
    if progress == Progress::TooDeep {
        return Err(TooDeep);
    }
    let whole = match progress {
        Progress::Done => text[look..].trim().is_empty(),
        // What ends the value follows it, so that only brackets can be missing.
        Progress::More => values.close_missing(given, &mut emit),
        _ => false,
    };
    let notes = values.notes.take().unwrap_or_default();
    let mended = notes.iter().fold(None, |mended, (kind, _)| graver(mended, Some(kind)));
    Ok(whole.then(|| Typed { mended, ..Typed::new(out.trim(), true) }))
}

fn is_number(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b'-' | b'0'..=b'9'))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
