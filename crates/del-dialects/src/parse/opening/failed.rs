//! What becomes of an opening that came to nothing.

use super::{From, Opening};
use crate::dialect::is_token;
use crate::fault::FaultKind;
use crate::parse::body::MAX_BARE;
use crate::parse::character::first_char;
use crate::parse::plan::{Body, is_distinct};
use crate::parse::recover::is_markup;
use crate::parse::{Engine, Flow, Io, State};
use crate::scan::{Scan, is_word};

impl Engine {
    /// No call begins here after all.
    fn reject(&mut self, io: &mut Io<'_>, opening: &Opening, tried: usize) -> Flow {
        let (start, found) = (io.at + opening.start, io.at + opening.found);
        self.tried.openings = self.tried.openings.max(io.base + tried as u64);
        if opening.undeclared {
            io.fault(FaultKind::NotDeclared, None, start, found);
        }
        // A keyword argument: those of the call before ended too early.
        let word = io.bytes.get(start..io.look).unwrap_or_default().trim_ascii_end();
        let keyword = !word.is_empty() && word.iter().copied().all(is_word);
        // Words behind a comma: a sentence that goes on may have talked about the call, where it has no marks of its own.
        let walk = &io.plan.walks[opening.walk];
        let sentence = !word.is_empty() && (walk.is_bare() || walk.is_loose());
        let same_line = start > io.at && !io.bytes[io.at..start].contains(&b'\n');
        let goes_on = (keyword && io.bytes.get(io.look) == Some(&b'=')) || (sentence && same_line);
        if opening.from == From::Gap && goes_on {
            self.doubt_calls(io, start);
        }
        let word = found == start && self.tried.word == Some(io.base + start as u64);
        if io.plan.walks[opening.walk].is_bare() && !word {
            self.tried.bare = self.tried.bare.max(io.base + tried as u64);
        }
        // Behind a call, and at a word without a mark, nothing else has been tried for this place.
        let skip = match opening.from {
            From::Gap => 0,
            _ if word => 0,
            // A token that is talked about is so as a whole.
            _ if found > start && is_token(&io.text[start..]) => found - start,
            _ => first_char(io.text, start),
        };
        io.rewind(start + skip);
        // The answer may end inside a longer mark.
        let half = io.last() && io.plan.holds_more(&io.text[start..]) && is_markup(&io.text[start..], io.end);
        let found = if half { io.text.len() } else { found };
        // What only a name or a whole shape makes a call is text without it.
        let text = io.plan.walks[opening.walk].needs_declared || opening.is_plain(io);
        let text = text || self.is_in_code(&io.text[start..]);
        if half || (found > start && !text && self.is_markup(io, start, found)) {
            // A token of the model's own markup is never meant for the user.
            match opening.from {
                From::Thought(_) => io.think(start),
                _ => self.say(io, start),
            }
            io.fault(FaultKind::OrphanMark, None, start, found);
            io.at = found;
            io.rewind(found);
        } else if matches!(opening.from, From::Text { .. }) && found > start {
            self.tell(io, start, found);
        }
        self.state = match opening.from {
            From::Thought(kind) => State::Thought { kind, scan: Scan::default() },
            _ => State::Text(Scan::default()),
        };
        Flow::Next
    }

    /// A mark that opens calls, and opens none here: inside a sentence it is talked about.
    pub(in crate::parse) fn tell(&mut self, io: &Io<'_>, start: usize, end: usize) {
        let spelling = &io.text[start..end];
        let told = is_distinct(spelling) && self.stands_in_words(io, start);
        self.note(io, start);
        self.text.fence.told |= told;
    }

    /// True for a mark with text before it on its line.
    pub(in crate::parse) fn in_a_sentence(&self, io: &Io<'_>, start: usize) -> bool {
        !matches!(self.before(io, start)[1], b'\n' | b'>')
    }

    /// True for a mark in text that stands behind a quote, or in a line of code.
    pub(super) fn is_in_words(&self, io: &Io<'_>, opening: &Opening) -> bool {
        let start = io.at + opening.start;
        let before = self.before(io, start)[1];
        let quoted = before == b'`' || (before != b' ' && self.stands_in_words(io, start));
        let code = self.is_in_code(&io.text[start..]) && self.in_a_sentence(io, start);
        matches!(opening.from, From::Text { .. }) && (quoted || code)
    }

    /// True when the mark at `start` is no part of a sentence, though no call begins there: a token of the model's own
    /// markup, or a mark on a line of its own, or before a word without a space between them.
    fn is_markup(&self, io: &Io<'_>, start: usize, end: usize) -> bool {
        let [ends, before] = self.before(io, start);
        let behind = io.bytes.get(end).copied();
        // A mark that is a whole tag; of any other, what goes on behind it would be left over.
        let tag = io.bytes[end - 1] == b'>';
        let alone = matches!(before, b'\n' | b'>')
            && behind
                .is_some_and(|byte| matches!(byte, b'\n' | b'<') || (tag && (is_word(byte) || byte == b'[')));
        // A sentence goes on behind a mark, and not with the next mark, or with a bracket; and it is more than a mark and the
        // end of its line.
        let nothing = matches!(ends, b'.' | b'!' | b'?') && behind == Some(b'\n');
        let sentence =
            self.stands_in_words(io, start) && !matches!(behind, Some(b'<' | b'[' | b'{')) && !nothing;
        (end > start + 1 && is_token(&io.text[start..]) && !sentence)
            || (alone && is_distinct(&io.text[start..end]))
    }

    /// True when what was read up to `end` surely is the beginning of a call, though it comes to nothing: tokens, and
    /// behind them the name of a tool, or a name behind two of them.
    pub(in crate::parse) fn is_broken_call(&self, io: &Io<'_>, opening: &Opening, end: usize) -> bool {
        let walk = &io.plan.walks[opening.walk];
        let known = opening.called(io).is_some_and(|name| self.tool(name).is_some());
        let tokens = walk.tokens(opening.opened);
        let sure = tokens > 1 || (tokens == 1 && (known || walk.body == Body::Call));
        sure && !opening.in_a_thought() && self.is_markup(io, io.at + opening.start, end)
    }

    /// What an object says: this is no call. The opening goes on with the next walk, or back to text.
    pub(in crate::parse) fn try_next(&mut self, io: &mut Io<'_>, opening: Opening) -> Flow {
        let tried = io.look.min(io.at + opening.start + MAX_BARE);
        let mut broken = opening.broken;
        if opening.name.is_some() && broken.is_none_or(|(_, token)| token < opening.token) {
            let token = io.at + opening.token;
            broken =
                self.is_broken_call(io, &opening, token).then_some((opening.walk, opening.token)).or(broken);
        }
        let behind = opening.behind(io);
        let tools = &self.turn.tools;
        while self
            .candidates
            .pop_if(|opener| opener.may_be_named(io.plan, tools, behind) == Some(false))
            .is_some()
        {}
        match (self.candidates.pop(), broken) {
            (Some(opener), _) if io.plan.walks[opener.walk].is_in_fence() && self.quotes.fence.is_none() => {
                self.try_fence(io, io.at + opening.start);
                Flow::Next
            }
            (Some(opener), _) => {
                let next = opening.as_read_by(opener, io.plan).unwrap_or_else(|| {
                    Opening::at(opener, io.plan, opening.start, opening.found, opening.from)
                });
                let next = Opening { broken, undeclared: opening.undeclared, ..next };
                io.rewind(io.at + next.token);
                self.state = State::Opening(next);
                Flow::Next
            }
            (None, Some((walk, token))) => {
                io.rewind(io.at + token);
                self.nameless(io, Opening { walk, ..opening })
            }
            (None, None) => self.reject(io, &opening, tried),
        }
    }
}
