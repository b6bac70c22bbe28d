//! What may stand at each step of a dialect.

use super::steps::Step;
use super::walk::Walk;
use super::{MIN_DISTINCT, Opener, is_distinct};
use crate::codec::call::{NAMES, drop_id, is_usual};
use crate::codec::fields::FieldMarks;
use crate::dialect::{Channels, Codec, Literal, Mark, Need, Slot, is_token};
use crate::parse::character::is_in_name;
use crate::scan::Automaton;
use crate::value::Marks;

/// What may stand at a place.
#[derive(Debug, Default)]
pub(in crate::parse) struct Site {
    pub(in crate::parse) marks: Automaton,
    pub(in crate::parse) targets: Vec<Target>,
    /// What else may stand here, without a mark.
    pub(in crate::parse) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Target {
    /// The mark of this step.
    Step(usize),
    /// A mark that stood here before: the opening begins again.
    Again,
    /// The first field of the arguments.
    Field,
    /// What closes a call without arguments.
    Closer(usize),
    /// What closes a group, or a call, in which no name stands.
    Empty(usize),
    /// What opens the next call, or the next block, and the step that it is the mark of there.
    Opener { block: bool, step: usize },
    /// A header begins.
    Header,
    /// What opens a call of another form of the dialect.
    Other,
    /// What stands between two calls.
    Separator,
    /// The closer of a value where none is open: it is passed over.
    Stray,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Then {
    #[default]
    Nothing,
    Head(usize),
    Args,
}

/// What may stand at each place of a dialect.
#[derive(Debug)]
pub(in crate::parse) struct Expected {
    /// At each step: on the way to the arguments, and behind them.
    pub(in crate::parse) sites: Vec<Site>,
    /// Behind a call, to open the next one.
    pub(in crate::parse) again: Site,
    /// Around a value that is no field.
    pub(in crate::parse) values: Marks,
    /// For a block of lists with marks around it: its marks, and how many of them close it.
    pub(in crate::parse) echo: Option<(Automaton, usize)>,
    /// The marks behind the arguments, which prove a call that is opened by a word alone.
    pub(in crate::parse) proof: Automaton,
    /// Where reading may go on after a broken call.
    pub(in crate::parse) rescue: Automaton,
    /// The opening as it is written, where that can be told by it alone.
    pub(in crate::parse) strict: Option<Strict>,
}

/// What is written before the arguments of a call, in order.
#[derive(Debug)]
pub(in crate::parse) struct Strict {
    pub(in crate::parse) openers: Vec<Expect>,
    /// So many of them open the block.
    pub(in crate::parse) block: usize,
}

/// What is written at a place.
#[derive(Debug)]
pub(in crate::parse) enum Expect {
    /// The mark of this step, where nothing longer begins that may stand there as well.
    Mark(usize, String, Vec<String>),
    /// The head of this step.
    Head(usize),
}

impl Expected {
    pub(super) fn of(walk: &Walk) -> Self {
        let sites: Vec<Site> = (0..=walk.steps.len()).map(|step| walk.site(step)).collect();
        let again = walk.again();
        Self {
            strict: walk.strict(&sites, &again),
            sites,
            again,
            values: walk.marks_of_values(),
            echo: walk.echo(),
            proof: walk.proof(),
            rescue: walk.rescue(),
        }
    }
}

impl Site {
    /// True where this text is the mark of this step.
    fn takes(&self, text: &str, step: usize) -> bool {
        self.marks.spellings().zip(&self.targets).any(|mark| mark == (text, &Target::Step(step)))
    }

    /// The marks that go on from this text.
    fn longer<'s>(&'s self, text: &'s str) -> impl Iterator<Item = String> + 's {
        let longer = move |mark: &&str| mark.len() > text.len() && mark.starts_with(text);
        self.marks.spellings().filter(longer).map(str::to_owned)
    }

    /// True when a mark goes on from this text.
    pub(in crate::parse) fn goes_on(&self, text: &str) -> bool {
        self.longer(text).next().is_some()
    }

    /// True when a mark begins with such a character.
    fn begins(&self, is: impl Fn(char) -> bool) -> bool {
        self.marks.spellings().any(|spelling| spelling.starts_with(&is))
    }

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

impl Walk {
    /// The spellings that a group of calls may begin with.
    pub(in crate::parse) fn openers(&self, walk: usize) -> Vec<(String, Opener)> {
        let mut openers = Vec::new();
        if let Some(channels) = self.channels() {
            let opener = Opener { walk, line_start: false, announced: false, skips: false, step: None };
            openers.extend(channels.openers().map(|mark| (mark.clone(), opener)));
            if !self.is_inside() {
                return openers;
            }
        }
        for (step, mark) in self.marks_from(0) {
            let skips = self.skips(0, step);
            for spelling in &mark.read {
                let plain = spelling.len() < MIN_DISTINCT || spelling.starts_with('`');
                if plain && !self.is_bare() && matches!(mark.need, Need::Noise | Need::Free) {
                    continue;
                }
                let line_start = mark.line_start || (self.is_bare() && (plain || spelling.starts_with('{')));
                let announced = self.is_loose() && (self.is_bare() || mark.line_start);
                openers.push((
                    spelling.clone(),
                    Opener { walk, line_start, announced, skips, step: Some(step) },
                ));
            }
        }
        let json = matches!(self.dialect.codec(), Codec::Object(Literal::Json) | Codec::Call(_));
        if self.reaches_args(0) && json {
            let skips = self.skips(0, self.args);
            openers.push((
                "{".to_owned(),
                Opener { walk, line_start: true, announced: false, skips, step: None },
            ));
        }
        openers
    }

    fn site(&self, step: usize) -> Site {
        let mut spellings: Vec<(String, Target)> = Vec::new();
        let then;
        if step > self.args {
            for (place, mark) in self.closers().filter(|(place, _)| *place >= step) {
                spellings.extend(mark.read.iter().map(|spelling| (spelling.clone(), Target::Step(place))));
            }
            for mark in self.channels().into_iter().flat_map(Channels::openers) {
                spellings.push((mark.clone(), Target::Header));
            }
            for (place, mark) in self.marks_from(0).into_iter().chain(self.marks_from(self.call)) {
                let block = place < self.call;
                let target =
                    |mark: &String| Target::Opener { block, step: self.begun_by(mark).unwrap_or(place) };
                spellings.extend(mark.read.iter().map(|spelling| (spelling.clone(), target(spelling))));
            }
            spellings.extend(self.others.iter().map(|mark| (mark.clone(), Target::Other)));
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
            let ends = self.heading.as_ref().is_some_and(|heading| !heading.inside);
            then = if ends { Then::Nothing } else { self.then(self.call) };
        } else {
            for (place, mark) in self.marks_from(step) {
                spellings.extend(mark.read.iter().map(|spelling| (spelling.clone(), Target::Step(place))));
            }
            then = self.then(step);
            if let (Then::Args, Codec::Fields(form)) = (then, self.dialect.codec()) {
                spellings.extend(FieldMarks::first(form).map(|open| (open.to_owned(), Target::Field)));
                spellings.extend(FieldMarks::closers(form).map(|close| (close.to_owned(), Target::Stray)));
            }
            let closes = |place: usize, spelling: &String| {
                (spelling.clone(), Target::Closer(self.closed_by(place, spelling)))
            };
            let headed = matches!(
                self.dialect.codec(),
                Codec::Fields(_) | Codec::Lines(_) | Codec::Object(Literal::Json)
            );
            if then == Then::Args && headed && step > self.call {
                for (place, mark) in self.first_closers() {
                    let plain =
                        |spelling: &&String| !spellings.iter().any(|(known, _)| known.starts_with(*spelling));
                    // A fence opens where arguments should.
                    let fence = |spelling: &&String| spelling.starts_with('`') && !self.takes_fields();
                    let closers = mark.read.iter().filter(|mark| plain(mark) && !fence(mark));
                    let closers: Vec<_> = closers.map(|spelling| closes(place, spelling)).collect();
                    spellings.extend(closers);
                }
            }
            if step > self.call {
                for (place, mark) in self.first_closers() {
                    let selves = mark.read.iter().filter(|spelling| spelling.ends_with("/>"));
                    spellings.extend(selves.map(|spelling| closes(place, spelling)));
                }
            }
            if step > 0 {
                for (place, mark) in self.closers() {
                    let own =
                        mark.read.iter().filter(|spelling| place >= self.close || is_distinct(spelling));
                    spellings.extend(own.map(|spelling| (spelling.clone(), Target::Empty(place))));
                }
            }
            for passed in &self.steps[..step] {
                let Some(mark) = passed.mark() else { continue };
                let distinct = mark.read.iter().filter(|spelling| is_distinct(spelling));
                spellings.extend(distinct.map(|spelling| (spelling.clone(), Target::Again)));
            }
        }
        Site::new(spellings, then)
    }

    /// What may stand at `step` on the way to the arguments without a mark.
    pub(in crate::parse) fn then(&self, step: usize) -> Then {
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

    /// The marks that the next call may begin with.
    fn beginnings(&self) -> impl Iterator<Item = (usize, &Mark)> {
        self.marks_from(self.call).into_iter().chain(self.marks_from(0))
    }

    /// The step that the next call begins with where this mark stands.
    fn begun_by(&self, spelling: &String) -> Option<usize> {
        self.beginnings().find(|(_, mark)| mark.read.contains(spelling)).map(|(place, _)| place)
    }

    fn again(&self) -> Site {
        let mut spellings: Vec<(String, Target)> = Vec::new();
        for (place, mark) in self.beginnings() {
            spellings.extend(mark.read.iter().map(|spelling| (spelling.clone(), Target::Step(place))));
        }
        Site::new(spellings, self.then(self.call))
    }

    /// What may stand behind a value that is not closed.
    fn marks_of_values(&self) -> Marks {
        let spellings = |marks: Vec<&Mark>| -> Vec<String> {
            marks.iter().flat_map(|mark| mark.read.iter().cloned()).collect()
        };
        let closers = spellings(self.closers().map(|(_, mark)| mark).collect());
        let openers = self.marks_from(0).into_iter().chain(self.marks_from(self.call));
        let mut next = spellings(openers.map(|(_, mark)| mark).collect());
        next.extend(self.dialect.results.invented.iter().map(|[open, _]| open.clone()));
        next.extend(self.dialect.ends.iter().cloned());
        Marks::new(&self.syntax, &closers, &next)
    }

    fn echo(&self) -> Option<(Automaton, usize)> {
        let (open, close) = (&self.dialect.block.open, self.dialect.block.close.last()?);
        let token = |mark: &Mark| mark.read.iter().all(|spelling| is_token(spelling));
        let listed = open.len() == 2 && open[1].read.iter().any(|mark| mark == "[");
        let spellings = || close.read.iter().chain(&open[0].read).map(String::as_str);
        (self.is_loose() && !self.is_bare() && listed && token(close) && token(&open[0]))
            .then(|| (Automaton::new(spellings()), close.read.len()))
    }

    /// The opening as it is written, for calls that are objects: what may stand at each place must not be taken for
    /// something else.
    fn strict(&self, sites: &[Site], again: &Site) -> Option<Strict> {
        let json = match self.dialect.codec() {
            Codec::Call(form) => !form.python && form.name.is_some(),
            Codec::Object(Literal::Json) => true,
            _ => false,
        };
        if !json || self.channels().is_some() || self.dialect.tool.is_some() || self.is_line() {
            return None;
        }
        let (mut openers, mut block, mut from) = (Vec::new(), 0, 0);
        for (step, expected) in self.steps[..self.args].iter().enumerate() {
            match expected {
                Step::Mark(mark, None) => {
                    let text = mark.write.trim();
                    if !self.is_written(step) || text.is_empty() {
                        continue;
                    }
                    let first = openers.is_empty() || (openers.len() == block && step >= self.call);
                    if !sites[from].takes(text, step) || (first && !again.takes(text, step)) {
                        return None;
                    }
                    let mut longer: Vec<String> = sites[from].longer(text).collect();
                    if first {
                        longer.extend(again.longer(text));
                    }
                    openers.push(Expect::Mark(step, text.to_owned(), longer));
                    block += usize::from(step < self.call);
                }
                Step::Head(form) if form.parts.contains(&Slot::Name) && form.attributes.is_empty() => {
                    if sites[from].begins(char::is_alphanumeric) || sites[step + 1].begins(is_in_name) {
                        return None;
                    }
                    openers.push(Expect::Head(step));
                }
                _ => return None,
            }
            from = step + 1;
        }
        let named = openers.iter().any(|expect| matches!(expect, Expect::Head(_)));
        let object = matches!(self.dialect.codec(), Codec::Object(_));
        (named == object && !sites[from].begins(|c| c == '{')).then_some(Strict { openers, block })
    }

    fn proof(&self) -> Automaton {
        let closers = self.closers().flat_map(|(_, mark)| mark.read.iter().map(String::as_str));
        let quotes = match self.dialect.codec() {
            Codec::Object(Literal::Loose(loose)) => &loose.quotes[..],
            _ => &[],
        };
        let quotes = quotes.iter().map(String::as_str).filter(|quote| is_token(quote));
        Automaton::new(closers.chain(quotes).filter(|mark| is_distinct(mark)))
    }

    fn rescue(&self) -> Automaton {
        let (without_id, usual);
        let mut spellings: Vec<&str> = Vec::new();
        if let Some(channels) = self.channels() {
            spellings.extend(channels.ends.iter().chain(channels.openers()).map(String::as_str));
        }
        if let Codec::Call(form) = self.dialect.codec() {
            without_id = drop_id(&form.parts);
            // Objects of other usual forms are read as well.
            usual = NAMES.map(|name| format!("{{\"{name}\":"));
            spellings.extend(usual.iter().filter(|_| is_usual(form)).map(String::as_str));
            for parts in [&form.parts, &without_id] {
                if let Some(Slot::Text(head)) = parts.first() {
                    spellings.push(head.trim_end_matches(['"', '\'', ' ']));
                }
            }
        }
        let closers = self.closers().map(|(_, mark)| mark);
        let openers = self.marks_from(0).into_iter().chain(self.marks_from(self.call)).map(|(_, mark)| mark);
        for mark in closers.chain(openers) {
            spellings.extend(
                mark.read.iter().map(String::as_str).filter(|spelling| spelling.len() >= MIN_DISTINCT),
            );
        }
        spellings.extend(self.named_closer());
        let closed = self.closers().any(|(_, mark)| mark.read.iter().any(|spelling| is_distinct(spelling)));
        if spellings.is_empty() || (self.dialect.between == "\n" && self.takes_object() && !closed) {
            spellings.push("\n");
        }
        Automaton::new(spellings)
    }
}
