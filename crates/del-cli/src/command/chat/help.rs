//! What is said of commands and keys: what is needed daily, all of them, or one.

use std::fmt::Write;

use del_tools::visible;
use similar::get_close_matches;

use super::word::{COMMANDS, Command, Name};
use crate::prompts::Prompt;

/// Those that are needed daily, in the order of the short list, and what they are for in a few words.
const DAILY: [(Name, &str); 11] = [
    (Name::Model, "take another model, or see which there are"),
    (Name::Mode, "what is done without asking: ask, auto-edit, plan, yolo"),
    (Name::Permissions, "what you allowed; a number takes it back"),
    (Name::Show, "all of the last result"),
    (Name::Diff, "what this session has changed"),
    (Name::Undo, "take back the last change of files, or `all`"),
    (Name::Context, "what the model's context is filled with"),
    (Name::Compact, "sum the conversation up, to make room"),
    (Name::Clear, "begin anew"),
    (Name::Resume, "go on with an earlier conversation"),
    (Name::Exit, "end; so does Ctrl-D"),
];

/// What is typed besides commands.
const KEYS: [(&str, &str); 8] = [
    ("!COMMAND", "run a shell command; the next question can speak of it"),
    ("@PATH", "in a question: attach the file"),
    ("Tab", "take the command or file that is offered"),
    ("Shift-Tab", "the next mode: ask, auto-edit, plan"),
    ("Ctrl-J", "a new line; so do Alt-Enter and a \\ at the end"),
    ("Ctrl-R", "look for an earlier question"),
    ("Ctrl-G", "write in your editor (VISUAL or EDITOR)"),
    ("Esc", "stop; what you send meanwhile, the model gets soon"),
];

/// The same where lines are read as they come, without an editor for them.
const PLAIN_KEYS: [(&str, &str); 4] = [
    ("!COMMAND", "run a shell command; the next question can speak of it"),
    ("@PATH", "in a question: attach the file"),
    ("\\", "at the end: the question goes on in the next line"),
    ("Ctrl-C", "stop; what you type meanwhile is asked next"),
];

/// What `/help` says: the daily commands and the keys, all of them, or what one is for.
pub(super) fn text(which: &str, prompts: &[Prompt], plain: bool) -> Result<String, String> {
    let own = |command: &Command| (head(command.names[0], command.behind), command.about.to_owned());
    let theirs = prompts
        .iter()
        .map(|prompt| (head(&prompt.name, &one_line(&prompt.hint)), one_line(&prompt.description)));
    let keys: &[_] = if plain { &PLAIN_KEYS } else { &KEYS };
    let keys = keys.iter().map(|(key, about)| ((*key).to_owned(), (*about).to_owned()));
    match which.trim_start_matches('/') {
        "" => {
            let daily = DAILY.iter().filter_map(|(name, about)| {
                let command = COMMANDS.iter().find(|command| command.name == *name)?;
                Some((head(command.names[0], command.behind), (*about).to_owned()))
            });
            let mut text = columns(daily.chain(keys));
            let also: Vec<String> = COMMANDS
                .iter()
                .filter(|command| !DAILY.iter().any(|(name, _)| *name == command.name))
                .map(|command| format!("/{}", command.names[0]))
                .chain(prompts.iter().map(|prompt| format!("/{}", one_line(&prompt.name))))
                .collect();
            // Writing to a string cannot fail.
            let _ =
                write!(text, "also  {}\n`/help all` explains them, `/help NAME` one of them", also.join(" "));
            Ok(text)
        }
        "all" => {
            let mut text = columns(COMMANDS.iter().map(own).chain(theirs).chain(keys));
            text.push_str("safe, unsafe, help, exit and quit also work without a slash");
            Ok(text)
        }
        name => {
            if let Some(command) = COMMANDS.iter().find(|command| command.names.contains(&name)) {
                let others: Vec<String> = command
                    .names
                    .iter()
                    .filter(|other| **other != name)
                    .map(|other| format!("/{other}"))
                    .collect();
                let same = if others.is_empty() {
                    String::new()
                } else {
                    format!("\nthe same as {}", others.join(", "))
                };
                return Ok(format!("{}  {}{same}", head(name, command.behind), command.about));
            }
            let mut theirs = theirs;
            let found = theirs.find(|(head, _)| head.split(' ').next() == Some(&format!("/{name}")));
            found
                .map(|(head, about)| format!("{head}  {about}"))
                .ok_or_else(|| format!("expected `all` or the name of a command behind /help, got {name}"))
        }
    }
}

/// A command as it is typed, and what stands behind it.
pub(super) fn head(name: &str, behind: &str) -> String {
    format!("/{name} {behind}").trim_end().to_owned()
}

pub(super) fn one_line(text: &str) -> String {
    visible(&text.replace('\n', " ")).into_owned()
}

/// Whether Del has a command of this name itself.
pub(super) fn is_own(name: &str) -> bool {
    COMMANDS.iter().any(|command| command.names.contains(&name))
}

/// A line each, what explains them in a column of its own.
fn columns(rows: impl Iterator<Item = (String, String)>) -> String {
    let rows: Vec<(String, String)> = rows.collect();
    let widest = rows.iter().map(|(head, _)| head.len()).max().unwrap_or(0);
    rows.iter().fold(String::new(), |mut text, (head, about)| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{head:<widest$}  {about}");
        text
    })
}

/// Commands that people know from elsewhere and that mean none of these, or more than one, and what does it here.
const ELSEWHERE: [(&[&str], &str); 12] = [
    (
        &["rewind", "restore", "checkpoint", "checkpoints", "revert"],
        "`/undo` takes changes of files back, and `/fork` goes on as another conversation, so that this one stays",
    ),
    (&["vim", "vi"], "the line has keys of Emacs, and Ctrl-G opens your editor"),
    (&["theme", "color", "colors"], "colours are the terminal's own"),
    (
        &["memory", "remember"],
        "`AGENTS.md` is a file: change it, with the model or without; `/init` writes one",
    ),
    (&["ask", "code", "architect", "chat"], "`/mode plan` changes nothing, and `/mode ask` asks first"),
    (&["tokens", "usage"], "`/context` says what fills the context, and `/status` what was used"),
    (&["run", "shell", "bash", "sh"], "`!COMMAND` runs a command of yours"),
    (&["mention", "add", "file", "files", "read"], "`@PATH` in a question attaches a file"),
    (&["paste", "image"], "paste as ever, also the path of an image"),
    (&["agents", "agent"], "the model gives tasks to sub-agents by itself; ask it to"),
    (&["config", "settings"], "`del config edit` in a shell changes the configuration file"),
    (&["login", "logout", "connect"], "keys are variables of the environment, which `--api-key-env` names"),
];

/// What is said to a command that there is none of.
pub(super) fn unknown(word: &str) -> String {
    let name = word.trim_start_matches('/');
    if let Some((_, words)) = ELSEWHERE.iter().find(|(names, _)| names.contains(&name)) {
        return format!("there is no command {}: {words}", visible(word));
    }
    let names: Vec<&str> = COMMANDS.iter().flat_map(|command| command.names).copied().collect();
    let mut meant: Vec<&str> = names.iter().copied().filter(|known| known.starts_with(name)).collect();
    if meant.is_empty() {
        meant = get_close_matches(name, &names, 2, 0.6);
    }
    match meant.as_slice() {
        [] => format!("there is no command {}; `/help` lists them", visible(word)),
        meant => format!("there is no command {}; did you mean /{}?", visible(word), meant.join(" or /")),
    }
}

/// What is said to a command with more behind it than it takes.
pub(super) fn unfit(command: &Command) -> String {
    let name = command.names[0];
    format!(
        "expected `{}`, got more behind it; a question to the model cannot begin with /{name}",
        head(name, command.behind)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_call_otherwise_is_named_rightly_and_hides_no_command() {
        let told = unknown("/rewind");
        assert!(told.contains("`/undo`") && !told.contains("redo"), "{told}");
        assert!(!unknown("/restore").contains("editor"));
        for name in ELSEWHERE.iter().flat_map(|(names, _)| *names) {
            assert!(COMMANDS.iter().all(|command| !command.names.contains(name)), "{name}");
        }
        assert!(unknown("/modle").contains("did you mean /mode"));
    }

    #[test]
    fn the_short_help_fits_a_screen_and_names_every_command() {
        let short = text("", &[], false).unwrap();
        let wrapped = |line| crate::wrap::rows(line, 80, crate::wrap::second_column(line));
        let rows: usize = short.lines().map(|line| wrapped(line).lines().count()).sum();
        assert!(rows <= 23, "{rows}: {short}");
        let all = text("all", &[], false).unwrap();
        for command in &COMMANDS {
            let name = format!("/{}", command.names[0]);
            assert!(short.split_whitespace().any(|word| word == name), "{name}");
            assert!(all.contains(command.about) && text(&name, &[], false).unwrap().contains(command.about));
        }
        let plain = text("", &[], true).unwrap();
        assert!(
            !plain.contains("Shift-Tab") && !plain.contains("Esc") && plain.contains("Ctrl-C"),
            "{plain}"
        );
        assert_eq!(unknown("/he"), "there is no command /he; did you mean /help?");
        assert_eq!(unknown("/modle"), "there is no command /modle; did you mean /mode or /model?");
        assert_eq!(unknown("/xyzzy"), "there is no command /xyzzy; `/help` lists them");
        assert!(text("nosuch", &[], false).unwrap_err().contains("got nosuch"));
    }
}
