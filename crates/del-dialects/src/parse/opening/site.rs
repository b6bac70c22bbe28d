//! What stands at a place of an opening.

use super::{From, MAX_SPACE, Opening, Place};
use crate::codec::json::white_space;
use crate::dialect::{Codec, Literal, Slot};
use crate::parse::Io;
use crate::parse::automaton::{Anchored, Match, Scan};
use crate::parse::plan::{Site, Target, Then, Walk};
use crate::parse::text::first_char;

pub(super) enum Settled {
    More,
    On,
    Nothing,
    /// A call without a name.
    Nameless,
    /// Something else stands where the arguments should begin.
    Malformed,
    /// The opening begins once more, here: what came before means nothing.
    Again(usize),
    /// The arguments begin at `look`, or this target was found.
    Body(Option<Target>),
}

pub(super) fn site(opening: &mut Opening, walk: &Walk, io: &mut Io<'_>) -> Settled {
    let again = opening.from == From::Gap && opening.step == 0;
    let site = if again { &walk.again } else { &walk.sites[opening.step] };
    if opening.scan.is_fresh() {
        io.look += white_space(&io.bytes[io.look..]);
        if io.look - (io.at + opening.token) > MAX_SPACE {
            return Settled::Nothing;
        }
    }
    if io.look == io.bytes.len() && (!io.last() || opening.scan.is_fresh()) {
        return Settled::More;
    }
    if opening.scan.is_fresh() {
        opening.token = io.look - io.at;
    }
    let found = match site.marks.follow(&mut opening.scan, io.bytes, &mut io.look, &mut io.again) {
        Anchored::More if io.last() => {
            let hit = site.marks.take_whole(&mut opening.scan, &mut io.look);
            hit.map_or(Anchored::More, Anchored::Found)
        }
        found => found,
    };
    match found {
        Anchored::More => Settled::More,
        Anchored::Found(hit) => passed(opening, walk, site.targets[hit.pattern as usize], hit, io),
        Anchored::Nothing => {
            io.rewind(io.at + opening.token);
            opening.scan = Scan::default();
            let byte = io.bytes[io.look];
            match site.then {
                Then::Head(step) if starts_name(io.text, io.look) => {
                    opening.missed |= walk.misses(opening.step, step);
                    opening.place = Place::Head(step);
                    Settled::On
                }
                Then::Head(step) if opening.marked => {
                    nameless(&walk.sites[step + 1], walk, &io.bytes[io.look..])
                }
                Then::Args if begins(walk, byte) => {
                    opening.missed |= walk.misses(opening.step, walk.args);
                    Settled::Body(None)
                }
                Then::Args if walk.takes_object() && opening.step == walk.args && byte == b'"' => {
                    Settled::Body(None)
                }
                Then::Args
                    if (walk.takes_object() || walk.is_loose())
                        && opening.step == walk.args
                        && opening.marked
                        && !walk.is_line()
                        && !walk.is_bare() =>
                {
                    Settled::Malformed
                }
                // In a format of lines, the end of the line says that there are no arguments.
                Then::Args if walk.is_line() && io.bytes[..io.look].ends_with(b"\n") => {
                    io.rewind(io.at + opening.name.map_or(opening.token, |(_, end)| end));
                    Settled::Body(Some(Target::Closer(walk.args)))
                }
                _ => Settled::Nothing,
            }
        }
    }
}

pub(super) fn passed(
    opening: &mut Opening,
    walk: &Walk,
    target: Target,
    hit: Match,
    io: &mut Io<'_>,
) -> Settled {
    let behind = hit.end - io.at;
    match target {
        Target::Step(step) => {
            opening.pass(walk, step, behind);
            io.passed.push((opening.walk, io.base + hit.start as u64));
            Settled::On
        }
        Target::Again => Settled::Again(hit.start),
        Target::Field | Target::Closer(_) if opening.name.is_none() && walk.dialect.tool.is_none() => {
            Settled::Nameless
        }
        Target::Field | Target::Closer(_) => {
            opening.missed |=
                !io.text[hit.start..hit.end].ends_with("/>") && walk.misses(opening.step, walk.args);
            Settled::Body(Some(target))
        }
        Target::Opener { .. } | Target::Separator => Settled::Nothing,
    }
}

pub(super) fn head(opening: &mut Opening, walk: &Walk, step: usize, io: &mut Io<'_>, max: usize) -> Settled {
    if opening.scan.is_fresh() && io.look == io.at + opening.token {
        io.look += white_space(&io.bytes[io.look..]);
        opening.token = io.look - io.at;
    }
    while io.look < io.bytes.len() && is_name(io.text, io.look) {
        io.look += first_char(io.text, io.look);
    }
    let from = opening.token;
    if io.look - io.at - from > max {
        return Settled::Nothing;
    }
    if io.look == io.bytes.len() {
        return Settled::More;
    }
    let text = &io.text[io.at + from..io.look];
    let named = !text.is_empty() && !text.ends_with(':');
    let Some(form) = walk.head(step).filter(|_| named) else { return Settled::Nothing };
    let (name, id) = form.read(text);
    if form.parts.contains(&Slot::Name) {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Settled::Nothing };
        opening.name = Some((from + name.start, from + name.end));
    }
    if let Some(id) = id {
        opening.id = Some((from + id.start, from + id.end));
    }
    opening.enter(step + 1, io.look - io.at);
    Settled::On
}

/// What follows where a name should be: all the rest of a call, or something else.
pub(super) fn nameless(behind: &Site, walk: &Walk, bytes: &[u8]) -> Settled {
    match behind.marks.starts(bytes) {
        Some(true) => Settled::Nameless,
        Some(false) if behind.then == Then::Args && begins(walk, bytes[0]) => Settled::Nameless,
        Some(false) => Settled::Nothing,
        None => Settled::More,
    }
}

/// True when the arguments may begin with this byte.
pub(super) fn begins(walk: &Walk, byte: u8) -> bool {
    match walk.dialect.codec() {
        Codec::Raw { .. } => true,
        Codec::Object(Literal::Loose(loose)) => loose.closer(byte).is_some(),
        _ => byte == b'{',
    }
}

/// True when the character at `at` may begin a name.
pub(in crate::parse) fn starts_name(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// True when the character at `at` may be part of a name.
pub(in crate::parse) fn is_name(text: &str, at: usize) -> bool {
    let byte = text.as_bytes()[at];
    if byte < 0x80 {
        return byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/' | b'@' | b'$' | b'+' | b'#');
    }
    text[at..].chars().next().is_some_and(char::is_alphanumeric)
}
