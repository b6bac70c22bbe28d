//! A timer that is set for each of many waits, most of which are short.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep};

/// Runs since the first wait. A later one only moves it when it is over: so a wait that ends in time costs no place in the
/// runtime's list of timers, which all threads share.
#[derive(Debug, Default)]
pub(crate) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Ready at `end`.
    pub(crate) fn poll_at(&mut self, end: Instant, context: &mut Context<'_>) -> Poll<()> {
        let timer = self.0.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
        if timer.deadline() > end {
            timer.as_mut().reset(end);
        }
        while timer.as_mut().poll(context).is_ready() {
            if timer.deadline() >= end {
                return Poll::Ready(());
            }
            timer.as_mut().reset(end);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_rings_for_each_wait_at_its_own_end() {
        let begun = Instant::now();
        let mut alarm = Alarm::default();
        for (from, to) in [(0, 10), (10, 30), (35, 36), (40, 90), (90, 91)] {
            tokio::time::sleep_until(begun + Duration::from_secs(from)).await;
            let end = begun + Duration::from_secs(to);
            poll_fn(|context| alarm.poll_at(end, context)).await;
            assert_eq!(begun.elapsed(), Duration::from_secs(to));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_over_early_leaves_it_for_a_shorter_one() {
        let begun = Instant::now();
        let mut alarm = Alarm::default();
        let far = begun + Duration::from_secs(600);
        assert!(poll_fn(|context| Poll::Ready(alarm.poll_at(far, context))).await.is_pending());
        let near = begun + Duration::from_secs(2);
        poll_fn(|context| alarm.poll_at(near, context)).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(2));
    }
}
