//! What may run: every decision between a planned call and its doing is made here.

mod answer;
mod coverage;
mod ways;

use std::collections::HashSet;

use del_judge::{Ground, Judgement, Member, Members, members};
use globset::GlobMatcher;

use crate::class::Class;
use crate::outcome::{Code, Failure};
use crate::outline::Outline;
use crate::plan::{Advice, Grant, Plan};
use crate::question::{Part, Question, Subject};
use crate::rule::Rule;
use crate::sandbox::Level;
use crate::withheld;

pub use answer::{Answer, Consent, Permission};

/// How much is done without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approval {
    /// Everything but reading asks.
    #[default]
    Ask,
    /// Writing in the workspace does not ask, except for files that run or hold secrets.
    AutoEdit,
    /// Nothing asks.
    Yolo,
    /// Nothing but reading is done.
    Plan,
}

/// What the policy says to a planned call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Run,
    /// It may run if the user says yes.
    Ask,
    /// It may not run; the failure is for the model.
    Deny(Failure),
}

/// Decides which planned calls run, and remembers what the user allowed for the session.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    approval: Approval,
    allowed: Vec<Rule>,
    denied: Vec<Rule>,
    granted: HashSet<Grant>,
    /// Where something may be sent for the rest of the session.
    reached: HashSet<String>,
}

impl Gate {
    /// A gate without rules or grants.
    pub fn new(approval: Approval) -> Self {
        Self { approval, ..Self::default() }
    }

    /// Lets calls that match `rule` run without asking.
    pub fn allow(&mut self, rule: Rule) {
        self.allowed.push(rule);
    }

    /// Never lets calls that match `rule` run. Denial wins over everything else.
    pub fn deny(&mut self, rule: Rule) {
        self.denied.push(rule);
    }

    /// The same place, where commands may not look at what a rule denies to be read without a question.
    pub fn kept_from(&self, ground: Ground) -> Ground {
        withheld::kept_from(ground, &self.withheld())
    }

    /// Patterns of the paths that no tool may read.
    pub(crate) fn withheld(&self) -> Vec<GlobMatcher> {
        self.denied.iter().filter_map(Rule::withheld).cloned().collect()
    }

    /// What runs without asking beyond what the mode says: rules, calls and destinations.
    pub fn permissions(&self) -> Vec<Permission> {
        let mut calls: Vec<Permission> = self.granted.iter().cloned().map(Permission::Call).collect();
        calls.extend(self.reached.iter().cloned().map(Permission::Destination));
        calls.sort_by_key(ToString::to_string);
        self.allowed.iter().cloned().map(Permission::Rule).chain(calls).collect()
    }

    /// Asks again about what this allowed.
    pub fn take_back(&mut self, permission: &Permission) {
        match permission {
            Permission::Rule(rule) => self.allowed.retain(|other| other != rule),
            Permission::Call(grant) => drop(self.granted.remove(grant)),
            Permission::Destination(to) => drop(self.reached.remove(to)),
        }
    }

    /// How much is done without asking.
    pub fn approval(&self) -> Approval {
        self.approval
    }

    /// Changes how much is done without asking. Grants of the session stay.
    pub fn set_approval(&mut self, approval: Approval) {
        self.approval = approval;
    }

    /// What the policy says to `plan`, without asking anybody.
    pub fn verdict(&self, plan: &Plan) -> Verdict {
        let granted = self.granted.contains(plan.grant());
        match self.decide(plan.question(), plan.class(), granted) {
            Verdict::Run if plan.is_doubtful() && !granted => Verdict::Ask,
            Verdict::Run if matches!(plan.advice(), Advice::Ask(_)) => Verdict::Ask,
            Verdict::Ask if *plan.advice() == Advice::Yes && plan.is_plain() => Verdict::Run,
            verdict => verdict,
        }
    }

    /// Whether the mode and the rules let `plan` run, whatever is doubtful about it.
    pub(crate) fn covers(&self, plan: &Plan) -> bool {
        self.decide(plan.question(), plan.class(), false) == Verdict::Run
    }

    fn decide(&self, question: &Question, class: Class, granted: bool) -> Verdict {
        match &question.subject {
            Subject::Command { command, judgement, .. } => {
                let cautioned = !question.cautions.is_empty();
                return self.command(&question.tool, command, judgement, granted, cautioned);
            }
            Subject::Several { parts } => return self.all(question, parts, granted),
            _ => {}
        }
        if let Some(rule) = self.denied.iter().find(|rule| rule.covers(question)) {
            return Verdict::Deny(forbidden(rule));
        }
        if class == Class::Read {
            return Verdict::Run;
        }
        if self.approval == Approval::Plan {
            return Verdict::Deny(only_reading(&question.tool));
        }
        let unasked = match self.approval {
            Approval::Yolo => true,
            Approval::AutoEdit => class == Class::Write && question.cautions.is_empty(),
            Approval::Ask | Approval::Plan => false,
        };
        let allowed = self.allowed.iter().any(|rule| rule.allows(question)) || self.has_reached(question);
        if unasked || allowed || granted { Verdict::Run } else { Verdict::Ask }
    }

    /// Why a call is denied of which no more than this is known, if that is enough to deny it.
    pub(crate) fn refuses(&self, outline: &Outline) -> Option<Failure> {
        let Outline { tool, least, paths, shows } = outline;
        let covers =
            |rule: &Rule, path: &str| rule.matches_path(tool, path) || (*shows && rule.forbids_reading(path));
        let meant = |rule: &&Rule| rule.is_for_all(tool) || paths.iter().any(|path| covers(rule, path));
        if let Some(rule) = self.denied.iter().find(meant) {
            return Some(forbidden(rule));
        }
        (self.approval == Approval::Plan && *least > Class::Read).then(|| only_reading(tool))
    }

    /// What the policy says to several things at once: what is denied to one of them is denied to all, and each has to
    /// be allowed by itself.
    fn all(&self, question: &Question, parts: &[Part], granted: bool) -> Verdict {
        if let Some(rule) = self.denied.iter().find(|rule| rule.is_for_all(&question.tool)) {
            return Verdict::Deny(forbidden(rule));
        }
        let mut verdict = Verdict::Run;
        for part in parts {
            match self.decide(&part.question, part.class, granted) {
                Verdict::Run => {}
                Verdict::Ask => verdict = Verdict::Ask,
                Verdict::Deny(failure) => return Verdict::Deny(failure),
            }
        }
        verdict
    }

    /// Whether the user has let something be sent there in this session.
    fn has_reached(&self, question: &Question) -> bool {
        destination(question).is_some_and(|to| self.reached.contains(to))
    }

    /// What the policy says to a shell command that was judged so, where commands are confined so far.
    pub fn command_verdict(&self, command: &str, judgement: &Judgement, level: Level) -> Verdict {
        self.command("run_command", command, judgement, false, level == Level::None)
    }

    fn command(
        &self,
        tool: &str,
        command: &str,
        judgement: &Judgement,
        granted: bool,
        cautioned: bool,
    ) -> Verdict {
        let members = members(command);
        if let Some(rule) = self.denied.iter().find(|rule| rule.forbids(tool, command, &members)) {
            return Verdict::Deny(forbidden(rule));
        }
        let refused = judgement.verdict == del_judge::Verdict::Refuse;
        let named = self.names(tool, command, &members, judgement, refused);
        if refused && !named {
            let reasons = judgement.reasons.join("; ");
            return Verdict::Deny(denied(format!(
                "this command is never run: it {reasons}. Find another way, or ask the user to run it."
            )));
        }
        let safe = judgement.verdict == del_judge::Verdict::Safe;
        if safe && !cautioned {
            return Verdict::Run;
        }
        if self.approval == Approval::Plan && !safe {
            return Verdict::Deny(only_reading(tool));
        }
        if granted {
            return Verdict::Run;
        }
        // A rule for all commands was hardly meant for those on files that run later or hold secrets.
        let plain = judgement.delicate.is_empty();
        let unasked = self.approval == Approval::Yolo
            || (plain && self.allowed.iter().any(|rule| rule.is_for_all(tool)));
        // Whether a denying rule means a text that is not understood, nobody can tell, nor whether what was not looked at
        // is to be refused.
        let understood = members.exact && members.whole;
        let unclear = !judgement.whole || (!understood && self.denied.iter().any(|rule| rule.is_about(tool)));
        if named || (unasked && !unclear) { Verdict::Run } else { Verdict::Ask }
    }

    /// Whether rules allow a command: as it stands, or each of the commands in it that is not safe by itself.
    fn names(
        &self,
        tool: &str,
        command: &str,
        members: &Members,
        judgement: &Judgement,
        refused: bool,
    ) -> bool {
        let delicate: Vec<&str> = judgement.delicate.iter().map(|file| file.word.as_str()).collect();
        let allows = |member: &Member| {
            self.allowed.iter().any(|rule| rule.allows_member(tool, member, refused, &delicate))
        };
        // Only a rule for the text as it stands vouches for a file that it names where its commands do not.
        let shown = |file: &&str| members.members.iter().any(|member| member.says(file));
        let harmless = judgement.harmless.iter().copied().chain(std::iter::repeat(false));
        self.allowed.iter().any(|rule| rule.names(tool, command))
            || (members.exact
                && delicate.iter().all(shown)
                && members.members.iter().any(allows)
                && members.members.iter().zip(harmless).all(|(member, harmless)| harmless || allows(member)))
    }

    /// Passes `plan`, asking `consent` if the policy says so. Without anybody to ask, what needs asking is denied.
    pub fn pass(&mut self, plan: &Plan, consent: Option<&mut dyn Consent>) -> Result<(), Failure> {
        match self.verdict(plan) {
            Verdict::Run => return Ok(()),
            Verdict::Deny(failure) => return Err(failure),
            Verdict::Ask => {}
        }
        let Some(consent) = consent else {
            if plan.is_doubtful() {
                return Err(denied(format!(
                    "the arguments of this call may not be what was meant: {}. Write the call again, whole.",
                    plan.question().cautions.join("; ")
                )));
            }
            if let Advice::Ask(why) = plan.advice() {
                return Err(denied(format!("the user has to be asked, and nobody is there: {why}.")));
            }
            let why = plan.question().needs_approval();
            return Err(denied(format!("{why}; {}", self.way_out(plan))));
        };
        let answer = consent.ask(plan.question());
        self.take(plan, answer)
    }

    /// Does what an answer says to the question of `plan`.
    pub fn take(&mut self, plan: &Plan, answer: Answer) -> Result<(), Failure> {
        match answer {
            Answer::Yes => {
                self.reached.extend(destination(plan.question()).map(str::to_owned));
                Ok(())
            }
            Answer::Always => {
                self.granted.insert(plan.grant().clone());
                self.reached.extend(destination(plan.question()).map(str::to_owned));
                Ok(())
            }
            Answer::Allow(rules) => {
                self.allowed.extend(rules);
                if self.covers(plan) {
                    return Ok(());
                }
                Err(denied("the user allowed other calls than this one."))
            }
            Answer::Edit(_) | Answer::Network => Err(denied("the user wants this done otherwise; ask how.")),
            Answer::No { reason: Some(reason) } if !reason.trim().is_empty() => {
                Err(denied(format!("the user said no: {}", reason.trim())))
            }
            Answer::No { .. } => {
                Err(denied("the user said no. Do not try this again; ask what to do instead."))
            }
        }
    }
}

/// Where a call sends something.
fn destination(question: &Question) -> Option<&str> {
    match &question.subject {
        Subject::Network { to, .. } => Some(to),
        _ => None,
    }
}

fn forbidden(rule: &Rule) -> Failure {
    denied(format!("the rule '{rule}' forbids this call."))
}

fn only_reading(tool: &str) -> Failure {
    denied(format!("only reading is allowed in plan mode; {tool} was not run."))
}

pub(crate) fn denied(cause: impl Into<String>) -> Failure {
    Failure::new(Code::Denied, cause)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn where_nothing_keeps_commands_from_writing_safe_ones_ask_too() {
        let judge = del_judge::Judge::default();
        let judgement = judge.judge("pwd", &Ground::new(Path::new(".")));
        let gate = Gate::new(Approval::Ask);
        assert_eq!(gate.command_verdict("pwd", &judgement, Level::Full), Verdict::Run);
        assert_eq!(gate.command_verdict("pwd", &judgement, Level::None), Verdict::Ask);
        assert_eq!(gate.command_verdict("pwd", &judgement, Level::Off), Verdict::Run, "the user wants it so");
    }

    #[test]
    fn what_is_not_looked_through_asks_even_where_nothing_does() {
        let judge = del_judge::Judge::default();
        let ground = Ground::new(Path::new("/nonexistent"));
        let many = format!("{}sh -c 'make x'", "sh -c true; ".repeat(300));
        let verdict = |gate: &Gate, command: &str| {
            gate.command_verdict(command, &judge.judge(command, &ground), Level::Full)
        };
        let mut gate = Gate::new(Approval::Yolo);
        assert_eq!(verdict(&gate, &many), Verdict::Ask);
        assert_eq!(verdict(&gate, "make x"), Verdict::Run);
        gate.deny(Rule::parse("run_command(git push:*)").unwrap());
        assert_eq!(verdict(&gate, "/usr/bin/gi? push"), Verdict::Ask);
        assert_eq!(verdict(&gate, "make x"), Verdict::Run);
    }
}
