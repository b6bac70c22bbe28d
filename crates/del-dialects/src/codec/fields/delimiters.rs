//! The delimiters of fields: what may stand at each place of a call, computed once from its description.

use super::elements::ElementMarks;
use crate::dialect::{FieldForm, Slot};
use crate::scan::{Automaton, MAX_WORD, Match, SUFFIX, is_word};
use crate::tool::{Tool, may_have, may_take};

/// What a delimiter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// Opens a field, or an element of another key.
    Field,
    /// Ends the header of a field.
    Header,
    /// Opens a value that has an opener of its own.
    Value,
    /// Opens the type of a value.
    Type,
    /// Closes a value.
    Closer,
    /// Closes a value, up to where it repeats the key.
    KeyCloser,
    /// Ends the attribute that holds a value, behind which the tag goes on.
    Attribute,
    /// A closer with something else in place of its last character: it is misspelt, if it is one.
    Misspelt,
    /// A closer on a line of its own, with its first character twice.
    Doubled,
    DoubledKey,
    /// An opener of a field without its beginning, before a key.
    Tail,
    /// What stands in a value by a slip alone: the end of a header where openers are too short to be looked for, or the
    /// beginning of a message.
    Slip,
    /// Opens an element that has closers like the value's.
    Element,
    /// Closes the call: the closer with this place in its steps.
    Call(usize),
    /// Opens the next call.
    Opener,
    /// Ends the model's turn.
    Turn,
    /// Closes something else: it cannot follow a value.
    Stray,
    /// Closes the body that is the value, likewise.
    Body(usize),
    /// Ends the body before it: a result that the model makes up, or the end of its turn.
    Outside,
    /// Begins another message, which ends the body.
    Message,
    /// Holds the spelling of another one, and is data.
    Data,
}

use Delimiter::{
    Attribute, Body, Call, Closer, Data, Field, KeyCloser, Message, Misspelt, Opener, Slip, Stray, Tail, Turn,
};

/// What may stand at one place.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) automaton: Automaton,
    delimiters: Vec<Delimiter>,
}

impl Expected {
    fn new(spellings: impl IntoIterator<Item = (String, Delimiter)>) -> Self {
        let (spellings, delimiters): (Vec<String>, Vec<Delimiter>) = spellings.into_iter().unzip();
        Self { automaton: Automaton::new(spellings.iter().map(String::as_str)), delimiters }
    }

    pub(super) fn delimiter(&self, hit: Match) -> Delimiter {
        self.delimiters[hit.pattern as usize]
    }

    /// True for the beginning of what opens a field, and nothing else.
    pub(super) fn opens_field(&self, text: &str) -> bool {
        let mut all =
            self.automaton.spellings().zip(&self.delimiters).filter(|(mark, _)| begins_with(mark, text));
        !text.is_empty()
            && all.next().is_some_and(|(_, one)| *one == Field)
            && all.all(|(_, one)| *one == Field)
    }
}

/// What may stand at each place of one form of fields.
#[derive(Debug)]
pub(crate) struct FieldMarks {
    /// Behind a value.
    pub(super) next: Expected,
    /// Behind the opener of a field.
    pub(super) header: Expected,
    /// Between the header and the value, where the value has an opener of its own.
    pub(super) between: Option<Expected>,
    pub(super) type_close: Expected,
    /// In a value.
    pub(super) value: Expected,
    /// In a value that may be made of elements.
    pub(super) nested: Expected,
    /// What opens a field or closes a value, up to where it repeats the key; none where neither can be told from what
    /// stands inside a value.
    pub(super) own: Option<Expected>,
    pub(super) elements: Option<ElementMarks>,
    /// Whether what ends a header is a slip in a value depends on the key before it.
    pub(super) slips: bool,
    /// Fields are lines.
    pub(super) line: Option<Line>,
    /// The end of the answer ends a value as well.
    pub(super) ends_with_the_answer: bool,
    /// The value is a text in place of the arguments, and its closers, if any, begin so.
    pub(super) text: Option<Vec<String>>,
    /// Nothing closes the call but the last value.
    pub(super) unclosed: bool,
    /// The only closer of a call, where there is one.
    pub(super) alone: Option<usize>,
    /// From this place on closers are those of a group of calls.
    pub(super) group: usize,
    /// The closer of the call is this, and the name of its tool behind it.
    pub(super) named: Option<String>,
}

/// What stands behind the arguments of a call.
#[derive(Default)]
pub(crate) struct Closers {
    /// The marks, with their places in the call's steps.
    pub(crate) marks: Vec<(usize, String)>,
    /// The place of the last one that is written, and of the first one around several calls.
    pub(crate) last: usize,
    pub(crate) group: usize,
    /// The first one goes on with the name of the tool.
    pub(crate) named: bool,
}

type Spelling = (String, Delimiter);

impl FieldMarks {
    /// `openers` are the marks that open the next call, and `turns` those that end the model's turn.
    pub(crate) fn new(form: &FieldForm, closers: &Closers, openers: &[String], turns: &[String]) -> Self {
        let line = Line::of(form);
        let Closers { marks, last, group, named } = closers;
        let first = marks.iter().map(|(step, _)| *step).min();
        let fixed = has_fixed_closer(form);
        let is = |delimiter: Delimiter| move |mark: &String| (mark.clone(), delimiter);
        let calls = || marks.iter().map(|(step, mark)| (mark.clone(), Call(*step)));
        let turns = || turns.iter().map(is(Turn));

        let mut next: Vec<Spelling> = form.open.iter().map(is(Field)).chain(calls()).collect();
        with_noise(form, &mut next);
        next.extend(openers.iter().map(is(Opener)));
        let mut between: Vec<Spelling> = form.value_open.iter().map(is(Delimiter::Value)).collect();
        with_noise(form, &mut between);
        between.extend(form.typed.iter().flat_map(|[open, _]| open).map(is(Delimiter::Type)));
        let between = (!between.is_empty()).then(|| Expected::new(between.into_iter().chain(next.clone())));
        // Where any tag is a field, a closing one is none.
        let tags = form.open.iter().filter(|open| open.ends_with('<'));
        next.extend(tags.map(|open| (format!("{open}/"), Stray)).chain(turns()));

        let mut header: Vec<Spelling> = form.header_close.iter().map(is(Delimiter::Header)).collect();
        header.extend(form.value_open.iter().map(is(Delimiter::Value)));
        header.extend(line.iter().flat_map(Line::header));

        // Inside a value only the first closer of a call tells something, and where values have closers the last.
        let ends = |step: usize| Some(step) == first || (fixed && step == *last);
        // In quotes a mark as short as `/>` is data.
        let tells = |mark: &str| !form.is_quoted() || mark.trim().len() > 2;
        let ends = |(mark, call): &Spelling| tells(mark) && matches!(call, Call(step) if ends(*step));
        let ending = || calls().filter(ends).chain(turns());
        let own =
            || form.value_close.iter().map(|close| closer(close)).chain(form.open.iter().map(is(Field)));
        let nested = form.value_close.iter().map(|close| closer(close)).chain(ending());
        let element = if form.repeats_key() { Field } else { Delimiter::Element };
        Self {
            between,
            next: Expected::new(next),
            header: Expected::new(header),
            type_close: Expected::new(
                form.typed.iter().flat_map(|[_, close]| close).map(is(Delimiter::Type)),
            ),
            value: Expected::new(value(form, ending(), openers)),
            slips: header_ends(form).next().is_some(),
            nested: Expected::new(
                nested.chain(form.open.iter().map(is(element))).filter(|_| form.nest.is_some()),
            ),
            own: (fixed || form.repeats_key()).then(|| Expected::new(on_lines(form, own()))),
            elements: form.nest.as_ref().map(|_| ElementMarks::new(form)),
            ends_with_the_answer: line.is_some(),
            text: None,
            line,
            unclosed: fixed && marks.is_empty(),
            alone: first.filter(|first| first >= last && fixed),
            group: if first.is_some_and(|first| first < *group) { *group } else { usize::MAX },
            named: marks.first().filter(|_| *named).map(|(_, mark)| mark.clone()),
        }
    }

    /// The marks of a body that is one value: what closes it, and what opens the next message.
    pub(crate) fn raw(closers: &[(usize, String)], messages: &[String]) -> Self {
        let bodies = closers.iter().map(|(step, mark)| (mark.clone(), Body(*step)));
        let others = messages.iter().map(|mark| (mark.clone(), Message));
        Self {
            value: Expected::new(bodies.chain(others)),
            ends_with_the_answer: true,
            next: Expected::new(messages.iter().map(|mark| (mark.clone(), Opener))),
            ..Self::new(&FieldForm::raw(), &Closers::default(), &[], &[])
        }
    }

    /// The marks of a text in place of the arguments: what closes it, and what follows the call.
    pub(crate) fn text(closers: &[(usize, String)], outside: &[String]) -> Self {
        let own = closers.iter().map(|(step, mark)| (mark.clone(), Body(*step)));
        let outside = outside.iter().map(|mark| (mark.clone(), Delimiter::Outside));
        let begins = closers.iter().filter_map(|(_, mark)| mark.get(..2).filter(|begin| *begin == "</"));
        Self {
            value: Expected::new(own.chain(outside)),
            text: Some(begins.map(str::to_owned).collect()),
            ..Self::raw(&[], &[])
        }
    }

    /// The spellings that a call may begin its fields with.
    pub(crate) fn first(form: &FieldForm) -> impl Iterator<Item = &str> {
        form.open.iter().map(String::as_str)
    }

    /// The closers of values that are the same for all keys, and nothing else.
    pub(crate) fn closers(form: &FieldForm) -> impl Iterator<Item = &str> {
        let own = (!form.repeats_key()).then_some(&form.value_close);
        own.into_iter().flatten().map(|close| close.trim()).filter(|close| close.starts_with("</"))
    }
}

/// What may end a value: its closers, and what tells that they are missing or misspelt.
fn value(form: &FieldForm, ending: impl Iterator<Item = Spelling>, openers: &[String]) -> Vec<Spelling> {
    let mut marks: Vec<Spelling> = form.value_close.iter().map(|close| closer(close)).collect();
    // Where every key has a closer of its own, tags of other names are elements of the value.
    let stems = form.value_close.iter().filter_map(|close| close.strip_suffix('>'));
    let stems = stems.filter(|stem| has_fixed_closer(form) && stem.starts_with("</") && stem.len() > 3);
    marks.extend(stems.map(|stem| (stem.to_owned(), Misspelt)));
    if form.tag().is_some() {
        marks.extend(["\" ", "\">", "' ", "'>"].map(|end| (end.to_owned(), Attribute)));
    }
    let own = marks.len();
    // A mark as short as `<` is too common in values to mean that their closer is missing.
    marks.extend(form.open.iter().filter(|open| open.len() > 2).map(|open| (open.clone(), Field)));
    marks.extend(ending);
    // A value that quotes a field holds the opener of another one.
    marks.extend(form.value_open.iter().map(|open| (open.clone(), Delimiter::Value)));
    let holds = |open: &&String| {
        marks[own..].iter().any(|(mark, _)| open.len() > mark.len() && open.contains(mark.as_str()))
    };
    let data: Vec<Spelling> = openers.iter().filter(holds).map(|open| (open.clone(), Data)).collect();
    let doubled = form.value_close.iter().map(|close| closer(close)).filter(|_| form.framed);
    let doubled = doubled.filter_map(|(close, delimiter)| {
        let first = close.chars().next()?;
        let twice = if delimiter == Closer { Delimiter::Doubled } else { Delimiter::DoubledKey };
        Some((format!("\n{first}{close}"), twice))
    });
    let doubled: Vec<Spelling> = doubled.collect();
    on_lines(form, marks).chain(data).chain(doubled).chain(slips(form)).collect()
}

/// An opener that lost so many characters is still known by what is left of it.
const LOST: usize = 3;

/// What is left of an opener has at least so many bytes.
const MIN_TAIL: usize = 5;

/// What stands in a value only by a slip of the model.
fn slips(form: &FieldForm) -> Vec<Spelling> {
    let ends = header_ends(form).map(|close| (close.to_owned(), Slip));
    form.open.iter().filter_map(|open| Some((tail(open)?.to_owned(), Tail))).chain(ends).collect()
}

/// What ends headers, where openers are too short to be looked for.
fn header_ends(form: &FieldForm) -> impl Iterator<Item = &str> {
    let short = !form.open.is_empty() && form.open.iter().all(|open| open.len() <= 2);
    // A colon stands in many values.
    let distinct = form.header_close.iter().map(|close| close.trim_start_matches(|c: char| c.is_ascii()));
    distinct.filter(move |close| short && close.len() >= MIN_TAIL)
}

/// What is left of an opener without its beginning, from a sign on: a text that goes out as it comes is not held for letters.
fn tail(open: &str) -> Option<&str> {
    let (from, _) = open.char_indices().skip(LOST).find(|(_, c)| !c.is_alphanumeric())?;
    Some(&open[from..]).filter(|tail| tail.len() >= MIN_TAIL)
}

/// The same of any opener, for a value that is there as a whole.
pub(super) fn whole_tail(open: &str) -> Option<&str> {
    let (from, _) = open.char_indices().nth(LOST)?;
    Some(&open[from..]).filter(|tail| tail.len() >= MIN_TAIL)
}

/// What ends a line.
pub(crate) const LINE_BREAKS: [&str; 2] = ["\n", "\r\n"];

/// True where all values have the same closers, and nothing inside a value has them too.
fn has_fixed_closer(form: &FieldForm) -> bool {
    !form.repeats_key() && form.nest.is_none() && !form.value_close.is_empty()
}

/// A closer, or as much of it as stands before the key.
fn closer(close: &str) -> Spelling {
    match close.split_once("{key}") {
        Some((head, _)) => (head.to_owned(), KeyCloser),
        None => (close.to_owned(), Closer),
    }
}

/// The same, and with what may stand before each of them.
fn with_noise(form: &FieldForm, marks: &mut Vec<Spelling>) {
    let noisy = |noise| marks.iter().map(move |(mark, delimiter)| (format!("{noise}{mark}"), *delimiter));
    let noisy: Vec<Spelling> = form.noise.iter().flat_map(noisy).collect();
    marks.extend(noisy);
}

/// Delimiters that may stand on lines of their own, whose beginnings are then parts of them, and that may begin with the end
/// of a line.
fn on_lines(form: &FieldForm, marks: impl IntoIterator<Item = Spelling>) -> impl Iterator<Item = Spelling> {
    let on_line = |(mark, delimiter): Spelling| {
        let breaks: &[&str] = match mark.as_bytes() {
            [b'\n', ..] => &["\r"],
            _ if form.framed => &LINE_BREAKS,
            _ => &[],
        };
        let lines: Vec<Spelling> = breaks.iter().map(|line| (format!("{line}{mark}"), delimiter)).collect();
        lines.into_iter().chain([(mark, delimiter)])
    };
    marks.into_iter().flat_map(on_line)
}

/// A form of lines, such as `- {key}: {value}`, as far as it is written around the key.
#[derive(Debug)]
pub(super) struct Line {
    bullet: String,
    pub(super) pair: String,
    /// White space before the value.
    pub(super) space: String,
}

impl Line {
    fn of(form: &FieldForm) -> Option<Self> {
        let key = form
            .parts
            .iter()
            .position(|part| *part == Slot::Key)
            .filter(|_| form.open.is_empty() && !form.free)?;
        let text = |place: Option<usize>| match place.and_then(|place| form.parts.get(place)) {
            Some(Slot::Text(text)) => text.as_str(),
            _ => "",
        };
        let (bullet, pair) = (text(key.checked_sub(1)).trim(), text(Some(key + 1)));
        let space = &pair[pair.trim_end().len()..];
        let [bullet, pair, space] = [bullet, pair.trim(), space].map(str::to_owned);
        Some(Self { bullet, pair, space })
    }

    fn header(&self) -> [Spelling; 2] {
        [(self.pair.clone(), Delimiter::Header), ("\n".to_owned(), Stray)]
    }

    /// The key of a header, if it may be one.
    pub(super) fn key<'h>(&self, header: &'h str, tool: Option<&Tool>) -> Option<&'h str> {
        let header = header.trim();
        let key = header.strip_prefix(self.bullet.as_str()).unwrap_or(header).trim();
        let word = || key.chars().all(|c| c.is_alphanumeric() || u8::try_from(c).is_ok_and(is_word));
        let declared = tool.is_some() && may_have(tool, key);
        (!key.is_empty() && (declared || (may_take(tool, key) && word()))).then_some(key)
    }
}

/// True where `text` is the beginning of a spelling, which may hold a suffix.
fn begins_with(spelling: &str, text: &str) -> bool {
    let Some((before, behind)) = spelling.split_once(SUFFIX) else { return spelling.starts_with(text) };
    match text.strip_prefix(before).map(|rest| rest.strip_prefix(':').ok_or(rest)) {
        Some(Ok(word)) => {
            let end = word.bytes().take(MAX_WORD).take_while(|byte| is_word(*byte)).count();
            behind.starts_with(&word[end..])
        }
        Some(Err(rest)) => rest.is_empty(),
        None => before.starts_with(text),
    }
}
