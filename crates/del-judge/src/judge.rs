//! The verdict on a command.

use std::path::PathBuf;

use crate::arguments::Unknown;
use crate::destructive;
use crate::ground::{Forbidden, Ground};
use crate::plan::{Plan, Process};
use crate::planner::{Planner, Scene};
use crate::repository::Untrusted;
use crate::search::Search;
use crate::syntax::{self, Unclear};
use crate::wildcard::Unexpanded;

/// Says what a shell command may do.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    pub(crate) search: Search,
}

/// What is to happen with a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It only reads, inside of the working directory.
    Safe,
    /// Nobody knows: a person has to say yes.
    Ask,
    /// It destroys what cannot be brought back.
    Refuse,
}

/// A verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What is to happen.
    pub verdict: Verdict,
    /// Why, in words, for people. For a safe command, what each program does not do is left out: there is one line.
    pub reasons: Vec<String>,
    /// What a safe command runs.
    pub plan: Option<Plan>,
    /// Of each command in an exact reading, in their order: whether it is safe by itself. It ends where reading ended.
    pub harmless: Vec<bool>,
}

/// Why a command is not safe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    #[error("{0}")]
    Unclear(#[from] Unclear),
    #[error("`{0}` is not a program known to only read")]
    Program(String),
    #[error("`{name}` is only found in {place}, where programs are not looked for without a question")]
    Elsewhere { name: String, place: String },
    #[error("`{name}` would obey `{}`, which leads elsewhere or may never end", path.display())]
    Ignores { name: String, path: PathBuf },
    #[error("{program}: {unknown}")]
    Arguments { program: String, unknown: Unknown },
    #[error("`{word}` {unexpanded}")]
    Wildcard { word: String, unexpanded: Unexpanded },
    #[error("the input `{path}` {forbidden}")]
    Input { path: String, forbidden: Forbidden },
    #[error("`{0}` holds a variable whose value is not known or not plain")]
    Value(String),
    #[error("it would have more than {0} words")]
    Words(usize),
    #[error("`{0}` is more than one word, or none")]
    Divided(String),
    #[error("setting `{0}` may change what the command does")]
    Variable(String),
    #[error("`{0}` is set in a command that may run again, or not at all")]
    Unsure(String),
    #[error("git: {0}")]
    Repository(#[from] Untrusted),
    #[error("cd: `{path}` {forbidden}")]
    Directory { path: String, forbidden: Forbidden },
    #[error("cd: which directory the rest would run in depends on what happens")]
    Perhaps,
    #[error("cd: only `cd DIRECTORY` by itself is understood")]
    Form,
    #[error("`{0}` is the program's whole name, or else something else would run")]
    Path(String),
    #[error("`{0}` is none of the programs whose output is put into words")]
    Answer(String),
    #[error("it would run more than {0} programs")]
    Many(usize),
    #[error("{0}: only plain options, and a command whose words are known, are understood")]
    Wrapper(&'static str),
}

impl Judge {
    /// Judges `command` as it would run on `ground`. It runs nothing, and its time is bounded.
    pub fn judge(&self, command: &str, ground: &Ground) -> Judgement {
        let mut planner = Planner::new(self);
        let script = syntax::parse(command).map_err(|unclear| vec![unclear.into()]);
        let plan = script.and_then(|script| planner.script(&script, &mut Scene::on(ground.clone())));
        let harmless = planner.harmless;
        let reasons = match plan {
            Ok(plan) => {
                let reasons = vec!["it only reads, inside of the working directory".to_owned()];
                return Judgement { verdict: Verdict::Safe, reasons, plan: Some(plan), harmless };
            }
            Err(reasons) => reasons,
        };
        if let Some(danger) = destructive::find(command, ground) {
            return Judgement {
                verdict: Verdict::Refuse,
                reasons: vec![danger.to_string()],
                plan: None,
                harmless,
            };
        }
        let mut words: Vec<String> = Vec::new();
        for reason in reasons {
            let reason = crate::mark::shown(&reason.to_string());
            if !words.contains(&reason) {
                words.push(reason);
            }
        }
        Judgement { verdict: Verdict::Ask, reasons: words, plan: None, harmless }
    }

    /// Where it looks for programs.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// How a program that is known here is started so that it does no more than it is told: from where, in which
    /// environment, and with the options that hold it back. Further arguments are the caller's, who answers for them, and
    /// for what a repository's configuration says. `None` where the program is unknown, or not where it is trusted.
    pub fn held(&self, name: &str, ground: &Ground) -> Option<Process> {
        Planner::new(self).held(name, ground)
    }
}
