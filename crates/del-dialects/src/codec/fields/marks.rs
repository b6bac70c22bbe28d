//! The delimiters of fields, ready to be found.

use super::elements::ElementMarks;
use crate::dialect::FieldForm;
use crate::scan::{Automaton, Match};

/// The delimiters that matter in one situation, and what each of them is there.
#[derive(Debug)]
pub(super) struct Delimiters<K> {
    pub(super) automaton: Automaton,
    kinds: Vec<K>,
}

impl<K: Copy> Delimiters<K> {
    fn new(spellings: Vec<(String, K)>) -> Self {
        Self {
            automaton: Automaton::new(spellings.iter().map(|(spelling, _)| spelling.as_str())),
            kinds: spellings.into_iter().map(|(_, kind)| kind).collect(),
        }
    }

    pub(super) fn kind(&self, hit: Match) -> K {
        self.kinds[hit.pattern as usize]
    }
}

/// The delimiters of one form of fields.
#[derive(Debug)]
pub(crate) struct FieldMarks {
    /// What may stand behind a value.
    pub(super) next: Delimiters<Next>,
    /// What may end the header of a field: true for its own closer, false for the opener of the value.
    pub(super) header: Delimiters<bool>,
    /// What may stand between the header and the value, where the value has an opener of its own.
    pub(super) between: Option<Delimiters<Between>>,
    pub(super) type_close: Delimiters<()>,
    /// What may end a value.
    pub(super) value: Delimiters<Border>,
    /// The same for a value that may be made of elements.
    pub(super) nested: Delimiters<Border>,
    /// What opens a field, and what closes a value (true), up to where it repeats the key; without elements, or with
    /// closers that tell them apart.
    pub(super) own: Option<Delimiters<bool>>,
    /// The delimiters inside a value of elements.
    pub(super) elements: Option<ElementMarks>,
    /// The value is a whole body, which the end of the answer ends as well.
    pub(super) ends_with_the_answer: bool,
    /// The first closer behind the arguments.
    pub(super) first: usize,
    /// The only closer of a call, where there is one.
    pub(super) alone: Option<usize>,
    /// From this place on closers are those of a group of calls.
    pub(super) group: usize,
    /// The closer of the call is this, and the name of its tool behind it.
    pub(super) named: Option<String>,
}

/// What stands behind the arguments of a call.
pub(crate) struct Closers {
    /// The marks, with their places in the call's steps.
    pub(crate) marks: Vec<(usize, String)>,
    /// The place of the last one that is written, and of the first one around several calls.
    pub(crate) last: usize,
    pub(crate) group: usize,
    /// The first one goes on with the name of the tool.
    pub(crate) named: bool,
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
    Value,
    /// The type of the value.
    Type,
    /// Something that follows a value: this key has none.
    Orphan,
}

/// What may end a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    Closer,
    /// The closer up to where it repeats the key.
    Head,
    /// The closer with something else in place of its last character: it is misspelt, if it is one.
    Drifted,
    /// Another field opens: the closer is missing.
    Field,
    /// An element opens inside the value, which may have closers like the value's.
    Element,
    /// The call closes: the closer is missing.
    Call(usize),
    /// The model's turn ends.
    Turn,
    /// The body, which is the value, ends.
    Body(usize),
    /// Another message begins, which ends the body.
    Message,
    /// The body ends before it: a result that the model makes up, or the end of its turn.
    Outside,
    /// The opener of a call that holds the spelling of a closer.
    Data,
}

impl Closers {
    /// The mark that goes on with the name of the tool.
    pub(crate) fn name(&self) -> Option<&str> {
        self.marks.first().filter(|_| self.named).map(|(_, mark)| mark.as_str())
    }

    fn none() -> Self {
        Self { marks: Vec::new(), last: 0, group: 0, named: false }
    }
}

impl FieldMarks {
    /// `openers` are the marks that open the next call, and `turns` those that end the model's turn.
    pub(crate) fn new(form: &FieldForm, closers: &Closers, openers: &[String], turns: &[String]) -> Self {
        let Closers { marks, last, group, .. } = closers;
        let (last, group) = (*last, *group);
        let first = marks.iter().map(|(step, _)| *step).min();
        let (own, fixed) = (own(form), has_fixed_closer(form));
        let ending = |step: usize| Some(step) == first || (fixed && step == last);
        let ending: Vec<_> = marks.iter().filter(|(step, _)| ending(*step)).cloned().collect();
        let next = next(form, marks, openers, turns);
        let header = form.header_close.iter().map(|close| (close.clone(), true));
        let types = form.typed.iter().flat_map(|[_, close]| close);
        Self {
            between: between(form, &next),
            next: Delimiters::new(next),
            header: Delimiters::new(
                header.chain(form.value_open.iter().map(|open| (open.clone(), false))).collect(),
            ),
            type_close: Delimiters::new(types.map(|close| (close.clone(), ())).collect()),
            value: Delimiters::new(value(form, &ending, openers, turns)),
            nested: Delimiters::new(nested(form, &ending, turns)),
            own,
            elements: form.nest.as_ref().map(|_| ElementMarks::new(form)),
            ends_with_the_answer: false,
            first: first.unwrap_or(usize::MAX),
            alone: first.filter(|first| *first >= last && fixed),
            group: if first.is_some_and(|first| first < group) { group } else { usize::MAX },
            named: closers.name().map(str::to_owned),
        }
    }

    /// The marks of a body that is one value: what closes it, and what opens the next message.
    pub(crate) fn raw(closers: &[(usize, String)], messages: &[String]) -> Self {
        let bodies = closers.iter().map(|(step, mark)| (mark.clone(), Border::Body(*step)));
        let others = messages.iter().map(|mark| (mark.clone(), Border::Message));
        Self {
            value: Delimiters::new(bodies.chain(others).collect()),
            ends_with_the_answer: true,
            next: Delimiters::new(messages.iter().map(|mark| (mark.clone(), Next::Opener)).collect()),
            ..Self::new(&FieldForm::raw(), &Closers::none(), &[], &[])
        }
    }

    /// The marks of a text in place of the arguments: what closes it, and what follows the call.
    pub(crate) fn text(closers: &[(usize, String)], outside: &[String]) -> Self {
        let own = closers.iter().map(|(step, mark)| (mark.clone(), Border::Body(*step)));
        let outside = outside.iter().map(|mark| (mark.clone(), Border::Outside));
        Self { value: Delimiters::new(own.chain(outside).collect()), ..Self::raw(&[], &[]) }
    }

    /// The spellings that a call may begin its fields with.
    pub(crate) fn first(form: &FieldForm) -> impl Iterator<Item = &str> {
        form.open.iter().map(String::as_str)
    }
}

/// FOLLOW of a field.
fn next(
    form: &FieldForm,
    closers: &[(usize, String)],
    openers: &[String],
    turns: &[String],
) -> Vec<(String, Next)> {
    let mut next: Vec<(String, Next)> = form.open.iter().map(|open| (open.clone(), Next::Field)).collect();
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
    next
}

fn between(form: &FieldForm, next: &[(String, Next)]) -> Option<Delimiters<Between>> {
    let mut between: Vec<(String, Between)> = Vec::new();
    for open in &form.value_open {
        between.push((open.clone(), Between::Value));
        between.extend(form.noise.iter().map(|noise| (format!("{noise}{open}"), Between::Value)));
    }
    let types = form.typed.iter().flat_map(|[open, _]| open);
    between.extend(types.map(|open| (open.clone(), Between::Type)));
    if between.is_empty() {
        return None;
    }
    let follows = next.iter().filter(|(_, kind)| !matches!(kind, Next::Stray | Next::Turn));
    between.extend(follows.map(|(mark, _)| (mark.clone(), Between::Orphan)));
    Some(Delimiters::new(between))
}

/// True where all values have the same closers, and nothing inside a value has them too.
fn has_fixed_closer(form: &FieldForm) -> bool {
    !form.repeats_key() && form.nest.is_none() && !form.value_close.is_empty()
}

fn own(form: &FieldForm) -> Option<Delimiters<bool>> {
    let marks = || form.value_close.iter().map(|close| (head(close), true));
    let openers = form.open.iter().map(|open| (open.clone(), false));
    (has_fixed_closer(form) || form.repeats_key()).then(|| Delimiters::new(marks().chain(openers).collect()))
}

/// A closer, or as much of it as stands before the key.
fn head(close: &str) -> String {
    close.split("{key}").next().unwrap_or(close).to_owned()
}

fn closer(close: &str) -> (String, Border) {
    (head(close), if close.contains("{key}") { Border::Head } else { Border::Closer })
}

/// A delimiter that may stand on a line of its own, whose beginning is then part of it.
fn with_lines(form: &FieldForm, mark: &str, border: Border) -> impl Iterator<Item = (String, Border)> {
    let line = form.framed.then(|| (format!("\n{mark}"), border));
    line.into_iter().chain([(mark.to_owned(), border)])
}

fn value(
    form: &FieldForm,
    ending: &[(usize, String)],
    openers: &[String],
    turns: &[String],
) -> Vec<(String, Border)> {
    let mut borders = Vec::new();
    for (mark, border) in form.value_close.iter().map(|close| closer(close)) {
        borders.extend(with_lines(form, &mark, border));
    }
    // Where every key has a closer of its own, tags of other names are elements of the value.
    let stems = form.value_close.iter().filter_map(|close| close.strip_suffix('>'));
    let stems = stems.filter(|stem| has_fixed_closer(form) && stem.starts_with("</") && stem.len() > 3);
    borders.extend(stems.flat_map(|stem| with_lines(form, stem, Border::Drifted)));
    let own = borders.len();
    // A mark as short as `<` is too common in values to mean that their closer is missing.
    for open in form.open.iter().filter(|open| open.len() > 2) {
        borders.extend(with_lines(form, open, Border::Field));
    }
    borders.extend(ending.iter().flat_map(|(step, mark)| with_lines(form, mark, Border::Call(*step))));
    borders.extend(turns.iter().map(|mark| (mark.clone(), Border::Turn)));
    let holds = |open: &String| {
        borders[own..].iter().any(|(mark, _)| open.len() > mark.len() && open.contains(mark.as_str()))
    };
    let data: Vec<_> =
        openers.iter().filter(|open| holds(open)).map(|open| (open.clone(), Border::Data)).collect();
    borders.extend(data);
    borders
}

fn nested(form: &FieldForm, ending: &[(usize, String)], turns: &[String]) -> Vec<(String, Border)> {
    if form.nest.is_none() {
        return Vec::new();
    }
    let open = if form.repeats_key() { Border::Field } else { Border::Element };
    let mut borders: Vec<_> = form.value_close.iter().map(|close| closer(close)).collect();
    borders.extend(ending.iter().flat_map(|(step, mark)| with_lines(form, mark, Border::Call(*step))));
    borders.extend(turns.iter().map(|mark| (mark.clone(), Border::Turn)));
    borders.extend(form.open.iter().map(|mark| (mark.clone(), open)));
    borders
}
