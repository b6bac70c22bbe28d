//! Rules of `--allow-tool` and `--deny-tool`: `write_file`, `write_file(src/**)`, `run_command(git status:*)`.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};

use crate::registry;

/// Which calls are meant: a tool, and perhaps what it is called with.
#[derive(Debug, Clone)]
pub struct Rule {
    written: String,
    /// `None` for every tool.
    tool: Option<&'static str>,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Everything,
    Command(String),
    CommandStart(String),
    Path(GlobMatcher),
}

/// Why a rule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// No tool has that name.
    #[error("unknown tool '{name}' in rule '{rule}'; expected one of: {known}")]
    UnknownTool {
        /// The rule.
        rule: String,
        /// The name in it.
        name: String,
        /// The tools there are.
        known: String,
    },
    /// It has another form than it may have.
    #[error(
        "cannot read rule '{rule}'; expected TOOL, TOOL(PATH PATTERN), run_command(COMMAND) or run_command(START:*)"
    )]
    Form {
        /// The rule.
        rule: String,
    },
}

/// With one of these a command is more than one program and its words.
const SHELL: [char; 14] = [';', '|', '&', '$', '`', '<', '>', '(', ')', '{', '}', '\n', '\r', '\0'];

impl Rule {
    /// Reads a rule. Any of a tool's names will do, and `*` for every tool.
    pub fn parse(rule: &str) -> Result<Self, RuleError> {
        let form = || RuleError::Form { rule: rule.to_owned() };
        let (name, argument) = match rule.trim().split_once('(') {
            Some((name, rest)) => (name.trim(), Some(rest.strip_suffix(')').ok_or_else(form)?.trim())),
            None => (rule.trim(), None),
        };
        let tool = match name {
            "*" => None,
            _ => Some(registry::find(name).ok_or_else(|| RuleError::UnknownTool {
                rule: rule.to_owned(),
                name: name.to_owned(),
                known: registry::canonical_names().collect::<Vec<_>>().join(", "),
            })?),
        };
        let runs = tool.is_some_and(|tool| tool.name == "run_command");
        let what = match argument {
            None | Some("*") => What::Everything,
            Some("") => return Err(form()),
            Some(command) if runs => {
                match command.strip_suffix(":*").or_else(|| command.strip_suffix(" *")) {
                    Some(start) if start.trim().is_empty() => What::Everything,
                    Some(start) => What::CommandStart(start.trim().to_owned()),
                    None => What::Command(command.to_owned()),
                }
            }
            Some(path) => {
                let glob = GlobBuilder::new(path).literal_separator(true).build().map_err(|_| form())?;
                What::Path(glob.compile_matcher())
            }
        };
        Ok(Self { written: rule.trim().to_owned(), tool: tool.map(|tool| tool.name), what })
    }

    /// Whether the whole of `command` is meant: the way an allowing rule reads it. A start never vouches for a command
    /// in which a shell would find more than one program.
    pub(crate) fn matches_all(&self, tool: &str, command: &str) -> bool {
        self.is_for(tool)
            && match &self.what {
                What::Everything => true,
                What::Command(exact) => command == exact,
                What::CommandStart(start) => !command.contains(SHELL) && starts(command, start),
                What::Path(_) => false,
            }
    }

    /// Whether any part of `command` is meant: the way a denying rule reads it.
    pub(crate) fn matches_any(&self, tool: &str, command: &str) -> bool {
        self.is_for(tool)
            && match &self.what {
                What::Everything => true,
                What::Command(exact) => command == exact || parts(command).any(|part| part == exact),
                What::CommandStart(start) => parts(command).any(|part| starts(part, start)),
                What::Path(_) => false,
            }
    }

    /// Whether the path is meant.
    pub(crate) fn matches_path(&self, tool: &str, path: &str) -> bool {
        self.is_for(tool)
            && match &self.what {
                What::Everything => true,
                What::Path(glob) => glob.is_match(path),
                What::Command(_) | What::CommandStart(_) => false,
            }
    }

    fn is_for(&self, tool: &str) -> bool {
        self.tool.is_none_or(|own| own == tool)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

fn starts(command: &str, start: &str) -> bool {
    command
        .trim_start()
        .strip_prefix(start)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn parts(command: &str) -> impl Iterator<Item = &str> {
    command.split(SHELL).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        Rule::parse(text).unwrap()
    }

    #[test]
    fn a_start_vouches_for_one_program_only() {
        let cargo = rule("run_command(cargo test:*)");
        assert!(cargo.matches_all("run_command", "cargo test --workspace"));
        assert!(cargo.matches_all("run_command", "cargo test"));
        for command in
            ["cargo testify", "cargo test; rm -rf .", "cargo test\nrm x", "cargo test $(x)", "cargo test > x"]
        {
            assert!(!cargo.matches_all("run_command", command), "{command}");
        }
        assert!(!cargo.matches_all("write_file", "cargo test"));
    }

    #[test]
    fn a_denied_start_is_found_in_any_part() {
        let rm = rule("bash(rm:*)");
        assert!(rm.matches_any("run_command", "ls && rm -rf x"));
        assert!(!rm.matches_any("run_command", "ls rm"));
    }

    #[test]
    fn paths_are_globs_and_names_may_be_aliases() {
        let docs = rule("write(docs/**)");
        assert!(docs.matches_path("write_file", "docs/a/b.md"));
        assert!(!docs.matches_path("write_file", "src/a.md"));
        assert!(rule("*").matches_path("edit_file", "x"));
    }

    #[test]
    fn what_cannot_be_read_says_what_was_expected() {
        assert!(matches!(Rule::parse("nosuch"), Err(RuleError::UnknownTool { .. })));
        assert!(matches!(Rule::parse("write_file("), Err(RuleError::Form { .. })));
        assert!(matches!(Rule::parse("write_file()"), Err(RuleError::Form { .. })));
    }
}
