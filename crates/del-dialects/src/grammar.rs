//! What a model may write, as a grammar for constrained decoding: built once from the same description that reads and
//! writes, printed for each target.
//!
//! A grammar accepts what the writer writes, in schema order and with one space behind `:` and `,` in JSON. What a
//! schema asks beyond that is left out and named in a [`Warning`]: the grammar is then wider than the schema, never
//! narrower.

mod call;
mod conflict;
mod fields;
mod gbnf;
mod integers;
mod lark;
mod linear;
mod pattern;
mod regex;
mod rules;
mod shape;
mod structural;
mod text;
mod value;
mod without;

use std::fmt;

pub use regex::RegexError;
use rules::{Expr, Rules};
use serde_json::Value;
use thiserror::Error;

use crate::dialect::Dialect;
use crate::message::Tool;

/// Whether a model may, must, or must in one way call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Choice {
    /// Text without calls, or calls, perhaps behind text.
    #[default]
    Auto,
    /// Calls and nothing else.
    Required,
    /// Exactly one call of the tool of this name, and nothing else.
    Named(String),
}

/// Why there is no grammar.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GrammarError {
    /// Nothing can be called.
    #[error("expected at least one tool, got none")]
    NoTools,
    /// The tool that is to be called is none of the tools.
    #[error("expected the name of one of the tools ({known}), got {name:?}")]
    UnknownTool {
        /// The name that was asked for.
        name: String,
        /// The names that there are, with commas between them.
        known: String,
    },
}

/// Something that a schema asks and the grammar does not hold a model to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The tool's name.
    pub tool: String,
    /// Where in the arguments: `filter.tags[]`; empty for the arguments as a whole.
    pub path: String,
    /// The keyword of JSON Schema.
    pub keyword: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, path, keyword } = self;
        let place = if path.is_empty() { "the arguments" } else { path };
        write!(f, "{tool}: the grammar does not hold {place} to {keyword:?}")
    }
}

/// What a model may write. The parts are neutral; each target has its printer.
#[derive(Debug, Clone)]
pub struct Grammar {
    rules: Rules,
    /// What the root becomes where a thought may come first.
    thoughtful: Option<Expr>,
    triggers: Vec<String>,
    warnings: Vec<Warning>,
}

impl Dialect {
    /// The grammar of one answer. Without `parallel` there is at most one call.
    ///
    /// # Errors
    /// When there is nothing to call, or no tool of the name in `choice`.
    pub fn grammar(&self, tools: &[Tool], choice: &Choice, parallel: bool) -> Result<Grammar, GrammarError> {
        if tools.is_empty() {
            return Err(GrammarError::NoTools);
        }
        let named: Vec<Tool>;
        let (tools, parallel) = if let Choice::Named(name) = choice {
            let unknown = || GrammarError::UnknownTool {
                name: name.clone(),
                known: tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", "),
            };
            let tool = tools.iter().find(|tool| tool.name == *name).ok_or_else(unknown)?;
            named = vec![tool.clone()];
            (named.as_slice(), false)
        } else {
            (tools, parallel)
        };
        let mut grammar =
            Grammar { rules: Rules::default(), thoughtful: None, triggers: Vec::new(), warnings: Vec::new() };
        let root = grammar.rules.reserve("root");
        let calls = call::calls(self, tools, parallel, &mut grammar.rules, &mut grammar.warnings);
        grammar.triggers = calls.triggers;
        let started = calls.headless.is_some();
        let thought = text::thought(self, started).filter(|_| *choice != Choice::Auto);
        let thought = thought.map(|thought| Expr::sequence([thought, calls.body.clone()]));
        let body = match choice {
            Choice::Auto => text::around(self, calls.body, &mut grammar.rules),
            Choice::Required | Choice::Named(_) => calls.body,
        };
        let body = Expr::choice(std::iter::once(body).chain(calls.headless));
        grammar.thoughtful = thought.map(|thought| Expr::choice([body.clone(), thought]));
        grammar.rules.define(root, body);
        Ok(grammar)
    }
}

impl Grammar {
    /// Texts by which calls begin. A sampler that waits for one of them, and gives the grammar the text from there on,
    /// may use the grammar of any [`Choice`], and leaves the text before alone.
    pub fn triggers(&self) -> &[String] {
        &self.triggers
    }

    /// What the schemas ask and the grammar does not hold a model to.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The same, but one thought may come before required calls, if models think in the dialect: between its marks, or
    /// without the first of them where the prompt normally ends inside the thinking. With [`Choice::Auto`] the text
    /// before calls may be a thought in any case.
    #[must_use]
    pub fn with_thinking(mut self) -> Self {
        if let Some(body) = self.thoughtful.take() {
            let root = self.rules.root();
            self.rules.define(root, body);
        }
        self
    }

    /// The grammar for llama.cpp. Its first rule is `root`.
    pub fn to_gbnf(&self) -> String {
        gbnf::print(&self.rules)
    }

    /// The grammar for llguidance, in its dialect of Lark. Its first rule is `start`.
    pub fn to_lark(&self) -> String {
        lark::print(&self.rules)
    }

    /// The grammar for `XGrammar`, as vLLM and SGLang take it: `{"type": "structural_tag", "format": …}`.
    pub fn to_structural_tag(&self) -> Value {
        structural::print(&self.rules)
    }

    /// One regular expression that whole answers match, without anchors.
    ///
    /// # Errors
    /// Where values of any depth are allowed, which no regular expression can follow, or where it would be too long.
    pub fn to_regex(&self) -> Result<String, RegexError> {
        regex::print(&self.rules)
    }
}
