//! Text of others, on its way into a prompt: no mark of any dialect survives in it, and all of it can be had back.
//!
//! A mark is broken by an invisible character behind its first one. Where a break may stand follows from the text
//! without its invisible characters, so it is found again in any part of the text, however often a model wrote it. What
//! the text itself has of them stays; only where a break may stand it is written with an escape before it.

mod edges;
mod marks;

use std::borrow::Cow;
use std::ops::Range;

use crate::dialect::Dialect;
use crate::order::sort;
use crate::scan::{Ahead, Automaton, Scan};
use edges::{Edges, Half};

/// Breaks a mark. It is invisible, and no mark holds one.
const BREAK: char = '\u{200b}';

/// Stands before an invisible character of the text's own where a break is or might be.
const ESCAPE: char = '\u{2060}';

/// All marks that must not survive.
#[derive(Debug)]
pub(crate) struct Marks {
    automaton: Automaton,
    edges: Edges,
}

impl Marks {
    pub(crate) fn of<'d>(dialects: impl Iterator<Item = &'d Dialect>) -> Self {
        let marks = marks::of(dialects);
        Self { automaton: Automaton::new(marks.iter().map(String::as_str)), edges: Edges::new(&marks) }
    }

    /// `text` with every mark broken, also those that would begin or end in another such text beside it.
    pub(crate) fn neutralise<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.broken(text, true)
    }

    /// `text` with every mark broken that is whole in it.
    pub(crate) fn neutralise_inside<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.broken(text, false)
    }

    fn broken<'t>(&self, text: &'t str, edges: bool) -> Cow<'t, str> {
        let bare = Bare::of(text);
        let marks = self.matches(&bare.text);
        let halves = if edges || !bare.runs.is_empty() { self.edges.of(&bare.text) } else { Vec::new() };
        let mut places: Vec<usize> = marks.iter().map(|mark| behind_first(&bare.text, mark.start)).collect();
        if edges {
            places.extend(halves.iter().filter(|half| half.sure).map(|half| half.place));
            sort(&mut places, usize::cmp);
            places.dedup();
        }
        if places.is_empty() && bare.runs.is_empty() {
            return Cow::Borrowed(text);
        }
        let within = Within::of(&marks, &halves);
        let mut out = String::with_capacity(text.len() + places.len() * BREAK.len_utf8());
        let (mut copied, mut runs, mut places) =
            (0, bare.runs.iter().peekable(), places.into_iter().peekable());
        loop {
            let next = match (runs.peek(), places.peek()) {
                (Some((at, _)), Some(place)) => *at.min(place),
                (Some((at, _)), None) => *at,
                (None, Some(place)) => *place,
                (None, None) => break,
            };
            out.push_str(&bare.text[copied..next]);
            copied = next;
            if places.next_if_eq(&next).is_some() {
                out.push(BREAK);
            }
            if let Some((at, run)) = runs.next_if(|(at, _)| *at == next) {
                push_run(&text[run.clone()], within.holds(*at), &mut out);
            }
        }
        out.push_str(&bare.text[copied..]);
        Cow::Owned(out)
    }

    /// The text that `neutralise` was given, from what it made of it, or from any part of that.
    pub(crate) fn restore<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let bare = Bare::of(text);
        if bare.runs.is_empty() {
            return Cow::Borrowed(text);
        }
        let within = Within::of(&self.matches(&bare.text), &self.edges.of(&bare.text));
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for (at, run) in &bare.runs {
            out.push_str(&bare.text[copied..*at]);
            copied = *at;
            let run = &text[run.clone()];
            if within.holds(*at) { push_plain(run, &mut out) } else { out.push_str(run) }
        }
        out.push_str(&bare.text[copied..]);
        if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
    }

    /// JSON with every string restored. Up to the first place where a string changes it keeps its spelling.
    pub(crate) fn restore_json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        while let Some(open) = json[at..].find('"').map(|next| at + next) {
            let Some(end) = string_end(json, open) else { break };
            at = end;
            let spelt = &json[open..end];
            let Some(first) = unsure(spelt) else { continue };
            let decoded = |spelt: &str| serde_json::from_str::<String>(spelt);
            let (Ok(text), Ok(before)) = (decoded(spelt), decoded(&format!("{}\"", &spelt[..first]))) else {
                continue;
            };
            if let Cow::Owned(text) = self.restore(&text) {
                let rest = serde_json::Value::from(text.get(before.len()..).unwrap_or_default()).to_string();
                out.push_str(&json[copied..open + first]);
                out.push_str(&rest[1..]);
                copied = end;
            }
        }
        if copied == 0 {
            return Cow::Borrowed(json);
        }
        out.push_str(&json[copied..]);
        Cow::Owned(out)
    }

    /// Breaks what became a mark in `text` where text of others, in `foreign` one behind the other, met what stands around
    /// it.
    pub(crate) fn seal(&self, text: &mut String, foreign: &[Range<usize>]) {
        let meets = |mark: &Range<usize>| {
            let next = foreign.partition_point(|foreign| foreign.end <= mark.start);
            foreign.get(next).is_some_and(|foreign| foreign.start < mark.end)
        };
        let (mut out, mut copied) = (String::new(), 0);
        for mark in self.matches(text).into_iter().filter(meets) {
            let place = behind_first(text, mark.start);
            out.push_str(&text[copied..place]);
            out.push(BREAK);
            copied = place;
        }
        if copied > 0 {
            out.push_str(&text[copied..]);
            *text = out;
        }
    }

    /// Every mark, the longest at each place, in order; they may overlap.
    fn matches(&self, text: &str) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        // What was seen further on is kept from one mark to the next: behind each, the text would be searched for others anew.
        let (mut found, mut look, mut ahead) = (Vec::new(), 0, Ahead::default());
        loop {
            let mut scan = Scan::default();
            let hit = self.automaton.find_where(&mut scan, &mut ahead, bytes, &mut look, &mut 0, |_| true);
            let Some(hit) = hit.or_else(|| self.automaton.take(&mut scan, &mut look, &mut 0)) else { break };
            look = behind_first(text, hit.start);
            found.push(hit.start..hit.end);
        }
        found
    }
}

/// A text without its invisible characters, and where they stood: the place in what is left, and in the text.
struct Bare<'t> {
    text: Cow<'t, str>,
    runs: Vec<(usize, Range<usize>)>,
}

impl<'t> Bare<'t> {
    fn of(text: &'t str) -> Self {
        let Some(first) = text.find(is_invisible) else {
            return Self { text: Cow::Borrowed(text), runs: Vec::new() };
        };
        let (mut bare, mut runs) = (text[..first].to_owned(), Vec::new());
        let mut at = first;
        while let Some(from) = text[at..].find(is_invisible).map(|next| at + next) {
            bare.push_str(&text[at..from]);
            let rest = &text[from..];
            at = from + rest.find(|c| !is_invisible(c)).unwrap_or(rest.len());
            runs.push((bare.len(), from..at));
        }
        bare.push_str(&text[at..]);
        Self { text: Cow::Owned(bare), runs }
    }
}

/// The places inside marks and halves of marks: an invisible character there may be a break.
struct Within(Vec<(usize, usize)>);

impl Within {
    fn of(marks: &[Range<usize>], halves: &[Half]) -> Self {
        let marks = marks.iter().map(|mark| (mark.start + 1, mark.end - 1));
        let mut all: Vec<(usize, usize)> = marks.chain(halves.iter().map(|half| half.within)).collect();
        sort(&mut all, Ord::cmp);
        all.dedup_by(|next, before| {
            let meets = next.0 <= before.1;
            before.1 = if meets { before.1.max(next.1) } else { before.1 };
            meets
        });
        Self(all)
    }

    fn holds(&self, at: usize) -> bool {
        let next = self.0.partition_point(|(from, _)| *from <= at);
        next > 0 && at <= self.0[next - 1].1
    }
}

/// Where the string ends that begins at `open`.
fn string_end(json: &str, open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        at += json[at..].find(['"', '\\'])?;
        if json.as_bytes()[at] == b'"' {
            return Some(at + 1);
        }
        at += 1 + json[at + 1..].chars().next()?.len_utf8();
    }
}

fn is_invisible(c: char) -> bool {
    c == BREAK || c == ESCAPE
}

/// Invisible characters of the text's own; escaped where a break is or might be.
fn push_run(run: &str, escaped: bool, out: &mut String) {
    for c in run.chars() {
        if escaped {
            out.push(ESCAPE);
        }
        out.push(c);
    }
}

/// What such characters were: breaks go, and what was escaped stays.
fn push_plain(run: &str, out: &mut String) {
    let mut chars = run.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ESCAPE => out.push(chars.next().unwrap_or(ESCAPE)),
            BREAK => {}
            other => out.push(other),
        }
    }
}

/// Behind the character at `at`.
fn behind_first(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

/// Where JSON may first hold a character that has to be restored, as it is or as an escape, perhaps not all of that yet.
pub(crate) fn unsure(json: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = json[from..].find(|c| c == '\\' || is_invisible(c)).map(|at| from + at) {
        let rest = &json.as_bytes()[at..];
        if rest[0] != b'\\' || b"\\u2".starts_with(rest) || rest.starts_with(b"\\u2") {
            return Some(at);
        }
        // What is escaped is no backslash that begins another escape.
        from = at + 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8);
    }
    None
}
