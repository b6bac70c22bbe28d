//! Which repository a directory lies in, and whether all of it lies where tools may look.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use del_judge::what_misleads;

use crate::outcome::{Code, Failure};

/// Entries of the repository and of the tree that are looked at for what would mislead git.
pub(super) const MAX_LOOKED_AT: usize = 200_000;
/// Repositories that lend each other objects.
const MAX_LENDERS: usize = 8;

/// A repository with a working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The top of the working tree.
    pub(crate) top: PathBuf,
    /// What git keeps of this working tree.
    pub(crate) git: PathBuf,
    /// What it keeps for all working trees of the repository.
    pub(crate) common: PathBuf,
    /// The directories in which everything of it lies.
    territory: Vec<PathBuf>,
}

/// Why git is not run there.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// There is no repository.
    None,
    /// It has no working tree.
    Bare,
    /// A part of it lies outside of what tools may touch.
    Outside { part: String, place: PathBuf },
    /// Something in it is no file that can be read.
    Broken(PathBuf),
}

impl Trouble {
    pub(crate) fn failure(self, directory: &Path, allowed: &[PathBuf]) -> Failure {
        let fail = |code, cause: String| Failure::new(code, cause);
        match self {
            Self::None => fail(Code::NotFound, format!("not a git repository: {}.", directory.display())),
            Self::Bare => fail(
                Code::NotFound,
                format!("not a git repository: {} has no working tree.", directory.display()),
            ),
            Self::Outside { part, place } => {
                let allowed: Vec<_> = allowed.iter().map(|path| path.display().to_string()).collect();
                fail(
                    Code::Outside,
                    format!(
                        "{part} lies in {}, outside of {}. Start del with --allow-dir for that place if it is yours.",
                        place.display(),
                        allowed.join(", ")
                    ),
                )
            }
            Self::Broken(path) => fail(
                Code::NotRegular,
                format!("{} is not what git keeps there; look at it first.", path.display()),
            ),
        }
    }
}

impl Repository {
    /// The repository that `directory` lies in. What git keeps has to lie in one of the `allowed` directories, or in the
    /// `.git` of a directory above.
    pub(crate) fn find(directory: &Path, allowed: &[PathBuf]) -> Result<Self, Trouble> {
        let mut territory = allowed.to_vec();
        territory
            .extend(directory.ancestors().map(|place| place.join(".git")).filter(|git| is_directory(git)));
        for place in directory.ancestors() {
            let git = place.join(".git");
            if let Some(git) = leads(&git)?
                && is_repository(&git)
            {
                return Self::at(place, &git, territory);
            }
            if is_repository(place) {
                return Err(Trouble::Bare);
            }
        }
        Err(Trouble::None)
    }

    fn at(top: &Path, git: &Path, territory: Vec<PathBuf>) -> Result<Self, Trouble> {
        let common = match small(&git.join("commondir"))? {
            Some(common) => canonical(&git.join(common.trim_end_matches('\n')))?,
            None => git.to_owned(),
        };
        let repository = Self { top: top.to_owned(), git: git.to_owned(), common, territory };
        repository.check()?;
        Ok(repository)
    }

    /// Whether somebody else owns it.
    pub(crate) fn is_foreign(&self) -> bool {
        let own = rustix::process::geteuid().as_raw();
        [&self.top, &self.git, &self.common]
            .iter()
            .any(|path| fs::metadata(path).map_or(true, |metadata| metadata.uid() != own))
    }

    /// Refuses a path that leads out, as `part` of the repository.
    pub(crate) fn holds(&self, part: &str, path: &Path) -> Result<(), Trouble> {
        let place = canonical(path)?;
        if self.territory.iter().any(|directory| place.starts_with(directory)) {
            return Ok(());
        }
        Err(Trouble::Outside { part: part.to_owned(), place })
    }

    fn check(&self) -> Result<(), Trouble> {
        const FILES: [&str; 11] = [
            "HEAD",
            "FETCH_HEAD",
            "MERGE_HEAD",
            "config",
            "config.worktree",
            "index",
            "packed-refs",
            "shallow",
            "info/attributes",
            "info/exclude",
            "info/grafts",
        ];
        const DIRECTORIES: [&str; 7] =
            ["objects", "objects/info", "objects/pack", "refs", "refs/heads", "logs", "info"];
        self.holds("git's data", &self.git)?;
        self.holds("git's data", &self.common)?;
        for git in [&self.git, &self.common] {
            for name in FILES.into_iter().chain(DIRECTORIES) {
                let path = git.join(name);
                // A branch to come, or a link to nowhere: there is nothing behind it.
                let Ok(metadata) = fs::metadata(&path) else { continue };
                self.holds(&format!("{name} of the repository"), &path)?;
                if metadata.is_dir() != DIRECTORIES.contains(&name) || is_special(metadata.file_type()) {
                    return Err(Trouble::Broken(path));
                }
            }
        }
        self.check_lenders(&self.common.join("objects"), 0)?;
        let misleading = what_misleads(&self.common, &self.top, MAX_LOOKED_AT);
        misleading.map_or(Ok(()), |path| Err(Trouble::Broken(path)))
    }

    /// Objects may be borrowed from other repositories, and those borrow too.
    fn check_lenders(&self, objects: &Path, depth: usize) -> Result<(), Trouble> {
        let Some(list) = small(&objects.join("info/alternates"))? else { return Ok(()) };
        if depth == MAX_LENDERS {
            return Err(Trouble::Broken(objects.to_owned()));
        }
        for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let lender = objects.join(line);
            if lender.is_dir() {
                self.holds("the place from which the repository borrows objects", &lender)?;
                self.check_lenders(&lender, depth + 1)?;
            }
        }
        Ok(())
    }
}

/// The directory that `.git` is, or leads to.
fn leads(git: &Path) -> Result<Option<PathBuf>, Trouble> {
    let Ok(metadata) = fs::metadata(git) else { return Ok(None) };
    if metadata.is_dir() {
        return canonical(git).map(Some);
    }
    let text = small(git)?.unwrap_or_default();
    let Some(path) = text.strip_prefix("gitdir: ") else { return Err(Trouble::Broken(git.to_owned())) };
    let base = git.parent().unwrap_or(git);
    canonical(&base.join(path.trim_end_matches(['\n', '\r']))).map(Some)
}

/// Whether git would take it for one.
fn is_repository(git: &Path) -> bool {
    let common = git.join("commondir").exists();
    fs::symlink_metadata(git.join("HEAD")).is_ok()
        && (common || (git.join("objects").is_dir() && git.join("refs").is_dir()))
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

fn is_special(kind: fs::FileType) -> bool {
    !kind.is_file() && !kind.is_dir() && !kind.is_symlink()
}

fn canonical(path: &Path) -> Result<PathBuf, Trouble> {
    fs::canonicalize(path).map_err(|_| Trouble::Broken(path.to_owned()))
}

/// The text of a small file, if there is one.
fn small(path: &Path) -> Result<Option<String>, Trouble> {
    const MOST: u64 = 64 * 1024;
    let Ok(metadata) = fs::metadata(path) else { return Ok(None) };
    if !metadata.is_file() || metadata.len() > MOST {
        return Err(Trouble::Broken(path.to_owned()));
    }
    fs::read_to_string(path).map(Some).map_err(|_| Trouble::Broken(path.to_owned()))
}
