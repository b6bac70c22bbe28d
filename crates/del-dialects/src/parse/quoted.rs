//! A call in quotes, inside a sentence: it is talked about. It is so when the quote before it is closed right behind it.

use super::body::MAX_BARE;
use super::mention::Quotation;
use super::{Engine, Flow, Io, Position, State};
use crate::event::{Event, OwnedEvent, Sink, Span};
use crate::scan::Scan;

/// A call that is read on trial. Offsets count from the first byte that is held.
#[derive(Debug, Clone)]
pub(super) struct Quoted {
    /// Reads on as if nothing were quoted: what it comes to counts if nothing is.
    engine: Box<Engine>,
    /// Where the mark begins.
    start: usize,
    /// How much the engine has settled.
    settled: usize,
    verdict: Verdict,
}

/// What is known of quotations and examples: calls in them are talked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quotes {
    pub(super) quotation: Quotation,
    /// How far marks stand in quotes.
    pub(super) closed_to: u64,
    /// A quote may open before the calls at hand, which was looked into: no text came since.
    pub(super) unquoted: bool,
    /// How far marks in fences behind prose are known to be examples; none where all that follow are meant.
    pub(super) examples: Option<u64>,
    /// Where a fence behind text begins that holds calls.
    pub(super) called: Option<u64>,
    /// This is the reader of such a fence, and no other one is tried in it.
    pub(super) on_trial: bool,
}

impl Default for Quotes {
    fn default() -> Self {
        Self {
            quotation: Quotation::default(),
            closed_to: 0,
            unquoted: false,
            examples: Some(0),
            called: None,
            on_trial: false,
        }
    }
}

#[derive(Debug, Clone)]
struct Verdict {
    quote: u8,
    /// Where the mark begins, in the answer.
    from: u64,
    /// What was read so far.
    events: Vec<(OwnedEvent, Span)>,
    /// A call ended, or is broken.
    calls: bool,
    /// Where text follows, and whether it begins with the quote that closes the calls.
    text: Option<(u64, bool)>,
}

impl Sink for Verdict {
    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Text(_) | Event::Reasoning(_) if self.text.is_some() => {}
            // What stands before the mark, and line feeds around the calls.
            Event::Text(text) if span.end <= self.from || text.trim_ascii().is_empty() => {}
            Event::Text(text) => {
                let rest = text.trim_ascii_start();
                let closes = rest.as_bytes().first() == Some(&self.quote);
                let start = span.start + (text.len() - rest.len()) as u64;
                self.text = Some((start, self.calls && closes));
            }
            Event::Reasoning(_) => self.text = Some((span.start, false)),
            Event::CallEnd { .. } => self.calls = true,
            Event::Fault(fault) => self.calls |= fault.kind.ends_call(),
            Event::CallStart { .. } | Event::Args { .. } => {}
        }
        self.events.push((OwnedEvent::from(event), span));
    }
}

/// So much is read at a time, in bytes, so that nothing is looked at far behind a verdict.
const PIECE: usize = 64;

impl Engine {
    /// The quote that opens right before the mark at `start`.
    pub(super) fn quote_before(&self, io: &Io<'_>, start: usize) -> Option<u8> {
        let text = &io.bytes[io.at.min(start)..start];
        let [outside, quote] = self.before(io, start - (text.len() - text.trim_ascii_end().len()));
        let opens = matches!(outside, b' ' | b'\n' | b'(') && matches!(quote, b'"' | b'\'' | b'`');
        let quote = if self.text.fence.call { Some(b'`') } else { opens.then_some(quote) };
        quote.filter(|_| !self.quotes.on_trial && !self.quotes.unquoted)
    }

    /// Reads what stands behind the quote on trial.
    pub(super) fn try_quoted(&mut self, io: &mut Io<'_>, start: usize, quote: u8) {
        io.rewind(start);
        let position = Position {
            base: io.base + io.at as u64,
            look: start - io.at,
            tail: self.tail_before(io, io.at),
            work: 0,
        };
        let quotes = Quotes { unquoted: true, ..self.quotes };
        let state = State::Text(Scan::default());
        let candidates = Vec::new();
        let mut engine = Self { state, position, quotes, candidates, ..self.clone() };
        let from = io.base + start as u64;
        let verdict = Verdict { quote, from, events: Vec::new(), calls: false, text: None };
        engine.text.fence.call = false;
        let engine = Box::new(engine);
        self.state = State::Quoted(Quoted { engine, start: start - io.at, settled: 0, verdict });
    }

    pub(super) fn quoted(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Quoted(trial) = &mut self.state else { return Flow::Next };
        let start = io.at + trial.start;
        let most = start + MAX_BARE;
        let long = io.bytes.len() >= most;
        let end = io.bytes.len().min(most);
        let before = trial.engine.position.work;
        let (mut fed, mut over) = (io.look, None);
        while trial.verdict.text.is_none() {
            let mut piece = end.min(fed + PIECE);
            while !io.text.is_char_boundary(piece) {
                piece -= 1;
            }
            over = if piece == io.bytes.len() { io.end } else { None };
            let text = &io.text[io.at + trial.settled..piece];
            trial.settled += trial.engine.run(io.plan, text, over, &mut trial.verdict);
            let last = piece == fed || piece == end;
            fed = piece;
            if last {
                break;
            }
        }
        io.again += (trial.engine.position.work - before).saturating_sub((fed - io.look) as u64);
        io.look = fed;
        match trial.verdict.text {
            Some((to, true)) => {
                let to = usize::try_from(to.saturating_sub(io.base)).unwrap_or(start);
                io.rewind(to);
                self.pass(io, to);
                self.resume_text();
                Flow::Next
            }
            None if !long && !io.last() => Flow::More,
            _ => self.take_over(io, over.is_some()),
        }
    }

    /// Nothing is quoted: what was read on trial counts, up to the end of the answer if it is `over`.
    fn take_over(&mut self, io: &mut Io<'_>, over: bool) -> Flow {
        let State::Quoted(trial) = std::mem::replace(&mut self.state, State::Dropping) else {
            return Flow::Next;
        };
        let Quoted { engine, settled, verdict, .. } = trial;
        for (event, span) in &verdict.events {
            io.sink.event(event.event(), span.clone());
        }
        io.at += settled;
        io.look = io.at + engine.position.look;
        let position = self.position;
        *self = Self { position, ..*engine };
        if over {
            self.state = State::Dropping;
        }
        Flow::Next
    }
}
