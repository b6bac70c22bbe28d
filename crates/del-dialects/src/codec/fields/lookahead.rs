//! What stands behind a delimiter: bounded searches in a slice of text that begins there.
//!
//! They know nothing of how the text arrived, so cutting cannot show. A search that came to nothing leaves a watermark:
//! no other one begins before it, which keeps all of them together linear.

use std::collections::HashSet;

use super::Given;
use super::marks::{Border, Delimiters, Next};
use super::value::Field;
use crate::scan::{Anchored, Match, Scan};
use crate::turn::End;
use crate::value::white_space;

/// So far is looked for one delimiter behind another, in bytes.
pub(super) const AHEAD: usize = 4096;

/// A delimiter inside a value, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) border: Border,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A search that found nothing between two places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Searched {
    /// It was for delimiters of a field; else for whatever may end a value.
    own: bool,
    from: usize,
    to: usize,
}

/// The text from a delimiter on, and what is known of the value before it. Places count from the delimiter.
pub(super) struct Lookahead<'a> {
    pub(super) given: &'a Given<'a>,
    pub(super) field: &'a Field,
    /// Keys of the values that have begun.
    pub(super) keys: &'a HashSet<String>,
    /// A border was guessed before: what does not fit breaks the call.
    pub(super) guessed: bool,
    /// The value up to the delimiter, as far as it has not gone out.
    pub(super) before: &'a str,
    pub(super) text: &'a str,
    /// So many elements of the value's key are open.
    pub(super) open: usize,
    /// Up to here no delimiter of a field stands, as far as one was looked for.
    pub(super) watermark: usize,
    /// The search that ran out of text the last time.
    pub(super) searched: Searched,
    /// Bytes that were looked at.
    pub(super) work: u64,
}

/// What stands behind white space.
#[derive(Debug, Clone, Copy)]
pub(super) enum Follow {
    Mark(Next, Match),
    /// No delimiter.
    Nothing,
    /// The answer ends, or there is nothing but white space as far as is looked.
    Blank,
    More,
}

/// What delimiter of a field comes next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Own {
    Closer(Match),
    Opener(Match),
    None,
    More,
}

/// What goes on with the key.
enum Keyed {
    /// All that has to, in so many bytes.
    Whole(usize),
    /// The text ends in it.
    Half,
    Other,
}

impl<'a> Lookahead<'a> {
    /// True when more text may come that is still looked at from `from` on.
    pub(super) fn may_grow(&self, from: usize, limit: usize) -> bool {
        self.given.end.is_none() && self.text.len() < from + limit
    }

    /// The same where a cut answer proves nothing: what was cut off might have stood there.
    pub(super) fn may_have_more(&self, from: usize) -> bool {
        self.given.end != Some(End::End) && self.text.len() < from + AHEAD
    }

    /// What is looked at from `from` on.
    pub(super) fn window(&self, from: usize, limit: usize) -> &'a [u8] {
        &self.text.as_bytes()[..self.text.len().min(from + limit)]
    }

    /// The next of `delimiters` behind `from`, and how far nothing of one stands.
    pub(super) fn find<K: Copy>(
        &mut self,
        delimiters: &Delimiters<K>,
        from: usize,
        to: usize,
    ) -> (Option<Match>, usize) {
        let (mut scan, mut look, mut again) = (Scan::default(), from, 0);
        let bytes = &self.text.as_bytes()[..self.text.len().min(to)];
        let hit = delimiters.automaton.find(&mut scan, bytes, &mut look, &mut again);
        self.work += (look - from) as u64 + again;
        (hit, hit.map_or(look - delimiters.automaton.pending(&scan), |hit| hit.start))
    }

    /// What may end this value.
    pub(super) fn borders(&self) -> &'a Delimiters<Border> {
        let marks = self.given.marks;
        if self.field.elements { &marks.nested } else { &marks.value }
    }

    /// Where a search from `from` on has something new to look at.
    fn unsearched(&self, own: bool, from: usize) -> usize {
        let Searched { own: known, from: start, to } = self.searched;
        if (own, from) == (known, start) { from.max(to) } else { from }
    }

    /// What may end this value next, behind `from`; else how far nothing of it stands.
    pub(super) fn border(&mut self, from: usize) -> Result<Found, usize> {
        let borders = self.borders();
        match self.find(borders, self.unsearched(false, from), AHEAD) {
            (Some(hit), _) => Ok(Found { border: borders.kind(hit), start: hit.start, end: hit.end }),
            (None, to) => {
                self.searched = Searched { own: false, from, to };
                Err(to)
            }
        }
    }

    /// What stands behind the white space at `from`.
    pub(super) fn follow(&mut self, from: usize) -> Follow {
        let next = &self.given.marks.next;
        let bytes = self.window(from, AHEAD);
        let mut look = from + white_space(&bytes[from..]);
        let (mut scan, mut again) = (Scan::default(), 0);
        let followed = next.automaton.follow(&mut scan, bytes, &mut look, &mut again);
        self.work += (look - from) as u64 + again;
        match followed {
            Anchored::Found(hit) => match self.given.following(self.text, hit) {
                Some(next) => Follow::Mark(next, hit),
                None if self.may_grow(from, AHEAD) => Follow::More,
                None => Follow::Blank,
            },
            Anchored::Nothing => Follow::Nothing,
            Anchored::More if self.may_grow(from, AHEAD) => Follow::More,
            Anchored::More => Follow::Blank,
        }
    }

    /// The next closer of this value or opener of a field behind `from`, up to `edge`.
    pub(super) fn own(&mut self, mut from: usize, edge: usize) -> Own {
        let (form, marks) = (self.given.form, self.given.marks);
        let Some(own) = &marks.own else { return Own::None };
        let first = from;
        from = self.unsearched(true, from);
        loop {
            let (hit, free) = self.find(own, from, edge);
            let Some(mut hit) = hit else {
                self.searched = Searched { own: true, from: first, to: free };
                break;
            };
            let closes = own.kind(hit);
            // The line feed before it is part of the markup.
            let line = form.framed && hit.start > first && self.text[..hit.start].ends_with('\n');
            hit.start -= usize::from(line);
            if form.repeats_key() {
                match self.keyed(hit.end, closes) {
                    Keyed::Whole(len) => hit.end += len,
                    Keyed::Half => break,
                    Keyed::Other => {
                        from = hit.end;
                        continue;
                    }
                }
            }
            return if closes { Own::Closer(hit) } else { Own::Opener(hit) };
        }
        if self.given.end != Some(End::End) && self.text.len() < edge { Own::More } else { Own::None }
    }

    /// Whether the rest of a closer (or of an opener) that repeats the key of this value stands at `from`.
    fn keyed(&self, from: usize, closes: bool) -> Keyed {
        let (form, key, rest) = (self.given.form, self.field.key.as_str(), &self.text[from..]);
        let Some(behind) = rest.strip_prefix(key) else {
            return if key.starts_with(rest) { Keyed::Half } else { Keyed::Other };
        };
        let tails = if closes { &form.value_close } else { &form.header_close };
        let tails = tails.iter().map(|mark| mark.rsplit("{key}").next().unwrap_or(mark));
        let mut half = false;
        for tail in tails {
            if behind.starts_with(tail) {
                return Keyed::Whole(key.len() + tail.len());
            }
            half |= tail.starts_with(behind);
        }
        if half { Keyed::Half } else { Keyed::Other }
    }

    /// A closer of another key, which may begin as the opener of a field does.
    fn of_other_key(&self, found: Found) -> Found {
        let mark = &self.text[found.start..found.end];
        let opens =
            |open: &&String| (self.field.elements || open.len() > 2) && mark.starts_with(open.as_str());
        match self.given.form.open.iter().find(opens) {
            Some(open) => Found { border: Border::Field, end: found.start + open.len(), ..found },
            None => Found { border: Border::Data, ..found },
        }
    }

    /// The delimiter as what it is for a value of this key; none when that cannot be said yet.
    pub(super) fn of_key(&self, found: Found) -> Option<Found> {
        let form = self.given.form;
        let (from, closes) = match found.border {
            Border::Head => (found.end, true),
            Border::Field if self.field.elements => (found.end, false),
            // The value's own closer may be spelt as that of the call.
            Border::Call(_) if form.repeats_key() => {
                let mark = self.text[found.start..found.end].trim_start();
                let behind = |close: &String| Some(mark.strip_prefix(close.split_once("{key}")?.0)?.len());
                let Some(behind) = form.value_close.iter().find_map(behind) else { return Some(found) };
                (found.end - behind, true)
            }
            _ => return Some(found),
        };
        let whole = if closes { Border::Closer } else { Border::Element };
        match self.keyed(from, closes) {
            Keyed::Whole(len) => Some(Found { border: whole, end: from + len, ..found }),
            Keyed::Half => None,
            Keyed::Other if found.border == Border::Head => Some(self.of_other_key(found)),
            Keyed::Other => Some(found),
        }
    }
}

/// Where JSON is, as far as its quotes and brackets tell.
#[derive(Debug, Default)]
pub(super) struct Outline {
    depth: usize,
    /// The quote of the string that is open: JSON's, or Python's.
    pub(super) string: Option<u8>,
    escaped: bool,
    /// The outermost bracket is closed.
    pub(super) whole: bool,
    /// A bracket closes that none opened.
    pub(super) broken: bool,
}

impl Outline {
    /// How many of the bytes it takes until it is whole or broken: all, if it is neither.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            if let Some(quote) = self.string {
                self.string = (byte != quote || self.escaped).then_some(quote);
                self.escaped = byte == b'\\' && !self.escaped;
                continue;
            }
            match byte {
                b'"' | b'\'' => self.string = Some(byte),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth <= 1 => {
                    self.whole = self.depth == 1;
                    self.broken = !self.whole;
                    return at + 1;
                }
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        bytes.len()
    }
}
