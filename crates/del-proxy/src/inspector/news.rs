//! Tells whoever waits that something has happened.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// Something happens all the time, and mostly nobody looks: then nothing is written that threads would have to take from
/// each other.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Something has happened since somebody looked.
    fresh: AtomicBool,
    /// Grows when somebody looks, and something has happened: a page asks again and again.
    version: Mutex<u64>,
    told: Notify,
    /// So many wait.
    waiting: AtomicUsize,
}

impl News {
    pub(super) fn happened(&self) {
        if !self.fresh.load(Ordering::SeqCst) {
            self.fresh.store(true, Ordering::SeqCst);
        }
        // Who waits says so before it looks.
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.told.notify_waiters();
        }
    }

    pub(super) fn version(&self) -> u64 {
        let mut version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        *version += u64::from(self.fresh.swap(false, Ordering::SeqCst));
        *version
    }

    /// Waits until something has happened that this version does not know.
    pub(super) async fn newer_than(&self, version: u64) {
        let _waits = Waits::new(&self.waiting);
        loop {
            // What happens from here on ends the wait, also before it begins.
            let told = self.told.notified();
            if self.version() != version {
                return;
            }
            told.await;
        }
    }
}

/// Counts one who waits, as long as he does.
struct Waits<'w>(&'w AtomicUsize);

impl<'w> Waits<'w> {
    fn new(waiting: &'w AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Waker};
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_happens_while_nobody_waits_is_news_to_who_waits_next() {
        let news = News::default();
        let mut looks = Context::from_waker(Waker::noop());
        let seen = news.version();
        news.happened();
        assert!(pin!(news.newer_than(seen)).as_mut().poll(&mut looks).is_ready());
        let mut waits = pin!(news.newer_than(news.version()));
        assert!(waits.as_mut().poll(&mut looks).is_pending());
        news.happened();
        assert!(waits.as_mut().poll(&mut looks).is_ready());
    }

    #[test]
    fn what_another_has_seen_is_news_as_well() {
        let news = News::default();
        let seen = news.version();
        let mut looks = Context::from_waker(Waker::noop());
        let (mut first, mut second) = (pin!(news.newer_than(seen)), pin!(news.newer_than(seen)));
        assert!(first.as_mut().poll(&mut looks).is_pending());
        assert!(second.as_mut().poll(&mut looks).is_pending());
        news.happened();
        assert!(first.as_mut().poll(&mut looks).is_ready());
        assert!(second.as_mut().poll(&mut looks).is_ready());
    }

    #[test]
    fn nothing_is_missed_between_threads() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        let news = Arc::<News>::default();
        runtime.block_on(async {
            for _ in 0..2_000 {
                let seen = news.version();
                let other = Arc::clone(&news);
                let happens = tokio::spawn(async move { other.happened() });
                let waits = tokio::time::timeout(Duration::from_secs(20), news.newer_than(seen));
                waits.await.expect("it is told of what happened");
                happens.await.unwrap();
            }
        });
    }
}
