//! When a model server is left alone.

use std::time::Duration;

use tokio::time::Instant;

/// Opens when a server fails again and again: then it is asked only now and then whether it is back.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    /// In a row.
    failures: u32,
    /// How often it opened since the server last answered.
    openings: u32,
    /// While it is open: when the server may be tried again.
    until: Option<Instant>,
}

/// So many failures in a row open it.
const MOST_FAILURES: u32 = 3;
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);

impl Breaker {
    /// True when the server is taken for one that answers.
    pub(crate) fn is_closed(&self) -> bool {
        self.until.is_none()
    }

    /// True when a request may go to the server: also one that tries whether it is back.
    pub(crate) fn lets_through(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| until <= now)
    }

    /// When the server may be tried again.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// The server answered.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// It did not.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.until.is_some() || self.failures >= MOST_FAILURES {
            self.open(now);
        }
    }

    /// It is known to be away.
    pub(crate) fn open(&mut self, now: Instant) {
        // One that fails while it is left alone says nothing new.
        if self.lets_through(now) {
            let pause = SHORTEST.saturating_mul(1 << self.openings.min(8)).min(LONGEST);
            self.openings = self.openings.saturating_add(1);
            self.until = Some(now + pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_for_longer_each_time() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        breaker.failed(start);
        breaker.failed(start);
        breaker.succeeded();
        breaker.failed(start);
        breaker.failed(start);
        assert!(breaker.is_closed());
        breaker.failed(start);
        assert!(!breaker.is_closed() && !breaker.lets_through(start + SHORTEST / 2));
        let mut now = start + SHORTEST;
        assert!(breaker.lets_through(now));
        let mut pauses = Vec::new();
        for _ in 0..6 {
            breaker.failed(now);
            // What fails beside it changes nothing.
            breaker.failed(now);
            let until = breaker.until().unwrap();
            pauses.push((until - now).as_secs());
            now = until;
        }
        assert_eq!(pauses, [10, 20, 40, 60, 60, 60]);
        breaker.succeeded();
        assert!(breaker.is_closed() && breaker.lets_through(start));
    }
}
