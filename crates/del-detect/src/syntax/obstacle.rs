//! Why no description says how calls are written, where the samples show it.

use del_dialects::Call;
use serde_json::Value as Json;

use super::{Sample, arguments, closes_by_name};

/// A look at one call of a text.
type Look = fn(&str, &Call) -> bool;

/// What most calls have that a description has no words for; nothing where that is not seen.
pub(crate) fn obstacle(samples: impl Iterator<Item = Sample>) -> Option<&'static str> {
    const OBSTACLES: [(Look, &str); 5] = [
        (|text, call| !text.contains(call.name.as_str()), "the name of the tool does not stand in the text"),
        (is_attributes, "arguments stand as attributes of a tag"),
        (is_behind, "the name stands behind the arguments"),
        (is_closed_behind_a_blank, "a closing mark repeats the name behind a blank"),
        (has_quoted_numbers, "numbers stand in the same quotes as texts, and nothing opens an argument"),
    ];
    let all: Vec<(String, Call)> = samples
        .flat_map(|sample| sample.calls.into_iter().map(move |call| (sample.text.clone(), call)))
        .collect();
    let most = |look: &Look| all.iter().filter(|(text, call)| look(text, call)).count() * 2 > all.len();
    OBSTACLES.iter().find(|(look, _)| most(look)).map(|(_, why)| *why)
}

/// The arguments of a call that are texts.
fn texts(call: &Call) -> Vec<(String, String)> {
    let value = arguments::value(call);
    let members = value.as_object().into_iter().flatten();
    members.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn is_attributes(text: &str, call: &Call) -> bool {
    let texts = texts(call);
    let in_tag = |(key, value): &(String, String)| {
        let before = text.find(&format!("{key}=\"{value}\"")).map(|at| &text[..at]);
        before.is_some_and(|before| before.rfind('<') > before.rfind('>'))
    };
    !texts.is_empty() && texts.iter().all(in_tag)
}

fn is_behind(text: &str, call: &Call) -> bool {
    let first = texts(call).iter().filter_map(|(_, value)| text.find(value.as_str())).min();
    first.is_some_and(|first| text.find(call.name.as_str()).is_some_and(|name| name > first))
}

fn is_closed_behind_a_blank(text: &str, call: &Call) -> bool {
    let mut names = text.match_indices(call.name.as_str());
    names.any(|(at, _)| text[..at].ends_with(' ') && closes_by_name(&text[..at]))
}

fn has_quoted_numbers(text: &str, call: &Call) -> bool {
    let value = arguments::value(call);
    let of = |wanted: fn(&Json) -> bool| {
        value.as_object().into_iter().flatten().find(|(_, value)| wanted(value)).map(|(_, value)| value)
    };
    let number = of(Json::is_number).map(Json::to_string);
    let (Some(number), Some(string)) = (number, of(Json::is_string).and_then(Json::as_str)) else {
        return false;
    };
    let quote = text.find(string).and_then(|at| text[..at].chars().next_back());
    quote.is_some_and(|quote| text.contains(&format!("{quote}{number}")))
}
