//! Filters of yq, of which there are two programs. Only paths and plain names are read: whatever calls something needs
//! parentheses or quotes.

use super::{Unsure, jq};

pub(super) fn check(filter: &str) -> Result<(), Unsure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.[]|, -".contains(c);
    if let Some(c) = filter.chars().find(|c| !plain(*c)) {
        return Err(Unsure::Command(c));
    }
    if jq::names(filter, "env") || filter.contains("envsubst") {
        return Err(Unsure::Word("env"));
    }
    // Without a dot it might be a subcommand, behind which comes a filter.
    if filter.starts_with(['.', '[']) { Ok(()) } else { Err(Unsure::Broken) }
}
