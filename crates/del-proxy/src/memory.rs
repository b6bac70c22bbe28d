//! Earlier answers, for requests that go on with one by its id.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// Conversations by the id of their last answer. The oldest go when there are too many bytes.
#[derive(Debug)]
pub(crate) struct Memory {
    limit: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    list: VecDeque<(String, Vec<Value>, usize)>,
    bytes: usize,
}

impl Memory {
    /// An empty memory of this many bytes of JSON; 0 keeps nothing.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::default() }
    }

    /// The conversation up to this answer.
    pub(crate) fn get(&self, id: &str) -> Option<Vec<Value>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.list.iter().rev().find(|(known, ..)| known == id).map(|(_, messages, _)| messages.clone())
    }

    /// Remembers the conversation up to an answer.
    pub(crate) fn put(&self, id: String, messages: Vec<Value>) {
        let size = id.len() + messages.iter().map(|message| message.to_string().len()).sum::<usize>();
        if size > self.limit {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += size;
        kept.list.push_back((id, messages, size));
        while kept.bytes > self.limit {
            let Some((_, _, size)) = kept.list.pop_front() else { break };
            kept.bytes -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Memory;

    #[test]
    fn the_oldest_go_first_and_none_is_larger_than_the_limit() {
        let memory = Memory::new(40);
        for id in ["a", "b", "c"] {
            memory.put(id.to_owned(), vec![json!("0123456789ab")]);
        }
        assert_eq!(memory.get("a"), None);
        assert_eq!((memory.get("b"), memory.get("c")), (Some(vec![json!("0123456789ab")]), memory.get("b")));
        memory.put("d".to_owned(), vec![json!("x".repeat(50))]);
        assert!(memory.get("d").is_none() && memory.get("c").is_some());
        let off = Memory::new(0);
        off.put("a".to_owned(), Vec::new());
        assert_eq!(off.get("a"), None);
    }
}
