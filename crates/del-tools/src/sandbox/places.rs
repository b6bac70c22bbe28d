//! What commands may read, and what is kept from them.

use std::path::{Path, PathBuf};

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
/// Where keys, credentials and what people told their browsers lie in a home directory.
const SECRETS: [&str; 48] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".config/gh",
    ".config/glab-cli",
    ".config/gcloud",
    ".config/doctl",
    ".config/hub",
    ".config/op",
    ".config/sops",
    ".config/rclone",
    ".config/git/credentials",
    ".config/containers/auth.json",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
    ".mozilla",
    ".thunderbird",
    ".var/app",
    ".snap",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/TelegramDesktop",
    ".password-store",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".vault-token",
    ".s3cfg",
    ".boto",
    ".terraform.d/credentials.tfrc.json",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".bash_history",
    ".zsh_history",
    ".python_history",
];

/// What is read by commands that look into `roots` and nowhere else of what is the user's.
pub(super) fn near(roots: &[PathBuf], own: &[PathBuf]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    places.extend(home().iter().flat_map(|home| SETTINGS.map(|name| home.join(name))));
    places.extend_from_slice(own);
    for root in roots {
        // git looks into the repository that a directory is a part of, and into that around it.
        let tops = root.ancestors().filter(|place| place.join(".git").exists());
        places.extend(tops.map(Path::to_owned));
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
    let mut places: Vec<_> = SECRETS.iter().filter_map(|name| home.join(name).canonicalize().ok()).collect();
    places.sort();
    places.dedup();
    places
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
