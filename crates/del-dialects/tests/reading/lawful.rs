//! The laws that the events of every text keep.

use del_dialects::Span;
use serde_json::value::RawValue;

use super::Merged;

/// What holds of the events of any text at all; `Err` says what does not.
pub fn lawful(text: &str, events: &[(Merged, Span)]) -> Result<(), String> {
    let len = text.len() as u64;
    let (mut at, mut next, mut open) = (0, 0, None::<(u32, String)>);
    for (event, span) in events {
        let fail = |what: &str| Err(format!("{what}: {event:?} at {span:?} of {len} bytes"));
        if span.start > span.end || span.end > len {
            return fail("a range outside the text");
        }
        if !matches!(event, Merged::Fault(_)) {
            if span.start < at {
                return fail("events out of order");
            }
            at = span.end;
        }
        let bytes = usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap();
        match event {
            Merged::Text(said) | Merged::Reasoning(said) => {
                if open.is_some() {
                    return fail("text inside a call");
                }
                // An answer that is the argument of a call stands for no bytes of its own.
                if said.is_empty() || !(bytes.is_empty() || text.get(bytes) == Some(said)) {
                    return fail("text that does not stand there");
                }
            }
            Merged::Start { call, name, .. } => {
                if open.is_some() || *call != next || name.is_empty() {
                    return fail("a call that cannot begin here");
                }
                (next, open) = (next + 1, Some((*call, String::new())));
            }
            Merged::Args { call, json } => match &mut open {
                Some((number, all)) if number == call => all.push_str(json),
                _ => return fail("arguments of no call"),
            },
            Merged::End { call, .. } => match open.take() {
                Some((number, all)) if number == *call => {
                    // Numbers of a model may be beyond any type, and keys may hold half a character.
                    let object: Result<&RawValue, _> = serde_json::from_str(&all);
                    match object {
                        Ok(object) if object.get().starts_with('{') => {}
                        Ok(_) => return fail(&format!("arguments that are no object: {all:?}")),
                        Err(error) => return fail(&format!("arguments {all:?}: {error}")),
                    }
                }
                _ => return fail("the end of no call"),
            },
            Merged::Fault(fault) => {
                if fault.call.is_some_and(|call| call >= next) {
                    return fail("a fault of a call that never began");
                }
                if fault.kind.ends_call()
                    && fault.call.is_some()
                    && fault.call == open.as_ref().map(|open| open.0)
                {
                    open = None;
                }
            }
        }
    }
    match open {
        Some((call, _)) => Err(format!("call {call} neither ends nor breaks")),
        None => Ok(()),
    }
}
