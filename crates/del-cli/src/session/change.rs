//! What can be set otherwise in the middle of a conversation.

use anyhow::Result;
use del_agent::{Constrain, Settings};

use super::delegate;
use super::{Session, agent, chosen, unusable, words};
use crate::hands::Hands;
use crate::instructions::{self, Memory};
use crate::prompts;

impl Session {
    /// Lets the model keep a plan.
    pub(crate) fn let_plan(&mut self) -> Result<()> {
        if self.settings.constrain == Constrain::On {
            return Ok(());
        }
        self.hands.let_plan();
        self.configure(Settings { tools: self.hands.tools().to_vec(), ..self.settings.clone() })
    }

    /// Lets the model read the skills that there are, and give tasks to sub-agents.
    pub(super) fn let_help(&mut self) -> Result<()> {
        if self.settings.constrain == Constrain::On {
            return Ok(());
        }
        self.hands.let_skills(&self.options.prompts);
        if self.options.workplace.wants(delegate::NAME) {
            self.hands.let_delegate(delegate::tool());
        }
        let tools = self.hands.tools().to_vec();
        let system = instructions(&self.hands, &self.memory, self.settings.constrain, &self.added);
        self.configure(Settings { tools, system, ..self.settings.clone() })
    }

    /// Takes another model for what follows.
    pub(crate) fn take_model(&mut self, name: &str) -> Result<()> {
        // How much the new one takes is asked once it has answered.
        self.asked_context = self.server.llama_cpp;
        let context = self.settings.context.filter(|_| self.server.llama_cpp);
        let mut settings = Settings { model: name.to_owned(), context, ..self.settings.clone() };
        settings.words =
            words(&self.options, &settings, &self.server, self.catalog, &self.common, &self.runtime)?;
        self.configure(settings)
    }

    /// Writes and reads calls in another dialect from now on, or in whichever it is.
    pub(crate) fn take_dialect(&mut self, name: &str) -> Result<()> {
        let dialect = chosen(Some(name), None, self.catalog)?;
        self.configure(Settings { dialect, ..self.settings.clone() })
    }

    /// Adds to what the model is told first, in place of what was added before.
    pub(crate) fn add_instructions(&mut self, text: &str) -> Result<()> {
        text.clone_into(&mut self.added);
        let system = instructions(&self.hands, &self.memory, self.settings.constrain, text);
        self.configure(Settings { system, ..self.settings.clone() })
    }

    /// Reads what the project wants models to know once more.
    pub(crate) fn remember(&mut self) -> Result<()> {
        self.memory = Memory::find(self.hands.toolbox.directory());
        let added = self.added.clone();
        self.add_instructions(&added)
    }

    pub(super) fn configure(&mut self, settings: Settings) -> Result<()> {
        let fresh = agent(self.catalog, settings.clone())?;
        let now = std::mem::replace(&mut self.agent, fresh);
        self.agent = now.reconfigure(settings.clone()).map_err(|error| unusable(&error))?;
        self.revision = self.agent.revision();
        self.settings = settings;
        Ok(())
    }
}

/// What every model is told first, what the user's and the project's files say, and what the user adds.
pub(super) fn instructions(hands: &Hands, memory: &Memory, constrain: Constrain, added: &str) -> String {
    let mut text = instructions::text(hands.toolbox.directory(), constrain == Constrain::On);
    memory.add_to(&mut text);
    let skills = prompts::introduce(hands.skills());
    if !skills.is_empty() {
        text.push_str("\n\n");
        text.push_str(&skills);
    }
    if !added.is_empty() {
        text.push_str("\n\n");
        text.push_str(added);
    }
    text
}
