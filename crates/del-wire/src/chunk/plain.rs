//! A chunk that adds text and nothing else, as nearly all are: read in one go.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Chunk, Delta};

/// A chunk of one choice.
#[derive(Deserialize)]
pub(super) struct Plain<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    choices: [PlainChoice<'a>; 1],
    usage: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
    #[serde(borrow)]
    object: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct PlainChoice<'a> {
    #[serde(default)]
    index: u32,
    #[serde(borrow)]
    delta: PlainDelta<'a>,
    finish_reason: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct PlainDelta<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
    reasoning_content: Option<IgnoredAny>,
    reasoning: Option<IgnoredAny>,
    thinking: Option<IgnoredAny>,
    tool_calls: Option<IgnoredAny>,
    function_call: Option<IgnoredAny>,
}

impl<'a> Plain<'a> {
    /// `None` for every other text: what that is, or what is wrong with it, shows when all of it is read.
    pub(super) fn read(json: &'a str) -> Option<Self> {
        let plain: Self = serde_json::from_str(json).ok()?;
        let [PlainChoice { delta, finish_reason, .. }] = &plain.choices;
        let more = [
            &plain.usage,
            &plain.error,
            finish_reason,
            &delta.reasoning_content,
            &delta.reasoning,
            &delta.thinking,
            &delta.tool_calls,
            &delta.function_call,
        ];
        let other = more.iter().any(|member| member.is_some());
        (!other && plain.object.as_deref() != Some("error")).then_some(plain)
    }

    /// The text that it adds, as it stands in the JSON, where it is there as it is.
    pub(super) fn spelling(&self) -> Option<&'a str> {
        let [PlainChoice { delta, .. }] = &self.choices;
        match delta.content {
            Cow::Borrowed(text) => Some(text),
            Cow::Owned(_) => None,
        }
    }

    pub(super) fn into_chunk(self) -> Chunk {
        let [PlainChoice { index, delta, .. }] = self.choices;
        let delta = Delta { choice: index, content: Some(delta.content.into_owned()), ..Delta::default() };
        let (id, model) = (self.id.map(Cow::into_owned), self.model.map(Cow::into_owned));
        Chunk { id, model, choices: vec![delta], ..Chunk::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Plain};
    use crate::fields::Fields;

    #[test]
    fn a_plain_chunk_is_read_as_any_other() {
        let with = |delta: &str, beside: &str| {
            format!(
                r#"{{"id":"i","object":"chat.completion.chunk","model":"m"{beside},"choices":[{{"index":2,"delta":{{"role":"assistant","content":"a\u00e9\n"{delta}}},"logprobs":null,"finish_reason":null}}]}}"#
            )
        };
        for (delta, beside, plain) in [
            ("", "", true),
            (r#","tool_calls":null,"own":[1]"#, r#","usage":null,"own":{}"#, true),
            (r#","reasoning":"r""#, "", false),
            (r#","tool_calls":[{"index":0,"function":{"name":"f"}}]"#, "", false),
            ("", r#","usage":{"prompt_tokens":1}"#, false),
            (r#","content":"b""#, "", false),
            (r#","content":"\ud83d""#, "", false),
        ] {
            let json = with(delta, beside);
            let all = Chunk::of(&Fields::read(&json, "chunk").unwrap(), &json).unwrap();
            let quick = Plain::read(&json).map(Plain::into_chunk);
            assert_eq!(quick.is_some(), plain, "{json}");
            assert_eq!(quick.unwrap_or_else(|| all.clone()), all);
            assert_eq!((all.choices[0].choice, all.id.as_deref()), (2, Some("i")));
        }
    }
}
