//! Forms: short templates such as `<parameter={key}>` that are read from both ends.

use std::ops::Range;

use crate::codec::attributes;
use crate::schema::Types;

/// A head: where name and id stand, such as `functions.{name}:{index}`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeadForm {
    /// Text and slots, in order.
    pub parts: Vec<Slot>,
    /// True when the whole head is also the call's id.
    pub is_id: bool,
    /// The attributes that the slots are values of, in any order when read; none where the head is plain text.
    pub attributes: Vec<(String, Slot)>,
}

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

/// A call as one JSON object, such as `{"name": "{name}", "arguments": {args}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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

/// One argument between marks, such as `<parameter={key}>\n{value}\n</parameter>\n`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldForm {
    /// Text and slots, in order.
    pub parts: Vec<Slot>,
    /// Opens the header that holds the key, without the quote before the key: the written spelling first.
    pub open: Vec<String>,
    /// Closes the header.
    pub header_close: Vec<String>,
    /// Opens the value, where that is a mark of its own.
    pub value_open: Vec<String>,
    /// Marks around the type of the value, which may stand before the value's own mark: read, and not written.
    pub typed: Option<[Vec<String>; 2]>,
    /// May stand between two marks, and means nothing.
    pub noise: Vec<String>,
    /// Closes the value, the written spelling first; holds `{key}` when the key is repeated there.
    pub value_close: Vec<String>,
    /// What ends a value that nothing closes: the opener of the next field, and the mark behind the arguments.
    pub borders: Vec<String>,
    /// How the key stands in the header.
    pub key: KeyKind,
    /// One newline after the header and one before the closer belong to the markup.
    pub framed: bool,
    /// Values carry XML entities or stand in CDATA sections.
    pub xml: bool,
    /// Values are JSON, so that texts stand in quotes.
    pub json: bool,
    /// Non-strings are written as Python does.
    pub python: bool,
    /// So are objects and arrays.
    pub containers: bool,
    /// The words of `{type}` for text, an object, a list and anything else; JSON's own where there are none.
    pub types: Option<[String; 4]>,
    /// Values may be elements of the same form.
    pub nest: Option<Nest>,
}

/// Objects and lists as elements inside an element.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nest {
    /// An item of a list: text and slots, in order.
    pub item: Vec<Slot>,
    /// The key that an item carries, where it carries one.
    pub key: Option<String>,
    /// Objects and lists are written as elements; otherwise they are only read so, and written as JSON.
    pub written: bool,
}

/// How the key stands in the header of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyKind {
    /// Bare or quoted, perhaps with attributes behind it.
    First,
    /// Alone: the header is nothing else.
    Whole,
    /// As the attribute of this name.
    Attribute(String),
}

/// What opens a field has at least so many bytes where nothing closes its value.
const MIN_OPENER: usize = 3;

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
    let mut text = String::new();
    let mut rest = form;
    while let Some(first) = rest.chars().next() {
        if let Some((spelling, slot)) = SLOTS.iter().find(|(spelling, _)| rest.starts_with(spelling)) {
            if !text.is_empty() {
                parts.push(Slot::Text(std::mem::take(&mut text)));
            }
            parts.push(slot.clone());
            rest = &rest[spelling.len()..];
        } else {
            text.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    if !text.is_empty() {
        parts.push(Slot::Text(text));
    }
    parts
}

impl HeadForm {
    /// `text` as a form; `Err` holds what was expected.
    pub(super) fn new(text: &str) -> Result<Self, &'static str> {
        let parts = parts(text);
        if !parts.iter().any(|part| matches!(part, Slot::Name | Slot::Id)) {
            return Err("a head with {name} or {id}");
        }
        if parts.windows(2).any(|pair| !pair.iter().any(|part| matches!(part, Slot::Text(_)))) {
            return Err("text between two slots of a head");
        }
        let is_id = parts.contains(&Slot::Index);
        let attributes = parts.windows(2).filter_map(|pair| match pair {
            [Slot::Text(before), slot] => {
                let name = before.strip_suffix("=\"")?.rsplit(['"', ' ']).next()?;
                Some((name.to_owned(), slot.clone()))
            }
            _ => None,
        });
        let attributes = attributes.collect();
        Ok(Self { parts, is_id, attributes })
    }

    /// How long this head may be beside what its slots for name and id hold, in bytes.
    pub(crate) fn frame(&self) -> usize {
        const MAX_DIGITS: usize = 20;
        let len = |part: &Slot| match part {
            Slot::Text(text) => text.len(),
            Slot::Index => MAX_DIGITS,
            _ => 0,
        };
        self.parts.iter().map(len).sum()
    }

    /// True when `id` is what this head would say for a call of `name`.
    pub(crate) fn says(&self, id: &str, name: &str) -> bool {
        let mut rest = Some(id);
        for part in &self.parts {
            rest = rest.and_then(|rest| match part {
                Slot::Text(text) => rest.strip_prefix(text.as_str()),
                Slot::Name => rest.strip_prefix(name),
                Slot::Index => {
                    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                    (behind.len() < rest.len()).then_some(behind)
                }
                _ => Some(rest),
            });
        }
        rest == Some("")
    }

    /// True when `head` begins as this form does, and does not go on as it should: with the call's number.
    pub(crate) fn is_half(&self, head: &str) -> bool {
        let [Slot::Text(before), Slot::Name, Slot::Text(between), Slot::Index] = &self.parts[..] else {
            return false;
        };
        let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        let behind = head.rsplit_once(between.as_str()).map(|(_, number)| number);
        head.starts_with(before.as_str()) && !behind.is_some_and(number)
    }

    /// Takes a head apart: where name and id stand in it. Text of the form that is missing in `head` is forgiven, and so
    /// is the name where nothing but the call's number is left.
    pub(crate) fn read(&self, head: &str) -> (Option<Range<usize>>, Option<Range<usize>>) {
        let (mut name, mut id) = (None, None);
        if self.is_id && head.bytes().all(|byte| byte.is_ascii_digit()) {
            return (None, Some(0..head.len()));
        }
        if !self.attributes.is_empty() {
            for (attribute, slot) in &self.attributes {
                match slot {
                    Slot::Name => name = attributes::find(head, attribute),
                    Slot::Id | Slot::Number => id = attributes::find(head, attribute),
                    _ => {}
                }
            }
            return (name, id);
        }
        let mut at = 0;
        for (place, part) in self.parts.iter().enumerate() {
            let rest = &head[at..];
            match part {
                Slot::Text(text) if rest.starts_with(text.as_str()) => at += text.len(),
                Slot::Text(_) => {}
                slot => {
                    let len = match self.parts.get(place + 1) {
                        Some(Slot::Text(text)) => rest.rfind(text.as_str()).unwrap_or(rest.len()),
                        _ => rest.len(),
                    };
                    match slot {
                        Slot::Name => name = Some(at..at + len),
                        Slot::Id => id = Some(at..at + len),
                        _ => {}
                    }
                    at += len;
                }
            }
        }
        (name, if self.is_id { Some(0..head.len()) } else { id })
    }
}

/// The spellings of a tag such as `<key=`, and beside them those with a space, as models write them.
fn loosened(mut spellings: Vec<String>) -> Vec<String> {
    for place in 0..spellings.len() {
        let name = spellings[place].strip_prefix('<').and_then(|rest| rest.strip_suffix('='));
        let name =
            name.filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric())).map(str::to_owned);
        if let Some(name) = name {
            spellings.extend([format!("<{name} ="), format!("< {name}="), format!("< {name} =")]);
        }
    }
    spellings
}

impl CallForm {
    /// `text` as a form; `Err` holds what was expected.
    pub(super) fn new(text: &str, python: bool) -> Result<Self, &'static str> {
        let parts = parts(text);
        // With its slots filled the form is JSON, and JSON tells which key holds what.
        let probe: String = parts
            .iter()
            .map(|part| match part {
                Slot::Text(text) => text.as_str(),
                Slot::Name => "{name}",
                Slot::Id => "{id}",
                Slot::Args => "\"{args}\"",
                _ => "",
            })
            .collect();
        let probe = if python { probe.replace('\'', "\"") } else { probe };
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&probe)
            .map_err(|_| "a form that is a JSON object once its slots are filled")?;
        let is = |value: &serde_json::Value, slot: &str| value.as_str() == Some(slot);
        let holds = |slot: &str| object.iter().find(|(_, value)| is(value, slot)).map(|(key, _)| key.clone());
        let (mut around, mut inner) = (Vec::new(), &object);
        let args = loop {
            if let Some((key, _)) = inner.iter().find(|(_, value)| is(value, "{args}")) {
                break key.clone();
            }
            let nested = inner.iter().find_map(|(key, value)| Some((key, value.as_object()?)));
            let (key, object) = nested.ok_or("a form with {args}")?;
            around.push(key.clone());
            inner = object;
        };
        let name = holds("{name}");
        if name.is_none() && args != "{name}" {
            return Err("a form with \"{name}\" as a value or as the key of {args}");
        }
        let slot = |value: &serde_json::Value| {
            value.is_object() || ["{name}", "{id}", "{args}"].iter().any(|slot| is(value, slot))
        };
        let others = object.iter().filter(|(_, value)| !slot(value)).map(|(key, _)| key.clone()).collect();
        Ok(Self { parts, name, args, around, others, id: holds("{id}"), python })
    }
}

impl FieldForm {
    /// True when the value's closer holds the key.
    pub fn repeats_key(&self) -> bool {
        self.value_close.iter().any(|mark| mark.contains("{key}"))
    }

    /// True when a field says the type of its value.
    pub(crate) fn says_type(&self) -> bool {
        self.parts.contains(&Slot::Type)
    }

    /// What `{type}` says of a value.
    pub(crate) fn type_word(&self, json: &str) -> &str {
        let words = self.types.as_ref();
        match (json.as_bytes().first(), words) {
            (Some(b'"'), Some([text, ..])) => text,
            (Some(b'{'), Some([_, object, ..])) => object,
            (Some(b'['), Some([_, _, list, _])) => list,
            (_, Some([.., other])) => other,
            (Some(b'"'), None) => "string",
            (Some(b'{'), None) => "object",
            (Some(b'['), None) => "array",
            (Some(b't' | b'f'), None) => "boolean",
            (Some(b'n'), None) => "null",
            _ => "number",
        }
    }

    /// The types that the word of a field stands for; none for a word that says nothing but that it is JSON.
    pub(crate) fn types_said(&self, word: Option<&str>) -> Option<Types> {
        let word = word?;
        let own = |place: usize| self.types.as_ref().is_some_and(|words| words[place] == word);
        Some(Types {
            string: own(0) || matches!(word, "true" | "string" | "raw"),
            object: own(1) || word == "object",
            array: own(2) || word == "array",
            ..Types::default()
        })
    }

    /// The form of a value that has no markup of its own.
    pub fn raw() -> Self {
        Self {
            parts: vec![Slot::Value],
            open: Vec::new(),
            header_close: Vec::new(),
            value_open: Vec::new(),
            typed: None,
            noise: Vec::new(),
            value_close: Vec::new(),
            borders: Vec::new(),
            key: KeyKind::First,
            framed: false,
            xml: false,
            json: false,
            python: false,
            containers: false,
            types: None,
            nest: None,
        }
    }

    /// `text` as the form of a line; `Err` holds what was expected.
    pub(super) fn line(text: &str) -> Result<Self, &'static str> {
        let wrong = "a line such as \"{key}: {value}\\n\", with a line feed at one of its ends";
        let parts = parts(text);
        let slots: Vec<&Slot> = parts.iter().filter(|part| !matches!(part, Slot::Text(_))).collect();
        let (before, rest) = text.split_once("{key}").ok_or(wrong)?;
        let (pair, after) = rest.split_once("{value}").ok_or(wrong)?;
        let sound = slots == [&Slot::Key, &Slot::Value] && !pair.trim().is_empty() && !pair.contains('\n');
        let fed = |text: &str| text.matches('\n').count();
        if !sound || !after.trim().is_empty() || fed(before) + fed(after) != 1 {
            return Err(wrong);
        }
        Ok(Self { parts, value_close: vec!["\n".to_owned()], ..Self::raw() })
    }

    /// This form, in which an item of a list is written as `item`; `Err` holds what was expected.
    pub(super) fn nested(mut self, item: &str, written: bool) -> Result<Self, &'static str> {
        let wrong = "an item with the markup of the form and {value}";
        let (before, _) = item.split_once("{value}").ok_or(wrong)?;
        let header = before.strip_prefix(self.open[0].as_str()).ok_or(wrong)?;
        let header = header.strip_suffix(self.header_close[0].as_str()).ok_or(wrong)?;
        let bare = header.trim().trim_matches(['"', '\'']);
        let key = (self.key == KeyKind::First).then(|| bare.to_owned());
        self.nest = Some(Nest { item: parts(item), key, written });
        Ok(self)
    }

    /// `text` as a form; `Err` holds what was expected.
    pub(super) fn new(
        text: &str,
        elements: bool,
        folded: impl Fn(&str) -> Vec<String>,
    ) -> Result<Self, &'static str> {
        let parts = parts(text);
        let place = |slot: &Slot| parts.iter().position(|part| part == slot);
        let key = place(&Slot::Key).ok_or("a field with {key}")?;
        let value = place(&Slot::Value).ok_or("a field with {value} after {key}")?;
        let (Some(Slot::Text(before_key)), Some(Slot::Text(before_value))) = (
            key.checked_sub(1).and_then(|at| parts.get(at)),
            value.checked_sub(1).and_then(|at| parts.get(at)),
        ) else {
            return Err("a field with markup before {key} and before {value}");
        };
        if value < key {
            return Err("a field with {value} after {key}");
        }
        let opener = before_key.trim_start().trim_end_matches(['"', '\'']);
        let (open, key_kind) = match opener.rsplit_once(' ') {
            Some((open, attribute))
                if attribute.ends_with('=')
                    && !open.contains('=')
                    && (elements || open.starts_with("<|")) =>
            {
                (open.to_owned(), KeyKind::Attribute(attribute.trim_end_matches('=').to_owned()))
            }
            _ => (opener.to_owned(), KeyKind::First),
        };
        let framed = before_value.ends_with('\n');
        let header_and_value = before_value.trim_start_matches(['"', '\'']).trim();
        let (header_close, value_open) =
            match header_and_value.find("><").or_else(|| header_and_value.find(">\n<")) {
                Some(at) => (&header_and_value[..=at], header_and_value[at + 1..].trim_start()),
                None => (header_and_value, ""),
            };
        let key_kind = if value_open.is_empty() { key_kind } else { KeyKind::Whole };
        let closer: String = parts[value + 1..]
            .iter()
            .map(|part| match part {
                Slot::Text(text) => text.as_str(),
                _ => "{key}",
            })
            .collect();
        let value_close = closer.trim().to_owned();
        // Without a mark of its own, a value ends where the next field opens or the call closes.
        let unclosed = value_close.is_empty() && !elements && !open.is_empty();
        let framed = framed && closer.starts_with('\n');
        // The end of its line may be all that ends a header.
        let line = header_close.is_empty() && framed;
        if open.is_empty() || (header_close.is_empty() && !line) || (value_close.is_empty() && !unclosed) {
            return Err("a field with markup before {key}, between {key} and {value}, and after {value}");
        }
        if unclosed && open.len() < MIN_OPENER {
            return Err("markup after {value}, or a longer mark before {key}");
        }
        let header_close = if line { vec!["\n".to_owned()] } else { folded(header_close) };
        let value_open = if value_open.is_empty() { Vec::new() } else { folded(value_open) };
        Ok(Self {
            parts,
            open: loosened(vec![open]).iter().flat_map(|open| folded(open)).collect(),
            header_close,
            value_open,
            typed: None,
            noise: Vec::new(),
            value_close: if unclosed { Vec::new() } else { folded(&value_close) },
            borders: Vec::new(),
            key: key_kind,
            framed,
            xml: false,
            json: false,
            python: false,
            containers: false,
            types: None,
            nest: None,
        })
    }
}
