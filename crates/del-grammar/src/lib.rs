//! What a model may write, as a grammar for constrained decoding: built once from the description that also reads and
//! writes, printed for each target.
//!
//! A grammar accepts what the writer writes, in schema order and with one space behind `:` and `,` in JSON. What a
//! schema asks beyond that is left out and named in a [`Warning`]: the grammar is then wider than the schema, never
//! narrower.
//!
//! ```
//! use del_dialects::{Dialects, Tool};
//! use del_grammar::{Choice, Grammar, Options};
//!
//! let dialect = Dialects::builtin().get("hermes").expect("a built-in dialect");
//! let parameters = serde_json::json!({
//!     "type": "object",
//!     "properties": {"path": {"type": "string", "minLength": 1}},
//!     "required": ["path"],
//! })
//! .into();
//! let tools = [Tool { name: "list_dir".to_owned(), description: String::new(), parameters }];
//!
//! let grammar = Grammar::new(dialect, &tools, &Options::new(Choice::Required))?;
//! assert!(grammar.warnings().is_empty());
//! assert!(grammar.to_gbnf().starts_with("root ::= "));
//! # Ok::<(), del_grammar::GrammarError>(())
//! ```
#![forbid(unsafe_code)]

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
mod strings;
mod structural;
mod text;
mod value;
mod without;

use std::collections::HashSet;
use std::fmt;

use del_dialects::{Dialect, Tool};
use serde_json::Value;
use thiserror::Error;

pub use regex::RegexError;
use rules::{Expr, Rules};

/// Whether a model may, must, or must in one way call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// Text without calls, or calls, perhaps behind text.
    #[default]
    Auto,
    /// Calls and nothing else.
    Required,
    /// Exactly one call of the tool of this name, and nothing else.
    Named(String),
}

/// What a grammar lets through. Left as it is: text or one call, and no thought before a call that is required.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    choice: Choice,
    parallel: bool,
    thinking: bool,
}

impl Options {
    /// One call at most, as `choice` says.
    pub fn new(choice: Choice) -> Self {
        Self { choice, ..Self::default() }
    }

    /// Whether an answer may hold several calls. One tool that is named is called once in any case.
    #[must_use]
    pub fn parallel(self, parallel: bool) -> Self {
        Self { parallel, ..self }
    }

    /// Whether one thought may come before required calls, if models think in the dialect: between its delimiters, or
    /// without the first of them where the prompt normally ends inside the thinking. With [`Choice::Auto`] the text
    /// before calls may be a thought in any case.
    #[must_use]
    pub fn thinking(self, thinking: bool) -> Self {
        Self { thinking, ..self }
    }
}

/// Why there is no grammar.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
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
    /// The dialect calls one tool alone, and it is none of the tools.
    #[error("expected the tool {tool:?}, as {dialect} can call no other, got {known}")]
    OneTool {
        /// The dialect's name.
        dialect: String,
        /// The tool that it calls.
        tool: String,
        /// The names that there are, with commas between them.
        known: String,
    },
}

/// Something that a schema asks and the grammar does not hold a model to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Warning {
    /// The tool's name.
    pub tool: String,
    /// Where in the arguments: `filter.tags[]`; empty for the arguments as a whole.
    pub path: String,
    /// The keyword of JSON Schema.
    pub keyword: String,
}

/// Warnings in the order in which they were found, each once.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<Warning>,
    known: HashSet<Warning>,
}

impl Warnings {
    pub(crate) fn add(&mut self, warning: Warning) {
        if self.known.insert(warning.clone()) {
            self.list.push(warning);
        }
    }
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

impl Grammar {
    /// The grammar of one answer.
    ///
    /// # Errors
    /// When there is nothing to call, or no tool of the name that is to be called.
    pub fn new(dialect: &Dialect, tools: &[Tool], options: &Options) -> Result<Self, GrammarError> {
        if tools.is_empty() {
            return Err(GrammarError::NoTools);
        }
        let tools = match dialect.tool() {
            Some(tool) => {
                std::slice::from_ref(tools.iter().find(|known| known.name == tool).ok_or_else(|| {
                    let (dialect, tool) = (dialect.name().to_owned(), tool.to_owned());
                    GrammarError::OneTool { dialect, tool, known: names(tools) }
                })?)
            }
            None => tools,
        };
        let (tools, parallel) = match &options.choice {
            Choice::Named(name) => (std::slice::from_ref(named(tools, name)?), false),
            Choice::Auto | Choice::Required => (tools, options.parallel),
        };
        let mut grammar = Self { rules: Rules::default(), triggers: Vec::new(), warnings: Vec::new() };
        let mut warnings = Warnings::default();
        let root = grammar.rules.reserve("root");
        let calls = call::calls(dialect, tools, parallel, &mut grammar.rules, &mut warnings);
        grammar.warnings = warnings.list;
        grammar.triggers = calls.triggers;
        let started = calls.headless.is_some();
        let (body, thought) = match options.choice {
            Choice::Auto => (text::around(dialect, tools, calls.body, &mut grammar.rules), None),
            Choice::Required | Choice::Named(_) => {
                let thought = text::thought(dialect, started).filter(|_| options.thinking);
                let thought = thought.map(|thought| Expr::sequence([thought, calls.body.clone()]));
                (calls.body, thought)
            }
        };
        let body = Expr::choice(std::iter::once(body).chain(calls.headless));
        grammar.rules.define(root, Expr::choice(std::iter::once(body).chain(thought)));
        Ok(grammar)
    }

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

    /// The grammar for llguidance, in its dialect of Lark. Its first rule is `start`.
    pub fn to_lark(&self) -> String {
        lark::print(&self.rules)
    }

    /// The grammar for `XGrammar`, as vLLM and `SGLang` take it: `{"type": "structural_tag", "format": …}`.
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

/// The tool of this name.
fn named<'t>(tools: &'t [Tool], name: &str) -> Result<&'t Tool, GrammarError> {
    tools
        .iter()
        .find(|tool| tool.name == name)
        .ok_or_else(|| GrammarError::UnknownTool { name: name.to_owned(), known: names(tools) })
}

/// The names of tools, with commas between them.
fn names(tools: &[Tool]) -> String {
    tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
}
