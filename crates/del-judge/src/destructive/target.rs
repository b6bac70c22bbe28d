//! Paths whose loss cannot be made good.

use std::path::{Component, Path, PathBuf};

use crate::ground::Ground;

/// Where a command runs, as far as the text before it says.
#[derive(Debug, Clone)]
pub(super) struct Here {
    /// The directories that commands may work in.
    roots: Vec<PathBuf>,
    directory: PathBuf,
    /// It may still run where the text began, so that what is around it is not to be lost.
    began: bool,
}

/// Where something lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Inside,
    /// The working directory itself, or all that is in it, or one that is allowed besides.
    Whole,
    Outside,
}

impl Here {
    pub(super) fn on(ground: &Ground) -> Self {
        let roots = ground.roots().map(Path::to_owned).collect();
        Self { roots, directory: ground.directory().to_owned(), began: true }
    }

    /// Behind a change of the directory to what was written, or home.
    pub(super) fn enter(&self, written: Option<&str>) -> Self {
        let known = |written: &str| !written.contains(['$', '*', '?', '[']) && written != "-";
        let at = |directory| Self { directory, roots: self.roots.clone(), began: false };
        match written {
            Some(written) if !is_home(written) && known(written) => at(self.resolve(written)),
            Some(written) if !is_home(written) => Self { began: true, ..self.clone() },
            _ => at(PathBuf::from("/")),
        }
    }

    /// The change of the directory may have failed.
    pub(super) fn doubt(&mut self) {
        self.began = true;
    }

    /// Where a path lies, as it was written.
    pub(super) fn place(&self, written: &str) -> Place {
        if written.is_empty() {
            return Place::Inside;
        }
        if is_home(written) {
            return Place::Outside;
        }
        let rest = ["$PWD", "${PWD}"].iter().find_map(|pwd| written.strip_prefix(pwd));
        let written = match rest {
            None => written.to_owned(),
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", self.directory.display())
            }
            Some(_) => return Place::Outside,
        };
        let start = written.trim_end_matches('*');
        let at = self.resolve(start);
        let whole = self.roots.contains(&at) || (self.began && self.directory.starts_with(&at));
        match self.roots.iter().any(|root| at.starts_with(root)) {
            true if whole => Place::Whole,
            true => Place::Inside,
            false => Place::Outside,
        }
    }

    /// Whether a file that shells run when they start is surely none of the user's own: it lies deeper in the working
    /// directory than where they look for it.
    pub(super) fn is_kept_aside(&self, written: &str) -> bool {
        let home = std::env::home_dir().unwrap_or_default();
        let at = self.resolve(written);
        let own = at.parent() == Some(&home) || at.starts_with(home.join(".config"));
        self.place(written) == Place::Inside && !own && !home.as_os_str().is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_text_began_is_as_dear_as_the_root() {
        let here = Here { roots: vec!["/w".into(), "/also".into()], directory: "/w/a/b".into(), began: true };
        for written in [".", "*", "./*", "..", "../../*", "$PWD", "/w"] {
            assert_eq!(here.place(written), Place::Whole, "{written}");
        }
        for written in ["x", "../c", "$PWD/x", "/w/a/c", ""] {
            assert_eq!(here.place(written), Place::Inside, "{written}");
        }
        for written in ["../../..", "/", "~", "$HOME/x", "$PWD_BEFORE", "/wide"] {
            assert_eq!(here.place(written), Place::Outside, "{written}");
        }
        let mut there = here.enter(Some("c"));
        assert_eq!(there.place("*"), Place::Inside);
        there.doubt();
        assert_eq!(there.place("*"), Place::Whole, "the change may have failed");
    }
}
