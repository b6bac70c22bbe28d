//! Where Del keeps what outlasts a run.

use std::path::PathBuf;

/// The folder for it, whether it is there or not.
pub(crate) fn folder() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(state.or_else(|| Some(std::env::home_dir()?.join(".local/state")))?.join("del"))
}
