//! What would let a call run that asks.

use super::{Approval, Gate, Verdict};
use crate::class::Class;
use crate::plan::Plan;
use crate::question::{Question, Subject};
use crate::rule::Rule;

impl Gate {
    /// How `plan` runs without a question that this mode asks about.
    pub(super) fn way_out(&self, plan: &Plan) -> String {
        let each: [fn(&Question) -> Vec<String>; 3] = [
            Question::rules,
            |question| vec![question.tool.clone()],
            |question| match &question.subject {
                Subject::Command { command, .. } => vec![format!("{}({command})", question.tool)],
                _ => Vec::new(),
            },
        ];
        let by_rule = each.iter().any(|rules| self.helps(&of_parts(plan.question(), *rules), plan));
        match self.modes_for(plan).as_slice() {
            // Even the mode that asks nothing asks about what a denying rule may mean.
            [] if by_rule => {
                "rerun with --allow-tool and exactly this command: a denying rule may mean a part of it"
                    .to_owned()
            }
            [] => "no option lets it run unasked".to_owned(),
            modes if by_rule => format!("rerun with --approval-mode {} or --allow-tool", modes.join("|")),
            modes => format!("rerun with --approval-mode {}", modes.join("|")),
        }
    }

    /// The other modes, by their names, that would let `plan` run without a question.
    pub fn modes_for(&self, plan: &Plan) -> Vec<&'static str> {
        let would = |approval| !plan.is_doubtful() && Self { approval, ..self.clone() }.covers(plan);
        let modes = [(Approval::AutoEdit, "auto-edit"), (Approval::Yolo, "yolo")];
        let other = modes.into_iter().filter(|(mode, _)| *mode != self.approval && would(*mode));
        other.map(|(_, name)| name).collect()
    }

    /// Whether these rules would let `plan` run.
    fn helps(&self, rules: &[String], plan: &Plan) -> bool {
        parsed(rules).is_some_and(|rules| {
            let mut gate = self.clone();
            gate.allowed.extend(rules);
            gate.covers(plan)
        })
    }

    /// Whether these rules by themselves let a call run that does more than read.
    pub(crate) fn allows_by(rules: &[String], question: &Question) -> bool {
        let gate = |allowed| Self { allowed, ..Self::default() };
        parsed(rules).is_some_and(|rules| gate(rules).decide(question, Class::Execute, false) == Verdict::Run)
    }
}

/// What `rules` gives for a question, or for each of its parts.
fn of_parts(question: &Question, rules: fn(&Question) -> Vec<String>) -> Vec<String> {
    match &question.subject {
        Subject::Several { parts } => parts.iter().flat_map(|part| of_parts(&part.question, rules)).collect(),
        _ => rules(question),
    }
}

/// The rules, if all of them can be read and there is one.
fn parsed(rules: &[String]) -> Option<Vec<Rule>> {
    let rules: Vec<Rule> = rules.iter().map(|rule| Rule::parse(rule)).collect::<Result<_, _>>().ok()?;
    (!rules.is_empty()).then_some(rules)
}
