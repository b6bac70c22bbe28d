//! The verdict on a command.

use crate::budget::Budget;
use crate::delicate::{self, Delicate};
use crate::destructive;
use crate::ground::Ground;
use crate::mark::{self, Mark};
use crate::members::members;
use crate::plan::{Late, Plan, Process};
use crate::planner::Planner;
use crate::scene::Scene;
use crate::search::Search;
use crate::syntax;

/// Says what a shell command may do.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    search: Search,
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
    /// Of a command that is not safe: the files in it that hold secrets, or that other programs run. A yes to commands in
    /// general was hardly meant for these.
    pub delicate: Vec<Delicate>,
    /// Whether all of it was looked at for what is refused. What is too long, too deep or in too many pieces is not.
    pub whole: bool,
}

impl Judge {
    /// Judges `command` as it would run on `ground`. It runs nothing, and its time is bounded.
    pub fn judge(&self, command: &str, ground: &Ground) -> Judgement {
        let mut planner = Planner::new(&self.search);
        let script = syntax::parse(command).map_err(|unclear| vec![unclear.into()]);
        let plan = script.and_then(|script| planner.script(&script, &mut Scene::on(ground.clone())));
        let harmless = planner.harmless;
        let reasons = match plan {
            Ok(plan) => {
                let reasons = vec!["it only reads, inside of the working directory".to_owned()];
                let delicate = Vec::new();
                return Judgement {
                    verdict: Verdict::Safe,
                    reasons,
                    plan: Some(plan),
                    harmless,
                    delicate,
                    whole: true,
                };
            }
            Err(reasons) => reasons,
        };
        let delicate = delicate::find(&members(command), &reasons, ground);
        let mut budget = Budget::new();
        let danger = destructive::find(command, ground, &mut budget);
        let whole = budget.is_whole();
        if let Some(danger) = danger {
            return Judgement {
                verdict: Verdict::Refuse,
                reasons: vec![danger.to_string()],
                plan: None,
                harmless,
                delicate,
                whole,
            };
        }
        let mut words: Vec<String> = Vec::new();
        for reason in reasons {
            let reason = mark::shown(&reason.to_string());
            if !words.contains(&reason) {
                words.push(reason);
            }
        }
        if !whole {
            words.push("there is more to it than is looked through for what is never run".to_owned());
        }
        Judgement { verdict: Verdict::Ask, reasons: words, plan: None, harmless, delicate, whole }
    }

    /// Where it looks for programs.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// How a program that is known here is started so that it does no more than it is told: from where, in which
    /// environment, and with the options that hold it back. Further arguments are the caller's, who answers for them, and
    /// for what a repository's configuration says. `None` where the program is unknown, or not where it is trusted.
    pub fn held(&self, name: &str, ground: &Ground) -> Option<Process> {
        Planner::new(&self.search).held(name, ground)
    }
}

/// Why a command does not run with the values that came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not run without a question: {0}")]
pub struct Unsettled(String);

impl Late {
    /// What is run once the values are known, behind a command that ended with this status. It is judged like any other.
    pub fn settle(&self, judge: &Judge, values: &[String], status: u8) -> Result<Plan, Unsettled> {
        let unsettled = |reasons: Vec<_>| {
            let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
            Unsettled(reasons.join("; "))
        };
        if values.iter().any(|value| Mark::within(value).is_some() || value.contains('\0')) {
            return Err(Unsettled("a value holds characters that no command has".to_owned()));
        }
        Planner::at(&judge.search, 1).late(self, values, &status.to_string()).map_err(unsettled)
    }
}
