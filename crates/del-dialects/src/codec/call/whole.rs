//! A call object that is there as a whole and is JSON to the letter is read at once, as most are.

use std::ops::Range;

use super::{Member, member_of};
use crate::dialect::CallForm;
use crate::value::{Keys, exact, exact_text, white_space};

/// Where the parts of a call object stand, counted from its first byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WholeCall {
    pub(crate) name: Range<usize>,
    pub(crate) id: Option<Range<usize>>,
    pub(crate) args: Range<usize>,
    pub(crate) len: usize,
}

/// The call object that `text` begins with, at most `depth` deep, where nothing of it has to be mended or decided: first the
/// name and then an object of arguments, each once. Else how far it was read.
pub(crate) fn whole_call(
    form: &CallForm,
    text: &str,
    depth: usize,
    keys: &mut Keys,
) -> Result<WholeCall, usize> {
    let mut at = 0;
    read(form, text, depth, keys, &mut at).ok_or(at)
}

fn read(form: &CallForm, text: &str, depth: usize, keys: &mut Keys, at: &mut usize) -> Option<WholeCall> {
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
            let name = name.filter(|name| !name.is_empty())?;
            return Some(WholeCall { name, id, args: args?, len: *at });
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
