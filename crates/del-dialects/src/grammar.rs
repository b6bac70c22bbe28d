//! What a model may write, as a grammar for constrained decoding: built once from the same description that reads and
//! writes, printed for each target.
//!
//! A grammar accepts what the writer writes, in schema order and with one space behind `:` and `,` in JSON. What a
//! schema asks beyond that is left out and named in a [`Warning`]: the grammar is then wider than the schema, never
//! narrower.

mod call;
mod fields;
mod gbnf;
mod integers;
mod rules;
mod shape;
mod text;
mod value;
mod without;

use std::fmt;

use rules::{Expr, Rules};
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
        let mut grammar = Grammar { rules: Rules::default(), triggers: Vec::new(), warnings: Vec::new() };
        let root = grammar.rules.reserve("root");
        let calls = call::calls(self, tools, parallel, &mut grammar.rules, &mut grammar.warnings);
        grammar.triggers = calls.triggers;
        let body = match choice {
            Choice::Auto => text::around(self, calls.body, &mut grammar.rules),
            Choice::Required | Choice::Named(_) => calls.body,
        };
        let body = Expr::choice(std::iter::once(body).chain(calls.headless));
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

    /// The grammar for llama.cpp. Its first rule is `root`.
    pub fn to_gbnf(&self) -> String {
        gbnf::print(&self.rules)
    }
}
