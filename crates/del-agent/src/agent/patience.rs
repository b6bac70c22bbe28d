//! How long a server is waited for that says nothing, and what is said of one that wants to be waited for.

use del_wire::{ApiError, ApiErrorKind};

use super::{Agent, State, Watch};
use crate::reading::Reading;
use crate::step::{Effect, Failure};

/// How often a server is asked that says nothing: it was waited for long enough.
const TRIES: u32 = 2;
/// A wait that a server asks for is named from here on, in milliseconds: so long nobody waits unasked.
const LONG: u64 = 60_000;

impl Agent {
    /// Nothing came in time. What was said before stays, and is not said again.
    pub(super) fn silent(&mut self, reading: Option<Reading>, tries: u32, watch: Watch<'_>) -> Effect {
        const WHY: &str = "nothing came in time";
        match reading {
            Some(reading) if !reading.is_mute() => self.hung_up(reading, tries, WHY, watch),
            _ if tries < TRIES => self.wait(tries, TRIES, None, WHY.to_owned(), watch),
            _ => {
                self.state = State::Idle;
                Effect::Failed(Failure::Silent { tries })
            }
        }
    }
}

/// A server that was reached is not to be started, nor is its address wrong.
pub(super) fn reached(effect: Effect) -> Effect {
    match effect {
        Effect::Failed(Failure::Unreachable { reason, tries }) => {
            Effect::Failed(Failure::NoAnswer { reason, tries })
        }
        other => other,
    }
}

/// A refusal that passes says for how long the server wants to be left alone, where that is long.
pub(super) fn asking_to_wait(mut error: ApiError, retry_after: Option<u64>) -> ApiError {
    let passes = matches!(error.kind, ApiErrorKind::RateLimited | ApiErrorKind::Unavailable);
    if let Some(milliseconds) = retry_after.filter(|wait| passes && *wait > LONG) {
        let message = error.message.trim_end().trim_end_matches('.');
        error.message = format!("{message}; the server asks to wait {}", time(milliseconds.div_ceil(1000)));
    }
    error
}

fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        7200..172_800 => format!("{} h", seconds.div_ceil(3600)),
        _ => format!("{} days", seconds.div_ceil(86_400)),
    }
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_are_told_in_the_unit_that_fits() {
        let told = [30, 119, 120, 3601, 7200, 90_000, 172_800].map(time);
        assert_eq!(told, ["30 s", "119 s", "2 min", "61 min", "2 h", "25 h", "2 days"]);
    }
}
