//! What went through the proxy of late, kept in memory for whoever looks at it.

mod completed;
mod news;
mod reading;
mod record;
mod trial;
mod view;

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use del_dialects::{End, Message};
use serde_json::Value;

use self::news::News;
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
    shared: Arc<Shared>,
}

/// What requests under way write to, which do not hold the list of all.
#[derive(Debug, Default)]
struct Shared {
    /// Bytes of all that is kept.
    bytes: AtomicUsize,
    news: News,
    inspector: Weak<Inspector>,
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
        Arc::new_cyclic(|inspector| Self {
            kept: Mutex::default(),
            shared: Arc::new(Shared { inspector: inspector.clone(), ..Shared::default() }),
        })
    }

    /// A request came; `key` is the name of what it was let in with.
    pub(crate) fn open(self: &Arc<Self>, opened: Opened) -> Watched {
        let mut entry = Entry::new(opened, &self.shared);
        let mut kept = self.kept();
        kept.last += 1;
        entry.id = kept.last;
        let entry = Arc::new(entry);
        kept.list.push_back(Arc::clone(&entry));
        let surplus = self.surplus(&mut kept);
        drop(kept);
        self.fit(surplus);
        self.shared.news.happened();
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
        self.shared.news.happened();
    }

    /// How often somebody has seen that something had happened.
    pub(crate) fn version(&self) -> u64 {
        self.shared.news.version()
    }

    /// Waits until something has happened that this version does not know.
    pub(crate) async fn newer_than(&self, version: u64) {
        self.shared.news.newer_than(version).await;
    }

    /// The oldest, taken out, where there is too much.
    fn surplus(&self, kept: &mut Kept) -> Option<Arc<Entry>> {
        let too_much = kept.list.len() > MOST_ENTRIES || kept.list.len() > 1 && self.shared.is_full();
        too_much.then(|| kept.list.pop_front()).flatten()
    }

    /// Too much is kept.
    fn make_room(&self) {
        self.fit(self.surplus(&mut self.kept()));
    }

    /// The oldest go, beginning with this one. Other requests are not kept waiting for that.
    fn fit(&self, mut surplus: Option<Arc<Entry>>) {
        while let Some(oldest) = surplus {
            self.forget(&oldest);
            surplus = self.shared.is_full().then(|| self.surplus(&mut self.kept())).flatten();
        }
    }

    fn forget(&self, entry: &Entry) {
        self.shared.bytes.fetch_sub(entry.forget(), Ordering::Relaxed);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// More bytes are kept.
    fn grew(&self, bytes: usize) {
        if bytes > 0 && self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST_BYTES {
            self.inspector.upgrade().inspect(|inspector| inspector.make_room());
        }
    }

    fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > MOST_BYTES
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(inspector.shared.bytes.load(Ordering::Relaxed), others.len() * body.len());
    }
}
