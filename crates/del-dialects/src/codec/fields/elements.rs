//! Elements inside an element: objects and lists that are written as markup all the way down.
//!
//! What an element is, the schema says. Where it says nothing, children that are all items are a list, other children
//! are members of an object, and text alone is a value like any other.

use std::collections::HashMap;

use super::header::Header;
use super::xml::{SECTION, unescaped};
use crate::dialect::{FieldForm, KeyKind, Nest};
use crate::fault::FaultKind;
use crate::scan::{Automaton, Scan};
use crate::schema::{Place, Spelling, TooDeep, Typed, Types, escape, graver, typed};

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

/// The longest header of an element, in bytes.
const MAX_HEADER: usize = 512;

/// Reads what stands inside an element, of which `types` are known beside its place in the schema.
pub(super) fn read(
    form: &FieldForm,
    nest: &Nest,
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
        let Some(last) = open.last_mut() else { break };
        if hit.start < from {
            continue;
        }
        if form.xml && text[hit.start..].starts_with(SECTION) {
            look = text[hit.start..].find("]]>").map_or(text.len(), |end| hit.start + end);
            continue;
        }
        if (hit.pattern as usize) < marks.openers {
            let Some((header, behind)) = header(form, text, hit.end).filter(|_| !last.types.only_string())
            else {
                continue;
            };
            let (empty, header) = match header.trim_end().strip_suffix('/') {
                Some(header) => (true, header),
                None => (false, header),
            };
            let (key, word) = Header::attributes(header, &form.key);
            let item = key == nest.key.as_deref();
            // Where keys are attributes, nothing else looks like one.
            let any = matches!(form.key, KeyKind::Attribute(_));
            if key.is_some_and(|key| !any && !is_key(key)) || (key.is_none() && !item) {
                continue;
            }
            last.text.push_str(&text[from..hit.start]);
            let place = last.inside(key, item);
            let types = form.types_said(word).unwrap_or_else(|| place.types());
            if open.len() > max_depth {
                return Err(TooDeep);
            }
            open.push(Open::new(key.map(str::to_owned), item, place, types));
            from = behind;
            if empty {
                tree.close(&mut open, "")?;
            }
        } else {
            let rest = &text[hit.end..];
            let is_closed = |open: &Open<'_>| match &open.key {
                Some(key) if form.repeats_key() => {
                    rest.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with(&marks.close))
                }
                _ => !form.repeats_key(),
            };
            let Some(place) = open.iter().skip(1).rposition(is_closed) else { continue };
            let key = open[place + 1].key.as_ref().filter(|_| form.repeats_key()).map_or(0, String::len);
            let behind = hit.end + key + marks.close.len();
            if place + 2 < open.len() {
                tree.mended = Some(FaultKind::GuessedBorder);
            }
            let mut inside = &text[from..hit.start];
            while open.len() > place + 1 {
                tree.close(&mut open, inside)?;
                inside = "";
            }
            from = behind;
        }
    }
    if open.len() > 1 {
        tree.mended = Some(FaultKind::GuessedBorder);
    }
    let mut inside = &text[from..];
    while open.len() > 1 {
        tree.close(&mut open, inside)?;
        inside = "";
    }
    let mut json = String::new();
    if let Some(outermost) = open.pop() {
        tree.value(outermost, inside)?.write(&mut json);
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
    node: Node,
}

/// JSON that is not yet one text.
enum Node {
    Leaf(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
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
        let member = || {
            self.children.first().is_some_and(|child| {
                child.key.as_deref().is_some_and(|key| self.place.member(key).is_declared())
            })
        };
        match (self.types.array, self.types.object) {
            (true, false) => true,
            (false, true) => false,
            (true, true) => items && !member(),
            (false, false) => items,
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
    /// The innermost element ends; `text` is what stands in it behind its last child.
    fn close(&mut self, open: &mut Vec<Open<'_>>, text: &str) -> Result<(), TooDeep> {
        let Some(mut element) = open.pop() else { return Ok(()) };
        let (key, item) = (element.key.take(), element.item);
        let node = self.value(element, text)?;
        if let Some(parent) = open.last_mut() {
            parent.children.push(Child { key, item, node });
        }
        Ok(())
    }

    fn value(&mut self, mut element: Open<'_>, text: &str) -> Result<Node, TooDeep> {
        element.text.push_str(text);
        let list = element.is_list();
        let plain = if self.form.xml { unescaped(&element.text) } else { element.text };
        let types = element.types;
        let blank = plain.trim().is_empty();
        if element.children.is_empty() {
            return match (types.object, types.array) {
                (true, _) if blank && !types.string => Ok(Node::Object(Vec::new())),
                (_, true) if blank && !types.string => Ok(Node::List(Vec::new())),
                _ => {
                    let read = typed(&plain, types, self.spelling)?;
                    self.fits &= read.fits;
                    self.mended = graver(self.mended, read.mended);
                    Ok(Node::Leaf(read.json))
                }
            };
        }
        if !blank {
            self.mended = Some(FaultKind::GuessedBorder);
        }
        self.fits &= types == Types::default() || if list { types.array } else { types.object };
        let rest = (!blank).then(|| {
            let mut json = String::from("\"");
            escape(&plain, &mut json);
            json.push('"');
            Node::Leaf(json)
        });
        if list {
            return Ok(Node::List(
                element.children.into_iter().map(|child| child.node).chain(rest).collect(),
            ));
        }
        Ok(Node::Object(members(element.children, rest)))
    }
}

/// Members in their order; values of one key are a list, and text between them has a key of its own.
fn members(children: Vec<Child>, text: Option<Node>) -> Vec<(String, Node)> {
    let mut members: Vec<(String, Vec<Node>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for child in children {
        let key = child.key.unwrap_or_default();
        match places.get(&key) {
            Some(&place) => members[place].1.push(child.node),
            None => {
                places.insert(key.clone(), members.len());
                members.push((key, vec![child.node]));
            }
        }
    }
    if let Some(text) = text {
        let mut key = String::from(TEXT);
        while places.contains_key(&key) {
            key.insert(0, '$');
        }
        members.push((key, vec![text]));
    }
    let node = |mut nodes: Vec<Node>| match (nodes.len(), nodes.pop()) {
        (1, Some(node)) => node,
        (_, last) => Node::List(nodes.into_iter().chain(last).collect()),
    };
    members.into_iter().map(|(key, nodes)| (key, node(nodes))).collect()
}

/// The key of text that stands between elements.
const TEXT: &str = "$text";

impl Node {
    fn write(&self, out: &mut String) {
        match self {
            Self::Leaf(json) => out.push_str(json),
            Self::List(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (place, (key, value)) in members.iter().enumerate() {
                    out.push_str(if place > 0 { ",\"" } else { "\"" });
                    escape(key, out);
                    out.push_str("\":");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}
