//! What samples leave open of how arguments are written.

use serde_json::Value as Json;

use super::Sample;
use super::arguments::{Arguments, value};

/// What no sample shows. JSON says it all by itself.
pub(super) fn questions(samples: &[&Sample], arguments: &Arguments) -> Vec<String> {
    let json = match arguments {
        Arguments::Object | Arguments::Call { .. } => return Vec::new(),
        Arguments::Loose { .. } => false,
        Arguments::Fields(fields) => fields.json,
    };
    let calls: Vec<Json> = samples.iter().flat_map(|sample| sample.calls.iter().map(value)).collect();
    let members = || calls.iter().filter_map(Json::as_object);
    let values = || members().flat_map(|members| members.values());
    let texts =
        |signs: &[char]| values().any(|value| value.as_str().is_some_and(|text| text.contains(signs)));
    let container = |value: &Json| value.is_object() || value.is_array();
    let shown = [
        (members().any(|members| members.len() > 1), "what stands between two arguments"),
        (members().any(serde_json::Map::is_empty), "how a call without arguments is written"),
        (
            values().any(|value| !value.is_string() && !container(value)),
            "how numbers and other values than texts are written",
        ),
        (values().any(container), "how objects and lists are written: taken to be JSON"),
        (
            json || texts(&['"', '\'', '<', '&']),
            "how quotes, < and & in a text are written: taken to stand as they are",
        ),
        (json || texts(&['\n']), "how line feeds in a text are written: taken to stand as they are"),
    ];
    shown.into_iter().filter(|(shown, _)| !shown).map(|(_, question)| question.to_owned()).collect()
}
