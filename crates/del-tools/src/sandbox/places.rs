//! What commands may read, and what is kept from them.

use std::path::{Path, PathBuf};

use del_judge::{is_secret, secret_places, what_is_linked};

/// Where programs and what they need are installed, and where the system tells of itself.
const SYSTEM: [&str; 18] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/snap",
    "/run",
    "/sys",
    "/proc",
    "/dev",
    "/var/cache",
    "/var/lib",
    "/var/log",
];
/// Where of these programs are installed.
const PROGRAMS: [&str; 7] = ["/usr", "/bin", "/sbin", "/opt", "/nix", "/snap", "/run"];
/// What programs that only look read of the user's settings.
const SETTINGS: [&str; 9] = [
    ".config/fd/ignore",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".config/procps/toprc",
    ".gitconfig",
    ".gitignore",
    ".gitignore_global",
    ".jq",
];
/// What is the user's own of these may lie elsewhere, and a variable says where.
const MOVED: [(&str, &str); 3] = [
    (".config/", "XDG_CONFIG_HOME"),
    (".local/share/", "XDG_DATA_HOME"),
    (".local/state/", "XDG_STATE_HOME"),
];
/// Del's own, which may come to be there while it runs.
const OWN: &str = "/del";

/// What is read by commands that look into `roots` and nowhere else of what is the user's.
pub(super) fn near(roots: &[PathBuf], own: &[PathBuf]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    places.extend(home().iter().flat_map(|home| SETTINGS.map(|name| home.join(name))));
    places.extend_from_slice(own);
    for root in roots {
        // git looks into the repository that a directory is a part of, and into that around it.
        let tops = root.ancestors().filter(|place| place.join(".git").exists());
        places.extend(tops.flat_map(|top| what_is_linked(top).into_iter().chain([top.to_owned()])));
        places.push(root.clone());
    }
    places
}

/// Whether a program is installed for everybody, with all that it needs.
pub(super) fn is_of_system(program: &Path) -> bool {
    let real = program.canonicalize();
    real.is_ok_and(|real| PROGRAMS.iter().any(|place| real.starts_with(place)))
}

/// What is there of the places that usually hold secrets, without links.
pub(super) fn secrets() -> Vec<PathBuf> {
    let Some(home) = home() else { return Vec::new() };
    let mut places = Vec::new();
    for name in secret_places() {
        let moved = MOVED.iter().find_map(|(start, variable)| {
            let folder = PathBuf::from(std::env::var_os(variable)?);
            Some(folder.join(name.strip_prefix(start)?)).filter(|path| path.is_absolute())
        });
        let paths = [Some(home.join(&name)), moved];
        places.extend(paths.into_iter().flatten().filter_map(|path| match path.canonicalize() {
            Ok(path) => Some(path),
            Err(_) => name.ends_with(OWN).then(|| planned(&path)).flatten(),
        }));
    }
    let entries = std::fs::read_dir(&home).into_iter().flatten().flatten();
    let named = entries.filter(|entry| is_secret(Path::new(&entry.file_name())));
    places.extend(named.filter_map(|entry| entry.path().canonicalize().ok()));
    places.sort();
    places.dedup();
    places
}

/// Where a path that is not there yet will lie, without links.
fn planned(path: &Path) -> Option<PathBuf> {
    let there = path.ancestors().find(|place| place.exists())?;
    Some(there.canonicalize().ok()?.join(path.strip_prefix(there).ok()?))
}

/// Which of `places` holds one of the secrets, or lies in it, and that one.
pub(super) fn holder<'a>(places: &'a [PathBuf], secrets: &'a [PathBuf]) -> Option<(&'a Path, &'a Path)> {
    let pairs = places.iter().flat_map(|place| secrets.iter().map(move |secret| (place, secret)));
    let mut found = pairs.filter(|(place, secret)| secret.starts_with(place) || place.starts_with(secret));
    found.next().map(|(place, secret)| (place.as_path(), secret.as_path()))
}

fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())?.canonicalize().ok()
}
