//! Del's own words about calling, beside those that define tools.

use del_dialects::{Call, Dialects};
use serde_json::Value;

pub(super) const ONE_CALL: &str = "Call one tool at most.";

pub(super) const ANSWER_WITH_RESULT: &str =
    "When you have the result of a tool, answer the question with it in one sentence.";

/// A small model forgets what it was asked when a long result stands between.
pub(super) fn reminder(question: &str) -> String {
    const LONGEST: usize = 500;
    if question.is_empty() || question.len() > LONGEST {
        "Use the text above to answer in plain words.".to_owned()
    } else {
        format!("Use the text above to answer in plain words: {question}")
    }
}

pub(super) fn in_words(calls: &[Call]) -> String {
    let told = calls.iter().map(|call| format!("(I called {} with {}.)", call.name, call.arguments));
    Dialects::builtin().neutralise(&told.collect::<Vec<_>>().join("\n")).into_owned()
}

/// What an answer without a call is to be.
pub(super) fn text_in_json(schema: Option<&Value>) -> String {
    const JSON: &str = "Where you call no tool, answer with a JSON object and nothing else";
    match schema {
        Some(schema) => {
            let schema = schema.to_string();
            format!("{JSON}, of this schema:\n{}", Dialects::builtin().neutralise(&schema))
        }
        None => format!("{JSON}."),
    }
}
