//! How full the model's context is.

/// How full the model's context is, in tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    pub(crate) used: u64,
    /// The server counted, but for what is new.
    pub(crate) counted: bool,
    pub(crate) limit: Option<u64>,
}

impl Context {
    /// In a few words.
    pub(crate) fn short(self) -> String {
        let about = if self.counted { "" } else { "~" };
        match self.limit {
            Some(limit) => format!("{about}{} % of {}", self.used * 100 / limit.max(1), thousands(limit)),
            None => format!("{about}{} tokens", thousands(self.used)),
        }
    }

    /// Little is left before room has to be made.
    pub(crate) fn is_nearly_full(self) -> bool {
        self.limit.is_some_and(|limit| self.used * 100 >= limit * 75)
    }
}

/// A number of tokens in a few characters.
pub(crate) fn thousands(tokens: u64) -> String {
    if tokens < 10_000 { tokens.to_string() } else { format!("{}k", tokens / 1000) }
}
