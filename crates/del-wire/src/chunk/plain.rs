//! A chunk that adds text and nothing else, as nearly all are, and a whole answer that is nothing but text: read in one go.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{Chunk, Delta, Finish, Usage, tokens};

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
    #[serde(borrow)]
    logprobs: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct PlainDelta<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
    reasoning_content: Option<IgnoredAny>,
    reasoning: Option<IgnoredAny>,
    thinking: Option<IgnoredAny>,
    #[expect(dead_code, reason = "one that is not empty is not read")]
    annotations: Option<[IgnoredAny; 0]>,
    #[expect(dead_code, reason = "the same")]
    reasoning_details: Option<[IgnoredAny; 0]>,
    refusal: Option<IgnoredAny>,
    audio: Option<IgnoredAny>,
    images: Option<IgnoredAny>,
    tool_calls: Option<IgnoredAny>,
    function_call: Option<IgnoredAny>,
}

/// A whole answer of one choice.
#[derive(Deserialize)]
pub(super) struct Whole<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    choices: [WholeChoice<'a>; 1],
    usage: Option<WholeUsage>,
    error: Option<IgnoredAny>,
    #[serde(borrow)]
    object: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct WholeChoice<'a> {
    #[serde(default)]
    index: u32,
    delta: Option<IgnoredAny>,
    #[serde(borrow)]
    message: PlainDelta<'a>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    logprobs: Option<&'a RawValue>,
    stop_reason: Option<IgnoredAny>,
    matched_stop: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct WholeUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    prompt_cache_hit_tokens: Option<u64>,
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(rename = "cached_tokens")]
    cached: Option<u64>,
    #[serde(rename = "cache_write_tokens")]
    written: Option<u64>,
    #[serde(rename = "reasoning_tokens")]
    reasoning: Option<u64>,
}

impl PlainDelta<'_> {
    /// True where there is more to it than text.
    fn has_more(&self) -> bool {
        let thoughts = [&self.reasoning_content, &self.reasoning, &self.thinking];
        let others = [&self.refusal, &self.audio, &self.images, &self.tool_calls, &self.function_call];
        thoughts.iter().chain(&others).any(|member| member.is_some())
    }
}

impl<'a> Whole<'a> {
    /// `None` for every other answer.
    pub(super) fn read(json: &'a str) -> Option<Self> {
        let whole: Self = serde_json::from_str(json).ok()?;
        let [WholeChoice { message, delta, finish_reason, stop_reason, matched_stop, .. }] = &whole.choices;
        let stopped = stop_reason.is_some() || matched_stop.is_some();
        let unsaid = finish_reason.as_deref() == Some("");
        let other = whole.error.is_some() || delta.is_some() || stopped || unsaid || message.has_more();
        (!other && whole.object.as_deref() != Some("error")).then_some(whole)
    }

    pub(super) fn into_chunk(self) -> Chunk {
        let [WholeChoice { index, message, finish_reason, logprobs, .. }] = self.choices;
        let reason = finish_reason.map(Cow::into_owned);
        let delta = Delta {
            choice: index,
            content: Some(message.content.into_owned()),
            logprobs: logprobs.and_then(|json| tokens(json.get())),
            finish: reason.as_deref().map(Finish::from_reason),
            reason,
            ..Delta::default()
        };
        let usage = self.usage.filter(|usage| usage.prompt_tokens.or(usage.completion_tokens).is_some());
        let usage = usage.map(|usage| {
            let (told, said) = (usage.prompt_tokens_details, usage.completion_tokens_details);
            Usage {
                prompt: usage.prompt_tokens.unwrap_or(0),
                completion: usage.completion_tokens.unwrap_or(0),
                cached: told
                    .as_ref()
                    .and_then(|told| told.cached)
                    .or(usage.prompt_cache_hit_tokens)
                    .or(usage.cached_tokens)
                    .unwrap_or(0),
                written: told.and_then(|told| told.written).unwrap_or(0),
                reasoning: said.and_then(|said| said.reasoning).unwrap_or(0),
            }
        });
        let (id, model) = (self.id.map(Cow::into_owned), self.model.map(Cow::into_owned));
        Chunk { id, model, choices: vec![delta], usage, error: None }
    }
}

impl<'a> Plain<'a> {
    /// `None` for every other text: what that is, or what is wrong with it, shows when all of it is read.
    pub(super) fn read(json: &'a str) -> Option<Self> {
        let plain: Self = serde_json::from_str(json).ok()?;
        let [PlainChoice { delta, finish_reason, .. }] = &plain.choices;
        let other =
            plain.usage.is_some() || plain.error.is_some() || finish_reason.is_some() || delta.has_more();
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
        let [PlainChoice { index, delta, logprobs, .. }] = self.choices;
        let content = Some(delta.content.into_owned());
        let logprobs = logprobs.and_then(|json| tokens(json.get()));
        let delta = Delta { choice: index, content, logprobs, ..Delta::default() };
        let (id, model) = (self.id.map(Cow::into_owned), self.model.map(Cow::into_owned));
        Chunk { id, model, choices: vec![delta], ..Chunk::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Plain, Whole};
    use crate::fields::Fields;

    #[test]
    fn a_plain_chunk_is_read_as_any_other() {
        let with = |delta: &str, beside: &str| {
            format!(
                r#"{{"id":"i","object":"chat.completion.chunk","model":"m"{beside},"choices":[{{"index":2,"delta":{{"role":"assistant","content":"a\u00e9\n"{delta}}},"finish_reason":null}}]}}"#
            )
        };
        for (delta, beside, plain) in [
            ("", "", true),
            (r#","tool_calls":null,"own":[1]"#, r#","usage":null,"own":{}"#, true),
            (r#"},"logprobs":null,"own":{"b":1"#, "", true),
            (r#","refusal":null},"logprobs":{"content":[{"token":"a"}]},"own":{"b":1"#, "", true),
            (r#","annotations":[]"#, "", true),
            (r#","annotations":[{"type":"url_citation"}]"#, "", false),
            (r#","reasoning_details":[]"#, "", true),
            (r#","reasoning_details":[{"type":"reasoning.text"}]"#, "", false),
            (r#","refusal":"No.""#, "", false),
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
    #[test]
    fn a_whole_answer_of_text_is_read_as_any_other() {
        let with = |message: &str, beside: &str| {
            format!(
                r#"{{"id":"i","object":"chat.completion","model":"m"{beside},"choices":[{{"index":1,"message":{{"role":"assistant","content":"a\u00e9\n"{message}}},"finish_reason":"length"}}]}}"#
            )
        };
        for (message, beside, plain) in [
            ("", "", true),
            (r#","tool_calls":null"#, r#","usage":null"#, true),
            (
                "",
                r#","usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2,"cache_write_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}"#,
                true,
            ),
            ("", r#","usage":{"total_tokens":7,"prompt_tokens_details":null}"#, true),
            ("", r#","usage":{"prompt_tokens":"7"}"#, false),
            (r#"},"logprobs":null,"stop_reason":null,"own":{"b":1"#, "", true),
            (r#"},"logprobs":{"content":[{"token":"a"}]},"own":{"b":1"#, "", true),
            (r#"},"logprobs":[1],"own":{"b":1"#, "", true),
            (r#"},"stop_reason":"END","own":{"b":1"#, "", false),
            (r#","annotations":[]"#, "", true),
            (r#","annotations":[{"type":"url_citation"}]"#, "", false),
            (r#","reasoning_content":"r""#, "", false),
            (r#","refusal":"No.""#, "", false),
            (r#","tool_calls":[{"index":0,"function":{"name":"f"}}]"#, "", false),
            (r#","content":"b""#, "", false),
        ] {
            let json = with(message, beside);
            let all = Chunk::of(&Fields::read(&json, "chunk").unwrap(), &json).unwrap();
            let quick = Whole::read(&json).map(Whole::into_chunk);
            assert_eq!(quick.is_some(), plain, "{json}");
            assert_eq!(quick.unwrap_or_else(|| all.clone()), all);
            assert_eq!(Chunk::read_whole(&json).unwrap(), all);
        }
    }
}
