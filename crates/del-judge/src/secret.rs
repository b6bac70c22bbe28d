//! Files that hold secrets, known by their names.

use std::path::Path;

/// Whether a file of this name, or in a directory of this name, usually holds what nobody else should read.
pub fn is_secret(path: &Path) -> bool {
    let lower = path.to_string_lossy().to_lowercase();
    let mut parts = lower.split('/').filter(|part| !part.is_empty() && *part != ".");
    let Some(name) = parts.next_back() else { return false };
    let folder = parts.next_back().unwrap_or_default();
    FOLDERS.contains(&name)
        || parts.chain([folder]).any(|part| FOLDERS.contains(&part))
        || NAMES.contains(&name)
        || IN_FOLDER.contains(&(folder, name))
        || (name.starts_with(".env")
            && !SAMPLES.iter().any(|end| name.ends_with(end))
            && is_environment(name))
        || (KEYS.iter().any(|start| name.starts_with(start)) && !ends(name, &[".pub"]))
        || ends(name, &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc", ".gpg"])
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

/// Whether a name fits a pattern with `*` and `?`; a list of characters counts as any character.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', pattern @ ..], _) => (0..=name.len()).any(|at| fits(pattern, &name[at..])),
        ([b'[', pattern @ ..], [_, name @ ..]) => {
            let end = pattern.iter().position(|b| *b == b']').map_or(pattern.len(), |end| end + 1);
            fits(&pattern[end..], name)
        }
        ([b'?', pattern @ ..], [_, name @ ..]) => fits(pattern, name),
        ([one, pattern @ ..], [other, name @ ..]) => one == other && fits(pattern, name),
        _ => false,
    }
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

fn ends(name: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
}

/// `.env` and its kin, such as `.env.local`; `.environment.md` is another word.
fn is_environment(name: &str) -> bool {
    name.strip_prefix(".env").is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_', 'r']))
}

const FOLDERS: [&str; 8] =
    [".ssh", ".gnupg", ".aws", ".azure", ".password-store", ".kube", "keyrings", "gcloud"];
const NAMES: [&str; 26] = [
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
];
const IN_FOLDER: [(&str, &str); 3] = [(".git", "config"), (".docker", "config.json"), ("gh", "hosts.yml")];
const SAMPLES: [&str; 4] = [".example", ".sample", ".template", ".dist"];
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
        ] {
            assert!(is_secret(Path::new(path)), "{path}");
        }
        for pattern in
            ["*.pem", ".e*", "*env", "?env", "id_*", "*rsa", ".[e]nv", "**/.env", "cred*", "x:.env"]
        {
            assert!(is_meant(pattern), "{pattern}");
        }
        for pattern in ["*", "*.*", "*.rs", "!.env", "?", "src/*", "*.md", "[a-z]*.rs", "a*", "environment"] {
            assert!(!is_meant(pattern), "{pattern}");
        }
        for path in [
            "src/main.rs",
            ".env.example",
            "id_rsa.pub",
            "environment.md",
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
