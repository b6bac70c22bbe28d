//! Ids of calls as clients of Anthropic's API take them: of letters, digits, `_` and `-`. Others are spelt so that their
//! signs are known again, and the model sees the ids that it wrote.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Value, json};

/// What ids begin with that are spelt.
const SPELT: &str = "own-";

/// The id for the client: text and numbers of other signs take turns, with `-` between them.
pub(super) fn spell(id: &str) -> Cow<'_, str> {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    if !id.starts_with(SPELT) && id.chars().all(|sign| plain(sign) || sign == '-') {
        return Cow::Borrowed(id);
    }
    let mut spelt = SPELT.to_owned();
    for sign in id.chars() {
        if plain(sign) {
            spelt.push(sign);
        } else {
            // A text takes every write.
            let _ = write!(spelt, "-{:x}-", u32::from(sign));
        }
    }
    Cow::Owned(spelt)
}

/// The id of a call that a client names, as the model has it.
pub(super) fn of(given: &Value) -> Value {
    given.as_str().map_or_else(|| given.clone(), |given| json!(read(given)))
}

/// The id that is spelt so.
fn read(id: &str) -> Cow<'_, str> {
    let Some(spelt) = id.strip_prefix(SPELT) else { return Cow::Borrowed(id) };
    let mut own = String::with_capacity(spelt.len());
    for (place, part) in spelt.split('-').enumerate() {
        if place % 2 == 0 {
            own.push_str(part);
        } else {
            let sign = u32::from_str_radix(part, 16).ok().and_then(char::from_u32);
            let Some(sign) = sign else { return Cow::Borrowed(id) };
            own.push(sign);
        }
    }
    Cow::Owned(own)
}

#[cfg(test)]
mod tests {
    use super::{read, spell};

    #[test]
    fn ids_come_back_as_they_were() {
        for (id, spelt) in [
            ("toolu_01A-b", "toolu_01A-b"),
            ("functions.Read:0", "own-functions-2e-Read-3a-0"),
            ("::", "own--3a--3a-"),
            ("own-a", "own-own-2d-a"),
            ("Wetter_é", "own-Wetter_-e9-"),
        ] {
            assert_eq!(spell(id), spelt);
            assert_eq!(read(spelt), id);
        }
        // Some other id.
        assert_eq!(read("own-a-zz-b"), "own-a-zz-b");
    }
}
