//! What went through the proxy of late, kept in memory for whoever looks at it.

mod completed;
mod reading;
mod record;
mod trial;
mod view;

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use del_dialects::{End, Message};
use serde_json::Value;
use tokio::sync::Notify;

pub(crate) use self::record::{Entry, Opened, Tap, Watched};
pub(crate) use self::trial::Trial;

/// What the inspector cannot do by itself.
pub trait Lens: Debug + Send + Sync {
    /// Which dialect a chat template is in, as `del detect --json` says it. May block.
    ///
    /// # Errors
    /// Why nothing can be said of it.
    fn template(&self, template: &str) -> Result<Value, String>;

    /// A text and what it means as a case file of a dialect.
    fn case(&self, about: &str, text: &str, end: End, message: &Message) -> String;
}

/// True for a path that people open in a browser.
pub(crate) fn is_page(path: &str) -> bool {
    path == "/" || path.starts_with("/inspector/")
}

/// The latest requests for answers of a model.
#[derive(Debug)]
pub(crate) struct Inspector {
    kept: Mutex<Kept>,
    /// Bytes of all of them.
    bytes: AtomicUsize,
    /// Grows with whatever happens, also while nobody waits for it: a page asks again and again.
    version: AtomicU64,
    news: Notify,
    /// So many wait for news: mostly nobody, and to tell nobody takes a lock as well.
    waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct Kept {
    list: VecDeque<Arc<Entry>>,
    last: u64,
}

/// So many requests are kept,
const MOST_ENTRIES: usize = 200;
/// and so many bytes of them.
const MOST_BYTES: usize = 64 << 20;

impl Inspector {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            kept: Mutex::default(),
            bytes: AtomicUsize::new(0),
            version: AtomicU64::new(0),
            news: Notify::new(),
            waiting: AtomicUsize::new(0),
        })
    }

    /// A request came; `key` is the name of what it was let in with.
    pub(crate) fn open(self: &Arc<Self>, opened: Opened) -> Watched {
        let mut entry = Entry::new(opened, self);
        let mut kept = self.kept();
        kept.last += 1;
        entry.id = kept.last;
        let entry = Arc::new(entry);
        kept.list.push_back(Arc::clone(&entry));
        let surplus = self.surplus(&mut kept);
        drop(kept);
        self.fit(surplus);
        self.happened();
        Watched::new(entry)
    }

    /// Those that `key` may see, the latest first.
    pub(crate) fn list(&self, key: Option<&str>) -> Vec<Arc<Entry>> {
        let kept = self.kept();
        kept.list.iter().rev().filter(|entry| entry.is_seen_by(key)).cloned().collect()
    }

    pub(crate) fn get(&self, id: u64, key: Option<&str>) -> Option<Arc<Entry>> {
        self.kept().list.iter().find(|entry| entry.id == id && entry.is_seen_by(key)).cloned()
    }

    /// Forgets what `key` may see.
    pub(crate) fn clear(&self, key: Option<&str>) {
        let mut kept = self.kept();
        let (gone, stay): (VecDeque<_>, VecDeque<_>) =
            kept.list.drain(..).partition(|entry| entry.is_seen_by(key));
        kept.list = stay;
        for entry in &gone {
            self.forget(entry);
        }
        drop(kept);
        self.happened();
    }

    /// How much has happened so far.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// Waits until something has happened that this version does not know.
    pub(crate) async fn newer_than(&self, version: u64) {
        let _waits = Waits::new(&self.waiting);
        loop {
            // What happens from here on ends the wait, also before it begins.
            let news = self.news.notified();
            if self.version() != version {
                return;
            }
            news.await;
        }
    }

    fn happened(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
        // Who waits says so before it looks at the version.
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.news.notify_waiters();
        }
    }

    /// More bytes are kept.
    fn grew(&self, bytes: usize) {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST_BYTES {
            self.fit(self.surplus(&mut self.kept()));
        }
    }

    /// The oldest, taken out, where there is too much.
    fn surplus(&self, kept: &mut Kept) -> Option<Arc<Entry>> {
        let too_much = kept.list.len() > MOST_ENTRIES || kept.list.len() > 1 && self.is_full();
        too_much.then(|| kept.list.pop_front()).flatten()
    }

    fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > MOST_BYTES
    }

    /// The oldest go, beginning with this one. Other requests are not kept waiting for that.
    fn fit(&self, mut surplus: Option<Arc<Entry>>) {
        while let Some(oldest) = surplus {
            self.forget(&oldest);
            surplus = self.is_full().then(|| self.surplus(&mut self.kept())).flatten();
        }
    }

    fn forget(&self, entry: &Entry) {
        self.bytes.fetch_sub(entry.forget(), Ordering::Relaxed);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
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
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use axum::body::Bytes;
    use del_wire::ServerApi;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_forgotten_while_it_is_under_way_keeps_nothing() {
        let body = Bytes::from_static(b"{\"model\": \"m\"}");
        let inspector = Inspector::new();
        let open = || {
            let path = "/v1/chat/completions".to_owned();
            inspector.open(Opened { path, body: body.clone(), key: None })
        };
        let first = open();
        let entry = first.entry();
        let tap = entry.ask(&body, ServerApi::OpenAi, None);
        assert_eq!(entry.page()["turns"][0]["sent"]["text"], "{\"model\": \"m\"}");
        let others: Vec<Watched> = (0..MOST_ENTRIES).map(|_| open()).collect();
        tap.bytes(b"an answer");
        drop(first);
        let page = entry.page();
        assert_eq!((&page["turns"], &page["asked"]["text"]), (&json!([]), &json!("")));
        assert_eq!(inspector.bytes.load(Ordering::Relaxed), others.len() * body.len());
    }

    #[test]
    fn what_happens_while_nobody_waits_is_news_to_who_waits_next() {
        let inspector = Inspector::new();
        let open =
            || inspector.open(Opened { path: "/".to_owned(), body: Bytes::from_static(b"{}"), key: None });
        let mut looks = Context::from_waker(Waker::noop());
        let seen = inspector.version();
        drop(open());
        assert!(pin!(inspector.newer_than(seen)).as_mut().poll(&mut looks).is_ready());
        let mut waits = pin!(inspector.newer_than(inspector.version()));
        assert!(waits.as_mut().poll(&mut looks).is_pending());
        inspector.clear(None);
        assert!(waits.as_mut().poll(&mut looks).is_ready());
    }
}
