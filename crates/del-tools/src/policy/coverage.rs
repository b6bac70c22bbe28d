//! What rules mean of the calls that questions show.

use std::path::Path;

use del_judge::members;

use crate::program::written;
use crate::question::{Entries, Question, Subject};
use crate::rule::Rule;
use crate::writable::caution;

impl Rule {
    /// Whether an allowing rule lets the call that `question` shows run.
    pub(super) fn allows(&self, question: &Question) -> bool {
        match &question.subject {
            Subject::Program { about, .. } => {
                about.first().is_some_and(|about| self.is_meant(&question.tool, about))
            }
            Subject::Network { query, .. } => self.is_meant(&question.tool, query),
            // A pattern was hardly meant for files that run later or hold secrets; these have to be named.
            subject @ (Subject::Write { .. } | Subject::Rewrite { .. }) if !question.cautions.is_empty() => {
                subject.paths().iter().all(|path| self.names_path(&question.tool, path))
            }
            subject @ Subject::Arrange { .. }
                if subject.paths().iter().any(|path| caution(Path::new(path)).is_some()) =>
            {
                false
            }
            subject => {
                let paths = subject.paths();
                self.is_for_all(&question.tool)
                    || !paths.is_empty() && paths.iter().all(|path| self.matches_path(&question.tool, path))
            }
        }
    }

    /// Whether a denying rule forbids the call that `question` shows.
    pub(super) fn covers(&self, question: &Question) -> bool {
        match &question.subject {
            // What is forbidden to commands is forbidden to the tools that run the same.
            Subject::Program { commands, about, .. } => {
                let command = |words: &Vec<String>| {
                    let command = written(words);
                    self.forbids("run_command", &command, &members(&command))
                };
                about.iter().any(|about| self.is_meant(&question.tool, about)) || commands.iter().any(command)
            }
            Subject::Network { query, .. } => self.is_meant(&question.tool, query),
            Subject::Read { path } => {
                self.is_for_all(&question.tool)
                    || self.matches_path(&question.tool, path)
                    || self.forbids_reading(path)
            }
            Subject::Arrange { path, to, entries, .. } => {
                self.is_for_all(&question.tool)
                    || [Some(path), to.as_ref()]
                        .into_iter()
                        .flatten()
                        .any(|path| self.matches_path(&question.tool, path))
                    || self.meets(&question.tool, entries)
            }
            subject => {
                let meant =
                    |path: &str| self.matches_path(&question.tool, path) || self.forbids_writing(path);
                let besides = match subject {
                    Subject::Later { entries, .. } => self.meets(&question.tool, entries),
                    _ => false,
                };
                self.is_for_all(&question.tool) || besides || subject.paths().iter().any(|path| meant(path))
            }
        }
    }

    /// Whether a denying rule forbids to read or change one of the entries.
    fn meets(&self, tool: &str, entries: &Entries) -> bool {
        let Entries { read, written, more } = entries;
        read.iter().any(|path| self.forbids_reading(path))
            || written.iter().any(|path| self.matches_path(tool, path) || self.forbids_writing(path))
            || (*more && self.is_about_paths(tool))
    }
}
