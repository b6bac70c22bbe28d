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

pub(super) fn usage(fields: &Fields<'_>) -> Option<Usage> {
    let of = |fields: &Fields<'_>, prompt: &str, completion: &str| {
        let (prompt, completion) = (fields.number(prompt), fields.number(completion));
        let detail = |of: &str, name: &str| fields.object(of).ok().flatten()?.number(name);
        (prompt.is_some() || completion.is_some()).then(|| Usage {
            prompt: prompt.unwrap_or(0),
            completion: completion.unwrap_or(0),
            cached: detail("prompt_tokens_details", "cached_tokens").unwrap_or(0),
            written: detail("prompt_tokens_details", "cache_write_tokens").unwrap_or(0),
            reasoning: detail("completion_tokens_details", "reasoning_tokens").unwrap_or(0),
        })
    };
    match fields.object("usage") {
        Ok(Some(usage)) => of(&usage, "prompt_tokens", "completion_tokens"),
        _ => of(fields, "prompt_eval_count", "eval_count"),
    }
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
