//! Calls and their results, side by side and in one order: servers and chat templates refuse either without the other.

use std::collections::{HashMap, HashSet};

use del_dialects::Dialects;
use serde_json::{Value, json};

use super::{Mending, Mendings, text_of};
use crate::{failed, own, responses};

/// The result of a call that has none.
const NO_RESULT: &str = "There is no result of this call; it may not have run.";
/// Stands before a result of no call.
const NO_CALL: &str = "This is the result of a call that is not in this conversation:\n";

/// Puts results behind their calls, one at least for each call.
pub(super) fn mend(messages: &mut Vec<Value>, mendings: &mut Mendings) {
    if !messages.iter().any(|message| is_result(message) || calls(message).next().is_some()) {
        return;
    }
    give_ids(messages, mendings);
    let mut of_calls = by_calls(messages);
    let mut given: Vec<Option<Value>> = std::mem::take(messages).into_iter().map(Some).collect();
    for place in 0..given.len() {
        // A result has gone with its call.
        let Some(message) = given[place].take() else { continue };
        if is_result(&message) {
            mendings.add(Mending::NoCall);
            messages.push(told_by_user(&message));
            continue;
        }
        let mut open: Vec<String> = calls(&message).map(str::to_owned).collect();
        let mut order = HashMap::with_capacity(open.len());
        for (place, call) in open.iter().enumerate() {
            order.entry(call.clone()).or_insert(place);
        }
        let rank = |result: &Value| id(result).and_then(|id| order.get(id).copied());
        messages.push(message);
        let first = messages.len();
        let results = of_calls.remove(&place).unwrap_or_default();
        let answered: HashSet<&str> = results.iter().filter_map(|at| id(given[*at].as_ref()?)).collect();
        open.retain(|call| !answered.contains(call.as_str()));
        drop(answered);
        let mut next = place + 1;
        for at in results {
            // What stands between is the result of another call, or a record that no model reads.
            while next < at
                && given[next].as_ref().is_none_or(|between| is_result(between) || is_record(between))
            {
                next += 1;
            }
            if next < at {
                mendings.add(Mending::MovedResult);
            }
            messages.extend(given[at].take());
        }
        // Most templates show no ids: a model takes the first result for that of its first call.
        if !messages[first..].is_sorted_by_key(rank) {
            mendings.add(Mending::MovedResult);
        }
        for call in open {
            mendings.add(Mending::NoResult);
            messages.push(
                json!({"role": "tool", "tool_call_id": call, "content": NO_RESULT, failed::MEMBER: true}),
            );
        }
        messages[first..].sort_by_key(rank);
    }
}

/// The places of the results of each message with calls: a result is for the last call of its id before it.
fn by_calls(messages: &[Value]) -> HashMap<usize, Vec<usize>> {
    let mut last: HashMap<&str, usize> = HashMap::new();
    let mut results: HashMap<usize, Vec<usize>> = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        last.extend(calls(message).map(|call| (call, place)));
        if is_result(message)
            && let Some(call) = id(message).and_then(|id| last.get(id))
        {
            results.entry(*call).or_default().push(place);
        }
    }
    results
}

/// A result without an id is for the first call before it that has no result yet.
fn give_ids(messages: &mut [Value], mendings: &mut Mendings) {
    let (mut open, mut answered): (Vec<String>, HashSet<String>) = (Vec::new(), HashSet::new());
    for message in messages {
        if !is_result(message) {
            if calls(message).next().is_some() {
                open = calls(message).rev().map(str::to_owned).collect();
                answered.clear();
            }
            continue;
        }
        if let Some(id) = id(message) {
            answered.insert(id.to_owned());
            continue;
        }
        while let Some(call) = open.pop() {
            if !answered.contains(&call) {
                message["tool_call_id"] = json!(call);
                mendings.add(Mending::NoId);
                break;
            }
        }
    }
}

/// A result that no call asked for, which only the user can tell.
fn told_by_user(result: &Value) -> Value {
    let text = text_of(&result["content"]);
    let tell = |text: &str| Dialects::builtin().neutralise(&[NO_CALL, text].concat()).into_owned();
    match (text, result["content"].as_array()) {
        (None, Some(parts)) => {
            let mut told = vec![json!({"type": "text", "text": NO_CALL})];
            told.extend(parts.iter().map(|part| match part["text"].as_str() {
                Some(text) => json!({"type": "text", "text": Dialects::builtin().neutralise(text)}),
                None => part.clone(),
            }));
            json!({"role": "user", "content": told})
        }
        (text, _) => json!({"role": "user", "content": tell(&text.unwrap_or_default())}),
    }
}

fn is_result(message: &Value) -> bool {
    message["role"] == "tool"
}

fn is_record(message: &Value) -> bool {
    own::whole(message, responses::OWN).is_some()
}

/// The call that a result is for.
fn id(result: &Value) -> Option<&str> {
    result["tool_call_id"].as_str().filter(|id| !id.is_empty())
}

/// The ids of the calls of a message.
fn calls(message: &Value) -> impl DoubleEndedIterator<Item = &str> {
    let calls = message["tool_calls"].as_array().filter(|_| message["role"] == "assistant");
    calls.into_iter().flatten().filter_map(|call| call["id"].as_str())
}
