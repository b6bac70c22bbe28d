//! The events of a response, each with its number.

use std::io::Write as _;

use crate::members::{Members, json_text};
use crate::told::named_event;

/// Numbers events as they are written.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The number of the next one.
    next: u64,
}

impl Events {
    /// An event with these members.
    pub(super) fn one(&mut self, name: &str, members: Members, out: &mut Vec<u8>) {
        let mut event = Members::default();
        event.add_text("type", name);
        event.add_number("sequence_number", self.next);
        event.append(members);
        self.next += 1;
        named_event(name, &event, out);
    }

    /// One that says how the response is.
    pub(super) fn of_all(&mut self, name: &str, response: &Members, out: &mut Vec<u8>) {
        let mut members = Members::default();
        members.add_object("response", response);
        self.one(name, members, out);
    }

    /// More of the item at a place with an id. Streams consist of these, so no [`Value`](serde_json::Value) is made of them.
    pub(super) fn delta(
        &mut self,
        name: &str,
        (place, id): (usize, &str),
        beside: &str,
        more: &str,
        out: &mut Vec<u8>,
    ) {
        let number = self.next;
        // A vector takes every write, and an id has no signs that JSON writes in another way.
        let _ = write!(
            out,
            "event: {name}\ndata: {{\"type\":\"{name}\",\"sequence_number\":{number},\"item_id\":\"{id}\",\"output_index\":{place}{beside},\"delta\":"
        );
        json_text(more, out);
        out.extend_from_slice(b"}\n\n");
        self.next += 1;
    }
}
