//! A request that says nothing unusual, read no further than to what decides on its way.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::body::Bytes;
use del_wire::tools::KnownTools;
use memchr::memchr2;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{Facts, Request, choice_of, past};

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
}

impl Request {
    /// The same of a request that says nothing unusual, without reading more of it than has to be: its messages are the
    /// server's affair. `None` where all of it has to be read.
    pub(crate) fn at_a_glance(bytes: &Bytes, known: &Mutex<KnownTools>) -> Option<Self> {
        let glance: Glance<'_> = serde_json::from_slice(bytes).ok()?;
        if glance.functions.is_some() || !glance.messages.get().starts_with('[') || is_deep(bytes) {
            return None;
        }
        let tools = match glance.tools {
            Some(tools) => known.lock().unwrap_or_else(PoisonError::into_inner).read(tools.get()).ok()?,
            None => Arc::default(),
        };
        // Tools of other kinds have a type that is none of a function's.
        if glance.tools.is_some_and(|tools| tools.get().contains("\"custom\"")) {
            return None;
        }
        let facts = Facts {
            model: glance.model.into_owned(),
            streams: glance.stream == Some(true),
            one_call: glance.parallel_tool_calls == Some(false),
            has_tools: !tools.is_empty(),
            choice: choice_of(glance.tool_choice.as_deref()),
            past: past::is_in(glance.messages.get()),
        };
        Some(Self {
            bytes: Some(bytes.clone()),
            asked: OnceLock::new(),
            tools: Ok(tools),
            facts,
            hybrid: false,
        })
    }
}

/// True where brackets stand deeper than a reader of all of it would follow.
fn is_deep(json: &[u8]) -> bool {
    const DEEPEST: usize = 120;
    // Few texts have as many brackets at all.
    let open = |byte: &u8| matches!(byte, b'{' | b'[');
    let count = |part: &[u8]| usize::from(part.iter().map(|byte| u8::from(open(byte))).sum::<u8>());
    if json.chunks(255).map(count).sum::<usize>() <= DEEPEST {
        return false;
    }
    let (mut depth, mut rest) = (0_usize, json);
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
    use super::is_deep;

    #[test]
    fn brackets_count_outside_of_texts() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!is_deep(nested(120).as_bytes()));
        assert!(is_deep(nested(121).as_bytes()));
        let text = format!(r#"["\\\"{}\\", {}]"#, "[".repeat(300), nested(119));
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        assert!(!is_deep(text.as_bytes()));
        assert!(is_deep(text.replace("[[]]", "[[[]]]").as_bytes()));
        assert!(!is_deep(["{}".repeat(300), "\"\\".to_owned()].concat().as_bytes()));
    }
}
