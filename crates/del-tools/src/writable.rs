//! Where writing is more than writing: the inside of repositories, files that run later, and files that hold secrets.

use std::path::{Path, PathBuf};

use del_judge::{is_obeyed, is_repository, is_secret};

use crate::context::Context;
use crate::outcome::{Code, Failure};
use crate::workspace::Place;

/// Refuses what no tool writes, whoever consents: the inside of a repository.
fn may_write(path: &Path, shown: &str) -> Result<(), Failure> {
    if is_repository(path) {
        return Err(Failure::new(
            Code::Denied,
            format!("{shown} is inside .git; use git commands instead of writing there."),
        ));
    }
    Ok(())
}

/// Why writing this file needs a question even where writing does not: it holds secrets, or something runs it.
pub(crate) fn caution(path: &Path) -> Option<&'static str> {
    let lower = path.to_string_lossy().to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    if is_secret(path) || name.starts_with(".env.") || name.starts_with("id_") {
        return Some("this file usually holds secrets");
    }
    is_obeyed(path).then_some("other programs run what this file says")
}

impl Context {
    /// Refuses what no tool writes, whoever consents.
    pub(crate) fn may_write(&self, place: &Place) -> Result<(), Failure> {
        may_write(&self.workspace.absolute(place), &place.shown)
    }

    /// Why writing here needs a question even where writing does not, under whichever of its names.
    pub(crate) fn caution(&self, place: &Place) -> Option<&'static str> {
        self.workspace.names(place).iter().find_map(|place| self.caution_as(place))
    }

    fn caution_as(&self, place: &Place) -> Option<&'static str> {
        let absolute = self.workspace.absolute(place);
        // The working directory may itself be a folder that programs obey.
        let above = absolute.components().count().saturating_sub(place.path().components().count() + 2);
        let near: PathBuf = absolute.components().skip(above).collect();
        let own =
            || self.workspace.lies_in_repository(place).then_some("it belongs to a git repository itself");
        caution(&near).or_else(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Code;

    #[test]
    fn files_that_run_or_hold_secrets_are_known() {
        for path in [
            ".env",
            "a/.env.local",
            "key.pem",
            "a/id_rsa",
            ".bashrc",
            ".vscode/tasks.json",
            "x/.cargo/config.toml",
            ".DEL/config.toml",
            ".gitattributes",
            ".ENV",
            "rust-toolchain.toml",
            ".github/workflows/ci.yml",
        ] {
            assert!(caution(Path::new(path)).is_some(), "{path}");
        }
        for path in
            ["src/main.rs", "env.py", ".gitignore", "README.md", "keys.txt", "config.toml", "identity.rs"]
        {
            assert!(caution(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn the_inside_of_a_repository_is_never_written() {
        for path in [".git/config", "sub/.git/hooks/pre-commit", ".GIT/config", ".git"] {
            assert_eq!(may_write(Path::new(path), path).unwrap_err().code, Code::Denied, "{path}");
        }
        for path in [".gitignore", ".github/x", "git/config"] {
            assert!(may_write(Path::new(path), path).is_ok(), "{path}");
        }
    }
}
