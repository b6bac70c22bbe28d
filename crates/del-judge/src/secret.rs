//! Files that hold secrets, known by their names.

mod names;
mod pattern;

use std::path::Path;

use names::{AT_HOME, ENDS, FOLDERS, IN_FOLDER, KEYS, LEFT, NAMES, PARTS, PLACES, SAMPLES, SEALED, SOURCES};
use pattern::meet;

/// Whether a file of this name, or in a directory of this name, usually holds what nobody else should read.
pub fn is_secret(path: &Path) -> bool {
    let lower = path.to_string_lossy().to_lowercase();
    let parts: Vec<&str> = lower.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let Some((name, folders)) = parts.split_last() else { return false };
    let name = original(name);
    let folder = folders.last().copied().unwrap_or_default();
    is_named(name)
        || folders.iter().any(|part| FOLDERS.contains(part))
        || IN_FOLDER.contains(&(folder, name))
        || PLACES.iter().any(|place| holds(&parts, place))
        || (folders.contains(&".git") && folders.contains(&"objects") && is_object(name))
        // Repositories within a repository have a configuration deeper in it.
        || (folders.contains(&".git") && ["config", "config.worktree"].contains(&name))
}

/// Whether what has this name, in small letters, holds secrets wherever it lies.
fn is_named(name: &str) -> bool {
    FOLDERS.contains(&name)
        || NAMES.contains(&name)
        || PARTS.iter().any(|part| name.contains(part))
        || (is_environment(name) && ends(name, SAMPLES).is_none())
        || (KEYS.iter().any(|start| name.starts_with(start)) && ends(name, &[".pub"]).is_none())
        || ENDS.iter().chain(SEALED).any(|end| name.ends_with(end))
}

/// Whether a path is, or lies in, one of the places of secrets that have a name of several parts. Patterns of single names
/// do not leave them out.
pub(crate) fn is_place(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    places().any(|place| holds(&parts, &place))
}

/// Whether a path is one of these places itself. What looks through a tree asks for each of its entries.
pub(crate) fn is_place_itself(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let before = |bytes: &'_ [u8], end: &str| -> Option<usize> {
        let start = bytes.len().checked_sub(end.len())?;
        let whole = start == 0 || bytes[start - 1] == b'/';
        (whole && bytes[start..].eq_ignore_ascii_case(end.as_bytes())).then_some(start)
    };
    PLACES.iter().any(|place| before(bytes, place).is_some())
        || IN_FOLDER.iter().any(|(folder, name)| {
            let start = before(bytes, name).filter(|start| *start > 0);
            start.is_some_and(|start| before(&bytes[..start - 1], folder).is_some())
        })
}

fn places() -> impl Iterator<Item = String> {
    let in_folder = IN_FOLDER.iter().map(|(folder, name)| format!("{folder}/{name}"));
    PLACES.iter().map(|place| (*place).to_owned()).chain(in_folder)
}

/// Where secrets usually lie in a home directory: what people keep there, what their programs do, and what Del does.
pub fn secret_places() -> Vec<String> {
    let plain = [PLACES, AT_HOME, FOLDERS, NAMES].into_iter().flatten().map(|name| (*name).to_owned());
    plain.chain(IN_FOLDER.iter().map(|(folder, name)| format!("{folder}/{name}"))).collect()
}

/// Whether a file of this name holds what was committed, whatever that was called.
fn is_object(name: &str) -> bool {
    // The first two digits are the folder's name.
    let is_loose = matches!(name.len(), 38 | 62) && name.bytes().all(|b| b.is_ascii_hexdigit());
    is_loose || ends(name, &[".pack"]).is_some()
}

/// Whether the parts of a path go through a place.
fn holds(parts: &[&str], place: &str) -> bool {
    let place: Vec<&str> = place.split('/').collect();
    parts.windows(place.len()).any(|window| {
        let mut pairs = window.iter().zip(&place);
        pairs.all(|(part, name)| part.eq_ignore_ascii_case(name))
    })
}

/// The name of the file that this one was made of: what editors and people leave beside a file, and what packs it, holds
/// the same.
fn original(name: &str) -> &str {
    let mut name = name.trim_matches('#');
    loop {
        let shorter = name.trim_end_matches('~');
        let shorter = ends(shorter, LEFT).map_or(shorter, |end| &shorter[..shorter.len() - end.len()]);
        if shorter == name {
            return name;
        }
        name = shorter;
    }
}

/// Whether a directory is, or lies in, one that is left out of what looks through whole trees.
pub(crate) fn is_in_folder(path: &Path) -> bool {
    let lower = path.to_string_lossy().to_lowercase();
    lower.split('/').any(|part| folders().any(|folder| folder == part))
}

/// Patterns that leave secrets out of what looks through whole trees: those of files, and those of directories. Where
/// they cannot tell, they leave out more than [`is_secret`] would. Packed files are not among them: nobody looks into
/// these.
pub(crate) fn patterns() -> (Vec<String>, Vec<String>) {
    let mut files = vec![format!("{}[!a-zA-Z]*", any_case(".env"))];
    files.extend(KEYS.iter().map(|start| format!("{}*", any_case(start))));
    files.extend(PARTS.iter().map(|part| format!("*{}*", any_case(part))));
    files.extend(NAMES.iter().chain(&[".env", ".envrc"]).map(|name| any_case(name)));
    files.extend(ENDS.iter().chain(SEALED).map(|end| format!("*{}", any_case(end))));
    // What is left beside them, in few patterns, since every file is held against each. Of `.bak`, `.old` and `.swp` one
    // stands for more than itself.
    for start in [".", "*credentials", "*secret"] {
        let start = any_case(start);
        files.extend(["~", ".[bos][alw][kdp]", ".orig", ".backup"].map(|left| format!("{start}*{left}")));
    }
    files.extend(SEALED.iter().map(|end| format!("*{}[.~]*", any_case(end))));
    (files, folders().map(any_case).collect())
}

fn folders() -> impl Iterator<Item = &'static str> {
    let in_folder = IN_FOLDER.iter().map(|(folder, _)| *folder).filter(|folder| folder.starts_with('.'));
    FOLDERS.iter().copied().chain(in_folder)
}

/// Whether a pattern of file names may cover files that usually hold secrets. Of patterns for the sources of a language,
/// in which whole projects are written, only those count that cover a name of such a file.
pub(crate) fn is_covered(pattern: &str) -> bool {
    let lower = pattern.to_lowercase();
    // A list of characters may hold the sign between directories.
    let divided = lower.split_once('[').is_some_and(|(_, rest)| rest.contains('/'));
    if divided || is_secret(Path::new(pattern)) {
        return true;
    }
    let parts: Vec<&str> = lower.split('/').collect();
    let Some((names, above)) = parts.split_last() else { return true };
    let may_be = |pattern: &str, other: &str| meet(pattern.as_bytes(), other.as_bytes());
    let spells = |part: &&&str| part.contains(|c: char| c.is_ascii_alphanumeric());
    let in_folder = above.iter().filter(spells).any(|part| FOLDERS.iter().any(|folder| may_be(part, folder)));
    let in_folders = IN_FOLDER.iter().map(|(_, name)| *name);
    let whole = NAMES.iter().copied().chain(COMMON).chain(in_folders).chain(["config"]);
    // Files of this name are of a language in which whole projects are written.
    let mut whole = whole.filter(|name| *name != "wp-config.php");
    let mut ends = ENDS.iter().chain(SEALED);
    let keys = KEYS.iter().map(|start| format!("{start}*"));
    let mut open = keys.chain(PARTS.iter().map(|part| format!("*{part}*")));
    in_folder
        || whole.any(|name| may_be(names, name))
        || ends.any(|end| may_be(names, &format!("*{end}")))
        || (!is_of_sources(names) && (open.any(|open| may_be(names, &open)) || may_be(names, ".env[x]*")))
}

/// Whether a pattern is for the files of a language.
fn is_of_sources(names: &str) -> bool {
    let end = names.rsplit('.').next().unwrap_or_default();
    names.starts_with("*.") && SOURCES.contains(&end)
}

/// The attributes with which git shows no line of a file that usually holds secrets.
pub fn git_attributes() -> String {
    let (files, folders) = patterns();
    let folders = folders.into_iter().chain(places().map(|place| any_case(&place)));
    let folders = folders.flat_map(|folder| [format!("**/{folder}/**"), format!("**/{folder}")]);
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
            || (spells && COMMON.iter().any(|name| meet(names.as_bytes(), name.as_bytes()))))
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
    name.strip_prefix(".env").is_some_and(|rest| {
        rest == "rc" || rest.starts_with("rc.") || !rest.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_says_what_another_says() {
        for place in AT_HOME {
            let (folder, name) = place.rsplit_once('/').unwrap();
            let folder = folder.rsplit('/').next().unwrap();
            assert!(is_named(name) || IN_FOLDER.contains(&(folder, name)), "{place} is known nowhere else");
        }
        for place in PLACES {
            let known = |path: &&str| path.split('/').any(|name| is_named(&name.to_lowercase()));
            assert!(!Some(place).is_some_and(known), "{place} is known by its name");
        }
        for (folder, name) in IN_FOLDER {
            assert!(!is_named(name), "{folder}/{name} is known by its name");
        }
        for name in NAMES {
            assert!(!ENDS.iter().chain(SEALED).any(|end| name.ends_with(end)), "{name} is known by its end");
        }
        let all = [PLACES, AT_HOME, FOLDERS, NAMES, ENDS, SEALED].concat();
        for (place, name) in all.iter().enumerate() {
            assert!(!all[..place].contains(name), "{name} stands there twice");
        }
    }

    #[test]
    fn places_without_a_name_of_their_own_are_looked_for_in_trees() {
        for path in ["x/.config/hub", "opencode/auth.json", "a/huggingface/token", ".config/GH/hosts.yml"] {
            assert!(is_place(Path::new(path)) && is_place_itself(Path::new(path)), "{path}");
        }
        for path in ["x/.config/hub/a", "x.config/hub", ".config/hub2", "auth.json", "xgh/hosts.yml"] {
            assert!(!is_place_itself(Path::new(path)), "{path}");
        }
        // Patterns leave these out by their names.
        for path in [".claude/.credentials.json", ".kube/config", "hosts.yml", "config/hub"] {
            assert!(!is_place(Path::new(path)), "{path}");
        }
    }

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
            "terraform.tfstate.backup",
            "server.key.gz",
            ".env.bak.gz",
            "#.netrc#",
            "prod.auto.tfvars",
            "my-credentials.json",
            "x-firebase-adminsdk-1.json",
            "ssh_host_rsa_key",
            ".git/modules/a/config",
            ".git/worktrees/a/config.worktree",
            ".m2/settings.xml",
            ".git/objects/dc/a1c7e3c29c95672f325944847839e6610f5687",
            "sub/.git/modules/a/objects/pack/pack-1.pack",
            ".config/del/mcp.json",
            ".local/state/del/sessions/a.jsonl",
            "home/.config/gh/hosts.yml",
            ".mozilla/firefox/x/places.sqlite",
            ".claude/.credentials.json",
            ".claude.json",
            ".qwen/oauth_creds.json",
            ".local/share/opencode/auth.json",
            ".config/github-copilot/apps.json",
            ".local/share/fish/fish_history",
            ".cache/huggingface/token",
            ".config/solana/id.json",
            ".gradle/gradle.properties",
            ".Xauthority",
            "x/serviceAccountKey.json",
            "host.keytab",
            "app.env.local",
            "env.production",
            "deploy_key",
            ".envrc.local",
            "pip.conf",
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
            "settings.xml",
            "tokens.json",
            "locales/auth.json",
            "secret.rs",
            "secrets",
            "ssh_host_rsa_key.pub",
            "README.md.gz",
            ".config/nvim/init.lua",
            ".git/objects/pack",
            "objects/dc/a1c7e3c29c95672f325944847839e6610f5687",
            "x.snap",
            "config/del/mcp.json",
            "gradle.properties",
            "gradle/gradle.properties",
            "models/token",
            "src/history.rs",
        ] {
            assert!(!is_secret(Path::new(path)), "{path}");
        }
        for pattern in [
            "*",
            "**",
            "*.*",
            "*.pem",
            "/*.env",
            "conf/**",
            "*.json",
            "*.txt",
            "prod.*",
            ".netrc",
            "x/.ssh/**",
        ] {
            assert!(is_covered(pattern), "{pattern}");
        }
        for pattern in ["*.rs", "*.php", "*.md", "Cargo.lock", "docs/*.html", "*.blade.php"] {
            assert!(!is_covered(pattern), "{pattern}");
        }
    }
}
