//! A pattern to search for: a regular expression, or plain text when it is none.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast::ErrorKind;

use crate::outcome::{Code, Failure};

/// A compiled pattern, and what the model should know of how it was read.
#[derive(Debug)]
pub(crate) struct Pattern {
    written: String,
    matcher: RegexMatcher,
    fell_back: bool,
}

impl Pattern {
    /// Compiles `written`. What is no regular expression is searched as it stands; what only other engines can do is
    /// an error.
    pub(crate) fn new(written: String, case_insensitive: bool, literal: bool) -> Result<Self, Failure> {
        let bad = |cause: &str| Err(Failure::new(Code::BadPattern, cause.to_owned()));
        if written.is_empty() {
            return bad("the pattern is empty.");
        }
        if written.contains(['\n', '\r']) {
            return bad("a match lies within one line; the pattern must not contain a line break.");
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(case_insensitive).line_terminator(Some(b'\n'));
        if !literal {
            match builder.build(&written) {
                Ok(matcher) => return Ok(Self { written, matcher, fell_back: false }),
                Err(_) => match unsupported(&written) {
                    Some(feature) => {
                        let cause = format!(
                            "regex feature not supported ({feature}). Use a simpler pattern or literal=true."
                        );
                        return Err(Failure::new(Code::BadPattern, cause));
                    }
                    None if spans_lines(&written) => {
                        return bad(
                            "a match lies within one line; the pattern must not match a line break (\\n).",
                        );
                    }
                    None => {}
                },
            }
        }
        match builder.fixed_strings(true).build(&written) {
            Ok(matcher) => Ok(Self { written, matcher, fell_back: !literal }),
            Err(error) => {
                Err(Failure::new(Code::BadPattern, format!("the pattern cannot be searched: {error}.")))
            }
        }
    }

    pub(crate) fn matcher(&self) -> &RegexMatcher {
        &self.matcher
    }

    pub(crate) fn written(&self) -> &str {
        &self.written
    }

    /// What to say beside `matches` matches.
    pub(crate) fn note(&self, matches: usize) -> Option<&'static str> {
        if self.fell_back {
            return Some("(pattern is not a valid regex; searched literally)");
        }
        let old_habit = [r"\|", r"\(", r"\+"].iter().any(|escaped| self.written.contains(escaped));
        (matches == 0 && old_habit).then_some(
            r"(\| \( and \+ match these characters themselves here; write | ( + for alternatives, groups, repeats)",
        )
    }
}

fn unsupported(written: &str) -> Option<&'static str> {
    match regex_syntax::ast::parse::Parser::new().parse(written).err()?.kind() {
        ErrorKind::UnsupportedLookAround => Some("look-around"),
        ErrorKind::UnsupportedBackreference => Some("backreference"),
        _ => None,
    }
}

/// A valid expression that the searcher refuses, for it works line by line.
fn spans_lines(written: &str) -> bool {
    regex_syntax::Parser::new().parse(written).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(written: &str) -> Result<Pattern, Failure> {
        Pattern::new(written.to_owned(), false, false)
    }

    #[test]
    fn broken_expressions_are_searched_as_text() {
        assert!(pattern("foo(").unwrap().note(1).unwrap().contains("literally"));
        assert_eq!(pattern("foo").unwrap().note(0), None);
        assert!(pattern(r"a\|b").unwrap().note(0).is_some());
        assert!(pattern(r"a\|b").unwrap().note(1).is_none());
    }

    #[test]
    fn what_only_other_engines_do_is_said() {
        assert!(pattern("(?=a)").unwrap_err().cause.contains("(look-around)"));
        assert!(pattern(r"(a)\1").unwrap_err().cause.contains("(backreference)"));
        assert!(pattern(r"a\nb").unwrap_err().cause.contains("line break"));
        assert!(pattern("a\nb").unwrap_err().cause.contains("line break"));
    }
}
