//! One dialect, as the reader walks it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::body::Body;
use super::heading::Heading;
use super::sites::{Expected, Then};
use super::steps::{Step, Steps};
use super::{MIN_DISTINCT, Opener, is_distinct, is_wordy};
use crate::codec::fields::FieldMarks;
use crate::dialect::{
    Channels, Codec, Dialect, Frame, HeadForm, Literal, Mark, Need, Slot, is_plain_tag, is_token,
};
use crate::value::Syntax;

/// One dialect, as the reader walks it.
#[derive(Debug)]
pub(in crate::parse) struct Walk {
    pub(in crate::parse) dialect: Arc<Dialect>,
    /// Only this dialect is read, and what it reads beside: its marks may be plain words.
    pub(in crate::parse) alone: bool,
    /// Only the name of a declared tool makes a call of what the marks before it open: there are none and the name is a
    /// key, they are too short to mean anything by themselves, or among all dialects a tag of one plain word.
    pub(in crate::parse) needs_declared: bool,
    pub(in crate::parse) steps: Vec<Step>,
    /// The first step of a call; before it lies what opens the block.
    pub(in crate::parse) call: usize,
    /// The step with the arguments.
    pub(in crate::parse) args: usize,
    /// The first step that closes the block.
    pub(in crate::parse) close: usize,
    pub(in crate::parse) body: Body,
    marks: OnceLock<Option<Box<FieldMarks>>>,
    /// How values are written that are no fields.
    pub(in crate::parse) syntax: Syntax,
    /// What opens calls of the other forms of this dialect.
    pub(in crate::parse) others: Vec<String>,
    /// The forms of this dialect in the plan, this one among them.
    pub(in crate::parse) forms: Range<usize>,
    expected: OnceLock<Expected>,
    /// Of a format of channels, all that concerns headers.
    pub(in crate::parse) heading: Option<Heading>,
}

/// A delimiter of fewer bytes opens a call only with the name of a declared tool behind it.
pub(in crate::parse) const MIN_NAMED: usize = 3;

impl Walk {
    pub(in crate::parse) fn new(dialect: Arc<Dialect>) -> Self {
        let heading = match &dialect.frame {
            Frame::Channels(channels) => Some(Heading::new(channels, dialect.body())),
            _ => None,
        };
        let steps = Steps::of(&dialect, heading.as_ref());
        // Marks of white space alone are written, and read as the white space that is free everywhere.
        let mut walk = Self {
            steps: steps.all,
            call: steps.call,
            args: steps.args,
            close: steps.close,
            body: Body::of(dialect.codec()),
            marks: OnceLock::new(),
            syntax: Syntax::json().clone(),
            others: Vec::new(),
            forms: 0..0,
            expected: OnceLock::new(),
            alone: false,
            needs_declared: false,
            heading,
            dialect,
        };
        walk.syntax = match walk.dialect.codec() {
            Codec::Object(Literal::Loose(loose)) => Syntax::of_literals(loose),
            Codec::Call(form) => Syntax::of_call(form),
            _ => Syntax::json().clone(),
        };
        walk
    }

    /// What may stand at each of its places: made when the first call of it may begin, as most dialects of a plan stay
    /// unread.
    pub(in crate::parse) fn expected(&self) -> &Expected {
        self.expected.get_or_init(|| Expected::of(self))
    }

    /// What ends fields, or a text that stands in the place of an object, where one may; made when the first is read.
    pub(in crate::parse) fn marks(&self) -> Option<&FieldMarks> {
        self.marks.get_or_init(|| self.field_marks()).as_deref()
    }

    /// What begins thinking.
    pub(in crate::parse) fn thought_begins(&self) -> impl Iterator<Item = &String> {
        let begins = self.dialect.reasoning.iter().flat_map(|reasoning| &reasoning.begin);
        begins.filter(|mark| self.alone || !is_wordy(mark))
    }

    /// What is left of the longer marks that begin thinking where the prompt ended with a shorter one.
    pub(in crate::parse) fn thought_labels(&self) -> impl Iterator<Item = &str> {
        let begins = self.thought_begins().filter(|_| self.alone);
        let labels = begins
            .flat_map(|begin| self.thought_begins().filter_map(|short| begin.strip_prefix(short.as_str())));
        labels.filter(|label| label.len() >= MIN_DISTINCT)
    }

    /// What ends thinking; nothing does where nothing begins it.
    pub(in crate::parse) fn thought_ends(&self) -> impl Iterator<Item = &String> {
        let ends = self.dialect.reasoning.iter().flat_map(|reasoning| &reasoning.end);
        let begun = self.thought_begins().next().is_some();
        ends.filter(move |mark| begun && (self.alone || !is_wordy(mark)))
    }

    pub(in crate::parse) fn is_bare(&self) -> bool {
        self.dialect.frame == Frame::Bare
    }

    /// True when a call is one object, and needs no mark.
    pub(in crate::parse) fn is_bare_object(&self) -> bool {
        self.is_bare() && self.body == Body::Call
    }

    /// True when a token was among the marks of the opening that were there, a bit each.
    pub(in crate::parse) fn has_token(&self, opened: u32) -> bool {
        self.has_opened(opened, |mark| is_token(mark))
    }

    /// How many of those marks were tokens.
    pub(in crate::parse) fn tokens(&self, opened: u32) -> usize {
        let token = |step: &Step| step.mark().is_some_and(|mark| mark.read.iter().any(|mark| is_token(mark)));
        let steps = self.steps.iter().take(self.args.min(32)).enumerate();
        steps.filter(|(at, step)| opened >> at & 1 == 1 && token(step)).count()
    }

    /// True when those marks were words, as text is.
    pub(in crate::parse) fn has_words_alone(&self, opened: u32) -> bool {
        !self.has_opened(opened, |mark| !is_wordy(mark))
    }

    /// True when the first of those marks is a word, and one before it is missing.
    pub(in crate::parse) fn is_worded(&self, opened: u32) -> bool {
        let first = opened.trailing_zeros() as usize;
        first < self.args && self.misses(0, first) && self.has_words_alone(opened)
    }

    fn has_opened(&self, opened: u32, is: impl Fn(&String) -> bool) -> bool {
        let fits = |step: &Step| step.mark().is_some_and(|mark| mark.read.iter().any(&is));
        self.steps
            .iter()
            .take(self.args.min(32))
            .enumerate()
            .any(|(at, step)| opened >> at & 1 == 1 && fits(step))
    }

    /// The walk in a plan, in which its dialect stands `alone` or with others.
    pub(in crate::parse) fn settle(&mut self, alone: bool) {
        self.alone = alone;
        self.needs_declared = self.is_known_by_name();
    }

    fn is_known_by_name(&self) -> bool {
        if self.is_bare() {
            let named = matches!(self.dialect.codec(), Codec::Call(form) if form.name.is_none());
            return named || self.is_in_fence();
        }
        let Some(mark) = self.first_must() else { return false };
        let plain = !self.alone && mark.read.iter().all(|mark| is_plain_tag(mark));
        let tags = self.dialect.frame == Frame::Tags;
        tags && (plain || mark.read.iter().all(|mark| mark.len() < MIN_NAMED))
    }

    /// The first mark before the arguments that has to be there.
    fn first_must(&self) -> Option<&Mark> {
        self.steps[..self.args].iter().filter_map(Step::mark).find(|mark| mark.need == Need::Must)
    }

    /// True where a code fence is the only mark of calls, which is that of any code: they count where nothing else stands in
    /// the fence, and it is all of the answer.
    pub(in crate::parse) fn is_in_fence(&self) -> bool {
        let fence = |mark: &Mark| mark.read.iter().all(|mark| mark.starts_with('`'));
        self.is_bare() && self.first_must().is_some_and(fence)
    }

    /// True where a call begins with its first key: what stands behind its name may be anything else.
    pub(in crate::parse) fn begins_with_key(&self) -> bool {
        self.needs_declared && (!self.alone || matches!(self.dialect.codec(), Codec::Lines(_)))
    }

    /// True when the arguments are one JSON object.
    pub(in crate::parse) fn takes_object(&self) -> bool {
        self.body == Body::Object
    }

    /// True when a mark among the steps that were passed means something by itself.
    pub(in crate::parse) fn is_told(&self, passed: u32) -> bool {
        let told =
            |step: &Step| step.mark().is_some_and(|mark| mark.read.iter().all(|mark| is_distinct(mark)));
        self.steps.iter().take(32).enumerate().any(|(place, step)| passed >> place & 1 == 1 && told(step))
    }

    /// True when the arguments are literals that are not JSON.
    pub(in crate::parse) fn is_loose(&self) -> bool {
        self.body == Body::Literals
    }

    /// True when the arguments are keys and values between marks.
    pub(in crate::parse) fn takes_fields(&self) -> bool {
        matches!(self.dialect.codec(), Codec::Fields(_))
    }

    /// True when a closer of the block between these steps is missing. Nobody misses one whose opener was not there.
    pub(in crate::parse) fn misses_block(&self, from: usize, to: usize, opened: u32) -> bool {
        (from.max(self.close)..to).any(|step| {
            let opener = self.call.checked_sub(step - self.close + 1);
            let open = opener.is_none_or(|opener| opened >> opener.min(31) & 1 == 1);
            open && self.misses(step, step + 1)
        })
    }

    /// True for a format in which a call is a line.
    pub(in crate::parse) fn is_line(&self) -> bool {
        let begins = |mark: &Mark| mark.line_start && mark.write.len() >= MIN_NAMED;
        !self.takes_fields() && self.steps.get(self.call).and_then(Step::mark).is_some_and(begins)
    }

    /// True where calls begin lines.
    pub(in crate::parse) fn begins_line(&self) -> bool {
        self.steps[..self.args].iter().filter_map(Step::mark).any(|mark| mark.line_start)
    }

    pub(in crate::parse) fn channels(&self) -> Option<&Channels> {
        if let Frame::Channels(channels) = &self.dialect.frame { Some(channels) } else { None }
    }

    /// How a call begins that has no mark before its name.
    pub(in crate::parse) fn headless(&self, walk: usize) -> Option<Opener> {
        let Then::Head(step) = self.then(0) else { return None };
        let skips = self.skips(0, step);
        self.is_bare().then_some(Opener { walk, line_start: true, announced: false, skips, step: None })
    }

    /// The step of a name that tells a call although the marks before it are missing, where one dialect is meant: a mark of
    /// its own stands right behind it. With it those marks, and those that close a call without any. Where a
    /// call begins with its name, it is the mark behind that.
    pub(in crate::parse) fn headed(&self) -> Option<(usize, Vec<String>, Vec<String>)> {
        if let Then::Head(step) = self.then(0)
            && self.alone
            && self.is_bare()
        {
            let mark = self.steps.get(step + 1)?.mark()?;
            return (mark.need == Need::Must).then(|| (step, mark.read.clone(), Vec::new()));
        }
        let named = |step: &Step| matches!(step, Step::Head(head) if head.parts == [Slot::Name]);
        let step = self.steps.iter().position(named)?;
        if self.is_bare() || self.heading.is_some() {
            return None;
        }
        let marks: Vec<&str> = match self.dialect.codec() {
            Codec::Fields(form) if self.alone && self.reaches_args(step + 1) => {
                FieldMarks::first(form).collect()
            }
            Codec::Object(Literal::Json) => self
                .marks_from(step + 1)
                .iter()
                .flat_map(|(_, mark)| &mark.read)
                .map(String::as_str)
                .collect(),
            _ => return None,
        };
        let distinct = |marks: Vec<&str>| {
            marks.into_iter().filter(|mark| is_distinct(mark)).map(str::to_owned).collect()
        };
        let closers = self.closers().take(1).flat_map(|(_, mark)| &mark.read).map(String::as_str);
        Some((step, distinct(marks), distinct(closers.collect())))
    }

    /// True where the body of a channel begins and names calls by itself.
    pub(in crate::parse) fn is_inside(&self) -> bool {
        self.heading.as_ref().is_some_and(|heading| heading.inside)
    }

    /// The marks that may stand at `step` on the way to the arguments: up to the first that has to be there.
    pub(in crate::parse) fn marks_from(&self, step: usize) -> Vec<(usize, &Mark)> {
        let mut marks = Vec::new();
        for (place, step) in self.steps.iter().enumerate().take(self.args).skip(step) {
            let Some(mark) = step.mark() else { break };
            marks.push((place, mark));
            if mark.need == Need::Must {
                break;
            }
        }
        marks
    }

    /// True when nothing between `step` and the arguments has to be there.
    pub(in crate::parse) fn reaches_args(&self, step: usize) -> bool {
        self.steps[step.min(self.args)..self.args]
            .iter()
            .all(|step| step.mark().is_some_and(|mark| mark.need != Need::Must))
    }

    pub(in crate::parse) fn closers(&self) -> impl Iterator<Item = (usize, &Mark)> {
        let steps = self.steps.iter().enumerate().skip(self.args + 1);
        steps.filter_map(|(place, step)| Some((place, step.mark()?)))
    }

    /// The closers that may be the first to stand behind the arguments: what follows a name there stands nowhere else.
    pub(in crate::parse) fn first_closers(&self) -> impl Iterator<Item = (usize, &Mark)> {
        self.closers().filter(|(place, _)| !self.repeats_name(*place))
    }

    /// The last closer that is passed with this one of the step `place`: a tag that closes itself needs none that repeats
    /// its name.
    pub(in crate::parse) fn closed_by(&self, place: usize, spelling: &str) -> usize {
        if spelling.ends_with("/>") && self.repeats_name(place + 2) { place + 2 } else { place }
    }

    /// True where the name is the value of an attribute.
    pub(in crate::parse) fn has_attributes(&self) -> bool {
        self.heads().any(|head| !head.attributes.is_empty())
    }

    /// The head at `step`.
    pub(in crate::parse) fn head(&self, step: usize) -> Option<&HeadForm> {
        match self.steps.get(step) {
            Some(Step::Head(form) | Step::Mark(_, Some(form))) => Some(form),
            _ => None,
        }
    }

    /// The heads before the arguments.
    pub(in crate::parse) fn heads(&self) -> impl Iterator<Item = &HeadForm> {
        (0..self.args).filter_map(|step| self.head(step))
    }

    /// True when the closing mark before this step repeats the call's name.
    pub(in crate::parse) fn repeats_name(&self, step: usize) -> bool {
        let before = step.checked_sub(1).filter(|before| *before > self.args);
        before.and_then(|before| self.head(before)).is_some_and(|form| form.parts.contains(&Slot::Name))
    }

    /// The mark behind the arguments that goes on with the name of the tool.
    pub(in crate::parse) fn named_closer(&self) -> Option<&str> {
        let named = self.repeats_name(self.args + 2);
        self.closers().next().filter(|_| named).map(|(_, mark)| mark.write.as_str())
    }

    /// True when the mark of this step is written.
    pub(in crate::parse) fn is_written(&self, step: usize) -> bool {
        let written = |mark: &Mark| !matches!(mark.need, Need::Noise | Need::Id) && !mark.read.is_empty();
        self.steps.get(step).and_then(Step::mark).is_some_and(written)
    }

    /// True when a mark between these steps is written.
    pub(in crate::parse) fn skips(&self, from: usize, to: usize) -> bool {
        (from..to).any(|step| self.is_written(step))
    }

    /// True when a mark between these steps is written and was not there.
    pub(in crate::parse) fn misses(&self, from: usize, to: usize) -> bool {
        let meant = |mark: &Mark| matches!(mark.need, Need::Must | Need::Soft) && !mark.read.is_empty();
        self.steps[from.min(to)..to].iter().filter_map(Step::mark).any(meant)
    }

    /// True at a step behind a closer that is more than a bracket.
    pub(in crate::parse) fn is_closed(&self, step: usize) -> bool {
        let bracket = |step: &Step| step.mark().is_some_and(|mark| mark.write.trim().len() == 1);
        !self.steps[self.args + 1..step.max(self.args + 1)].iter().all(bracket)
    }

    /// True when a closer between these steps may still come behind what follows a call.
    pub(in crate::parse) fn has_closers(&self, from: usize, to: usize) -> bool {
        let closer = |mark: &Mark| mark.need != Need::Noise && !mark.read.is_empty();
        self.steps[from.min(to)..to].iter().filter_map(Step::mark).any(closer)
    }

    /// True when a call has marks around it, and the first of them is not among those that were there, a bit each.
    pub(in crate::parse) fn is_unopened(&self, opened: u32) -> bool {
        let around = |step: usize| step < self.args && self.misses(step, step + 1);
        around(self.call) && around(self.call + 1) && opened >> self.call.min(31) & 1 == 0
    }

    /// True when the end of the answer stands for the mark of this step, or for the one behind what should not be there.
    pub(in crate::parse) fn may_be_eaten(&self, step: usize) -> bool {
        let behind = self.steps.iter().skip(step).filter_map(Step::mark);
        let written = behind.map(|mark| mark.need).find(|need| *need != Need::Noise);
        written == Some(Need::Stop)
    }
}
