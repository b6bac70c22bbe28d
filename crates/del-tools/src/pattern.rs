//! A pattern to search for: a regular expression, or plain text when it is none.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast::ErrorKind;
use regex_syntax::hir::{Hir, HirKind};

use crate::outcome::{Code, Failure, grouped};

/// Bytes of a pattern.
const MAX_BYTES: usize = 4096;
/// Groups within groups.
const MAX_NESTING: u32 = 100;
/// Positions that a pattern may have, repetitions counted out: a search takes as much time for each byte at worst.
const MAX_POSITIONS: u64 = 10_000;
/// Bytes of a compiled pattern, and of what is kept of it while searching.
const MAX_COMPILED: usize = 10 << 20;
/// Positions times bytes that take no more than a few seconds.
const MAX_WORK: u64 = 500_000_000;
/// Bytes of a line, at least and at most.
const LINE_BYTES: (u64, u64) = (64 << 10, 16 << 20);

/// A compiled pattern, and what the model should know of how it was read.
#[derive(Debug)]
pub(crate) struct Pattern {
    written: String,
    matcher: RegexMatcher,
    fell_back: bool,
    positions: u64,
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
        if written.len() > MAX_BYTES {
            let bytes = grouped(written.len() as u64);
            return bad(&format!(
                "the pattern has {bytes} bytes; at most {} are searched for.",
                grouped(MAX_BYTES as u64)
            ));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(case_insensitive).line_terminator(Some(b'\n'));
        builder.size_limit(MAX_COMPILED).dfa_size_limit(MAX_COMPILED).nest_limit(MAX_NESTING);
        if !literal {
            let parsed = regex_syntax::ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(&written);
            let positions = parsed.as_ref().map_or(0, positions);
            if positions > MAX_POSITIONS {
                let (has, most) = (grouped(positions), grouped(MAX_POSITIONS));
                return bad(&format!(
                    "the pattern repeats too much: it has {has} positions, at most {most} are searched for. Use smaller counts."
                ));
            }
            match builder.build(&written) {
                Ok(matcher) => return Ok(Self { written, matcher, fell_back: false, positions }),
                Err(_) => match unsupported(&written) {
                    Some(feature) => {
                        let cause = format!(
                            "regex feature not supported ({feature}). Use a simpler pattern or literal=true."
                        );
                        return Err(Failure::new(Code::BadPattern, cause));
                    }
                    None if is_too_deep(&parsed) => {
                        return bad(&format!("the pattern nests groups more than {MAX_NESTING} deep."));
                    }
                    None if parsed.is_ok() => {
                        // Without a line terminator it compiles, unless it is too large.
                        let large = builder.line_terminator(None).build(&written).is_err();
                        return bad(if large {
                            "the pattern is too large when compiled. Use smaller counts or classes."
                        } else {
                            "a match lies within one line; the pattern must not match a line break (\\n)."
                        });
                    }
                    None => {}
                },
            }
        }
        match builder.fixed_strings(true).build(&written) {
            Ok(matcher) => {
                let positions = written.len() as u64;
                Ok(Self { written, matcher, fell_back: !literal, positions })
            }
            Err(error) => {
                Err(Failure::new(Code::BadPattern, format!("the pattern cannot be searched: {error}.")))
            }
        }
    }

    pub(crate) fn matcher(&self) -> &RegexMatcher {
        &self.matcher
    }

    /// Bytes of a line that are searched in a few seconds; a file with longer ones is not searched.
    pub(crate) fn line_bytes(&self) -> usize {
        let (least, most) = LINE_BYTES;
        let bytes = (MAX_WORK / self.positions.max(1)).clamp(least, most);
        usize::try_from(bytes).unwrap_or(usize::MAX)
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

fn is_too_deep(parsed: &Result<Hir, regex_syntax::Error>) -> bool {
    match parsed {
        Err(regex_syntax::Error::Parse(error)) => matches!(error.kind(), ErrorKind::NestLimitExceeded(_)),
        _ => false,
    }
}

/// About how many positions a pattern has when repetitions are counted out.
fn positions(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        // A character of several bytes has a position for each.
        HirKind::Class(_) => 2,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            positions(&repetition.sub).saturating_mul(times.into())
        }
        HirKind::Capture(capture) => positions(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(positions).fold(0, u64::saturating_add)
        }
    }
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
    fn what_would_take_too_long_is_refused() {
        for (written, said) in [
            ("(".repeat(100_000) + &")".repeat(100_000), "200,000 bytes"),
            ("(".repeat(2000) + &")".repeat(2000), "more than 100 deep"),
            ("((((a{1,100}){1,100}){1,100}){1,100})".to_owned(), "repeats too much"),
            ("[ab]*a[ab]{20000}".to_owned(), "repeats too much"),
            ("a".repeat(5000), "5,000 bytes"),
        ] {
            let cause = pattern(&written).unwrap_err().cause;
            assert!(cause.contains(said) && cause.len() < 300, "{cause}");
        }
        let cause = Pattern::new("x".repeat(5000), false, true).unwrap_err().cause;
        assert!(cause.contains("5,000 bytes"), "{cause}");
        for written in [r"\w{1,100}", r".{0,2000}", r"(?i)\bfn\s+\w+\s*\(", r"^\s*(pub\s+)?struct\s"] {
            assert!(pattern(written).is_ok(), "{written}");
        }
        assert!(pattern("[ab]{4000}").unwrap().line_bytes() < 100_000);
        assert_eq!(pattern("foo").unwrap().line_bytes(), 16 << 20);
    }

    #[test]
    fn what_only_other_engines_do_is_said() {
        assert!(pattern("(?=a)").unwrap_err().cause.contains("(look-around)"));
        assert!(pattern(r"(a)\1").unwrap_err().cause.contains("(backreference)"));
        assert!(pattern(r"a\nb").unwrap_err().cause.contains("line break"));
        assert!(pattern("a\nb").unwrap_err().cause.contains("line break"));
    }
}
