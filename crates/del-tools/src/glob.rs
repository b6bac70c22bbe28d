//! Glob patterns, as every tool reads them: `*` stays within a path component, `**` does not.

use globset::{GlobBuilder, GlobMatcher};

use crate::outcome::{Code, Failure};
use crate::workspace::on_one_line;

/// A pattern for the whole of a path or name.
pub(crate) fn whole(pattern: &str) -> Result<GlobMatcher, Failure> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let bad = |error: globset::Error| {
        let cause = format!("'{}' is not a glob pattern: {}.", on_one_line(pattern), error.kind());
        Failure::new(Code::BadPattern, cause)
    };
    Ok(glob.map_err(bad)?.compile_matcher())
}

/// A pattern for paths; without a slash it is about the name, wherever the file lies.
pub(crate) fn anywhere(pattern: &str) -> Result<GlobMatcher, Failure> {
    whole(pattern)?;
    if pattern.contains('/') { whole(pattern) } else { whole(&format!("**/{pattern}")) }
}
