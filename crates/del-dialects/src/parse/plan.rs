//! A set of dialects, ready to be read all at once.

mod alike;
mod body;
mod heading;
mod mark;
mod sites;
mod spelling;
mod steps;
mod thought;
mod walk;
use std::collections::HashMap;
use std::sync::Arc;

use crate::dialect::{Dialect, Frame, Mark, is_plain_tag, is_token};
use crate::order::sort;
use crate::scan::{Automaton, SUFFIX, Scan};
pub(super) use body::Body;
pub(super) use heading::HeaderMark;
pub(super) use mark::{Dropped, Headed, Opener, TextMark, ThoughtEnd, Wrapper, begins_a_name, may_be_named};
pub(super) use sites::{Expect, Site, Strict, Target, Then};
use spelling::{MIN_DISTINCT, framing, framings};
pub(super) use spelling::{is_distinct, is_wordy};
pub(super) use steps::{Step, bit};
pub(super) use thought::Role;
use thought::{EDGES, Kind, Thought};
pub(super) use walk::{MIN_NAMED, Walk};

/// A set of dialects, ready to be read all at once. Built once, shared by all parsers.
#[derive(Debug)]
pub struct Plan {
    pub(super) walks: Vec<Walk>,
    /// What matters in text for the user.
    pub(super) text: Automaton,
    /// The same for an answer that begins as one whose marks were taken out: words alone may be headers then.
    pub(super) worded: Option<Automaton>,
    pub(super) marks: Vec<TextMark>,
    /// Where among them each spelling is, while the plan is built.
    places: HashMap<String, usize>,
    /// A word in text may be the name of a call, as the mark behind it tells.
    pub(super) headed: bool,
    /// Walks that may begin with a name, at the beginning of an answer.
    pub(super) words: Vec<Opener>,
    /// Kinds of thinking; the first is for answers that start inside it.
    pub(super) thoughts: Vec<Thought>,
    /// Closers of invented results.
    pub(super) invented: Vec<Automaton>,
    /// Marks that end a turn or a body.
    body_ends: Automaton,
    /// What is written between text and a call.
    pub(super) leads: Vec<String>,
    /// The bytes of all these.
    pub(super) lead_bytes: Vec<u8>,
    /// For each byte, whether a mark or code may begin with it in text, or a line ends.
    pub(super) special: Box<[bool; 256]>,
    /// The walk whose header an answer may begin in the middle of, its opening mark being the prompt's last.
    pub(super) headless: Option<usize>,
    /// The kind of thinking that an answer may start inside.
    pub(super) first_thought: usize,
    /// One dialect is read, and what it reads beside.
    pub(super) alone: bool,
}

impl Plan {
    /// True for text that is surely nothing else, at the beginning of an answer: nothing in it could be a mark, a name
    /// that begins a call, or code.
    pub(crate) fn is_plain(&self, text: &str) -> bool {
        let (mut scan, mut look) = (Scan::default(), 0);
        self.words.is_empty()
            && self.headless.is_none()
            && self.worded.is_none()
            && memchr::memchr(b'`', text.as_bytes()).is_none()
            && self.text.find(&mut scan, text.as_bytes(), &mut look, &mut 0).is_none()
            && self.text.pending(&scan) == 0
    }

    /// True where a name that is not declared may be text, in the first dialect: it needs one, or has no marks.
    pub(crate) fn asks_for_declared(&self) -> bool {
        self.walks.first().is_some_and(|walk| walk.is_bare() || walk.needs_declared)
    }

    /// Builds the plan for a set of dialects; the earlier one wins where two read the same text.
    pub fn new(dialects: &[Arc<Dialect>]) -> Self {
        let forms = dialects.iter().flat_map(|dialect| std::iter::once(dialect).chain(&dialect.variants));
        let mut walks: Vec<Walk> = forms.map(|dialect| Walk::new(Arc::clone(dialect))).collect();
        let mut from = 0;
        for dialect in dialects {
            let to = from + 1 + dialect.variants.len();
            introduce(&mut walks[from..to]);
            walks[from..to].iter_mut().for_each(|walk| walk.forms = from..to);
            from = to;
        }
        let mut plan = Self {
            text: Automaton::default(),
            worded: None,
            marks: Vec::new(),
            places: HashMap::new(),
            headed: false,
            words: Vec::new(),
            thoughts: vec![Thought::default()],
            invented: Vec::new(),
            body_ends: Automaton::default(),
            leads: Vec::new(),
            lead_bytes: Vec::new(),
            special: Box::new([false; 256]),
            headless: None,
            first_thought: 0,
            alone: false,
            walks: Vec::new(),
        };
        for walk in &mut walks {
            let own = |other: &Arc<Dialect>| {
                other.name == walk.dialect.name || walk.dialect.reads.contains(&other.name)
            };
            walk.settle(dialects.iter().all(own));
            plan.alone |= walk.alone;
            plan.gather_wrappers(walk);
        }
        for number in 0..walks.len() {
            plan.gather(number, &walks);
            let headless = walks[number].headless(number);
            plan.words.extend(headless);
        }
        for edge in EDGES {
            plan.mark(edge).dropped.get_or_insert(Dropped::Edge);
        }
        plan.gather_thoughts(&walks);
        plan.gather_channels(&mut walks);
        plan.text =
            Automaton::new(plan.marks.iter().map(|mark| if mark.residue { "" } else { &mark.spelling }));
        for byte in 0..=u8::MAX {
            plan.special[byte as usize] = plan.text.begins_with(byte) || b"`~\n".contains(&byte);
        }
        if plan.marks.iter().any(|mark| mark.residue) {
            plan.worded = Some(Automaton::new(plan.marks.iter().map(|mark| mark.spelling.as_str())));
        }
        sort(&mut plan.leads, |one, other| other.len().cmp(&one.len()));
        for byte in plan.leads.iter().flat_map(|lead| lead.bytes()) {
            if !plan.lead_bytes.contains(&byte) {
                plan.lead_bytes.push(byte);
            }
        }
        for mark in &mut plan.marks {
            mark.only_opens = mark.is_opener_alone();
        }
        plan.walks = walks;
        let body_ends = plan.marks.iter().filter(|mark| !mark.residue && plan.ends_body(mark));
        plan.body_ends = Automaton::new(body_ends.map(|mark| mark.spelling.as_str()));
        plan.places = HashMap::new();
        plan
    }

    fn mark(&mut self, spelling: &str) -> &mut TextMark {
        let place = self.places.get(spelling).copied().unwrap_or_else(|| {
            self.marks.push(TextMark { spelling: spelling.to_owned(), ..TextMark::default() });
            self.places.insert(spelling.to_owned(), self.marks.len() - 1);
            self.marks.len() - 1
        });
        &mut self.marks[place]
    }

    fn gather(&mut self, number: usize, walks: &[Walk]) {
        let walk = &walks[number];
        for (spelling, opener) in walk.openers(number) {
            let openers = &mut self.mark(&spelling).openers;
            alike::add(openers, opener, walks);
            sort(openers, |one, other| (one.skips, one.walk).cmp(&(other.skips, other.walk)));
        }
        // Words are held back for it, so only for the form that a dialect writes itself.
        let own = self.alone && walk.forms.start == number;
        if let Some((step, fields, closers)) = walk.headed().filter(|_| own) {
            self.headed = true;
            let closers = closers.iter().map(|mark| (mark, true));
            for (mark, closer) in fields.iter().map(|mark| (mark, false)).chain(closers) {
                let line = walk.is_bare();
                self.mark(mark).headed.get_or_insert(Headed { walk: number, step, closer, line });
            }
        }
        for mark in walk.dialect.marks() {
            // No text but a checkpoint's own carries its suffix.
            let own = mark.read.iter().any(|spelling| spelling.contains(SUFFIX));
            for spelling in &mark.read {
                let plain = is_plain_tag(spelling);
                let dropped =
                    own || is_closer(walk, mark) || is_token(spelling) || (!plain && !opens(walk, mark));
                if is_distinct(spelling) && dropped && (walk.alone || !plain) {
                    let closer = if walk.is_inside() { Dropped::Inside } else { Dropped::Closer };
                    self.mark(spelling).dropped.get_or_insert(closer);
                }
            }
        }
        // A word means as much where one dialect is read, and it is no word of a sentence.
        let word = |closer: &str| walk.alone && closer.len() >= MIN_DISTINCT && closer.contains('_');
        for closer in walk.value_closers().filter(|closer| is_distinct(closer) || word(closer)) {
            let mark = self.mark(closer);
            mark.values.push(number);
            if (walk.alone || is_token(closer)) && !closer.ends_with('/') {
                mark.dropped.get_or_insert(Dropped::Value);
            }
        }
        for end in &walk.dialect.ends {
            self.mark(end).dropped = Some(Dropped::TurnEnd);
        }
        for [open, close] in &walk.dialect.results.invented {
            // Among all dialects a tag of one plain word may be the user's own.
            if is_distinct(close) && (walk.alone || !is_plain_tag(open)) {
                self.mark(close).dropped.get_or_insert(Dropped::Closer);
            }
            let place = self.invented.len();
            let mark = self.mark(open);
            if mark.invented.is_none() {
                mark.invented = Some(place);
                self.invented.push(Automaton::new([close.as_str()]));
            }
        }
        let framing = walk.thought_ends().chain(&walk.dialect.content.end).map(|end| framing(end));
        for lead in framing.chain(walk.dialect.leads.iter().map(String::as_str)) {
            if !lead.is_empty() && !self.leads.iter().any(|known| known == lead) {
                self.leads.push(lead.to_owned());
            }
        }
    }

    fn gather_wrappers(&mut self, walk: &Walk) {
        let content = &walk.dialect.content;
        for begin in content.begin.iter().filter(|mark| walk.alone || is_token(mark)) {
            for spelling in framings(begin) {
                self.mark(&spelling).wrapper = Some(Wrapper::Begin);
            }
        }
        for end in content.end.iter().filter(|mark| walk.alone || is_token(mark)) {
            for spelling in framings(end.trim_start()) {
                self.mark(&spelling).wrapper = Some(Wrapper::End(framing(end).to_owned()));
            }
        }
    }

    /// Dialects whose thinking begins alike share one kind, and so does everything for an answer that starts inside.
    fn gather_thoughts(&mut self, walks: &[Walk]) {
        let mut kinds: Vec<Kind<'_>> = Vec::new();
        for walk in walks {
            let own = Kind::of(walk);
            match kinds.iter_mut().find(|known| known.begins_like(&own)) {
                Some(known) => known.take(own),
                None if own.begins.is_empty() => {}
                None => kinds.push(own),
            }
        }
        // Models that think in channels have no other thinking; any other model may be one that was taught this as well.
        let usual = Kind::usual();
        if !kinds.iter().any(|known| known.begins_like(&usual))
            && walks.iter().any(|walk| walk.channels().is_none())
        {
            kinds.push(usual);
        }
        self.thoughts[0] = Thought::new(&kinds, walks);
        for (number, kind) in (1..).zip(&kinds) {
            self.thoughts.push(Thought::new(std::slice::from_ref(kind), walks));
            for spelling in kind.begins.iter().flat_map(|begin| framings(begin.trim_start())) {
                self.mark(&spelling).thought = Some(number);
            }
            for (end, prefilled) in kind.ends.iter().filter(|(end, _)| !is_wordy(end)) {
                for spelling in framings(end.trim_start()) {
                    let known = &mut self.mark(&spelling).thought_end;
                    let prefilled = *prefilled || known.as_ref().is_some_and(|end| end.prefilled);
                    *known = Some(ThoughtEnd { before: framing(end).to_owned(), prefilled });
                }
            }
        }
    }
}

impl Plan {
    /// The thinking of channel formats, and the ends of their bodies.
    fn gather_channels(&mut self, walks: &mut [Walk]) {
        let starts: Vec<Vec<String>> =
            walks.iter().map(|walk| walk.channels().map_or(Vec::new(), |all| all.start.clone())).collect();
        let alone = walks.iter().all(|walk| walk.heading.is_some());
        for (number, walk) in walks.iter_mut().enumerate() {
            let Frame::Channels(channels) = &walk.dialect.frame else { continue };
            let Some(heading) = &mut walk.heading else { continue };
            let opener = Opener::of(number);
            let mut openers: Vec<String> = channels.openers().cloned().collect();
            for residue in channels.residues() {
                let mark = self.mark(&residue);
                mark.openers.push(opener);
                mark.residue = true;
                openers.push(residue);
            }
            let spellings = channels.ends.iter().chain(&openers).map(String::as_str);
            let ends = channels.ends.iter().map(|_| Vec::new());
            let all: Vec<_> = ends.chain(openers.iter().map(|_| vec![opener])).collect();
            // The prompt may have ended inside the header.
            let begins = channels.message.iter().filter(|mark| is_distinct(mark)).map(String::as_str);
            self.thoughts.push(Thought::new_in_channels(spellings.clone().chain(begins), all));
            for end in &channels.ends {
                self.mark(end).dropped = Some(Dropped::TurnEnd);
            }
            for mark in channels.message.iter().chain(&channels.constrain) {
                if is_distinct(mark) {
                    self.mark(mark).dropped.get_or_insert(Dropped::Closer);
                }
            }
            let alike = |at: &usize| starts[*at].iter().any(|start| channels.start.contains(start));
            heading.group = (0..starts.len()).filter(alike).collect();
            heading.thought = self.thoughts.len() - 1;
            heading.invented = self.invented.len();
            self.invented.push(Automaton::new(spellings));
            // Among all dialects a bare word at the start is no header.
            if self.headless.is_none() && (alone || !channels.recipient.is_empty()) {
                self.headless = Some(number);
            }
            if alone && number == 0 {
                self.first_thought = heading.thought;
            }
        }
    }

    /// True when a dialect's template may end inside the thinking.
    pub(super) fn is_prefilled(&self) -> bool {
        self.marks.iter().any(|mark| mark.thought_end.as_ref().is_some_and(|end| end.prefilled))
    }

    /// True when `text` is the beginning of such a mark, and not yet more.
    pub(super) fn may_end_here(&self, text: &str) -> bool {
        !text.is_empty() && self.body_ends.starts(text.as_bytes()).is_none()
    }

    /// True when `text` is the beginning of a mark, and none itself.
    pub(super) fn holds_more(&self, text: &str) -> bool {
        let longer = |mark: &TextMark| mark.spelling.len() > text.len() && mark.spelling.starts_with(text);
        self.marks.iter().all(|mark| mark.spelling != text) && self.marks.iter().any(longer)
    }

    /// True when `text` is the beginning of a longer mark that a model's markup begins with.
    pub(super) fn is_half(&self, text: &str) -> bool {
        let longer = |mark: &TextMark| mark.spelling.len() > text.len() && mark.spelling.starts_with(text);
        self.marks.iter().any(|mark| is_token(&mark.spelling) && longer(mark))
    }

    /// True when `text` begins with a mark that ends a turn or a body.
    pub(super) fn ends_here(&self, text: &str) -> bool {
        self.body_ends.starts(text.as_bytes()) == Some(true)
    }

    fn ends_body(&self, mark: &TextMark) -> bool {
        mark.dropped == Some(Dropped::TurnEnd) || mark.openers.iter().any(|opener| opener.is_header(self))
    }
}

/// Tells each form of a dialect what opens the others.
fn introduce(forms: &mut [Walk]) {
    let openers: Vec<Vec<String>> = forms
        .iter()
        .map(|form| {
            form.openers(0).into_iter().map(|(mark, _)| mark).filter(|mark| is_distinct(mark)).collect()
        })
        .collect();
    for (place, form) in forms.iter_mut().enumerate() {
        let others = openers.iter().enumerate().filter(|(other, _)| *other != place);
        form.others = others.flat_map(|(_, marks)| marks.iter().cloned()).collect();
    }
}

fn is_closer(walk: &Walk, mark: &Mark) -> bool {
    walk.closers().any(|(_, closer)| closer == mark)
}

/// True for a mark that a call may begin with: no other has to stand before it.
fn opens(walk: &Walk, mark: &Mark) -> bool {
    walk.marks_from(0).iter().any(|(_, opener)| *opener == mark)
}
