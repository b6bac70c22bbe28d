//! The arguments of a call of an API, read as those of a dialect are: by the one reader of values.

use std::sync::{Arc, OnceLock};

use del_dialects::{Dialect, End, Event, FaultKind, Parser, Sink, Span, Turn};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Nothing but arguments.
const FORM: &str = r#"
title = "Arguments of an API"
family = "marks and JSON"
source = "OpenAI's API: arguments are the JSON text of an object"

[call]
pieces = [{ mark = "[CALL]" }, { head = "{name}" }, { mark = "[ARGUMENTS]" }, { args = "object" }, { mark = "[END]" }]
"#;
const OPENING: &str = "[CALL]call[ARGUMENTS]";
const CLOSING: &str = "[END]";

/// What some arguments are.
#[derive(Debug, PartialEq)]
pub(crate) enum Arguments {
    /// The JSON text of an object.
    Whole,
    /// Such a text, once it is mended.
    Mended(String),
    /// Nothing that can be read.
    Broken,
}

/// Arguments that are an object once they are mended.
#[derive(Debug, PartialEq)]
pub(crate) struct Mended {
    pub(crate) json: String,
    pub(crate) faults: Vec<FaultKind>,
}

/// Arguments on their way, which are mended as they come.
#[derive(Debug)]
pub(crate) struct Mending(Parser);

/// What comes out of a reading.
#[derive(Debug, Default)]
struct Taken {
    json: String,
    faults: Vec<FaultKind>,
    ended: bool,
    /// Something stands behind them, which would be lost.
    more: bool,
}

impl Mending {
    pub(crate) fn new() -> Option<Self> {
        static DIALECT: OnceLock<Option<Arc<Dialect>>> = OnceLock::new();
        let dialect = DIALECT.get_or_init(|| Dialect::from_toml("arguments", FORM).ok().map(Arc::new));
        let mut parser = dialect.as_ref()?.parser(Turn::default());
        parser.push(OPENING, &mut Taken::default());
        Some(Self(parser))
    }

    /// Takes a piece: what is certain of the JSON.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut taken = Taken::default();
        self.0.push(text, &mut taken);
        taken.json
    }
}

/// Mends the text of an object, which ended so. Without that, what was wrong.
pub(crate) fn mend(text: &str, end: End) -> Result<Mended, FaultKind> {
    let Some(Mending(mut parser)) = Mending::new() else { return Err(FaultKind::BadArguments) };
    let mut taken = Taken::default();
    parser.push(text.trim(), &mut taken);
    if end == End::End {
        parser.push(CLOSING, &mut taken);
    }
    parser.finish(end, &mut taken);
    let Taken { json, mut faults, ended, more } = taken;
    if !ended || more {
        let ends = |kind: &FaultKind| kind.ends_call();
        return Err(faults.into_iter().find(ends).unwrap_or(FaultKind::BadArguments));
    }
    if end == End::Cut {
        faults.retain(|kind| *kind != FaultKind::MissingCloser);
    }
    Ok(Mended { json, faults })
}

impl Sink for Taken {
    fn event(&mut self, event: Event<'_>, _: Span) {
        match event {
            Event::Args { json, call: 0 } => self.json.push_str(json),
            Event::CallEnd { call: 0, .. } => self.ended = true,
            Event::CallStart { call: 0, .. } => {}
            Event::Fault(fault) => self.faults.push(fault.kind),
            Event::Text(text) | Event::Reasoning(text) => self.more |= !text.trim().is_empty(),
            Event::CallStart { .. } | Event::Args { .. } | Event::CallEnd { .. } => self.more = true,
        }
    }
}

/// True for the JSON text of an object, whatever is in it.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// True for arguments that are left out, in the ways in which that is said: an empty list is PHP's empty object.
pub(crate) fn is_nothing(text: &str) -> bool {
    let list = |text: &str| text.strip_prefix('[')?.strip_suffix(']').map(str::trim).map(str::is_empty);
    let text = text.trim();
    matches!(text, "" | "null") || list(text) == Some(true)
}

/// An object as it was written; an empty one for what is none.
pub(crate) fn object(text: &str) -> &str {
    if is_object(text) { text.trim() } else { "{}" }
}

/// The text of arguments, which some clients send as the object that they are.
pub(crate) fn text(given: &Value) -> String {
    match given {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    }
}

/// Reads the arguments of a call.
pub(crate) fn read(text: &str) -> Arguments {
    if is_object(text) {
        return Arguments::Whole;
    }
    if is_nothing(text) {
        return Arguments::Mended("{}".to_owned());
    }
    if let Ok(inner) = serde_json::from_str::<String>(text) {
        return match read(&inner) {
            Arguments::Whole => Arguments::Mended(inner),
            other => other,
        };
    }
    mend(text, End::End).map_or(Arguments::Broken, |mended| Arguments::Mended(mended.json))
}

#[cfg(test)]
mod tests {
    use super::{Arguments, read};

    #[test]
    fn what_is_no_object_is_mended_or_broken() {
        for (given, expected) in [
            (r#"{"city": "Paris"}"#, None),
            (r#"{"n": 1e400, "m": -0.0e-999}"#, None),
            ("", Some("{}")),
            (" null ", Some("{}")),
            ("[ ]", Some("{}")),
            (r#""[]""#, Some("{}")),
            ("{'city': 'Paris',}", Some(r#"{"city": "Paris"}"#)),
            (r#"{city: "Paris"}"#, Some(r#"{"city": "Paris"}"#)),
            (r#"{"city": "Paris""#, Some(r#"{"city": "Paris"}"#)),
            (r#"{"city": "Paris"}}"#, Some(r#"{"city": "Paris"}"#)),
            (r#""{\"city\": \"Paris\"}""#, Some(r#"{"city": "Paris"}"#)),
            (r#""{'city': 'Paris'}""#, Some(r#"{"city": "Paris"}"#)),
            ("{\"city\": \"a\nb\"}", Some(r#"{"city": "a\nb"}"#)),
        ] {
            let expected = expected.map_or(Arguments::Whole, |text| Arguments::Mended(text.to_owned()));
            assert_eq!(read(given), expected, "{given}");
        }
        for broken in
            [r#"{"city": "Par"#, "Paris", "[1, 2]", "7", r#"{"city": "Paris"} and {"city": "Rome"}"#]
        {
            assert_eq!(read(broken), Arguments::Broken, "{broken}");
        }
    }
}
