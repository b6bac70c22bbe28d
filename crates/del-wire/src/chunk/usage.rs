//! What an answer cost.

use crate::fields::Fields;

/// Tokens of one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Tokens of the answer.
    pub completion: u64,
    /// Those of the prompt that the server had read before.
    pub cached: u64,
    /// Those of the prompt that the server has read now and keeps for later requests.
    pub written: u64,
    /// Those of the answer that were thinking.
    pub reasoning: u64,
}

/// How long an answer took, as Ollama's servers say it, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// All of it.
    pub total: u64,
    /// Loading the model.
    pub load: u64,
    /// Reading the prompt.
    pub prompt: u64,
    /// Writing the answer.
    pub completion: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.prompt = self.prompt.saturating_add(more.prompt);
        self.completion = self.completion.saturating_add(more.completion);
        self.cached = self.cached.saturating_add(more.cached);
        self.written = self.written.saturating_add(more.written);
        self.reasoning = self.reasoning.saturating_add(more.reasoning);
    }
}

/// What an answer says of its cost. Groq's servers say it in a member of their own.
pub(super) fn usage(fields: &Fields<'_>) -> Option<Usage> {
    let ollama = || counts(fields, "prompt_eval_count", "eval_count");
    of_object(fields).or_else(ollama).or_else(|| of_object(&fields.object("x_groq").ok().flatten()?))
}

/// What the member `usage` of an object says. Moonshot's servers have it in the last choice of a stream.
pub(super) fn of_object(fields: &Fields<'_>) -> Option<Usage> {
    counts(&fields.object("usage").ok().flatten()?, "prompt_tokens", "completion_tokens")
}

fn counts(fields: &Fields<'_>, prompt: &str, completion: &str) -> Option<Usage> {
    let (prompt, completion) = (fields.number(prompt), fields.number(completion));
    let detail = |of: &str, name: &str| fields.object(of).ok().flatten()?.number(name);
    (prompt.is_some() || completion.is_some()).then(|| Usage {
        prompt: prompt.unwrap_or(0),
        completion: completion.unwrap_or(0),
        // DeepSeek's servers and Moonshot's have names of their own for it.
        cached: detail("prompt_tokens_details", "cached_tokens")
            .or_else(|| fields.number("prompt_cache_hit_tokens"))
            .or_else(|| fields.number("cached_tokens"))
            .unwrap_or(0),
        written: detail("prompt_tokens_details", "cache_write_tokens").unwrap_or(0),
        reasoning: detail("completion_tokens_details", "reasoning_tokens").unwrap_or(0),
    })
}

pub(super) fn times(fields: &Fields<'_>) -> Option<Times> {
    let of = |name| fields.number(name).unwrap_or(0);
    fields.has("total_duration").then(|| Times {
        total: of("total_duration"),
        load: of("load_duration"),
        prompt: of("prompt_eval_duration"),
        completion: of("eval_duration"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Chunk;
    use super::Usage;

    #[test]
    fn servers_say_it_in_places_of_their_own() {
        let usage = Some(Usage { prompt: 7, completion: 3, cached: 5, ..Usage::default() });
        let told = r#""prompt_tokens":7,"completion_tokens":3"#;
        for json in [
            format!(r#"{{"choices":[],"usage":{{{told},"prompt_tokens_details":{{"cached_tokens":5}}}}}}"#),
            format!(
                r#"{{"choices":[],"usage":{{{told},"prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":2}}}}"#
            ),
            format!(
                r#"{{"choices":[{{"index":0,"message":{{"content":"a"}},"finish_reason":"stop"}}],"usage":{{{told},"prompt_cache_hit_tokens":5}}}}"#
            ),
            format!(
                r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"stop","usage":{{{told},"cached_tokens":5}}}}]}}"#
            ),
            format!(
                r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"stop"}}],"x_groq":{{"usage":{{{told},"cached_tokens":5}}}}}}"#
            ),
        ] {
            assert_eq!(Chunk::read(&json).unwrap().usage, usage, "{json}");
            assert_eq!(Chunk::read_whole(&json).unwrap().usage, usage, "{json}");
        }
        let none = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r"}}"#;
        assert_eq!(Chunk::read(none).unwrap().usage, None);
    }
}
