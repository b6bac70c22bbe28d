//! Keys and values between marks, typed by the tool's schema or by the field itself.
//!
//! A mark inside a value is data: what looks like the end of a value counts only when something follows that can
//! follow a value.

mod ahead;
mod between;
mod elements;
mod header;
mod marks;
mod repeated;
mod value;
mod write;
mod xml;

use super::Notes;
use super::json::{Emit, white_space};
use crate::dialect::{FieldForm, KeyKind};
use crate::fault::FaultKind;
use crate::message::Tool;
use crate::parse::End;
use crate::parse::automaton::{Anchored, Automaton, Match, Scan, is_word};
use crate::schema::Types;
use ahead::{AHEAD, Found, Outline};
use header::Header;
pub(crate) use marks::{FieldMarks, Next};
use marks::{Own, ValueEnd};
use repeated::Repeated;
pub(crate) use write::{write, written_key};
use xml::{SECTION, half_entity};

/// Reads the fields of one call, from behind the first field's opening mark on.
#[derive(Debug)]
pub(crate) struct FieldsReader {
    phase: Phase,
    scan: Scan,
    key: String,
    /// Keys that were read, in order.
    keys: Vec<String>,
    types: Types,
    /// The value goes out while it arrives.
    streams: bool,
    /// The field itself says that the value is JSON.
    says_json: bool,
    /// The value stands on the line of its header.
    compact: bool,
    /// The value may be all the arguments: their object in a field of its own.
    wraps: bool,
    /// What ends this value, where every value has its own.
    closer: Option<(Automaton, Vec<ValueEnd>)>,
    /// What its closer is found by further on, in the same case.
    own: Option<Own>,
    /// The value may be made of elements; so many of its key are open in it.
    elements: Option<usize>,
    /// Up to here, counted from the first kept byte, no field can open: it was looked at before.
    deaf: usize,
    /// Up to here, counted likewise, no call closes: there the value's own closer stands.
    inside: usize,
    /// From here on, counted likewise, the value is over if a field or the end of the call comes before another closer:
    /// a closer stands here, with words behind it.
    words: Option<usize>,
    /// Values that may be the first of several of their key.
    repeated: Option<Repeated>,
    /// The next closer ends the value, whatever its JSON looks like.
    sure: bool,
    outline: Outline,
    /// Where in the answer the text at hand begins.
    pub(crate) base: u64,
    /// Where in the answer a search for the rest of a value ended in vain.
    pub(crate) doubted: u64,
    scratch: String,
    pub(crate) notes: Notes,
    /// A value was nested deeper than the limit.
    too_deep: bool,
    /// It is not known yet whether the value goes out while it arrives: it may be a section of XML.
    undecided: bool,
    max_depth: usize,
}

/// Offsets count from the first byte that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// In a body that has just begun: a field, or what closes a call without any.
    First,
    Header,
    /// Behind what seems to close the header, from `end` to `behind`, inside the quotes of an attribute: it is data if
    /// the quotes close before the header does.
    Quoted {
        end: usize,
        behind: usize,
        pattern: u16,
    },
    /// Behind the header, where the value has an opener of its own.
    Between,
    /// In the type of the value.
    Type,
    ValueStart,
    Value,
    /// Behind a value's closer, which begins at `end`: is it one?
    After {
        end: usize,
        behind: usize,
    },
    /// Behind what looks like a value's closer, in a word from `from` on: a key, if a header closes behind it.
    Key {
        end: usize,
        behind: usize,
        from: usize,
    },
    /// Behind a mark that ends the model's turn, inside a value that begins at the first kept byte.
    Turn {
        end: usize,
    },
    /// Behind a value, in something that is no field: up to the next field or the end of the call.
    Junk,
    /// Another field seems to open at `end`, with its header from `header` on.
    FieldOpens {
        end: usize,
        header: usize,
    },
    /// Another message seems to begin at `end`.
    Message {
        end: usize,
        behind: usize,
    },
    /// The call seems to close at `end`.
    CallCloses {
        end: usize,
        behind: usize,
        step: usize,
    },
    /// The value and the call end, unless the value's own closer is still to come.
    Ahead {
        end: usize,
        behind: usize,
        then: Next,
    },
    /// Behind what may be that closer, which begins at `closer` and ends at `from`.
    OwnCloser {
        end: usize,
        behind: usize,
        then: Next,
        closer: usize,
        from: usize,
    },
    /// Behind a closer inside a string of JSON: the value may go on.
    Json {
        end: usize,
        behind: usize,
    },
}

/// How far the fields are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldsProgress {
    More,
    /// All fields are read; this follows, from `look` on if it is an opener, and up to `look` otherwise.
    Done(Next),
    /// The answer ended behind a value.
    Ended,
    Broken,
    /// A value is nested deeper than the limit.
    TooDeep,
}

/// The longest word that a message may begin with, in bytes.
const MAX_WORD: usize = 64;

/// The longest header of a field, in bytes.
const MAX_HEADER: usize = 512;

impl FieldsReader {
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            phase: Phase::Header,
            scan: Scan::default(),
            key: String::new(),
            keys: Vec::new(),
            types: Types::default(),
            streams: false,
            says_json: false,
            wraps: false,
            closer: None,
            own: None,
            compact: false,
            elements: None,
            deaf: 0,
            inside: 0,
            words: None,
            repeated: None,
            sure: false,
            outline: Outline::default(),
            base: 0,
            doubted: 0,
            scratch: String::new(),
            notes: Notes::default(),
            too_deep: false,
            undecided: false,
            max_depth,
        }
    }

    /// A reader for a body that holds nothing but fields, from its first byte on.
    pub(crate) fn of_body(max_depth: usize) -> Self {
        Self { phase: Phase::First, ..Self::new(max_depth) }
    }

    /// True before the first byte of a body that holds nothing but fields.
    pub(crate) fn is_fresh(&self) -> bool {
        self.phase == Phase::First && self.scan.is_fresh()
    }

    /// A reader for a body that is the one text of `key`.
    pub(crate) fn raw(key: &str, max_depth: usize) -> Self {
        let mut reader = Self::new(max_depth);
        key.clone_into(&mut reader.key);
        reader.keys.push(key.to_owned());
        reader.types = Types::TEXT;
        reader.phase = Phase::ValueStart;
        reader
    }

    /// What closes the object that was passed on.
    pub(crate) fn closing(&self) -> &'static str {
        if self.keys.is_empty() { "{}" } else { "}" }
    }

    /// Reads on from `*look`; `ended` says that no more text will come, and why.
    #[expect(clippy::too_many_arguments, reason = "one place calls it, and a struct would only rename them")]
    pub(crate) fn read(
        &mut self,
        form: &FieldForm,
        marks: &FieldMarks,
        tool: Option<&Tool>,
        text: &str,
        look: &mut usize,
        kept: &mut usize,
        ended: Option<End>,
        work: &mut u64,
        emit: Emit<'_>,
    ) -> FieldsProgress {
        let progress = self.advance(form, marks, tool, text, look, kept, ended, work, emit);
        if progress != FieldsProgress::More || ended.is_some() {
            self.tell_repeated((form, marks, tool), *kept, emit);
            if self.too_deep {
                return FieldsProgress::TooDeep;
            }
        }
        progress
    }

    #[expect(clippy::too_many_arguments, reason = "as above")]
    fn advance(
        &mut self,
        form: &FieldForm,
        marks: &FieldMarks,
        tool: Option<&Tool>,
        text: &str,
        look: &mut usize,
        kept: &mut usize,
        ended: Option<End>,
        work: &mut u64,
        emit: Emit<'_>,
    ) -> FieldsProgress {
        let last = ended.is_some();
        let bytes = text.as_bytes();
        loop {
            if self.too_deep {
                return FieldsProgress::TooDeep;
            }
            match self.phase {
                Phase::First => {
                    if self.scan.is_fresh() {
                        *look += white_space(&bytes[*look..]);
                    }
                    match marks.next.follow(&mut self.scan, bytes, look, work) {
                        Anchored::More => return FieldsProgress::More,
                        Anchored::Nothing => return FieldsProgress::Broken,
                        Anchored::Found(hit) => match marks.next_kinds[hit.pattern as usize] {
                            Next::Field => {
                                *kept = hit.end;
                                self.enter(Phase::Header);
                            }
                            next => {
                                *kept = if next == Next::Opener { hit.start } else { hit.end };
                                rewind(look, *kept, work);
                                return FieldsProgress::Done(next);
                            }
                        },
                    }
                }
                Phase::Header => {
                    let window = window(bytes, *kept);
                    let Some(hit) = marks.header.find(&mut self.scan, window, look, work) else {
                        return beyond(window, *kept);
                    };
                    let closes = text[hit.start..].starts_with('>');
                    if closes && header::is_quoted(&text[*kept..hit.start], &form.key) {
                        let (end, behind) = (hit.start - *kept, hit.end - *kept);
                        self.enter(Phase::Quoted { end, behind, pattern: hit.pattern });
                        continue;
                    }
                    let Some(header) = Header::declared(&text[*kept..hit.start], &form.key, tool) else {
                        return FieldsProgress::Broken;
                    };
                    self.open_field(form, &header, tool, hit.start);
                    *kept = hit.end;
                    self.pass_header(marks, hit);
                }
                Phase::Quoted { end, behind, pattern } => {
                    let window = window(bytes, *kept);
                    let within = |byte: &&u8| !matches!(byte, b'"' | b'<' | b'\n');
                    *look += window[(*look).min(window.len())..].iter().take_while(within).count();
                    match window.get(*look..) {
                        Some([] | [b'"']) if !last && window.len() < *kept + MAX_HEADER => {
                            return FieldsProgress::More;
                        }
                        Some([b'"', b'>', ..]) => {
                            *look += 1;
                            self.enter(Phase::Header);
                        }
                        _ => {
                            rewind(look, *kept + behind, work);
                            let header = &text[*kept..*kept + end];
                            let Some(header) = Header::declared(header, &form.key, tool) else {
                                return FieldsProgress::Broken;
                            };
                            let hit = Match { pattern, start: *kept + end, end: *kept + behind };
                            self.open_field(form, &header, tool, hit.start);
                            *kept = hit.end;
                            self.pass_header(marks, hit);
                        }
                    }
                }
                Phase::Between => {
                    if let Some(progress) = self.between(marks, bytes, look, kept, work) {
                        return progress;
                    }
                }
                Phase::Type => {
                    let window = window(bytes, *kept);
                    let Some(hit) = marks.type_close.find(&mut self.scan, window, look, work) else {
                        return beyond(window, *kept);
                    };
                    self.set_type(form, text[*kept..hit.start].trim());
                    *kept = hit.end;
                    self.enter(Phase::Between);
                }
                Phase::ValueStart => {
                    self.compact = form.framed;
                    if form.framed {
                        match &bytes[*look..] {
                            [] | [b'\r'] if !last => return FieldsProgress::More,
                            [b'\n', ..] => *look += 1,
                            [b'\r', b'\n', ..] => *look += 2,
                            _ => {}
                        }
                        self.compact = *look == *kept;
                    }
                    *kept = *look;
                    self.begin_value((form, marks, tool), *look, emit);
                }
                Phase::Value => {
                    let own = self.closer.as_ref().map(|(automaton, kinds)| (automaton, &kinds[..]));
                    let Some((automaton, kinds)) = own.or_else(|| marks.ends(self.compact)) else {
                        return FieldsProgress::Broken;
                    };
                    let hit = automaton.find(&mut self.scan, bytes, look, work);
                    let kind = hit.map(|hit| kinds[hit.pattern as usize]);
                    let body = matches!(kinds, [ValueEnd::Body(_) | ValueEnd::Message, ..]);
                    let end = hit.map_or(*look - automaton.pending(&self.scan), |hit| hit.start);
                    if self.undecided {
                        let begun = text[*kept..end].trim_start();
                        if !begun.is_empty() && !SECTION.starts_with(begun) {
                            self.undecided = false;
                            self.streams = !begun.starts_with(SECTION);
                            if self.streams {
                                emit("\"", *kept..*kept);
                            }
                        }
                    }
                    // Half an entity waits for its other half.
                    let half = if form.xml && hit.is_none() { half_entity(&text[*kept..end]) } else { 0 };
                    let end = end - half;
                    // Words are held until what follows tells, but not for long.
                    let far = |words: &usize| end > *kept + *words + AHEAD || (last && hit.is_none());
                    self.words = self.words.filter(|words| !far(words));
                    let end = self.words.map_or(end, |words| end.min(*kept + words));
                    if self.streams && end > *kept {
                        self.pass_on(form, &text[*kept..end], *kept, emit);
                        self.deaf = self.deaf.saturating_sub(end - *kept);
                        self.inside = self.inside.saturating_sub(end - *kept);
                        self.words = self.words.map(|words| words - (end - *kept));
                        *kept = end;
                    }
                    let (Some(hit), Some(kind)) = (hit, kind) else {
                        if last && body {
                            self.close_value((form, marks, tool), &text[*kept..], *kept, emit);
                            *kept = text.len();
                            return FieldsProgress::Ended;
                        }
                        return FieldsProgress::More;
                    };
                    let (end, behind) = (hit.start - *kept, hit.end - *kept);
                    if let ValueEnd::Body(step) = kind {
                        self.close_value((form, marks, tool), &text[*kept..hit.start], *kept, emit);
                        *kept = hit.end;
                        return self.done(Next::Closer(step));
                    }
                    let phase = match kind {
                        ValueEnd::Nested => {
                            self.elements = self.elements.map(|open| open + 1);
                            continue;
                        }
                        ValueEnd::Closer if self.elements.is_some_and(|open| open > 0) => {
                            self.elements = self.elements.map(|open| open - 1);
                            continue;
                        }
                        ValueEnd::Closer => {
                            // Behind its line feed the same closer is found once more.
                            self.words = self.words.filter(|words| words + 1 == end);
                            Phase::After { end, behind }
                        }
                        ValueEnd::Turn => Phase::Turn { end },
                        // Elements of other keys.
                        ValueEnd::Field if self.elements.is_some() && self.words.is_none() => continue,
                        ValueEnd::Field if end < self.deaf => {
                            self.resume(end, behind, *kept, look, work);
                            continue;
                        }
                        ValueEnd::Field => Phase::FieldOpens { end, header: behind },
                        ValueEnd::Message => Phase::Message { end, behind },
                        ValueEnd::Call(_) if end < self.inside => {
                            self.resume(end, behind, *kept, look, work);
                            continue;
                        }
                        ValueEnd::Call(step) | ValueEnd::Body(step) => {
                            Phase::CallCloses { end, behind, step }
                        }
                    };
                    self.enter(phase);
                }
                Phase::After { end, behind } => {
                    if self.scan.is_fresh() {
                        *look += white_space(&bytes[*look..]);
                    }
                    let Some(_) = bytes.get(*look) else {
                        if last {
                            self.close_value((form, marks, tool), &text[*kept..*kept + end], *kept, emit);
                            *kept = *look;
                            return if self.too_deep {
                                FieldsProgress::TooDeep
                            } else {
                                FieldsProgress::Ended
                            };
                        }
                        return FieldsProgress::More;
                    };
                    match marks.next.follow(&mut self.scan, bytes, look, work) {
                        Anchored::More => {}
                        // The model ended its turn behind the value, whatever else it left open.
                        Anchored::Found(hit) if marks.next_kinds[hit.pattern as usize] == Next::Turn => {
                            rewind(look, hit.start, work);
                            self.enter(Phase::Ahead { end, behind: hit.start - *kept, then: Next::Turn });
                        }
                        Anchored::Found(hit)
                            if marks.next_kinds[hit.pattern as usize] != Next::Stray
                                && marks.own.is_some()
                                && self.stops_in_a_string(
                                    form,
                                    &text[*kept..*kept + end],
                                    *kept + behind,
                                    work,
                                ) =>
                        {
                            rewind(look, *kept + behind, work);
                            self.enter(Phase::Json { end, behind });
                        }
                        Anchored::Found(hit) if marks.next_kinds[hit.pattern as usize] != Next::Stray => {
                            self.close_value((form, marks, tool), &text[*kept..*kept + end], *kept, emit);
                            match marks.next_kinds[hit.pattern as usize] {
                                Next::Field => {
                                    *kept = hit.end;
                                    self.enter(Phase::Header);
                                }
                                Next::Opener => {
                                    rewind(look, hit.start, work);
                                    *kept = hit.start;
                                    return FieldsProgress::Done(Next::Opener);
                                }
                                closer => {
                                    *kept = hit.end;
                                    return self.done(closer);
                                }
                            }
                        }
                        // A closer on a line of its own, with other markup on the next.
                        _ if text[*kept + end..].starts_with('\n')
                            && text[*kept + behind..].starts_with('\n')
                            && text[*kept + behind..].trim_start().starts_with('<') =>
                        {
                            self.close_value((form, marks, tool), &text[*kept..*kept + end], *kept, emit);
                            *kept += behind;
                            rewind(look, *kept, work);
                            self.notes.add(FaultKind::Repaired, *kept);
                            self.enter(Phase::Junk);
                        }
                        Anchored::Nothing if form.key == KeyKind::Whole => {
                            let from = *kept + behind + white_space(&bytes[*kept + behind..]);
                            rewind(look, from, work);
                            self.enter(Phase::Key { end, behind, from: from - *kept });
                        }
                        _ => self.pass_words(end, behind, *kept, look, work),
                    }
                }
                Phase::Key { end, behind, from } => {
                    if self.scan.is_fresh() {
                        *look += word(&bytes[*look..]);
                    }
                    let Some(_) = bytes.get(*look).filter(|_| *look - *kept - from <= MAX_HEADER) else {
                        if last || *look < bytes.len() {
                            self.pass_words(end, behind, *kept, look, work);
                            continue;
                        }
                        return FieldsProgress::More;
                    };
                    match marks.header.follow(&mut self.scan, bytes, look, work) {
                        Anchored::More => return FieldsProgress::More,
                        Anchored::Found(hit)
                            if (hit.pattern as usize) < marks.header_closers && hit.start > *kept + from =>
                        {
                            let key = text[*kept + from..hit.start].to_owned();
                            self.close_value((form, marks, tool), &text[*kept..*kept + end], *kept, emit);
                            self.notes.add(FaultKind::MissingOpener, *kept + from);
                            self.open_field(form, &Header { key, type_word: None }, tool, hit.start);
                            *kept = hit.end;
                            self.pass_header(marks, hit);
                        }
                        _ => self.pass_words(end, behind, *kept, look, work),
                    }
                }
                Phase::Turn { end } => {
                    *look += white_space(&bytes[*look..]);
                    if *look == bytes.len() {
                        return FieldsProgress::More;
                    }
                    self.resume(end, end + 1, *kept, look, work);
                }
                Phase::Junk => {
                    let hit = marks.next.find(&mut self.scan, bytes, look, work);
                    let Some(hit) = hit else {
                        *kept = *look - marks.next.pending(&self.scan);
                        return FieldsProgress::More;
                    };
                    *kept = hit.end;
                    match marks.next_kinds[hit.pattern as usize] {
                        Next::Field => self.enter(Phase::Header),
                        Next::Opener => {
                            rewind(look, hit.start, work);
                            *kept = hit.start;
                            return FieldsProgress::Done(Next::Opener);
                        }
                        Next::Stray | Next::Turn => {}
                        closer @ Next::Closer(_) => return FieldsProgress::Done(closer),
                    }
                }
                Phase::FieldOpens { end, header } => {
                    let window = window(bytes, *kept + header);
                    let Some(hit) = marks.header.find(&mut self.scan, window, look, work) else {
                        if beyond(window, *kept + header) == FieldsProgress::Broken || last {
                            self.deaf = *look - *kept;
                            self.resume(end, header, *kept, look, work);
                            continue;
                        }
                        return FieldsProgress::More;
                    };
                    match Header::declared(&text[*kept + header..hit.start], &form.key, tool) {
                        Some(found) if self.may_follow(&found.key, tool, form) => {
                            let end = self.value_end(end, *kept);
                            self.close_value((form, marks, tool), &text[*kept..*kept + end], *kept, emit);
                            self.open_field(form, &found, tool, hit.start);
                            *kept = hit.end;
                            self.pass_header(marks, hit);
                        }
                        _ => {
                            self.words = None;
                            self.deaf = *look - *kept;
                            self.resume(end, header, *kept, look, work);
                        }
                    }
                }
                Phase::Message { end, behind } => {
                    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
                    while *look - *kept - behind <= MAX_WORD && bytes.get(*look).is_some_and(word) {
                        *look += 1;
                    }
                    match bytes.get(*look) {
                        None if !last => return FieldsProgress::More,
                        Some(b'\n') if *look > *kept + behind => {
                            self.close_value((form, marks, tool), &text[*kept..*kept + end], *kept, emit);
                            *kept += end;
                            rewind(look, *kept, work);
                            return self.done(Next::Opener);
                        }
                        _ => self.resume(end, behind, *kept, look, work),
                    }
                }
                Phase::CallCloses { end, behind, step } => {
                    if self.scan.is_fresh() {
                        *look += white_space(&bytes[*look..]);
                    }
                    let over = *look == bytes.len();
                    let confirmed = match bytes.get(*look) {
                        // A model that stops behind the last closer has closed the value; a cut proves nothing.
                        None if ended == Some(End::End) && step >= marks.last => true,
                        None => return FieldsProgress::More,
                        Some(_) => match marks.next.follow(&mut self.scan, bytes, look, work) {
                            Anchored::More => continue,
                            Anchored::Found(hit) => !matches!(
                                marks.next_kinds[hit.pattern as usize],
                                Next::Field | Next::Stray | Next::Turn
                            ),
                            Anchored::Nothing => false,
                        },
                    };
                    if !confirmed {
                        self.resume(end, behind, *kept, look, work);
                    } else if !over && (marks.own.is_some() || form.repeats_key()) {
                        if form.repeats_key() && self.own.is_none() {
                            self.own = Some(Own::of_key(form, &self.key));
                        }
                        rewind(look, *kept + behind, work);
                        self.enter(Phase::Ahead { end, behind, then: Next::Closer(step) });
                    } else {
                        return self.close_call(
                            (form, marks, tool),
                            text,
                            (end, behind, Next::Closer(step)),
                            look,
                            kept,
                            work,
                            emit,
                        );
                    }
                }
                Phase::Ahead { end, behind, then } => {
                    let at = (end, behind, then);
                    let of_key = self.own.take();
                    let found = match of_key.as_ref().or(marks.own.as_ref()) {
                        Some(own) => self.own_closer(own, at, (bytes, ended), look, *kept, work),
                        None => Found::End,
                    };
                    self.own = of_key;
                    match found {
                        Found::More => return FieldsProgress::More,
                        Found::On => {}
                        Found::End => {
                            return self.close_call((form, marks, tool), text, at, look, kept, work, emit);
                        }
                    }
                }
                Phase::OwnCloser { end, behind, then, closer, from } => {
                    let at = ((end, behind, then), (closer, from));
                    if let Found::More = self.is_own_closer(marks, at, (bytes, last), look, *kept, work) {
                        return FieldsProgress::More;
                    }
                }
                Phase::Json { end, behind } => {
                    let Some(own) = &marks.own else { return FieldsProgress::Broken };
                    let found = self.whole_json(own, (end, behind), (text, ended), look, *kept, work);
                    if let Found::More = found {
                        return FieldsProgress::More;
                    }
                }
            }
        }
    }

    /// The value ends at `end`, and with it the call.
    #[expect(clippy::too_many_arguments, reason = "the state of the reader, handed on")]
    fn close_call(
        &mut self,
        of: (&FieldForm, &FieldMarks, Option<&Tool>),
        text: &str,
        (end, behind, then): (usize, usize, Next),
        look: &mut usize,
        kept: &mut usize,
        work: &mut u64,
        emit: Emit<'_>,
    ) -> FieldsProgress {
        let end = if then == Next::Turn { end } else { self.value_end(end, *kept) };
        self.close_value(of, &text[*kept..*kept + end], *kept, emit);
        *kept += behind;
        rewind(look, *kept, work);
        self.done(then)
    }

    fn done(&self, next: Next) -> FieldsProgress {
        if self.too_deep { FieldsProgress::TooDeep } else { FieldsProgress::Done(next) }
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.scan = Scan::default();
    }

    /// Where a value ends whose next field or whose call's end stands at `end` without its closer before it; `at` is the
    /// place of its first byte.
    fn value_end(&mut self, end: usize, at: usize) -> usize {
        let Some(words) = self.words.take() else {
            self.notes.add(FaultKind::MissingCloser, at);
            return end;
        };
        self.notes.add(FaultKind::Repaired, at + words);
        words
    }

    /// Words follow what looked like the end of the value: what comes next tells whether they are part of it.
    fn pass_words(&mut self, end: usize, behind: usize, kept: usize, look: &mut usize, work: &mut u64) {
        self.words = self.words.or(Some(end));
        self.resume(end, behind, kept, look, work);
    }

    /// What looked like the end of the value was data.
    fn resume(&mut self, end: usize, behind: usize, kept: usize, look: &mut usize, work: &mut u64) {
        // What was looked at lies behind a whole mark, so going back costs each byte a bounded number of looks.
        rewind(look, kept + if behind > end { end + 1 } else { behind }, work);
        self.enter(Phase::Value);
    }
}

/// How long the word is that `bytes` begins with.
fn word(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_word(**byte)).count()
}

/// What may be a header that begins at `from`: where it stops does not depend on how much has arrived.
fn window(bytes: &[u8], from: usize) -> &[u8] {
    &bytes[..bytes.len().min(from + MAX_HEADER)]
}

/// What it means that no header ends in its window.
fn beyond(window: &[u8], from: usize) -> FieldsProgress {
    if window.len() == from + MAX_HEADER { FieldsProgress::Broken } else { FieldsProgress::More }
}

/// Goes back to look at something again.
fn rewind(look: &mut usize, to: usize, work: &mut u64) {
    *work += look.saturating_sub(to) as u64;
    *look = to;
}
