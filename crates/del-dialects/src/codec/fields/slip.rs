//! Slips of a model in a delimiter: what nearly follows a value was meant to follow it.

use super::Given;
use super::lookahead::Lookahead;
use crate::tool::declared;

/// So far behind a closer something is looked for that nearly follows a value, in bytes.
pub(super) const MAX_NEAR: usize = 48;

/// How many characters may be lost, added or changed in a delimiter that is still recognised as one that was meant.
const MAX_SLIP: usize = 3;

/// So much of a delimiter has to be there.
const MIN_NEARLY: usize = 5;

impl Lookahead<'_> {
    /// True where the text between these places begins nearly as what may follow a value does: as a delimiter, or with the
    /// name of an argument that is not given yet, and what stands behind names.
    pub(super) fn is_nearly_followed(&mut self, from: usize, to: usize) -> bool {
        let to = to.min(from + MAX_NEAR).min(self.text.len());
        let near = &self.text.as_bytes()[from.min(to)..to];
        self.work += near.len() as u64;
        let Given { form, marks, tool, .. } = *self.given;
        let close = |byte: u8| form.header_close.iter().any(|close| close.as_bytes().first() == Some(&byte));
        let names = |at: usize| {
            let name = |name: &str| near[..at].ends_with(name.as_bytes()) && !self.keys.contains(name);
            (near[at] == b'"' || close(near[at])) && tool.is_some_and(|tool| declared(tool).any(name))
        };
        let own = |mark: &&str| !form.noise.iter().any(|noise| mark.starts_with(noise.as_str()));
        let mut own = marks.next.automaton.spellings().filter(own);
        own.any(|mark| is_nearly(near, mark.trim().as_bytes())) || (1..near.len()).any(names)
    }
}

/// True when `text` begins with `mark` but for one place in it. Where all of the mark stands behind something else, that is
/// no slip.
fn is_nearly(text: &[u8], mark: &[u8]) -> bool {
    let same = text.iter().zip(mark).take_while(|(one, other)| one == other).count();
    let slip = |lost: usize, added: usize| {
        let (rest, behind) = (mark.get(same + lost..)?, text.get(same + added..)?);
        let (before, other) = (mark[..same + lost].last(), text[..same + added].last());
        let least = lost == 0 || added == 0 || before != other;
        Some(least && same + lost > 0 && same + rest.len() >= MIN_NEARLY && behind.starts_with(rest))
    };
    (0..=MAX_SLIP).any(|lost| (0..=MAX_SLIP).any(|added| slip(lost, added) == Some(true)))
}
