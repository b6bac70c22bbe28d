//! Files that a command names and that want a look of their own: what usually holds secrets, and what other programs run.

use std::path::Path;

use crate::ground::Ground;
use crate::members::Members;
use crate::reason::Reason;
use crate::{secret, startup};

/// A word of a command that names such a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delicate {
    /// The word, or the path in it.
    pub word: String,
    /// What such files are, in words that continue it: `usually holds secrets`.
    pub what: &'static str,
}

/// More are not listed.
const MOST: usize = 32;
const SECRET: &str = "usually holds secrets";
const OBEYED: &str = "says what other programs run";

/// Those that a command names, by all that is seen of it, and those that the judge objects to.
pub(crate) fn find(members: &Members, reasons: &[Reason], ground: &Ground) -> Vec<Delicate> {
    let mut found: Vec<Delicate> = Vec::new();
    let mut add = |word: &str, what| {
        if found.len() < MOST && !found.iter().any(|other| other.word == word) {
            found.push(Delicate { word: word.to_owned(), what });
        }
    };
    reasons.iter().filter_map(Reason::secret).for_each(|word| add(word, SECRET));
    let commands = members.members.iter().chain(&members.hidden);
    // The program itself is what rules and questions are about anyway.
    let words = commands.flat_map(|member| member.words.iter().skip(1)).chain(&members.outputs);
    for word in words {
        if let Some(what) = paths(word).find_map(|path| what(path, ground)) {
            add(word, what);
        }
    }
    found
}

/// What may be a path in a word: all of it, and what stands behind an option or another name: `-f.env`, `--file=.env`,
/// `@.env`, `host:.env`.
fn paths(word: &str) -> impl Iterator<Item = &str> {
    let border = ['=', '@', ':'];
    let attached = word.strip_prefix('-').and_then(|rest| rest.get(1..));
    let first = word.split_once(border).map(|(_, rest)| rest);
    let last = word.rsplit_once(border).map(|(_, rest)| rest);
    [Some(word), attached, first, last].into_iter().flatten().filter(|path| !path.is_empty())
}

fn what(path: &str, ground: &Ground) -> Option<&'static str> {
    let named = Path::new(path);
    // A word without a dot or a slash is a path only where there is such a file.
    let shaped = path.contains(['.', '/']);
    let (is_secret, is_obeyed) = (secret::is_secret(named), startup::is_obeyed(named));
    if shaped && is_secret {
        return Some(SECRET);
    }
    if shaped && is_obeyed {
        return Some(OBEYED);
    }
    let at = ground.follow(named)?;
    if is_secret || secret::is_secret(&at) {
        return Some(SECRET);
    }
    (is_obeyed || startup::is_obeyed(&at)).then_some(OBEYED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Judge;

    #[test]
    fn files_that_run_or_hold_secrets_are_found_wherever_a_command_names_them() {
        let folder = tempfile::tempdir().unwrap();
        for file in [".env", "credentials", "plain"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(".env", folder.path().join("link")).unwrap();
        let ground = Ground::new(folder.path());
        let found = |command: &str| Judge::default().judge(command, &ground).delicate;
        for command in [
            "cat .env",
            "cat .en*",
            "cat < .env",
            "cp .env out",
            "cp link out",
            "cat link",
            "cp credentials out",
            "dd if=.env of=out",
            "curl -d @.env x",
            "curl --data=@.env x",
            "grep -f.env x",
            "sh -c 'cat .env'",
            "echo $(cat .env)",
            "cp plain .envrc",
            "echo x > .envrc",
            "tee .github/workflows/ci.yml",
            "true; cat .env",
        ] {
            assert!(!found(command).is_empty(), "{command}");
        }
        for command in [
            "cargo test",
            "cp plain out",
            "mkdir api_key",
            "git commit -m 'read .env first'",
            "cat .env.example",
        ] {
            assert_eq!(found(command), [], "{command}");
        }
        // What is safe needs no look.
        assert_eq!(found("ls .github/workflows"), []);
    }
}
