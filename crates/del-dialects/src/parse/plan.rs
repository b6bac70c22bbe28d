//! A set of dialects, ready to be read all at once.

use std::sync::Arc;

use super::automaton::Automaton;
use crate::codec::fields::FieldMarks;
use crate::codec::loose::LooseMarks;
use crate::dialect::{Channels, Codec, Dialect, Frame, HeadForm, Literal, Mark, Need, Piece, Slot};

/// A set of dialects, ready to be read all at once. Built once, shared by all parsers.
#[derive(Debug)]
pub struct Plan {
    pub(super) walks: Vec<Walk>,
    /// What matters in text for the user.
    pub(super) text: Automaton,
    pub(super) marks: Vec<TextMark>,
    /// Kinds of thinking; the first is for answers that start inside it.
    pub(super) thoughts: Vec<Thought>,
    /// Closers of invented results.
    pub(super) invented: Vec<Automaton>,
    /// What is written between text and a call.
    pub(super) leads: Vec<String>,
}

/// What a spelling in text may be.
#[derive(Debug, Default)]
pub(super) struct TextMark {
    pub(super) spelling: String,
    /// Walks of which it may be the beginning, in order of preference.
    pub(super) openers: Vec<Opener>,
    pub(super) thought: Option<usize>,
    /// It ends thinking; this stands before it then.
    pub(super) thought_end: Option<String>,
    pub(super) invented: Option<usize>,
    /// It has no meaning by itself and is dropped: a closer, or the end of a turn.
    pub(super) dropped: Option<Dropped>,
}

impl TextMark {
    /// True when it only counts at the start of a line.
    pub(super) fn is_line(&self) -> bool {
        let other = self.thought.is_some() || self.thought_end.is_some() || self.invented.is_some();
        !other && self.dropped.is_none() && self.openers.iter().all(|opener| opener.line_start)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    Closer,
    TurnEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opener {
    pub(super) walk: usize,
    /// Only at the start of a line.
    pub(super) line_start: bool,
    /// A mark that is written before it is missing: others are tried first.
    skips: bool,
    /// The step whose mark it is; none when it begins the arguments.
    pub(super) step: Option<usize>,
}

/// A kind of thinking.
#[derive(Debug)]
pub(super) struct Thought {
    pub(super) marks: Automaton,
    /// For each spelling: the calls that it may open; an end, when there are none.
    pub(super) openers: Vec<Vec<Opener>>,
    /// From this spelling on they open the thinking that is open already, and mean nothing at its start.
    pub(super) begins: usize,
}

/// One dialect, as the reader walks it.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) dialect: Arc<Dialect>,
    pub(super) steps: Vec<Step>,
    /// The first step of a call; before it lies what opens the block.
    pub(super) call: usize,
    /// The step with the arguments.
    pub(super) args: usize,
    /// The first step that closes the block.
    pub(super) close: usize,
    /// What may stand at each step: on the way to the arguments, and behind them.
    pub(super) sites: Vec<Site>,
    /// What may stand behind a call, to open the next one.
    pub(super) again: Site,
    pub(super) body: Body,
    /// Finds where reading may go on after a broken call.
    pub(super) rescue: Automaton,
    /// The marks in the header of a channel.
    pub(super) header: Automaton,
    /// The kind of thinking that a channel's bodies are, and of results that a model invents in one.
    pub(super) thought: usize,
    pub(super) invented: usize,
}

#[derive(Debug)]
pub(super) enum Step {
    Mark(Mark, Option<HeadForm>),
    Head(HeadForm),
    Args,
}

/// How the arguments are read.
#[derive(Debug)]
pub(super) enum Body {
    Object,
    Loose(LooseMarks),
    Call,
    Fields(Box<FieldMarks>),
}

/// What may stand at a place.
#[derive(Debug, Default)]
pub(super) struct Site {
    pub(super) marks: Automaton,
    pub(super) targets: Vec<Target>,
    /// What else may stand here, without a mark.
    pub(super) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The mark of this step.
    Step(usize),
    /// A mark that stood here before: the opening begins again.
    Again,
    /// The first field of the arguments.
    Field,
    /// What closes a call without arguments.
    Closer(usize),
    /// What opens the next call, or the next block.
    Opener { block: bool },
    /// What stands between two calls.
    Separator,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    #[default]
    Nothing,
    Head(usize),
    Args,
}

/// Marks of fewer bytes mean too little by themselves to be taken out of text.
const MIN_DISTINCT: usize = 5;

impl Plan {
    /// Builds the plan for a set of dialects; the earlier one wins where two read the same text.
    pub fn new(dialects: &[Arc<Dialect>]) -> Self {
        let forms = dialects.iter().flat_map(|dialect| std::iter::once(dialect).chain(&dialect.variants));
        let mut walks: Vec<Walk> = forms.map(|dialect| Walk::new(Arc::clone(dialect))).collect();
        let mut plan = Self {
            text: Automaton::default(),
            marks: Vec::new(),
            thoughts: vec![Thought { marks: Automaton::default(), openers: Vec::new(), begins: 0 }],
            invented: Vec::new(),
            leads: Vec::new(),
            walks: Vec::new(),
        };
        for (number, walk) in walks.iter().enumerate() {
            plan.gather(number, walk);
        }
        plan.gather_thoughts(&walks);
        plan.gather_channels(&mut walks);
        plan.text = Automaton::new(plan.marks.iter().map(|mark| mark.spelling.as_str()));
        plan.leads.sort_by_key(|lead| std::cmp::Reverse(lead.len()));
        plan.walks = walks;
        plan
    }

    fn mark(&mut self, spelling: &str) -> &mut TextMark {
        let place = self.marks.iter().position(|mark| mark.spelling == spelling).unwrap_or_else(|| {
            self.marks.push(TextMark { spelling: spelling.to_owned(), ..TextMark::default() });
            self.marks.len() - 1
        });
        &mut self.marks[place]
    }

    fn gather(&mut self, number: usize, walk: &Walk) {
        for (spelling, opener) in walk.openers(number) {
            let mark = self.mark(&spelling);
            if !mark.openers.contains(&opener) {
                mark.openers.push(opener);
                mark.openers.sort_by_key(|opener| (opener.skips, opener.walk));
            }
        }
        for mark in walk.dialect.marks() {
            for spelling in &mark.read {
                if is_distinct(spelling) && (is_closer(walk, mark) || is_token(spelling)) {
                    self.mark(spelling).dropped.get_or_insert(Dropped::Closer);
                }
            }
        }
        for end in &walk.dialect.ends {
            self.mark(end).dropped = Some(Dropped::TurnEnd);
        }
        for [open, close] in &walk.dialect.results.invented {
            if is_distinct(close) {
                self.mark(close).dropped.get_or_insert(Dropped::Closer);
            }
            let place = self.invented.len();
            let mark = self.mark(open);
            if mark.invented.is_none() {
                mark.invented = Some(place);
                self.invented.push(Automaton::new([close.as_str()]));
            }
        }
        let ends = walk.dialect.reasoning.iter().flat_map(|reasoning| &reasoning.end);
        let framing = ends.map(|end| &end[..end.len() - end.trim_start().len()]);
        for lead in framing.chain([walk.dialect.lead.as_str()]) {
            if !lead.is_empty() && !self.leads.iter().any(|known| known == lead) {
                self.leads.push(lead.to_owned());
            }
        }
    }

    /// Dialects whose thinking begins alike share one kind, and so does everything for an answer that starts inside.
    fn gather_thoughts(&mut self, walks: &[Walk]) {
        let mut kinds: Vec<(Vec<String>, Vec<&Walk>)> = Vec::new();
        for walk in walks {
            let Some(reasoning) = &walk.dialect.reasoning else { continue };
            let begins: Vec<String> = reasoning.begin.iter().map(|begin| begin.trim().to_owned()).collect();
            match kinds.iter_mut().find(|(known, _)| known.iter().any(|begin| begins.contains(begin))) {
                Some((known, members)) => {
                    known.extend(begins);
                    members.push(walk);
                }
                None => kinds.push((begins, vec![walk])),
            }
        }
        let all: Vec<&Walk> = kinds.iter().flat_map(|(_, members)| members.iter().copied()).collect();
        self.thoughts[0] = Thought::new(&all, walks);
        for (_, members) in kinds {
            let kind = self.thoughts.len();
            self.thoughts.push(Thought::new(&members, walks));
            for reasoning in members.iter().filter_map(|walk| walk.dialect.reasoning.as_ref()) {
                for spelling in reasoning.begin.iter().flat_map(|begin| framings(begin.trim_start())) {
                    self.mark(&spelling).thought = Some(kind);
                }
                for end in &reasoning.end {
                    let before = &end[..end.len() - end.trim_start().len()];
                    for spelling in framings(end.trim_start()) {
                        self.mark(&spelling).thought_end = Some(before.to_owned());
                    }
                }
            }
        }
    }
}

impl Plan {
    /// The thinking of channel formats, and the ends of their bodies.
    fn gather_channels(&mut self, walks: &mut [Walk]) {
        for (number, walk) in walks.iter_mut().enumerate() {
            let Frame::Channels(channels) = &walk.dialect.frame else { continue };
            let openers = [&channels.start, &channels.channel];
            let spellings = channels.ends.iter().chain(openers).map(String::as_str);
            let opener = Opener { walk: number, line_start: false, skips: false, step: None };
            let ends = channels.ends.iter().map(|_| Vec::new());
            self.thoughts.push(Thought {
                marks: Automaton::new(spellings),
                openers: ends.chain(openers.map(|_| vec![opener])).collect(),
                begins: usize::MAX,
            });
            for end in &channels.ends {
                self.mark(end).dropped = Some(Dropped::TurnEnd);
            }
            for mark in [&channels.message, &channels.constrain] {
                self.mark(mark).dropped = Some(Dropped::Closer);
            }
            walk.thought = self.thoughts.len() - 1;
            walk.invented = self.invented.len();
            self.invented.push(Automaton::new(channels.ends.iter().map(String::as_str)));
        }
    }

    /// True when `text` is the beginning of such a mark, and not yet more.
    pub(super) fn may_end_here(&self, text: &str) -> bool {
        let whole = |mark: &TextMark| mark.spelling.len() > text.len() && mark.spelling.starts_with(text);
        self.marks.iter().any(|mark| mark.dropped == Some(Dropped::TurnEnd) && whole(mark))
    }

    /// True when `text` begins with a mark that ends a turn or a body.
    pub(super) fn ends_here(&self, text: &str) -> bool {
        self.marks
            .iter()
            .any(|mark| mark.dropped == Some(Dropped::TurnEnd) && text.starts_with(&mark.spelling))
    }
}

/// A mark with and without the white space around it.
fn framings(mark: &str) -> Vec<String> {
    let core = mark.trim();
    let before = &mark[..mark.len() - mark.trim_start().len()];
    let behind = &mark[mark.trim_end().len()..];
    let mut all = Vec::new();
    for before in ["", before] {
        for behind in ["", behind] {
            let spelling = format!("{before}{core}{behind}");
            if !all.contains(&spelling) {
                all.push(spelling);
            }
        }
    }
    all
}

/// True for a mark that means something by itself, wherever it stands.
pub(super) fn is_distinct(mark: &str) -> bool {
    mark.len() >= MIN_DISTINCT
        && !mark.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '#' | '`' | '*'))
}

/// True when text begins with a token of a model's own markup, such as `<|…` or `[TOOL_CALLS]`.
pub(super) fn is_token(text: &str) -> bool {
    text.starts_with("<|")
        || text.starts_with("<｜")
        || text.strip_prefix('[').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

fn is_closer(walk: &Walk, mark: &Mark) -> bool {
    walk.steps[walk.args + 1..].iter().any(|step| matches!(step, Step::Mark(closer, _) if closer == mark))
}

impl Thought {
    fn new(members: &[&Walk], walks: &[Walk]) -> Self {
        let mut spellings: Vec<String> = Vec::new();
        let mut openers: Vec<Vec<Opener>> = Vec::new();
        for reasoning in members.iter().filter_map(|walk| walk.dialect.reasoning.as_ref()) {
            for spelling in reasoning.end.iter().flat_map(|end| framings(end)) {
                if !spellings.contains(&spelling) {
                    spellings.push(spelling);
                    openers.push(Vec::new());
                }
            }
        }
        for (number, walk) in walks.iter().enumerate() {
            let ends = walk.dialect.reasoning.as_ref().is_some_and(|reasoning| reasoning.until_call);
            if !ends || !members.iter().any(|member| Arc::ptr_eq(&member.dialect, &walk.dialect)) {
                continue;
            }
            for (spelling, opener) in walk.openers(number) {
                match spellings.iter().position(|known| *known == spelling) {
                    Some(place) if !openers[place].is_empty() => openers[place].push(opener),
                    Some(_) => {}
                    None => {
                        spellings.push(spelling);
                        openers.push(vec![opener]);
                    }
                }
            }
        }
        let begins = spellings.len();
        for reasoning in members.iter().filter_map(|walk| walk.dialect.reasoning.as_ref()) {
            spellings.extend(reasoning.begin.iter().flat_map(|begin| framings(begin)));
        }
        openers.resize(spellings.len(), Vec::new());
        Self { marks: Automaton::new(spellings.iter().map(String::as_str)), openers, begins }
    }
}

impl Walk {
    fn new(dialect: Arc<Dialect>) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        steps.extend(dialect.block.open.iter().map(|mark| Step::Mark(mark.clone(), None)));
        let call = steps.len();
        steps.extend(dialect.call.iter().map(|piece| match piece {
            Piece::Mark(mark, head) => Step::Mark(mark.clone(), head.clone()),
            Piece::Head(form) => Step::Head(form.clone()),
            Piece::Args(_) => Step::Args,
        }));
        let args = steps.iter().position(|step| matches!(step, Step::Args)).unwrap_or(call);
        let close = steps.len();
        steps.extend(dialect.block.close.iter().map(|mark| Step::Mark(mark.clone(), None)));
        // Marks of white space alone are written, and read as the white space that is free everywhere.
        let mut walk = Self {
            steps,
            call,
            args,
            close,
            sites: Vec::new(),
            again: Site::default(),
            body: Body::Object,
            rescue: Automaton::default(),
            header: Automaton::default(),
            thought: 0,
            invented: 0,
            dialect,
        };
        if let Frame::Channels(channels) = &walk.dialect.frame {
            let Channels { message, constrain, start, channel, .. } = &**channels;
            walk.header = Automaton::new([message, constrain, start, channel].map(String::as_str));
        }
        walk.body = walk.body();
        walk.sites = (0..=walk.steps.len()).map(|step| walk.site(step)).collect();
        walk.again = walk.again();
        walk.rescue = walk.rescue();
        walk
    }

    pub(super) fn is_bare(&self) -> bool {
        self.dialect.frame == Frame::Bare
    }

    /// True when the arguments are one JSON object.
    pub(super) fn takes_object(&self) -> bool {
        matches!(self.body, Body::Object)
    }

    /// True when a closer of the block between these steps is missing. Nobody misses one whose opener was not there.
    pub(super) fn misses_block(&self, from: usize, to: usize, opened: u32) -> bool {
        (from.max(self.close)..to).any(|step| {
            let opener = self.call.checked_sub(step - self.close + 1);
            let open = opener.is_none_or(|opener| opened >> opener.min(31) & 1 == 1);
            open && self.misses(step, step + 1)
        })
    }

    /// True for a format in which a call is a line.
    pub(super) fn is_line(&self) -> bool {
        matches!(self.steps.get(self.call), Some(Step::Mark(mark, _)) if mark.line_start)
    }

    pub(super) fn channels(&self) -> Option<&Channels> {
        if let Frame::Channels(channels) = &self.dialect.frame { Some(channels) } else { None }
    }

    /// The spellings that a group of calls may begin with.
    fn openers(&self, walk: usize) -> Vec<(String, Opener)> {
        if let Some(channels) = self.channels() {
            let opener = Opener { walk, line_start: false, skips: false, step: None };
            return [&channels.start, &channels.channel].map(|mark| (mark.clone(), opener)).to_vec();
        }
        let mut openers = Vec::new();
        for (step, mark) in self.marks_from(0) {
            let skips = self.skips(0, step);
            for spelling in &mark.read {
                let plain = spelling.len() < MIN_DISTINCT || spelling.starts_with('`');
                if plain && !self.is_bare() && matches!(mark.need, Need::Noise | Need::Free) {
                    continue;
                }
                let line_start = mark.line_start || (self.is_bare() && plain);
                openers.push((spelling.clone(), Opener { walk, line_start, skips, step: Some(step) }));
            }
        }
        let json = matches!(self.dialect.codec(), Codec::Object(Literal::Json) | Codec::Call(_));
        if self.reaches_args(0) && json {
            let skips = self.skips(0, self.args);
            openers.push(("{".to_owned(), Opener { walk, line_start: true, skips, step: None }));
        }
        openers
    }

    /// The marks that may stand at `step` on the way to the arguments: up to the first that has to be there.
    fn marks_from(&self, step: usize) -> Vec<(usize, &Mark)> {
        let mut marks = Vec::new();
        for (place, step) in self.steps.iter().enumerate().take(self.args).skip(step) {
            let Step::Mark(mark, _) = step else { break };
            marks.push((place, mark));
            if mark.need == Need::Must {
                break;
            }
        }
        marks
    }

    /// True when nothing between `step` and the arguments has to be there.
    fn reaches_args(&self, step: usize) -> bool {
        self.steps[step.min(self.args)..self.args]
            .iter()
            .all(|step| matches!(step, Step::Mark(mark, _) if mark.need != Need::Must))
    }

    fn closers(&self) -> impl Iterator<Item = (usize, &Mark)> {
        self.steps.iter().enumerate().skip(self.args + 1).filter_map(|(place, step)| match step {
            Step::Mark(mark, _) => Some((place, mark)),
            _ => None,
        })
    }

    fn body(&self) -> Body {
        match self.dialect.codec() {
            Codec::Object(Literal::Json) => Body::Object,
            Codec::Object(Literal::Loose(loose)) => Body::Loose(LooseMarks::new(loose)),
            Codec::Call(_) => Body::Call,
            Codec::Raw { close, .. } => {
                let closers: Vec<(usize, String)> =
                    self.closers().map(|(place, _)| (place, close.clone())).take(1).collect();
                Body::Fields(Box::new(FieldMarks::raw(&closers)))
            }
            Codec::Fields(form) => {
                let closers: Vec<(usize, String)> = self
                    .closers()
                    .flat_map(|(place, mark)| mark.read.iter().map(move |spelling| (place, spelling.clone())))
                    .collect();
                let mut openers: Vec<String> = Vec::new();
                for (_, mark) in self.marks_from(0).into_iter().chain(self.marks_from(self.call)) {
                    openers
                        .extend(mark.read.iter().filter(|spelling| spelling.len() >= MIN_DISTINCT).cloned());
                }
                Body::Fields(Box::new(FieldMarks::new(form, &closers, &openers)))
            }
        }
    }

    fn site(&self, step: usize) -> Site {
        let mut spellings: Vec<(String, Target)> = Vec::new();
        let then;
        if step > self.args {
            for (place, mark) in self.closers().filter(|(place, _)| *place >= step) {
                spellings.extend(mark.read.iter().map(|spelling| (spelling.clone(), Target::Step(place))));
            }
            for (place, mark) in self.marks_from(0).into_iter().chain(self.marks_from(self.call)) {
                let block = place < self.call;
                spellings
                    .extend(mark.read.iter().map(|spelling| (spelling.clone(), Target::Opener { block })));
            }
            let between = self.dialect.between.trim();
            let marks = self
                .closers()
                .any(|(_, mark)| mark.read.iter().any(|closer| between.contains(closer.as_str())));
            if !between.is_empty() && !marks {
                spellings.push((between.to_owned(), Target::Separator));
            }
            if self.is_bare() || !self.dialect.block.open.is_empty() {
                spellings.extend([",", ";"].map(|mark| (mark.to_owned(), Target::Separator)));
            }
            then = self.then(self.call);
        } else {
            for (place, mark) in self.marks_from(step) {
                spellings.extend(mark.read.iter().map(|spelling| (spelling.clone(), Target::Step(place))));
            }
            then = self.then(step);
            if let (Then::Args, Codec::Fields(form)) = (then, self.dialect.codec()) {
                spellings.extend(FieldMarks::first(form).map(|open| (open.to_owned(), Target::Field)));
            }
            let headed = matches!(self.dialect.codec(), Codec::Fields(_) | Codec::Object(Literal::Json));
            if then == Then::Args && headed && step > self.call {
                for (place, mark) in self.closers() {
                    let plain =
                        |spelling: &&String| !spellings.iter().any(|(known, _)| known.starts_with(*spelling));
                    let closers: Vec<_> = mark.read.iter().filter(plain).cloned().collect();
                    spellings.extend(closers.into_iter().map(|spelling| (spelling, Target::Closer(place))));
                }
            }
            if step > self.call {
                for (place, mark) in self.closers() {
                    let selves = mark.read.iter().filter(|spelling| spelling.ends_with("/>"));
                    spellings.extend(selves.map(|spelling| (spelling.clone(), Target::Closer(place))));
                }
            }
            for passed in &self.steps[..step] {
                let Step::Mark(mark, _) = passed else { continue };
                let distinct = mark.read.iter().filter(|spelling| is_distinct(spelling));
                spellings.extend(distinct.map(|spelling| (spelling.clone(), Target::Again)));
            }
        }
        Site::new(spellings, then)
    }

    /// What may stand at `step` on the way to the arguments without a mark.
    fn then(&self, step: usize) -> Then {
        let behind = self
            .marks_from(step)
            .last()
            .map_or(step, |(place, mark)| if mark.need == Need::Must { self.args + 1 } else { place + 1 });
        match self.steps.get(behind) {
            Some(Step::Head(_)) if behind <= self.args => Then::Head(behind),
            Some(Step::Args) => Then::Args,
            _ => Then::Nothing,
        }
    }

    fn again(&self) -> Site {
        let mut spellings: Vec<(String, Target)> = Vec::new();
        for (place, mark) in self.marks_from(self.call).into_iter().chain(self.marks_from(0)) {
            spellings.extend(mark.read.iter().map(|spelling| (spelling.clone(), Target::Step(place))));
        }
        Site::new(spellings, self.sites[self.call].then)
    }

    fn rescue(&self) -> Automaton {
        let mut spellings: Vec<&str> = Vec::new();
        if let Some(channels) = self.channels() {
            spellings
                .extend(channels.ends.iter().chain([&channels.start, &channels.channel]).map(String::as_str));
        }
        if let Codec::Call(form) = self.dialect.codec()
            && let Some(Slot::Text(head)) = form.parts.first()
        {
            spellings.push(head.trim_end_matches(['"', ' ']));
        }
        let closers = self.closers().map(|(_, mark)| mark);
        let openers = self.marks_from(0).into_iter().chain(self.marks_from(self.call)).map(|(_, mark)| mark);
        for mark in closers.chain(openers) {
            spellings.extend(
                mark.read.iter().map(String::as_str).filter(|spelling| spelling.len() >= MIN_DISTINCT),
            );
        }
        let closed = self.closers().any(|(_, mark)| mark.read.iter().any(|spelling| is_distinct(spelling)));
        if spellings.is_empty() || (self.dialect.between == "\n" && self.takes_object() && !closed) {
            spellings.push("\n");
        }
        Automaton::new(spellings)
    }

    /// The head at `step`.
    pub(super) fn head(&self, step: usize) -> Option<&HeadForm> {
        match self.steps.get(step) {
            Some(Step::Head(form) | Step::Mark(_, Some(form))) => Some(form),
            _ => None,
        }
    }

    /// True when the mark of this step is written.
    pub(super) fn is_written(&self, step: usize) -> bool {
        let written = |mark: &Mark| !matches!(mark.need, Need::Noise | Need::Id) && !mark.read.is_empty();
        matches!(self.steps.get(step), Some(Step::Mark(mark, _)) if written(mark))
    }

    /// True when a mark between these steps is written.
    fn skips(&self, from: usize, to: usize) -> bool {
        (from..to).any(|step| self.is_written(step))
    }

    /// True when a mark between these steps is written and was not there.
    pub(super) fn misses(&self, from: usize, to: usize) -> bool {
        self.steps[from.min(to)..to].iter().any(|step| {
            matches!(step, Step::Mark(mark, _) if matches!(mark.need, Need::Must | Need::Soft) && !mark.read.is_empty())
        })
    }

    /// True when the end of the answer stands for the mark of this step.
    pub(super) fn may_be_eaten(&self, step: usize) -> bool {
        matches!(self.steps.get(step), Some(Step::Mark(mark, _)) if mark.need == Need::Stop)
    }
}

impl Site {
    fn new(mut spellings: Vec<(String, Target)>, then: Then) -> Self {
        // Of equal spellings the first counts.
        let mut known: Vec<String> = Vec::new();
        spellings.retain(|(spelling, _)| {
            let new = !known.contains(spelling);
            if new {
                known.push(spelling.clone());
            }
            new
        });
        Self {
            marks: Automaton::new(spellings.iter().map(|(spelling, _)| spelling.as_str())),
            targets: spellings.into_iter().map(|(_, target)| target).collect(),
            then,
        }
    }
}
