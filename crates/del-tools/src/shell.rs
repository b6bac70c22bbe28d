//! What can be told of a shell command before it runs: whether a person would have to sit at it.
//!
//! This is comfort, not safety: it reads commands roughly and says so early what would only hang or fail.

use std::io;
use std::path::{Path, PathBuf};

use crate::system_error::plain_error;

/// The shell that runs commands: `$DEL_SHELL`, else bash if there is one, else sh.
pub(crate) fn shell() -> PathBuf {
    if let Some(shell) = std::env::var_os("DEL_SHELL").filter(|shell| !shell.is_empty()) {
        return shell.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let bash = std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join("bash"));
    bash.into_iter().find(|bash| bash.is_file()).unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

/// That a shell cannot be started, and whose word it was to take it.
pub(crate) fn not_started(shell: &Path, error: &io::Error) -> String {
    let named = std::env::var_os("DEL_SHELL").is_some_and(|named| shell.as_os_str() == named);
    let by = if named { ", which DEL_SHELL names" } else { "" };
    format!("cannot start {}{by}: {}.", shell.display(), plain_error(error))
}

/// Whether `command` does nothing but change the directory.
pub(crate) fn only_changes_directory(command: &str) -> bool {
    let command = command.trim();
    (command == "cd" || command.starts_with("cd ")) && !command.contains(['\n', ';', '&', '|', '$', '`'])
}

/// What runs in the background, where `command` ends with the `&` that says so.
pub(crate) fn in_background(command: &str) -> Option<&str> {
    let before = command.trim_end().strip_suffix('&')?;
    // `&&`, `>&` and the like are another sign, and an escaped one is a character.
    let other = before.ends_with(['&', '|', '>', '<', '\\', ';']) || before.trim().is_empty();
    (!other).then(|| before.trim_end())
}

/// Why `command` would wait for a person, if it would.
pub(crate) fn interactive(command: &str) -> Option<String> {
    // What stands in a here-document is data.
    let command = if command.contains("<<") { command.lines().next().unwrap_or_default() } else { command };
    simple_commands(command).iter().find_map(SimpleCommand::interactive)
}

/// A program and its words, roughly.
#[derive(Debug, Default, PartialEq, Eq)]
struct SimpleCommand {
    words: Vec<String>,
    /// Whether something else gives it its input.
    fed: bool,
}

fn simple_commands(command: &str) -> Vec<SimpleCommand> {
    let mut commands = vec![SimpleCommand::default()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, ' ' | '\t') => finish(&mut commands, &mut word),
            (None, '<') => {
                finish(&mut commands, &mut word);
                if let Some(last) = commands.last_mut() {
                    last.fed = true;
                }
            }
            (None, '|' | ';' | '&' | '\n' | '(' | ')') => {
                finish(&mut commands, &mut word);
                let fed = c == '|' && chars.peek() != Some(&'|');
                commands.push(SimpleCommand { words: Vec::new(), fed });
                if matches!(c, '|' | '&') && chars.peek() == Some(&c) {
                    chars.next();
                }
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    finish(&mut commands, &mut word);
    commands.retain(|command| !command.words.is_empty());
    commands
}

fn finish(commands: &mut [SimpleCommand], word: &mut Option<String>) {
    if let (Some(word), Some(command)) = (word.take(), commands.last_mut()) {
        command.words.push(word);
    }
}

impl SimpleCommand {
    fn interactive(&self) -> Option<String> {
        const WRAPPERS: [&str; 9] = ["sudo", "env", "time", "nohup", "command", "exec", "nice", "then", "do"];
        const EDITORS: [&str; 10] =
            ["vim", "vi", "nvim", "view", "vimdiff", "emacs", "nano", "pico", "joe", "micro"];
        const SCREENS: [&str; 16] = [
            "top", "htop", "btop", "atop", "tmux", "screen", "mc", "ranger", "nnn", "lazygit", "tig", "fzf",
            "dialog", "whiptail", "watch", "ncdu",
        ];
        const PROMPTS: [&str; 20] = [
            "python", "python2", "python3", "ipython", "node", "irb", "lua", "ghci", "R", "julia", "bash",
            "sh", "zsh", "fish", "psql", "mysql", "bc", "ftp", "telnet", "gdb",
        ];
        let skipped = |word: &&String| WRAPPERS.contains(&word.as_str()) || is_assignment(word);
        let mut words = self.words.iter().skip_while(skipped);
        let program = Path::new(words.next()?).file_name()?.to_str()?;
        let words: Vec<_> = words.map(String::as_str).collect();
        let has = |flags: &[&str]| words.iter().any(|word| flags.contains(word));
        let unattended = ["--headless", "--batch", "-batch", "-es", "-Es", "-s", "-b", "--help", "--version"];
        if EDITORS.contains(&program) && !has(&unattended) {
            return Some(format!(
                "{program} is an editor for a person at a terminal; change files with the file tools."
            ));
        }
        if SCREENS.contains(&program)
            && !has(&unattended)
            && !has(&["-bn1", "-n1", "new-session", "send-keys", "-d"])
        {
            return Some(format!(
                "{program} draws on a terminal and waits for keys; use a command that prints and ends."
            ));
        }
        if matches!(program, "less" | "more" | "most") && !self.fed {
            return Some(format!(
                "{program} waits for keys; read the file with the file tools, or use cat, head or tail."
            ));
        }
        if PROMPTS.contains(&program) && words.is_empty() && !self.fed {
            return Some(format!(
                "{program} without arguments waits for input; give it a script or a command."
            ));
        }
        if program == "ssh" && !words.iter().any(|word| word.to_lowercase().contains("batchmode=yes")) {
            return Some("ssh may ask for a password; pass -o BatchMode=yes.".to_owned());
        }
        if program == "git" { git(&words) } else { None }
    }
}

fn git(words: &[&str]) -> Option<String> {
    let has = |flags: &[&str]| words.iter().any(|word| flags.contains(word));
    let says = |starts: &[&str]| words.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    match words.iter().copied().find(|word| !word.starts_with('-'))? {
        "rebase" if has(&["-i", "--interactive"]) => {
            Some("git rebase -i opens an editor; rebase without -i.".to_owned())
        }
        "add" | "checkout" | "reset" | "stash" if has(&["-p", "--patch", "-i", "--interactive"]) => {
            Some("git asks about each change with -p or -i; name the files instead.".to_owned())
        }
        "commit" => {
            let message = says(&[
                "--message",
                "--file",
                "--no-edit",
                "--reuse-message",
                "--fixup",
                "--dry-run",
                "--help",
            ]) || words.iter().any(|word| is_cluster(word, ['m', 'F', 'C']));
            (!message).then(|| "git commit without -m opens an editor; pass -m MESSAGE.".to_owned())
        }
        _ => None,
    }
}

fn is_cluster(word: &str, flags: [char; 3]) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(flags)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sign_at_the_end_means_the_background() {
        for (command, itself) in [
            ("npm start &", Some("npm start")),
            ("a & b & \n", Some("a & b")),
            ("a && b", None),
            ("a &&", None),
            ("echo \\&", None),
            ("a >&", None),
            (" &", None),
        ] {
            assert_eq!(in_background(command), itself, "{command}");
        }
    }

    #[test]
    fn programs_that_want_a_person_are_known() {
        for command in [
            "vim a.txt",
            "/usr/bin/nano x",
            "cd a && vi b",
            "less x",
            "top",
            "python",
            "python3",
            "EDITOR=x node",
            "ssh host ls",
            "git rebase -i HEAD~2",
            "git commit",
            "git commit -a",
            "git add -p",
            "sudo vim x",
            "echo a; bash",
            "if true; then vim x; fi",
        ] {
            assert!(interactive(command).is_some(), "{command}");
        }
    }

    #[test]
    fn programs_that_are_fed_or_told_what_to_do_are_not() {
        for command in [
            "python a.py",
            "echo 1 | python",
            "python < a.py",
            "python3 - <<'E'\nvim\nE",
            "git log | less",
            "echo vim",
            "git commit -m 'vim it'",
            "git commit -am x",
            "git commit --amend --no-edit",
            "git rebase main",
            "ssh -o BatchMode=yes h ls",
            "emacs --batch -l x",
            "echo 'a; vim'",
            "top -bn1",
            "cat > x <<EOF\nvim\nEOF",
            "ls topdir",
            "which vim",
            "",
        ] {
            assert_eq!(interactive(command), None, "{command}");
        }
    }

    #[test]
    fn a_bare_change_of_directory_is_seen() {
        assert!(only_changes_directory("cd src") && only_changes_directory(" cd "));
        assert!(!only_changes_directory("cd src && ls") && !only_changes_directory("cdr"));
    }
}
