//! What may be called for a while: fewer tools than there are.

use del_dialects::Call;
use del_tools::{Code, Failure, ToolResult};
use serde_json::Value;

use super::Hands;
use crate::hooks;
use crate::prompts::Prompt;

/// The only tools that may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Only {
    /// By the names that rules know.
    tools: Vec<String>,
    /// Who wants that, in words for the model.
    whose: String,
}

impl Hands {
    /// Lets only these tools be called, of those that may be called already.
    pub(crate) fn let_only(&mut self, tools: &[String], whose: &str) {
        let own = |name: &String| {
            self.toolbox.spelt_out(hooks::own_name(name), "{}").into_iter().next().map(|call| call.tool)
        };
        let mut tools: Vec<String> = tools.iter().filter_map(own).collect();
        if let Some(before) = &self.only {
            tools.retain(|tool| before.tools.contains(tool));
        }
        self.only = Some(Only { tools, whose: whose.to_owned() });
    }

    /// Lets only those tools be called that a command of the user's names, if it names any.
    pub(crate) fn let_only_those_of(&mut self, prompt: &Prompt) {
        if let Some(tools) = &prompt.tools {
            self.let_only(tools, &format!("/{}, which the user gave,", prompt.name));
        }
    }

    /// What follows is done for a task, with these tools at most. What held before is given back.
    pub(crate) fn begin_task(&mut self, tools: &[String], task: &str) -> Option<Only> {
        let before = self.only.clone();
        self.let_only(tools, "the task");
        self.task = Some(task.to_owned());
        before
    }

    /// The task is over, and what held before it holds again.
    pub(crate) fn end_task(&mut self, before: Option<Only>) {
        self.only = before;
        self.task = None;
    }

    /// Whether a call may be made now, and each that it holds.
    pub(super) fn narrow(&self, call: &Call) -> Result<(), Failure> {
        let Some(only) = &self.only else { return Ok(()) };
        let calls = self.toolbox.spelt_out(&call.name, &call.arguments);
        match calls.into_iter().find(|call| !only.tools.contains(&call.tool)) {
            None => Ok(()),
            Some(call) => {
                let names = self.called(&only.tools).join(", ");
                let called = self.called(std::slice::from_ref(&call.tool));
                let name = called.first().copied().unwrap_or(&call.tool);
                let cause = format!("{name} may not be called now: {} lets only {names} be.", only.whose);
                Err(Failure::new(Code::Denied, cause))
            }
        }
    }

    /// What the model calls these tools, which rules have names of their own for. Those that it has not are left out.
    fn called(&self, tools: &[String]) -> Vec<&str> {
        let own = |name: &str| self.toolbox.spelt_out(name, "{}").into_iter().next().map(|call| call.tool);
        let offered = self.toolbox.tools().iter().map(|tool| tool.name.as_str());
        offered.filter(|name| own(name).is_some_and(|own| tools.contains(&own))).collect()
    }

    /// What a skill says.
    pub(super) fn read_skill(&self, call: &Call) -> ToolResult {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let name = arguments["name"].as_str().unwrap_or_default().trim();
        match self.skills.iter().find(|skill| skill.name == name) {
            Some(skill) => ToolResult::success(skill.whole()),
            None => {
                let names: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
                let cause = format!("there is no skill '{name}'. Skills: {}.", names.join(", "));
                Failure::new(Code::BadType, cause).into()
            }
        }
    }
}
