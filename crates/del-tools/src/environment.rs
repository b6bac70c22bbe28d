//! The environment of programs that are run: the user's, without what looks like a secret.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What programs are told so that they neither ask, nor page, nor paint.
const QUIET: [(&str, &str); 6] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("DEL", "1"),
];

/// The user's environment for a program in `directory`. Variables whose names look like secrets stay out of it.
pub(crate) fn users(directory: &Path) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<_> = std::env::vars_os().filter(|(name, _)| !looks_secret(name)).collect();
    set(&mut variables, "PWD", directory.as_os_str());
    for (name, value) in QUIET {
        set(&mut variables, name, OsStr::new(value));
    }
    variables
}

/// Gives a variable this value, whatever it was.
pub(crate) fn set(variables: &mut Vec<(OsString, OsString)>, name: &str, value: &OsStr) {
    variables.retain(|(own, _)| own != name);
    variables.push((name.into(), value.to_owned()));
}

/// Whether a variable of the environment with this name usually holds a secret, and is kept from other programs.
pub fn looks_secret(name: &OsStr) -> bool {
    const WORDS: [&str; 9] =
        ["TOKEN", "TOKENS", "KEY", "KEYS", "APIKEY", "AUTHTOKEN", "CREDENTIAL", "CREDENTIALS", "PWD"];
    const PARTS: [&str; 4] = ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE"];
    const STARTS: [&str; 3] = ["AWS_", "OPENAI_", "ANTHROPIC_"];
    let name = name.to_string_lossy().to_uppercase();
    if matches!(&*name, "PWD" | "OLDPWD") {
        return false;
    }
    name.split('_').any(|word| WORDS.contains(&word))
        || PARTS.iter().any(|part| name.contains(part))
        || STARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "db_password",
            "NPM_AUTHTOKEN",
            "STRIPE_KEY",
            "PGPASSWORD",
            "MYSQL_PWD",
            "AWS_SESSION_NAME",
            "ANTHROPIC_BASE",
            "CLIENTSECRET",
        ] {
            assert!(looks_secret(OsStr::new(name)), "{name}");
        }
        for name in
            ["PATH", "HOME", "TOKENIZERS_PARALLELISM", "KEYBOARD", "SSH_AUTH_SOCK", "MONKEY", "PWD", "OLDPWD"]
        {
            assert!(!looks_secret(OsStr::new(name)), "{name}");
        }
    }
}
