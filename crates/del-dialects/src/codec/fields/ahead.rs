//! What looks like the end of a value and may be part of it: what stands further on tells.
//!
//! It is looked for within so many bytes, so that nothing is held for long. Behind a search for nothing no other one
//! begins before its end, which keeps all of them together linear.

use super::marks::{FieldMarks, Own};
use super::{FieldsReader, Next, Phase, rewind};
use crate::codec::json::white_space;
use crate::dialect::FieldForm;
use crate::parse::End;
use crate::parse::automaton::Anchored;

/// So far is looked ahead, in bytes.
pub(super) const AHEAD: usize = 4096;

/// What was found.
pub(super) enum Found {
    More,
    /// It was the end, as it seemed.
    End,
    /// Reading goes on in the phase that was entered.
    On,
}

impl FieldsReader {
    /// Behind a closer of the call that stands inside a value, or an end of the turn behind it: is the value's own one
    /// still to come, before any field?
    pub(super) fn own_closer(
        &mut self,
        own: &Own,
        (end, behind, then): (usize, usize, Next),
        (bytes, ended): (&[u8], Option<End>),
        look: &mut usize,
        kept: usize,
        work: &mut u64,
    ) -> Found {
        if self.base + ((kept + behind) as u64) < self.doubted {
            return Found::End;
        }
        let edge = kept + behind + AHEAD;
        let window = &bytes[..bytes.len().min(edge)];
        let Some(hit) = own.marks.find(&mut self.scan, window, look, work) else {
            // A cut proves nothing.
            let over = ended == Some(End::End) || window.len() == edge;
            if over {
                self.doubted = self.base + *look as u64;
            }
            return if over { Found::End } else { Found::More };
        };
        if !own.is_closer(hit) {
            return Found::End;
        }
        rewind(look, hit.end, work);
        self.enter(Phase::OwnCloser { end, behind, then, closer: hit.start - kept, from: hit.end - kept });
        Found::On
    }

    /// Behind what may be the value's own closer: it is, if something follows that can follow a value.
    pub(super) fn is_own_closer(
        &mut self,
        marks: &FieldMarks,
        ((end, behind, then), (closer, from)): ((usize, usize, Next), (usize, usize)),
        (bytes, last): (&[u8], bool),
        look: &mut usize,
        kept: usize,
        work: &mut u64,
    ) -> Found {
        if self.scan.is_fresh() {
            *look += white_space(&bytes[*look..]);
        }
        let follows = if *look == bytes.len() {
            if !last {
                return Found::More;
            }
            true
        } else {
            match marks.next.follow(&mut self.scan, bytes, look, work) {
                Anchored::More => return Found::On,
                Anchored::Found(hit) => {
                    !matches!(marks.next_kinds[hit.pattern as usize], Next::Stray | Next::Turn)
                }
                Anchored::Nothing => false,
            }
        };
        if follows {
            self.inside = closer;
            self.resume(end, behind, kept, look, work);
        } else {
            rewind(look, kept + from, work);
            self.enter(Phase::Ahead { end, behind, then });
        }
        Found::On
    }

    /// True when the value so far is JSON that ends inside a string, and it may be worth looking for the rest of it.
    pub(super) fn stops_in_a_string(
        &mut self,
        form: &FieldForm,
        value: &str,
        behind: usize,
        work: &mut u64,
    ) -> bool {
        if self.sure
            || self.streams
            || form.xml
            || self.elements.is_some()
            || self.base + (behind as u64) < self.doubted
            || !value.trim_start().starts_with(['{', '['])
        {
            return false;
        }
        *work += value.len() as u64;
        self.outline = Outline::default();
        self.outline.pass(value.as_bytes());
        self.outline.string.is_some()
    }

    /// Behind a closer that stands in a string of JSON: is there one behind which the value is whole?
    pub(super) fn whole_json(
        &mut self,
        own: &Own,
        (end, behind): (usize, usize),
        (text, ended): (&str, Option<End>),
        look: &mut usize,
        kept: usize,
        work: &mut u64,
    ) -> Found {
        let edge = kept + behind + AHEAD;
        let bytes = text.as_bytes();
        let window = &bytes[..bytes.len().min(edge)];
        let failed = match own.marks.find(&mut self.scan, window, look, work) {
            Some(hit) if own.is_closer(hit) => {
                let from = kept + self.outline.passed;
                *work += (hit.start - from) as u64;
                self.outline.pass(&bytes[from..hit.start]);
                rewind(look, hit.end, work);
                if self.outline.whole {
                    let value = &text[kept..hit.start];
                    if serde_json::from_str::<serde::de::IgnoredAny>(value.trim()).is_ok() {
                        self.sure = true;
                        self.enter(Phase::After { end: hit.start - kept, behind: hit.end - kept });
                        return Found::On;
                    }
                }
                self.outline.whole || self.outline.broken
            }
            Some(hit) => {
                rewind(look, hit.end, work);
                false
            }
            None if ended == Some(End::End) || window.len() == edge => true,
            None => return Found::More,
        };
        if failed {
            self.sure = true;
            self.doubted = self.base + *look as u64;
            rewind(look, kept + behind, work);
            self.enter(Phase::After { end, behind });
        } else {
            self.enter(Phase::Json { end, behind });
        }
        Found::On
    }
}

/// Where JSON is, as far as its quotes and brackets tell.
#[derive(Debug, Default)]
pub(super) struct Outline {
    passed: usize,
    depth: usize,
    /// The quote of the string that is open: JSON's, or Python's.
    string: Option<u8>,
    escaped: bool,
    whole: bool,
    /// Something follows that cannot.
    broken: bool,
}

impl Outline {
    fn pass(&mut self, bytes: &[u8]) {
        self.passed += bytes.len();
        for &byte in bytes {
            if let Some(quote) = self.string {
                self.string = (byte != quote || self.escaped).then_some(quote);
                self.escaped = byte == b'\\' && !self.escaped;
                continue;
            }
            self.broken |= self.whole && !byte.is_ascii_whitespace();
            match byte {
                b'"' | b'\'' => self.string = Some(byte),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.broken |= self.depth == 0;
                    self.depth = self.depth.saturating_sub(1);
                    self.whole = self.depth == 0;
                }
                _ => {}
            }
        }
        self.whole &= !self.broken;
    }
}
