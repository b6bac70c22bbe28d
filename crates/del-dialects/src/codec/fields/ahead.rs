//! What looks like the end of a value and may be part of it: what stands further on tells.
//!
//! It is looked for within so many bytes, so that nothing is held for long. Behind a search for nothing no other one
//! begins before its end, which keeps all of them together linear.

use super::marks::Own;
use super::{FieldsProgress, FieldsReader, Next, On, Phase, Stop};
use crate::scan::Anchored;
use crate::turn::End;
use crate::value::white_space;

/// So far is looked ahead, in bytes.
pub(super) const AHEAD: usize = 4096;

impl FieldsReader {
    /// Behind a closer of the call that stands inside a value, or an end of the turn behind it: the value and the call
    /// end there, unless the value's own closer is still to come, before any field.
    pub(super) fn ahead(&mut self, on: &mut On<'_, '_>, at: (usize, usize, Next)) -> Stop {
        let of_key = self.own.take();
        let stop = match of_key.as_ref().or(on.given.marks.own.as_ref()) {
            Some(own) => self.find_own(on, own, at),
            None => Some(self.close_call(on, at)),
        };
        self.own = of_key;
        stop
    }

    fn find_own(&mut self, on: &mut On<'_, '_>, own: &Own, at: (usize, usize, Next)) -> Stop {
        let (end, behind, then) = at;
        if self.base + ((on.kept + behind) as u64) < self.doubted {
            return Some(self.close_call(on, at));
        }
        let edge = on.kept + behind + AHEAD;
        let window = &on.bytes[..on.bytes.len().min(edge)];
        let Some(hit) = own.marks.find(&mut self.scan, window, &mut on.look, &mut on.again) else {
            // A cut proves nothing.
            if on.given.end != Some(End::End) && window.len() < edge {
                return Some(FieldsProgress::More);
            }
            self.doubted = self.base + on.look as u64;
            return Some(self.close_call(on, at));
        };
        if !own.is_closer(hit) {
            return Some(self.close_call(on, at));
        }
        on.rewind(hit.end);
        let (closer, from) = (hit.start - on.kept, hit.end - on.kept);
        self.enter(Phase::OwnCloser { end, behind, then, closer, from });
        None
    }

    /// Behind a closer that stands inside a value and is followed by something else: what comes next tells.
    pub(super) fn unless_it_goes_on(
        &mut self,
        on: &mut On<'_, '_>,
        (end, behind): (usize, usize),
        step: usize,
    ) -> Stop {
        on.rewind(on.kept + behind);
        self.enter(Phase::Unclosed { end, behind, step });
        None
    }

    /// Behind such a closer: the value goes on if a mark of a field follows, and the answer does not end before. Else the
    /// closer of a call ends the value; that of a group stands too far away from it, and breaks the call.
    pub(super) fn unclosed(
        &mut self,
        on: &mut On<'_, '_>,
        (end, behind): (usize, usize),
        step: usize,
    ) -> Stop {
        let marks = on.given.marks;
        let Some(own) = &marks.own else { return self.resume(on, end, behind) };
        if self.base + ((on.kept + behind) as u64) < self.doubted {
            return self.resume(on, end, behind);
        }
        let group = step >= marks.group;
        let edge = on.kept + behind + AHEAD;
        let window = &on.bytes[..on.bytes.len().min(edge)];
        match own.marks.find(&mut self.scan, window, &mut on.look, &mut on.again) {
            Some(hit) if !group || own.is_closer(hit) => {
                self.inside = hit.start - on.kept;
                self.resume(on, end, behind)
            }
            None if window.len() == edge => {
                self.doubted = self.base + on.look as u64;
                self.resume(on, end, behind)
            }
            None if on.given.end != Some(End::End) => Some(FieldsProgress::More),
            _ if group => {
                on.rewind(on.kept + end);
                Some(FieldsProgress::Broken)
            }
            _ => Some(self.close_call(on, (end, behind, Next::Closer(step)))),
        }
    }

    /// Behind what may be the value's own closer: it is, if something follows that can follow a value.
    pub(super) fn own_closer(
        &mut self,
        on: &mut On<'_, '_>,
        (end, behind, then): (usize, usize, Next),
        closer: usize,
        from: usize,
    ) -> Stop {
        let marks = on.given.marks;
        if self.scan.is_fresh() {
            on.look += white_space(&on.bytes[on.look..]);
        }
        let follows = if on.look == on.bytes.len() {
            if !on.last() {
                return Some(FieldsProgress::More);
            }
            true
        } else {
            match marks.next.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
                Anchored::More => return None,
                Anchored::Found(hit) => {
                    !matches!(marks.next_kinds[hit.pattern as usize], Next::Stray | Next::Turn)
                }
                Anchored::Nothing => false,
            }
        };
        if follows {
            self.inside = closer;
            return self.resume(on, end, behind);
        }
        on.rewind(on.kept + from);
        self.enter(Phase::Ahead { end, behind, then });
        None
    }

    /// True when the value so far is JSON that ends inside a string, and it may be worth looking for the rest of it.
    pub(super) fn stops_in_a_string(&mut self, on: &mut On<'_, '_>, (end, behind): (usize, usize)) -> bool {
        if self.sure
            || self.streams
            || on.given.form.xml
            || self.elements.is_some()
            || self.base + ((on.kept + behind) as u64) < self.doubted
        {
            return false;
        }
        let value = self.begun(on, on.kept + end);
        if !value.starts_with(['{', '[']) {
            return false;
        }
        self.outline = Outline::default();
        on.again += self.outline.pass(value.as_bytes()) as u64;
        self.outline.string.is_some()
    }

    /// From a closer on that stands in a string of JSON: is there one behind which the value is whole?
    pub(super) fn whole_json(&mut self, on: &mut On<'_, '_>, (end, behind): (usize, usize)) -> Stop {
        let Some(own) = &on.given.marks.own else { return Some(FieldsProgress::Broken) };
        let edge = on.kept + behind + AHEAD;
        let window = &on.bytes[..on.bytes.len().min(edge)];
        if !self.outline.whole {
            on.look += self.outline.pass(&window[on.look..]);
        }
        let mut closer = Anchored::More;
        if self.outline.whole {
            if self.scan.is_fresh() {
                on.look += white_space(&window[on.look..]);
            }
            closer = own.marks.follow(&mut self.scan, window, &mut on.look, &mut on.again);
        } else if self.outline.broken {
            closer = Anchored::Nothing;
        }
        match closer {
            Anchored::More if on.given.end != Some(End::End) && window.len() < edge => {
                return Some(FieldsProgress::More);
            }
            Anchored::Found(hit) if own.is_closer(hit) && is_json(on, hit.start) => {
                self.sure = true;
                on.rewind(hit.end);
                self.enter(Phase::After { end: hit.start - on.kept, behind: hit.end - on.kept });
            }
            _ => {
                self.sure = true;
                self.doubted = self.base + on.look as u64;
                on.rewind(on.kept + behind);
                self.enter(Phase::After { end, behind });
            }
        }
        None
    }
}

/// True when the value up to `end` is JSON.
fn is_json(on: &On<'_, '_>, end: usize) -> bool {
    let value = &on.given.text[on.kept..end];
    serde_json::from_str::<serde::de::IgnoredAny>(value.trim()).is_ok()
}

/// Where JSON is, as far as its quotes and brackets tell.
#[derive(Debug, Default, Clone)]
pub(super) struct Outline {
    depth: usize,
    /// The quote of the string that is open: JSON's, or Python's.
    string: Option<u8>,
    escaped: bool,
    /// The outermost bracket is closed.
    whole: bool,
    /// A bracket closes that none opened.
    broken: bool,
}

impl Outline {
    /// How many of the bytes it takes until it is whole or broken: all, if it is neither.
    fn pass(&mut self, bytes: &[u8]) -> usize {
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
