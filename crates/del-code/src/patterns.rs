//! What the lines look like that define something, where there is no grammar.

use regex::{Regex, RegexBuilder};

use crate::description::Pattern;

/// The expressions of a language.
#[derive(Debug)]
pub(crate) struct Patterns(pub(crate) Vec<(String, Regex)>);

impl Patterns {
    pub(crate) fn new(written: &[Pattern]) -> Self {
        let compiled = written.iter().filter_map(|pattern| {
            let regex = RegexBuilder::new(&pattern.regex).multi_line(true).build();
            // A test holds that they all compile.
            Some((pattern.kind.clone(), regex.ok()?))
        });
        Self(compiled.collect())
    }
}
