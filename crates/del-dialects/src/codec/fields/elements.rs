//! Elements inside an element: objects and lists that are written as markup all the way down.
//!
//! What an element is, the schema says. Where it says nothing, children that are all items are a list, other children
//! are members of an object, and text alone is a value like any other.

use std::collections::HashMap;

use super::delimiters::whole_tail;
use super::header::{Header, MAX_HEADER, is_quoted};
use super::xml::{SECTION, unescaped};
use crate::dialect::{FieldForm, KeyKind};
use crate::fault::FaultKind;
use crate::scan::{Automaton, Scan};
use crate::schema::{Place, Types};
use crate::typed::{Spelling, TooDeep, Typed, graver, typed};
use crate::value::quoted;

/// The marks of elements, ready to be found.
#[derive(Debug)]
pub(super) struct ElementMarks {
    /// What opens an element, then what closes one, up to where the key stands.
    marks: Automaton,
    openers: usize,
    /// What closes an element behind its key.
    close: String,
}

impl ElementMarks {
    pub(super) fn new(form: &FieldForm) -> Self {
        let heads: Vec<&str> =
            form.value_close.iter().filter_map(|mark| mark.split("{key}").next()).collect();
        let close = form.value_close.first().and_then(|mark| mark.split_once("{key}"));
        Self {
            marks: Automaton::new(form.open.iter().map(String::as_str).chain(heads)),
            openers: form.open.len(),
            close: close.map_or(String::new(), |(_, behind)| behind.to_owned()),
        }
    }
}

/// Reads what stands inside an element, of which `types` are known beside its place in the schema.
pub(super) fn read(
    form: &FieldForm,
    marks: &ElementMarks,
    text: &str,
    place: Place<'_>,
    types: Types,
    max_depth: usize,
) -> Result<Typed, TooDeep> {
    let spelling = Spelling { python: form.python, max_depth };
    let mut tree = Tree { form, spelling, fits: true, mended: None };
    let mut open = vec![Open::new(None, true, place, types)];
    let (mut scan, mut look, mut from) = (Scan::default(), 0, 0);
    while let Some(hit) = marks.marks.find(&mut scan, text.as_bytes(), &mut look, &mut 0) {
        let depth = open.len();
        let Some(last) = open.last_mut() else { break };
        if hit.start < from {
            continue;
        }
        if form.xml && text[hit.start..].starts_with(SECTION) {
            look = text[hit.start..].find("]]>").map_or(text.len(), |end| hit.start + end);
            continue;
        }
        if (hit.pattern as usize) < marks.openers {
            let Some((header, behind)) = header(form, text, hit.end) else { continue };
            let empty = header.trim_end().strip_suffix('/');
            let (key, word) = Header::attributes(empty.unwrap_or(header), &form.key);
            if last.types.only_string() {
                // Its own opener once more: the closer before it may be misspelt.
                if depth > 1 && key == last.key.as_deref() {
                    tree.mended = Some(FaultKind::GuessedBorder);
                }
                continue;
            }
            let item = key == form.nest.as_ref().and_then(|nest| nest.key.as_deref());
            // Where keys are attributes, nothing else looks like one.
            let any = matches!(form.key, KeyKind::Attribute(_));
            if key.map_or(!item, |key| !any && !is_key(key)) {
                continue;
            }
            last.text.push_str(&text[from..hit.start]);
            if is_quoted(header, &form.key) || key.is_some_and(|key| key.contains('"')) {
                tree.mended = Some(FaultKind::GuessedBorder);
            }
            let place = last.inside(key, item);
            let types = form.types_said(word).unwrap_or_else(|| place.types());
            if depth > max_depth {
                return Err(TooDeep);
            }
            open.push(Open::new(key.map(str::to_owned), item, place, types));
            from = behind;
            if empty.is_some() {
                tree.close(&mut open, "")?;
            }
        } else {
            let rest = &text[hit.end..];
            // How long a closer of this element is behind its opening mark.
            let closer = |open: &Open<'_>| match &open.key {
                Some(key) if form.repeats_key() => {
                    let behind = rest.strip_prefix(key.as_str())?;
                    behind.starts_with(&marks.close).then(|| key.len() + marks.close.len())
                }
                _ => (!form.repeats_key()).then_some(marks.close.len()),
            };
            let mut outer = open.iter().enumerate().skip(1).rev();
            let Some((place, len)) = outer.find_map(|(place, open)| Some((place, closer(open)?))) else {
                continue;
            };
            tree.close_to(&mut open, place, &text[from..hit.start])?;
            from = hit.end + len;
        }
    }
    let mut json = String::new();
    let left = open.len() > 1;
    if left {
        tree.close_to(&mut open, 1, &text[from..])?;
        tree.mended = Some(FaultKind::GuessedBorder);
    }
    if let Some(outermost) = open.pop() {
        json = tree.value(outermost, if left { "" } else { &text[from..] })?;
    }
    Ok(Typed { json, fits: tree.fits, mended: tree.mended })
}

/// What stands between an opening mark and the value, and where that begins.
fn header<'t>(form: &FieldForm, text: &'t str, from: usize) -> Option<(&'t str, usize)> {
    let end = text.len().min(from + MAX_HEADER);
    let bytes = &text.as_bytes()[from..end];
    let ends = |byte: u8| form.header_close.iter().any(|close| close.as_bytes().first() == Some(&byte));
    let stop = bytes.iter().position(|&byte| ends(byte) || byte == b'<')?;
    let rest = text.get(from + stop..)?;
    let behind = form.header_close.iter().find_map(|close| rest.strip_prefix(close.as_str()))?;
    Some((&text[from..from + stop], text.len() - behind.len()))
}

/// True for what may be the key of an element.
pub(super) fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'))
        && !key.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '/'))
}

/// An element that is not closed yet.
struct Open<'s> {
    key: Option<String>,
    item: bool,
    place: Place<'s>,
    types: Types,
    children: Vec<Child>,
    /// Text before and between the children.
    text: String,
}

struct Child {
    key: Option<String>,
    item: bool,
    json: String,
}

impl<'s> Open<'s> {
    fn new(key: Option<String>, item: bool, place: Place<'s>, types: Types) -> Self {
        Self { key, item, place, types, children: Vec::new(), text: String::new() }
    }

    /// The place of a child.
    fn inside(&self, key: Option<&str>, item: bool) -> Place<'s> {
        let member = self.place.member(key.unwrap_or_default());
        let listed = item && self.types.array && !self.types.object;
        if member.is_declared() && !listed { member } else { self.place.items() }
    }

    fn is_list(&self) -> bool {
        let items = self.children.iter().all(|child| child.item);
        let first = self.children.first().and_then(|child| child.key.as_deref());
        let member = first.is_some_and(|key| self.place.member(key).is_declared());
        match (self.types.array, self.types.object) {
            (true, true) => items && !member,
            (false, false) => items,
            (array, _) => array,
        }
    }
}

struct Tree<'f> {
    form: &'f FieldForm,
    spelling: Spelling,
    fits: bool,
    mended: Option<FaultKind>,
}

impl Tree<'_> {
    /// The element at `place` ends, and with it those inside that nothing has closed; `text` is what stands in the
    /// innermost behind its last child.
    fn close_to(&mut self, open: &mut Vec<Open<'_>>, place: usize, text: &str) -> Result<(), TooDeep> {
        if place + 1 < open.len() {
            self.mended = Some(FaultKind::GuessedBorder);
        }
        self.close(open, text)?;
        while open.len() > place {
            self.close(open, "")?;
        }
        Ok(())
    }

    /// The innermost element ends.
    fn close(&mut self, open: &mut Vec<Open<'_>>, text: &str) -> Result<(), TooDeep> {
        let Some(mut element) = open.pop() else { return Ok(()) };
        let (key, item) = (element.key.take(), element.item);
        let json = self.value(element, text)?;
        if let Some(parent) = open.last_mut() {
            parent.children.push(Child { key, item, json });
        }
        Ok(())
    }

    fn value(&mut self, mut element: Open<'_>, text: &str) -> Result<String, TooDeep> {
        element.text.push_str(text);
        let (list, types) = (element.is_list(), element.types);
        let plain = if self.form.xml { unescaped(&element.text) } else { element.text };
        let blank = plain.trim().is_empty();
        if element.children.is_empty() {
            return match (types.object, types.array) {
                (true, _) if blank && !types.string => Ok("{}".to_owned()),
                (_, true) if blank && !types.string => Ok("[]".to_owned()),
                _ => {
                    if slipped(self.form, &plain) {
                        self.mended = Some(FaultKind::GuessedBorder);
                    }
                    let read = typed(&plain, types, self.spelling)?;
                    let text = read.json.starts_with('"') && element.place.types().excludes_string();
                    self.fits &= read.fits && !text;
                    self.mended = graver(self.mended, read.mended);
                    Ok(read.json)
                }
            };
        }
        if !blank {
            self.mended = Some(FaultKind::GuessedBorder);
        }
        self.fits &= types == Types::default() || if list { types.array } else { types.object };
        if !list && element.children.iter().any(|child| child.key.is_none()) {
            self.mended = Some(FaultKind::GuessedBorder);
        }
        let rest = (!blank).then(|| quoted(&plain));
        Ok(if list {
            listed(element.children.into_iter().map(|child| child.json).chain(rest))
        } else {
            object(element.children, rest)
        })
    }
}

/// True for a text that holds what is left of an opening mark without its beginning, and not of a closing one.
fn slipped(form: &FieldForm, text: &str) -> bool {
    let opens = |(at, tail): (usize, &str)| {
        text[at + tail.len()..].starts_with(|c: char| c == ' ' || c.is_alphanumeric())
    };
    form.open.iter().filter_map(|open| whole_tail(open)).any(|tail| text.match_indices(tail).any(opens))
}

fn listed(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// Members in their order; values of one key are a list, and text between them has a key of its own.
fn object(children: Vec<Child>, text: Option<String>) -> String {
    let mut members: Vec<(String, Vec<String>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for Child { key, json, .. } in children {
        let key = key.unwrap_or_default();
        let place = *places.entry(key.clone()).or_insert(members.len());
        match members.get_mut(place) {
            Some((_, values)) => values.push(json),
            None => members.push((key, vec![json])),
        }
    }
    if let Some(text) = text {
        let mut key = String::from(TEXT);
        while places.contains_key(&key) {
            key.insert(0, '$');
        }
        members.push((key, vec![text]));
    }
    let member = |(key, mut values): (String, Vec<String>)| {
        let value = if values.len() == 1 { values.remove(0) } else { listed(values) };
        format!("{}:{value}", quoted(&key))
    };
    format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
}

/// The key of text that stands between elements.
const TEXT: &str = "$text";
