//! Tools whose names the server's API refuses.

use std::sync::Arc;

use del_dialects::Tool;
use del_wire::{ToolChoice, ToolNames};

use super::Request;

impl Request {
    /// Gives tools other names, where the APIs of OpenAI and Anthropic refuse theirs.
    pub(crate) fn rename_tools(&mut self) {
        let Some(Ok(asked)) = self.asked.get_mut() else { return };
        let names = ToolNames::of(&asked.body);
        if names.is_empty() {
            return;
        }
        names.tell(&mut asked.body);
        asked.custom = asked.custom.iter().map(|name| names.told(name).to_owned()).collect();
        if let Ok(tools) = &mut self.tools {
            let told = |tool: &Tool| Tool { name: names.told(&tool.name).to_owned(), ..tool.clone() };
            *tools = tools.iter().map(told).collect();
        }
        if let Some(ToolChoice::Named(name)) = &mut self.facts.choice {
            *name = names.told(name).to_owned();
        }
        self.bytes = None;
        self.names = Arc::new(names);
    }

    /// The tools that the server knows by other names than the client.
    pub(crate) fn names_of_tools(&self) -> Arc<ToolNames> {
        Arc::clone(&self.names)
    }
}
