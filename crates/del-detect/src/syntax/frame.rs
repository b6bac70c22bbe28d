//! The markup around arguments: what a call begins and ends with, and what stands around a group of calls.

use std::ops::Range;

use super::Sample;
use super::arguments::{Arguments, Place, Way};
use crate::text;

/// How calls are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Before the first call, and behind the last.
    pub(crate) block: [String; 2],
    /// One call, in order.
    pub(crate) parts: Vec<Part>,
    /// Between two calls.
    pub(crate) between: String,
    /// What the samples leave open.
    pub(crate) open: Vec<String>,
}

impl Shape {
    /// How much of what is written the shape explains: JSON that parses to the value more than text around it.
    pub(crate) fn explains(&self) -> usize {
        let arguments = self.parts.iter().find_map(|part| match part {
            Part::Arguments(arguments) => Some(arguments),
            _ => None,
        });
        match arguments {
            Some(Arguments::Object | Arguments::Call { python: false, .. }) => 3,
            Some(Arguments::Loose { .. } | Arguments::Call { .. }) => 2,
            Some(Arguments::Fields(fields)) => usize::from(fields.json),
            None => 0,
        }
    }

    /// How many bytes its marks have, white space aside.
    pub(crate) fn marks(&self) -> usize {
        let own = self.parts.iter().map(|part| match part {
            Part::Mark(mark) => mark.trim().len(),
            _ => 0,
        });
        own.sum::<usize>() + self.block.iter().map(|mark| mark.trim().len()).sum::<usize>()
    }
}

/// A part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Mark(String),
    Head(String),
    Arguments(Arguments),
}

/// The slots of one call in its sample: name, id and arguments, in order.
struct Core {
    slots: Vec<(Range<usize>, Slot)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Slot {
    Head(String),
    Arguments,
}

impl Core {
    fn start(&self) -> usize {
        self.slots.first().map_or(0, |(span, _)| span.start)
    }

    /// True for a call without arguments.
    fn is_bare(&self) -> bool {
        self.slots.iter().any(|(span, slot)| *slot == Slot::Arguments && span.is_empty())
    }

    fn end(&self) -> usize {
        self.slots.last().map_or(0, |(span, _)| span.end)
    }
}

/// The frame of calls whose arguments were found.
pub(super) fn shape(samples: &[&Sample], way: &Way) -> Option<Shape> {
    let cores: Vec<Vec<Core>> =
        samples.iter().zip(&way.places).map(|(sample, places)| cores(sample, places)).collect();
    let mut open = Vec::new();
    // A call without arguments shows less of its markup.
    let shows = |cores: &&Vec<Core>| cores.iter().all(|core| !core.is_bare());
    let some = cores.iter().any(|cores| shows(&cores));
    let all: Vec<(&&Sample, &Vec<Core>)> =
        samples.iter().zip(&cores).filter(|(_, cores)| !some || shows(cores)).collect();
    let befores = all.iter().filter_map(|(s, cores)| Some(&s.text[..cores.first()?.start()]));
    let before = shared(befores, text::common_suffix, |t, n| &t[t.len() - n..])?;
    let behinds = all.iter().filter_map(|(s, cores)| Some(&s.text[cores.last()?.end()..]));
    let behind = shared(behinds, text::common_prefix, |t, n| &t[..n])?;
    let (before, behind) = (before.trim_start(), behind.trim_end());
    let gaps = all.iter().flat_map(|(sample, cores)| {
        cores.windows(2).filter_map(|pair| sample.text.get(pair[0].end()..pair[1].start()))
    });
    let gaps: Vec<&str> = gaps.collect();
    let gap = match gaps.as_slice() {
        [] => None,
        [first, rest @ ..] if rest.iter().all(|gap| gap == first) => Some((*first).to_owned()),
        // Something between two calls varies, and is left out.
        _ => {
            open.push("what stands between two calls differs from answer to answer".to_owned());
            let start = shared(gaps.iter().copied(), text::common_prefix, |t, n| &t[..n])?;
            let end = shared(gaps.iter().copied(), text::common_suffix, |t, n| &t[t.len() - n..])?;
            Some(format!("{start}{end}"))
        }
    };
    let (prefix, suffix, between) = match &gap {
        Some(gap) => split(before, behind, gap),
        None => {
            open.push("how two calls of one answer are written: taken to be one after the other".to_owned());
            in_a_list(before, behind).unwrap_or((before, behind, ""))
        }
    };
    let block = [before[..before.len() - prefix.len()].to_owned(), behind[suffix.len()..].to_owned()];
    if counts(&block[0], between) {
        open.push(
            "the marks count the calls, for which a description has no words: two are read, no more"
                .to_owned(),
        );
    }
    let mut parts = vec![Part::Mark(prefix.to_owned())];
    parts.extend(inner(samples, &cores, way)?);
    parts.push(Part::Mark(suffix.to_owned()));
    parts.retain(|part| !matches!(part, Part::Mark(mark) if mark.is_empty()));
    open.extend(super::open::questions(samples, &way.arguments));
    Some(Shape { block, parts: with_attributes(parts), between: between.to_owned(), open })
}

/// What all texts share.
fn shared<'t>(
    mut texts: impl Iterator<Item = &'t str>,
    count: impl Fn(&str, &str) -> usize,
    cut: impl Fn(&'t str, usize) -> &'t str,
) -> Option<&'t str> {
    let first = texts.next()?;
    Some(texts.fold(first, |known, text| cut(known, count(known, text))))
}

/// Which part of the markup belongs to each call, and which to the group: what is there again between two calls.
fn split<'t>(before: &'t str, behind: &'t str, gap: &'t str) -> (&'t str, &'t str, &'t str) {
    let prefix = &before[before.len() - text::common_suffix(before, gap)..];
    let mut prefix = prefix.trim_start();
    let suffix = behind[..text::common_prefix(behind, gap)].trim_end();
    if prefix.len() + suffix.len() > gap.len() {
        // A mark that could be either closes.
        prefix = gap[suffix.len()..].trim_start();
    }
    let between = &gap[suffix.len()..gap.len() - prefix.len()];
    (prefix, suffix, between)
}

/// True where what stands before the first call stands between two as well, but for a number.
fn counts(open: &str, between: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let other = plain(between);
    other.len() < between.len()
        && !open.ends_with(between.trim_start())
        && plain(open).trim_end().ends_with(other.trim())
}

/// Where brackets of a list stand around a call, it is an item of it.
fn in_a_list<'t>(before: &'t str, behind: &'t str) -> Option<(&'t str, &'t str, &'t str)> {
    let open = before.trim_end().strip_suffix('[')?.len() + 1;
    behind.trim_start().starts_with(']').then(|| (&before[open..], "", ", "))
}

/// The slots of the calls of a sample.
fn cores(sample: &Sample, places: &[Place]) -> Vec<Core> {
    let mut from = 0;
    let mut cores = Vec::new();
    for (number, (place, call)) in places.iter().zip(&sample.calls).enumerate() {
        let mut slots = vec![(place.arguments.clone(), Slot::Arguments)];
        let id = call.id.as_deref().filter(|id| !id.is_empty());
        let before = sample.text.get(from..place.arguments.start).unwrap_or_default();
        // The object may stand in another one, which has the id.
        if place.name.is_none()
            && let Some((at, id)) = id.and_then(|id| Some((before.find(id)? + from, id)))
        {
            slots.push((at..at + id.len(), Slot::Head("{id}".to_owned())));
        }
        if let Some(name) = &place.name {
            let id_at = id.and_then(|id| {
                let until = places
                    .get(number + 1)
                    .and_then(|next| next.name.clone())
                    .map_or(sample.text.len(), |next| next.start);
                let at = sample.text.get(from..until)?.find(id)? + from;
                Some(at..at + id.len())
            });
            match id_at {
                Some(id_at) if id_at.start <= name.start && id_at.end >= name.end => {
                    let id = &sample.text[id_at.clone()];
                    let form = id.replacen(&call.name, "{name}", 1);
                    slots.push((id_at, Slot::Head(numbered(&form, number))));
                }
                Some(id_at) if id_at.end <= place.arguments.start => {
                    slots.push((name.clone(), Slot::Head("{name}".to_owned())));
                    slots.push((id_at, Slot::Head("{id}".to_owned())));
                }
                _ => {
                    let (name, form) = numbered_before(&sample.text, name, number)
                        .unwrap_or_else(|| counted(&sample.text, name, place.arguments.start, number));
                    slots.push((name, Slot::Head(form)));
                }
            }
        }
        slots.sort_by_key(|(span, _)| span.start);
        from = place.arguments.end;
        cores.push(Core { slots });
    }
    cores
}

/// A form whose last number is the call's own place.
fn numbered(form: &str, number: usize) -> String {
    match form.strip_suffix(&number.to_string()) {
        Some(rest) if !rest.ends_with(|c: char| c.is_ascii_digit()) => format!("{rest}{{index}}"),
        _ => form.to_owned(),
    }
}

/// A name with the call's number in an attribute before its own: `n="1" tool="name`, or an id that ends with it.
fn numbered_before(text: &str, name: &Range<usize>, number: usize) -> Option<(Range<usize>, String)> {
    let tag = &text[text[..name.start].rfind('<')?..name.start];
    let (before, attribute) = tag.strip_suffix("=\"")?.rsplit_once(' ')?;
    let (counter, value) = before.rsplit_once(' ')?.1.strip_suffix('"')?.split_once("=\"")?;
    let digits = value.trim_start_matches(|c: char| !c.is_ascii_digit());
    let slot = match digits.parse::<usize>().ok()? {
        counted if counted != number && counted != number + 1 => return None,
        _ if digits.len() < value.len() => "{id}",
        counted if counted == number => "{index}",
        _ => "{number}",
    };
    let len = counter.len() + value.len() + attribute.len() + "=\"\" =\"".len();
    Some((name.start - len..name.end, format!("{counter}=\"{slot}\" {attribute}=\"{{name}}")))
}

/// A name with the call's number behind it, such as `name:0` or `name" index="1`.
fn counted(text: &str, name: &Range<usize>, until: usize, number: usize) -> (Range<usize>, String) {
    let plain = (name.clone(), "{name}".to_owned());
    let behind = text.get(name.end..until).unwrap_or_default();
    let Some(at) = behind.find(|c: char| c.is_ascii_digit()) else { return plain };
    let digits = behind[at..].find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len() - at);
    let (between, found) = (&behind[..at], &behind[at..at + digits]);
    let end = name.end + at + digits;
    if found == number.to_string() && (between.len() == 1 || between.ends_with("=\"")) {
        (name.start..end, format!("{{name}}{between}{{index}}"))
    } else if found == (number + 1).to_string() && between.ends_with("=\"") {
        (name.start..end, format!("{{name}}{between}{{number}}"))
    } else {
        plain
    }
}

/// The heads, the marks between them and the arguments, if all calls have them alike.
fn inner(samples: &[&Sample], cores: &[Vec<Core>], way: &Way) -> Option<Vec<Part>> {
    let all =
        samples.iter().zip(cores).flat_map(|(sample, cores)| cores.iter().map(|core| (&sample.text, core)));
    let mut known: Option<Vec<Part>> = None;
    for (text, core) in all {
        let mut parts = Vec::new();
        let mut at = core.start();
        for (span, slot) in &core.slots {
            parts.push(Part::Mark(text.get(at..span.start)?.to_owned()));
            parts.push(match slot {
                Slot::Head(form) => Part::Head(form.clone()),
                Slot::Arguments => Part::Arguments(way.arguments.clone()),
            });
            at = span.end;
        }
        known = match known {
            None => Some(parts),
            Some(known) => Some(merged(known, parts)?),
        };
    }
    known
}

/// Two views of the same parts: the marks may differ in white space, and the fuller one counts.
fn merged(a: Vec<Part>, b: Vec<Part>) -> Option<Vec<Part>> {
    if a.len() != b.len() {
        return None;
    }
    a.into_iter()
        .zip(b)
        .map(|pair| match pair {
            (Part::Mark(a), Part::Mark(b)) if a.trim() == b.trim() => {
                Some(Part::Mark(if b.len() > a.len() { b } else { a }))
            }
            // A head that counts tells more than one that happens to look plain.
            (Part::Head(a), Part::Head(b)) if a == b => Some(Part::Head(a)),
            (Part::Arguments(a), Part::Arguments(_)) => Some(Part::Arguments(a)),
            _ => None,
        })
        .collect()
}

/// Heads among attributes: `tool="{name}" index="{number}"` is one head, and its quotes are part of it.
fn with_attributes(mut parts: Vec<Part>) -> Vec<Part> {
    for place in 1..parts.len() {
        let Part::Head(form) = &parts[place] else { continue };
        if !["{number}", "\"{index}", "=\"{id}\" "].iter().any(|slot| form.contains(slot)) {
            continue;
        }
        let form = form.clone();
        let Part::Mark(mark) = &parts[place - 1] else { continue };
        let begun = mark.trim_end_matches('"').rfind(' ').filter(|_| mark.ends_with("=\""));
        let Some(at) = begun.or_else(|| mark.strip_suffix(' ').map(str::len)) else { continue };
        let (mark, attribute) = (mark[..=at].to_owned(), mark[at + 1..].to_owned());
        parts[place - 1] = Part::Mark(mark);
        let mut closed = false;
        if let Some(Part::Mark(behind)) = parts.get_mut(place + 1)
            && let Some(rest) = behind.strip_prefix('"')
        {
            *behind = rest.to_owned();
            closed = true;
        }
        let quote = if closed { "\"" } else { "" };
        parts[place] = Part::Head(format!("{attribute}{form}{quote}"));
    }
    parts
}
