//! From the opening mark of a field up to its value: the header with the key, and the value's own opener.

use super::header::{Header, is_quoted};
use super::marks::Between;
use super::{FieldsProgress, FieldsReader, Next, On, Phase, Stop};
use crate::scan::{Anchored, Match};
use crate::schema::may_have;
use crate::value::white_space;

/// The longest header of a field, in bytes.
pub(super) const MAX_HEADER: usize = 512;

impl FieldsReader {
    /// At the first byte of a body that holds nothing but fields.
    pub(super) fn first(&mut self, on: &mut On<'_, '_>) -> Stop {
        let marks = on.given.marks;
        if self.scan.is_fresh() {
            on.look += white_space(&on.bytes[on.look..]);
        }
        let hit = match marks.next.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
            Anchored::More => return Some(FieldsProgress::More),
            Anchored::Nothing => return Some(FieldsProgress::Broken),
            Anchored::Found(hit) => hit,
        };
        match marks.next_kinds[hit.pattern as usize] {
            Next::Field => {
                on.kept = hit.end;
                self.enter(Phase::Header);
                None
            }
            next => {
                on.kept = if next == Next::Opener { hit.start } else { hit.end };
                on.rewind(on.kept);
                Some(FieldsProgress::Done(next))
            }
        }
    }

    pub(super) fn header(&mut self, on: &mut On<'_, '_>) -> Stop {
        let (form, text) = (on.given.form, on.given.text);
        let window = window(on.bytes, on.kept);
        let header = &on.given.marks.header;
        let Some(hit) = header.find(&mut self.scan, window, &mut on.look, &mut on.again) else {
            return Some(beyond(window, on.kept));
        };
        if text[hit.start..].starts_with('>') && is_quoted(&text[on.kept..hit.start], &form.key) {
            let (end, behind) = (hit.start - on.kept, hit.end - on.kept);
            self.enter(Phase::Quoted { end, behind, pattern: hit.pattern });
            return None;
        }
        self.take_header(on, hit)
    }

    /// Behind what seems to close the header, in quotes that may close first.
    pub(super) fn quoted(
        &mut self,
        on: &mut On<'_, '_>,
        (end, behind): (usize, usize),
        pattern: u16,
    ) -> Stop {
        let window = window(on.bytes, on.kept);
        let within = |byte: &&u8| !matches!(byte, b'"' | b'<' | b'\n');
        on.look += window[on.look.min(window.len())..].iter().take_while(within).count();
        match window.get(on.look..) {
            Some([] | [b'"']) if !on.last() && beyond(window, on.kept) == FieldsProgress::More => {
                Some(FieldsProgress::More)
            }
            Some([b'"', b'>', ..]) => {
                on.look += 1;
                self.enter(Phase::Header);
                None
            }
            _ => {
                on.rewind(on.kept + behind);
                self.take_header(on, Match { pattern, start: on.kept + end, end: on.kept + behind })
            }
        }
    }

    /// The header ends with this mark.
    fn take_header(&mut self, on: &mut On<'_, '_>, hit: Match) -> Stop {
        let header = &on.given.text[on.kept..hit.start];
        if let Some(line) = header.find('\n').filter(|line| on.given.form.framed && ends_key(header, *line)) {
            // The line ends the header, as its mark would have.
            let end = on.kept + line;
            on.rewind(end);
            let pattern = u16::try_from(on.given.marks.header_closers).unwrap_or(u16::MAX);
            return self.take_header(on, Match { pattern, start: end, end });
        }
        let (form, tool) = (on.given.form, on.given.tool);
        let header = match form.open.iter().find_map(|open| repeated(header, open)) {
            Some(rest) if tool.is_none() || !may_have(tool, header) => {
                self.guess(on.kept);
                rest
            }
            _ => header,
        };
        let Some(header) = Header::declared(header, &form.key, tool) else {
            return Some(FieldsProgress::Broken);
        };
        if self.guessed && self.is_given(&header.key) {
            return Some(FieldsProgress::Broken);
        }
        self.open_field(on, &header, hit.start);
        self.pass_header(on, hit);
        None
    }

    /// The header of a field ended with this mark, which may be the value's.
    pub(super) fn pass_header(&mut self, on: &mut On<'_, '_>, hit: Match) {
        let marks = on.given.marks;
        on.kept = hit.end;
        let closed = (hit.pattern as usize) < marks.header_closers;
        if !closed {
            self.guess(hit.start);
        }
        self.enter(if closed && marks.between.is_some() { Phase::Between } else { Phase::ValueStart });
    }

    /// Reads up to the value, where it has an opener of its own, or to what shows that the key has none.
    pub(super) fn between(&mut self, on: &mut On<'_, '_>) -> Stop {
        let marks = on.given.marks;
        if self.scan.is_fresh() {
            on.look += white_space(&on.bytes[on.look..]);
        }
        if on.look == on.bytes.len() {
            return Some(FieldsProgress::More);
        }
        let between = marks.between.as_ref()?;
        let kind = match between.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
            Anchored::More => return Some(FieldsProgress::More),
            Anchored::Found(hit) => {
                let kind = marks.between_kinds[hit.pattern as usize];
                on.kept = if kind == Between::Orphan(Next::Opener) { hit.start } else { hit.end };
                kind
            }
            Anchored::Nothing => {
                self.guess(on.kept);
                on.rewind(on.kept);
                Between::Value
            }
        };
        match kind {
            Between::Value => self.enter(Phase::ValueStart),
            Between::Type => self.enter(Phase::Type),
            Between::Orphan(next) => {
                self.guess(on.kept);
                match next {
                    Next::Field => self.enter(Phase::Header),
                    Next::Opener => {
                        on.rewind(on.kept);
                        return Some(FieldsProgress::Done(next));
                    }
                    _ => return Some(FieldsProgress::Done(next)),
                }
            }
        }
        None
    }

    /// In the type of the value.
    pub(super) fn type_word(&mut self, on: &mut On<'_, '_>) -> Stop {
        let window = window(on.bytes, on.kept);
        let close = &on.given.marks.type_close;
        let Some(hit) = close.find(&mut self.scan, window, &mut on.look, &mut on.again) else {
            return Some(beyond(window, on.kept));
        };
        self.set_type(on.given.form, on.given.text[on.kept..hit.start].trim());
        on.kept = hit.end;
        self.enter(Phase::Between);
        None
    }

    /// At the first byte behind the header: the line feed there may belong to the markup.
    pub(super) fn value_start(&mut self, on: &mut On<'_, '_>) -> Stop {
        self.compact = on.given.form.framed;
        if on.given.form.framed {
            match &on.bytes[on.look..] {
                [] | [b'\r'] if !on.last() => return Some(FieldsProgress::More),
                [b'\n', ..] => on.look += 1,
                [b'\r', b'\n', ..] => on.look += 2,
                _ => {}
            }
            self.compact = on.look == on.kept;
        }
        on.kept = on.look;
        self.begin_value(on);
        None
    }
}

/// What stands in a header behind the last mark that opens one: the model writes it once more, whole or without its
/// bracket, as in `<parameter=parameter=city`, or the key before it has no value.
fn repeated<'h>(header: &'h str, open: &str) -> Option<&'h str> {
    let word = open.strip_prefix('<').filter(|word| word.len() > 2 && word.ends_with('='));
    let behind = header.rfind(open).filter(|_| open.len() > 2).map(|at| &header[at + open.len()..]);
    behind.or_else(|| header.trim_start().strip_prefix(word?)).filter(|rest| !rest.trim().is_empty())
}

/// True when a value begins behind this line of what looks like a header: what follows are no attributes of the key.
fn ends_key(header: &str, line: usize) -> bool {
    let (key, rest) = (header[..line].trim(), header[line..].trim());
    !key.is_empty()
        && !key.contains(char::is_whitespace)
        && !rest.is_empty()
        && (rest.contains('<') || !rest.contains('='))
}

/// What may be a header that begins at `from`: where it stops does not depend on how much has arrived.
pub(super) fn window(bytes: &[u8], from: usize) -> &[u8] {
    &bytes[..bytes.len().min(from + MAX_HEADER)]
}

/// What it means that no header ends in its window.
pub(super) fn beyond(window: &[u8], from: usize) -> FieldsProgress {
    if window.len() == from + MAX_HEADER { FieldsProgress::Broken } else { FieldsProgress::More }
}
