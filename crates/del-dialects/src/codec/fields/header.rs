//! The header of a field: its key, and perhaps the type of its value.

use std::borrow::Cow;

use super::marks::Between;
use super::{FieldsProgress, FieldsReader, On, Phase, Stop};
use crate::codec::attributes;
use crate::dialect::KeyKind;
use crate::fault::FaultKind;
use crate::message::Tool;
use crate::scan::{Anchored, Match, Scan, is_word};
use crate::schema::may_have;
use crate::value::white_space;

/// The longest header of a field, in bytes.
pub(super) const MAX_HEADER: usize = 512;

impl FieldsReader {
    /// Behind the opener of a field.
    pub(super) fn header(&mut self, on: &mut On<'_, '_>) -> Stop {
        let marks = on.given.marks;
        let window = window(on.bytes, on.kept);
        let header = &marks.header.automaton;
        let Some(hit) = header.find(&mut self.scan, window, &mut on.look, &mut on.again) else {
            return Some(beyond(window, on.kept));
        };
        let text = on.given.text;
        if text[hit.start..].starts_with('>') && is_quoted(&text[on.kept..hit.start], &on.given.form.key) {
            // It is part of the key if the quotes close in front of another one.
            let within = |byte: &&u8| !matches!(byte, b'"' | b'<' | b'\n');
            let inside = window[hit.end..].iter().take_while(within).count();
            on.again += inside as u64;
            match &window[hit.end + inside..] {
                [] | [b'"'] if beyond(window, on.kept) == FieldsProgress::More && !on.last() => {
                    self.scan.restart();
                    return self.wait(on, hit.end + inside - on.kept);
                }
                [b'"', b'>', ..] => {
                    on.look = hit.end + inside + 1;
                    return None;
                }
                _ => {}
            }
        }
        self.take_header(on, hit)
    }

    /// The header ends with this delimiter.
    fn take_header(&mut self, on: &mut On<'_, '_>, hit: Match) -> Stop {
        let (form, tool, marks) = (on.given.form, on.given.tool, on.given.marks);
        let mut text = &on.given.text[on.kept..hit.start];
        let (mut behind, mut closed) = (hit.end, marks.header.kind(hit));
        if on.bytes[hit.start] == b'\n' {
            // The value begins with the line feed that ends the header.
            behind = hit.start;
            on.rewind(behind);
        }
        if let Some(key) = own_line(text).filter(|_| form.framed) {
            // The line ends the header, as its delimiter would have.
            behind = on.kept + key.len();
            on.rewind(behind);
            (text, closed) = (key, false);
        }
        if let Some(rest) = form.open.iter().find_map(|open| repeated(text, open))
            && !tool.is_some_and(|tool| may_have(Some(tool), text))
        {
            self.guess(on.kept);
            text = rest;
        }
        let Some(header) = Header::declared(text, &form.key, tool) else {
            return Some(FieldsProgress::Broken);
        };
        if self.is_given(&header.key) {
            if self.guessed {
                return Some(FieldsProgress::Broken);
            }
            self.notes.add_markup(FaultKind::DuplicateKey, hit.start);
        }
        self.open_field(on, &header);
        on.kept = behind;
        if !closed {
            self.guess(behind);
        }
        self.enter(if closed && marks.between.is_some() { Phase::Between } else { Phase::ValueStart });
        None
    }

    /// Behind the header, where the value has an opener of its own.
    pub(super) fn between(&mut self, on: &mut On<'_, '_>) -> Stop {
        let marks = on.given.marks;
        let Some(between) = &marks.between else { return Some(FieldsProgress::Broken) };
        let mut look = on.kept + white_space(&on.bytes[on.kept..]);
        let followed = between.automaton.follow(&mut Scan::default(), on.bytes, &mut look, &mut on.again);
        on.again += (look - on.kept) as u64;
        let (kind, hit) = match followed {
            Anchored::More => return self.wait(on, look - on.kept),
            Anchored::Found(hit) => (between.kind(hit), hit.start..hit.end),
            Anchored::Nothing => {
                self.guess(on.kept);
                (Between::Value, on.kept..on.kept)
            }
        };
        match kind {
            Between::Value => {
                on.kept = hit.end;
                self.enter(Phase::ValueStart);
            }
            Between::Type => {
                let window = window(on.bytes, hit.end);
                let (mut scan, mut look, close) = (Scan::default(), hit.end, &marks.type_close.automaton);
                let found = close.find(&mut scan, window, &mut look, &mut on.again);
                on.again += (look - hit.end) as u64;
                let Some(close) = found else {
                    let stop = beyond(window, hit.end);
                    return if stop == FieldsProgress::More {
                        self.wait(on, look - on.kept)
                    } else {
                        Some(stop)
                    };
                };
                self.set_type(on.given.form, on.given.text[hit.end..close.start].trim());
                on.kept = close.end;
            }
            Between::Orphan => {
                self.guess(hit.end);
                on.kept = hit.start;
                self.enter(Phase::Behind);
            }
        }
        on.look = on.kept;
        None
    }
}

/// What may be a header that begins at `from`: where it stops does not depend on how much has arrived.
fn window(bytes: &[u8], from: usize) -> &[u8] {
    &bytes[..bytes.len().min(from + MAX_HEADER)]
}

/// What it means that no header ends in its window.
fn beyond(window: &[u8], from: usize) -> FieldsProgress {
    if window.len() == from + MAX_HEADER { FieldsProgress::Broken } else { FieldsProgress::More }
}

/// What stands in a header behind the last mark that opens one: the model writes it once more, whole or without its
/// bracket, as in `<parameter=parameter=city`, or the key before it has no value.
fn repeated<'h>(header: &'h str, open: &str) -> Option<&'h str> {
    if is_plain(header) {
        return None;
    }
    let word = open.strip_prefix('<').filter(|word| word.len() > 2 && word.ends_with('='));
    let behind = header.rfind(open).filter(|_| open.len() > 2).map(|at| &header[at + open.len()..]);
    behind.or_else(|| header.trim_start().strip_prefix(word?)).filter(|rest| !rest.trim().is_empty())
}

/// The first line of what looks like a header, if a value begins behind it: what follows are no attributes of the key.
fn own_line(header: &str) -> Option<&str> {
    let line = memchr::memchr(b'\n', header.as_bytes())?;
    let (key, rest) = (header[..line].trim(), header[line..].trim());
    let ends = !key.is_empty()
        && !key.contains(char::is_whitespace)
        && !rest.is_empty()
        && (rest.contains('<') || !rest.contains('='));
    ends.then_some(&header[..line])
}

/// True for a header that is a word and nothing else.
fn is_plain(header: &str) -> bool {
    header.bytes().all(is_word)
}

/// What stands between a field's opening mark and the end of its header.
pub(super) struct Header<'h> {
    pub(super) key: Cow<'h, str>,
    pub(super) type_word: Option<&'h str>,
}

const QUOTES: [char; 2] = ['"', '\''];

impl<'h> Header<'h> {
    /// `city`, `"city"`, `"city" string="true"`, `key="city" type="string"`.
    fn read(text: &'h str, kind: &KeyKind) -> Option<Self> {
        let (key, type_word) = Self::attributes(text, kind);
        let attribute = matches!(kind, KeyKind::Attribute(_));
        let quoted = attribute || (*kind == KeyKind::First && text.trim_start().starts_with(QUOTES));
        let marked = |key: &str| !quoted && key.contains(['<', '>']);
        let key = key.filter(|key| !key.is_empty() && !key.contains('\n') && !marked(key))?;
        let key = if attribute { attributes::read(key) } else { Cow::Borrowed(key) };
        Some(Self { key, type_word })
    }

    /// The same; a header that is as a whole the name of an argument of `tool` is nothing else.
    pub(super) fn declared(text: &'h str, kind: &KeyKind, tool: Option<&Tool>) -> Option<Self> {
        let attribute = matches!(kind, KeyKind::Attribute(_));
        let whole = || tool.is_some() && !text.starts_with(QUOTES) && may_have(tool, text);
        if !attribute && !text.is_empty() && (is_plain(text) || whole()) {
            return Some(Self { key: Cow::Borrowed(text), type_word: None });
        }
        Self::read(text, kind)
    }

    /// Key and type, as far as they are there.
    pub(super) fn attributes(text: &'h str, kind: &KeyKind) -> (Option<&'h str>, Option<&'h str>) {
        let text = text.trim();
        let (mut key, mut rest) = match kind {
            KeyKind::First => {
                let (key, rest) = first_word(text);
                (Some(key), rest)
            }
            KeyKind::Whole => (Some(text), ""),
            KeyKind::Attribute(_) => (None, text),
        };
        let mut type_word = None;
        loop {
            rest = rest.trim_start();
            let Some((name, value)) = rest.split_once('=') else { break };
            let (value, after) = first_word(value.trim_start());
            match (name.trim(), kind) {
                ("string" | "type", _) => type_word = Some(value),
                (name, KeyKind::Attribute(attribute)) if name == attribute => key = Some(value),
                _ => {}
            }
            rest = after;
        }
        (key, type_word)
    }
}

/// True at the end of the header `text` where a quote is still open.
fn is_quoted(text: &str, kind: &KeyKind) -> bool {
    let quotes = match kind {
        KeyKind::Attribute(_) => true,
        KeyKind::First => text.trim_start().starts_with('"'),
        KeyKind::Whole => false,
    };
    quotes && !is_plain(text) && text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1
}

/// A quoted or bare word at the start, and what is behind it.
fn first_word(text: &str) -> (&str, &str) {
    for quote in QUOTES {
        if let Some(inside) = text.strip_prefix(quote) {
            return inside.split_once(quote).unwrap_or((inside, ""));
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (text[..end].trim_end_matches(QUOTES), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_names_may_hold_spaces() {
        let tool: Tool = serde_json::from_value(serde_json::json!({
            "name": "f",
            "parameters": {"type": "object", "properties": {"full name": {"type": "string"}}},
        }))
        .unwrap();
        let key = |text: &str, tool| Header::declared(text, &KeyKind::First, tool).unwrap().key.into_owned();
        assert_eq!(key("full name", Some(&tool)), "full name");
        assert_eq!(key("full type=\"string\"", Some(&tool)), "full");
        assert_eq!(key("full name", None), "full");
    }
}
