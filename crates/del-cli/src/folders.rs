//! Where the user's own files lie.

use std::path::PathBuf;

/// The folder of the user's configuration, whether it is there or not.
pub(crate) fn configuration() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME", ".config")
}

/// The folder of what is kept between runs.
pub(crate) fn state() -> Option<PathBuf> {
    folder("XDG_STATE_HOME", ".local/state")
}

/// A path as the user wrote it, where no shell stood between: `~` is the home directory.
pub(crate) fn meant(path: &str) -> PathBuf {
    let home = || std::env::home_dir().filter(|home| home.is_absolute());
    match path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')).zip(home()) {
        Some((rest, home)) => home.join(rest.trim_start_matches('/')),
        None => PathBuf::from(path),
    }
}

fn folder(variable: &str, otherwise: &str) -> Option<PathBuf> {
    // A relative one would be another folder in each directory, in the midst of what is worked on.
    let absolute = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
    let set = absolute(std::env::var_os(variable).map(PathBuf::from));
    Some(set.or_else(|| Some(absolute(std::env::home_dir())?.join(otherwise)))?.join("del"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_tilde_is_the_home_directory_only_by_itself() {
        let home = std::env::home_dir().unwrap();
        assert_eq!((meant("~"), meant("~/a/b.md")), (home.clone(), home.join("a/b.md")));
        for path in ["a/~/b", "~other/x", "a.md", "/a"] {
            assert_eq!(meant(path), Path::new(path));
        }
    }
}
