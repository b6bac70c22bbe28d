//! Does the value end here?
//!
//! Values are raw: a delimiter inside one may be data, and the one that should end it may be missing or misspelt. So a
//! delimiter ends the value only where something follows that is in FOLLOW of a field: another field, a closer of the
//! call, the next call, or the end of the answer. [`Lookahead::verdict`] decides it for each kind of delimiter; where a
//! closer had to be inserted or words deleted, the verdict says where that was guessed.

mod opener;

use std::ops::ControlFlow::{Break, Continue};

use opener::{is_unclosed, opens_with_tokens};

use super::delimiters::Delimiter;
use super::lookahead::{AHEAD, Follow, Found, Lookahead, Own, Sought};
use super::slip::MAX_NEAR;
use super::{FieldsReader, Given, On, Phase, Step};
use crate::codec::ArgsProgress;
use crate::event::End;
use crate::fault::FaultKind;
use crate::scan::{Anchored, Match, Scan, is_word};
use crate::value::{Brackets, white_space};

/// The longest word behind a misspelt closer, or at the beginning of a message, in bytes.
pub(super) const MAX_WORD: usize = 64;

/// What a delimiter inside a value means. Places count from it.
#[derive(Debug, Clone, Copy)]
enum Verdict {
    /// Everything up to here is data.
    Data(usize),
    /// The same by a closer of the value behind that of the call.
    Beyond(usize),
    /// The same by what follows, which is a guess: a delimiter stands in it that the model may have meant.
    Guessed(usize),
    /// The value ends at `at`, and reading goes on at `resume`, in this phase. `guess` is where a delimiter was
    /// inserted, or something deleted.
    Ends { at: usize, guess: Option<usize>, resume: usize, then: Phase },
    /// What follows shows that an earlier guess was wrong; reading goes on here.
    Broken(usize),
    /// More text decides.
    More,
}

impl FieldsReader {
    /// At a delimiter inside the value.
    pub(super) fn border(&mut self, on: &mut On<'_, '_>, delimiter: Delimiter, hit: Match) -> Step {
        let place = hit.start;
        let at = on.place(place);
        let tried = usize::try_from(on.doubted.saturating_sub(at));
        let mut ahead = Lookahead {
            given: &on.given,
            end: on.end,
            field: &self.field,
            keys: &self.keys,
            guessed: self.guessed,
            before: if self.field.streams { &self.last } else { &on.text[on.kept..place] },
            text: &on.text[place..],
            open: self.field.open,
            tried: tried.unwrap_or(usize::MAX),
            vain: self.vain.behind(at),
            work: 0,
        };
        let verdict = ahead.verdict(Found { delimiter, start: 0, end: hit.end - place }, None);
        let Lookahead { open, tried, vain, work, .. } = ahead;
        on.doubted = on.doubted.max(at + tried as u64);
        self.vain = vain;
        on.again += work;
        match verdict {
            Verdict::More => self.wait(on, place, work),
            Verdict::Broken(at) => {
                on.rewind(place + at);
                Break(ArgsProgress::Broken)
            }
            Verdict::Data(until) | Verdict::Beyond(until) | Verdict::Guessed(until) => {
                self.beyond |= matches!(verdict, Verdict::Beyond(_));
                if matches!(verdict, Verdict::Guessed(_)) {
                    on.note_markup(FaultKind::GuessedBorder, place);
                }
                self.field.open = open;
                on.pass(place + until, work);
                Continue(())
            }
            Verdict::Ends { at, guess, resume, then } => {
                self.close_value(on, place + at)?;
                if let Some(guess) = guess {
                    self.guess(on, place + guess);
                }
                on.kept = place + resume;
                on.pass(on.kept, work);
                self.enter(then);
                Continue(())
            }
        }
    }
}

/// The value ends, and what follows a value stands at `resume`.
fn ends(at: usize, resume: usize) -> Verdict {
    Verdict::Ends { at, guess: None, resume, then: Phase::Behind }
}

impl Lookahead<'_> {
    /// What the delimiter means. `border` is where the value ends if it does: at an earlier closer, with words between
    /// the two.
    fn verdict(&mut self, found: Found, border: Option<usize>) -> Verdict {
        let Some(found) = self.of_key(found) else { return Verdict::More };
        match found.delimiter {
            Delimiter::Closer if self.open > 0 && self.field.elements => {
                self.open -= 1;
                Verdict::Data(found.end)
            }
            Delimiter::Element | Delimiter::Value => {
                self.open += 1;
                Verdict::Data(found.end)
            }
            Delimiter::Closer => {
                let verdict = self.closer(found);
                if let Verdict::Data(_) = verdict {
                    self.open = self.open.saturating_sub(1);
                }
                verdict
            }
            Delimiter::Misspelt => self.misspelt(found, border),
            Delimiter::Field => self.opener(found, border),
            Delimiter::Doubled => self.doubled(Found { delimiter: Delimiter::Closer, ..found }, border),
            Delimiter::DoubledKey => self.doubled(Found { delimiter: Delimiter::KeyCloser, ..found }, border),
            Delimiter::Tail => match self.is_before_a_key(found.end) {
                None => Verdict::More,
                Some(true) => Verdict::Guessed(found.end),
                Some(false) => Verdict::Data(found.end),
            },
            Delimiter::Slip if self.is_behind_a_key() => Verdict::Guessed(found.end),
            Delimiter::Call(_) if self.is_nested(found.start) => Verdict::Data(found.end),
            Delimiter::Call(step) => self.call(found, step, border),
            // The model ends its turn: the value is cut there, or goes on behind it.
            Delimiter::Turn if self.rest_is_blank(found.end) => Verdict::More,
            Delimiter::Message => self.message(found),
            _ => Verdict::Data(found.end),
        }
    }

    fn closer(&mut self, found: Found) -> Verdict {
        let rest = self.text[found.end..].trim_start_matches([' ', '\t', '\r']);
        if self.given.marks.line.is_some() && rest.starts_with('\n') {
            return Verdict::Data(found.end);
        }
        match self.follow(found.end) {
            Follow::More => Verdict::More,
            Follow::Blank => ends(found.start, found.end),
            // The model ended its turn behind the value, whatever else it left open.
            Follow::Found(Found { delimiter: Delimiter::Turn, start, .. }) => match self.own_closer(start) {
                Own::Closer(at) => Verdict::Data(at),
                Own::More => Verdict::More,
                Own::Opener(_) | Own::None(_) => ends(found.start, start),
            },
            Follow::Found(next) if self.is_nested(next.start) => Verdict::Data(found.end),
            Follow::Found(next) if next.delimiter != Delimiter::Stray => {
                self.inside_json(found).unwrap_or_else(|| ends(found.start, found.end))
            }
            Follow::Found(_) | Follow::Nothing => self.not_followed(found),
        }
    }

    /// A closer that stands more than once: the value ends at the first, unless that closes a field which the value quotes.
    /// The text may be that of a value which ends in a closer as well, so it is a guess.
    fn repeated(&mut self, closer: Found) -> Option<Verdict> {
        let own =
            self.given.marks.own.as_ref().filter(|_| self.open == 0 && !self.given.form.repeats_key())?;
        let mut end = closer.end;
        loop {
            let space = white_space(&self.window(end, AHEAD)[end..]);
            match self.stands(own, end, space, AHEAD) {
                Anchored::Found(hit) if own.delimiter(hit) != Delimiter::Field => end = hit.end,
                Anchored::More if self.may_grow(end, AHEAD) => return Some(Verdict::More),
                _ => break,
            }
        }
        if end == closer.end {
            return None;
        }
        let ends =
            Verdict::Ends { at: closer.start, guess: Some(closer.end), resume: end, then: Phase::Behind };
        match self.follow(end) {
            Follow::More => Some(Verdict::More),
            Follow::Found(next) if next.delimiter == Delimiter::Stray || self.is_nested(next.start) => None,
            Follow::Found(_) | Follow::Blank => Some(ends),
            Follow::Nothing => None,
        }
    }

    /// A closer with nothing behind it that can follow a value: perhaps a key without its opener, or words.
    fn not_followed(&mut self, closer: Found) -> Verdict {
        if let Some(verdict) = self.repeated(closer) {
            return verdict;
        }
        let from = closer.end + white_space(&self.text.as_bytes()[closer.end..]);
        let lines = self.given.marks.line.is_some();
        if self.is_nested(from) {
            return Verdict::Data(closer.end);
        }
        match self.has_key(from) {
            None => Verdict::More,
            Some(true) => {
                let guess = (!lines && !self.given.form.free).then_some(from);
                Verdict::Ends { at: closer.start, guess, resume: from, then: Phase::Header }
            }
            Some(false) if lines && (self.begins_with_key(from) || self.repeats_a_key(from)) => {
                Verdict::Guessed(closer.end)
            }
            Some(false) if lines => Verdict::Data(closer.end),
            Some(false) if self.guessed => Verdict::Broken(closer.end),
            Some(false) => match self.words(closer) {
                Verdict::Data(until) if self.is_nearly_followed(from, until) => Verdict::Guessed(until),
                verdict => verdict,
            },
        }
    }

    /// Words behind a closer: the value ends there if another field or the end of the call comes before another closer.
    fn words(&mut self, closer: Found) -> Verdict {
        let mut from = closer.end;
        loop {
            let borders = self.field.borders(self.given.marks);
            let found = match self.search((Sought::Border, borders), from, AHEAD) {
                Ok(found) => found,
                Err(_) if self.may_grow(0, AHEAD) => return Verdict::More,
                Err(_) if self.given.marks.unclosed => return ends(closer.start, closer.end),
                Err(free) => return Verdict::Data(free),
            };
            let Some(found) = self.of_key(found) else { return Verdict::More };
            if found.delimiter == Delimiter::Closer && (self.open == 0 || !self.field.elements) {
                return Verdict::Data(found.start);
            }
            match self.verdict(found, Some(closer.start)) {
                // A field of the next call.
                Verdict::Data(_) | Verdict::Guessed(_)
                    if self.given.marks.unclosed && found.delimiter == Delimiter::Field =>
                {
                    return ends(closer.start, closer.end);
                }
                Verdict::Data(until) | Verdict::Beyond(until) if found.delimiter != Delimiter::Field => {
                    from = until;
                }
                verdict => return verdict,
            }
        }
    }

    /// A closer without its last character: it is misspelt, if what can only follow a value does.
    fn misspelt(&mut self, found: Found, border: Option<usize>) -> Verdict {
        let rest = &self.text.as_bytes()[found.end..];
        let word = rest.iter().take(MAX_WORD).take_while(|byte| is_word(**byte)).count();
        self.work += word as u64;
        let end = match rest.get(word..) {
            Some([b'/', b'>', ..]) => 2,
            Some([b'>', ..]) => 1,
            _ => 0,
        };
        match self.follow(found.end + word + end) {
            Follow::More => Verdict::More,
            Follow::Found(Found { delimiter: Delimiter::Field | Delimiter::Call(_), start, .. }) => {
                self.ends_unclosed(found, border, start)
            }
            _ if self.may_grow(found.end, MAX_NEAR) => Verdict::More,
            _ if self.is_nearly_followed(found.end, usize::MAX) => Verdict::Guessed(found.end),
            _ => Verdict::Data(found.end),
        }
    }

    /// A closer behind its own first character, which is deleted.
    fn doubled(&mut self, found: Found, border: Option<usize>) -> Verdict {
        match self.verdict(found, border) {
            Verdict::Ends { at, guess, resume, then } => {
                Verdict::Ends { at, guess: guess.or(Some(at)), resume, then }
            }
            verdict => verdict,
        }
    }

    /// The closer of the call, or of a group of calls. The value goes on if a closer of its own stands further on, before
    /// any field. Else that of the call ends it; that of a group is too far away, and breaks the call.
    fn call(&mut self, found: Found, step: usize, border: Option<usize>) -> Verdict {
        let (given, ends) = (self.given, self.ends_unclosed(found, border, found.start));
        if is_unclosed(given.form) {
            return ends;
        }
        let group = step >= given.marks.group;
        if group && self.rest_is_blank(found.end) {
            return Verdict::More;
        }
        let follow = if group { Follow::Nothing } else { self.follow(found.end) };
        let confirmed = match follow {
            Follow::More => return Verdict::More,
            // A model that stops behind a closer has closed the value; a cut proves nothing.
            Follow::Blank if self.end == Some(End::End) => return ends,
            Follow::Blank if self.end.is_some() => return Verdict::More,
            Follow::Found(next) => matches!(next.delimiter, Delimiter::Call(_) | Delimiter::Opener),
            Follow::Blank | Follow::Nothing => given.is_named(),
        };
        let alone = group || given.marks.alone == Some(step);
        if !confirmed && (!alone || given.marks.own.is_none() || given.form.repeats_key()) {
            return Verdict::Data(found.end);
        }
        if found.end < self.tried {
            return if confirmed { ends } else { Verdict::Data(found.end) };
        }
        match self.own_closer(found.end) {
            Own::Closer(at) => Verdict::Beyond(at),
            Own::More => Verdict::More,
            // Another field opens where nothing tells that the call was over.
            Own::Opener(at) if !confirmed && !group => Verdict::Data(at),
            Own::None(free) if !confirmed && self.text.len() >= found.end + AHEAD => Verdict::Data(free),
            _ if group => Verdict::Broken(found.start),
            _ => ends,
        }
    }

    /// A closer inside JSON: it is data if the brackets close further on, and a closer of the value follows there.
    fn inside_json(&mut self, found: Found) -> Option<Verdict> {
        let Given { form, marks, .. } = *self.given;
        let (own, value) = (marks.own.as_ref()?, self.before.trim_start());
        let may = !self.field.streams && !form.xml && !form.repeats_key() && value.starts_with(['{', '[']);
        if !may || found.end < self.tried {
            return None;
        }
        self.work += (value.len() + found.start) as u64;
        let mut brackets = Brackets::default();
        for part in [value, &self.text[..found.start]] {
            if brackets.follow(part.as_bytes()).is_some() {
                return None;
            }
        }
        let window = self.window(found.end, AHEAD);
        let over = brackets.follow(&window[found.start..]).map(|len| found.start + len);
        let mut look = over.map_or(window.len(), |over| over + white_space(&window[over..]));
        let closer = match over {
            Some(_) => own.automaton.follow(&mut Scan::default(), window, &mut look, &mut 0),
            None => Anchored::More,
        };
        self.work += (look - found.start) as u64;
        match closer {
            Anchored::Found(hit) if own.delimiter(hit) == Delimiter::Closer && self.is_json(hit.start) => {
                return Some(Verdict::Data(hit.start));
            }
            Anchored::More if self.may_have_more(found.end) => return Some(Verdict::More),
            _ => self.tried = look,
        }
        None
    }

    /// True when the value up to here is JSON.
    fn is_json(&self, end: usize) -> bool {
        let value = format!("{}{}", self.before, &self.text[..end]);
        serde_json::from_str::<serde::de::IgnoredAny>(value.trim()).is_ok()
    }

    /// The opener of a message: another one begins if a word stands alone on this line.
    fn message(&mut self, found: Found) -> Verdict {
        let rest = &self.text.as_bytes()[found.end..];
        let word = rest.iter().take(MAX_WORD + 1).take_while(|byte| is_word(**byte)).count();
        self.work += word as u64;
        match rest.get(word) {
            None if word <= MAX_WORD && self.end.is_none() => Verdict::More,
            Some(b'\n') if word > 0 && word <= MAX_WORD => ends(found.start, found.start),
            // An opener like `>>>` may overlap the next one.
            _ => Verdict::Data(found.start + 1),
        }
    }

    /// The value ends where its closer is missing, or where words stand behind it.
    fn ends_unclosed(&self, found: Found, border: Option<usize>, resume: usize) -> Verdict {
        let at = border.unwrap_or(found.start);
        let Given { form, tool, .. } = *self.given;
        let sure = is_unclosed(form) && (tool.is_some() || opens_with_tokens(form));
        Verdict::Ends { at, guess: (!sure).then_some(at), resume, then: Phase::Behind }
    }
}
