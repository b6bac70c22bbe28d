//! The marks of a field, ready to be found.

use super::elements::ElementMarks;
use crate::dialect::FieldForm;
use crate::scan::{Automaton, Match, SUFFIX};

/// The marks of a field, ready to be found.
#[derive(Debug, Default)]
pub(crate) struct FieldMarks {
    /// The only closer, where there is one, of a value with a closer of its own.
    pub(super) alone: Option<usize>,
    /// From this place on closers are those of a group of calls.
    pub(super) group: usize,
    /// What may follow a value: another field, or what closes the call, or the next call.
    pub(super) next: Automaton,
    pub(super) next_kinds: Vec<Next>,
    /// What may end the header of a field.
    pub(super) header: Automaton,
    /// From this spelling on it is the opener of the value that ends the header.
    pub(super) header_closers: usize,
    /// What may stand between the header and the value, where the value has an opener of its own.
    pub(super) between: Option<Automaton>,
    pub(super) between_kinds: Vec<Between>,
    pub(super) type_close: Automaton,
    /// What may end a value; none when the closer repeats the key.
    value: Option<Automaton>,
    value_kinds: Vec<ValueEnd>,
    /// The same for a value that stands on the line of its field's header, where nothing else has lines of its own.
    compact: Option<(Automaton, Vec<ValueEnd>)>,
    /// Spellings that end a value beside its own closer.
    pub(super) ends: Vec<(String, ValueEnd)>,
    /// The marks inside a value of elements.
    pub(super) elements: Option<ElementMarks>,
    /// What a value's own closer is found by; none where every key has its own.
    pub(super) own: Option<Own>,
}

/// The closers of a value, and what opens the next field.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub(super) marks: Automaton,
    closers: usize,
}

impl Own {
    fn new(form: &FieldForm) -> Option<Self> {
        let own = !form.repeats_key() && form.nest.is_none() && !form.value_close.is_empty();
        own.then(|| Self {
            marks: automaton(form.value_close.iter().chain(&form.open)),
            closers: form.value_close.len(),
        })
    }

    /// The marks of a key that is repeated in its closer.
    pub(super) fn of_key(form: &FieldForm, key: &str) -> Self {
        let (closers, openers) = (closers_of(form, key), openers_of(form, key));
        Self { marks: automaton(closers.iter().chain(&openers)), closers: closers.len() }
    }

    /// True for a closer.
    pub(super) fn is_closer(&self, hit: Match) -> bool {
        (hit.pattern as usize) < self.closers
    }
}

/// What follows a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another field.
    Field,
    /// The closing mark with this place in the call's steps.
    Closer(usize),
    /// The next call.
    Opener,
    /// A closer of something else: nothing that can follow a value.
    Stray,
    /// The end of the model's turn.
    Turn,
}

/// What stands behind the header of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    /// The value.
    Value,
    /// Its type.
    Type,
    /// Something that follows a value: this key has none.
    Orphan(Next),
}

/// What looks like the end of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueEnd {
    Closer,
    /// The closer with something else in place of its last character: it is misspelt, if it is one.
    Drifted,
    /// Another field opens: the closer is missing.
    Field,
    /// The call closes: the closer is missing.
    Call(usize),
    /// The body, which is the value, ends.
    Body(usize),
    /// The body, which is the value, ends if another message begins here.
    Message,
    /// The model's turn ends inside the value, if nothing follows.
    Turn,
    /// An element of the same key opens inside the value.
    Nested,
    /// The opener of a call that holds the spelling of a closer.
    Data,
}

impl FieldMarks {
    /// `closers` are the marks behind the arguments with their places, `last` the place of the last one that is written
    /// and `group` that of the first one around several calls, `openers` the marks that open the next call, and
    /// `turns` those that end the model's turn.
    pub(crate) fn new(
        form: &FieldForm,
        closers: &[(usize, String)],
        (last, group): (usize, usize),
        openers: &[String],
        turns: &[String],
    ) -> Self {
        let mut next: Vec<(String, Next)> = Vec::new();
        for open in &form.open {
            next.push((open.clone(), Next::Field));
        }
        next.extend(closers.iter().map(|(step, mark)| (mark.clone(), Next::Closer(*step))));
        for noise in &form.noise {
            let behind: Vec<_> = next.iter().map(|(mark, kind)| (format!("{noise}{mark}"), *kind)).collect();
            next.extend(behind);
        }
        next.extend(openers.iter().map(|mark| (mark.clone(), Next::Opener)));
        // Where any tag is a field, a closing one is none.
        let tags = form.open.iter().filter(|open| open.ends_with('<'));
        next.extend(tags.map(|open| (format!("{open}/"), Next::Stray)));
        next.extend(turns.iter().map(|mark| (mark.clone(), Next::Turn)));
        let lines = |mark: &str| if form.framed { format!("\n{mark}") } else { mark.to_owned() };
        let mut ends = Vec::new();
        // A mark as short as `<` is too common in values to mean that their closer is missing.
        for open in form.open.iter().filter(|open| open.len() > 2) {
            ends.push((lines(open), ValueEnd::Field));
        }
        let own = Own::new(form);
        let first = closers.iter().map(|(step, _)| *step).min();
        let outer = |step: usize| own.is_some() && step == last;
        let ending = closers.iter().filter(|(step, _)| Some(*step) == first || outer(*step));
        ends.extend(ending.map(|(step, mark)| (lines(mark), ValueEnd::Call(*step))));
        ends.extend(turns.iter().map(|mark| (mark.clone(), ValueEnd::Turn)));
        let data: Vec<_> = openers
            .iter()
            .filter(|open| ends.iter().any(|(end, _)| open.len() > end.len() && open.contains(end.as_str())))
            .map(|open| (open.clone(), ValueEnd::Data))
            .collect();
        ends.extend(data);
        let mut between: Vec<(String, Between)> = Vec::new();
        for open in &form.value_open {
            between.push((open.clone(), Between::Value));
            between.extend(form.noise.iter().map(|noise| (format!("{noise}{open}"), Between::Value)));
        }
        let typed = form.typed.as_ref();
        between.extend(typed.iter().flat_map(|[open, _]| open).map(|open| (open.clone(), Between::Type)));
        let has_own = !between.is_empty();
        let follows = next.iter().filter(|(_, kind)| !matches!(kind, Next::Stray | Next::Turn));
        between.extend(follows.map(|(mark, kind)| (mark.clone(), Between::Orphan(*kind))));
        let mut marks = Self {
            alone: first.filter(|first| *first >= last && own.is_some()),
            group: if first.is_some_and(|first| first < group) { group } else { usize::MAX },
            next: automaton(next.iter().map(|(mark, _)| mark)),
            next_kinds: next.into_iter().map(|(_, kind)| kind).collect(),
            header: automaton(form.header_close.iter().chain(&form.value_open)),
            header_closers: form.header_close.len(),
            between: has_own.then(|| automaton(between.iter().map(|(mark, _)| mark))),
            between_kinds: between.into_iter().map(|(_, kind)| kind).collect(),
            type_close: automaton(typed.iter().flat_map(|[_, close]| close)),
            value: None,
            value_kinds: Vec::new(),
            compact: None,
            ends,
            elements: form.nest.as_ref().map(|_| ElementMarks::new(form)),
            own,
        };
        let (value, kinds) = marks.value_automaton(&form.value_close, form.framed);
        marks.value = (!form.repeats_key()).then_some(value);
        marks.value_kinds = kinds;
        if form.framed && !form.repeats_key() {
            let plain = |(mark, kind): &(String, ValueEnd)| (mark.trim_start().to_owned(), *kind);
            marks.ends.extend(marks.ends.iter().map(plain).collect::<Vec<_>>());
            marks.compact = Some(marks.value_automaton(&form.value_close, true));
        }
        marks
    }

    /// The marks of a body that is one value: what closes it, and what opens the next message.
    pub(crate) fn raw(closers: &[(usize, String)], messages: &[String]) -> Self {
        let kinds = closers.iter().map(|(step, _)| ValueEnd::Body(*step));
        let kinds = kinds.chain(messages.iter().map(|_| ValueEnd::Message)).collect();
        Self {
            value: Some(automaton(closers.iter().map(|(_, mark)| mark).chain(messages))),
            value_kinds: kinds,
            ..Self::default()
        }
    }

    /// The spellings that a call may begin its fields with, and what each of them means.
    pub(crate) fn first(form: &FieldForm) -> impl Iterator<Item = &str> {
        form.open.iter().map(String::as_str)
    }

    /// What may end a value, and what each of the marks means.
    pub(super) fn ends(&self, compact: bool) -> Option<(&Automaton, &[ValueEnd])> {
        match &self.compact {
            Some((marks, kinds)) if compact => Some((marks, kinds)),
            _ => self.value.as_ref().map(|marks| (marks, &self.value_kinds[..])),
        }
    }

    /// What ends a value of `key`, where every key has marks of its own. In one of elements it is the closer once all
    /// elements of the same key in it are closed.
    pub(super) fn ends_of(&self, form: &FieldForm, key: &str, elements: bool) -> (Automaton, Vec<ValueEnd>) {
        if !elements {
            return self.value_automaton(&closers_of(form, key), form.framed);
        }
        let closers = closers_of(form, key).into_iter().map(|mark| (mark, ValueEnd::Closer));
        let openers = openers_of(form, key).into_iter().map(|open| (open, ValueEnd::Nested));
        let calls =
            self.ends.iter().filter(|(_, kind)| matches!(kind, ValueEnd::Call(_) | ValueEnd::Turn)).cloned();
        let fields =
            form.open.iter().filter(|_| form.repeats_key()).map(|open| (open.clone(), ValueEnd::Field));
        with_kinds(&closers.chain(openers).chain(calls).chain(fields).collect::<Vec<_>>())
    }

    fn value_automaton(&self, closers: &[String], framed: bool) -> (Automaton, Vec<ValueEnd>) {
        let mut spellings: Vec<(String, ValueEnd)> = Vec::new();
        for closer in closers {
            if framed {
                spellings.push((format!("\n{closer}"), ValueEnd::Closer));
            }
            spellings.push((closer.clone(), ValueEnd::Closer));
        }
        // Where every key has a closer of its own, tags of other names are elements of the value.
        let drifted =
            closers.iter().filter(|_| self.own.is_some()).filter_map(|closer| closer.strip_suffix('>'));
        let drifted = drifted.filter(|stem| stem.starts_with("</") && stem.len() > 3);
        for stem in drifted {
            if framed {
                spellings.push((format!("\n{stem}"), ValueEnd::Drifted));
            }
            spellings.push((stem.to_owned(), ValueEnd::Drifted));
        }
        spellings.extend(self.ends.iter().cloned());
        with_kinds(&spellings)
    }
}

/// What closes a value of `key`; nothing that could be known where the key holds what stands for a suffix in marks.
fn closers_of(form: &FieldForm, key: &str) -> Vec<String> {
    if form.repeats_key() && key.contains(SUFFIX) {
        return Vec::new();
    }
    form.value_close.iter().map(|mark| mark.replace("{key}", key)).collect()
}

/// What opens an element of `key`, or any where its closer does not tell them apart.
fn openers_of(form: &FieldForm, key: &str) -> Vec<String> {
    if !form.repeats_key() {
        return form.open.clone();
    }
    if key.contains(SUFFIX) {
        return Vec::new();
    }
    let headers = form.open.iter().flat_map(|open| form.header_close.iter().map(move |close| (open, close)));
    headers.map(|(open, close)| format!("{open}{key}{close}")).collect()
}

fn with_kinds(spellings: &[(String, ValueEnd)]) -> (Automaton, Vec<ValueEnd>) {
    let kinds = spellings.iter().map(|(_, kind)| *kind).collect();
    (automaton(spellings.iter().map(|(mark, _)| mark)), kinds)
}

fn automaton<'m>(marks: impl Iterator<Item = &'m String>) -> Automaton {
    Automaton::new(marks.map(String::as_str))
}
