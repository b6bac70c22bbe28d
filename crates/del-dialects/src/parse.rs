//! One incremental parser for all dialects: text in, events out. Whole texts take the same way as pieces.

mod beginning;
mod body;
mod channels;
mod character;
mod cited;
mod doubt;
mod echo;
mod fence;
mod gap;
mod known;
mod mention;
mod once;
mod opening;
mod plain;
mod plan;
mod recover;
mod residue;
mod stray;
mod tail;
mod talked;
mod text;
mod thought;
mod trial;
mod word;

use std::sync::Arc;

use body::Reading;
use channels::{Header, Origin};
use cited::Cited;
use doubt::Doubt;
use echo::Echo;
use fence::Fence;
use gap::Gap;
use known::{Meaning, OpenCall, Position, Prose, Quotes, Tried};
use mention::Mention;
use opening::Opening;
use plan::Opener;
pub(crate) use plan::Plan;
use tail::{Tail, before};
use trial::Trial;

use crate::codec::reading::MAX_SPACE;
use crate::event::{End, Event, Sink, Span};
use crate::fault::{Fault, FaultKind};
use crate::scan::{Ahead, Anchored, Automaton, Scan};
use crate::tool::Tool;
use crate::turn::{Start, Turn};
use crate::value::{Brackets, Keys, white_space};

/// Reads one answer. Push its text as it comes, then finish. A copy reads on from the same place.
#[derive(Debug, Clone)]
pub struct Parser {
    plan: Arc<Plan>,
    engine: Engine,
    /// Text that has been pushed and may still be part of a mark.
    held: String,
}

impl Parser {
    /// A parser for one answer in any dialect of `plan`.
    pub fn new(plan: Arc<Plan>, turn: Turn) -> Self {
        let state = match (turn.starts, plan.headless) {
            (Start::Text | Start::Unknown, Some(walk)) => State::Header(Header::new(walk, Origin::Start)),
            (Start::Text | Start::Unknown, None) => State::Text(Scan::default()),
            (Start::Reasoning, _) => State::Thought { kind: plan.first_thought, scan: Scan::default() },
        };
        let undecided = turn.starts == Start::Unknown && plan.is_prefilled();
        let mut engine = Engine::new(turn, state);
        engine.text.undecided = undecided;
        Self { plan, engine, held: String::new() }
    }

    /// The next piece of the answer. Everything that is settled by it goes to `sink` at once.
    pub fn push(&mut self, text: &str, sink: &mut dyn Sink) {
        let held = self.held.len();
        if held > 0 {
            self.held.push_str(text);
        }
        let all = if held > 0 { &self.held } else { text };
        let engine = &mut self.engine;
        let plain = if text.is_empty() { None } else { engine.pass_plain(&self.plan, all, held, sink) };
        let used = plain.unwrap_or_else(|| engine.run(&self.plan, all, None, sink));
        if held == 0 {
            if used < text.len() {
                self.held.push_str(&text[used..]);
            }
        } else if used > 0 {
            self.held.drain(..used);
        }
    }

    /// The answer is over: what was held goes to `sink`. `end` says whether the model stopped by itself or was cut off.
    pub fn finish(mut self, end: End, sink: &mut dyn Sink) {
        self.engine.run(&self.plan, &self.held, Some(end), sink);
    }

    /// The same, and how often a byte of the answer was looked at: work is linear, and this is what tests measure it by.
    #[doc(hidden)]
    pub fn finish_measured(mut self, end: End, sink: &mut dyn Sink) -> u64 {
        self.engine.run(&self.plan, &self.held, Some(end), sink);
        self.engine.position.work
    }

    /// Bytes that are held back because they may be part of a mark.
    pub fn held(&self) -> usize {
        self.held.len()
    }
}

/// Everything of a parser but the text that it holds.
#[derive(Debug, Clone)]
struct Engine {
    turn: Turn,
    state: State,
    position: Position,
    text: Prose,
    call: OpenCall,
    doubt: Doubt,
    tried: Tried,
    quotes: Quotes,
    /// The dialects that the opening at hand is still to be tried for, the one at hand last.
    candidates: Vec<Opener>,
    /// Room for the keys of arguments that are read at once.
    keys: Keys,
}

/// Where a parser is. Offsets count from the first byte that is held.
#[derive(Debug, Clone)]
enum State {
    Text(Scan),
    Thought {
        kind: usize,
        scan: Scan,
    },
    /// In an invented result.
    Invented {
        kind: usize,
        scan: Scan,
    },
    /// A call may begin here.
    Opening(Opening),
    /// In the arguments of a call.
    Reading(Reading),
    /// Behind a call.
    Gap(Gap),
    /// Behind a block, where its calls may stand a second time.
    Echo(Echo),
    /// Behind a broken call, up to where reading may go on.
    Rescue {
        walk: usize,
        scan: Scan,
        /// Finds the end of its arguments.
        skip: Option<Brackets>,
    },
    /// At a mark in a code fence behind prose.
    Cited(Cited),
    /// Behind a mark that is read on trial.
    Trial(Trial),
    /// At a mark in a quotation.
    Mention(Mention),
    /// In the header of a channel.
    Header(Header),
    /// Behind the last call that is allowed.
    Dropping,
}

/// What a step says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// Everything that is there has been looked at.
    More,
    /// The state changed: go on.
    Next,
}

/// The text at hand and where events go.
struct Io<'a> {
    plan: &'a Plan,
    text: &'a str,
    bytes: &'a [u8],
    /// The first byte that has not been settled.
    at: usize,
    /// The first byte that has not been looked at.
    look: usize,
    end: Option<End>,
    base: u64,
    /// Bytes that were looked at again.
    again: u64,
    /// What the search for marks of text has found already.
    ahead: Option<Ahead>,
    sink: &'a mut dyn Sink,
}

impl Io<'_> {
    fn send(&mut self, event: Event<'_>, from: usize, to: usize) {
        self.sink.event(event, self.span(from, to));
    }

    fn span(&self, from: usize, to: usize) -> Span {
        self.base + from as u64..self.base + to as u64
    }

    fn fault(&mut self, kind: FaultKind, call: Option<u32>, from: usize, to: usize) {
        self.send(Event::Fault(Fault { kind, call }), from, to);
    }

    /// Goes back to look at something again.
    fn rewind(&mut self, to: usize) {
        self.again += self.look.saturating_sub(to) as u64;
        self.look = to;
    }

    /// The end of the text at hand, as far as it lies before this place of the answer or has been looked at.
    fn before(&self, place: u64) -> usize {
        let end = usize::try_from(place.saturating_sub(self.base)).unwrap_or(usize::MAX);
        let mut end = end.clamp(self.look, self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        end
    }

    /// Settles thinking up to `to`.
    fn think(&mut self, to: usize) {
        if self.at < to {
            self.send(Event::Reasoning(&self.text[self.at..to]), self.at, to);
            self.at = to;
        }
    }

    fn last(&self) -> bool {
        self.end.is_some()
    }

    /// Passes the white space here; false where there is more of it behind `from` than may stand before a mark.
    fn pass_space(&mut self, from: usize) -> bool {
        let most = (from + MAX_SPACE + 1).clamp(self.look, self.bytes.len());
        self.look += white_space(&self.bytes[self.look..most]);
        self.look - from <= MAX_SPACE
    }

    /// Which of `marks` stands here; where it begins is `token` then, counted from the first held byte.
    fn follow(&mut self, marks: &Automaton, scan: &mut Scan, token: &mut usize) -> Anchored {
        if self.look == self.bytes.len() && (!self.last() || scan.is_fresh()) {
            return Anchored::More;
        }
        if scan.is_fresh() {
            *token = self.look - self.at;
        }
        match marks.follow(scan, self.bytes, &mut self.look, &mut self.again) {
            Anchored::More if self.last() => {
                marks.take_whole(scan, &mut self.look).map_or(Anchored::More, Anchored::Found)
            }
            found => found,
        }
    }
}

impl Engine {
    fn new(turn: Turn, state: State) -> Self {
        Self {
            turn,
            state,
            position: Position::default(),
            text: Prose::default(),
            call: OpenCall { in_tool: true, ..OpenCall::default() },
            doubt: Doubt::default(),
            tried: Tried::default(),
            quotes: Quotes::default(),
            candidates: Vec::new(),
            keys: Keys::default(),
        }
    }

    /// Looks at `text`, the first byte of which is the first held one. Returns how much of it is settled.
    fn run(&mut self, plan: &Plan, text: &str, end: Option<End>, sink: &mut dyn Sink) -> usize {
        let mut io = Io {
            plan,
            text,
            bytes: text.as_bytes(),
            at: 0,
            look: self.position.look,
            end,
            base: self.position.base,
            again: 0,
            ahead: None,
            sink,
        };
        // The states that most pieces find stay functions of their own: one that holds all costs a short piece more to enter
        // than to read.
        loop {
            let flow = match &self.state {
                State::Text(_) => self.text(&mut io),
                State::Thought { .. } => self.thought(&mut io),
                State::Invented { .. } => self.invented(&mut io),
                State::Opening(_) => self.opening(&mut io),
                State::Reading(_) => self.reading(&mut io),
                State::Gap(_) => self.gap(&mut io),
                State::Echo(_) => self.echo(&mut io),
                State::Rescue { .. } => self.rescue(&mut io),
                State::Cited(_) => self.cited(&mut io),
                State::Trial(_) => self.trial(&mut io),
                State::Mention(_) => self.mention(&mut io),
                State::Header(_) => self.header(&mut io),
                State::Dropping => {
                    io.look = text.len();
                    io.at = text.len();
                    Flow::More
                }
            };
            if flow == Flow::More {
                if io.end.is_some() {
                    self.ended(&mut io);
                } else if io.look - io.at.min(io.look) > self.turn.limits.held {
                    self.overflow(&mut io);
                    continue;
                }
                break;
            }
        }
        let used = io.at;
        self.position.tail.push(&io.bytes[..used]);
        self.position.work =
            (self.position.work + io.look as u64 + io.again).saturating_sub(self.position.look as u64);
        self.position.look = io.look.saturating_sub(used);
        self.position.base += used as u64;
        used
    }

    /// The two bytes before `at`.
    fn before(&self, io: &Io<'_>, at: usize) -> [u8; 2] {
        before(io.bytes, &self.position.tail, at)
    }

    /// The last bytes before `at`.
    fn tail_before(&self, io: &Io<'_>, at: usize) -> Tail {
        let mut tail = self.position.tail;
        tail.push(&io.bytes[..at]);
        tail
    }

    /// Settles text for the user up to `to`.
    fn say(&mut self, io: &mut Io<'_>, to: usize) {
        self.note(io, to);
        if io.at < to {
            self.text.undecided = false;
            self.quotes.unquoted = false;
            let text = &io.text[io.at..to];
            io.sink.event(Event::Text(text), io.base + io.at as u64..io.base + to as u64);
            io.at = to;
        }
    }

    /// Text up to `to` is no mark. It goes out, unless it may still turn out to be thinking.
    fn pass(&mut self, io: &mut Io<'_>, to: usize) {
        if self.text.undecided {
            self.note(io, to);
        } else {
            self.say(io, to);
        }
    }

    fn note(&mut self, io: &Io<'_>, to: usize) {
        let from = usize::try_from(self.text.noted.saturating_sub(io.base)).unwrap_or(to).max(io.at);
        if from < to {
            self.text.note(&io.bytes[from..to], io.base + to as u64);
        }
    }

    fn tool(&self, name: &str) -> Option<&Tool> {
        self.turn.tools.iter().rfind(|tool| tool.name == name)
    }

    /// True where one dialect is read and no tools are declared, so that no name could be known.
    fn takes_any_name(&self, plan: &Plan) -> bool {
        plan.alone && self.turn.tools.is_empty()
    }

    fn resume_text(&mut self) {
        self.state = State::Text(Scan::default());
    }
}
