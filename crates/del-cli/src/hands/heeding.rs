//! Calls, and the hooks that are told of them before and after.

use del_dialects::Call;
use del_tools::{Advice, Cancel, Code, Failure, Plan, ToolResult};
use serde_json::json;

use super::Hands;
use crate::hooks::{Decision, Said};
use crate::onlooker::Onlooker;

impl Hands {
    /// Tells the hooks of a call that is about to be decided on. What they make of it, and what the model is told of that.
    pub(super) fn heed(
        &mut self,
        mut plan: Plan,
        call: &Call,
        cancel: &Cancel,
        watch: &mut dyn Onlooker,
    ) -> Result<(Plan, Vec<String>), Failure> {
        if self.hooks.all.is_empty() {
            return Ok((plan, Vec::new()));
        }
        let calls = self.toolbox.spelt_out(&call.name, &call.arguments);
        let said = self.hooks.tell_of_call(&calls, None, self.gate.approval(), cancel, watch);
        let Said { decision, context, input, stop } = said;
        let denied =
            |why: &str| Failure::new(Code::Denied, format!("a hook of the user denied this call: {why}."));
        if let Some(why) = stop {
            self.stopped.get_or_insert_with(|| why.clone());
            return Err(denied(&why));
        }
        let mut notes: Vec<String> = context.iter().map(|text| format!("[a hook adds: {text}]")).collect();
        if let Some(input) = input {
            plan = self.gate.plan(&self.toolbox, &call.name, &input.to_string())?;
            notes.push(format!("[a hook changed the arguments before the call ran: {input}]"));
        }
        match decision {
            Decision::None => {}
            Decision::Allow => plan.take_advice(Advice::Yes),
            Decision::Ask(why) => plan.take_advice(Advice::Ask(why)),
            Decision::Deny(why) => return Err(denied(why.trim_end_matches('.'))),
        }
        Ok((plan, notes))
    }

    /// Tells the hooks of a task for a sub-agent, which they may forbid, as may who lets only some tools be called.
    pub(crate) fn heed_task(
        &mut self,
        call: &Call,
        cancel: &Cancel,
        watch: &mut dyn Onlooker,
    ) -> Result<(), Failure> {
        self.narrow(call)?;
        let calls = self.toolbox.spelt_out(&call.name, &call.arguments);
        let said = self.hooks.tell_of_call(&calls, None, self.gate.approval(), cancel, watch);
        let why = match (said.stop, said.decision) {
            (Some(why), _) => {
                self.stopped.get_or_insert_with(|| why.clone());
                why
            }
            (None, Decision::Deny(why) | Decision::Ask(why)) => why,
            (None, Decision::None | Decision::Allow) => return Ok(()),
        };
        Err(Failure::new(Code::Denied, format!("a hook of the user denied this task: {why}.")))
    }

    /// Tells the hooks of a call that was run, and the model what they say.
    pub(crate) fn report(
        &mut self,
        call: &Call,
        result: &mut ToolResult,
        cancel: &Cancel,
        watch: &mut dyn Onlooker,
    ) {
        if self.hooks.all.is_empty() {
            return;
        }
        let calls = self.toolbox.spelt_out(&call.name, &call.arguments);
        let response = json!({"ok": result.ok, "text": result.text});
        let said = self.hooks.tell_of_call(&calls, Some(&response), self.gate.approval(), cancel, watch);
        if let Decision::Deny(why) = &said.decision {
            result.note(&format!("[a hook objects: {why}]"));
        }
        for text in &said.context {
            result.note(&format!("[a hook adds: {text}]"));
        }
        if let Some(why) = said.stop {
            self.stopped.get_or_insert(why);
        }
    }

    /// Whether a hook wants nothing more to be done.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Why nothing more is to be done, if a hook wants that; once.
    pub(crate) fn take_stop(&mut self) -> Option<String> {
        self.stopped.take()
    }
}
