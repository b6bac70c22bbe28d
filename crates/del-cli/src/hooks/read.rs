//! Hooks as they stand in a file: `[[hooks.PreToolUse]]`, plain or with the list that Claude Code has.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

use regex::Regex;
use serde::Deserialize;

use super::{Event, Hook};

#[derive(Debug, Deserialize)]
struct File {
    #[serde(default)]
    hooks: BTreeMap<Event, Vec<Group>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(default)]
    matcher: String,
    #[serde(default, rename = "type")]
    kind: Kind,
    command: Option<String>,
    timeout: Option<u64>,
    #[serde(default)]
    hooks: Vec<One>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    #[serde(default, rename = "type")]
    kind: Kind,
    command: String,
    timeout: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    Command,
}

const TIMEOUT: u64 = 60;
const LONGEST: u64 = 600;

/// The hooks in the text of a file, or what is wrong with one and where.
pub(crate) fn in_toml(text: &str, of_project: bool) -> Result<Vec<Hook>, (Range<usize>, String)> {
    let file: File = toml::from_str(text)
        .map_err(|error| (error.span().unwrap_or(0..0), format!("hooks: {}", error.message())))?;
    let mut hooks = Vec::new();
    for (event, groups) in file.hooks {
        for group in groups {
            let wrong = |message: String| (place(text, event), format!("hooks.{}: {message}", event.name()));
            let matcher = match group.matcher.as_str() {
                "" | "*" => None,
                pattern => {
                    let whole = Regex::new(&format!("^(?:{pattern})$"));
                    Some(whole.map_err(|_| {
                        wrong(format!("expected a regular expression for `matcher`, got `{pattern}`"))
                    })?)
                }
            };
            let Group { kind, timeout, .. } = group;
            let one = group.command.map(|command| One { kind, command, timeout });
            let ones: Vec<One> = one.into_iter().chain(group.hooks).collect();
            if ones.is_empty() {
                return Err(wrong("expected a `command`, got none".to_owned()));
            }
            for One { kind: Kind::Command, command, timeout } in ones {
                let seconds = timeout.unwrap_or(TIMEOUT);
                if !(1..=LONGEST).contains(&seconds) {
                    return Err(wrong(format!(
                        "expected a `timeout` of 1 to {LONGEST} seconds, got {seconds}"
                    )));
                }
                let timeout = Duration::from_secs(seconds);
                hooks.push(Hook { event, matcher: matcher.clone(), command, timeout, of_project });
            }
        }
    }
    Ok(hooks)
}

/// Where the hooks of an event begin in a file.
fn place(text: &str, event: Event) -> Range<usize> {
    let at = text.find(&format!("hooks.{}", event.name())).unwrap_or(0);
    at..at
}

/// Hooks, a line each.
pub(crate) fn lines(hooks: &[Hook]) -> String {
    let mut text = String::new();
    for hook in hooks {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{hook}");
        if hook.timeout != Duration::from_secs(TIMEOUT) {
            let _ = write!(text, " (at most {} s)", hook.timeout.as_secs());
        }
    }
    text.trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_writing_them_are_read() {
        let text = "model = \"x\"\n[[hooks.PreToolUse]]\nmatcher = \"Bash|write_file\"\ncommand = \"./check\"\ntimeout = 5\n\
            [[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"say done\" }, { command = \"log\" }]\n";
        let hooks = in_toml(text, false).unwrap();
        assert_eq!(
            lines(&hooks),
            "PreToolUse Bash|write_file: ./check (at most 5 s)\nStop: say done\nStop: log"
        );
        for (tool, is) in
            [("run_command", true), ("write_file", true), ("edit_file", false), ("run_commands", false)]
        {
            assert_eq!(hooks[0].is_for(tool), is, "{tool}");
        }
        assert!(hooks[1].is_for("edit_file"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, says) in [
            ("[[hooks.PreTool]]\ncommand = \"x\"", "unknown variant `PreTool`"),
            ("[[hooks.Stop]]\nmatcher = \"x\"", "hooks.Stop: expected a `command`"),
            ("[[hooks.Stop]]\nmatcher = \"(\"\ncommand = \"x\"", "regular expression for `matcher`, got `(`"),
            ("[[hooks.Stop]]\ntimeout = 0\ncommand = \"x\"", "1 to 600 seconds, got 0"),
            ("[[hooks.Stop]]\ncommand = \"x\"\ntype = \"prompt\"", "unknown variant `prompt`"),
        ] {
            let (_, message) = in_toml(text, false).unwrap_err();
            assert!(message.contains(says), "{message}");
        }
    }
}
