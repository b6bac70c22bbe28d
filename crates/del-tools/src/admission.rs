//! From a call to one that may run: what the gate does with the tools at hand.

use crate::outcome::Failure;
use crate::plan::Plan;
use crate::policy::{Answer, Consent, Gate, Verdict, denied};
use crate::toolbox::Toolbox;

impl Gate {
    /// Plans a call, unless it is denied whatever it comes to: then nothing is read or run for it.
    pub fn plan(&self, toolbox: &Toolbox, name: &str, arguments: &str) -> Result<Plan, Failure> {
        self.admit(toolbox, name, arguments)?;
        toolbox.plan(name, arguments)
    }

    /// Fails for a call that is denied whatever it comes to, by its arguments alone.
    pub fn admit(&self, toolbox: &Toolbox, name: &str, arguments: &str) -> Result<(), Failure> {
        toolbox.outlines(name, arguments).iter().find_map(|outline| self.refuses(outline)).map_or(Ok(()), Err)
    }

    /// Passes `plan` as [`Gate::pass`] does, and lets the user change it first. What comes back is what may run.
    pub fn settle(
        &mut self,
        toolbox: &Toolbox,
        plan: Plan,
        mut consent: Option<&mut dyn Consent>,
    ) -> Result<Plan, Failure> {
        let (mut plan, mut revised) = (plan, false);
        loop {
            match self.verdict(&plan) {
                // What was changed is shown before it runs, whatever the rules say.
                Verdict::Run if !revised => return Ok(plan),
                Verdict::Deny(failure) => return Err(failure),
                _ => {}
            }
            let Some(consent) = consent.as_deref_mut() else { return self.pass(&plan, None).map(|()| plan) };
            match consent.ask(plan.question()) {
                Answer::Edit(text) => match toolbox.revise(&plan, &text) {
                    Ok(next) => match self.verdict(&next) {
                        Verdict::Deny(failure) => consent.object(&failure),
                        _ => (plan, revised) = (next, true),
                    },
                    Err(failure) => consent.object(&failure),
                },
                Answer::Network => {
                    plan.lend_network();
                    revised = true;
                }
                Answer::Allow(rules) => {
                    for rule in rules {
                        self.allow(rule);
                    }
                    if self.covers(&plan) {
                        return Ok(plan);
                    }
                    consent.object(&denied("the rule is taken, but it does not cover this call."));
                }
                answer => return self.take(&plan, answer).map(|()| plan),
            }
        }
    }
}
