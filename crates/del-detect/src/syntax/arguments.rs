//! Where the arguments of calls stand, and how they are written.

use std::ops::Range;

use del_dialects::Call;
use serde_json::Value as Json;

use super::Sample;
use super::fields::{self, Fields, Manner};
use super::literal::{Member, Syntax};

/// How arguments are written, as the description will say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// One JSON object.
    Object,
    /// An object in a syntax that is not JSON.
    Loose {
        outer: [char; 3],
        quotes: Vec<String>,
        quoted_keys: bool,
        python: bool,
        comma: String,
        colon: String,
        sorted: bool,
    },
    /// The whole call is an object: its form.
    Call { form: String, python: bool },
    /// Keys and values between marks.
    Fields(Fields),
}

/// Where one call stands in a sample.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Its arguments; for a call as an object, the object.
    pub(super) arguments: Range<usize>,
    /// Its name, where that stands by itself.
    pub(super) name: Option<Range<usize>>,
}

/// A way to read all samples.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) arguments: Arguments,
    /// For each sample, where its calls stand.
    pub(super) places: Vec<Vec<Place>>,
}

/// Finds the calls of all samples in one way.
type Finder<'f> = dyn Fn(&[&Sample]) -> Option<Way> + 'f;

/// Every way in which the calls of all samples can be found, or of most of them: some show what no description can say.
/// Beside each way are the samples that it is for.
pub(super) fn all<'s>(samples: &[&'s Sample]) -> Vec<(Way, Vec<&'s Sample>)> {
    let json = ["\"".to_owned()];
    let python = ["'".to_owned(), "\"".to_owned()];
    let manner = |json, lines| Manner { json, lines };
    let finders: [&Finder<'_>; 8] = [
        &|samples| call_objects(samples, &json, false),
        &|samples| objects(samples, &json),
        &|samples| call_objects(samples, &python, true),
        &loose,
        &|samples| fields(samples, manner(false, false)),
        &|samples| fields(samples, manner(true, false)),
        &|samples| fields(samples, manner(false, true)),
        &|samples| fields(samples, manner(true, true)),
    ];
    let mut ways = Vec::new();
    for find in finders {
        if let Some(way) = find(samples) {
            ways.push((way, samples.to_vec()));
            continue;
        }
        let most: Vec<&Sample> = samples.iter().filter(|sample| find(&[sample]).is_some()).copied().collect();
        if most.len() * 2 > samples.len() {
            let Some(way) = find(&most) else { continue };
            ways.extend(as_elements(&way, samples).map(|way| (way, most.clone())));
            ways.push((way, most));
        }
    }
    ways
}

/// The same fields, where those samples that they do not fit have lists as elements.
fn as_elements(way: &Way, samples: &[&Sample]) -> Option<Way> {
    let Arguments::Fields(fields) = &way.arguments else { return None };
    if fields.lines {
        return None;
    }
    let fields = Fields { item: Some(fields::item(samples)?), ..fields.clone() };
    Some(Way { arguments: Arguments::Fields(fields), places: way.places.clone() })
}

/// The arguments of a call as a value.
pub(super) fn value(call: &Call) -> Json {
    serde_json::from_str(&call.arguments).unwrap_or_default()
}

/// Finds the calls of each sample, one behind the other.
fn places(
    samples: &[&Sample],
    mut find: impl FnMut(&str, usize, &Call) -> Option<Place>,
) -> Option<Vec<Vec<Place>>> {
    let of_sample = |sample: &&Sample| {
        let mut from = 0;
        let mut places = Vec::new();
        for call in &sample.calls {
            let place = find(&sample.text, from, call)?;
            from = place.arguments.end;
            places.push(place);
        }
        Some(places)
    };
    samples.iter().map(of_sample).collect()
}

/// The places from `from` on where a character stands.
fn every(text: &str, from: usize, c: char) -> impl Iterator<Item = usize> {
    text[from..].match_indices(c).map(move |(at, _)| from + at)
}

fn as_object(members: &[Member]) -> Json {
    Json::Object(members.iter().map(|member| (member.key.clone(), member.value.clone())).collect())
}

/// Calls as objects with a key for the name and one for the arguments.
fn call_objects(samples: &[&Sample], quotes: &[String], python: bool) -> Option<Way> {
    let syntax = Syntax { quotes, outer: ['{', '}', ':'] };
    let mut forms: Vec<String> = Vec::new();
    let places = places(samples, |text, from, call| {
        every(text, from, '{').find_map(|at| {
            let (members, end) = syntax.object(text, at)?;
            let form = form(text, at..end, &members, call)?;
            forms.push(form);
            Some(Place { arguments: at..end, name: None })
        })
    })?;
    // An id is a slot in the forms that have one, and they differ in nothing else.
    let form = forms.iter().max_by_key(|form| form.contains("\"{id}\"")).cloned()?;
    Some(Way { arguments: Arguments::Call { form, python }, places })
}

/// The form of a call object: its text, with slots for name, id and arguments.
fn form(text: &str, whole: Range<usize>, members: &[Member], call: &Call) -> Option<String> {
    let arguments = value(call);
    let is_arguments = |member: &&Member| {
        member.value == arguments
            || member
                .value
                .as_str()
                .is_some_and(|text| serde_json::from_str(text).ok().as_ref() == Some(&arguments))
    };
    let mut slots: Vec<(Range<usize>, &str)> = Vec::new();
    let args = match members.iter().find(|member| member.value == call.name.as_str()) {
        Some(name) => {
            slots.push((inner(&name.value_at), "{name}"));
            members.iter().filter(|member| member.key_at != name.key_at).find(is_arguments)?
        }
        None => {
            let args = members.iter().find(|member| member.key == call.name && is_arguments(member))?;
            slots.push((inner(&args.key_at), "{name}"));
            args
        }
    };
    slots.push((args.value_at.clone(), "{args}"));
    for member in members {
        let Some(id) = member.value.as_str().filter(|_| member.value_at != args.value_at) else { continue };
        let counts = id.len() < 3 && id.bytes().all(|byte| byte.is_ascii_digit());
        if (call.id.as_deref() == Some(id) || counts || member.key == "id") && id != call.name {
            slots.push((inner(&member.value_at), "{id}"));
        }
    }
    slots.sort_by_key(|(span, _)| span.start);
    let mut out = String::new();
    let mut at = whole.start;
    for (span, slot) in slots {
        out.push_str(&text[at..span.start]);
        out.push_str(slot);
        at = span.end;
    }
    out.push_str(&text[at..whole.end]);
    Some(out)
}

/// A text in quotes of one byte, without them.
fn inner(quoted: &Range<usize>) -> Range<usize> {
    quoted.start + 1..quoted.end - 1
}

/// The arguments alone as a JSON object, behind the name.
fn objects(samples: &[&Sample], quotes: &[String]) -> Option<Way> {
    let syntax = Syntax { quotes, outer: ['{', '}', ':'] };
    let places = places(samples, |text, from, call| {
        let arguments = value(call);
        every(text, from, '{').find_map(|at| {
            let (members, end) = syntax.object(text, at)?;
            let name = name(text, from..at, call)?;
            (as_object(&members) == arguments && members.iter().all(|member| member.quoted))
                .then_some(Place { arguments: at..end, name: Some(name) })
        })
    })?;
    Some(Way { arguments: Arguments::Object, places })
}

/// Where the name of a call stands in a stretch: the last time, and as a word of its own.
pub(super) fn name(text: &str, within: Range<usize>, call: &Call) -> Option<Range<usize>> {
    let part = &text[within.clone()];
    let found = part.rmatch_indices(call.name.as_str()).find(|(at, name)| {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        !part[..*at].ends_with(word) && !part[at + name.len()..].starts_with(word)
    });
    found.map(|(at, name)| within.start + at..within.start + at + name.len())
}

/// Arguments between brackets behind the name, in a syntax that is not JSON.
fn loose(samples: &[&Sample]) -> Option<Way> {
    let quotes = quotes(samples);
    for outer in
        [['(', ')', '='], ['{', '}', ':'], ['(', ')', ':'], ['{', '}', '='], ['[', ']', '='], ['[', ']', ':']]
    {
        let syntax = Syntax { quotes: &quotes, outer };
        let mut seen = Seen::default();
        let found = places(samples, |text, from, call| {
            let arguments = value(call);
            every(text, from, outer[0]).find_map(|at| {
                let name = name(text, from..at, call)?;
                let (members, end) = syntax.object(text, at)?;
                (as_object(&members) == arguments).then(|| {
                    seen.look(text, &members, &arguments, &quotes);
                    Place { arguments: at..end, name: Some(name) }
                })
            })
        });
        let Some(places) = found else { continue };
        let own: Vec<String> = quotes.iter().filter(|quote| seen.quotes.contains(quote)).cloned().collect();
        let rest = quotes.iter().filter(|quote| !seen.quotes.contains(quote) && quote.len() == 1).cloned();
        let python = seen.python.unwrap_or(outer[2] == '=');
        let arguments = Arguments::Loose {
            outer,
            quotes: own.into_iter().chain(rest).collect(),
            quoted_keys: seen.quoted_keys.unwrap_or(outer[0] == '('),
            python,
            comma: seen.comma.unwrap_or_else(|| ", ".to_owned()),
            colon: seen.colon.unwrap_or_else(|| ": ".to_owned()),
            sorted: seen.unsorted == Some(false),
        };
        return Some(Way { arguments, places });
    }
    None
}

/// What the samples show of a literal syntax.
#[derive(Default)]
struct Seen {
    quotes: Vec<String>,
    quoted_keys: Option<bool>,
    python: Option<bool>,
    comma: Option<String>,
    colon: Option<String>,
    /// Keys stand in the order of the call, which is not that of the alphabet.
    unsorted: Option<bool>,
}

impl Seen {
    fn look(&mut self, text: &str, members: &[Member], arguments: &Json, quotes: &[String]) {
        for pair in members.windows(2) {
            self.comma.get_or_insert(text[pair[0].value_at.end..pair[1].key_at.start].to_owned());
        }
        let meant: Vec<&String> =
            arguments.as_object().into_iter().flat_map(|members| members.keys()).collect();
        let written: Vec<&String> = members.iter().map(|member| &member.key).collect();
        if !meant.is_sorted() {
            self.unsorted.get_or_insert(written == meant);
        }
        for member in members {
            let raw = &text[member.value_at.clone()];
            match &member.value {
                Json::String(_) => {
                    let opened = quotes.iter().filter(|quote| raw.starts_with(quote.as_str()));
                    let quote = opened.max_by_key(|quote| quote.len());
                    if let Some(quote) = quote.filter(|quote| !self.quotes.contains(quote)) {
                        self.quotes.push(quote.clone());
                    }
                }
                Json::Bool(_) | Json::Null => {
                    self.python.get_or_insert(raw.starts_with(char::is_uppercase));
                }
                Json::Object(inner) => {
                    let Some(first) = inner.keys().next() else { continue };
                    let Some(at) = raw.find(first.as_str()) else { continue };
                    let quoted = !raw[..at].trim_start_matches('{').trim().is_empty();
                    self.quoted_keys.get_or_insert(quoted);
                    let behind = &raw[at + first.len()..];
                    let space = behind.find(':').is_some_and(|at| behind[at + 1..].starts_with(' '));
                    self.colon.get_or_insert(if space { ": " } else { ":" }.to_owned());
                }
                _ => {}
            }
        }
    }
}

/// The quotes that stand around the texts of the samples' arguments, the usual ones behind them.
fn quotes(samples: &[&Sample]) -> Vec<String> {
    let mut quotes: Vec<String> = Vec::new();
    for sample in samples {
        for call in &sample.calls {
            let arguments = value(call);
            for text in
                arguments.as_object().into_iter().flat_map(|all| all.values()).filter_map(Json::as_str)
            {
                let Some(at) = sample.text.find(text).filter(|_| text.len() > 2) else { continue };
                let (before, behind) = (&sample.text[..at], &sample.text[at + text.len()..]);
                let longest = (1..=MAX_QUOTE.min(behind.len()))
                    .rev()
                    .filter(|len| behind.is_char_boundary(*len))
                    .find(|len| before.ends_with(&behind[..*len]));
                let quote =
                    longest.map(|len| &behind[..len]).filter(|quote| !quote.contains(char::is_whitespace));
                if let Some(quote) = quote.filter(|quote| !quotes.iter().any(|known| known == quote)) {
                    quotes.push(quote.to_owned());
                }
            }
        }
    }
    for usual in ["'", "\""] {
        if !quotes.iter().any(|known| known == usual) {
            quotes.push(usual.to_owned());
        }
    }
    quotes
}

const MAX_QUOTE: usize = 24;

/// Keys and values between marks, behind the name.
fn fields(samples: &[&Sample], manner: Manner) -> Option<Way> {
    let mut found = Vec::new();
    let places = places(samples, |text, from, call| {
        let place = fields::find(text, from, call, manner)?;
        let (name, spans) = place;
        let end = spans.last().map_or(name.end, |(_, value)| value.end);
        let start = spans.first().map_or(name.end, |(key, _)| key.start);
        found.push(spans);
        Some(Place { arguments: start..end, name: Some(name) })
    })?;
    let fields = fields::form(samples, &places, &found, manner)?;
    let (fields, places) = (fields.0, fields.1);
    Some(Way { arguments: Arguments::Fields(fields), places })
}
