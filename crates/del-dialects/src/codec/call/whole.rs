//! Arguments, and call objects, that are there as a whole and are JSON to the letter are read at once, as most are.

use std::ops::Range;

use super::member::{Member, member_of};
use crate::dialect::CallForm;
use crate::value::{Keys, exact, exact_text, white_space};

/// Whole arguments, perhaps in a call object. Offsets count from its first byte.
#[derive(Debug, Clone)]
pub(crate) struct Whole {
    name: Range<usize>,
    pub(crate) id: Option<String>,
    /// The id stands behind the arguments.
    late_id: bool,
    args: Range<usize>,
    len: usize,
}

impl Whole {
    /// The arguments that `text` begins with, at most `depth` deep; else how far they were read.
    pub(crate) fn arguments(text: &str, depth: usize, keys: &mut Keys) -> Result<Self, usize> {
        let len = exact(text.as_bytes(), depth, keys)?;
        Ok(Self { name: 0..0, id: None, late_id: false, args: 0..len, len })
    }

    /// The call object that `text` begins with, at most `depth` deep, where nothing of it has to be mended or decided: first
    /// the name and then an object of arguments, each once. Else how far it was read.
    pub(crate) fn call(form: &CallForm, text: &str, depth: usize, keys: &mut Keys) -> Result<Self, usize> {
        let mut at = 0;
        read(form, text, depth, keys, &mut at).ok_or(at)
    }

    /// The name, where `object` begins with the call object.
    pub(crate) fn name<'t>(&self, object: &'t str) -> &'t str {
        &object[self.name.clone()]
    }

    /// The id, where it is known before the arguments.
    pub(crate) fn early_id(&self) -> Option<&str> {
        self.id.as_deref().filter(|_| !self.late_id)
    }

    /// What stands before the arguments, in bytes.
    pub(crate) fn before(&self) -> usize {
        self.args.start
    }

    /// The arguments and all of the object behind what stands before them, in bytes.
    pub(crate) fn behind(&self) -> (usize, usize) {
        (self.args.len(), self.len - self.args.start)
    }
}

fn read(form: &CallForm, text: &str, depth: usize, keys: &mut Keys, at: &mut usize) -> Option<Whole> {
    let bytes = text.as_bytes();
    let (mut name, mut id, mut args) = (None, None, None);
    let mut expected = b'{';
    loop {
        pass(bytes, at, expected)?;
        let key = take(*at, exact_text(&bytes[*at..])?, at);
        *at += white_space(&bytes[*at..]);
        pass(bytes, at, b':')?;
        let member = member_of(&text[key], form, name.is_some());
        match member {
            Member::Args if name.is_some() && args.is_none() && bytes.get(*at) == Some(&b'{') => {
                let object = exact(&bytes[*at..], depth.checked_sub(1)?, keys);
                let (Ok(len) | Err(len)) = object;
                args = object.is_ok().then_some(*at..*at + len);
                *at += len;
                args.as_ref()?;
            }
            Member::Name if name.is_none() => name = Some(take(*at, exact_text(&bytes[*at..])?, at)),
            Member::Id if id.is_none() => id = Some(take(*at, exact_text(&bytes[*at..])?, at)),
            _ => return None,
        }
        *at += white_space(&bytes[*at..]);
        if bytes.get(*at) == Some(&b'}') {
            *at += 1;
            let (name, args) = (name.filter(|name| !name.is_empty())?, args?);
            let late_id = id.as_ref().is_some_and(|id| id.start > args.start);
            return Some(Whole { name, id: id.map(|id| text[id].to_owned()), late_id, args, len: *at });
        }
        expected = b',';
    }
}

/// Passes this byte and the white space behind it.
fn pass(bytes: &[u8], at: &mut usize, byte: u8) -> Option<()> {
    (bytes.get(*at) == Some(&byte)).then(|| *at += 1)?;
    *at += white_space(&bytes[*at..]);
    Some(())
}

/// What stands between the quotes of the text of so many bytes.
fn take(from: usize, len: usize, at: &mut usize) -> Range<usize> {
    *at += len;
    from + 1..from + len - 1
}
