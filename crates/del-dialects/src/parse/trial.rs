//! Reading on trial: whether a mark opens a call is only known from what stands behind the calls that it would open.
//!
//! A copy of the engine reads on as if it did, and its events are buffered. With the verdict either they go out and
//! the copy goes on in the engine's place, or all of it is forgotten and the mark is text.

use std::sync::Arc;

use super::body::MAX_BARE;
use super::tail::byte_before;
use super::talked::goes_on;
use super::{Engine, Flow, Io, Position, State};
use crate::event::{End, Event, OwnedEvent, Sink, Span};
use crate::fault::FaultKind;
use crate::scan::Scan;
use crate::tool::Tool;

/// A mark that is read on trial. Offsets count from the first byte that is held.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// Reads on as if the mark opened a call.
    copy: Box<Engine>,
    /// Where the mark begins.
    start: usize,
    /// How far it may be read.
    most: usize,
    /// How much the copy has been given, and has settled.
    fed: usize,
    settled: usize,
    heard: Heard,
}

/// What stands around the mark, which is why it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    /// It stands behind this quote, inside a sentence. It is talked about when the quote is closed right behind the calls.
    Quoted(char),
    /// It stands behind a word of a sentence. It is talked about when its calls are of no declared tool, and the sentence
    /// goes on behind them.
    Worded,
    /// It is a fence behind prose, or one of any code: an example, or the call itself. It is a call when it ends the answer
    /// and holds nothing but calls of declared tools.
    Fenced,
}

/// What the copy has said so far.
#[derive(Debug, Clone)]
struct Heard {
    around: Around,
    /// Where the mark begins, in the answer.
    from: u64,
    /// The declared tools; with none any may be called.
    tools: Arc<[Tool]>,
    events: Vec<(OwnedEvent, Span)>,
    /// A call ended; in quotes it may be broken as well.
    called: bool,
    /// The answer ends inside a call.
    unclosed: bool,
    /// Where something else than calls follows.
    other: Option<u64>,
    /// It is the quote that closes the calls, or the sentence that goes on behind them.
    closed: bool,
}

impl Heard {
    fn holds_a_call(&self) -> bool {
        self.events.iter().any(|(event, _)| matches!(event.event(), Event::CallEnd { .. }))
    }

    /// Where in the answer this is something else than a call.
    fn beside_calls(&mut self, event: Event<'_>, span: &Span) -> Option<u64> {
        let fenced = self.around == Around::Fenced;
        match event {
            Event::Text(_) if span.end <= self.from => None,
            Event::Text(text) | Event::Reasoning(text) => {
                let rest = text.trim_ascii_start();
                let space = &text[..text.len() - rest.len()];
                let line = self.around == Around::Worded && space.contains('\n');
                let Some(first) = rest.chars().next() else { return line.then_some(span.start) };
                let about = match self.around {
                    Around::Quoted(quote) => first == quote,
                    Around::Worded => !line && goes_on(first),
                    Around::Fenced => false,
                };
                self.closed = self.called && about;
                Some(span.start + space.len() as u64)
            }
            Event::CallStart { name, .. } => {
                let known = self.tools.is_empty() || self.tools.iter().any(|tool| tool.name == name);
                let decides = match self.around {
                    Around::Quoted(_) => false,
                    Around::Worded => known,
                    Around::Fenced => !known,
                };
                decides.then_some(span.start)
            }
            Event::Fault(fault) if fenced => {
                self.unclosed |= fault.kind == FaultKind::UnclosedCall;
                (fault.kind.ends_call() && !self.unclosed).then_some(span.start)
            }
            Event::Fault(fault) => {
                self.called |= fault.kind.ends_call();
                self.unclosed |= fault.kind == FaultKind::UnclosedCall;
                None
            }
            Event::CallEnd { .. } => {
                self.called = true;
                None
            }
            Event::Args { .. } => None,
        }
    }
}

impl Sink for Heard {
    fn event(&mut self, event: Event<'_>, span: Span) {
        if self.other.is_none() {
            self.other = self.beside_calls(event, &span);
        }
        self.events.push((OwnedEvent::from(event), span));
    }
}

/// So much of a line is read at a time, in bytes: nothing is looked at far behind a verdict, nor does it matter how the text
/// is cut.
const PIECE: usize = 64;

impl Engine {
    /// What closes the quotation that opens right before the mark at `start`, if one does.
    pub(super) fn quote_before(&self, io: &Io<'_>, start: usize) -> Option<char> {
        let text = &io.bytes[io.at.min(start)..start];
        let end = start - (text.len() - text.trim_ascii_end().len());
        let apart = |outside| matches!(outside, b' ' | b'\n' | b'(');
        let quote = match self.before(io, end) {
            // Two backticks quote as one does; more of them open a fence.
            [b'`', b'`'] => apart(byte_before(io.bytes, &self.position.tail, end, 3)).then_some('`'),
            [outside, quote @ (b'"' | b'\'' | b'`')] => apart(outside).then_some(char::from(quote)),
            _ => closing(self.char_before(io, end)),
        };
        let quote = if self.text.fence.call { Some('`') } else { quote };
        quote.filter(|_| self.quotes.fence.is_none() && !self.quotes.unquoted)
    }

    /// Tries the mark at `start`, with a quote or words before it.
    pub(super) fn try_in_words(&mut self, io: &mut Io<'_>, start: usize, around: Around) {
        let mut copy = self.copy(io, start);
        copy.quotes.unquoted = true;
        copy.text.fence.call = false;
        self.begin_trial(io, start, copy, around);
    }

    /// True where a sentence goes on with the mark at `start`, so that no call of an undeclared tool may be meant.
    pub(super) fn is_behind_words(&self, io: &Io<'_>, start: usize) -> bool {
        let words = match self.before(io, start) {
            [outside, b' '] => outside == b',' || outside.is_ascii_alphanumeric(),
            [_, before] => before == b'(',
        };
        words && self.quotes.fence.is_none() && !self.quotes.unquoted && !self.turn.tools.is_empty()
    }

    /// Tries the fence at `start`.
    pub(super) fn try_fence(&mut self, io: &mut Io<'_>, start: usize) {
        let mut copy = self.copy(io, start);
        copy.quotes.fence = Some(io.base + start as u64);
        self.begin_trial(io, start, copy, Around::Fenced);
    }

    /// An engine that reads on from the mark at `start`.
    fn copy(&self, io: &Io<'_>, start: usize) -> Self {
        let position = Position {
            base: io.base + io.at as u64,
            look: start - io.at,
            tail: self.tail_before(io, io.at),
            work: 0,
        };
        let (state, candidates) = (State::Text(Scan::default()), Vec::new());
        Self { state, position, candidates, ..self.clone() }
    }

    fn begin_trial(&mut self, io: &mut Io<'_>, start: usize, copy: Self, around: Around) {
        io.rewind(start);
        let heard = Heard {
            around,
            from: io.base + start as u64,
            tools: Arc::clone(&self.turn.tools),
            events: Vec::new(),
            called: false,
            unclosed: false,
            other: None,
            closed: false,
        };
        let most = match around {
            Around::Fenced => self.tried.nameless.limit(heard.from).saturating_sub(io.base + io.at as u64),
            Around::Quoted(_) | Around::Worded => u64::MAX,
        };
        let start = start - io.at;
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(start + MAX_BARE);
        self.state = State::Trial(Trial { copy: Box::new(copy), start, most, fed: start, settled: 0, heard });
    }

    pub(super) fn trial(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Trial(trial) = &mut self.state else { return Flow::Next };
        let start = io.at + trial.start;
        let end = io.bytes.len().min(io.at + trial.most);
        let long = end < io.bytes.len();
        let mut over = None;
        while trial.heard.other.is_none() && over.is_none() {
            let fed = io.at + trial.fed;
            let mut piece = end.min(fed + PIECE);
            while !io.text.is_char_boundary(piece) {
                piece -= 1;
            }
            let line = memchr::memchr(b'\n', &io.bytes[fed..piece]);
            piece = line.map_or(piece, |line| fed + line + 1);
            over = io.end.filter(|_| piece == io.bytes.len());
            // A piece that is not there as a whole may go on.
            let half = piece == end && line.is_none() && piece - fed < PIECE && !long;
            if over.is_none() && (half || piece == fed) {
                break;
            }
            io.look = piece;
            trial.fed = piece - io.at;
            let before = trial.copy.position.work;
            let text = &io.text[io.at + trial.settled..piece];
            trial.settled += trial.copy.run(io.plan, text, over, &mut trial.heard);
            io.again += (trial.copy.position.work - before).saturating_sub((piece - fed) as u64);
        }
        // What a value was searched for in vain is not there outside of the trial either.
        self.tried.value = self.tried.value.max(trial.copy.tried.value);
        let heard = &trial.heard;
        if heard.other.is_none() && !long && !io.last() {
            return Flow::More;
        }
        let cut = self.text.fresh && io.end == Some(End::Cut);
        let begun = heard.unclosed && (cut || io.text[start..].contains(['{', '[', '(']));
        match heard.around {
            Around::Quoted(_) | Around::Worded if heard.closed => {
                let to = heard.other.map_or(start, |to| usize::try_from(to - io.base).unwrap_or(start));
                io.rewind(to);
                self.pass(io, to);
                self.resume_text();
                Flow::Next
            }
            // Half a call in quotes, and nothing of the answer behind it was read as something else.
            Around::Quoted(_) if heard.unclosed && over == Some(End::End) && !heard.holds_a_call() => {
                io.look = io.text.len();
                self.say(io, io.look);
                self.state = State::Dropping;
                Flow::Next
            }
            Around::Quoted(_) | Around::Worded => self.take_over(io, over.is_some()),
            Around::Fenced if heard.other.is_none() && over.is_some() && (heard.called || begun) => {
                self.take_over(io, true)
            }
            Around::Fenced => {
                // What was looked at is not tried once more.
                let tried = trial.copy.tried.bare.max(heard.other.unwrap_or(io.base + end as u64));
                self.tried.bare = self.tried.bare.max(tried).max(io.base + start as u64 + 1);
                self.tried.whole |= trial.copy.tried.whole;
                self.tried.nameless.add(io.base + start as u64, io.base + (io.at + trial.fed) as u64);
                io.rewind(start);
                self.resume_text();
                Flow::Next
            }
        }
    }

    /// What was read on trial counts, up to the end of the answer if it is `over`.
    fn take_over(&mut self, io: &mut Io<'_>, over: bool) -> Flow {
        let State::Trial(trial) = std::mem::replace(&mut self.state, State::Dropping) else {
            return Flow::Next;
        };
        let Trial { copy, settled, heard, .. } = trial;
        for (event, span) in &heard.events {
            io.sink.event(event.event(), span.clone());
        }
        io.at += settled;
        io.look = io.at + copy.position.look;
        let position = self.position;
        *self = Self { position, ..*copy };
        if over {
            self.state = State::Dropping;
        }
        Flow::Next
    }
}

/// What closes a quotation that opens so, in other signs than those of ASCII.
fn closing(quote: char) -> Option<char> {
    let pairs = [('“', '”'), ('„', '“'), ('‘', '’'), ('«', '»'), ('「', '」'), ('『', '』')];
    pairs.into_iter().find(|(open, _)| *open == quote).map(|(_, close)| close)
}
