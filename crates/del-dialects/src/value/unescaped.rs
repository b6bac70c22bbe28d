//! Texts in quotes of the syntax's own, in which nothing is escaped: what follows a call may stand in such a text, or
//! its closing quote may be missing.
//!
//! The text is data with all that stands in it, calls in their own quotes included, if a quote closes it further on. If
//! none does, its call is broken, and the one inside it is meant.

use super::on::{AHEAD, On};
use super::syntax::{Marks, TextEnd, TextEnds};
use super::text::Quote;
use super::{Progress, Reader, Stop, white_space};
use crate::event::End;
use crate::fault::FaultKind;
use crate::scan::{Anchored, Scan};

impl Reader {
    pub(super) fn unescaped(&mut self, on: &mut On<'_, '_>) -> Stop {
        let Quote::Own(place) = self.text.quote else { return Some(Progress::Broken) };
        let Some(ends) = on.given.marks.texts.get(place) else { return Some(Progress::Broken) };
        let (kind, len) = match self.text.end.take() {
            Some(end) => end,
            None => {
                let hit = on.find(&ends.marks, &mut self.text.scan);
                let end = hit.map_or(on.look - ends.marks.pending(&self.text.scan), |hit| hit.start);
                self.pass_text(on, end);
                let Some(hit) = hit else {
                    self.text.waits = true;
                    return Some(Progress::More);
                };
                on.rewind(hit.start);
                self.text.scan = Scan::default();
                (ends.kind(hit), hit.end - hit.start)
            }
        };
        let from = on.look;
        let (given, over) = (on.given, on.end);
        let mut data = 1;
        match kind {
            TextEnd::Quote => match &mut self.text.quotes {
                Some(quotes) if *quotes > 0 => {
                    *quotes -= 1;
                    data = len;
                }
                _ => return self.end_text(on, len),
            },
            TextEnd::Call if self.text.quotes.is_none() => {
                let question = |window: &str, all| is_over(window, all, given.marks, over);
                match self.look_ahead(on, from + 1, &question) {
                    None => return Some(self.wait((kind, len))),
                    Some(true) => {
                        on.note_markup(FaultKind::GuessedBorder, from);
                        return self.end_text(on, 0);
                    }
                    Some(false) => {}
                }
            }
            TextEnd::Other if !self.text.sure && on.place(from) >= on.doubted => {
                let closers: Vec<u8> = self.stack.iter().map(|bracket| bracket.closer()).collect();
                let question = |window: &str, all| {
                    let mut look = 0;
                    (closes(window, &mut look, all, ends, &closers, over), look)
                };
                let Some(found) = self.search_ahead(on, from + len, &question) else {
                    return Some(self.wait((kind, len)));
                };
                if found.is_none_or(|quotes| quotes.is_none()) {
                    on.doubted = on.place(on.bytes.len().min(from + len + AHEAD));
                }
                let Some(quotes) = found else { return Some(Progress::Broken) };
                (self.text.sure, self.text.quotes) = (true, quotes);
            }
            TextEnd::Call | TextEnd::Other => {}
        }
        self.pass_text(on, from + data);
        on.look = from + data;
        None
    }

    /// Text up to `end` is no delimiter.
    fn pass_text(&mut self, on: &mut On<'_, '_>, end: usize) {
        let look = on.look;
        let text = &on.text[on.kept.min(end)..end];
        if super::plain(text.as_bytes()) == text.len() {
            self.flush(on, end);
        } else if !text.is_empty() {
            let mut json = String::new();
            super::escape(text, &mut json);
            on.look = on.kept;
            self.replace(on, &json, text.len());
        }
        on.look = look;
    }

    /// More text is needed to tell what this is.
    fn wait(&mut self, end: (TextEnd, usize)) -> Progress {
        self.text.end = Some(end);
        self.text.waits = true;
        Progress::More
    }
}

/// True when the call ends before `window`, inside a text: its quote was forgotten, as what follows cannot be text.
fn is_over(window: &str, all: bool, marks: &Marks, end: Option<End>) -> Option<bool> {
    // What closes the call stands at the beginning.
    let Some(Some(_)) = marks.end(window, all, false).0 else { return if all { Some(false) } else { None } };
    let behind = &window.as_bytes()[marks.end_len(window)..];
    let rest = &behind[white_space(behind)..];
    match marks.next.follow(&mut Scan::default(), rest, &mut 0, &mut 0) {
        Anchored::Found(_) => Some(true),
        Anchored::Nothing => Some(false),
        Anchored::More if !all => None,
        Anchored::More => Some(rest.is_empty() && end == Some(End::End)),
    }
}

/// Behind a delimiter inside a text that only follows a call. `Some(Some(quotes))`: a quote closes the text, and so many
/// before it belong to calls inside it. `Some(Some(None))`: nobody knows, so it is data. `Some(None)`: nothing closes it.
#[expect(clippy::option_option, reason = "undecided, broken and unknown are three answers")]
fn closes(
    window: &str,
    look: &mut usize,
    all: bool,
    ends: &TextEnds,
    closers: &[u8],
    ended: Option<End>,
) -> Option<Option<Option<usize>>> {
    let bytes = window.as_bytes();
    let mut scan = Scan::default();
    // In a call inside the text, and in a text of that call.
    let (mut call, mut open, mut quotes) = (true, false, 0);
    loop {
        let Some(hit) = ends.marks.find(&mut scan, bytes, look, &mut 0) else {
            if !all {
                return None;
            }
            let cut_short = window.len() + 4 > AHEAD;
            let known = cut_short || (ended.is_some() && quotes == 0);
            return Some(known.then_some(None));
        };
        match ends.kind(hit) {
            TextEnd::Quote if !call => return Some(Some(Some(quotes))),
            TextEnd::Quote if open => (open, quotes) = (false, quotes + 1),
            TextEnd::Quote => {
                *look = hit.end + white_space(&bytes[hit.end..]);
                match bytes.get(*look) {
                    None if !all => return None,
                    None => {
                        return Some((ended == Some(End::End) || window.len() + 4 > AHEAD).then_some(None));
                    }
                    Some(byte) if *byte == b',' || closers.contains(byte) => return Some(Some(Some(quotes))),
                    Some(_) => (open, quotes) = (true, quotes + 1),
                }
            }
            TextEnd::Call => call &= open,
            TextEnd::Other => call = true,
        }
    }
}
