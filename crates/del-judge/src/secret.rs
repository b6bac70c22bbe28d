//! Files that hold secrets, known by their names.

use std::path::Path;

/// Whether a file of this name, or in a directory of this name, usually holds what nobody else should read.
pub fn is_secret(path: &Path) -> bool {
    let lower = path.to_string_lossy().to_lowercase();
    let mut parts = lower.split('/').filter(|part| !part.is_empty() && *part != ".");
    let Some(name) = parts.next_back() else { return false };
    let folder = parts.next_back().unwrap_or_default();
    // What editors and people leave beside a file holds the same.
    let name = name.trim_end_matches('~');
    let name =
        ends(name, &[".bak", ".old", ".orig", ".swp"]).map_or(name, |end| &name[..name.len() - end.len()]);
    FOLDERS.contains(&name)
        || parts.chain([folder]).any(|part| FOLDERS.contains(&part))
        || NAMES.contains(&name)
        || IN_FOLDER.contains(&(folder, name))
        || (is_environment(name) && ends(name, &SAMPLES).is_none())
        || (KEYS.iter().any(|start| name.starts_with(start)) && ends(name, &[".pub"]).is_none())
        || ends(name, &ENDS).is_some()
}

/// Patterns that leave secrets out of what looks through whole trees: those of files, and those of directories. Where
/// they cannot tell, they leave out more than [`is_secret`] would.
pub(crate) fn patterns() -> (Vec<String>, Vec<String>) {
    let in_folder = IN_FOLDER.iter().map(|(folder, _)| *folder).filter(|folder| folder.starts_with('.'));
    let folders = FOLDERS.into_iter().chain(in_folder).map(any_case).collect();
    let mut files: Vec<_> = NAMES.into_iter().chain(["hosts.yml"]).map(any_case).collect();
    files.extend([".env", ".envrc"].map(any_case));
    files.push(format!("{}[!a-zA-Z]*", any_case(".env")));
    files.extend(KEYS.map(|start| format!("{}*", any_case(start))));
    files.extend(ENDS.map(|end| format!("*{}", any_case(end))));
    (files, folders)
}

/// The attributes with which git shows no line of a file that usually holds secrets.
pub fn git_attributes() -> String {
    let (files, folders) = patterns();
    let folders = folders.iter().map(|folder| format!("**/{folder}/**"));
    files.into_iter().chain(folders).flat_map(|pattern| [pattern, " -diff\n".to_owned()]).collect()
}

fn any_case(text: &str) -> String {
    let either = |c: char| match c {
        c if c.is_ascii_alphabetic() => format!("[{c}{}]", c.to_ascii_uppercase()),
        c => c.to_string(),
    };
    text.chars().map(either).collect()
}

/// Whether a pattern of file names is made for files that hold secrets.
pub(crate) fn is_meant(pattern: &str) -> bool {
    const PARTS: [&str; 12] = [
        ".env",
        "id_rsa",
        "id_ed25519",
        ".pem",
        ".key",
        "credential",
        "secret",
        ".ssh",
        ".aws",
        ".netrc",
        ".npmrc",
        "passw",
    ];
    let lower = pattern.to_lowercase();
    let names = lower.rsplit(['/', ':']).next().unwrap_or_default();
    let spells = names.contains(['*', '?', '[']) && names.contains(|c: char| c.is_ascii_alphanumeric());
    !lower.starts_with('!')
        && (PARTS.iter().any(|part| lower.contains(part))
            || (spells && COMMON.iter().any(|name| fits(names.as_bytes(), name.as_bytes()))))
}

/// Whether a name fits a pattern with `*` and `?`; a list of characters counts as any character. The time is bounded by
/// the product of both lengths.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // Where in the name the pattern so far may end.
    let mut ends = vec![false; name.len() + 1];
    ends[0] = true;
    let mut rest = pattern;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first == b'*' {
            if let Some(first) = ends.iter().position(|end| *end) {
                ends[first..].fill(true);
            }
            continue;
        }
        if *first == b'[' {
            rest = rest.iter().position(|b| *b == b']').map_or(&[], |end| &rest[end + 1..]);
        }
        for at in (0..name.len()).rev() {
            ends[at + 1] = ends[at] && (matches!(first, b'?' | b'[') || *first == name[at]);
        }
        ends[0] = false;
    }
    ends[name.len()]
}

/// Names that patterns for secrets are made for.
const COMMON: [&str; 10] = [
    ".env",
    ".env.local",
    "id_rsa",
    "id_ed25519",
    ".netrc",
    ".npmrc",
    ".pgpass",
    "server.pem",
    "server.key",
    "credentials",
];

/// The one of these that a name ends with.
fn ends<'a>(name: &str, ends: &[&'a str]) -> Option<&'a str> {
    ends.iter().copied().find(|end| name.ends_with(end))
}

/// `.env` and its kin, such as `.env.local` and `.envrc`; `.environment.md` is another word.
fn is_environment(name: &str) -> bool {
    name.strip_prefix(".env")
        .is_some_and(|rest| rest == "rc" || !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

const FOLDERS: [&str; 8] =
    [".ssh", ".gnupg", ".aws", ".azure", ".password-store", ".kube", "keyrings", "gcloud"];
const NAMES: [&str; 33] = [
    "shadow",
    "shadow-",
    "gshadow",
    "sudoers",
    "master.passwd",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".dockercfg",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "secrets.json",
    "secrets.toml",
    "secrets.yml",
    "secrets.yaml",
    ".secrets",
    ".vault-token",
    ".s3cfg",
    ".boto",
    "credentials.tfrc.json",
    "kubeconfig",
    "wp-config.php",
];
const IN_FOLDER: [(&str, &str); 3] = [(".git", "config"), (".docker", "config.json"), ("gh", "hosts.yml")];
const SAMPLES: [&str; 4] = [".example", ".sample", ".template", ".dist"];
const ENDS: [&str; 13] = [
    ".pem",
    ".key",
    ".p8",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".asc",
    ".gpg",
    ".env",
    ".tfstate",
];
const KEYS: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for path in [
            ".env",
            "a/.env.local",
            ".ENV",
            "id_rsa",
            "x/id_ed25519",
            "a.pem",
            ".ssh",
            ".ssh/config",
            ".aws/credentials",
            ".git/config",
            "sub/.git/config",
            ".npmrc",
            ".docker/config.json",
            ".envrc",
            "./.env",
            ".env~",
            ".env.bak",
            ".env1",
            "config/prod.env",
            "a.pem.old",
            "terraform.tfstate",
        ] {
            assert!(is_secret(Path::new(path)), "{path}");
        }
        for pattern in
            ["*.pem", ".e*", "*env", "?env", "id_*", "*rsa", ".[e]nv", "**/.env", "cred*", "x:.env"]
        {
            assert!(is_meant(pattern), "{pattern}");
        }
        let stars = format!("a{}b", "*".repeat(10_000));
        assert!(!is_meant(&stars) && is_meant(&format!("i{}", "*".repeat(10_000))));
        for pattern in ["*", "*.*", "*.rs", "!.env", "?", "src/*", "*.md", "[a-z]*.rs", "a*", "environment"] {
            assert!(!is_meant(pattern), "{pattern}");
        }
        for path in [
            "src/main.rs",
            ".env.example",
            "id_rsa.pub",
            "environment.md",
            ".environment",
            ".env.example.bak",
            ".",
            "",
            "config",
            ".gitignore",
            "keys.rs",
            ".git/HEAD",
            "docker/config.json",
            "key",
        ] {
            assert!(!is_secret(Path::new(path)), "{path}");
        }
    }
}
