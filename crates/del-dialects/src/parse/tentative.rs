//! A fence behind prose: an example, or the call itself. It is a call when it ends the answer and holds nothing but
//! calls of declared tools.

use super::body::MAX_BARE;
use super::{Engine, Flow, Io, State};
use crate::event::{Event, Sink, Span};
use crate::fault::FaultKind;
use crate::scan::Scan;

/// A fence that is read on trial. Offsets count from the first byte that is held.
#[derive(Debug, Clone)]
pub(super) struct Tentative {
    /// Reads the fence as if it began the answer.
    engine: Box<Engine>,
    /// Where the fence begins.
    start: usize,
    /// How much of it the engine has been given, and has settled.
    fed: usize,
    settled: usize,
    verdict: Verdict,
}

/// What a trial has come to.
#[derive(Debug, Clone, Default)]
struct Verdict {
    /// The declared tools; with none any may be called.
    tools: Vec<String>,
    calls: u32,
    /// The answer ends inside a call.
    unclosed: bool,
    /// Where something stands that is no call of a declared tool.
    other: Option<u64>,
}

impl Sink for Verdict {
    fn event(&mut self, event: Event<'_>, span: Span) {
        let other = match event {
            Event::Text(text) | Event::Reasoning(text) => {
                let rest = text.trim_start();
                (!rest.is_empty()).then(|| span.start + (text.len() - rest.len()) as u64)
            }
            Event::CallStart { name, .. } => {
                (!self.tools.is_empty() && !self.tools.iter().any(|tool| tool == name)).then_some(span.start)
            }
            Event::Fault(fault) if fault.kind == FaultKind::UnclosedCall => {
                self.unclosed = true;
                None
            }
            Event::Fault(fault) => fault.kind.ends_call().then_some(span.start),
            Event::CallEnd { .. } => {
                self.calls += 1;
                None
            }
            Event::Args { .. } => None,
        };
        self.other = self.other.or(other);
    }
}

impl Engine {
    /// A fence begins at `start`, behind text, that may hold a call.
    pub(super) fn try_fence(&mut self, io: &mut Io<'_>, start: usize) {
        let mut engine = Self::new(self.turn.clone(), State::Text(Scan::default()));
        engine.position.base = io.base + start as u64;
        engine.quotes.on_trial = true;
        engine.tried.whole = self.tried.whole;
        let tools = self.turn.tools.iter().map(|tool| tool.name.clone()).collect();
        let verdict = Verdict { tools, ..Verdict::default() };
        io.rewind(start);
        let engine = Box::new(engine);
        self.state =
            State::Tentative(Tentative { engine, start: start - io.at, fed: 0, settled: 0, verdict });
    }

    pub(super) fn tentative(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Tentative(trial) = &mut self.state else { return Flow::Next };
        let start = io.at + trial.start;
        let most = start + MAX_BARE;
        let long = io.bytes.len() > most;
        let mut end = if long { most } else { io.bytes.len() };
        while !io.text.is_char_boundary(end) {
            end -= 1;
        }
        let last = if long { None } else { io.end };
        let before = trial.engine.position.work;
        // Line by line, wherever the text is cut: nothing behind a line that is no call is looked at.
        let fed_before = trial.fed;
        loop {
            let line = memchr::memchr(b'\n', &io.bytes[io.look..end]).map(|line| io.look + line + 1);
            io.look = line.unwrap_or(end);
            if line.is_none() && !long && last.is_none() {
                break;
            }
            let over = if io.look == end { last } else { None };
            let text = &io.text[start + trial.settled..io.look];
            trial.settled += trial.engine.run(io.plan, text, over, &mut trial.verdict);
            trial.fed = io.look - start;
            if io.look == end || trial.verdict.other.is_some() {
                break;
            }
        }
        io.again += (trial.engine.position.work - before).saturating_sub((trial.fed - fed_before) as u64);
        self.tried.whole |= trial.engine.tried.whole;
        let verdict = &trial.verdict;
        let begun = verdict.unclosed && io.text[start..].contains(['{', '[']);
        if last.is_some() && verdict.other.is_none() && (verdict.calls > 0 || begun) {
            self.quotes.called = Some(io.base + start as u64);
        } else if long || last.is_some() || verdict.other.is_some() {
            // What this trial has looked at is not tried once more.
            let tried = trial.engine.tried.bare.max(verdict.other.unwrap_or(io.base + end as u64));
            self.tried.bare = self.tried.bare.max(tried).max(io.base + start as u64 + 1);
        } else {
            return Flow::More;
        }
        io.rewind(start);
        self.resume_text();
        Flow::Next
    }
}
