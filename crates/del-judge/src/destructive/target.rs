//! Paths whose loss cannot be made good.

use crate::ground::Ground;
use std::path::{Component, Path};

/// Whether a path, as it was written, is the working directory itself, all that is in it, or anything outside.
pub(super) fn reaches_out(written: &str, ground: &Ground) -> bool {
    let start = written.trim_end_matches('*').trim_end_matches('/');
    let whole = written.trim_end_matches('/');
    if matches!(whole, "" | "." | ".." | "*" | "./*" | ".*" | "./.*")
        || (start.is_empty() && !written.is_empty())
    {
        return !written.is_empty();
    }
    let home = ["~", "$HOME", "${HOME}", "$PWD", "${PWD}", "$OLDPWD"];
    if home.iter().any(|name| written.starts_with(name)) {
        return true;
    }
    let path = Path::new(start);
    let mut at = if path.is_absolute() { Path::new("/").to_owned() } else { ground.directory().to_owned() };
    for component in path.components() {
        match component {
            Component::ParentDir => {
                at.pop();
            }
            Component::Normal(name) => at.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    at == ground.root() || !at.starts_with(ground.root())
}

/// Whether a path is a disk.
pub(super) fn is_device(path: &str) -> bool {
    const DISKS: [&str; 10] = ["sd", "hd", "vd", "xvd", "nvme", "disk", "rdisk", "mmcblk", "mapper/", "loop"];
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}
