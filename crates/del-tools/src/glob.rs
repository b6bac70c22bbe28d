//! Glob patterns, as every tool reads them: `*` stays within a path component, `**` does not.

use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::RegexBuilder;

use crate::outcome::{Code, Failure};
use crate::text::on_one_line;

/// Bytes of a pattern.
const MAX_BYTES: usize = 2000;
/// Braces within braces.
const MAX_NESTING: usize = 16;
/// Bytes of a compiled pattern.
const MAX_COMPILED: usize = 4 << 20;

/// A pattern for the whole of a path or name.
pub(crate) fn whole(pattern: &str) -> Result<GlobMatcher, Failure> {
    let bad = |cause: String| Failure::new(Code::BadPattern, cause);
    if pattern.len() > MAX_BYTES {
        let cause = format!("the glob pattern has {} bytes; at most {MAX_BYTES} are read.", pattern.len());
        return Err(bad(cause));
    }
    if nesting(pattern) > MAX_NESTING {
        return Err(bad(format!("the glob pattern nests braces more than {MAX_NESTING} deep.")));
    }
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        bad(format!("'{}' is not a glob pattern: {}.", on_one_line(pattern), error.kind()))
    })?;
    // The matcher panics where the expression cannot be compiled.
    let compiles = RegexBuilder::new(glob.regex()).size_limit(MAX_COMPILED).build().is_ok();
    if !compiles {
        return Err(bad(format!("the glob pattern '{}' is too large.", on_one_line(pattern))));
    }
    Ok(glob.compile_matcher())
}

/// How deep braces stand in braces at most.
fn nesting(pattern: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in pattern.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// A pattern for paths; without a slash it is about the name, wherever the file lies.
pub(crate) fn anywhere(pattern: &str) -> Result<GlobMatcher, Failure> {
    whole(pattern)?;
    if pattern.contains('/') { whole(pattern) } else { whole(&format!("**/{pattern}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_deep_or_too_large_is_said() {
        for deep in [
            "{".repeat(400),
            "{".repeat(400) + "a" + &"}".repeat(400),
            "{a,".repeat(17) + &"}".repeat(17),
            "[".repeat(3000),
            "**/".repeat(5000),
        ] {
            for read in [whole, anywhere] {
                let failure = read(&deep).unwrap_err();
                assert_eq!(failure.code, Code::BadPattern);
                assert!(failure.cause.len() < 400, "{}", failure.cause);
            }
        }
        let wide = format!("*.{{{}}}", ["rs", "toml", "md"].join(","));
        assert!(anywhere(&wide).unwrap().is_match("src/a.rs"));
        let nested = "{a,".repeat(16) + "b" + &"}".repeat(16);
        assert!(whole(&nested).unwrap().is_match("b"));
        let wild = "?".repeat(1900);
        assert!(!whole(&wild).unwrap().is_match("b"));
    }
}
