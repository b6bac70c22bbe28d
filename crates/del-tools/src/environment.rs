//! The environment of programs that are run: the user's, without what looks like a secret.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use del_judge::without_password;

/// What programs are told so that they neither ask, nor page, nor paint.
const QUIET: [(&str, &str); 6] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("DEL", "1"),
];

/// The user's environment for a program in `directory`. Variables whose names look like secrets stay out of it, and those
/// that hold an address with a password.
pub(crate) fn users(directory: &Path) -> Vec<(OsString, OsString)> {
    let given = std::env::vars_os().filter(|(name, value)| !looks_secret(name) && !holds_password(value));
    let mut variables: Vec<_> = given.collect();
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
    const WORDS: [&str; 20] = [
        "TOKEN",
        "TOKENS",
        "KEY",
        "KEYS",
        "APIKEY",
        "AUTHTOKEN",
        "CREDENTIAL",
        "CREDENTIALS",
        "PWD",
        "PAT",
        "PATS",
        "PASS",
        "AUTH",
        "JWT",
        "COOKIE",
        "COOKIES",
        "BEARER",
        "ACCESSKEY",
        "WEBHOOK",
        "WEBHOOKS",
    ];
    const PARTS: [&str; 6] =
        ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CONNECTION_STRING", "CONNECTIONSTRING"];
    const STARTS: [&str; 3] = ["AWS_", "OPENAI_", "ANTHROPIC_"];
    let name = name.to_string_lossy().to_uppercase();
    if matches!(&*name, "PWD" | "OLDPWD" | "SSH_AUTH_SOCK") {
        return false;
    }
    name.split('_').any(|word| WORDS.contains(&word))
        || PARTS.iter().any(|part| name.contains(part))
        || STARTS.iter().any(|start| name.starts_with(start))
}

/// Whether a value holds an address with a password or a token in it.
fn holds_password(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    without_password(&value) != *value
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
            "GH_PAT",
            "SMTP_PASS",
            "BASIC_AUTH",
            "JWT",
            "SESSION_COOKIE",
            "SLACK_WEBHOOK_URL",
            "AZURE_STORAGE_CONNECTION_STRING",
        ] {
            assert!(looks_secret(OsStr::new(name)), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "GIT_AUTHOR_NAME",
            "COMPASS",
            "PATTERN",
            "TOKENIZERS_PARALLELISM",
            "KEYBOARD",
            "SSH_AUTH_SOCK",
            "MONKEY",
            "PWD",
            "OLDPWD",
        ] {
            assert!(!looks_secret(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn addresses_with_passwords_are_known() {
        for value in ["postgres://me:word@host/db", "https://ghp_0123456789abcdef0123@github.com"] {
            assert!(holds_password(OsStr::new(value)), "{value}");
        }
        for value in ["postgres://host/db", "ssh://git@host", "a:b@c", ""] {
            assert!(!holds_password(OsStr::new(value)), "{value}");
        }
    }
}
