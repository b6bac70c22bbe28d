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
    /// Files that a rough reading finds outputs to go to.
    pub outputs: Vec<String>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The program and its arguments, without quotes; wildcards stand as they are.
    pub words: Vec<String>,
    /// Whether it is only a program with its arguments: no variable is set for it, and no file is its input or output.
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
    hidden(command, &mut members, 0);
    members
}

fn member(simple: &Simple) -> Member {
    let is_file =
        |redirection: &Redirection| matches!(redirection, Redirection::Input(_) | Redirection::Write(_));
    Member {
        words: simple.words.iter().map(Word::unmatched).collect(),
        plain: simple.assignments.is_empty() && !simple.redirections.iter().any(is_file),
    }
}

fn hidden(text: &str, found: &mut Members, depth: usize) {
    let commands = scan(text);
    for rough in &commands {
        if found.hidden.len() >= MAX_HIDDEN {
            return;
        }
        found.outputs.extend(rough.outputs.iter().cloned());
        found.hidden.push(Member { words: rough.words.clone(), plain: false });
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

    /// Whether a word is this, or ends with it.
    pub fn says(&self, word: &str) -> bool {
        self.says_behind(0, word)
    }

    /// The same behind the first words.
    pub fn says_behind(&self, start: usize, word: &str) -> bool {
        self.words.iter().skip(start).any(|own| own.ends_with(word))
    }

    fn runs(&self, start: &[String], whole: bool) -> bool {
        let Some((program, wanted)) = start.split_first() else { return true };
        begun(&self.words).any(|words| {
            let before = &self.words[..self.words.len() - words.len()];
            let Some((called, words)) = words.split_first() else { return false };
            let called = called == program || name(called) == program;
            called
                && if whole {
                    words == wanted
                } else {
                    begins(words, wanted, before.iter().any(|word| adds(word)))
                }
        })
    }
}

/// Whether arguments begin with these words, whatever options stand before and between them. Where more words may follow
/// that nobody knows, they are taken for the rest.
fn begins(mut words: &[String], wanted: &[String], more: bool) -> bool {
    for wanted in wanted {
        loop {
            let Some((word, rest)) = words.split_first() else { return more };
            words = rest;
            if word == wanted {
                break;
            }
            if !word.starts_with('-') {
                return false;
            }
            // It may have its value in the next word.
            if let [value, rest @ ..] = words
                && value != wanted
                && !value.starts_with('-')
            {
                words = rest;
            }
        }
    }
    true
}

/// Whether a program adds words to the command that it runs.
fn adds(word: &str) -> bool {
    matches!(name(word), "xargs" | "parallel")
}
