//! Parsing, within limits.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree, TreeCursor};

use crate::grammar::{Grammar, role};
use crate::language::Language;

/// Longer texts are not parsed.
pub const MAX_BYTES: usize = 1 << 20;

/// A text that was parsed.
pub struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) tree: Tree,
    pub(crate) grammar: &'static Grammar,
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("bytes", &self.text.len()).finish_non_exhaustive()
    }
}

/// Why a text was not parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unparsed {
    /// There is no grammar for the language.
    NoGrammar,
    /// The text is longer than [`MAX_BYTES`].
    TooLong,
    /// The caller wanted it to stop.
    Stopped,
}

/// Parses `text`. Now and then `stop` is asked whether to give up.
pub fn parse<'a>(
    text: &'a str,
    language: &'static Language,
    stop: &dyn Fn() -> bool,
) -> Result<Source<'a>, Unparsed> {
    let grammar = language.grammar().ok_or(Unparsed::NoGrammar)?;
    if text.len() > MAX_BYTES {
        return Err(Unparsed::TooLong);
    }
    let mut parser = Parser::new();
    // Fails for a grammar of another generation of the parser alone.
    parser.set_language(&grammar.parser).map_err(|_| Unparsed::NoGrammar)?;
    let bytes = text.as_bytes();
    let mut progress =
        |_: &tree_sitter::ParseState| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree =
        parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
    Ok(Source { text, tree: tree.ok_or(Unparsed::Stopped)?, grammar })
}

/// What a byte of a text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matter {
    /// Code.
    Code,
    /// A comment.
    Comment,
    /// A string, but not code inside one.
    Text,
}

impl Source<'_> {
    /// What the byte `at` belongs to.
    pub fn matter(&self, at: usize) -> Matter {
        let mut matter = Matter::Code;
        self.walk(|cursor, _| {
            let node = cursor.node();
            if !node.byte_range().contains(&at) {
                return false;
            }
            let is = |role| self.grammar.is(node.kind_id(), role);
            if is(role::COMMENT) {
                matter = Matter::Comment;
            } else if is(role::STRING) {
                matter = Matter::Text;
            } else if is(role::INTERPOLATION) {
                matter = Matter::Code;
            }
            true
        });
        matter
    }

    /// Whether there is something that the grammar could not make sense of.
    pub fn has_errors(&self) -> bool {
        self.tree.root_node().has_error()
    }

    /// Shows `visit` every node with its depth, each before what is in it. What is in a node is left out where
    /// `visit` says no.
    pub(crate) fn walk(&self, mut visit: impl FnMut(&TreeCursor<'_>, usize) -> bool) {
        let mut cursor = self.tree.walk();
        let mut depth = 0;
        loop {
            if visit(&cursor, depth) && cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                depth -= 1;
            }
        }
    }
}
