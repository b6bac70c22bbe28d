//! llguidance, over a vocabulary of single bytes.

use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv};
use llguidance::{Matcher, ParserFactory};

/// A grammar that the engine has compiled.
pub(crate) struct Guidance {
    start: Matcher,
}

impl Guidance {
    pub(crate) fn lark(text: &str) -> Result<Self, String> {
        Self::new(TopLevelGrammar::from_lark(text.to_owned()))
    }

    pub(crate) fn regex(text: &str) -> Result<Self, String> {
        Self::new(TopLevelGrammar::from_regex(text))
    }

    fn new(grammar: TopLevelGrammar) -> Result<Self, String> {
        let env: TokEnv = Arc::new(ApproximateTokEnv::single_byte());
        let mut factory = ParserFactory::new_simple(&env).map_err(|error| error.to_string())?;
        factory.quiet();
        let start = Matcher::new(factory.create_parser(grammar));
        match start.get_error() {
            Some(error) => Err(error),
            None => Ok(Self { start }),
        }
    }

    /// True when the whole text is one of the grammar's.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        let mut matcher = self.start.deep_clone();
        let bytes: Vec<u32> = text.bytes().map(u32::from).collect();
        let taken = matcher.try_consume_tokens(&bytes).unwrap_or(0);
        taken == bytes.len() && matcher.is_accepting().unwrap_or(false)
    }
}
