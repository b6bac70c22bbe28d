//! What a model is told of calls that did not count, with which it is asked again.

use std::hash::{BuildHasher, Hasher, RandomState};

use del_agent::Mode;
use del_agent::prompt::broken_calls;
use del_dialects::Report;
use del_wire::Ids;
use serde_json::{Map, Value};

use super::Exchange;
use crate::answer::Asking;
use crate::refusal::Refusal;

/// A model whose calls do not count is asked again so often.
const MOST_REPAIRS: u32 = 2;

impl Exchange {
    /// True where the model is asked again if nobody can read its calls, or they are of no tool of the request's.
    pub(super) fn asks_again(&self) -> bool {
        let (request, runs) = (&self.request, self.setup.settings.executor.is_some());
        let may = request.offers_tools() && !request.demands_call() && request.choices() == 1;
        may && !runs && self.repairs < MOST_REPAIRS
    }

    /// The same request, with what was wrong with the calls. Of what the model said, the client sees nothing that has not
    /// gone out.
    pub(super) fn correct(&mut self, asking: Asking, mode: Mode) -> Result<(), Refusal> {
        let told = self.correction(&asking.broken, &asking.refused, false, mode).unwrap_or_default();
        self.repairs += 1;
        self.proxy.metrics.asked_again.inc();
        self.proxy.metrics.refused.inc_by(asking.refused.len() as u64);
        self.request.again(&asking.said, asking.thoughts, &told)
    }

    /// What a model is told that made no call, which was demanded, and what was wrong with those that it tried to make.
    pub(in crate::proxy) fn demand(&self, broken: &[Report], refused: &[String], mode: Mode) -> String {
        let wrong = self.correction(broken, refused, false, mode);
        wrong.into_iter().chain([self.request.demand()]).collect::<Vec<_>>().join("\n")
    }

    /// What is wrong with calls that cannot be read, and with those of these other tools.
    pub(in crate::proxy) fn correction(
        &self,
        broken: &[Report],
        refused: &[String],
        cut: bool,
        mode: Mode,
    ) -> Option<String> {
        let tools = self.request.tools();
        let mut said = Vec::new();
        if !broken.is_empty() {
            let dialect = self.route.dialect(self.request.model());
            said.push(broken_calls(broken, cut, |name| {
                let tool = tools.iter().find(|tool| tool.name == name)?;
                match mode {
                    Mode::Prompt => dialect.skeleton(tool),
                    Mode::Native => Some(tool.placeholders()),
                }
            }));
        }
        if let Some(name) = refused.first() {
            let known: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            said.push(format!(
                "There is no tool `{name}` that you may call now. You have: {}.",
                known.join(", ")
            ));
        }
        (!said.is_empty()).then(|| said.join("\n"))
    }

    /// Ids that no other answer has, nor a call of the conversation: clients put the calls of several answers into one.
    pub(in crate::proxy) fn ids(&self) -> Ids {
        let seed = RandomState::new().build_hasher().finish();
        Ids::new(seed).beside(self.request.ids_of_calls())
    }
}

/// The text of a message.
pub(in crate::proxy) fn said_in(message: &Map<String, Value>) -> &str {
    message.get("content").and_then(Value::as_str).unwrap_or_default()
}
