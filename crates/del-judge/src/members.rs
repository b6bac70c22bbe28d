//! The commands in a command, for rules of the user.

use crate::destructive::{begun, name, texts};
use crate::rough::scan;
use crate::syntax::{Redirection, Simple, Word, parse};

/// Texts within texts are looked into so far.
const MAX_DEPTH: usize = 4;
/// More commands than this are not listed.
const MAX_HIDDEN: usize = 256;

/// The commands that a text holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Members {
    /// Whether the text is understood exactly. If not, `members` is empty.
    pub exact: bool,
    /// The commands in their order.
    pub members: Vec<Member>,
    /// What a rough reading finds, also in substitutions and in texts that are handed to a shell. There may be more of
    /// them than would run, and of a text that is not exact also fewer.
    pub hidden: Vec<Member>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The program and its arguments, without quotes; wildcards stand as they are.
    pub words: Vec<String>,
    /// Whether it is only a program with its arguments: no variable is set for it, and no file is its input.
    pub plain: bool,
}

/// The commands in `command`.
pub fn members(command: &str) -> Members {
    let mut members = Members::default();
    if let Ok(script) = parse(command)
        && let Some(simple) = script.flat()
    {
        members.exact = true;
        members.members = simple.into_iter().map(member).collect();
    }
    hidden(command, &mut members.hidden, 0);
    members
}

fn member(simple: &Simple) -> Member {
    let fed = simple.redirections.iter().any(|redirection| matches!(redirection, Redirection::Input(_)));
    Member {
        words: simple.words.iter().map(Word::unmatched).collect(),
        plain: simple.assignments.is_empty() && !fed,
    }
}

fn hidden(text: &str, found: &mut Vec<Member>, depth: usize) {
    let commands = scan(text);
    for rough in &commands {
        if found.len() >= MAX_HIDDEN {
            return;
        }
        found.push(Member { words: rough.words.clone(), plain: false });
        if depth < MAX_DEPTH {
            for text in texts(rough, &commands) {
                hidden(&text, found, depth + 1);
            }
        }
    }
}

impl Members {
    /// Whether any command that is seen begins with these words, also behind programs that run others. With `whole` no
    /// word may follow.
    pub fn any(&self, start: &[String], whole: bool) -> bool {
        self.members.iter().chain(&self.hidden).any(|member| member.runs(start, whole))
    }
}

impl Member {
    /// Whether the command begins with these words. A program in another directory is another program.
    pub fn starts_with(&self, start: &[String]) -> bool {
        self.words.starts_with(start)
    }

    fn runs(&self, start: &[String], whole: bool) -> bool {
        begun(&self.words).any(|words| {
            let mut pairs = words.iter().zip(start).enumerate();
            words.len() >= start.len()
                && (!whole || words.len() == start.len())
                && pairs.all(|(at, (word, wanted))| word == wanted || (at == 0 && name(word) == wanted))
        })
    }
}
