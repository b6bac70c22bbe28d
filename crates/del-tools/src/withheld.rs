//! What a rule denies to be read, for commands.

use std::path::Path;

use del_judge::{Ground, Withheld, is_secret};
use globset::GlobMatcher;

/// The same place, where a command may not look at the paths that fit one of these without a question.
pub(crate) fn kept_from(ground: Ground, globs: &[GlobMatcher]) -> Ground {
    // What is known to hold secrets is not shown anyway.
    let globs = globs.iter().filter(|glob| !is_known(glob.glob().glob()));
    let globs: Vec<_> = globs.cloned().collect();
    if globs.is_empty() {
        return ground;
    }
    ground.without(Withheld::new(move |path| globs.iter().any(|glob| glob.is_match(path))))
}

/// Whether all that fits a pattern usually holds secrets: `**/.env`, `*.pem`, `.ssh/**`.
fn is_known(pattern: &str) -> bool {
    let name = pattern.strip_prefix("**/").unwrap_or(pattern);
    let example = match (name.strip_suffix("/**"), name.strip_prefix('*')) {
        (Some(folder), _) => format!("{folder}/x"),
        (None, Some(end)) => format!("x{end}"),
        (None, None) => name.to_owned(),
    };
    !example.contains(['*', '?', '[', '{', '\\']) && is_secret(Path::new(&example))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_secrets_are_known_where_all_that_fits_them_is_one() {
        for pattern in ["**/.env", "*.pem", ".ssh/**", "**/id_rsa", "**/*.key"] {
            assert!(is_known(pattern), "{pattern}");
        }
        for pattern in
            ["keys/**", "*credentials", "credentials/**", ".env*", "**", "*", "*.envrc", "a/{.env,b}"]
        {
            assert!(!is_known(pattern), "{pattern}");
        }
    }
}
