//! The marks of a field, ready to be found.

use crate::dialect::FieldForm;
use crate::parse::automaton::Automaton;

/// The marks of a field, ready to be found.
#[derive(Debug)]
pub(crate) struct FieldMarks {
    /// What may follow a value: another field, or what closes the call, or the next call.
    pub(super) next: Automaton,
    pub(super) next_kinds: Vec<Next>,
    pub(super) header_close: Automaton,
    pub(super) value_open: Option<Automaton>,
    /// What may end a value; none when the closer repeats the key.
    pub(super) value: Option<Automaton>,
    pub(super) value_kinds: Vec<ValueEnd>,
    /// Spellings that end a value beside its own closer.
    pub(super) ends: Vec<(String, ValueEnd)>,
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
}

/// What looks like the end of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueEnd {
    Closer,
    /// Another field opens: the closer is missing.
    Field,
    /// The call closes: the closer is missing.
    Call(usize),
    /// The body, which is the value, ends.
    Body(usize),
    /// The body, which is the value, ends if another message begins here.
    Message,
}

impl FieldMarks {
    /// `closers` are the marks behind the arguments with their places, `openers` the marks that open the next call.
    pub(crate) fn new(form: &FieldForm, closers: &[(usize, String)], openers: &[String]) -> Self {
        let mut next: Vec<(String, Next)> = Vec::new();
        for open in &form.open {
            next.push((open.clone(), Next::Field));
        }
        next.extend(closers.iter().map(|(step, mark)| (mark.clone(), Next::Closer(*step))));
        next.extend(openers.iter().map(|mark| (mark.clone(), Next::Opener)));
        let lines = |mark: &str| if form.framed { format!("\n{mark}") } else { mark.to_owned() };
        let mut ends = Vec::new();
        // A mark as short as `<` is too common in values to mean that their closer is missing.
        for open in form.open.iter().filter(|open| open.len() > 2) {
            ends.push((lines(open), ValueEnd::Field));
        }
        if let Some(first) = closers.iter().map(|(step, _)| *step).min() {
            for (step, mark) in closers.iter().filter(|(step, _)| *step == first) {
                ends.push((lines(mark), ValueEnd::Call(*step)));
            }
        }
        let automaton = |marks: &[String]| Automaton::new(marks.iter().map(String::as_str));
        let value_open = (!form.value_open.is_empty()).then(|| automaton(&form.value_open));
        let header_close = automaton(&form.header_close);
        let mut marks = Self {
            next: Automaton::new(next.iter().map(|(mark, _)| mark.as_str())),
            next_kinds: next.into_iter().map(|(_, kind)| kind).collect(),
            header_close,
            value_open,
            value: None,
            value_kinds: Vec::new(),
            ends,
        };
        let (value, kinds) = marks.value_automaton(&form.value_close, form.framed);
        marks.value = (!form.repeats_key()).then_some(value);
        marks.value_kinds = kinds;
        marks
    }

    /// The marks of a body that is one value: what closes it, and what opens the next message.
    pub(crate) fn raw(closers: &[(usize, String)], messages: &[String]) -> Self {
        let kinds = closers.iter().map(|(step, _)| ValueEnd::Body(*step));
        let kinds = kinds.chain(messages.iter().map(|_| ValueEnd::Message)).collect();
        Self {
            next: Automaton::default(),
            next_kinds: Vec::new(),
            header_close: Automaton::default(),
            value_open: None,
            value: Some(Automaton::new(
                closers.iter().map(|(_, mark)| mark).chain(messages).map(String::as_str),
            )),
            value_kinds: kinds,
            ends: Vec::new(),
        }
    }

    /// The spellings that a call may begin its fields with, and what each of them means.
    pub(crate) fn first(form: &FieldForm) -> impl Iterator<Item = &str> {
        form.open.iter().map(String::as_str)
    }

    pub(super) fn value_automaton(&self, closers: &[String], framed: bool) -> (Automaton, Vec<ValueEnd>) {
        let mut spellings: Vec<(String, ValueEnd)> = Vec::new();
        for closer in closers {
            if framed {
                spellings.push((format!("\n{closer}"), ValueEnd::Closer));
            }
            spellings.push((closer.clone(), ValueEnd::Closer));
        }
        spellings.extend(self.ends.iter().cloned());
        let kinds = spellings.iter().map(|(_, kind)| *kind).collect();
        (Automaton::new(spellings.iter().map(|(mark, _)| mark.as_str())), kinds)
    }
}
