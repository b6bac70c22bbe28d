//! Earlier answers, for requests that go on with one by its id, refer to what is in one, or ask for one again.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{Extensions, HeaderMap};
use del_wire::responses::past::{items, response_of};
use serde_json::Value;

use crate::keys::{Holder, shown};

/// Conversations by the id of their last answer. The oldest go when there are too many bytes.
#[derive(Debug)]
pub(crate) struct Memory {
    limit: usize,
    kept: Mutex<Kept>,
    /// Keys of others are not kept as they are.
    hasher: RandomState,
}

/// The memory as those see it who have one key: what others said is not there.
#[derive(Debug)]
pub(crate) struct Shelf<'m> {
    memory: &'m Memory,
    owner: Option<Box<str>>,
}

/// Whoever shows a key that the proxy does not ask for, such as one of the model server.
#[derive(Debug, Clone)]
pub(crate) struct Stranger(Box<str>);

/// What is kept of an answer.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// The conversation up to it.
    pub(crate) messages: Vec<Value>,
    /// So many of these came before it.
    pub(crate) asked: usize,
    /// All of it, as JSON, where its client may ask for it again.
    pub(crate) answer: Option<String>,
}

#[derive(Debug, Default)]
struct Kept {
    /// In their order.
    list: BTreeMap<u64, Entry>,
    /// Their numbers by their ids: of each, that of the last comes last.
    numbers: HashMap<Box<str>, Vec<u64>>,
    next: u64,
    bytes: usize,
}

/// JSON is kept as text: read, it takes several times the room.
#[derive(Debug)]
struct Entry {
    id: Box<str>,
    /// The name of the key that it was asked with, or what stands for the key of a stranger.
    owner: Option<Box<str>>,
    messages: Box<str>,
    asked: usize,
    answer: Box<str>,
}

impl Memory {
    /// An empty memory of this many bytes; 0 keeps nothing.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::default(), hasher: RandomState::new() }
    }

    /// Who sends a request with these headers, where the proxy knows no keys.
    pub(crate) fn stranger(&self, headers: &HeaderMap) -> Option<Stranger> {
        let key = shown(headers)?;
        Some(Stranger(format!("{:016x}", self.hasher.hash_one(key)).into()))
    }

    /// What is there for whoever sent the request with these extensions.
    pub(crate) fn of(&self, request: &Extensions) -> Shelf<'_> {
        let holder = request.get::<Arc<Holder>>().map(|holder| holder.name.as_str().into());
        let owner = holder.or_else(|| request.get::<Stranger>().map(|stranger| stranger.0.clone()));
        Shelf { memory: self, owner }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf<'_> {
    /// The conversation up to this answer.
    pub(crate) fn conversation(&self, id: &str) -> Option<Vec<Value>> {
        self.look(id, |entry| serde_json::from_str(&entry.messages).ok())
    }

    /// This answer.
    pub(crate) fn answer(&self, id: &str) -> Option<Value> {
        self.look(id, |entry| serde_json::from_str(&entry.answer).ok())
    }

    /// The items that this answer was given to.
    pub(crate) fn asked(&self, id: &str) -> Option<Vec<Value>> {
        let (mut messages, asked) = self.look(id, |entry| {
            let messages: Vec<Value> = serde_json::from_str(&entry.messages).ok()?;
            (!entry.answer.is_empty()).then_some((messages, entry.asked))
        })?;
        messages.truncate(asked);
        Some(items(&messages, id))
    }

    /// An item of an answer, or one that an answer was given to.
    pub(crate) fn item(&self, id: &str) -> Option<Value> {
        let response = response_of(id)?;
        let answer = self.answer(&response)?;
        let mut said = answer["output"].as_array().into_iter().flatten().cloned();
        let is_it = |item: &Value| item["id"] == id;
        said.find(is_it).or_else(|| self.asked(&response).into_iter().flatten().find(is_it))
    }

    /// Keeps an answer, where there is room for it.
    pub(crate) fn put(&self, id: String, past: Past) {
        let memory = self.memory;
        if memory.limit == 0 {
            return;
        }
        let text = |value: String| value.into_boxed_str();
        let entry = Entry {
            id: id.into(),
            owner: self.owner.clone(),
            messages: text(serde_json::to_string(&past.messages).unwrap_or_default()),
            asked: past.asked,
            answer: text(past.answer.unwrap_or_default()),
        };
        let size = entry.size();
        if size > memory.limit {
            return;
        }
        let mut kept = memory.kept();
        kept.add(entry, size);
        while kept.bytes > memory.limit {
            let Some(oldest) = kept.list.keys().next().copied() else { break };
            kept.remove(oldest);
        }
    }

    /// Forgets an answer that its client may ask for. False where there is none.
    pub(crate) fn forget(&self, id: &str) -> bool {
        let mut kept = self.memory.kept();
        let is_it = |entry: &Entry| self.is(entry) && !entry.answer.is_empty();
        let found = kept.of(id).find(|(_, entry)| is_it(entry)).map(|(number, _)| number);
        found.is_some_and(|number| {
            kept.remove(number);
            true
        })
    }

    fn look<T>(&self, id: &str, read: impl FnOnce(&Entry) -> Option<T>) -> Option<T> {
        read(self.memory.kept().of(id).rfind(|(_, entry)| self.is(entry))?.1)
    }

    /// True for what was said by whoever asks.
    fn is(&self, entry: &Entry) -> bool {
        entry.owner == self.owner
    }
}

impl Kept {
    /// Those with this id, in their order.
    fn of(&self, id: &str) -> impl DoubleEndedIterator<Item = (u64, &Entry)> {
        let numbers = self.numbers.get(id).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, self.list.get(number)?)))
    }

    fn add(&mut self, entry: Entry, size: usize) {
        self.bytes += size;
        self.numbers.entry(entry.id.clone()).or_default().push(self.next);
        self.list.insert(self.next, entry);
        self.next += 1;
    }

    fn remove(&mut self, number: u64) {
        let Some(entry) = self.list.remove(&number) else { return };
        self.bytes -= entry.size();
        if let Some(numbers) = self.numbers.get_mut(&entry.id) {
            numbers.retain(|known| *known != number);
            if numbers.is_empty() {
                self.numbers.remove(&entry.id);
            }
        }
    }
}

impl Entry {
    /// What it takes in memory.
    fn size(&self) -> usize {
        let owner = self.owner.as_ref().map_or(0, |owner| owner.len());
        size_of::<Self>() + self.id.len() + owner + self.messages.len() + self.answer.len()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Extensions;
    use serde_json::{Value, json};

    use super::{Memory, Past};

    fn past(messages: &Value, output: &Value) -> Past {
        let messages = messages.as_array().cloned().unwrap_or_default();
        Past { asked: messages.len(), messages, answer: Some(json!({"output": output}).to_string()) }
    }

    #[test]
    fn the_oldest_go_first_and_none_is_larger_than_the_limit() {
        // Room for two.
        let memory = Memory::new(300);
        let shelf = memory.of(&Extensions::new());
        for id in ["a", "b", "c"] {
            shelf.put(id.to_owned(), past(&json!(["0123456789ab"]), &json!([])));
        }
        assert_eq!(shelf.conversation("a"), None);
        assert_eq!(shelf.conversation("b"), Some(vec![json!("0123456789ab")]));
        assert_eq!(shelf.conversation("c"), shelf.conversation("b"));
        shelf.put("d".to_owned(), past(&json!(["x".repeat(300)]), &json!([])));
        assert!(shelf.conversation("d").is_none() && shelf.conversation("c").is_some());
        let output = json!([{"id": "msg_e_0", "text": "Hi."}, {"id": "fc_e_1"}]);
        shelf.put("resp_e".to_owned(), past(&json!([]), &output));
        assert_eq!(shelf.item("fc_e_1"), Some(output[1].clone()));
        assert_eq!(shelf.item("fc_e_2"), None);
        assert!(shelf.forget("resp_e") && !shelf.forget("resp_e"));
        assert_eq!(shelf.item("fc_e_1"), None);
        let off = Memory::new(0);
        off.of(&Extensions::new()).put("a".to_owned(), Past::default());
        assert_eq!(off.of(&Extensions::new()).conversation("a"), None);
    }
}
