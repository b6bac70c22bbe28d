//! Rules of `--allow-tool` and `--deny-tool`: `write_file`, `write_file(src/**)`, `run_command(git status:*)`,
//! `git_operation(commit)`.

use std::fmt;
use std::path::Path;

use del_judge::{Ground, Judge, Member, Members, Verdict, members};
use globset::GlobMatcher;

use crate::foreign;
use crate::glob;
use crate::registry;

/// Which calls are meant: a tool, and perhaps what it is called with.
#[derive(Debug, Clone)]
pub struct Rule {
    written: String,
    tool: Named,
    what: What,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for Rule {}

/// Which tools a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Named {
    Every,
    BuiltIn(&'static str),
    Foreign(String),
    /// All whose names begin so.
    Start(String),
}

#[derive(Debug, Clone)]
enum What {
    Everything,
    Command {
        text: String,
        words: Vec<String>,
    },
    CommandStart {
        words: Vec<String>,
        dangerous: bool,
    },
    /// What a call is about begins with these words.
    Start(Vec<String>),
    Path(GlobMatcher),
}

/// Tools whose rules are words: what is done, or what is asked.
const SPOKEN: [&str; 2] = ["git_operation", "web_search"];

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
        "cannot read rule '{rule}'; expected TOOL, TOOL(PATH PATTERN), run_command(COMMAND), run_command(START:*), \
         git_operation(OPERATION), mcp__SERVER__TOOL or mcp__SERVER__*"
    )]
    Form {
        /// The rule.
        rule: String,
    },
}

impl Rule {
    /// Reads a rule. Any of a tool's names will do, and `*` for every tool.
    pub fn parse(rule: &str) -> Result<Self, RuleError> {
        let form = || RuleError::Form { rule: rule.to_owned() };
        let (name, argument) = match rule.trim().split_once('(') {
            Some((name, rest)) => (name.trim(), Some(rest.strip_suffix(')').ok_or_else(form)?.trim())),
            None => (rule.trim(), None),
        };
        let tool = match name {
            "*" => Named::Every,
            _ if name.starts_with(foreign::PREFIX) => {
                foreign_tools(name).filter(|_| matches!(argument, None | Some("*"))).ok_or_else(form)?
            }
            _ => Named::BuiltIn(
                registry::find(name)
                    .ok_or_else(|| RuleError::UnknownTool {
                        rule: rule.to_owned(),
                        name: name.to_owned(),
                        known: registry::canonical_names().collect::<Vec<_>>().join(", "),
                    })?
                    .name,
            ),
        };
        let runs = tool == Named::BuiltIn("run_command");
        let what = match argument {
            None | Some("*") => What::Everything,
            Some("") => return Err(form()),
            Some(command) if runs => {
                match command.strip_suffix(":*").or_else(|| command.strip_suffix(" *")) {
                    Some(start) if start.trim().is_empty() => What::Everything,
                    Some(start) => What::CommandStart { words: words(start), dangerous: is_dangerous(start) },
                    None => What::Command { text: command.to_owned(), words: words(command) },
                }
            }
            Some(start) if matches!(tool, Named::BuiltIn(name) if SPOKEN.contains(&name)) => {
                let start = start.strip_suffix(":*").or_else(|| start.strip_suffix(" *")).unwrap_or(start);
                What::Start(start.split_whitespace().map(str::to_owned).collect())
            }
            Some(path) => What::Path(glob::whole(path).map_err(|_| form())?),
        };
        Ok(Self { written: rule.trim().to_owned(), tool, what })
    }

    /// What the rule covers, in words, for whoever takes it.
    pub fn meaning(&self) -> String {
        let tool = match &self.tool {
            Named::Every => "every tool".to_owned(),
            Named::BuiltIn(name) => (*name).to_owned(),
            Named::Foreign(name) => name.clone(),
            Named::Start(start) => format!("every tool whose name begins with {start}"),
        };
        match &self.what {
            What::Everything if self.tool == Named::BuiltIn("run_command") => {
                "every command, but for those that destroy or name files that run or hold secrets".to_owned()
            }
            What::Everything => format!("{tool}, whatever it is called with"),
            What::Command { text, .. } => format!("exactly this command: {text}"),
            What::CommandStart { words, .. } => {
                let start = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
                format!("every command that begins with the words: {start}")
            }
            What::Start(words) => format!("{tool} for everything that begins with: {}", words.join(" ")),
            What::Path(glob) => format!("{tool} on every path that fits: {}", glob.glob()),
        }
    }

    /// Whether the tool is meant, whatever it is called with.
    pub(crate) fn is_for_all(&self, tool: &str) -> bool {
        self.is_for(tool) && matches!(self.what, What::Everything)
    }

    /// Whether the rule means some calls of the tool.
    pub(crate) fn is_about(&self, tool: &str) -> bool {
        self.is_for(tool)
    }

    /// Whether this very command is meant, to the byte.
    pub(crate) fn names(&self, tool: &str, command: &str) -> bool {
        self.is_for(tool) && matches!(&self.what, What::Command { text, .. } if text == command)
    }

    /// Whether one of the commands in a command is meant: the way an allowing rule reads it. One with variables before
    /// it, or with a file as its input, is another command. `refused` asks for a rule that means what is refused; of the
    /// files in `delicate` none may stand behind what the rule says.
    pub(crate) fn allows_member(
        &self,
        tool: &str,
        member: &Member,
        refused: bool,
        delicate: &[&str],
    ) -> bool {
        let means = |member: &Member| match &self.what {
            What::Command { words, .. } => member.words == *words,
            What::CommandStart { words, dangerous } => {
                (*dangerous || !refused)
                    && member.starts_with(words)
                    && !delicate.iter().any(|file| member.says_behind(words.len(), file))
            }
            What::Everything | What::Path(_) | What::Start(_) => false,
        };
        self.is_for(tool) && member.plain && (means(member) || means(&member.inner()))
    }

    /// Whether any of the commands in `command` is meant: the way a denying rule reads it.
    pub(crate) fn forbids(&self, tool: &str, command: &str, members: &Members) -> bool {
        self.is_for(tool)
            && match &self.what {
                What::Everything => true,
                What::Command { text, words } => text == command || members.any(words, true),
                What::CommandStart { words, .. } => members.any(words, false),
                What::Path(_) | What::Start(_) => false,
            }
    }

    /// Whether a call that is about this is meant: a path, or words.
    pub(crate) fn is_meant(&self, tool: &str, about: &str) -> bool {
        self.is_for(tool)
            && match &self.what {
                What::Everything => true,
                What::Start(start) => {
                    let mut words = about.split_whitespace();
                    start.iter().all(|word| words.next() == Some(word))
                }
                What::Path(glob) => glob.is_match(about),
                What::Command { .. } | What::CommandStart { .. } => false,
            }
    }

    /// Whether the path is meant.
    pub(crate) fn matches_path(&self, tool: &str, path: &str) -> bool {
        self.is_for(tool)
            && match &self.what {
                What::Everything => true,
                What::Path(glob) => glob.is_match(path),
                What::Command { .. } | What::CommandStart { .. } | What::Start(_) => false,
            }
    }

    /// Whether nothing may write the path, whatever the tool.
    pub(crate) fn forbids_writing(&self, path: &str) -> bool {
        self.is_for("write_file") && matches!(&self.what, What::Path(glob) if glob.is_match(path))
    }

    /// Whether nothing may show or take away what is in the path, whatever the tool.
    pub(crate) fn forbids_reading(&self, path: &str) -> bool {
        self.withheld().is_some_and(|glob| glob.is_match(path))
    }

    /// The pattern of what nothing may show, whatever the tool.
    pub(crate) fn withheld(&self) -> Option<&GlobMatcher> {
        match &self.what {
            What::Path(glob) if self.is_for("read_file") => Some(glob),
            _ => None,
        }
    }

    /// Whether paths are meant that this tool reads or writes, or all tools.
    pub(crate) fn is_about_paths(&self, tool: &str) -> bool {
        let about = [tool, "write_file", "read_file"];
        matches!(self.what, What::Path(_)) && about.iter().any(|tool| self.is_for(tool))
    }

    /// Whether this very path is meant, and no pattern that it fits.
    pub(crate) fn names_path(&self, tool: &str, path: &str) -> bool {
        let named = |glob: &GlobMatcher| {
            let written = glob.glob().glob();
            written == path || written == globset::escape(path)
        };
        self.is_for(tool) && matches!(&self.what, What::Path(glob) if named(glob))
    }

    fn is_for(&self, tool: &str) -> bool {
        match &self.tool {
            Named::Every => true,
            Named::BuiltIn(name) => *name == tool,
            Named::Foreign(name) => name == tool,
            Named::Start(start) => tool.starts_with(start),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// The tools of MCP servers that `name` means: one, or with a `*` at the end all whose names begin so.
fn foreign_tools(name: &str) -> Option<Named> {
    let (start, all) = name.strip_suffix('*').map_or((name, false), |start| (start, true));
    let plain = start.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let named = start.len() > foreign::PREFIX.len() || all;
    (plain && named)
        .then(|| if all { Named::Start(start.to_owned()) } else { Named::Foreign(name.to_owned()) })
}

/// The words of a command in a rule.
fn words(command: &str) -> Vec<String> {
    match members(command).members.as_slice() {
        [member] => member.words.clone(),
        _ => command.split_whitespace().map(str::to_owned).collect(),
    }
}

/// Whether all commands that begin so are refused unless a rule means them.
fn is_dangerous(start: &str) -> bool {
    Judge::default().judge(start, &Ground::new(Path::new("/"))).verdict == Verdict::Refuse
}

#[cfg(test)]
mod tests;
