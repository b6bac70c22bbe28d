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

fn folder(variable: &str, otherwise: &str) -> Option<PathBuf> {
    // A relative one would be another folder in each directory, in the midst of what is worked on.
    let absolute = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
    let set = absolute(std::env::var_os(variable).map(PathBuf::from));
    Some(set.or_else(|| Some(absolute(std::env::home_dir())?.join(otherwise)))?.join("del"))
}
