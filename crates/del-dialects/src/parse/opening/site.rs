//! What stands at a place of an opening.

use super::{From, Opening, Place};
use crate::dialect::{Codec, HeadForm, Literal, Slot};
use crate::parse::Io;
use crate::parse::character::{first_char, is_name, starts_name};
use crate::parse::plan::{Site, Step, Target, Then, Walk};
use crate::scan::{Anchored, Match, Scan, is_word};
use crate::tool::Tool;
use crate::turn::Turn;
use crate::value::white_space;

pub(super) enum Settled {
    More,
    On,
    Nothing,
    /// A call without a name.
    Nameless,
    /// Something else stands where the arguments should begin.
    Malformed,
    /// Nothing stands between the marks that were passed and the closer of this step.
    Empty(usize),
    /// The opening begins once more, here: what came before means nothing.
    Again(usize),
    /// The arguments begin at `look`, or this target was found.
    Body(Option<Target>),
}

pub(super) fn site(
    opening: &mut Opening,
    walk: &Walk,
    io: &mut Io<'_>,
    tried: &mut Vec<(usize, u64)>,
) -> Settled {
    let again = opening.from == From::Gap && opening.step == 0;
    let expected = walk.expected();
    let site = if again { &expected.again } else { &expected.sites[opening.step] };
    if opening.scan.is_fresh() && !io.pass_space(io.at + opening.token) {
        return Settled::Nothing;
    }
    let found = io.follow(&site.marks, &mut opening.scan, &mut opening.token);
    match found {
        Anchored::More => Settled::More,
        Anchored::Found(hit) => {
            let target = site.targets[hit.pattern as usize];
            if matches!(target, Target::Step(_)) {
                tried.push((opening.walk, io.base + hit.start as u64));
            }
            // The beginning of a field, or the end of a call without any.
            let half = io.last() && hit.end == io.text.len() && site.goes_on(&io.text[hit.start..]);
            if half && opening.name.is_some() && matches!(target, Target::Empty(_)) {
                return Settled::More;
            }
            passed(opening, walk, target, hit, io)
        }
        Anchored::Nothing => {
            io.rewind(io.at + opening.token);
            opening.scan = Scan::default();
            unmarked(opening, walk, site.then, io)
        }
    }
}

/// What stands here is no mark.
fn unmarked(opening: &mut Opening, walk: &Walk, then: Then, io: &mut Io<'_>) -> Settled {
    let byte = io.bytes[io.look];
    if opening.name.is_some()
        && !opening.bare_tag
        && byte.is_ascii_alphabetic()
        && walk.is_in_tag(opening.step)
    {
        opening.place = Place::Tag;
        return Settled::On;
    }
    match then {
        Then::Head(step) => headless(opening, walk, step, io),
        Then::Args => arguments(opening, walk, byte, io),
        Then::Nothing => Settled::Nothing,
    }
}

/// Where the head of this step should begin.
fn headless(opening: &mut Opening, walk: &Walk, step: usize, io: &Io<'_>) -> Settled {
    if starts_name(io.text, io.look) {
        opening.missed |= walk.misses(opening.step, step);
        opening.place = Place::Head(step);
        return Settled::On;
    }
    // A head that holds only an id may be empty.
    if walk.head(step).is_some_and(|head| !head.parts.contains(&Slot::Name)) {
        opening.enter(step + 1, opening.token);
        return Settled::On;
    }
    // Without a mark of its own, a bracket is data.
    if opening.marked && (!walk.is_bare() || walk.is_told(opening.opened)) {
        return nameless(&walk.expected().sites[step + 1], walk, &io.bytes[io.look..]);
    }
    Settled::Nothing
}

/// Where the arguments should begin, with this byte.
fn arguments(opening: &mut Opening, walk: &Walk, byte: u8, io: &mut Io<'_>) -> Settled {
    let first = !walk.skips(opening.step, walk.args);
    if begins(walk, byte) {
        opening.missed |= walk.misses(opening.step, walk.args);
        return Settled::Body(None);
    }
    if walk.takes_object() && first && byte == b'"' {
        return Settled::Body(None);
    }
    if ((walk.takes_object() || walk.is_loose()) && first || walk.takes_fields())
        && opening.marked
        && !walk.is_line()
        && !walk.is_bare()
    {
        return Settled::Malformed;
    }
    // In a format of lines, the end of the line says that there are no arguments.
    if walk.is_line() && io.bytes[..io.look].ends_with(b"\n") {
        io.rewind(io.at + opening.name.map_or(opening.token, |(_, end)| end));
        return Settled::Body(Some(Target::Closer(walk.args)));
    }
    Settled::Nothing
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
            Settled::On
        }
        Target::Again if opening.marked => Settled::Again(hit.start),
        Target::Again => Settled::Nothing,
        // Without a mark of its own an empty list is data.
        Target::Empty(step)
            if opening.marked
                && opening.name.is_none()
                && (!walk.is_bare() || walk.is_told(opening.opened)) =>
        {
            Settled::Empty(step)
        }
        Target::Field | Target::Closer(_) if opening.name.is_none() && walk.dialect.tool.is_none() => {
            Settled::Nameless
        }
        Target::Field | Target::Closer(_) => {
            opening.missed |=
                !io.text[hit.start..hit.end].ends_with("/>") && walk.misses(opening.step, walk.args);
            Settled::Body(Some(target))
        }
        Target::Stray if opening.name.is_some() => {
            opening.missed = true;
            opening.enter(opening.step, behind);
            Settled::On
        }
        Target::Empty(_)
        | Target::Opener { .. }
        | Target::Header
        | Target::Other
        | Target::Separator
        | Target::Stray => Settled::Nothing,
    }
}

pub(super) fn head(opening: &mut Opening, walk: &Walk, step: usize, io: &mut Io<'_>, turn: &Turn) -> Settled {
    let max = turn.limits.name;
    if opening.scan.is_fresh() && io.look == io.at + opening.token {
        io.look += white_space(&io.bytes[io.look..]);
        opening.token = io.look - io.at;
    }
    if walk.head(step).is_some_and(|form| !form.attributes.is_empty()) {
        return attributes(opening, walk, step, io, max);
    }
    let from = opening.token;
    let most = max + walk.head(step).map_or(0, HeadForm::frame);
    while io.look < io.bytes.len() && io.look - io.at - from <= most && is_name(io.text, io.look) {
        io.look += first_char(io.text, io.look);
    }
    if io.look - io.at - from > most {
        return Settled::Nothing;
    }
    if io.look == io.bytes.len() {
        return Settled::More;
    }
    if io.bytes[io.look] == b' ' {
        match named_with_spaces(&io.text[io.at + from..], &turn.tools, io.last()) {
            None => return Settled::More,
            Some(len) => io.look = io.look.max(io.at + from + len),
        }
    }
    if let Some(len) = walk.mark_in_name(step + 1, &io.text[io.at + from..io.look]) {
        io.rewind(io.at + from + len);
    }
    let text = &io.text[io.at + from..io.look];
    let named = !text.is_empty() && !text.ends_with(':');
    let Some(form) = walk.head(step).filter(|_| named) else { return Settled::Nothing };
    let (name, id) = form.read(text);
    if form.parts.contains(&Slot::Name) {
        match name.filter(|name| !name.is_empty()) {
            Some(name) if name.len() > max => return Settled::Nothing,
            Some(name) => opening.name = Some((from + name.start, from + name.end)),
            None if id.is_some() && walk.takes_object() => {}
            None => return Settled::Nothing,
        }
    }
    if let Some(id) = id {
        opening.id = Some((from + id.start, from + id.end));
    }
    opening.doubted = form.is_half(text);
    opening.enter(step + 1, io.look - io.at);
    Settled::On
}

/// How long the declared name with white space in it is that stands here, if any does; none where more text decides.
fn named_with_spaces(text: &str, tools: &[Tool], last: bool) -> Option<usize> {
    let spaced = || tools.iter().map(|tool| tool.name.as_str()).filter(|name| name.contains(' '));
    if !last && spaced().any(|name| name.len() > text.len() && name.starts_with(text)) {
        return None;
    }
    Some(spaced().filter(|name| text.starts_with(name)).map(str::len).max().unwrap_or(0))
}

/// A head of attributes: it reaches up to the next mark.
fn attributes(opening: &mut Opening, walk: &Walk, step: usize, io: &mut Io<'_>, max: usize) -> Settled {
    let from = opening.token;
    let most = io.at + from + MAX_ATTRIBUTES;
    let window = &io.bytes[..io.bytes.len().min(most)];
    let marks = &walk.expected().sites[step + 1].marks;
    let Some(hit) = marks.find(&mut opening.scan, window, &mut io.look, &mut io.again) else {
        return if window.len() == most { Settled::Nothing } else { Settled::More };
    };
    let Some(form) = walk.head(step) else { return Settled::Nothing };
    let (name, id) = form.read(&io.text[io.at + from..hit.start]);
    io.rewind(hit.start);
    let place = |range: std::ops::Range<usize>| (from + range.start, from + range.end);
    if name.as_ref().is_some_and(|name| name.len() > max) {
        return Settled::Nothing;
    }
    opening.name = name.filter(|name| !name.is_empty()).map(place);
    opening.id = id.map(place);
    io.rewind(hit.start);
    if opening.name.is_none() {
        return Settled::Nameless;
    }
    opening.enter(step + 1, hit.start - io.at);
    Settled::On
}

/// Behind the name in a tag: other attributes, up to its bracket.
pub(super) fn tag(opening: &mut Opening, io: &mut Io<'_>) -> Settled {
    let from = io.at + opening.token;
    let window = &io.bytes[..io.bytes.len().min(from + MAX_ATTRIBUTES)];
    while io.look < window.len() && !matches!(window[io.look], b'>' | b'<' | b'\n') {
        io.look += 1;
    }
    if io.look == window.len() && io.look < from + MAX_ATTRIBUTES {
        return Settled::More;
    }
    let attributes = &window[from..io.look];
    opening.place = Place::Site;
    if window.get(io.look) == Some(&b'>') && memchr::memchr(b'=', attributes).is_some() {
        opening.token = io.look - io.at;
    } else {
        opening.bare_tag = true;
        io.rewind(from);
    }
    Settled::On
}

impl Walk {
    /// True behind a name that is the value of an attribute, before the bracket that closes its tag.
    fn is_in_tag(&self, step: usize) -> bool {
        let before = self.steps[..step].iter().rposition(|step| matches!(step, Step::Head(_)));
        let opens = before.and_then(|head| self.steps[..head].iter().rev().find_map(distinct));
        let closes = self.steps[step..].iter().find_map(distinct);
        opens.is_some_and(|mark| mark.trim_end_matches(['"', '\'']).ends_with('='))
            && closes.is_some_and(|mark| mark.starts_with('>'))
    }

    fn spellings(&self, step: usize) -> &[String] {
        self.steps.get(step).and_then(Step::mark).map_or(&[], |mark| &mark.read)
    }

    /// Where a mark that follows the name begins in what could be a name as a whole: `get_weather@@`. A mark of one
    /// character ends it, and so does one that goes on behind it; inside it they are parts of the name.
    fn mark_in_name(&self, behind: usize, text: &str) -> Option<usize> {
        let spellings = self.expected().sites[behind].targets.iter().flat_map(|target| match target {
            Target::Step(step) | Target::Closer(step) => self.spellings(*step),
            _ => Default::default(),
        });
        let places = spellings.filter_map(|mark| {
            let within =
                mark.char_indices().find(|(at, _)| !is_name(mark, *at)).map_or(mark.len(), |(at, _)| at);
            let held = &mark[..within];
            match held.bytes().next() {
                None => None,
                Some(byte) if byte == b'_' || !byte.is_ascii_punctuation() => None,
                Some(_) if held.len() > 1 && held == mark => text.find(held),
                Some(_) => text.strip_suffix(held).map(str::len),
            }
        });
        places.filter(|place| *place > 0).min()
    }
}

/// What a mark is written as, unless it is a quote alone.
fn distinct(step: &Step) -> Option<&str> {
    step.mark().map(|mark| mark.write.as_str()).filter(|mark| mark.len() > 1 || *mark == ">")
}

/// The longest head of attributes, in bytes.
const MAX_ATTRIBUTES: usize = 512;

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
        Codec::Raw { .. } | Codec::Lines(_) => true,
        Codec::Object(Literal::Json) if walk.dialect.takes_text => true,
        Codec::Fields(form) if form.free => is_word(byte),
        Codec::Object(Literal::Loose(_)) => walk.syntax.opens_arguments(byte),
        _ => byte == b'{',
    }
}
