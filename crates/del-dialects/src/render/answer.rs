//! A whole answer: what it is made of, how it is written, and the proof that it reads as what was meant.

use std::borrow::Cow;

use super::RenderError;
use crate::collect::{Message, Part};
use crate::dialect::{Channels, Dialect, Frame, Piece};
use crate::message::Call;
use crate::tool::Tool;

/// A part of an answer, as far as it is of one kind.
#[derive(Debug, Clone)]
pub(super) enum Stretch<'m> {
    Reasoning(Cow<'m, str>),
    Text(Cow<'m, str>),
    Calls(Vec<&'m Call>),
}

impl Stretch<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Reasoning(text) | Self::Text(text) => text.is_empty(),
            Self::Calls(calls) => calls.is_empty(),
        }
    }

    /// True where there is nothing of it that can be seen.
    pub(super) fn is_blank(&self) -> bool {
        match self {
            Self::Reasoning(text) | Self::Text(text) => text.trim().is_empty(),
            Self::Calls(calls) => calls.is_empty(),
        }
    }
}

/// An answer as stretches, no two of a kind in a row. Blank ones are there only where nothing else is.
pub(super) fn stretches(answer: &Message) -> Vec<Stretch<'_>> {
    let mut parts: Vec<Stretch<'_>> = Vec::with_capacity(answer.parts.len());
    parts.extend(answer.parts.iter().map(|part| match part {
        Part::Reasoning(text) => Stretch::Reasoning(Cow::Borrowed(text)),
        Part::Text(text) => Stretch::Text(Cow::Borrowed(text)),
        Part::Call(place) => Stretch::Calls(answer.calls.get(*place).into_iter().collect()),
    }));
    if parts.is_empty() {
        parts.push(Stretch::Reasoning(Cow::Borrowed(&answer.reasoning)));
        parts.push(Stretch::Text(Cow::Borrowed(&answer.content)));
        parts.push(Stretch::Calls(answer.calls.iter().collect()));
    }
    parts.retain(|part| !part.is_empty());
    if parts.iter().any(|part| !part.is_blank()) {
        parts.retain(|part| !part.is_blank());
    }
    let mut all: Vec<Stretch<'_>> = Vec::with_capacity(parts.len());
    for next in parts {
        match (all.last_mut(), next) {
            (Some(Stretch::Reasoning(text)), Stretch::Reasoning(more))
            | (Some(Stretch::Text(text)), Stretch::Text(more)) => text.to_mut().push_str(&more),
            (Some(Stretch::Calls(calls)), Stretch::Calls(more)) => calls.extend(more),
            (_, next) => all.push(next),
        }
    }
    all
}

impl Dialect {
    pub(super) fn write_answer(
        &self,
        stretches: &[Stretch<'_>],
        tools: &[Tool],
        out: &mut String,
    ) -> Result<(), RenderError> {
        let mut written = 0;
        for (place, stretch) in stretches.iter().enumerate() {
            let before = place.checked_sub(1).map(|place| &stretches[place]);
            let calls_follow = matches!(stretches.get(place + 1), Some(Stretch::Calls(_)));
            match &self.frame {
                Frame::Channels(channels) => channels.write_head(before, stretch, calls_follow, out),
                Frame::Tags | Frame::Bare => self.write_joint(before, stretch, out),
            }
            match (stretch, &self.reasoning) {
                (Stretch::Reasoning(text), Some(marks)) => {
                    out.extend(marks.begin.first().map(String::as_str));
                    out.push_str(text);
                    out.extend(marks.end.first().map(String::as_str));
                }
                (Stretch::Reasoning(text) | Stretch::Text(text), _) => out.push_str(text),
                (Stretch::Calls(calls), _) => {
                    self.write_calls(calls, written, tools, out)?;
                    written += calls.len();
                }
            }
        }
        Ok(())
    }

    /// What stands between two stretches where calls are tagged or bare.
    fn write_joint(&self, before: Option<&Stretch<'_>>, next: &Stretch<'_>, out: &mut String) {
        let joint = match (before, next) {
            (Some(Stretch::Text(_)), Stretch::Calls(_)) => self.lead(),
            _ => "",
        };
        out.push_str(joint);
        let beside_calls = matches!(before, Some(Stretch::Calls(_))) || matches!(next, Stretch::Calls(_));
        let begun = out.is_empty() || out.ends_with('\n');
        if joint.is_empty() && beside_calls && !begun && self.stands_on_lines() {
            out.push('\n');
        }
    }

    /// True where calls have a line of their own.
    fn stands_on_lines(&self) -> bool {
        let first = self.block.open.first().or_else(|| self.call.iter().find_map(Piece::mark));
        self.frame == Frame::Bare || first.is_some_and(|mark| mark.line_start)
    }
}

impl Channels {
    /// What stands before a message: the end of the one before, and its own header. That of a call is among its pieces.
    fn write_head(
        &self,
        before: Option<&Stretch<'_>>,
        next: &Stretch<'_>,
        calls_follow: bool,
        out: &mut String,
    ) {
        if let Some(before) = before {
            if !matches!(before, Stretch::Calls(_)) {
                out.push_str(&self.written.end);
            }
            if !self.author.is_empty() {
                out.extend(self.start.first().map(String::as_str));
                out.push_str(&self.author);
            }
        }
        out.push_str(match next {
            Stretch::Reasoning(_) => &self.written.reasoning,
            Stretch::Text(_) if calls_follow && !self.written.preamble.is_empty() => &self.written.preamble,
            Stretch::Text(_) => &self.written.text,
            Stretch::Calls(_) => "",
        });
    }
}
