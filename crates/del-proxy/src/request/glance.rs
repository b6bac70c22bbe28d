//! A request that says nothing unusual, read no further than to what decides on its way.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use memchr::memchr2;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::facts::{Facts, choice_of};
use super::{KnownTools, Request, past};
use crate::api::Api;

/// The members of a request for a chat completion that decide on its way; the others are not read.
#[derive(Deserialize)]
struct Glance<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    parallel_tool_calls: Option<bool>,
    #[serde(borrow)]
    messages: &'a RawValue,
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_choice: Option<Cow<'a, str>>,
    #[serde(default)]
    functions: Option<IgnoredAny>,
    #[serde(default)]
    n: Option<IgnoredAny>,
}

impl Request {
    /// The same of a request that says nothing unusual, without reading more of it than has to be: its messages are the
    /// server's affair. `None` where all of it has to be read.
    pub(crate) fn at_a_glance(bytes: &Bytes, known: &KnownTools) -> Option<Self> {
        let glance: Glance<'_> = serde_json::from_slice(bytes).ok()?;
        if glance.functions.is_some()
            || glance.n.is_some()
            || !glance.messages.get().starts_with('[')
            || is_deep(&beside(bytes, glance.tools))
        {
            return None;
        }
        let tools = match glance.tools {
            Some(tools) if tools.get().starts_with('[') => {
                known.read(Api::Chat, tools.get()).ok()?.tools.clone()?
            }
            Some(_) => return None,
            None => Arc::default(),
        };
        let facts = Facts {
            model: glance.model.into_owned(),
            streams: glance.stream == Some(true),
            one_call: glance.parallel_tool_calls == Some(false),
            has_tools: !tools.is_empty(),
            choice: choice_of(glance.tool_choice.as_deref()),
            past: past::is_in(glance.messages.get()),
            choices: 1,
        };
        Some(Self {
            bytes: Some(bytes.clone()),
            asked: OnceLock::new(),
            tools: Ok(tools),
            facts,
            hybrid: false,
            left_out: Vec::new(),
            names: Arc::default(),
        })
    }
}

/// A request without its tools, whose depth shows when they are read.
fn beside<'b>(bytes: &'b [u8], tools: Option<&RawValue>) -> [&'b [u8]; 2] {
    let Some(tools) = tools.map(RawValue::get) else { return [bytes, &[]] };
    let begin = tools.as_ptr().addr() - bytes.as_ptr().addr();
    [&bytes[..begin], &bytes[begin + tools.len()..]]
}

/// True where brackets stand deeper than a reader of all of it would follow. No text goes from one part to the next.
fn is_deep(parts: &[&[u8]]) -> bool {
    const DEEPEST: usize = 120;
    // Few texts have as many brackets at all.
    let open = |byte: &u8| matches!(byte, b'{' | b'[');
    let count = |part: &[u8]| usize::from(part.iter().map(|byte| u8::from(open(byte))).sum::<u8>());
    if parts.iter().flat_map(|part| part.chunks(255)).map(count).sum::<usize>() <= DEEPEST {
        return false;
    }
    let mut depth = 0_usize;
    for part in parts {
        let mut rest = *part;
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            match byte {
                b'"' => rest = behind_text(rest),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > DEEPEST {
                return true;
            }
        }
    }
    false
}

/// What follows a text of which this is the rest.
fn behind_text(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        let escapes = rest[at] == b'\\';
        rest = rest.get(at + 1 + usize::from(escapes)..).unwrap_or_default();
        if !escapes {
            return rest;
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{beside, is_deep};

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn brackets_count_outside_of_texts() {
        let is_deep = |text: &str| is_deep(&[text.as_bytes()]);
        assert!(!is_deep(&nested(120)));
        assert!(is_deep(&nested(121)));
        let text = format!(r#"["\\\"{}\\", {}]"#, "[".repeat(300), nested(119));
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        assert!(!is_deep(&text));
        assert!(is_deep(&text.replace("[[]]", "[[[]]]")));
        assert!(!is_deep(&["{}".repeat(300), "\"\\".to_owned()].concat()));
    }

    #[test]
    fn tools_are_left_out() {
        let (before, tools, behind) = (format!(r#"{{"a": {}, "tools": "#, nested(119)), nested(200), "}");
        let body = [&before, &*tools, behind].concat();
        let raw: &RawValue = serde_json::from_str(&body[before.len()..body.len() - 1]).unwrap();
        let parts = beside(body.as_bytes(), Some(raw));
        assert_eq!(parts, [before.as_bytes(), behind.as_bytes()]);
        assert!(!is_deep(&parts));
        assert!(is_deep(&beside(body.as_bytes(), None)));
        // What stands around them is one.
        let open = "[".repeat(61);
        assert!(is_deep(&[open.as_bytes(), open.as_bytes()]));
    }
}
