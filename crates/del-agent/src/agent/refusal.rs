//! What follows an answer that is none: retries, other ways, failure.

use del_dialects::CallResult;
use del_wire::{ApiError, ApiErrorKind, Wishes};

use super::{Agent, Slot, State, Watch};
use crate::history::Entry;
use crate::prompt;
use crate::reading::{Reading, Trouble};
use crate::settings::{Constrain, Mode};
use crate::step::{Effect, Failure};
use crate::view::{Notice, View};

const TRIES: u32 = 5;
/// Where the server says that it loads the model: about a minute.
const TRIES_OF_LOADING: u32 = 12;
/// Each wait is twice as long as the one before, up to so many times.
const FIRST_WAIT: u64 = 500;
const LONGEST_STEP: u32 = 4;
/// How a connection breaks that nobody calls broken.
const EARLY: &str = "the stream ended before the answer";
/// A server that asks for more patience than this is down for now.
const LONGEST_WAIT: u64 = 60_000;

impl Agent {
    pub(super) fn ended(&mut self, reading: Reading, tries: u32, watch: Watch<'_>) -> Effect {
        let (fresh, mute) = (reading.is_fresh(), reading.is_mute());
        match reading.end(true, watch) {
            Ok(answer) if answer.ended => self.answered(answer, watch),
            Ok(answer) if mute && answer.text.is_empty() && answer.calls.is_empty() => {
                self.unreachable(tries, EARLY, watch)
            }
            Ok(answer) => {
                if self.summing.is_none() {
                    self.keep_text(answer.text);
                }
                Effect::Failed(Failure::HungUp { reason: EARLY.to_owned() })
            }
            Err(Trouble::Garbage(reason)) => Effect::Failed(Failure::Garbage { reason }),
            Err(Trouble::Refused(error)) if fresh => self.refused(tries, None, error, None, watch),
            Err(Trouble::Refused(error)) => Effect::Failed(Failure::Refused { status: None, error }),
        }
    }

    /// The answer cannot be read further. An error that came before anything else is a refusal like any other.
    pub(super) fn trouble(
        &mut self,
        reading: Reading,
        trouble: Trouble,
        tries: u32,
        watch: Watch<'_>,
    ) -> Effect {
        let fresh = reading.is_fresh();
        self.keep_half(reading, watch);
        match trouble {
            Trouble::Refused(error) if fresh => self.refused(tries, None, error, None, watch),
            Trouble::Refused(error) => Effect::Failed(Failure::Refused { status: None, error }),
            Trouble::Garbage(reason) => Effect::Failed(Failure::Garbage { reason }),
        }
    }

    /// The connection broke. What was only thought is thought anew; what was said stays, and is not said again.
    pub(super) fn hung_up(&mut self, reading: Reading, tries: u32, reason: &str, watch: Watch<'_>) -> Effect {
        if reading.is_mute() {
            return self.unreachable(tries, reason, watch);
        }
        self.keep_half(reading, watch);
        Effect::Failed(Failure::HungUp { reason: reason.to_owned() })
    }

    /// Keeps what there is of an answer that ended too early.
    fn keep_half(&mut self, reading: Reading, watch: Watch<'_>) {
        if let Ok(answer) = reading.end(false, watch)
            && self.summing.is_none()
        {
            self.keep_text(answer.text);
        }
    }

    pub(super) fn unreachable(&mut self, tries: u32, reason: &str, watch: Watch<'_>) -> Effect {
        if tries < TRIES {
            return self.wait(tries, TRIES, None, reason.to_owned(), watch);
        }
        Effect::Failed(Failure::Unreachable { reason: reason.to_owned(), tries })
    }

    pub(super) fn refused(
        &mut self,
        tries: u32,
        status: Option<u16>,
        error: ApiError,
        retry_after: Option<u64>,
        watch: Watch<'_>,
    ) -> Effect {
        let loads = status == Some(503) && error.message.to_lowercase().contains("loading");
        let most = if loads { TRIES_OF_LOADING } else { TRIES };
        let passing = matches!(error.kind, ApiErrorKind::RateLimited | ApiErrorKind::Unavailable);
        if self.constrained && error.message.to_lowercase().contains("grammar") {
            self.constrained = false;
            if self.settings.constrain == Constrain::On {
                self.notices.push(Notice::Unconstrained { reason: error.message });
            }
            self.request(tries, watch)
        } else if error.kind == ApiErrorKind::ToolsUnsupported
            && self.mode == Mode::Native
            && self.settings.tools_mode.learns()
        {
            self.mode = Mode::Prompt;
            self.notices.push(Notice::PromptMode { reason: error.message });
            self.request(1, watch)
        } else if let Some(amends) = self.amends.after(&error, &self.asked().to_string(), Wishes::default()) {
            self.amends = amends;
            self.request(tries, watch)
        } else if self.shows_images() && is_about_images(&error.message) {
            // Some servers call this a fault of their own, which passes.
            Effect::Failed(Failure::Images { status, error })
        } else if let ApiErrorKind::ContextExceeded { limit, .. } = error.kind {
            self.too_long(status, error, limit, watch)
                .unwrap_or_else(|error| Effect::Failed(Failure::Refused { status, error }))
        } else if passing && tries < most && retry_after.unwrap_or(0) <= LONGEST_WAIT {
            let reason = match status {
                // It has no words of the server.
                Some(status) if error.message.starts_with("expected ") => {
                    format!("{} (status {status})", error.message)
                }
                _ => error.message,
            };
            self.wait(tries, most, retry_after, reason, watch)
        } else {
            Effect::Failed(Failure::Refused { status, error })
        }
    }

    fn shows_images(&self) -> bool {
        self.entries.iter().any(|entry| match entry {
            Entry::User { images, .. } | Entry::Added { images, .. } => !images.is_empty(),
            _ => false,
        })
    }

    pub(super) fn wait(
        &mut self,
        tries: u32,
        most: u32,
        at_least: Option<u64>,
        reason: String,
        watch: Watch<'_>,
    ) -> Effect {
        let longer = FIRST_WAIT << (tries - 1).min(LONGEST_STEP);
        let milliseconds = longer.max(at_least.unwrap_or(0));
        watch(View::Notice(&Notice::Retry { next: tries + 1, tries: most, milliseconds, reason }));
        self.state = State::Waiting { tries };
        Effect::Wait { milliseconds }
    }

    pub(super) fn cancel(&mut self, state: State, given: Vec<CallResult>, watch: Watch<'_>) -> Effect {
        match state {
            State::Reading { reading, .. } => self.keep_half(*reading, watch),
            State::Running { mut results, .. } => {
                Slot::fill(&mut results, given);
                self.keep_results(results, prompt::CANCELLED);
            }
            State::Idle | State::Counting | State::Asking { .. } | State::Waiting { .. } => {}
        }
        Effect::Failed(Failure::Cancelled)
    }

    /// The last question, where nothing is all that the model has answered.
    pub(super) fn unanswered(&self) -> Option<usize> {
        let asked = self.entries.iter().rposition(|entry| matches!(entry, Entry::User { .. }))?;
        let since = &self.entries[asked + 1..];
        let nothing = |entry: &Entry| match entry {
            Entry::Assistant { text, calls, .. } => text.is_empty() && calls.is_empty(),
            Entry::Note { .. } => true,
            _ => false,
        };
        (!since.is_empty() && since.iter().all(nothing)).then_some(asked)
    }

    /// After a failure, or when the user stops, the next question must not carry along what has just failed: a question of
    /// which nothing came is dropped, and results that are too long for the model are left out. What was done or said stays.
    pub(super) fn drop_question(&mut self, failure: &Failure) {
        if matches!(failure, Failure::OutOfStep { .. }) {
            return;
        }
        let Some(asked) = self.entries.iter().rposition(|entry| matches!(entry, Entry::User { .. })) else {
            return;
        };
        let since = &mut self.entries[asked + 1..];
        let ran = since.iter().any(|entry| matches!(entry, Entry::Results { .. }));
        let said = matches!(since.last(), Some(Entry::Assistant { text, .. }) if !text.is_empty());
        if !ran && !said {
            self.entries.truncate(asked);
        } else if is_too_long(failure) {
            since.iter_mut().for_each(shorten);
            self.revision += 1;
        }
    }

    /// After a refusal, what the user said while calls ran and what the model has answered nothing to is left out like a
    /// question: all that follows would be refused for it.
    pub(super) fn drop_added(&mut self, failure: &Failure, watch: Watch<'_>) {
        if !matches!(failure, Failure::Refused { .. } | Failure::Images { .. }) {
            return;
        }
        let heard = |entry: &Entry| matches!(entry, Entry::Assistant { .. } | Entry::Results { .. });
        let since = self.entries.iter().rposition(heard).map_or(0, |last| last + 1);
        let before = self.entries.len();
        let unheard = self.entries.split_off(since);
        self.entries.extend(unheard.into_iter().filter(|entry| !matches!(entry, Entry::Added { .. })));
        let count = before - self.entries.len();
        if count > 0 {
            self.revision += 1;
            watch(View::Notice(&Notice::Unsaid { count }));
        }
    }
}

/// Whether a refusal is for the images: servers have no code for that, but all say what it is about.
fn is_about_images(message: &str) -> bool {
    let message = message.to_lowercase();
    ["image", "vision", "multimodal", "multi-modal", "mmproj"].iter().any(|word| message.contains(word))
}

fn is_too_long(failure: &Failure) -> bool {
    let Failure::Refused { error, .. } = failure else { return false };
    matches!(error.kind, ApiErrorKind::ContextExceeded { .. })
}

/// Leaves out the texts of results that cost much.
fn shorten(entry: &mut Entry) {
    let Entry::Results { results } = entry else { return };
    for result in results.iter_mut().filter(|result| result.text.len() > prompt::TOO_LONG.len()) {
        prompt::TOO_LONG.clone_into(&mut result.text);
    }
}
