//! Heads: where name and id stand, such as `functions.{name}:{index}`.

use std::ops::Range;

use super::attributes;
use crate::dialect::{HeadForm, Slot};

impl HeadForm {
    /// How long this head may be beside what its slots for name and id hold, in bytes.
    pub(crate) fn frame(&self) -> usize {
        const MAX_DIGITS: usize = 20;
        let len = |part: &Slot| match part {
            Slot::Text(text) => text.len(),
            Slot::Index => MAX_DIGITS,
            _ => 0,
        };
        self.parts.iter().map(len).sum()
    }

    /// True when `id` is what this head would say for a call of `name`.
    pub(crate) fn says(&self, id: &str, name: &str) -> bool {
        let behind = self.parts.iter().try_fold(id, |rest, part| match part {
            Slot::Text(text) => rest.strip_prefix(text.as_str()),
            Slot::Name => rest.strip_prefix(name),
            Slot::Index => {
                let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                (behind.len() < rest.len()).then_some(behind)
            }
            _ => Some(rest),
        });
        behind == Some("")
    }

    /// The name in a head that was written as one word: `functions_get_weather_0`.
    pub(crate) fn worded<'h>(&self, head: &'h str) -> Option<&'h str> {
        let [Slot::Text(before), Slot::Name, Slot::Text(between), Slot::Index] = &self.parts[..] else {
            return None;
        };
        let word = |text: &str| text.replace(|c: char| !c.is_alphanumeric(), "_");
        let (name, number) = head.strip_prefix(word(before).as_str())?.rsplit_once(word(between).as_str())?;
        is_number(number).then_some(name)
    }

    /// True when `head` begins as this form does, and does not go on as it should: with the call's number.
    pub(crate) fn is_half(&self, head: &str) -> bool {
        let [Slot::Text(before), Slot::Name, Slot::Text(between), Slot::Index] = &self.parts[..] else {
            return false;
        };
        let behind = head.rsplit_once(between.as_str()).map(|(_, number)| number);
        head.starts_with(before.as_str()) && !behind.is_some_and(is_number)
    }

    /// Takes a head apart: where name and id stand in it. Text of the form that is missing in `head` is forgiven, and so
    /// is the name where nothing but the call's number is left.
    pub(crate) fn read(&self, head: &str) -> (Option<Range<usize>>, Option<Range<usize>>) {
        let plain = self.attributes.is_empty();
        let (mut name, mut id) = (None, (self.is_id && plain).then_some(0..head.len()));
        if self.is_id && head.bytes().all(|byte| byte.is_ascii_digit()) {
            return (None, Some(0..head.len()));
        }
        let mut take = |slot: &Slot, place: Option<Range<usize>>| match slot {
            Slot::Name => name = place,
            Slot::Id if !self.is_id => id = place,
            Slot::Number if !plain => id = place,
            _ => {}
        };
        if !plain {
            self.attributes.iter().for_each(|(name, slot)| take(slot, attributes::find(head, name)));
            return (name, id);
        }
        let mut at = 0;
        for (place, part) in self.parts.iter().enumerate() {
            let rest = &head[at..];
            match part {
                Slot::Text(text) => at += if rest.starts_with(text.as_str()) { text.len() } else { 0 },
                slot => {
                    let len = match self.parts.get(place + 1) {
                        Some(Slot::Text(text)) => rest.rfind(text.as_str()).unwrap_or(rest.len()),
                        _ => rest.len(),
                    };
                    take(slot, Some(at..at + len));
                    at += len;
                }
            }
        }
        (name, id)
    }

    /// What this head says of the call that is the answer's call number `place`.
    pub(crate) fn write(&self, id: Option<&str>, name: &str, place: usize, out: &mut String) {
        // Where the head is the id, an id of another form would confuse the model.
        if let Some(id) = id.filter(|id| self.is_id && self.says(id, name)) {
            out.push_str(id);
            return;
        }
        for part in &self.parts {
            match part {
                Slot::Text(text) => out.push_str(text),
                Slot::Name if !self.attributes.is_empty() => out.push_str(&attributes::written(name)),
                Slot::Name => out.push_str(name),
                Slot::Id => out.push_str(id.unwrap_or_default()),
                Slot::Index => out.push_str(&place.to_string()),
                Slot::Number => out.push_str(&numbered(id, place)),
                _ => {}
            }
        }
    }
}

/// The number of a call in the answer, counted from 1: its id, where that is one.
pub(crate) fn numbered(id: Option<&str>, place: usize) -> String {
    id.filter(|id| is_number(id)).map_or_else(|| (place + 1).to_string(), str::to_owned)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
