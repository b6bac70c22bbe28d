//! Slips of a model in a delimiter: what nearly follows a value was meant to follow it.

use super::Given;
use super::border::MAX_WORD;
use super::header::MAX_HEADER;
use super::lookahead::Lookahead;
use super::value::MAX_LAST;
use crate::dialect::KeyKind;
use crate::scan::{find, is_word};
use crate::tool::declared;

/// So far behind a closer something is looked for that nearly follows a value, in bytes.
pub(super) const MAX_NEAR: usize = 48;

/// So many signs may stand between a key and what ends its header.
const MAX_SIGNS: usize = 8;

/// How many characters may be lost, added or changed in a delimiter that is still recognised as one that was meant.
const MAX_SLIP: usize = 3;

/// So much of a delimiter has to be there.
const MIN_NEARLY: usize = 5;

impl<'a> Lookahead<'a> {
    /// The names of the arguments that are not given yet.
    fn missing(&self) -> impl Iterator<Item = &'a str> + use<'_, 'a> {
        let names = self.given.tool.into_iter().flat_map(declared);
        names.filter(|name| !self.keys.contains(*name))
    }

    /// True behind the name of an argument that is not given, and signs. So much of the value is remembered.
    pub(super) fn is_behind_a_key(&self) -> bool {
        let sign = |c: &char| !c.is_alphanumeric() && *c != '_';
        let signs: usize =
            self.before.chars().rev().take(MAX_SIGNS).take_while(sign).map(char::len_utf8).sum();
        let before = &self.before[..self.before.len() - signs];
        self.missing().any(|name| name.len() <= MAX_LAST / 2 && before.ends_with(name))
    }

    /// Whether the name of an argument that is not given stands at `from`, behind what is left of an opener; none where more
    /// text decides.
    pub(super) fn is_before_a_key(&mut self, from: usize) -> Option<bool> {
        let mut rest = &self.text[from..];
        if let KeyKind::Attribute(name) = &self.given.form.key {
            let lead = format!(" {name}=");
            match rest.strip_prefix(lead.as_str()) {
                Some(behind) => rest = behind,
                None if lead.starts_with(rest) && self.end.is_none() => return None,
                None => return Some(false),
            }
        }
        let rest = rest.trim_start_matches(' ').trim_start_matches(['"', '\'']);
        let word = rest.bytes().take(MAX_WORD).take_while(|byte| is_word(*byte)).count();
        self.work += word as u64;
        match rest.as_bytes().get(word) {
            None if word < MAX_WORD && self.end.is_none() => None,
            Some(_) if self.missing().any(|name| name == &rest[..word]) => Some(true),
            _ => Some(false),
        }
    }

    /// True for a line that begins with the name of an argument which is not given, and something else than a word behind it.
    pub(super) fn begins_with_key(&self, from: usize) -> bool {
        let line = &self.text[from..];
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
        self.missing().filter_map(|name| line.strip_prefix(name)).any(ends)
    }

    /// True where the line at `from` begins with a key that has its value, and its colon.
    pub(super) fn repeats_a_key(&self, from: usize) -> bool {
        let window = &self.window(from, MAX_HEADER)[from..];
        let pair = self.given.marks.line.as_ref().and_then(|line| find(window, line.pair.as_bytes()));
        pair.is_some_and(|end| self.keys.contains(&self.text[from..from + end]))
    }

    /// True where the text between these places begins nearly as what may follow a value does: as a delimiter, or with the
    /// name of an argument that is not given yet, and what stands behind names.
    pub(super) fn is_nearly_followed(&mut self, from: usize, to: usize) -> bool {
        let to = to.min(from + MAX_NEAR).min(self.text.len());
        let near = &self.text.as_bytes()[from.min(to)..to];
        self.work += near.len() as u64;
        let Given { form, marks, .. } = *self.given;
        let close = |byte: u8| form.header_close.iter().any(|close| close.as_bytes().first() == Some(&byte));
        let names = |at: usize| {
            (near[at] == b'"' || close(near[at]))
                && self.missing().any(|name| near[..at].ends_with(name.as_bytes()))
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
