//! Thinking on the screen: as it comes, and as a line when it is over.

use std::time::Instant;

use del_tools::{counted, visible};

use super::{Open, REPEATS, Transcript};

/// Thinking that is folded.
#[derive(Debug, Default)]
pub(super) struct Thought {
    pub(super) text: String,
    since: Option<Instant>,
    tokens: usize,
}

impl Transcript {
    pub(super) fn reasoning(&mut self, piece: &str) {
        if self.shown.debug {
            // It is seen as raw text.
            self.thought.text.push_str(piece);
            return;
        }
        if self.stage.redraws() {
            return self.fold(piece);
        }
        if !self.shown.reasoning {
            return;
        }
        self.begin(Open::Reasoning);
        let started = self.flow.started;
        let text = self.flow.take(piece);
        if text.is_empty() {
            return;
        }
        let mark = if started { String::new() } else { format!("{} ", self.look.signs().thought) };
        self.stage.aside(&self.look.paint.dim(format!("{mark}{}", visible(&text))));
    }

    /// Thinking is seen while it comes, and is a line when it is over.
    pub(super) fn fold(&mut self, piece: &str) {
        self.begin(Open::Folded);
        let text = self.flow.take(piece);
        if text.is_empty() {
            return;
        }
        if self.thought.since.is_none() {
            self.thought.since = Some(Instant::now());
            if !self.thought.text.is_empty() {
                self.thought.text.push_str("\n\n");
            }
        }
        self.stage.doing(if self.repeats { REPEATS } else { "thinking" });
        self.thought.tokens += 1;
        if self.shown.reasoning {
            self.stage.output(&text);
        }
        self.thought.text.push_str(&text);
    }

    pub(super) fn folded(&mut self) {
        let Some(since) = self.thought.since.take() else { return };
        let tokens = std::mem::take(&mut self.thought.tokens);
        let hint = if self.shown.unfolds { " · /thinking shows it" } else { "" };
        let said = format!(
            "{} thought for {} s, about {}{hint}",
            self.look.signs().thought,
            since.elapsed().as_secs(),
            counted(tokens, "token")
        );
        if self.shown.reasoning {
            self.stage.line(&self.look.paint.dim(said));
            self.above = true;
        }
    }
}
