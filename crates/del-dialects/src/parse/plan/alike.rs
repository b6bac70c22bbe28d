//! Openings that two dialects read alike: trying the second one is in vain where the first has failed.

use super::{Opener, Step, Walk};
use crate::codec::call::is_usual;
use crate::dialect::{Codec, Need};

/// Adds an opening to those of one spelling, unless one that is tried before it reads just the same.
pub(super) fn add(openers: &mut Vec<Opener>, opener: Opener, walks: &[Walk]) {
    let alike = |known: &Opener| {
        (known.skips, known.line_start) <= (opener.skips, opener.line_start)
            && walks[known.walk].opens_like(known, &walks[opener.walk], &opener)
    };
    if !openers.iter().any(alike) {
        openers.push(opener);
    }
}

impl Walk {
    fn opens_like(&self, own: &Opener, other: &Self, opener: &Opener) -> bool {
        if own == opener {
            return true;
        }
        let rest = |walk: &Self, opener: &Opener| {
            let from = opener.step.map_or(walk.args, |step| step + 1);
            from..walk.args.max(from)
        };
        let (mine, theirs) = (&self.steps[rest(self, own)], &other.steps[rest(other, opener)]);
        self.is_bare() == other.is_bare()
            && self.channels().is_none()
            && other.channels().is_none()
            && self.dialect.tool == other.dialect.tool
            && self.dialect.none == other.dialect.none
            && mine.len() == theirs.len()
            && mine.iter().zip(theirs).all(|(mine, theirs)| mine.reads_like(theirs))
            && codecs_read_alike(self.dialect.codec(), other.dialect.codec())
    }
}

impl Step {
    fn reads_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Mark(mine, head), Self::Mark(theirs, other)) => {
                mine.read == theirs.read
                    && mine.line_start == theirs.line_start
                    && (mine.need == Need::Must) == (theirs.need == Need::Must)
                    && head == other
            }
            (Self::Head(mine), Self::Head(theirs)) => mine == theirs,
            (Self::Args, Self::Args) => true,
            _ => false,
        }
    }
}

fn codecs_read_alike(one: &Codec, other: &Codec) -> bool {
    match (one, other) {
        (Codec::Call(one), Codec::Call(other)) => {
            one.python == other.python && (one == other || (is_usual(one) && is_usual(other)))
        }
        _ => one == other,
    }
}
