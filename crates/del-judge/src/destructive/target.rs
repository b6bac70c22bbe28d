//! Paths whose loss cannot be made good.

use std::path::{Component, Path, PathBuf};

use crate::ground::Ground;

/// Where a command runs, as far as the text before it says.
#[derive(Debug, Clone)]
pub(super) struct Here {
    root: PathBuf,
    directory: PathBuf,
    /// It is not known whether it went on to another directory, or to which.
    unsure: bool,
}

/// Where something lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Inside,
    /// The working directory itself, or all that is in it.
    Whole,
    Outside,
}

impl Here {
    pub(super) fn on(ground: &Ground) -> Self {
        Self { root: ground.root().to_owned(), directory: ground.directory().to_owned(), unsure: false }
    }

    /// Behind a change of the directory to what was written, or home.
    pub(super) fn enter(&self, written: Option<&str>) -> Self {
        let known = |written: &str| !written.contains(['$', '*', '?', '[']) && written != "-";
        match written {
            None => Self { directory: PathBuf::from("/"), ..self.clone() },
            Some(written) if is_home(written) => Self { directory: PathBuf::from("/"), ..self.clone() },
            Some(written) if known(written) => Self { directory: self.resolve(written), ..self.clone() },
            Some(_) => Self { unsure: true, ..self.clone() },
        }
    }

    /// The change of the directory may have failed.
    pub(super) fn doubt(&mut self) {
        self.unsure = true;
    }

    /// Where a path lies, as it was written.
    pub(super) fn place(&self, written: &str) -> Place {
        if written.is_empty() {
            return Place::Inside;
        }
        if is_home(written) {
            return Place::Outside;
        }
        let written = ["$PWD", "${PWD}"]
            .iter()
            .find_map(|pwd| written.strip_prefix(pwd))
            .map_or_else(|| written.to_owned(), |rest| format!("{}{rest}", self.directory.display()));
        let start = written.trim_end_matches('*');
        let at = self.resolve(start);
        let whole = at == self.root || (self.unsure && at == self.directory);
        match at.starts_with(&self.root) {
            _ if whole => Place::Whole,
            true => Place::Inside,
            false => Place::Outside,
        }
    }

    /// Whether a path is the working directory itself, all that is in it, or anything outside.
    pub(super) fn is_lost(&self, written: &str) -> bool {
        self.place(written) != Place::Inside
    }

    fn resolve(&self, written: &str) -> PathBuf {
        let mut at = if written.starts_with('/') { PathBuf::from("/") } else { self.directory.clone() };
        for component in Path::new(written).components() {
            match component {
                Component::ParentDir => {
                    at.pop();
                }
                Component::Normal(name) => at.push(name),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        at
    }
}

fn is_home(written: &str) -> bool {
    ["~", "$HOME", "${HOME}", "$OLDPWD"].iter().any(|name| written.starts_with(name))
}

/// Whether a path is a disk.
pub(super) fn is_device(path: &str) -> bool {
    const DISKS: [&str; 10] = ["sd", "hd", "vd", "xvd", "nvme", "disk", "rdisk", "mmcblk", "mapper/", "loop"];
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}
