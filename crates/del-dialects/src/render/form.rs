//! Forms with slots, filled with text of others.

use std::ops::Range;

use crate::neutral::Marks;

/// A text of a dialect's own forms, and of what others say in their slots.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    text: String,
    /// Where others speak.
    foreign: Vec<Range<usize>>,
}

impl Said {
    /// Text of others.
    pub(super) fn by_others(text: impl Into<String>) -> Self {
        let text = text.into();
        let whole = 0..text.len();
        Self { text, foreign: vec![whole] }
    }

    /// Text of the dialect's own.
    pub(super) fn own(text: impl Into<String>) -> Self {
        Self { text: text.into(), foreign: Vec::new() }
    }

    /// A form with its slots filled, in one pass: what a value holds is never taken for a slot. A slot that `value` does
    /// not know is text. Lines of a value begin as the line of its slot does.
    pub(super) fn filled(form: &str, value: impl Fn(&str) -> Option<Self>) -> Self {
        let mut out = Self::default();
        let mut rest = form;
        while let Some(at) = rest.find('{') {
            out.text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let Some((value, behind)) = slot(rest, &value) else {
                out.text.push('{');
                continue;
            };
            rest = behind;
            let line = out.text.rfind('\n').map_or(0, |at| at + 1);
            match &out.text[line..] {
                margin if margin.is_empty() || !margin.trim_start_matches(' ').is_empty() => out.add(&value),
                margin => {
                    let joint = Self::own(format!("\n{margin}"));
                    value.lines().enumerate().for_each(|(place, line)| {
                        if place > 0 {
                            out.add(&joint);
                        }
                        out.add(&line);
                    });
                }
            }
        }
        out.text.push_str(rest);
        out
    }

    /// Like [`filled`](Self::filled), without the lines of the form that hold one slot alone which has nothing to say.
    pub(super) fn spoken(form: &str, value: impl Fn(&str) -> Option<Self>) -> Self {
        let silent = |line: &&str| {
            let slots = line.match_indices('{').filter_map(|(at, _)| Some(slot(&line[at + 1..], &value)?.0));
            let values: Vec<Self> = slots.collect();
            values.len() == 1 && values[0].text.is_empty()
        };
        let spoken: String = form.split_inclusive('\n').filter(|line| !silent(line)).collect();
        Self::filled(&spoken, value)
    }

    /// Several of them with `joint` between.
    pub(super) fn joined(all: impl IntoIterator<Item = Self>, joint: &str) -> Self {
        let mut out = Self::default();
        for (place, said) in all.into_iter().enumerate() {
            if place > 0 {
                out.text.push_str(joint);
            }
            out.add(&said);
        }
        out
    }

    pub(super) fn add(&mut self, other: &Self) {
        let base = self.text.len();
        self.text.push_str(&other.text);
        self.foreign.extend(other.foreign.iter().map(|range| base + range.start..base + range.end));
    }

    /// The text, in which no mark survives in what others say, nor where it meets the forms.
    pub(super) fn neutral(self, marks: &Marks) -> String {
        let Self { text, foreign } = self;
        let mut out = Self::default();
        let mut copied = 0;
        for range in foreign {
            out.text.push_str(&text[copied..range.start]);
            let from = out.text.len();
            out.text.push_str(&marks.neutralise_inside(&text[range.clone()]));
            out.foreign.push(from..out.text.len());
            copied = range.end;
        }
        out.text.push_str(&text[copied..]);
        marks.seal(&mut out.text, &out.foreign);
        out.text
    }

    fn lines(&self) -> impl Iterator<Item = Self> {
        let mut at = 0;
        self.text.split('\n').map(move |line| {
            let (from, to) = (at, at + line.len());
            at = to + 1;
            let within = |range: &Range<usize>| {
                let (start, end) = (range.start.max(from), range.end.min(to));
                (start < end).then(|| start - from..end - from)
            };
            Self { text: line.to_owned(), foreign: self.foreign.iter().filter_map(within).collect() }
        })
    }
}

/// The value of the slot whose name `rest` begins with, and what is behind it.
fn slot<'r>(rest: &'r str, value: &impl Fn(&str) -> Option<Said>) -> Option<(Said, &'r str)> {
    let (name, behind) = rest.split_once('}')?;
    Some((value(name)?, behind))
}
