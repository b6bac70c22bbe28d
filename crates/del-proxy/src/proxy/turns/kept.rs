//! What of the turns is kept for later requests.

use super::Turns;
use crate::memory::Past;
use crate::proxy::injected::place;
use crate::stamp::response_id;

impl Turns {
    /// Keeps what the client does not see, for its next request.
    pub(super) fn remember(&mut self) {
        let conversation = self.exchange.conversation.take();
        let shelf = self.exchange.proxy.memory.of(&self.exchange.parts.extensions);
        if let Some(first) = self.series().theirs().first().filter(|_| !self.executed.is_empty()) {
            shelf.put(place(first), Past { messages: self.added.clone(), ..Past::default() });
        }
        let last = self
            .added
            .iter()
            .rev()
            .find_map(|message| message["tool_calls"].as_array().and(message.as_object()));
        if let (Some(behind), Some(last)) = (self.exchange.behind(), last) {
            behind.keep(last);
        }
        if let Some(mut messages) = conversation {
            let asked = messages.len();
            messages.extend_from_slice(&self.added);
            shelf.put(response_id(&self.id), Past { messages, asked, answer: self.series().kept() });
        }
    }
}
