//! The opening of a call as its dialect writes it: most models write nothing else, and it is passed at once. Anything else,
//! and what is not there as a whole, is read step by step.

use super::{From, Opening, Place};
use crate::codec::reading::MAX_SPACE;
use crate::parse::character::{first_char, is_name, starts_name};
use crate::parse::plan::{Expect, Strict, Walk};
use crate::parse::{Engine, Flow, Io, State};
use crate::scan::Match;
use crate::value::white_space;

impl Engine {
    /// Tries what may open a call. A mark that stands there was found already, and is not looked at again.
    pub(in crate::parse) fn begin_opening(
        &mut self,
        io: &mut Io<'_>,
        mut opening: Opening,
        mark: Option<(usize, Match)>,
    ) -> Flow {
        let known = self.tried.passed.len();
        if let Some(passed) = opening.as_written(io, self.turn.limits.name, &mut self.tried.passed) {
            io.look = io.at + passed.token;
            self.state = State::Opening(passed);
            return self.begin(io, None);
        }
        self.tried.passed.truncate(known);
        if let Some((step, hit)) = mark {
            self.tried.passed.push((opening.walk, io.base + hit.start as u64));
            opening.pass(&io.plan.walks[opening.walk], step, hit.end - io.at);
        }
        io.rewind(io.at + opening.token);
        self.state = State::Opening(opening);
        Flow::Next
    }
}

impl Strict {
    /// True for text that begins with what opens a block.
    fn opens_block(&self, text: &str) -> bool {
        let first = self.openers.first().filter(|_| self.block > 0);
        matches!(first, Some(Expect::Mark(_, mark, _)) if text.starts_with(mark.as_str()))
    }
}

impl Opening {
    /// The opening behind all marks of its dialect, where they are written here as they should be, and an object follows.
    fn as_written(&self, io: &Io<'_>, max_name: usize, tried: &mut Vec<(usize, u64)>) -> Option<Self> {
        let walk = &io.plan.walks[self.walk];
        let strict = walk.expected().strict.as_ref()?;
        let mut opening =
            Self { place: Place::Site, ..Self::new(self.walk, self.start, self.found, self.from) };
        let block = self.from != From::Gap || strict.opens_block(&io.text[io.at + self.start..]);
        for expect in strict.openers.iter().skip(if block { 0 } else { strict.block }) {
            let at = io.at + opening.token;
            let at = at + space(&io.bytes[at..])?;
            match expect {
                Expect::Mark(step, mark, longer) => {
                    let rest = &io.bytes[at..];
                    if !rest.starts_with(mark.as_bytes())
                        || longer.iter().any(|longer| rest.starts_with(longer.as_bytes()))
                    {
                        return None;
                    }
                    // The mark that it was found by is known.
                    if self.from == From::Gap || opening.marked {
                        tried.push((self.walk, io.base + at as u64));
                    }
                    opening.pass(walk, *step, at + mark.len() - io.at);
                }
                Expect::Head(step) => opening.pass_name(walk, *step, io, at, max_name)?,
            }
        }
        let at = io.at + opening.token;
        let at = at + space(&io.bytes[at..])?;
        opening.token = at - io.at;
        (io.bytes.get(at) == Some(&b'{')).then_some(opening)
    }

    fn pass_name(&mut self, walk: &Walk, step: usize, io: &Io<'_>, from: usize, max: usize) -> Option<()> {
        let form = walk.head(step)?;
        let mut end = from;
        while end < io.bytes.len() && end - from <= max && is_name(io.text, end) {
            end += first_char(io.text, end);
        }
        let text = &io.text[from..end];
        if end == io.bytes.len() || text.len() > max || !starts_name(text, 0) || text.ends_with(':') {
            return None;
        }
        let (name, id) = form.read(text);
        let place = |range: std::ops::Range<usize>| (from - io.at + range.start, from - io.at + range.end);
        self.name = Some(place(name.filter(|name| !name.is_empty())?));
        self.id = id.map(place);
        self.doubted = form.is_half(text);
        self.enter(step + 1, end - io.at);
        Some(())
    }
}

/// White space before a mark, if it is no more than may stand there.
fn space(bytes: &[u8]) -> Option<usize> {
    let space = white_space(&bytes[..bytes.len().min(MAX_SPACE + 1)]);
    (space <= MAX_SPACE).then_some(space)
}
