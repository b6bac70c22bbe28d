//! The commands in a command, for rules of the user.

use crate::budget::Budget;
use crate::planner::prefix::prefixes;
use crate::planner::process::is_harmless;
use crate::syntax::{Redirection, Simple, Word, parse};
use crate::within::{begun, name, texts};

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
    /// Whether the rough reading has left nothing out.
    pub whole: bool,
    /// Files that a rough reading finds outputs to go to.
    pub outputs: Vec<String>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The program and its arguments, without quotes; wildcards stand as they are.
    pub words: Vec<String>,
    /// So many words at its beginning run the rest and change nothing of it: `timeout 60`.
    pub prefix: usize,
    /// Whether it is only a program with its arguments: no variable is set for it but such as change only how things look,
    /// and no file is its input or output.
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
    let mut budget = Budget::new();
    hidden(command, &mut members, 0, &mut budget);
    members.whole = budget.is_whole();
    members
}

fn member(simple: &Simple) -> Member {
    let is_file =
        |redirection: &Redirection| matches!(redirection, Redirection::Input(_) | Redirection::Write(_));
    let words: Vec<String> = simple.words.iter().map(Word::unmatched).collect();
    let literal: Vec<&str> = simple.words.iter().map_while(Word::literal).collect();
    let prefix = prefixes(&literal);
    Member {
        words,
        prefix,
        plain: simple.assignments.iter().all(is_harmless) && !simple.redirections.iter().any(is_file),
    }
}

fn hidden(text: &str, found: &mut Members, depth: usize, budget: &mut Budget) {
    let commands = budget.scan(text, depth);
    for rough in &commands {
        if found.hidden.len() >= MAX_HIDDEN {
            budget.cut();
            return;
        }
        found.outputs.extend(rough.outputs.iter().cloned());
        found.hidden.push(Member { words: rough.words.clone(), prefix: 0, plain: false });
        for text in texts(rough, &commands, budget) {
            hidden(&text, found, depth + 1, budget);
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
    /// The command that does what this one does: itself, or what stands behind its prefix.
    #[must_use]
    pub fn inner(&self) -> Self {
        let words = self.words.get(self.prefix..).unwrap_or_default().to_vec();
        Self { words, prefix: 0, plain: self.plain }
    }

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
        begun(&self.words, &mut Budget::new()).into_iter().any(|words| {
            let before = &self.words[..self.words.len() - words.len()];
            let Some((called, words)) = words.split_first() else { return false };
            let called = called == program || name(called) == program;
            called && if whole { words == wanted } else { begins(words, wanted, Later::of(before)) }
        })
    }
}

/// Whether arguments begin with these words, whatever options stand before and between them. Where words may come that
/// nobody knows, they are taken for these.
fn begins(mut words: &[String], wanted: &[String], later: Option<Later<'_>>) -> bool {
    let comes =
        |word: &String| later.is_some_and(|later| later.stand_in.is_some_and(|sign| word.contains(sign)));
    for wanted in wanted {
        loop {
            let Some((word, rest)) = words.split_first() else { return later.is_some() };
            words = rest;
            if word == wanted || comes(word) {
                break;
            }
            if !word.starts_with('-') {
                return false;
            }
            // It may have its value in the next word.
            if let [value, rest @ ..] = words
                && value != wanted
                && !value.starts_with('-')
                && !comes(value)
            {
                words = rest;
            }
        }
    }
    true
}

/// Words that a program adds to the command that it runs.
#[derive(Clone, Copy)]
struct Later<'a> {
    /// They stand where this does, else at the end.
    stand_in: Option<&'a str>,
}

impl<'a> Later<'a> {
    /// Those that the words before a command say to come.
    fn of(before: &'a [String]) -> Option<Self> {
        let adds = |word: &String| matches!(name(word), "xargs" | "parallel");
        let options = &before[before.iter().position(adds)? + 1..];
        let short = |(at, word): (usize, &'a String)| match word.strip_prefix("-I")? {
            "" => options.get(at + 1).map(String::as_str),
            attached => Some(attached),
        };
        let long = |word: &'a String| word.strip_prefix("--replace=");
        let named = options.iter().enumerate().find_map(short).or_else(|| options.iter().find_map(long));
        let default = options.iter().any(|word| matches!(word.as_str(), "-i" | "--replace")).then_some("{}");
        let parallel = before.iter().any(|word| name(word) == "parallel").then_some("{");
        Some(Self { stand_in: named.or(default).or(parallel).filter(|sign| !sign.is_empty()) })
    }
}
