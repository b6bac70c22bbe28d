//! Pieces that are nothing but a part of a value: they go out as they come, and nothing else is looked at.

use super::plan::Plan;
use super::{Engine, Meaning, State};
use crate::event::{Event, Sink};

impl Engine {
    /// Passes on a piece in the middle of a value. False, and nothing is done, where anything of it could mean more; so
    /// it is only asked where nothing is held.
    pub(super) fn pass_plain(&mut self, plan: &Plan, text: &str, sink: &mut dyn Sink) -> bool {
        let State::Reading(reading) = &mut self.state else { return false };
        let walk = &plan.walks[reading.walk];
        let Some(json) = reading.plain(walk, text, &self.turn.limits) else { return false };
        let len = text.len() as u64;
        match &mut self.call.meaning {
            Meaning::Call => sink.event(
                Event::Args { call: self.call.number, json },
                self.position.base..self.position.base + len,
            ),
            Meaning::Answer(arguments) => arguments.push_str(json),
            Meaning::Nothing => {}
        }
        self.position.tail.push(text.as_bytes());
        self.position.base += len;
        self.position.work += len;
        true
    }
}
