//! The commands in a command, for rules of the user.

use crate::destructive::{begun, name};
use crate::rough::scan;
use crate::syntax::{Word, parse};

/// The commands that a text holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members {
    /// Whether the text is understood exactly. If not, there may be others, and these may be read wrongly.
    pub exact: bool,
    /// The commands; of an inexact reading also those that others would run.
    pub members: Vec<Member>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The program and its arguments, without quotes; wildcards stand as they are.
    pub words: Vec<String>,
    /// Whether variables are set before it.
    pub sets: bool,
}

/// The commands in `command`. Of wrapped ones, such as `env rm x`, both the wrapper and the wrapped are listed.
pub fn members(command: &str) -> Members {
    let mut members = Members { exact: false, members: Vec::new() };
    if let Ok(script) = parse(command) {
        members.exact = true;
        for simple in script.pipelines.iter().flat_map(|pipeline| &pipeline.commands) {
            let words = simple.words.iter().map(Word::unmatched).collect();
            members.members.push(Member { words, sets: !simple.assignments.is_empty() });
        }
    } else {
        let rough = scan(command).into_iter().map(|rough| Member { words: rough.words, sets: false });
        members.members.extend(rough);
    }
    members
}

impl Member {
    /// Whether the command begins with these words. `wrapped` also looks for it behind programs that run others, and
    /// takes a program in any directory for the one that is meant.
    pub fn starts_with(&self, start: &[String], wrapped: bool) -> bool {
        if !wrapped {
            return self.words.starts_with(start);
        }
        begun(&self.words).any(|words| {
            let same = |(at, (word, wanted)): (usize, (&String, &String))| {
                word == wanted || (at == 0 && name(word) == wanted)
            };
            words.len() >= start.len() && words.iter().zip(start).enumerate().all(same)
        })
    }
}
