//! Results of calls that failed. A chat has no member that says so: in the middle a message has one, as Anthropic's API
//! does, and a server that knows none is told in words.

use serde_json::{Map, Value};

/// The member of a result.
pub const MEMBER: &str = "is_error";

/// True when a result says that its call failed.
pub(crate) fn is(result: &Map<String, Value>) -> bool {
    result.get(MEMBER) == Some(&Value::Bool(true))
}

/// Says in words what the member says, and takes it away.
pub(crate) fn tell(result: &mut Map<String, Value>) {
    let failed = is(result);
    result.shift_remove(MEMBER);
    if !failed {
        return;
    }
    match result.get_mut("content") {
        Some(Value::String(text)) => add_words(text),
        Some(Value::Array(parts)) => {
            if let Some(Value::String(text)) = parts.iter_mut().find_map(|part| part.get_mut("text")) {
                add_words(text);
            }
        }
        _ => {}
    }
}

/// Has a text begin with the word that it is an error.
pub(crate) fn add_words(text: &mut String) {
    if !text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("error")) {
        text.insert_str(0, "Error: ");
    }
}
