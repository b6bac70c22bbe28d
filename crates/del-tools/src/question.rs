//! What the user is shown before something is done.

use std::fmt::Write;
use std::path::PathBuf;

use del_judge::Judgement;

use crate::class::Class;
use crate::diff::first_lines;
use crate::outcome::counted;
use crate::program::written;
use crate::text::on_one_line;
use crate::visible::visible;

/// Lines of a diff that a question shows.
const SHOWN_LINES: usize = 200;

/// What a planned call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The tool's canonical name.
    pub tool: String,
    /// What it would do.
    pub subject: Subject,
    /// Reasons to look twice. With any, the call asks even where its class does not.
    pub cautions: Vec<String>,
    /// Remarks that do not make it ask.
    pub remarks: Vec<String>,
    /// What of the call the user may write otherwise.
    pub editable: Option<Editable>,
    /// Whether the user may give it the network.
    pub loan: Loan,
}

/// The network for one command, where commands have none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Loan {
    /// It is no matter of this call.
    #[default]
    None,
    /// It can be given by [`crate::Answer::Network`], and this is what that means.
    Possible(String),
    /// A yes gives it.
    Given,
}

/// The part of a call that the user may change before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editable {
    /// The argument's canonical name: `command`, `content`.
    pub argument: &'static str,
    /// The argument as the model wrote it.
    pub text: String,
}

/// What a call would do, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Look at a path.
    Read {
        /// The path, relative to the working directory.
        path: String,
    },
    /// Write a file.
    Write {
        /// The path, relative to the working directory.
        path: String,
        /// Whether it is not there yet.
        new: bool,
        /// The change, as a unified diff.
        diff: String,
    },
    /// Run a command.
    Command {
        /// The bytes that the shell gets.
        command: String,
        /// The shell that gets them.
        shell: PathBuf,
        /// Where it runs.
        directory: PathBuf,
        /// Seconds after which it is ended.
        timeout: u64,
        /// What is known of it. A safe one is run without the shell.
        judgement: Judgement,
    },
    /// Have another program do something.
    Foreign {
        /// The program, as the user knows it.
        server: String,
        /// All that it is sent, as JSON.
        arguments: String,
    },
    /// Write several files anew.
    Rewrite {
        /// The paths, relative to the working directory.
        paths: Vec<String>,
        /// The changes, as one unified diff.
        diff: String,
    },
    /// Run programs, without a shell.
    Program {
        /// What is run, in this order: each a program and its arguments.
        commands: Vec<Vec<String>>,
        /// What the last one reads.
        input: Option<String>,
        /// Where they run.
        directory: PathBuf,
        /// Seconds after which each is ended.
        timeout: u64,
        /// What the call is about, which rules are held against: the path, or what is done. Behind it what the call
        /// does besides.
        about: Vec<String>,
    },
    /// Send something over the network.
    Network {
        /// Where it goes: the host, with its port unless that is the usual one.
        to: String,
        /// What is sent.
        query: String,
    },
    /// Move something about in the workspace.
    Arrange {
        /// What is done.
        action: Action,
        /// The path, relative to the working directory.
        path: String,
        /// Where it goes, for what is moved or copied.
        to: Option<String>,
        /// What it is: `3 files, 1.2 kB`.
        what: String,
        /// All that it reads and changes.
        entries: Entries,
    },
    /// What comes before decides what this will come to, so that it cannot be shown yet.
    Later {
        /// The paths that it is about, relative to the working directory.
        paths: Vec<String>,
        /// The arguments, as JSON text.
        arguments: String,
        /// What it reads and changes besides these paths, as far as that is known.
        entries: Entries,
    },
    /// Several things, in this order.
    Several {
        /// Each of them.
        parts: Vec<Part>,
    },
}

/// What is reached by an operation on a whole tree: paths relative to the working directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entries {
    /// What can be read elsewhere afterwards.
    pub read: Vec<String>,
    /// What is removed or made.
    pub written: Vec<String>,
    /// Whether there may be others, of which nobody knows.
    pub more: bool,
}

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is removed, with all that is in it.
    Delete,
    /// It gets another path.
    Move,
    /// It is there twice afterwards.
    Copy,
    /// A directory is made.
    MakeDirectory,
}

/// One of several things that a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it does to the world.
    pub class: Class,
    /// The question that it would be by itself.
    pub question: Question,
}

impl Question {
    pub(crate) fn new(tool: &str, subject: Subject) -> Self {
        Self {
            tool: tool.to_owned(),
            subject,
            cautions: Vec::new(),
            remarks: Vec::new(),
            editable: None,
            loan: Loan::None,
        }
    }

    pub(crate) fn read(tool: &str, path: &str) -> Self {
        Self::new(tool, Subject::Read { path: path.to_owned() })
    }

    /// Lets the user change an argument.
    pub(crate) fn with_editable(mut self, argument: &'static str, text: &str) -> Self {
        self.editable = Some(Editable { argument, text: text.to_owned() });
        self
    }

    /// The question as text for a terminal: nothing in it can act on the terminal. A command is shown whole; of a diff
    /// and of the arguments of a foreign tool the first 200 lines and how many more there are; of a line of a diff 1000
    /// characters.
    pub fn text(&self) -> String {
        self.written(SHOWN_LINES)
    }

    /// The same with nothing left out.
    pub fn whole(&self) -> String {
        self.written(usize::MAX)
    }

    fn written(&self, lines: usize) -> String {
        let mut text = match &self.subject {
            Subject::Read { path } => format!("{} {path}", self.tool),
            Subject::Write { path, new, diff } => {
                let verb = if *new { "create" } else { "change" };
                format!("{}: {verb} {path}\n{}", self.tool, first_lines(diff, lines))
            }
            Subject::Command { command, directory, timeout, .. } => {
                let directory = on_one_line(&directory.display().to_string());
                let mut text = format!("{}: in {directory} (at most {timeout} s)", self.tool);
                for line in command.split('\n') {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "\n  $ {line}");
                }
                text
            }
            Subject::Foreign { server, arguments } => {
                let mut text = format!("{}: a call to the MCP server {}", self.tool, on_one_line(server));
                for line in arguments.lines().take(lines) {
                    let _ = write!(text, "\n  {line}");
                }
                let more = arguments.lines().count().saturating_sub(lines);
                if more > 0 {
                    let _ = write!(text, "\n  ... [{}]", counted(more, "more line"));
                }
                text
            }
            Subject::Rewrite { paths, diff } => {
                format!("{}: change {}\n{}", self.tool, paths.join(", "), first_lines(diff, lines))
            }
            Subject::Program { commands, input, directory, timeout, .. } => {
                let directory = on_one_line(&directory.display().to_string());
                let mut text = format!("{}: in {directory} (at most {timeout} s)", self.tool);
                for command in commands {
                    let _ = write!(text, "\n  $ {}", written(command).replace('\n', "\n    "));
                }
                for line in input.iter().flat_map(|input| input.lines()) {
                    let _ = write!(text, "\n  < {line}");
                }
                text
            }
            Subject::Network { to, query } => {
                format!("{}: send to {to}\n  > {}", self.tool, query.replace('\n', "\n  > "))
            }
            Subject::Arrange { action, path, to, what, .. } => {
                let to = to.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
                format!("{}: {} {path}{to} ({what})", self.tool, action.verb())
            }
            Subject::Later { paths, arguments, .. } => {
                let head = format!("{} {}", self.tool, paths.join(", "));
                format!("{}: with these arguments\n  {arguments}", head.trim_end())
            }
            Subject::Several { parts } => {
                let mut text = format!("{}: {}", self.tool, counted(parts.len(), "operation"));
                for (place, part) in parts.iter().enumerate() {
                    let inner = part.question.written(lines);
                    let _ = write!(text, "\n[{}/{}] {}", place + 1, parts.len(), inner.trim_end());
                }
                text
            }
        };
        for caution in self.cautions.iter().chain(&self.remarks) {
            let _ = write!(text, "\n! {caution}");
        }
        visible(&text).into_owned()
    }

    /// For a denial where nobody can be asked: that this needs approval, and why.
    pub fn needs_approval(&self) -> String {
        match self.reasons().as_slice() {
            [] => "needs approval".to_owned(),
            reasons => format!("needs approval: {}", reasons.join("; ")),
        }
    }

    /// Why this is asked about, as far as there is more to say than what it does: what the judge objects to in a command,
    /// and the cautions. Each once.
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        self.add_reasons(&mut reasons);
        reasons
    }

    fn add_reasons(&self, reasons: &mut Vec<String>) {
        let mut add = |reason: &String| {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        };
        match &self.subject {
            // A safe one has reasons to run.
            Subject::Command { judgement, .. } if judgement.verdict != del_judge::Verdict::Safe => {
                judgement.reasons.iter().for_each(&mut add);
            }
            Subject::Several { parts } => {
                for part in parts {
                    part.question.add_reasons(reasons);
                }
                return;
            }
            _ => {}
        }
        self.cautions.iter().for_each(&mut add);
    }

    /// The cautions of this question and of all its parts.
    pub(crate) fn all_cautions(&self) -> Vec<String> {
        let mut cautions = self.cautions.clone();
        if let Subject::Several { parts } = &self.subject {
            cautions.extend(parts.iter().flat_map(|part| part.question.all_cautions()));
        }
        cautions
    }

    /// Whether there is no reason to look twice, at no part of it.
    pub(crate) fn is_plain(&self) -> bool {
        self.cautions.is_empty()
            && match &self.subject {
                Subject::Command { judgement, .. } => judgement.delicate.is_empty(),
                Subject::Several { parts } => parts.iter().all(|part| part.question.is_plain()),
                _ => true,
            }
    }

    /// Whether consent to this question covers what turns out to be asked: the same thing to the same path. What a
    /// file has become meanwhile is the tool's own affair.
    pub(crate) fn covers(&self, now: &Self) -> bool {
        let as_safe = |shown: &Judgement, now: &Judgement| {
            shown.verdict == now.verdict || now.verdict == del_judge::Verdict::Safe
        };
        self.tool == now.tool
            && now.cautions.iter().all(|caution| self.cautions.contains(caution))
            && match (&self.subject, &now.subject) {
                (Subject::Read { path: shown }, Subject::Read { path })
                | (Subject::Write { path: shown, .. }, Subject::Write { path, .. }) => shown == path,
                (Subject::Rewrite { paths: shown, .. }, Subject::Rewrite { paths, .. }) => shown == paths,
                (Subject::Later { paths, .. }, now) => {
                    !paths.is_empty() && now.paths() == paths.iter().collect::<Vec<_>>()
                }
                (
                    Subject::Command { command: a, shell: b, directory: c, timeout: d, judgement: shown },
                    Subject::Command { command, shell, directory, timeout, judgement },
                ) => (a, b, c, d) == (command, shell, directory, timeout) && as_safe(shown, judgement),
                (
                    Subject::Arrange { action: a, path: b, to: c, .. },
                    Subject::Arrange { action, path, to, .. },
                ) => (a, b, c) == (action, path, to),
                (Subject::Several { parts: shown }, Subject::Several { parts }) => {
                    shown.len() == parts.len()
                        && shown.iter().zip(parts).all(|(shown, now)| {
                            now.class <= shown.class && shown.question.covers(&now.question)
                        })
                }
                (shown, now) => shown == now,
            }
    }
}

impl Subject {
    /// What it changes, as far as that is known.
    pub(crate) fn changed(&self) -> Entries {
        match self {
            Self::Arrange { entries, .. } => entries.clone(),
            Self::Later { paths, entries, .. } => {
                let mut entries = entries.clone();
                entries.written.extend(paths.iter().cloned());
                entries
            }
            other => {
                let written = other.paths().into_iter().cloned().collect();
                Entries { written, ..Entries::default() }
            }
        }
    }

    /// The paths that it is about, where it is about paths.
    pub(crate) fn paths(&self) -> Vec<&String> {
        match self {
            Self::Read { path } | Self::Write { path, .. } => vec![path],
            Self::Arrange { path, to, .. } => [Some(path), to.as_ref()].into_iter().flatten().collect(),
            Self::Rewrite { paths, .. } | Self::Later { paths, .. } => paths.iter().collect(),
            Self::Several { parts } => parts.iter().flat_map(|part| part.question.subject.paths()).collect(),
            Self::Command { .. } | Self::Foreign { .. } | Self::Program { .. } | Self::Network { .. } => {
                Vec::new()
            }
        }
    }
}

impl Action {
    fn verb(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Copy => "copy",
            Self::MakeDirectory => "make the directory",
        }
    }
}
