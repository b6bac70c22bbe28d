//! Marks that are talked about: words of a sentence, code in a fence, lines of a quotation.
//!
//! What opens a call is tried as one, and tells by that what it is. Any other mark is told by what stands beside it.

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
    /// Words. `apart` says that they do not touch the mark, unless as a sentence does.
    Words { apart: bool },
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
            _ => Some(Self::Words { apart: !space.is_empty() || rest[0].is_ascii_punctuation() }),
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

    /// True for a mark that begins a line of a quotation.
    pub(super) fn is_quoted_line(&self, io: &Io<'_>, start: usize) -> bool {
        self.before(io, start) == *b"> " && self.tail_before(io, start).bytes().ends_with(b"\n> ")
    }

    /// Whether a mark that begins or ends thinking is talked about: a sentence goes on with it and behind it. None where more
    /// text decides.
    pub(super) fn is_thought_talked_about(&self, io: &Io<'_>, hit: Match, code: bool) -> Option<bool> {
        let [outside, before] = self.before(io, hit.start);
        let begins = before == b' ' && matches!(outside, b'.' | b'!' | b'?' | b':' | b'\n' | b'>' | b' ');
        if begins { Some(code) } else { self.is_talked_about(io, hit, false, code) }
    }

    /// Whether a mark that opens no call is talked about; none where more text decides. `ends` says that it ends a turn,
    /// and `code` that it stands in code.
    pub(super) fn is_talked_about(&self, io: &Io<'_>, hit: Match, ends: bool, code: bool) -> Option<bool> {
        let [outside, before] = self.before(io, hit.start);
        // A run of backticks opens a fence, and emphasis stands on both sides.
        let quoted = match before {
            b'"' | b'\'' => true,
            b'`' => outside != b'`',
            b'*' | b'_' | b'~' if io.bytes.len() == hit.end && !io.last() => return None,
            b'*' | b'_' | b'~' => io.bytes.get(hit.end) == Some(&before),
            _ => false,
        };
        if code && !ends {
            return Some(true);
        }
        let within = quoted || matches!(before, b' ' | b'(');
        // A tag as documents have it is one of theirs where words go on behind it.
        let tag = ends && !is_token(&io.text[hit.start..]) && !matches!(before, b'\n' | b'>');
        if !(code || within || tag) {
            return Some(false);
        }
        Some(match Behind::of(io, hit.end)? {
            Behind::Nothing => false,
            Behind::Line => code,
            Behind::Markup => code || quoted,
            Behind::Words { apart } => code || quoted || apart || tag,
        })
    }
}
