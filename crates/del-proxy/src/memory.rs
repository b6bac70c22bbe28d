//! Earlier answers, for requests that go on with one by its id, or refer to what is in one.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use del_wire::responses::to_client::response_of;

use serde_json::Value;

/// Conversations by the id of their last answer. The oldest go when there are too many bytes.
#[derive(Debug)]
pub(crate) struct Memory {
    limit: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    list: VecDeque<Entry>,
    bytes: usize,
}

/// JSON is kept as text: read, it takes several times the room.
#[derive(Debug)]
struct Entry {
    id: String,
    messages: Box<str>,
    /// What the answer consists of, where its client knows the parts by ids.
    items: Box<str>,
}

impl Memory {
    /// An empty memory of this many bytes; 0 keeps nothing.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::default() }
    }

    /// The conversation up to this answer.
    pub(crate) fn get(&self, id: &str) -> Option<Vec<Value>> {
        serde_json::from_str(&self.kept().of(id)?.messages).ok()
    }

    /// A part of an answer.
    pub(crate) fn item(&self, id: &str) -> Option<Value> {
        let items: Vec<Value> = serde_json::from_str(&self.kept().of(&response_of(id)?)?.items).ok()?;
        items.into_iter().find(|item| item["id"] == id)
    }

    /// Remembers the conversation up to an answer, and the parts of that.
    pub(crate) fn put(&self, id: String, messages: Vec<Value>, items: Vec<Value>) {
        if self.limit == 0 {
            return;
        }
        let text = |values| Value::Array(values).to_string().into_boxed_str();
        let entry = Entry { id, messages: text(messages), items: text(items) };
        let size = entry.size();
        if size > self.limit {
            return;
        }
        let mut kept = self.kept();
        kept.bytes += size;
        kept.list.push_back(entry);
        while kept.bytes > self.limit {
            let Some(oldest) = kept.list.pop_front() else { break };
            kept.bytes -= oldest.size();
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// What it takes in memory.
    fn size(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.messages.len() + self.items.len()
    }
}

impl Kept {
    fn of(&self, id: &str) -> Option<&Entry> {
        self.list.iter().rev().find(|entry| entry.id == id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Memory;

    #[test]
    fn the_oldest_go_first_and_none_is_larger_than_the_limit() {
        // Room for two.
        let memory = Memory::new(200);
        for id in ["a", "b", "c"] {
            memory.put(id.to_owned(), vec![json!("0123456789ab")], Vec::new());
        }
        assert_eq!(memory.get("a"), None);
        assert_eq!((memory.get("b"), memory.get("c")), (Some(vec![json!("0123456789ab")]), memory.get("b")));
        memory.put("d".to_owned(), vec![json!("x".repeat(200))], Vec::new());
        assert!(memory.get("d").is_none() && memory.get("c").is_some());
        let items = json!([{"id": "msg_e_0", "text": "Hi."}, {"id": "fc_e_1"}]);
        memory.put("resp_e".to_owned(), Vec::new(), items.as_array().cloned().unwrap_or_default());
        assert_eq!(memory.item("fc_e_1"), Some(items[1].clone()));
        assert_eq!(memory.item("fc_e_2"), None);
        let off = Memory::new(0);
        off.put("a".to_owned(), Vec::new(), Vec::new());
        assert_eq!(off.get("a"), None);
    }
}
