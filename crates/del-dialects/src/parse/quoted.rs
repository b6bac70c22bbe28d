//! A call in quotes, inside a sentence: it is talked about. It is so when the quote before it is closed right behind it.

use super::automaton::Scan;
use super::body::MAX_BARE;
use super::{Engine, Flow, Io, State};
use crate::event::{Event, Sink, Span};

/// A call that is read on trial. Offsets count from the first byte that is held.
#[derive(Debug)]
pub(super) struct Quoted {
    /// Reads on as if nothing were quoted.
    engine: Box<Engine>,
    /// Where the mark begins.
    start: usize,
    /// How much behind it the engine has settled.
    settled: usize,
    verdict: Verdict,
}

#[derive(Debug)]
struct Verdict {
    quote: u8,
    calls: bool,
    /// Where text follows, and whether it begins with the quote that closes the calls.
    text: Option<(u64, bool)>,
}

impl Sink for Verdict {
    fn event(&mut self, event: Event<'_>, span: Span) {
        let text = match event {
            Event::Text(text) => self.calls && text.as_bytes().first() == Some(&self.quote),
            Event::Reasoning(_) => false,
            Event::CallEnd { .. } => {
                self.calls = true;
                return;
            }
            _ => return,
        };
        self.text = self.text.or(Some((span.start, text)));
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
        (opens && !self.on_trial && io.base + start as u64 >= self.unquoted).then_some(quote)
    }

    /// Reads what stands behind the quote on trial.
    pub(super) fn try_quoted(&mut self, io: &mut Io<'_>, start: usize, quote: u8) {
        let mut engine = Self::new(self.turn.clone(), State::Text(Scan::default()));
        engine.base = io.base + start as u64;
        engine.tail = self.tail_before(io, start);
        engine.in_tool = self.in_tool;
        engine.fresh = false;
        engine.on_trial = true;
        let verdict = Verdict { quote, calls: false, text: None };
        io.rewind(start);
        let engine = Box::new(engine);
        self.state = State::Quoted(Quoted { engine, start: start - io.at, settled: 0, verdict });
    }

    pub(super) fn quoted(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Quoted(trial) = &mut self.state else { return Flow::Next };
        let start = io.at + trial.start;
        let most = start + MAX_BARE;
        let long = io.bytes.len() >= most;
        let end = io.bytes.len().min(most);
        let before = trial.engine.work;
        let mut fed = io.look;
        while trial.verdict.text.is_none() {
            let mut piece = end.min(fed + PIECE);
            while !io.text.is_char_boundary(piece) {
                piece -= 1;
            }
            let over = if piece == io.bytes.len() { io.end } else { None };
            let text = &io.text[start + trial.settled..piece];
            trial.settled += trial.engine.run(io.plan, text, over, &mut trial.verdict);
            if piece == fed || piece == end {
                fed = piece;
                break;
            }
            fed = piece;
        }
        io.again += (trial.engine.work - before).saturating_sub((fed - io.look) as u64);
        io.look = fed;
        let verdict = trial.verdict.text;
        if verdict.is_none() && !long && !io.last() {
            return Flow::More;
        }
        let here = io.base + start as u64;
        let (to, quoted) = verdict.unwrap_or((io.base + end as u64, false));
        self.unquoted = to.max(here + 1);
        if quoted {
            self.quoted_to = to;
        }
        io.rewind(start);
        self.resume_text();
        Flow::Next
    }
}
