//! What a client says of the conversation so far.

use std::sync::Arc;

use del_dialects::{Dialect, Dialects};
use del_wire::{History, Mendings};
use serde_json::{Map, Value};

use super::{Request, messages};
use crate::refusal::Refusal;

impl Request {
    /// Mends it, where there is something that a server might refuse. A request in which nothing is wrong goes on as it came.
    /// Calls in texts are read in `dialect`, or in all.
    pub(crate) fn mend(
        &mut self,
        dialect: Option<&Arc<Dialect>>,
        dialects: &'static Dialects,
    ) -> Result<Mendings, Refusal> {
        if !self.facts.past {
            return Ok(Mendings::default());
        }
        self.asked()?;
        let tools = self.tools.as_ref().map(Arc::clone).unwrap_or_default();
        let history = History { dialects, dialect, tools: &tools };
        let Some(Ok(asked)) = self.asked.get_mut() else { return Ok(Mendings::default()) };
        let Some(Value::Array(messages)) = asked.body.get_mut("messages") else {
            return Ok(Mendings::default());
        };
        let mendings = history.mend(messages);
        if !mendings.is_empty() {
            self.bytes = None;
        }
        Ok(mendings)
    }
}

impl Request {
    /// The ids of the calls so far.
    pub(crate) fn ids_of_calls(&self) -> impl Iterator<Item = &str> {
        let asked = self.asked().ok().filter(|_| self.facts.past);
        let past = asked.into_iter().flat_map(|asked| messages(&asked.body));
        let calls = past.filter_map(|message| message["tool_calls"].as_array()).flatten();
        calls.filter_map(|call| call["id"].as_str())
    }

    /// Adds to messages of the model what `add` knows that they lack. It says whether it did.
    pub(crate) fn each_past(&mut self, mut add: impl FnMut(&mut Map<String, Value>) -> bool) {
        if !self.facts.past || self.asked().is_err() {
            return;
        }
        let Some(Ok(asked)) = self.asked.get_mut() else { return };
        let Some(Value::Array(messages)) = asked.body.get_mut("messages") else { return };
        let past = messages.iter_mut().filter(|message| message["role"] == "assistant");
        for message in past.filter_map(Value::as_object_mut) {
            if add(message) {
                self.bytes = None;
            }
        }
    }
}

/// True where messages, as JSON, may hold more than what users say.
pub(super) fn is_in(messages: &str) -> bool {
    ["\"assistant\"", "\"tool\""].iter().any(|role| messages.contains(role))
}
