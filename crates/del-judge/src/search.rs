//! Where programs are looked for: never in a place that a project could have filled.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::ground::Ground;

/// Directories of the system, in their order.
const SYSTEM: [&str; 7] = [
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
];

/// What stands for many programs, and asks the project which version of one it is: its settings may name a program of its
/// own. Such a one is run only where there is no project.
const CHOOSERS: [&str; 10] =
    ["aqua-proxy", "asdf", "mise", "proto", "proto-shim", "pyenv", "rtx", "rustup", "volta", "volta-shim"];

/// The directories in which programs are looked for, fixed when it is made.
///
/// They are those of the system, and behind them those of `PATH` that are absolute and that nobody but the user and the
/// system can write. A directory inside of the working directory never counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    directories: Vec<PathBuf>,
    /// Those of the user in which a link lies, and where each leads.
    links: Vec<(PathBuf, PathBuf)>,
    /// The whole of `PATH`, to tell what is nowhere from what is not trusted.
    everywhere: Vec<PathBuf>,
}

/// Where a program was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    At(PathBuf),
    Nowhere,
    /// Only where it is not trusted.
    Elsewhere(PathBuf),
}

impl Default for Search {
    fn default() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let everywhere: Vec<PathBuf> = env::split_paths(&path).collect();
        let own = rustix::process::geteuid().as_raw();
        let system = SYSTEM.into_iter().map(PathBuf::from).filter(|path| path.is_dir());
        let users = everywhere.iter().filter(|path| is_guarded(path, own)).cloned();
        let mut directories = Vec::new();
        for directory in system.chain(users) {
            if !directories.contains(&directory) {
                directories.push(directory);
            }
        }
        Self::among(directories, everywhere)
    }
}

impl Search {
    fn among(directories: Vec<PathBuf>, everywhere: Vec<PathBuf>) -> Self {
        let users = directories.iter().filter(|directory| !is_system(directory));
        let led =
            |directory: &PathBuf| targets(directory).map(|target| (directory.clone(), target)).collect();
        let links = users.flat_map::<Vec<_>, _>(led).collect();
        Self { directories, links, everywhere }
    }

    /// The program called `name`, for a command that works on `ground`, or is run where no project is.
    pub(crate) fn find(&self, name: &str, ground: &Ground, nowhere: bool) -> Found {
        let here = |directory: &PathBuf| {
            let path = directory.join(name);
            let metadata = fs::metadata(&path).ok()?;
            (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(path)
        };
        if let Some(path) = self.trusted(ground).find_map(here) {
            // A link in a trusted directory may lead to what nobody vouches for.
            return if is_trusted(&path, ground) && (nowhere || !is_chosen(&path)) {
                Found::At(path)
            } else {
                Found::Elsewhere(path)
            };
        }
        match self.everywhere.iter().find_map(here) {
            Some(path) => Found::Elsewhere(path),
            None => Found::Nowhere,
        }
    }

    /// The program called `name`, if it lies where only the user and the system can put programs. Where it is run `nowhere`,
    /// as in `/`, no project says which version it is.
    pub fn trusted_program(&self, name: &str, ground: &Ground, nowhere: bool) -> Option<PathBuf> {
        match self.find(name, ground, nowhere) {
            Found::At(path) => Some(path),
            Found::Nowhere | Found::Elsewhere(_) => None,
        }
    }

    /// The directories for the `PATH` of programs that are run: those in which nothing is found that only leads into the
    /// working directory.
    pub(crate) fn path(&self, ground: &Ground) -> String {
        let leads = |directory: &Path| {
            self.links.iter().any(|(place, target)| place == directory && ground.holds(target))
        };
        let trusted = self.trusted(ground).filter(|directory| !leads(directory) && !is_shims(directory));
        let directories: Vec<_> = trusted.filter_map(|path| path.to_str()).collect();
        directories.join(":")
    }

    fn trusted(&self, ground: &Ground) -> impl Iterator<Item = &PathBuf> {
        self.directories.iter().filter(move |directory| {
            let lies_inside = fs::canonicalize(directory).is_ok_and(|real| ground.holds(&real));
            !lies_inside || is_system(directory)
        })
    }
}

/// Whether a program in a trusted directory is one, and does not only lead to one that a project brought, or that others
/// could have put there.
fn is_trusted(path: &Path, ground: &Ground) -> bool {
    let Ok(real) = fs::canonicalize(path) else { return false };
    let of_system = || path.parent().is_some_and(is_system);
    let own = rustix::process::geteuid().as_raw();
    let guarded = || real.parent().is_some_and(|directory| is_guarded(directory, own)) && is_kept(&real, own);
    let in_place = fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink());
    let inside = ground.holds(&real) && !(in_place && of_system());
    !inside && (of_system() || guarded())
}

/// Whether the project may say which program this is.
fn is_chosen(path: &Path) -> bool {
    let real = fs::canonicalize(path).unwrap_or_default();
    let name = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    path.parent().is_some_and(is_shims) || (CHOOSERS.contains(&name) && !path.ends_with(name))
}

/// Whether a directory holds nothing but stand-ins for programs.
fn is_shims(directory: &Path) -> bool {
    directory.ends_with("shims")
}

fn is_system(directory: &Path) -> bool {
    SYSTEM.iter().any(|system| Path::new(system) == directory)
}

/// Where the links in a directory lead.
fn targets(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.filter_map(|link| fs::canonicalize(link.path()).ok())
}

/// Whether nobody but the user and the system writes a file.
fn is_kept(path: &Path, own: u32) -> bool {
    fs::metadata(path)
        .is_ok_and(|metadata| metadata.mode() & 0o022 == 0 && (metadata.uid() == own || metadata.uid() == 0))
}

/// Whether only the user and the system can put programs there.
fn is_guarded(directory: &Path, own: u32) -> bool {
    directory.is_absolute()
        && fs::metadata(directory).is_ok_and(|metadata| {
            metadata.is_dir()
                && metadata.mode() & 0o022 == 0
                && (metadata.uid() == own || metadata.uid() == 0)
        })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn program(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_link_in_a_trusted_directory_is_followed_before_it_is_trusted() {
        let desk = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(desk.path()).unwrap();
        let (bin, root) = (top.join("bin"), top.join("work"));
        program(&bin.join("plain"), 0o755);
        program(&root.join("own"), 0o755);
        program(&top.join("kept/kept"), 0o755);
        program(&top.join("kept/open"), 0o777);
        program(&top.join("open/laid"), 0o755);
        fs::set_permissions(top.join("open"), fs::Permissions::from_mode(0o777)).unwrap();
        for (name, place) in [
            ("inside", root.join("own")),
            ("twice", bin.join("inside")),
            ("kept", top.join("kept/kept")),
            ("open", top.join("kept/open")),
            ("laid", top.join("open/laid")),
        ] {
            symlink(place, bin.join(name)).unwrap();
        }
        let search = Search::among(vec![bin.clone()], vec![bin.clone()]);
        let root = Ground::new(&root);
        for name in ["plain", "kept"] {
            assert_eq!(search.find(name, &root, false), Found::At(bin.join(name)));
        }
        for name in ["inside", "twice", "open", "laid"] {
            assert_eq!(search.find(name, &root, false), Found::Elsewhere(bin.join(name)));
        }
        assert_eq!(search.path(&root), "");
        // What may be written besides is no better.
        let both = Ground::new(&top.join("other")).and(&[top.join("kept")]);
        assert_eq!(search.find("kept", &both, false), Found::Elsewhere(bin.join("kept")));
        assert_eq!(search.path(&Ground::new(&top.join("other"))), bin.to_str().unwrap());
    }

    #[test]
    fn what_asks_the_project_which_program_it_is_runs_only_elsewhere() {
        let desk = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(desk.path()).unwrap();
        let (shims, links, root) = (top.join(".asdf/shims"), top.join("links"), top.join("work"));
        for path in [shims.join("jq"), top.join("bin/mise"), links.join("plain"), links.join("rustup")] {
            program(&path, 0o755);
        }
        symlink(top.join("bin/mise"), links.join("rg")).unwrap();
        let search = Search::among(vec![shims.clone(), links.clone()], Vec::new());
        let ground = Ground::new(&root);
        for path in [shims.join("jq"), links.join("rg")] {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(search.find(name, &ground, false), Found::Elsewhere(path.clone()));
            assert_eq!(search.find(name, &ground, true), Found::At(path));
        }
        // By its own name it does what it is told.
        for name in ["plain", "rustup"] {
            assert_eq!(search.find(name, &ground, false), Found::At(links.join(name)));
        }
        assert_eq!(search.path(&ground), links.to_str().unwrap());
    }
}
