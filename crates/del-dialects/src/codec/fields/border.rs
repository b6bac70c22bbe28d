//! Does the value end here?
//!
//! Values are raw: a delimiter inside one may be data, and the one that should end it may be missing or misspelt. So a
//! delimiter ends the value only where something follows that is in FOLLOW of a field: another field, a closer of the
//! call, the next call, or the end of the answer. [`Lookahead::verdict`] decides it for each kind of delimiter; where a
//! closer had to be inserted or words deleted, the verdict says where that was guessed.

use super::header::{Header, MAX_HEADER};
use super::lookahead::{AHEAD, Follow, Found, Lookahead, Outline, Own, Searched};
use super::marks::{Border, Next};
use super::{FieldsProgress, FieldsReader, Given, On, Phase, Stop};
use crate::dialect::{FieldForm, KeyKind, is_token};
use crate::scan::{Anchored, Scan, is_word};
use crate::schema::may_have;
use crate::turn::End;
use crate::value::white_space;

/// The longest word behind a misspelt closer, or at the beginning of a message, in bytes.
const MAX_WORD: usize = 64;

/// What a delimiter inside a value means. Places count from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Everything up to here is data.
    Data(usize),
    Ends(Ends),
    /// What follows shows that an earlier guess was wrong; reading goes on here.
    Broken(usize),
    /// More text decides.
    More,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// Where the value ends.
    at: usize,
    /// Where a delimiter was inserted, or something deleted.
    guess: Option<usize>,
    /// Reading goes on here, in this phase.
    resume: usize,
    then: Phase,
}

impl FieldsReader {
    /// At a delimiter inside the value.
    pub(super) fn border(&mut self, on: &mut On<'_, '_>, found: Found, searched: Searched) -> Stop {
        let from = on.kept + found.start;
        let mut ahead = Lookahead {
            given: &on.given,
            field: &self.field,
            keys: &self.keys,
            guessed: self.guessed,
            before: &on.given.text[on.kept..from],
            text: &on.given.text[from..],
            open: self.field.open,
            watermark: distance(self.base + from as u64, self.doubted),
            searched,
            work: 0,
        };
        let verdict = ahead.verdict(Found { start: 0, end: found.end - found.start, ..found }, None);
        let (open, watermark) = (ahead.open, from + ahead.watermark);
        let (work, searched) = (ahead.work, ahead.searched);
        self.doubted = self.doubted.max(self.base + watermark as u64);
        let before = on.kept + found.end;
        match verdict {
            Verdict::More => {
                self.phase = Phase::Border { found, searched };
                on.again += work;
                return self.wait(on, usize::try_from(work).unwrap_or(usize::MAX));
            }
            Verdict::Broken(at) => {
                on.again += work;
                on.look = from + at;
                return Some(FieldsProgress::Broken);
            }
            Verdict::Data(until) => {
                self.field.open = open;
                on.look = from + until;
                self.enter(Phase::Value);
            }
            Verdict::Ends(Ends { at, guess, resume, then }) => {
                self.close_value(on, from + at - on.kept);
                if let Some(guess) = guess {
                    self.guess(from + guess);
                }
                on.kept = from + resume;
                on.look = on.kept;
                self.enter(then);
            }
        }
        // What was passed over was looked at by the verdict.
        let passed = on.look.saturating_sub(before) as u64;
        on.again += work.saturating_sub(passed) + before.saturating_sub(on.look) as u64;
        None
    }
}

/// True where only a token of the model's markup opens a field.
fn opens_with_tokens(form: &FieldForm) -> bool {
    form.open.iter().all(|open| is_token(open))
}

/// How far behind `from` the place `to` lies.
fn distance(from: u64, to: u64) -> usize {
    usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX)
}

impl Lookahead<'_> {
    /// What the delimiter means. `border` is where the value ends if it does: at an earlier closer, with words between
    /// the two.
    pub(super) fn verdict(&mut self, found: Found, border: Option<usize>) -> Verdict {
        let Some(found) = self.of_key(found) else { return Verdict::More };
        match found.border {
            Border::Closer if self.open > 0 => {
                self.open -= 1;
                Verdict::Data(found.end)
            }
            Border::Element => {
                self.open += 1;
                Verdict::Data(found.end)
            }
            Border::Closer => self.closer(found, true),
            Border::Drifted => self.drifted(found, border),
            Border::Field => self.opener(found, border),
            Border::Call(step) => self.call(found, step, border),
            Border::Turn => self.turn(found),
            Border::Message => self.message(found),
            Border::Head | Border::Body(_) | Border::Outside | Border::Data => Verdict::Data(found.end),
        }
    }

    /// The value ends, and what follows a value stands at `resume`.
    fn ends(at: usize, guess: Option<usize>, resume: usize) -> Verdict {
        Verdict::Ends(Ends { at, guess, resume, then: Phase::Behind })
    }

    /// The value ends where its closer is missing, or where words stand behind it.
    fn ends_unclosed(&self, found: Found, border: Option<usize>, resume: usize) -> Verdict {
        let at = border.unwrap_or(found.start);
        let Given { form, tool, .. } = *self.given;
        let sure = form.value_close.is_empty() && (tool.is_some() || opens_with_tokens(form));
        Self::ends(at, (!sure).then_some(at), resume)
    }

    /// A closer. `json` says that it may stand inside a string of JSON.
    fn closer(&mut self, found: Found, json: bool) -> Verdict {
        match self.follow(found.end) {
            Follow::More => Verdict::More,
            Follow::Blank => Self::ends(found.start, None, found.end),
            // The model ended its turn behind the value, whatever else it left open.
            Follow::Mark(Next::Turn, turn) => match self.own_closer(turn.start) {
                Own::Closer(own) => Verdict::Data(own.start),
                Own::More => Verdict::More,
                _ => Self::ends(found.start, None, turn.start),
            },
            // Behind a closer that stands in the value, its own one may follow.
            Follow::Mark(Next::Stray, _) => match self.own_closer(found.end) {
                Own::Closer(own) => Verdict::Data(own.start),
                Own::More => Verdict::More,
                _ => self.misplaced(found),
            },
            Follow::Mark(..) => match self.open_string(found).filter(|_| json) {
                Some(outline) => self.whole_json(found, outline),
                None => Self::ends(found.start, None, found.end),
            },
            Follow::Nothing => match self.bare_key(found) {
                Verdict::Data(_) => self.misplaced(found),
                verdict => verdict,
            },
        }
    }

    /// A closer with nothing behind it that can follow a value.
    fn misplaced(&mut self, found: Found) -> Verdict {
        let rest = &self.text.as_bytes()[found.end..];
        let on_own_line = self.text[found.start..].starts_with('\n') && rest.starts_with(b"\n");
        let markup = rest.get(white_space(rest)) == Some(&b'<');
        if self.guessed {
            Verdict::Broken(found.end)
        } else if on_own_line && markup {
            let guess = Some(found.end);
            Verdict::Ends(Ends { at: found.start, guess, resume: found.end, then: Phase::Junk })
        } else {
            self.words(found)
        }
    }

    /// Words behind a closer: the value ends there if another field or the end of the call comes before another closer.
    fn words(&mut self, closer: Found) -> Verdict {
        let mut from = closer.end;
        loop {
            let found = match self.border(from) {
                Ok(found) => found,
                Err(_) if self.may_grow(0, AHEAD) => return Verdict::More,
                Err(free) => return Verdict::Data(free),
            };
            let Some(found) = self.of_key(found) else { return Verdict::More };
            if found.border == Border::Closer && self.open == 0 {
                return Verdict::Data(found.start);
            }
            match self.verdict(found, Some(closer.start)) {
                Verdict::Data(until) if found.border == Border::Field => return Verdict::Data(until),
                Verdict::Data(until) => from = until,
                verdict => return verdict,
            }
        }
    }

    /// A word behind a closer: a key without its opener, if a header closes behind it.
    fn bare_key(&mut self, closer: Found) -> Verdict {
        let data = Verdict::Data(closer.end);
        if self.given.form.key != KeyKind::Whole {
            return data;
        }
        let window = self.window(closer.end, AHEAD);
        let from = closer.end + white_space(&window[closer.end..]);
        let word = window[from..].iter().take(MAX_HEADER + 1).take_while(|byte| is_word(**byte)).count();
        let behind = from + word;
        let header = &self.given.marks.header;
        let (mut scan, mut look, mut again) = (Scan::default(), behind, 0);
        let followed = header.automaton.follow(&mut scan, window, &mut look, &mut again);
        self.work += (look - closer.end) as u64 + again;
        match followed {
            _ if word == 0 || word > MAX_HEADER => data,
            Anchored::More if self.may_grow(closer.end, AHEAD) => Verdict::More,
            Anchored::Found(hit) if header.kind(hit) => {
                let (guess, then) = (Some(from), Phase::Header);
                Verdict::Ends(Ends { at: closer.start, guess, resume: from, then })
            }
            _ => data,
        }
    }

    /// A closer without its last character: it is misspelt, if what can only follow a value does.
    fn drifted(&mut self, found: Found, border: Option<usize>) -> Verdict {
        let rest = &self.text.as_bytes()[found.end..];
        let word = rest.iter().take(MAX_WORD).take_while(|byte| is_word(**byte)).count();
        let from = found.end + word + usize::from(rest.get(word) == Some(&b'>'));
        self.work += word as u64;
        match self.follow(from) {
            Follow::More => Verdict::More,
            Follow::Mark(Next::Field | Next::Closer(_), hit) => self.ends_unclosed(found, border, hit.start),
            _ => Verdict::Data(found.end),
        }
    }

    /// The opener of another field: it is one if its key may follow.
    fn opener(&mut self, found: Found, border: Option<usize>) -> Verdict {
        let (form, marks, from) = (self.given.form, self.given.marks, found.end);
        if self.is_inline(found) || (self.field.elements && border.is_none()) {
            return Verdict::Data(found.end);
        }
        let (close, to) = self.find(&marks.header, from, from + MAX_HEADER);
        if close.is_none() && self.may_grow(from, MAX_HEADER) {
            return Verdict::More;
        }
        let header = close.and_then(|_| Header::declared(&self.text[from..to], &form.key, self.given.tool));
        if header.is_some_and(|header| self.may_follow(&header.key, border.is_some())) {
            return self.ends_unclosed(found, border, found.start);
        }
        // No other field opens before what would be the end of this header, but a closer may stand there.
        let mut other = self.find(self.borders(), from, to);
        while let (Some(hit), _) = other
            && self.borders().kind(hit) == Border::Field
        {
            other = self.find(self.borders(), hit.end, to);
        }
        Verdict::Data(other.1)
    }

    /// True where delimiters have lines of their own, and this one has none.
    fn is_inline(&self, found: Found) -> bool {
        self.given.form.framed && !self.field.compact && !self.text[found.start..].starts_with('\n')
    }

    /// Whether a field of this key may open here, though nothing closed the value before it.
    fn may_follow(&self, key: &str, words: bool) -> bool {
        let Given { form, tool, .. } = *self.given;
        !self.keys.contains(key)
            && may_have(tool, key)
            && ((form.framed && !self.field.compact)
                || tool.is_some()
                || form.value_close.is_empty()
                || opens_with_tokens(form)
                || (words && form.repeats_key() && super::elements::is_key(key)))
    }

    /// The closer of the call, or of a group of calls.
    fn call(&mut self, found: Found, step: usize, border: Option<usize>) -> Verdict {
        let ends = self.ends_unclosed(found, border, found.start);
        if self.given.form.value_close.is_empty() {
            return ends;
        }
        let (marks, inline) = (self.given.marks, self.is_inline(found));
        if step >= marks.group {
            return match self.rest_is_blank(found.end) {
                _ if inline => Verdict::Data(found.end),
                true => Verdict::More,
                false => self.unclosed(found, true, ends),
            };
        }
        let confirmed = match self.follow(found.end) {
            Follow::More => return Verdict::More,
            Follow::Mark(Next::Closer(_), _) if inline => step == marks.first,
            _ if inline => false,
            // A model that stops behind a closer has closed the value; a cut proves nothing.
            Follow::Blank if self.given.end == Some(End::End) => return ends,
            Follow::Blank if self.given.end.is_some() => return Verdict::More,
            Follow::Mark(next, _) => !matches!(next, Next::Field | Next::Stray | Next::Turn),
            Follow::Blank | Follow::Nothing => false,
        };
        if !confirmed {
            let alone = marks.alone == Some(step) && !inline;
            return if alone { self.unclosed(found, false, ends) } else { Verdict::Data(found.end) };
        }
        match self.own_closer(found.end) {
            Own::Closer(own) => Verdict::Data(own.start),
            Own::More => Verdict::More,
            _ => ends,
        }
    }

    /// The value's own closer behind `from`, before any field: one that something follows that can follow a value.
    fn own_closer(&mut self, mut from: usize) -> Own {
        let edge = from + AHEAD;
        if from < self.watermark {
            return Own::None;
        }
        loop {
            match self.own(from, edge) {
                Own::Closer(hit) => match self.follow(hit.end) {
                    Follow::More => return Own::More,
                    Follow::Nothing | Follow::Mark(Next::Stray | Next::Turn, _) => from = hit.end,
                    Follow::Blank | Follow::Mark(..) => return Own::Closer(hit),
                },
                Own::None => {
                    self.watermark = self.text.len().min(edge);
                    return Own::None;
                }
                own => return own,
            }
        }
    }

    /// The last closer of the call, or one of a group, with something else behind it. The value goes on if a delimiter
    /// of a field follows. Else the closer of a call ends it; that of a group is too far away, and breaks the call.
    fn unclosed(&mut self, found: Found, group: bool, ends: Verdict) -> Verdict {
        let edge = found.end + AHEAD;
        if self.given.marks.own.is_none() || self.given.form.repeats_key() || found.end < self.watermark {
            return Verdict::Data(found.end);
        }
        match self.own(found.end, edge) {
            Own::Closer(hit) => Verdict::Data(hit.start),
            Own::Opener(hit) if !group => Verdict::Data(hit.start),
            Own::None if self.text.len() >= edge => {
                self.watermark = edge;
                Verdict::Data(found.end)
            }
            Own::More => Verdict::More,
            Own::Opener(_) | Own::None if group => Verdict::Broken(found.start),
            Own::Opener(_) | Own::None => ends,
        }
    }

    /// The outline of the value, if it is JSON that stops inside a string here, and its rest may follow.
    fn open_string(&mut self, found: Found) -> Option<Outline> {
        let Given { form, marks, .. } = *self.given;
        let value = self.before.trim_start();
        let may = !self.field.streams && !form.xml && marks.own.is_some() && !form.repeats_key();
        if !may || found.end < self.watermark || !value.starts_with(['{', '[']) {
            return None;
        }
        let mut outline = Outline::default();
        let looked = outline.pass(value.as_bytes()) + outline.pass(&self.text.as_bytes()[..found.start]);
        self.work += looked as u64;
        outline.string.is_some().then_some(outline)
    }

    /// A closer inside a string of JSON: is there one further on, right behind the end of the JSON?
    fn whole_json(&mut self, found: Found, mut outline: Outline) -> Verdict {
        let Some(own) = &self.given.marks.own else { return Self::ends(found.start, None, found.end) };
        let window = self.window(found.end, AHEAD);
        let over = found.start + outline.pass(&window[found.start..]);
        let mut look = over + white_space(&window[over..]);
        let followed = own.automaton.follow(&mut Scan::default(), window, &mut look, &mut 0);
        self.work += (look - found.start) as u64;
        match followed {
            Anchored::Found(hit) if outline.whole && own.kind(hit) && self.is_json(hit.start) => {
                self.closer(Found { border: found.border, start: hit.start, end: hit.end }, false)
            }
            Anchored::More if !outline.broken && self.may_have_more(found.end) => Verdict::More,
            _ => {
                self.watermark = look;
                self.closer(found, false)
            }
        }
    }

    /// True when the value up to here is JSON.
    fn is_json(&self, end: usize) -> bool {
        let value = format!("{}{}", self.before, &self.text[..end]);
        serde_json::from_str::<serde::de::IgnoredAny>(value.trim()).is_ok()
    }

    /// The end of the model's turn: the value is cut there, or goes on behind it.
    fn turn(&mut self, found: Found) -> Verdict {
        if self.rest_is_blank(found.end) { Verdict::More } else { Verdict::Data(found.end) }
    }

    fn rest_is_blank(&mut self, from: usize) -> bool {
        let rest = &self.text.as_bytes()[from..];
        let blank = white_space(rest);
        self.work += blank as u64;
        blank == rest.len()
    }

    /// The opener of a message: another one begins if a word stands alone on this line.
    fn message(&mut self, found: Found) -> Verdict {
        let rest = &self.text.as_bytes()[found.end..];
        let word = rest.iter().take(MAX_WORD + 1).take_while(|byte| is_word(**byte)).count();
        self.work += word as u64;
        match rest.get(word) {
            None if word <= MAX_WORD && self.given.end.is_none() => Verdict::More,
            Some(b'\n') if word > 0 && word <= MAX_WORD => Self::ends(found.start, None, found.start),
            // An opener like `>>>` may overlap the next one.
            _ => Verdict::Data(found.start + 1),
        }
    }
}
