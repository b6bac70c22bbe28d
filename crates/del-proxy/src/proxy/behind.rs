//! What stands behind the calls of an answer that its client may have no place for, and that the model server wants back with
//! them: seals on thoughts, thoughts in the server's own words, and members of calls that are not known here.

use std::sync::Arc;

use axum::http::Extensions;
use serde_json::{Map, Value, json};

use super::Proxy;
use crate::api::Api;
use crate::memory::{Past, Shelf};
use crate::request::Request;
use crate::route::Route;

/// Members of a message that say what was thought.
const THOUGHTS: [&str; 2] = ["thinking_blocks", "reasoning_details"];
/// Members of a call that every client sends back.
const OF_CALLS: [&str; 4] = ["id", "type", "function", "custom"];

/// Where it is remembered for one client and one server.
pub(super) struct Behind {
    proxy: Arc<Proxy>,
    /// Who asks.
    asker: Extensions,
    api: Api,
    /// Nobody else can read what a server has sealed.
    server: String,
}

impl Behind {
    /// Nothing where the client has of an answer what the server has said.
    pub(super) fn of(proxy: &Arc<Proxy>, route: &Route, api: Api, asker: &Extensions) -> Option<Self> {
        if api == Api::Chat && route.chats() {
            return None;
        }
        let server = route.pool.members().first()?.place.clone();
        Some(Self { proxy: Arc::clone(proxy), asker: asker.clone(), api, server })
    }

    /// Remembers what stands behind the calls of a message.
    pub(super) fn keep(&self, message: &Map<String, Value>) {
        if let Some((first, behind)) = behind(message, self.api) {
            let past = Past { messages: vec![behind], ..Past::default() };
            self.proxy.memory.of(&self.asker).put(place(&first, &self.server), past);
        }
    }

    /// Gives it back to a conversation that lacks it.
    pub(super) fn recall(&self, request: &mut Request) {
        let shelf = self.proxy.memory.of(&self.asker);
        request.each_past(|message| give_back(message, &shelf, &self.server));
    }
}

fn place(call: &str, server: &str) -> String {
    format!("behind {call} of {server}")
}

/// The id of the first call of a message, and what stands behind its calls, if anything does.
fn behind(message: &Map<String, Value>, api: Api) -> Option<(String, Value)> {
    let calls = message.get("tool_calls")?.as_array()?;
    let first = calls.first()?["id"].as_str()?.to_owned();
    let mut behind = Map::new();
    // Clients of Anthropic's API have seals of their own.
    let theirs = |name: &str| api == Api::Messages && name == THOUGHTS[0];
    for name in THOUGHTS.iter().filter(|name| !theirs(name)) {
        behind.extend(message.get(*name).map(|thoughts| ((*name).to_owned(), thoughts.clone())));
    }
    let beside = calls.iter().map(|call| {
        let mut members = call.as_object().cloned().unwrap_or_default();
        members.retain(|name, _| !OF_CALLS.contains(&name.as_str()));
        (&call["id"], members)
    });
    let beside: Vec<Value> = beside
        .filter(|(_, members)| !members.is_empty())
        .map(|(id, members)| json!({"id": id, "members": members}))
        .collect();
    if !beside.is_empty() {
        behind.insert("calls".to_owned(), Value::Array(beside));
    }
    (!behind.is_empty()).then(|| (first, Value::Object(behind)))
}

/// Adds to a message what it lacks. True where that is something.
fn give_back(message: &mut Map<String, Value>, shelf: &Shelf<'_>, server: &str) -> bool {
    let Some(Value::Array(calls)) = message.get_mut("tool_calls") else { return false };
    let mut ids = calls.iter().filter_map(|call| call["id"].as_str());
    let Some(kept) = ids.find_map(|id| shelf.conversation(&place(id, server))?.pop()) else {
        return false;
    };
    for known in kept["calls"].as_array().into_iter().flatten() {
        let call = calls.iter_mut().find(|call| call["id"] == known["id"]);
        if let (Some(Value::Object(call)), Some(members)) = (call, known["members"].as_object()) {
            for (name, value) in members {
                call.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    for name in THOUGHTS {
        if let Some(thoughts) = kept.get(name).filter(|_| !message.contains_key(name)) {
            message.insert(name.to_owned(), thoughts.clone());
        }
    }
    true
}
