//! A dialect becomes the response template that `transformers` reads it with.

use del_dialects::Dialect;
use del_dialects::description::Frame;
use serde_json::{Map, Value, json};

use super::call::{self, Call};
use super::channels;
use super::inexpressible::{Inexpressible, because};
use super::regex::either;

/// The response template of a dialect. `anchor` is what the prompt ends with before the answer begins, as a regular
/// expression; left out, the answer begins at the end of the prompt, or with the mark of thinking that stands there.
///
/// # Errors
/// Says what of the dialect no template can say.
pub fn template(dialect: &Dialect, anchor: Option<&str>) -> Result<Value, Inexpressible> {
    check(dialect)?;
    let call = call::of(dialect)?;
    let mut fields = Map::new();
    let mut passed_over: Vec<String> = Vec::new();
    if let Frame::Channels(channels) = dialect.frame() {
        fields.insert("reasoning_content".to_owned(), channels::thinking(channels));
        passed_over.extend(channels::passed_over(channels));
    } else if let Some(thinking) = thinking(dialect, &call) {
        fields.insert("reasoning_content".to_owned(), thinking);
    }
    let begin = &dialect.content().begin;
    if !begin.is_empty() {
        passed_over.push(format!(r"\s*{}\s*", either(begin.iter().map(|mark| mark.trim()))));
    }
    let ends = dialect.content().end.iter().chain(dialect.ends()).map(|mark| mark.trim());
    let behind = ends.chain(call.behind.iter().map(String::as_str));
    let behind = either(behind.filter(|mark| *mark != "]"));
    if !behind.is_empty() {
        passed_over.push(format!(r"\s*{behind}"));
    }
    let mut content =
        json!({ "content": "text", "content_args": { "strip": false }, "repeats": true, "join": "" });
    if !passed_over.is_empty() {
        content["close_pattern"] = json!(passed_over.join("|"));
    }
    fields.insert("content".to_owned(), content);
    let mut calls = json!({
        "open_pattern": call.open,
        "close_pattern": call.close,
        "content": call.content,
        "content_args": call.arguments,
        "transform": call.transform,
    });
    calls[if call.list { "transform_each" } else { "repeats" }] = json!(true);
    fields.insert("tool_calls".to_owned(), calls);
    let anchor = anchor.map_or_else(|| default_anchor(dialect), str::to_owned);
    Ok(json!({ "start_anchor_pattern": anchor, "defaults": { "role": "assistant" }, "fields": fields }))
}

/// What no region can say, whatever stands in it.
fn check(dialect: &Dialect) -> Result<(), Inexpressible> {
    if dialect.variants().iter().any(|variant| variant.tool().is_some() && dialect.tool().is_none()) {
        return because("one tool is called in a form of its own");
    }
    if !dialect.none().is_empty() || !dialect.answers().is_empty() {
        return because("a call of a certain name is none");
    }
    if dialect.reasoning().is_some_and(|reasoning| reasoning.holds_calls) {
        return because("calls stand inside thinking");
    }
    Ok(())
}

/// The region of thinking.
fn thinking(dialect: &Dialect, call: &Call) -> Option<Value> {
    let reasoning = dialect.reasoning()?;
    let trimmed = |marks: &[String]| either(marks.iter().map(|mark| mark.trim()));
    let (begin, end) = (trimmed(&reasoning.begin), trimmed(&reasoning.end));
    // Marks of words are text elsewhere.
    let word = reasoning.begin.first().is_some_and(|mark| mark.starts_with(char::is_alphabetic));
    let start = if word { r"\A\s*" } else { r"\s*" };
    if end.is_empty() {
        // All up to the call is thinking, white space included.
        return Some(json!({
            "open_pattern": format!(r"{start}{begin}\s*"),
            "close_pattern": format!("(?={})", call.begin),
            "content": "text",
            "content_args": { "strip": false },
        }));
    }
    let mut ways = vec![format!(r"\s*{end}\s*")];
    if reasoning.until_call {
        ways.push(format!(r"(?=\s*{})", call.begin));
    }
    Some(json!({
        "open_pattern": format!(r"{start}{begin}\s*"),
        "close_pattern": ways.join("|"),
        "content": "text",
    }))
}

/// Where the answer begins when nobody says: at the end of the prompt, or before a mark of thinking that ends it.
fn default_anchor(dialect: &Dialect) -> String {
    let begin = match dialect.frame() {
        Frame::Channels(channels) => channels.written.reasoning.clone(),
        _ => String::new(),
    };
    let marks = dialect.reasoning().into_iter().flat_map(|reasoning| &reasoning.begin).chain([&begin]);
    let marks = either(marks.map(|mark| mark.trim()));
    if marks.is_empty() {
        return r"\Z".to_owned();
    }
    format!(r"(?={marks}\s*\Z)|(?<!{marks}\s*)\Z")
}
