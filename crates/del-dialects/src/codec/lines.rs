//! Keys and values on lines of their own, typed by the tool's schema.
//!
//! A line goes out when it has ended, or as it comes where it is text behind its key. One that begins with no key belongs
//! to the value before it.

use std::collections::HashSet;

use super::fields::{Closers, FieldsProgress, Next, raw_value};
use super::{Notes, reading};
use crate::dialect::{FieldForm, Slot};
use crate::message::Tool;
use crate::scan::{Automaton, Scan};
use crate::schema::{Spelling, Types, escape, may_have, quoted, types_of};
use crate::value::{Emit, white_space};

/// What may end a line, ready to be found.
#[derive(Debug)]
pub(crate) struct LineMarks {
    marks: Automaton,
    ends: Vec<LineEnd>,
    /// Lines end with a line feed, so that what closes the call begins the next one.
    fed: bool,
    /// The closer of the call is this, and the name of its tool behind it.
    named: Option<String>,
    /// Before a key, between it and its value; without white space.
    bullet: String,
    pair: String,
}

#[derive(Debug, Clone, Copy)]
enum LineEnd {
    Feed,
    Call(Next),
}

impl LineMarks {
    /// `openers` are the marks that open the next call, and `turns` those that end the model's turn.
    pub(crate) fn new(form: &FieldForm, closers: &Closers, openers: &[String], turns: &[String]) -> Self {
        let mut ends = vec![("\n".to_owned(), LineEnd::Feed)];
        ends.extend(
            closers.marks.iter().map(|(step, mark)| (mark.clone(), LineEnd::Call(Next::Closer(*step)))),
        );
        ends.extend(openers.iter().map(|mark| (mark.clone(), LineEnd::Call(Next::Opener))));
        ends.extend(turns.iter().map(|mark| (mark.clone(), LineEnd::Call(Next::Turn))));
        let [before, pair, after] = literals(form);
        Self {
            marks: Automaton::new(ends.iter().map(|(mark, _)| mark.as_str())),
            ends: ends.into_iter().map(|(_, end)| end).collect(),
            named: closers.name().map(str::to_owned),
            fed: after.contains('\n'),
            bullet: before.trim().to_owned(),
            pair: pair.trim_start().to_owned(),
        }
    }

    /// Key and value of a line; none where its key is none of the tool's.
    fn field<'l>(&self, line: &'l str, tool: Option<&Tool>) -> Option<(&'l str, &'l str)> {
        let line = line.trim_start();
        let line = line.strip_prefix(self.bullet.as_str()).unwrap_or(line);
        let (key, value) = line.split_once(self.pair.trim_end())?;
        let key = key.trim();
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let declares = tool.is_some_and(|tool| tool.parameters.get("properties").is_some());
        let known = if declares { may_have(tool, key) } else { key.chars().all(word) };
        let space = &self.pair[self.pair.trim_end().len()..];
        (known && !key.is_empty()).then(|| (key, value.strip_prefix(space).unwrap_or(value)))
    }
}

/// What a form writes before the key, between key and value, and behind the value.
pub(crate) fn literals(form: &FieldForm) -> [&str; 3] {
    let mut literals = [""; 3];
    let mut place = 0;
    for part in &form.parts {
        match part {
            Slot::Text(text) => literals[place] = text,
            _ => place = (place + 1).min(2),
        }
    }
    literals
}

/// Reads the lines of one call.
#[derive(Debug, Clone)]
pub(crate) struct LinesReader {
    begun: bool,
    scan: Scan,
    /// Keys that were read.
    keys: HashSet<String>,
    value: Option<Value>,
    pub(crate) notes: Notes,
    max_depth: usize,
}

/// The value at hand.
#[derive(Debug, Clone)]
struct Value {
    types: Types,
    /// It is text, which goes out as it comes.
    streams: bool,
    /// The beginning of the line at hand went out.
    open: bool,
    /// All of it, where it does not.
    text: String,
    /// Empty lines behind it that have not gone out.
    empty: usize,
}

/// The text at hand, and what is known of it.
pub(crate) type Given<'a> = reading::Given<'a, FieldForm, LineMarks>;

impl LinesReader {
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            begun: false,
            scan: Scan::default(),
            keys: HashSet::new(),
            value: None,
            notes: Notes::default(),
            max_depth,
        }
    }

    /// True before the first byte.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.begun
    }

    /// True when this key has its value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// What closes the object that was passed on.
    pub(crate) fn closing(&self) -> &'static str {
        if self.keys.is_empty() { "{}" } else { "}" }
    }

    /// Reads on from `*look`; `*kept` is the beginning of the line at hand.
    pub(crate) fn read(
        &mut self,
        given: &Given<'_>,
        look: &mut usize,
        kept: &mut usize,
        work: &mut u64,
        emit: Emit<'_>,
    ) -> FieldsProgress {
        let (marks, text) = (given.marks, given.text);
        self.begun |= *look < text.len();
        let last = given.end.is_some();
        loop {
            let mut hit = marks.marks.find(&mut self.scan, text.as_bytes(), look, work);
            if hit.is_none() && last {
                hit = marks.marks.take(&mut self.scan, look, work);
            }
            let Some(hit) = hit else {
                if !last {
                    let free = *look - marks.marks.pending(&self.scan);
                    return self.stream(given, kept, free, emit).unwrap_or(FieldsProgress::More);
                }
                let rest = *kept..text.len();
                let progress = if rest.is_empty() { None } else { self.line(given, rest, emit) };
                *kept = text.len();
                *look = text.len();
                return progress.or_else(|| self.close(given, *kept, emit)).unwrap_or(FieldsProgress::Ended);
            };
            let LineEnd::Call(next) = marks.ends[hit.pattern as usize] else {
                if let Some(progress) = self.line(given, *kept..hit.start, emit) {
                    return progress;
                }
                *kept = hit.end;
                continue;
            };
            let closes = given.closes(marks.named.as_deref(), text, hit);
            if closes.is_none() {
                *work += (*look - hit.start) as u64;
                *look = hit.start;
                return FieldsProgress::More;
            }
            let open = self.value.as_ref().is_some_and(|value| value.open);
            let first = !open && white_space(&text.as_bytes()[*kept..hit.start]) == hit.start - *kept;
            let behind = text[hit.end..].trim_start_matches([' ', '\t', '\r']);
            let alone = behind.starts_with('\n') || (behind.is_empty() && last);
            // Inside a line it is data, unless lines end so, nothing follows, or it repeats the tool's name.
            let named = marks.named.as_deref() == Some(&text[hit.start..hit.end]);
            let inside = next == Next::Opener || (marks.fed && !alone && !named);
            if (inside && !first) || closes == Some(false) {
                if closes == Some(true) && marks.fed && next != Next::Opener && behind.is_empty() {
                    *work += (*look - hit.start) as u64;
                    *look = hit.start;
                    return FieldsProgress::More;
                }
                let one = text[hit.start..].chars().next().map_or(1, char::len_utf8);
                *work += (*look - hit.start - one) as u64;
                *look = hit.start + one;
                continue;
            }
            let progress = if first { None } else { self.line(given, *kept..hit.start, emit) };
            if matches!(progress, Some(FieldsProgress::Broken)) {
                *work += (*look - hit.start) as u64;
                *look = hit.start;
            }
            if let Some(progress) = progress.or_else(|| self.close(given, hit.start, emit)) {
                return progress;
            }
            let behind = if let Next::Closer(_) = next { hit.end } else { hit.start };
            *work += (*look - behind) as u64;
            *look = behind;
            *kept = behind;
            return FieldsProgress::Done(next);
        }
    }

    /// As much of the line at hand as is text for sure, up to `free`.
    fn stream(
        &mut self,
        given: &Given<'_>,
        kept: &mut usize,
        free: usize,
        emit: Emit<'_>,
    ) -> Option<FieldsProgress> {
        let text = given.text[*kept..free.max(*kept)].trim_end_matches('\r');
        let range = *kept..*kept + text.len();
        let open = self.value.as_ref().is_some_and(|value| value.open);
        let field = given.marks.field(text, given.tool).filter(|(key, value)| {
            let new = !self.keys.contains(*key) && !value.trim_start().is_empty();
            new && types_of(given.tool, key).only_string() && !given.form.json
        });
        if text.is_empty() || (!open && field.is_none()) {
            return None;
        }
        *kept = range.end;
        let progress = self.line(given, range, emit);
        if let Some(value) = &mut self.value {
            value.open = true;
        }
        progress
    }

    /// One line, without what ends it, or as much of it as has not gone out.
    fn line(
        &mut self,
        given: &Given<'_>,
        range: std::ops::Range<usize>,
        emit: Emit<'_>,
    ) -> Option<FieldsProgress> {
        let line = given.text[range.clone()].trim_end_matches('\r');
        if let Some(value) = self.value.as_mut().filter(|value| value.open) {
            value.open = false;
            let mut json = String::new();
            escape(line, &mut json);
            emit(&json, range);
            return None;
        }
        let field = given.marks.field(line, given.tool);
        if let Some((key, text)) = field.filter(|(key, _)| !self.keys.contains(*key)) {
            if let Some(progress) = self.close(given, range.start, emit) {
                return Some(progress);
            }
            let types = types_of(given.tool, key);
            let streams = types.only_string() && !given.form.json;
            let mut head = if self.keys.is_empty() { '{' } else { ',' }.to_string();
            head.push_str(&quoted(key));
            head.push(':');
            self.keys.insert(key.to_owned());
            let mut value = Value { types, streams, open: false, text: String::new(), empty: 0 };
            if streams {
                head.push('"');
                escape(text, &mut head);
            } else {
                text.clone_into(&mut value.text);
            }
            emit(&head, range);
            self.value = Some(value);
            return None;
        }
        let blank = line.trim().is_empty();
        let Some(value) = &mut self.value else {
            return (!blank).then_some(FieldsProgress::Broken);
        };
        if blank {
            value.empty += 1;
            return None;
        }
        let more = "\n".repeat(std::mem::take(&mut value.empty) + 1) + line;
        if value.streams {
            let mut json = String::new();
            escape(&more, &mut json);
            emit(&json, range);
        } else {
            value.text.push_str(&more);
        }
        None
    }

    /// The value at hand is over.
    fn close(&mut self, given: &Given<'_>, at: usize, emit: Emit<'_>) -> Option<FieldsProgress> {
        let mut value = self.value.take()?;
        let ends = "\n".repeat(value.empty);
        if value.streams {
            let mut json = String::new();
            escape(&ends, &mut json);
            json.push('"');
            emit(&json, at..at);
            return None;
        }
        value.text.push_str(&ends);
        let spelling = Spelling { python: given.form.python, max_depth: self.max_depth };
        let read = raw_value(&value.text, given.form.json, value.types, value.types, spelling);
        let Ok(read) = read else { return Some(FieldsProgress::TooDeep) };
        self.notes.add_read(&read, at);
        emit(&read.json, at..at);
        None
    }
}
