//! Marks that are talked about: words of a sentence, code in a fence, lines of a quotation.
//!
//! What opens a call is tried as one, and tells by that what it is. Any other mark is told by what stands beside it.

use super::tail::byte_before;
use super::{Engine, Io};
use crate::dialect::is_token;
use crate::scan::Match;

/// What stands behind a mark, as far as it tells whether the mark is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// The end of the answer.
    Nothing,
    /// The end of the line.
    Line,
    /// The next mark, or what may be one.
    Markup,
    /// Words. `apart` says that they do not touch the mark, unless as a sentence does, and `goes_on` that a sentence goes on
    /// with them.
    Words { apart: bool, goes_on: bool },
}

impl Behind {
    /// What stands behind `end`; none where that has not arrived.
    fn of(io: &Io<'_>, end: usize) -> Option<Self> {
        /// So much white space is looked behind, in bytes.
        const SPACE: usize = 16;
        let rest = &io.bytes[end..];
        let blank = |byte: &&u8| byte.is_ascii_whitespace();
        let space = &rest[..rest.iter().take(SPACE).take_while(blank).count()];
        match rest.get(space.len()) {
            None if io.last() => Some(Self::Nothing),
            None if space.len() < SPACE => None,
            _ if space.contains(&b'\n') => Some(Self::Line),
            Some(b'<' | b'[' | b'{') => Some(Self::Markup),
            _ => io.text[end + space.len()..].chars().next().map(|first| Self::Words {
                apart: !space.is_empty() || is_sign(first),
                goes_on: goes_on(first),
            }),
        }
    }
}

impl Engine {
    /// True for a mark that is code: it stands in a fence that no call opened. A token in one that nothing introduces, and
    /// that may be a part of the model's own markup, is none.
    pub(super) fn is_in_code(&self, mark: &str) -> bool {
        let fence = &self.text.fence;
        fence.is_open() && !fence.around_call && (fence.behind_prose || !is_token(mark))
    }

    /// The character before `start`.
    pub(super) fn char_before(&self, io: &Io<'_>, start: usize) -> char {
        let before = self.before(io, start)[1];
        if before.is_ascii() {
            return char::from(before);
        }
        String::from_utf8_lossy(self.tail_before(io, start).bytes()).chars().next_back().unwrap_or_default()
    }

    /// True for a mark behind a sign or a space that a sentence which talks about it has there.
    pub(super) fn stands_in_words(&self, io: &Io<'_>, start: usize) -> bool {
        let before = self.char_before(io, start);
        is_opening(before) || matches!(before, '"' | '\'' | '*' | '_' | '~')
    }

    /// True for a mark that begins a line of a quotation.
    pub(super) fn is_quoted_line(&self, io: &Io<'_>, start: usize) -> bool {
        self.before(io, start) == *b"> " && self.tail_before(io, start).bytes().ends_with(b"\n> ")
    }

    /// Whether a mark that begins or ends thinking, or a result, is talked about: a sentence goes on behind it. None where
    /// more text decides.
    pub(super) fn is_sentence_about(&self, io: &Io<'_>, hit: Match) -> Option<bool> {
        let talked = self.is_talked_about(io, hit, false, false)?;
        let begins = self.before(io, hit.start)[1] == b' '
            && matches!(Behind::of(io, hit.end), Some(Behind::Words { goes_on: false, .. }));
        Some(talked && !begins)
    }

    /// Whether a mark that opens no call is talked about; none where more text decides. `ends` says that it ends a turn,
    /// and `code` that it stands in code.
    pub(super) fn is_talked_about(&self, io: &Io<'_>, hit: Match, ends: bool, code: bool) -> Option<bool> {
        let before = self.before(io, hit.start)[1];
        // A long run of backticks opens a fence, and emphasis stands on both sides.
        let quoted = match before {
            b'"' | b'\'' => true,
            b'`' => (2..=3).any(|back| byte_before(io.bytes, &self.position.tail, hit.start, back) != b'`'),
            b'*' | b'_' | b'~' if io.bytes.len() == hit.end && !io.last() => return None,
            b'*' | b'_' | b'~' => io.bytes.get(hit.end) == Some(&before),
            _ => false,
        };
        if code && !ends {
            return Some(true);
        }
        let within = quoted || is_opening(self.char_before(io, hit.start));
        // A tag as documents have it is one of theirs where words go on behind it.
        let tag = ends && !is_token(&io.text[hit.start..]) && !matches!(before, b'\n' | b'>');
        if !(code || within || tag) {
            return Some(false);
        }
        Some(match Behind::of(io, hit.end)? {
            Behind::Nothing => false,
            Behind::Line => code,
            Behind::Markup => code || quoted,
            Behind::Words { apart, .. } => code || quoted || apart || tag,
        })
    }
}

/// True for a sign that a sentence has.
fn is_sign(c: char) -> bool {
    c.is_ascii_punctuation() || (!c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace())
}

/// True for what stands before a mark that is talked about: the next word would follow it as well.
fn is_opening(c: char) -> bool {
    matches!(c, ' ' | '(' | '[' | '/' | '|' | '=') || (!c.is_ascii() && is_sign(c))
}

/// True for what a sentence goes on with.
pub(super) fn goes_on(first: char) -> bool {
    first.is_lowercase() || matches!(first, ',' | '.' | ';' | ':' | ')' | '?' | '!' | '–' | '—')
}
