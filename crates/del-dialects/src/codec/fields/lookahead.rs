//! What stands behind a delimiter: bounded searches in a slice of text that begins there.
//!
//! They know nothing of how the text arrived, so cutting cannot show. Where the slice does not decide, more text does,
//! and it is asked anew with more of it.

use std::collections::HashSet;

use super::Given;
use super::delimiters::{Delimiter, Expected};
use super::header::MAX_HEADER;
use super::value::Field;
use super::xml::rest_of_tag;
use crate::event::End;
use crate::scan::{Anchored, Match, Scan};
use crate::value::white_space;

/// So far is looked for one delimiter behind another, in bytes.
pub(super) const AHEAD: usize = 4096;

/// A delimiter, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) delimiter: Delimiter,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The text from a delimiter on, and what is known of the value before it. Places count from the delimiter.
pub(super) struct Lookahead<'a> {
    pub(super) given: &'a Given<'a>,
    /// How the answer ended, if it did.
    pub(super) end: Option<End>,
    pub(super) field: &'a Field,
    /// Keys of the values that have begun.
    pub(super) keys: &'a HashSet<String>,
    /// A border was guessed before: what does not fit breaks the call.
    pub(super) guessed: bool,
    /// The value up to the delimiter, as far as it has not gone out.
    pub(super) before: &'a str,
    pub(super) text: &'a str,
    /// So many elements of the value's key are open, or fields that it quotes.
    pub(super) open: usize,
    /// Up to here the rest of a value was looked for in vain: no other search begins before it, which keeps all of them
    /// together linear.
    pub(super) tried: usize,
    /// The last search that ended in vain.
    pub(super) vain: Vain,
    /// Bytes that were looked at.
    pub(super) work: u64,
}

/// What is searched for ahead.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    /// What may end the value.
    #[default]
    Border,
    /// A closer of the value, or the opener of a field.
    Own,
}

/// A search that ended in vain: nothing that was sought begins from one place to the other. It is a watermark: with more
/// text the search goes on there.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Vain {
    sought: Sought,
    /// The delimiter behind which was searched, by its place in the answer; the others count from it.
    at: u64,
    from: usize,
    to: usize,
}

impl Vain {
    /// What is known of the search behind the delimiter at this place.
    pub(super) fn behind(self, at: u64) -> Self {
        if self.at == at { self } else { Self { at, ..Self::default() } }
    }
}

/// What stands behind white space.
pub(super) enum Follow {
    Found(Found),
    /// No delimiter.
    Nothing,
    /// The answer ends, or there is nothing but white space as far as is looked.
    Blank,
    More,
}

/// What delimiter of a field comes next, and where.
pub(super) enum Own {
    /// A closer of the value, with something behind it that can follow a value.
    Closer(usize),
    /// The opener of a field.
    Opener(usize),
    /// None up to here.
    None(usize),
    More,
}

/// What goes on with the key.
pub(super) enum Keyed {
    /// All that has to, in so many bytes.
    Whole(usize),
    /// The text ends in it.
    Half,
    Other,
}

impl<'a> Lookahead<'a> {
    /// True when more text may come that is still looked at from `from` on.
    pub(super) fn may_grow(&self, from: usize, limit: usize) -> bool {
        self.end.is_none() && self.text.len() < from + limit
    }

    /// The same where a cut answer proves nothing: what was cut off might have stood there.
    pub(super) fn may_have_more(&self, from: usize) -> bool {
        self.end != Some(End::End) && self.text.len() < from + AHEAD
    }

    /// What is looked at from `from` on.
    pub(super) fn window(&self, from: usize, limit: usize) -> &'a [u8] {
        &self.text.as_bytes()[..self.text.len().min(from + limit)]
    }

    pub(super) fn rest_is_blank(&mut self, from: usize) -> bool {
        let rest = &self.text.as_bytes()[from..];
        let blank = white_space(rest);
        self.work += blank as u64;
        blank == rest.len()
    }

    /// The next of what is `expected` behind `from` and before `to`; else how far nothing of it stands.
    pub(super) fn find(&mut self, expected: &Expected, from: usize, to: usize) -> Result<Found, usize> {
        let (mut scan, mut look, mut again) = (Scan::default(), from, 0);
        // A tag may end behind `to`.
        let bytes = &self.text.as_bytes()[..self.text.len().min(to.max(from))];
        let hit = expected.automaton.find(&mut scan, bytes, &mut look, &mut again);
        self.work += (look - from) as u64 + again;
        match hit {
            Some(hit) => Ok(Found { delimiter: expected.delimiter(hit), start: hit.start, end: hit.end }),
            None => Err(look - expected.automaton.pending(&scan)),
        }
    }

    /// The same for what ends values, in a search that goes on where the last one ended.
    pub(super) fn search(
        &mut self,
        (sought, expected): (Sought, &Expected),
        from: usize,
        to: usize,
    ) -> Result<Found, usize> {
        let known = (self.vain.sought, self.vain.from) == (sought, from);
        let start = if known { self.vain.to.max(from) } else { from };
        self.find(expected, start, to).inspect_err(|free| {
            self.vain = Vain { sought, from, to: *free, ..self.vain };
        })
    }

    /// Which of what is `expected` stands so many bytes behind `from`, where nothing before it is.
    pub(super) fn stands(
        &mut self,
        expected: &Expected,
        from: usize,
        behind: usize,
        limit: usize,
    ) -> Anchored {
        let (mut scan, mut look, mut again) = (Scan::default(), from + behind, 0);
        let followed = expected.automaton.follow(&mut scan, self.window(from, limit), &mut look, &mut again);
        self.work += (look - from) as u64 + again;
        followed
    }

    /// What stands behind the white space at `from`.
    pub(super) fn follow(&mut self, from: usize) -> Follow {
        let space = white_space(&self.window(from, AHEAD)[from..]);
        let following = match self.stands(&self.given.marks.next, from, space, AHEAD) {
            Anchored::Nothing => return Follow::Nothing,
            Anchored::Found(hit) => {
                self.given.following(self.text, hit, self.end.is_some()).map(|delimiter| (delimiter, hit))
            }
            Anchored::More => None,
        };
        match following {
            Some((delimiter, Match { start, end, .. })) => Follow::Found(Found { delimiter, start, end }),
            None if self.may_grow(from, AHEAD) => Follow::More,
            None => Follow::Blank,
        }
    }

    /// The value's own closer behind `from`, before any field.
    pub(super) fn own_closer(&mut self, mut from: usize) -> Own {
        let edge = from + AHEAD;
        let Some(own) = self.given.marks.own.as_ref().filter(|_| from >= self.tried) else {
            return Own::None(from);
        };
        let free = loop {
            let found = match self.search((Sought::Own, own), from, edge) {
                Ok(found) => found,
                Err(free) => break free,
            };
            let closes = found.delimiter != Delimiter::Field;
            from = match self.keyed(found.end, closes) {
                _ if closes && self.closes_another(found) => {
                    from = found.end;
                    continue;
                }
                Keyed::Whole(_) if !closes => return Own::Opener(found.start),
                Keyed::Whole(len) => found.end + len,
                Keyed::Half => break found.start,
                Keyed::Other => {
                    from = found.end;
                    continue;
                }
            };
            match self.follow(from) {
                Follow::More => return Own::More,
                // What follows the end of a line is no delimiter.
                Follow::Nothing if self.given.marks.line.is_none() => {}
                Follow::Found(Found { delimiter: Delimiter::Stray | Delimiter::Turn, .. }) => {}
                Follow::Blank | Follow::Found(_) | Follow::Nothing => return Own::Closer(found.start),
            }
        };
        if self.end != Some(End::End) && self.text.len() < edge {
            return Own::More;
        }
        self.tried = free;
        Own::None(free)
    }

    /// Whether the rest of a closer (or of an opener) that repeats the key of this value stands at `from`.
    pub(super) fn keyed(&self, from: usize, closes: bool) -> Keyed {
        let (form, key, rest) = (self.given.form, self.field.key.as_str(), &self.text[from..]);
        if !form.repeats_key() && !self.field.elements {
            return Keyed::Whole(0);
        }
        let Some(behind) = rest.strip_prefix(key) else {
            return if key.starts_with(rest) { Keyed::Half } else { Keyed::Other };
        };
        let tails = if closes { &form.value_close } else { &form.header_close };
        let mut half = false;
        for tail in tails.iter().map(|mark| mark.rsplit("{key}").next().unwrap_or(mark)) {
            if behind.starts_with(tail) {
                return Keyed::Whole(key.len() + tail.len());
            }
            half |= tail.starts_with(behind);
        }
        if half { Keyed::Half } else { Keyed::Other }
    }

    /// True for what closes a value in other quotes than those of this one, or a value without any.
    fn closes_another(&self, found: Found) -> bool {
        let mark = self.text[found.start..].trim_start();
        self.field.edge.is_some_and(|edge| !mark.starts_with(edge))
    }

    /// The end of an attribute as the end of its tag, if other attributes are all that stands between them.
    fn of_tag(&mut self, found: Found) -> Option<Found> {
        let (form, from) = (self.given.form, found.start + 1);
        let rest = &self.window(from, MAX_HEADER)[from..];
        let (tag, quote) = (form.tag().unwrap_or_default(), self.text.as_bytes()[found.start]);
        let read = rest_of_tag(rest, tag, quote, |name| form.has_attribute(name));
        self.work += read.looked as u64;
        match read.keyed {
            // What the tag holds is deleted, if that is what the model wrote.
            Keyed::Whole(len) => {
                let delimiter = if read.holds { Delimiter::Misspelt } else { Delimiter::Closer };
                Some(Found { delimiter, end: from + len, ..found })
            }
            Keyed::Half if self.may_grow(from, MAX_HEADER) => None,
            // The end of a later one of these attributes is followed by the same.
            Keyed::Half | Keyed::Other => {
                Some(Found { delimiter: Delimiter::Data, end: from + read.attributes, ..found })
            }
        }
    }

    /// The delimiter as what it is for a value of this key; none when that cannot be said yet.
    pub(super) fn of_key(&mut self, found: Found) -> Option<Found> {
        let form = self.given.form;
        let (from, closes, other) = match found.delimiter {
            Delimiter::Attribute | Delimiter::Closer | Delimiter::Misspelt if self.closes_another(found) => {
                return Some(Found { delimiter: Delimiter::Data, ..found });
            }
            Delimiter::KeyCloser => (found.end, true, Delimiter::Data),
            Delimiter::Attribute => return self.of_tag(found),
            Delimiter::Field if self.field.elements => (found.end, false, Delimiter::Field),
            // The value's own closer may be spelt as that of the call.
            Delimiter::Call(_) if form.repeats_key() => {
                let mark = self.text[found.start..found.end].trim_start();
                let behind = |close: &String| Some(mark.strip_prefix(close.split_once("{key}")?.0)?.len());
                let Some(behind) = form.value_close.iter().find_map(behind) else { return Some(found) };
                (found.end - behind, true, found.delimiter)
            }
            _ => return Some(found),
        };
        match self.keyed(from, closes) {
            Keyed::Whole(len) => {
                let delimiter = if closes { Delimiter::Closer } else { Delimiter::Element };
                Some(Found { delimiter, end: from + len, ..found })
            }
            Keyed::Half => None,
            // Where closers of a call and of its values begin alike, the name behind them tells which this is.
            Keyed::Other if found.delimiter == Delimiter::KeyCloser && self.given.is_named() => {
                match self.follow(found.start) {
                    Follow::More => None,
                    Follow::Found(call) if matches!(call.delimiter, Delimiter::Call(_)) => {
                        Some(Found { start: found.start, ..call })
                    }
                    _ => Some(Found { delimiter: other, ..found }),
                }
            }
            Keyed::Other => Some(Found { delimiter: other, ..found }),
        }
    }
}
