//! Arguments as keys and values between marks, read off samples.

use std::ops::Range;

use del_dialects::Call;
use serde_json::Value as Json;

use super::Sample;
use super::arguments::{Place, name, value};
use super::literal::Syntax;
use crate::text;

/// How fields are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fields {
    /// With slots for key and value, and perhaps for the type.
    pub(crate) form: String,
    /// The words of `{type}`: for text, an object, a list and anything else.
    pub(crate) types: Option<[String; 4]>,
    /// Values other than texts are written as Python does.
    pub(crate) python: bool,
    /// Objects and lists are as well.
    pub(crate) containers: bool,
    /// Values carry entities or stand in CDATA sections.
    pub(crate) xml: bool,
    /// Texts stand in quotes, as in JSON.
    pub(crate) json: bool,
    /// Each is a line.
    pub(crate) lines: bool,
    /// An item of a list, where objects and lists are fields themselves.
    pub(crate) item: Option<String>,
}

/// What fields may look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Manner {
    /// Texts stand in quotes.
    pub(super) json: bool,
    /// Each is a line.
    pub(super) lines: bool,
}

/// Where the key and the value of an argument stand.
pub(super) type Spans = (Range<usize>, Range<usize>);

/// Finds the name and the fields of a call from `from` on.
pub(super) fn find(
    text: &str,
    from: usize,
    call: &Call,
    manner: Manner,
) -> Option<(Range<usize>, Vec<Spans>)> {
    let arguments = value(call);
    let members = arguments.as_object()?;
    let mut start = from;
    // The name may stand in an id first, so each of its places is tried.
    while let Some(at) = text[start..].find(call.name.as_str()).map(|at| start + at) {
        start = at + call.name.len();
        let Some(found) = name(text, at..start, call) else { continue };
        let mut cursor = found.end;
        let spans = members.iter().map(|(key, value)| {
            let spans = field(text, cursor, key, value, manner)?;
            cursor = spans.1.end;
            Some(spans)
        });
        if let Some(spans) = spans.collect::<Option<Vec<Spans>>>() {
            // It may stand there twice, and the last one is at the arguments.
            let until = spans
                .first()
                .map_or(text::start(&text[found.end..], MAX_MARKS).len() + found.end, |(key, _)| key.start);
            let last = name(text, found.start..until, call).unwrap_or(found);
            return Some((last, spans));
        }
    }
    None
}

/// The next place of a key and, behind it, of its value.
fn field(text: &str, from: usize, key: &str, value: &Json, manner: Manner) -> Option<Spans> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let key_at = text[from..]
        .match_indices(key)
        .map(|(at, _)| from + at)
        .find(|at| !text[..*at].ends_with(word) && !text[at + key.len()..].starts_with(word))?;
    let key_end = key_at + key.len();
    let value_at = match value {
        Json::String(string) if string.is_empty() => return None,
        Json::String(_) if manner.json => place_of(text, key_end, value)?,
        // One spelling may hold another, and the one that begins first is the whole.
        Json::String(string) => spellings(string)
            .iter()
            .filter_map(|spelling| {
                let at = text[key_end..].find(spelling.as_str())? + key_end;
                (at - key_end <= MAX_MARKS).then(|| at..at + spelling.len())
            })
            .min_by_key(|span| span.start)?,
        other => in_section(text, key_end, other).or_else(|| place_of(text, key_end, other))?,
    };
    Some((key_at..key_end, value_at))
}

/// Marks between a key and its value have at most so many bytes.
const MAX_MARKS: usize = 160;

/// How a text may be written between marks.
fn spellings(string: &str) -> [String; 5] {
    let entities = string.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    [
        string.to_owned(),
        format!("<![CDATA[{string}]]>"),
        entities.replace('"', "&quot;").replace('\'', "&#39;"),
        entities.replace('"', "&#34;").replace('\'', "&#39;"),
        entities,
    ]
}

/// The first place behind a mark where a value stands that is no text.
fn place_of(text: &str, from: usize, value: &Json) -> Option<Range<usize>> {
    let quotes = ["'".to_owned(), "\"".to_owned()];
    let syntax = Syntax { quotes: &quotes, outer: ['{', '}', ':'] };
    let within = text::start(&text[from..], MAX_MARKS);
    within.char_indices().skip(1).map(|(at, c)| (from + at, c)).find_map(|(at, c)| {
        let before = text[..at].chars().next_back()?;
        // A value follows a mark or white space; in quotes, it is an attribute.
        if c.is_whitespace() || before.is_alphanumeric() || matches!(before, '"' | '\'' | '_' | '-' | '.') {
            return None;
        }
        let (found, end) = syntax.value(text, at, 0)?;
        same(&found, value).then_some(at..end)
    })
}

/// The first place where a value that is no text stands in a CDATA section.
fn in_section(text: &str, from: usize, value: &Json) -> Option<Range<usize>> {
    let before = text::start(&text[from..], MAX_MARKS);
    // What lies between is the rest of a mark, not another value.
    let open = from + before.find(SECTION[0]).filter(|at| !before[..*at].contains("</"))?;
    let close = open + text[open..].find(SECTION[1])?;
    let found = serde_json::from_str::<Json>(&text[open + SECTION[0].len()..close]).ok()?;
    same(&found, value).then_some(open..close + SECTION[1].len())
}

const SECTION: [&str; 2] = ["<![CDATA[", "]]>"];

fn same(a: &Json, b: &Json) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a.to_bits() == b.to_bits())
}

/// How an item of a list is written, where lists are elements: read off one with two texts.
pub(super) fn item(samples: &[&Sample]) -> Option<String> {
    let calls = samples.iter().flat_map(|sample| sample.calls.iter().map(|call| (&sample.text, value(call))));
    let lists = calls.flat_map(|(text, arguments)| {
        let members = arguments.as_object().cloned().unwrap_or_default();
        members.into_iter().filter(|(_, value)| value.is_array()).map(move |(key, list)| (text, key, list))
    });
    lists.into_iter().find_map(|(text, key, list)| {
        let [Json::String(first), Json::String(second), ..] = list.as_array()?.as_slice() else {
            return None;
        };
        let key = text.find(key.as_str())? + key.len();
        let first = (key + text[key..].find(first.as_str())?, first.len());
        let behind = first.0 + first.1;
        let second = behind + text[behind..].find(second.as_str())?;
        let gap = &text[behind..second];
        let open = text::common_suffix(&text[key..first.0], gap);
        let (close, open) = gap.split_at(gap.len() - open);
        let (close, open) = (close.trim_end(), open.trim_start());
        let tag = |mark: &str| text::first_mark(mark).is_some();
        (gap.len() <= MAX_MARKS && tag(close) && tag(open)).then(|| format!("{open}{{value}}{close}"))
    })
}

/// The form of all fields, and where the arguments of each call stand with the marks around them.
pub(super) fn form(
    samples: &[&Sample],
    places: &[Vec<Place>],
    found: &[Vec<Spans>],
    manner: Manner,
) -> Option<(Fields, Vec<Vec<Place>>)> {
    let calls = calls(samples, places, found);
    let with_fields: Vec<&Seen<'_>> = calls.iter().filter(|call| !call.spans.is_empty()).collect();
    let first = with_fields.first()?;
    // What stands between two fields, and behind the last, with the key in it as a slot.
    let gaps: Vec<String> = with_fields.iter().flat_map(|call| call.gaps()).collect();
    let tails: Vec<String> = with_fields.iter().map(|call| call.tail()).collect();
    let heads: Vec<&str> = with_fields.iter().map(|call| call.head()).collect();
    let [open, close] = if manner.lines {
        around_lines(&gaps, &heads, &tails)?
    } else {
        let [open, close] = match gaps.first() {
            Some(gap) => between_fields(gap, &heads, &tails)?,
            None => {
                let (head, tail) = (heads.first()?, tails.first()?);
                let mark = text::first_mark(tail)?;
                let close = &tail[..tail.find(mark)? + mark.len()];
                [head[head.rfind(['<', '[', '{'])?..].to_owned(), close.to_owned()]
            }
        };
        [open.trim_start().to_owned(), close]
    };
    let close = close.replace(KEY, "{key}");
    // Without a mark behind it, a value ends where the next field opens.
    let told = !close.trim().is_empty() || text::first_mark(&open).is_some();
    if !manner.lines && (open.is_empty() || !told) {
        return None;
    }
    let (middle, types) = middle(&with_fields)?;
    if manner.lines && (types.is_some() || middle.trim().is_empty() || middle.contains(['\n', '"'])) {
        return None;
    }
    let raw: Vec<(&Json, &str)> = with_fields.iter().flat_map(|call| call.values()).collect();
    let is_python = |raw: &str| ["True", "False", "None"].contains(&raw);
    let scalars = raw.iter().any(|(value, raw)| !value.is_string() && is_python(raw));
    let containers = raw.iter().any(|(value, raw)| {
        (value.is_object() || value.is_array()) && (raw.contains('\'') || raw.contains("True"))
    });
    let spelled = |value: &Json, raw: &str| {
        value.as_str().map_or_else(|| raw.starts_with(SECTION[0]), |text| text != raw)
    };
    let xml = !manner.json && raw.iter().any(|(value, raw)| spelled(value, raw));
    let fields = Fields {
        form: format!("{open}{{key}}{middle}{{value}}{close}"),
        types,
        python: scalars || containers,
        containers,
        xml,
        json: manner.json,
        lines: manner.lines,
        item: None,
    };
    let behind_name = first.head().strip_suffix(open.as_str())?.to_owned();
    let close_len = |key: &str| close.replace("{key}", key).len();
    let mut calls = calls.iter();
    let mut place_of = |place: &Place| {
        let call = calls.next()?;
        let name = place.name.clone()?;
        let arguments = match (call.spans.first(), call.spans.last()) {
            (Some((first, _)), Some((key, last))) => {
                let start = call.text[..first.start].strip_suffix(open.as_str())?.len();
                let end = last.end + close_len(&call.text[key.clone()]);
                start..end.min(call.text.len())
            }
            _ => {
                let behind = &call.text[name.end..];
                let opened = [behind_name.as_str(), behind_name.trim_end()]
                    .iter()
                    .find_map(|opened| Some(behind.len() - behind.strip_prefix(*opened)?.len()));
                let start = name.end + opened?;
                start..start
            }
        };
        call.text.get(arguments.clone())?;
        Some(Place { arguments, name: Some(name) })
    };
    let places: Option<Vec<Vec<Place>>> =
        places.iter().map(|list| list.iter().map(&mut place_of).collect()).collect();
    Some((fields, places?))
}

/// Stands for the key in markup that repeats it.
const KEY: &str = "\u{1}key\u{1}";

/// What opens a field and what closes one, from what stands between two. A mark that could be either closes.
fn between_fields(gap: &str, heads: &[&str], tails: &[String]) -> Option<[String; 2]> {
    let close = tails.iter().map(|tail| text::common_prefix(tail, gap)).min()?;
    if let Some(fields) = marked_alike(&gap[..close], &gap[close..], heads) {
        return Some(fields);
    }
    let open = &gap[close..];
    if !open.trim().is_empty() && heads.iter().all(|head| head.ends_with(open.trim_start())) {
        return Some([open.to_owned(), gap[..close].to_owned()]);
    }
    let open = heads.iter().map(|head| text::common_suffix(head, gap)).min()?;
    let (rest, open) = gap.split_at(gap.len() - open);
    let close = tails.iter().map(|tail| text::common_prefix(tail, rest)).min()?;
    Some([open.to_owned(), rest[..close].to_owned()])
}

/// What opens a line and what closes one: the line feed is the first or the last of it.
fn around_lines(gaps: &[String], heads: &[&str], tails: &[String]) -> Option<[String; 2]> {
    let head = heads.first()?;
    let first = match gaps.first() {
        Some(gap) => gap.as_str(),
        None => &head[head.rfind('\n')?..],
    };
    let indent = first.strip_prefix('\n').filter(|indent| !indent.contains(['\n', '<', '"', '{']))?;
    if !gaps.iter().all(|gap| gap == first) {
        return None;
    }
    if tails.iter().all(|tail| tail.starts_with('\n')) && heads.iter().all(|head| head.ends_with(indent)) {
        return Some([indent.to_owned(), "\n".to_owned()]);
    }
    heads.iter().all(|head| head.ends_with(first)).then(|| [first.to_owned(), String::new()])
}

/// Where the same mark stands before the tag that opens a field and before the one that closes it.
fn marked_alike(close: &str, open: &str, heads: &[&str]) -> Option<[String; 2]> {
    let (before, rest) = close.split_once("</").filter(|(_, rest)| rest.starts_with(KEY))?;
    let mark = Some(before.trim()).filter(|mark| !mark.is_empty())?;
    let closer = rest.strip_suffix(mark)?;
    let open = format!("{mark}{open}");
    heads.iter().all(|head| head.ends_with(&open)).then(|| [open, format!("{before}</{closer}")])
}

/// One call in its sample.
struct Seen<'s> {
    text: &'s str,
    name: Range<usize>,
    spans: &'s [Spans],
    values: Vec<Json>,
    /// Where the next call's name begins, or the end.
    until: usize,
}

fn calls<'s>(samples: &[&'s Sample], places: &[Vec<Place>], found: &'s [Vec<Spans>]) -> Vec<Seen<'s>> {
    let mut found = found.iter();
    let mut calls = Vec::new();
    for (sample, list) in samples.iter().zip(places) {
        let names: Vec<Range<usize>> = list.iter().filter_map(|place| place.name.clone()).collect();
        for (place, (name, call)) in names.iter().zip(&sample.calls).enumerate() {
            let Some(spans) = found.next() else { return calls };
            let values =
                value(call).as_object().map(|all| all.values().cloned().collect()).unwrap_or_default();
            let until = names.get(place + 1).map_or(sample.text.len(), |next| next.start);
            calls.push(Seen { text: &sample.text, name: name.clone(), spans, values, until });
        }
    }
    calls
}

impl Seen<'_> {
    /// Between the name and the first key.
    fn head(&self) -> &str {
        let end = self.spans.first().map_or(self.name.end, |(key, _)| key.start);
        &self.text[self.name.end..end]
    }

    fn gaps(&self) -> Vec<String> {
        let pairs = self.spans.windows(2);
        pairs.map(|pair| self.slotted(&pair[0].0, pair[0].1.end..pair[1].0.start)).collect()
    }

    /// Behind the last value.
    fn tail(&self) -> String {
        self.spans.last().map(|(key, value)| self.slotted(key, value.end..self.until)).unwrap_or_default()
    }

    /// A stretch in which a closing mark may repeat the key.
    fn slotted(&self, key: &Range<usize>, span: Range<usize>) -> String {
        let (key, stretch) = (&self.text[key.clone()], &self.text[span]);
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let repeats = stretch.match_indices(key).map(|(at, _)| at).find(|at| {
            let inside =
                stretch[..*at].rfind('<').is_some_and(|open| stretch[open + 1..*at].starts_with('/'));
            inside && !stretch[..*at].ends_with(word) && !stretch[at + key.len()..].starts_with(word)
        });
        match repeats.filter(|at| *at < MAX_MARKS) {
            Some(at) => format!("{}{KEY}{}", &stretch[..at], &stretch[at + key.len()..]),
            None => stretch.to_owned(),
        }
    }

    fn values(&self) -> impl Iterator<Item = (&Json, &str)> {
        self.values.iter().zip(self.spans).map(|(value, (_, span))| (value, &self.text[span.clone()]))
    }
}

/// What stands between key and value: always the same, or with a word for the type.
fn middle(calls: &[&Seen<'_>]) -> Option<(String, Option<[String; 4]>)> {
    let all: Vec<(&Json, &str)> = calls
        .iter()
        .flat_map(|call| {
            call.values
                .iter()
                .zip(call.spans)
                .map(|(value, (key, span))| (value, &call.text[key.end..span.start]))
        })
        .collect();
    let (_, first) = all.first()?;
    if all.iter().all(|(_, middle)| middle == first) {
        return Some(((*first).to_owned(), None));
    }
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let back = |a: &str, b: &str| a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    let start = all.iter().map(|(_, other)| same(first, other)).min()?;
    let start = text::start(first, start).trim_end_matches(word).len();
    let end = all.iter().map(|(_, other)| back(first, other)).min()?;
    let end = first[text::ceiling(first, first.len() - end)..].trim_start_matches(word).len();
    let said = |middle: &str| middle.get(start..middle.len() - end).map(str::to_owned);
    let of = |wanted: &dyn Fn(&Json) -> bool| {
        all.iter().find(|(value, _)| wanted(value)).and_then(|(_, middle)| said(middle))
    };
    let slot = |name: &str| format!("{}{name}{}", &first[..start], &first[first.len() - end..]);
    let text = of(&Json::is_string)?;
    let number = of(&|value| value.is_number())?;
    if text == "true" && number == "false" {
        return Some((slot("{is_string}"), None));
    }
    let object = of(&Json::is_object).unwrap_or_else(|| "object".to_owned());
    let list = of(&Json::is_array).unwrap_or_else(|| "array".to_owned());
    let usual = text == "string" && number == "number" && object == "object" && list == "array";
    Some((slot("{type}"), (!usual).then_some([text, object, list, number])))
}
