//! The header of a field: its key, and perhaps the type of its value.

use std::borrow::Cow;
use std::ops::ControlFlow::{Break, Continue};

use super::delimiters::Delimiter;
use super::elements::is_key;
use super::{FieldsReader, Given, On, Phase, Step};
use crate::codec::{ArgsProgress, attributes};
use crate::dialect::KeyKind;
use crate::fault::FaultKind;
use crate::scan::{Anchored, Match, Scan, is_word};
use crate::tool::{declared, may_have, may_take};
use crate::value::white_space;

/// The longest header of a field, in bytes.
pub(super) const MAX_HEADER: usize = 512;

impl FieldsReader {
    /// Behind the opener of a field.
    pub(super) fn header(&mut self, on: &mut On<'_, '_>) -> Step {
        let header = &on.given.marks.header.automaton;
        let mut window = window(on.bytes, on.kept);
        // Where only a key shows that this is a call, it holds no bracket: the next call may begin with that one.
        let rest = window.get(on.look..).filter(|_| !on.given.begun);
        let bracket = rest.and_then(|rest| memchr::memchr(b'<', rest));
        if let Some(bracket) = bracket {
            window = &window[..on.look + bracket];
        }
        let Some(hit) = header.find(&mut self.scan, window, &mut on.at.look, &mut on.at.again) else {
            return Break(if bracket.is_some() { ArgsProgress::Broken } else { beyond(window, on.kept) });
        };
        let text = on.text;
        if text[hit.start..].starts_with('>') && is_quoted(&text[on.kept..hit.start], &on.given.form.key) {
            // It is part of the key if the quotes close in front of another one.
            let within = |byte: &&u8| !matches!(byte, b'"' | b'<' | b'\n');
            let inside = window[hit.end..].iter().take_while(within).count();
            on.again += inside as u64;
            match &window[hit.end + inside..] {
                [] | [b'"'] if beyond(window, on.kept) == ArgsProgress::More && !on.last() => {
                    return self.wait(on, hit.start, inside as u64);
                }
                [b'"', b'>', ..] => {
                    on.look = hit.end + inside + 1;
                    return Continue(());
                }
                _ => {}
            }
        }
        self.take_header(on, hit)
    }

    /// The header ends with this delimiter.
    fn take_header(&mut self, on: &mut On<'_, '_>, hit: Match) -> Step {
        let (given, marks) = (on.given, on.given.marks);
        let mut text = &on.text[on.kept..hit.start];
        let mut closed = marks.header.delimiter(hit) == Delimiter::Header;
        // The value begins with the line feed that ends the header.
        let mut behind = if on.bytes[hit.start] == b'\n' { hit.start } else { hit.end };
        if let Some(key) = own_line(text).filter(|_| given.form.framed) {
            // The line ends the header, as its delimiter would have.
            behind = on.kept + key.len();
            (text, closed) = (key, false);
        }
        on.rewind(behind);
        if let Some(rest) = given.form.open.iter().find_map(|open| repeated(text, open))
            && !(given.tool.is_some() && may_have(given.tool, text))
        {
            self.guess(on, on.kept);
            text = rest;
        }
        let Some(header) = Header::read(text, &given) else {
            // What closes the call may stand in a line that is no field.
            on.at.rewind(if marks.line.is_some() { on.at.kept } else { behind });
            return Break(ArgsProgress::Broken);
        };
        if !given.begun {
            if !may_take(given.tool, &header.key) {
                return Break(ArgsProgress::Broken);
            }
            on.at.rewind(on.at.kept);
            return Break(ArgsProgress::Begun);
        }
        if self.is_given(&header.key) {
            if self.guessed {
                return Break(ArgsProgress::Broken);
            }
            on.note_markup(FaultKind::DuplicateKey, hit.start);
        }
        // An argument that the tool does not take is one of another call, which a value before it swallowed.
        if self.beyond && !may_take(given.tool, &header.key) {
            self.guess(on, hit.start);
        }
        self.open_field(on, &header)?;
        let last = on.text[..hit.end].chars().next_back().filter(|_| given.form.is_quoted());
        self.field.edge = last.map(|last| if last == '>' { '<' } else { last });
        on.kept = behind;
        if !closed || is_odd(text, &header, &given) {
            self.guess(on, behind);
        }
        self.enter(if closed && marks.between.is_some() { Phase::Between } else { Phase::ValueStart });
        Continue(())
    }

    /// Behind the header, where the value has an opener of its own.
    pub(super) fn between(&mut self, on: &mut On<'_, '_>) -> Step {
        let marks = on.given.marks;
        let Some(between) = &marks.between else { return Break(ArgsProgress::Broken) };
        let start = on.kept + white_space(&on.bytes[on.kept..]);
        on.look = start;
        let hit = match on.follow(&between.automaton, &mut Scan::default()) {
            Anchored::More => return self.wait(on, on.kept, (on.look - on.kept) as u64),
            Anchored::Found(hit) => Some((between.delimiter(hit), hit)),
            Anchored::Nothing => None,
        };
        match hit {
            Some((Delimiter::Type, hit)) => {
                let window = window(on.bytes, hit.end);
                let close = &marks.type_close.automaton;
                let Some(close) = close.find(&mut Scan::default(), window, &mut on.at.look, &mut on.at.again)
                else {
                    let stop = beyond(window, hit.end);
                    let looked = (on.look - on.kept) as u64;
                    return if stop == ArgsProgress::More {
                        self.wait(on, on.kept, looked)
                    } else {
                        Break(stop)
                    };
                };
                self.set_type(on.given.form, on.text[hit.end..close.start].trim());
                on.kept = close.end;
            }
            Some((Delimiter::Value, hit)) => {
                on.kept = hit.end;
                self.enter(Phase::ValueStart);
            }
            // Something that follows a value: this key has none.
            Some((_, hit)) => {
                self.guess(on, hit.end);
                on.kept = hit.start;
                self.enter(Phase::Behind);
            }
            None => {
                self.guess(on, on.kept);
                self.enter(Phase::ValueStart);
            }
        }
        on.at.rewind(on.at.kept);
        Continue(())
    }
}

/// What may be a header that begins at `from`: where it stops does not depend on how much has arrived.
fn window(bytes: &[u8], from: usize) -> &[u8] {
    &bytes[..bytes.len().min(from + MAX_HEADER)]
}

/// What it means that no header ends in its window.
fn beyond(window: &[u8], from: usize) -> ArgsProgress {
    if window.len() == from + MAX_HEADER { ArgsProgress::Broken } else { ArgsProgress::More }
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

/// True at the end of the header `text` where a quote is still open.
pub(super) fn is_quoted(text: &str, kind: &KeyKind) -> bool {
    let quotes = match kind {
        KeyKind::Attribute(_) => true,
        KeyKind::First => text.trim_start().starts_with('"'),
        KeyKind::Whole => false,
    };
    quotes && !is_plain(text) && text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1
}

/// True for a header that the model did not write so on purpose: its quotes do not close or stand inside the key, it holds
/// what closes values or a value, or its key is none.
fn is_odd(text: &str, header: &Header<'_>, given: &Given<'_>) -> bool {
    let Given { form, marks, tool, .. } = *given;
    let closes = |close: &String| close.len() > 2 && text.contains(close.as_str());
    let attribute = matches!(form.key, KeyKind::Attribute(_));
    let bare = !attribute && marks.line.is_none() && !text.trim_start().starts_with(QUOTES);
    let known = || tool.is_some() && may_have(tool, &header.key);
    // The end of the line may be missing behind a key where nothing else ends headers.
    let line = form.header_close.iter().all(|close| close.trim().is_empty());
    let begins = |name: &str| header.key.starts_with(name);
    let runs_on = || !known() && tool.is_some_and(|tool| declared(tool).any(begins));
    // What follows a word that is no argument may say which one is meant.
    let other = bare && tool.is_some() && !known() && text.trim().contains(char::is_whitespace);
    other
        || is_quoted(text, &form.key)
        || is_garbled(text, &form.key)
        || form.value_close.iter().any(closes)
        || marks.line.is_none()
            && header.key != text
            && holds_value(Header::parts(text.trim(), &form.key).1, given)
        || (line && runs_on())
        || (bare && !is_key(&header.key) && !known())
}

/// True where `rest`, which stands behind the key in its header, is or holds a value: words that are no attributes, or an
/// attribute that is called so or as an argument is.
fn holds_value(rest: &str, given: &Given<'_>) -> bool {
    let is_own = |name: &str| match &given.form.key {
        KeyKind::Attribute(key) => name == key || TYPES.contains(&name),
        _ => TYPES.contains(&name),
    };
    let declares = |name: &str| given.tool.is_some() && may_have(given.tool, name);
    attributes::say_more(rest, |name| !is_own(name) && (name == "value" || declares(name)))
}

/// Attributes that say what a value is.
const TYPES: [&str; 2] = ["string", "type"];

/// True where the quotes of a key stand inside it.
fn is_garbled(text: &str, kind: &KeyKind) -> bool {
    *kind != KeyKind::Whole && Header::attributes(text, kind).0.is_some_and(|key| key.contains('"'))
}

/// What stands between a field's opening mark and the end of its header.
pub(super) struct Header<'h> {
    pub(super) key: Cow<'h, str>,
    pub(super) type_word: Option<&'h str>,
}

const QUOTES: [char; 2] = ['"', '\''];

impl<'h> Header<'h> {
    /// `city`, `"city"`, `"city" string="true"`, `key="city" type="string"`. A header that is as a whole the name of an
    /// argument of the tool is nothing else.
    pub(super) fn read(text: &'h str, given: &Given<'_>) -> Option<Self> {
        let Given { form, marks, tool, .. } = *given;
        if let Some(line) = &marks.line {
            return Some(Self { key: Cow::Borrowed(line.key(text, tool)?), type_word: None });
        }
        let attribute = matches!(form.key, KeyKind::Attribute(_));
        let declared = || tool.is_some() && !text.starts_with(QUOTES) && may_have(tool, text);
        if !attribute && !text.is_empty() && (is_plain(text) || declared()) {
            return Some(Self { key: Cow::Borrowed(text), type_word: None });
        }
        let (key, type_word) = Self::attributes(text, &form.key);
        let quoted = attribute || (form.key == KeyKind::First && text.trim_start().starts_with(QUOTES));
        let marked = |key: &str| !quoted && key.contains(['<', '>']);
        let key = key.filter(|key| !key.is_empty() && !key.contains('\n') && !marked(key))?;
        let key = if attribute { attributes::read(key) } else { Cow::Borrowed(key) };
        Some(Self { key, type_word })
    }

    /// Key and type, as far as they are there.
    pub(super) fn attributes(text: &'h str, kind: &KeyKind) -> (Option<&'h str>, Option<&'h str>) {
        let (key, rest) = Self::parts(text.trim(), kind);
        let value = |name: &str| Some(&rest[attributes::find(rest, name)?]);
        (key, TYPES.into_iter().find_map(value))
    }

    /// The key, and where its attributes stand.
    fn parts(text: &'h str, kind: &KeyKind) -> (Option<&'h str>, &'h str) {
        match kind {
            KeyKind::First => {
                let (key, rest) = first_word(text);
                (Some(key), rest)
            }
            KeyKind::Whole => (Some(text), ""),
            KeyKind::Attribute(name) => (attributes::find(text, name).map(|at| &text[at]), text),
        }
    }
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
