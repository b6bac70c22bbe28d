//! What hooks say to questions, and to the end of them.

use del_agent::Failure;
use del_tools::Cancel;
use serde_json::json;

use super::Session;
use crate::hooks::{Decision, Said};
use crate::onlooker::{Event, Screen};

/// How often hooks can make one question go on.
const OBJECTIONS: u32 = 8;

impl Session {
    /// The question with what hooks add to it, or why it is not asked.
    pub(super) fn prompted(
        &mut self,
        question: &str,
        cancel: &Cancel,
        screen: &mut dyn Screen,
    ) -> Result<String, Failure> {
        let hooks = &mut self.hands.hooks;
        (hooks.session, hooks.transcript) = (self.record.id().to_owned(), self.record.path());
        let approval = self.hands.gate.approval();
        let mut heard = Vec::new();
        if !std::mem::replace(&mut self.begun, true) {
            let source = if self.agent.entries().is_empty() { "startup" } else { "resume" };
            let more = json!({"source": source});
            let mut said = self.hands.hooks.tell(Event::SessionStart, &more, approval, cancel, screen);
            // There is nothing that it could object to: what it says was shown.
            said.decision = Decision::None;
            heard.push(said);
        }
        let more = json!({"prompt": question});
        heard.push(self.hands.hooks.tell(Event::UserPromptSubmit, &more, approval, cancel, screen));
        // A hook that was stopped might have objected.
        if cancel.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        let mut added = Vec::new();
        for Said { decision, context, stop, .. } in heard {
            if let Some(why) = stop {
                return Err(Failure::Stopped { why: format!("a hook stopped this: {why}") });
            }
            if let Decision::Deny(why) = decision {
                let why = format!("a hook does not let this be asked: {why}");
                return Err(Failure::Stopped { why });
            }
            added.extend(context.into_iter().map(|context| format!("[A hook of the user adds]\n{context}")));
        }
        self.hands.hear_jobs();
        let told = [question.to_owned()].into_iter().chain(self.hands.take_over()).chain(added);
        Ok(told.collect::<Vec<_>>().join("\n\n"))
    }

    /// Why a question is not over yet, if a hook says so.
    pub(super) fn objection(
        &mut self,
        objections: &mut u32,
        cancel: &Cancel,
        screen: &mut dyn Screen,
    ) -> Option<String> {
        if *objections == OBJECTIONS || !self.hands.hooks.has(Event::Stop) || cancel.is_cancelled() {
            return None;
        }
        let more = json!({"stop_hook_active": *objections > 0});
        let approval = self.hands.gate.approval();
        let said = self.hands.hooks.tell(Event::Stop, &more, approval, cancel, screen);
        match said.decision {
            Decision::Deny(why) if said.stop.is_none() => {
                *objections += 1;
                Some(why)
            }
            _ => None,
        }
    }
}
