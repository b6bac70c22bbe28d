//! Headers that route bodies, as regions.

use del_dialects::description::Channels;
use serde_json::{Value, json};

use super::regex::{either, literal};

/// The region of thinking.
pub(super) fn thinking(channels: &Channels) -> Value {
    json!({
        "open_pattern": header(channels, &[&channels.written.reasoning]),
        "close_pattern": ends(channels),
        "content": "text",
    })
}

/// What opens a message, which the first one of an answer has not.
pub(super) fn start(channels: &Channels) -> String {
    let start = either(channels.start.iter().map(|mark| mark.trim()));
    format!(r"\s*(?:{start}\s*{})?\s*", literal(&channels.author))
}

/// Headers of text, and what ends it.
pub(super) fn passed_over(channels: &Channels) -> Vec<String> {
    vec![header(channels, &[&channels.written.text, &channels.written.preamble]), ends(channels)]
}

/// One of these headers, with the white space behind it that is written there.
fn header(channels: &Channels, written: &[&str]) -> String {
    format!("{}{}", start(channels), edged(written.iter().copied()))
}

fn ends(channels: &Channels) -> String {
    edged(channels.ends.iter().map(String::as_str))
}

/// One of these marks; the white space behind it may be missing.
fn edged<'t>(marks: impl Iterator<Item = &'t str> + Clone) -> String {
    let space = marks.clone().map(|mark| &mark[mark.trim_end().len()..]).max_by_key(|space| space.len());
    let space = space.filter(|space| !space.is_empty()).map(|space| format!("(?:{})?", literal(space)));
    either(marks.map(str::trim)) + &space.unwrap_or_default()
}
