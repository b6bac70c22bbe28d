//! What is read for a call, in order.

use super::heading::Heading;
use crate::dialect::{Block, Codec, Dialect, Frame, HeadForm, Literal, Mark, Need, Piece};

#[derive(Debug, PartialEq, Eq)]
pub(in crate::parse) enum Step {
    Mark(Mark, Option<HeadForm>),
    Head(HeadForm),
    Args,
}

impl Step {
    /// The mark that is read at it.
    pub(in crate::parse) fn mark(&self) -> Option<&Mark> {
        if let Self::Mark(mark, _) = self { Some(mark) } else { None }
    }
}

/// The steps of a dialect, and where its parts begin among them.
pub(super) struct Steps {
    pub(super) all: Vec<Step>,
    pub(super) call: usize,
    pub(super) args: usize,
    pub(super) close: usize,
}

/// The bit of a step among those that were passed.
pub(in crate::parse) fn bit(step: usize) -> u32 {
    1_u32.checked_shl(u32::try_from(step).unwrap_or(u32::MAX)).unwrap_or(0)
}

impl Steps {
    pub(super) fn of(dialect: &Dialect, heading: Option<&Heading>) -> Self {
        let mut all: Vec<Step> = Vec::new();
        // Between messages there are only their own marks, and those around a group are written with the last one.
        let block = if heading.is_some() { &Block::default() } else { &dialect.block };
        all.extend(block.open.iter().map(|mark| Step::Mark(mark.clone(), None)));
        let call = all.len();
        all.extend(dialect.body().iter().map(|piece| match piece {
            Piece::Mark(mark, head) => Step::Mark(mark.clone(), head.clone()),
            Piece::Head(form) => Step::Head(form.clone()),
            Piece::Args(_) => Step::Args,
        }));
        let args = all.iter().position(|step| matches!(step, Step::Args)).unwrap_or(call);
        all.extend(heading.map(|heading| Step::Mark(heading.end.clone(), None)));
        let close = all.len();
        all.extend(block.close.iter().map(|mark| Step::Mark(mark.clone(), None)));
        let mut steps = Self { all, call, args, close };
        if may_be_fenced(dialect) && !steps.all.iter().any(is_fence) {
            steps.fence();
        }
        steps
    }

    /// JSON may stand in a code fence behind the marks before it, and so may a list of calls.
    fn fence(&mut self) {
        let brackets =
            |step: &&Step, bracket: &str| step.mark().is_some_and(|mark| mark.write.trim() == bracket);
        let closing = self.all[self.args + 1..].iter().take_while(|step| brackets(step, "]")).count();
        let opening = self.all[..self.args].iter().rev().take_while(|step| brackets(step, "[")).count();
        let (before, behind) = (self.args - opening, self.args + 1 + closing);
        let mark = |read: &[&str]| {
            let read = read.iter().map(|mark| (*mark).to_owned()).collect();
            Step::Mark(Mark { write: String::new(), read, need: Need::Noise, line_start: false }, None)
        };
        let of_block = self.call > 0 && before <= self.call;
        self.all.insert(behind, mark(&["```"]));
        self.all.insert(before, mark(&["```json", "```JSON", "```"]));
        self.close += 1 + usize::from(behind < self.close || !of_block);
        self.args += 1;
        self.call += usize::from(of_block);
    }
}

/// True where JSON stands. Where a text may stand in its place, a fence is part of that; and behind a header its body begins.
fn may_be_fenced(dialect: &Dialect) -> bool {
    let json = match dialect.codec() {
        Codec::Object(Literal::Json) => !dialect.takes_text,
        Codec::Call(form) => !form.python,
        _ => false,
    };
    json && !matches!(dialect.frame, Frame::Channels(_))
}

fn is_fence(step: &Step) -> bool {
    step.mark().is_some_and(|mark| mark.read.iter().any(|spelling| spelling.starts_with("```")))
}
