//! What the arguments of a walk are made of, and what ends them.

use super::spelling::{MIN_DISTINCT, is_wordy};
use super::walk::Walk;
use crate::codec::fields::{Closers, FieldMarks, LINE_BREAKS};
use crate::dialect::{Channels, Codec, Literal, Mark};

/// How the arguments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Body {
    Object,
    Literals,
    Call,
    Fields,
}

impl Body {
    pub(super) fn of(codec: &Codec) -> Self {
        match codec {
            Codec::Object(Literal::Json) => Self::Object,
            Codec::Object(Literal::Loose(_)) => Self::Literals,
            Codec::Call(_) => Self::Call,
            Codec::Raw { .. } | Codec::Fields(_) | Codec::Lines(_) => Self::Fields,
        }
    }
}

impl Walk {
    /// True where nothing escapes the markup that a value may hold.
    pub(in crate::parse) fn writes_raw(&self) -> bool {
        match self.dialect.codec() {
            Codec::Fields(_) | Codec::Lines(_) | Codec::Raw { .. } => true,
            Codec::Object(Literal::Loose(loose)) => !loose.quoted_keys,
            Codec::Object(Literal::Json) | Codec::Call(_) => false,
        }
    }

    /// What ends a value: all of the mark, or what stands in it before the key; where values have no mark of their own, or one
    /// that is their key, what ends the call.
    pub(in crate::parse) fn value_closers(&self) -> impl Iterator<Item = &str> {
        let unclosed = matches!(self.dialect.codec(), Codec::Fields(form) if form.value_close.is_empty() || (form.repeats_key() && !form.xml));
        let call = self.closers().filter(move |_| unclosed).flat_map(|(_, mark)| &mark.read);
        let closers = match self.dialect.codec() {
            Codec::Fields(form) => &form.value_close[..],
            Codec::Object(Literal::Loose(loose)) if !loose.quoted_keys => &loose.quotes[..],
            _ => &[],
        };
        let closers = closers.iter().chain(call);
        closers.map(|mark| mark.split("{key}").next().unwrap_or(mark).trim())
    }

    /// What ends fields, or a text that stands in the place of an object.
    pub(super) fn field_marks(&self) -> Option<Box<FieldMarks>> {
        let marks = match self.dialect.codec() {
            Codec::Object(Literal::Json) if self.dialect.takes_text => self.marks_of_text(),
            Codec::Object(_) | Codec::Call(_) => return None,
            Codec::Raw { close, .. } => {
                // The line break that a mark is written with belongs to it.
                let own = |(place, mark): (usize, &Mark)| {
                    let lines = if mark.write.starts_with('\n') { &LINE_BREAKS[..] } else { &[] };
                    lines.iter().chain([&""]).map(move |line| (place, format!("{line}{close}")))
                };
                let closers: Vec<(usize, String)> = match self.channels() {
                    None => self.closers().take(1).flat_map(own).collect(),
                    Some(channels) => channels.ends.iter().map(|end| (self.args + 1, end.clone())).collect(),
                };
                let next = self.channels().map(|channels| channels.start.as_slice());
                FieldMarks::raw(&closers, next.unwrap_or_default())
            }
            Codec::Fields(form) | Codec::Lines(form) => {
                let (openers, turns) = self.marks_of_fields();
                FieldMarks::new(form, &self.closers_of_fields(), &openers, &turns)
            }
        };
        Some(Box::new(marks))
    }

    /// What ends a text in place of the arguments: the marks behind it, perhaps on the next line, or a result that the model
    /// makes up.
    fn marks_of_text(&self) -> FieldMarks {
        let closers = self.closers().filter(|(place, _)| *place < self.close);
        let closers: Vec<(usize, String)> = closers
            .flat_map(|(place, mark)| mark.read.iter().map(move |mark| (place, mark)))
            .flat_map(|(place, mark)| {
                [""].iter().chain(&LINE_BREAKS).map(move |line| (place, format!("{line}{mark}")))
            })
            .collect();
        let results = self.dialect.results.invented.iter().map(|[open, _]| open.clone());
        // The next call, or a thought behind this one.
        let lines = |mark: &String| if is_wordy(mark) { format!("\n{}", mark.trim()) } else { mark.clone() };
        let thoughts =
            self.dialect.reasoning.iter().flat_map(|all| all.begin.iter().chain(&all.end)).map(lines);
        let calls = self.marks_from(self.call).into_iter().flat_map(|(_, mark)| mark.read.iter().map(lines));
        let others = results.chain(self.dialect.ends.iter().cloned()).chain(thoughts).chain(calls);
        FieldMarks::text(&closers, &others.collect::<Vec<_>>())
    }

    /// The marks behind the arguments.
    fn closers_of_fields(&self) -> Closers {
        let named = self.repeats_name(self.args + 2);
        // A tag that closes itself stands behind no fields, unless they are its attributes.
        let fits = |mark: &Mark, spelling: &str| !spelling.ends_with("/>") || mark.write.ends_with("/>");
        let marks = self.first_closers().flat_map(|(place, mark)| {
            let spellings = mark.read.iter().filter(move |spelling| fits(mark, spelling));
            spellings.map(move |spelling| (self.closed_by(place, spelling), spelling.clone()))
        });
        let written = self.closers().filter(|(place, _)| self.is_written(*place));
        Closers {
            marks: marks.collect(),
            last: written.map(|(place, _)| place).last().unwrap_or(0),
            // The end of a message is as far from a value as that of a group.
            group: self.close - usize::from(self.heading.is_some()),
            named,
        }
    }

    /// What else may stand behind fields: the marks that open the next call, and those that end the model's turn.
    fn marks_of_fields(&self) -> (Vec<String>, Vec<String>) {
        let mut openers: Vec<String> = Vec::new();
        openers.extend(self.channels().into_iter().flat_map(Channels::openers).cloned());
        for (_, mark) in self.marks_from(0).into_iter().chain(self.marks_from(self.call)) {
            openers.extend(mark.read.iter().filter(|spelling| spelling.len() >= MIN_DISTINCT).cloned());
        }
        // A thought that ends behind a whole value ends the call in it.
        let thoughts = self.thought_ends().filter(|mark| !is_wordy(mark));
        let turns = self.dialect.ends.iter().chain(thoughts).map(|mark| mark.trim().to_owned());
        (openers, turns.collect())
    }
}
