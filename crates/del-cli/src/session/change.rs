//! What can be set otherwise in the middle of a conversation.

use std::io;

use anyhow::Result;
use del_agent::{Constrain, Image, Settings};
use del_dialects::Tool;
use del_tools::Cancel;
use serde_json::Value;

use super::{Session, SessionOptions, agent, chosen, delegate, unusable, words};
use crate::exit::Exit;
use crate::hands::{DELEGATE, Hands};
use crate::instructions::{self, Memory};
use crate::prompts;
use crate::todo;

impl Session {
    /// Lets the model keep a plan.
    pub(crate) fn let_plan(&mut self) -> Result<()> {
        if self.settings.constrain == Constrain::On || !self.options.workplace.wants(todo::NAME) {
            return Ok(());
        }
        self.hands.let_plan();
        self.configure(Settings { tools: self.hands.tools().to_vec(), ..self.settings.clone() })
    }

    /// Lets the model read the skills that there are, and give tasks to sub-agents.
    pub(super) fn let_help(&mut self) -> Result<()> {
        if self.settings.constrain == Constrain::On || self.options.workplace.has_none() {
            return Ok(());
        }
        self.hands.let_skills(&self.options.prompts);
        self.hands.let_jobs();
        if self.options.workplace.wants(DELEGATE) {
            self.hands.let_delegate(delegate::tool());
        }
        let tools = self.hands.tools().to_vec();
        let system = instructions(&self.options, &self.hands, &self.memory, &self.added);
        self.configure(Settings { tools, system, ..self.settings.clone() })
    }

    /// Offers the tool that follows jobs when the first has begun, and says which that is.
    pub(super) fn offer_jobs(&mut self) -> Option<Tool> {
        let tool = self.hands.offer_jobs()?;
        self.settings.tools.push(tool.clone());
        self.agent.offer(tool.clone());
        Some(tool)
    }

    /// Offers what MCP servers have added, and no more what they have taken away.
    pub(super) fn follow_servers(&mut self, cancel: &Cancel) {
        if self.hands.follow_servers(&self.options.workplace, cancel) {
            self.take_tools();
        }
    }

    fn take_tools(&mut self) {
        self.settings.tools = self.hands.tools().to_vec();
        self.agent.take_tools(self.settings.tools.clone());
    }

    /// Starts an MCP server anew. False when there is none of that name that has started or failed.
    pub(crate) fn restart_server(&mut self, name: &str) -> Result<bool> {
        if !self.hands.restart_server(name) {
            return Ok(false);
        }
        self.take_tools();
        self.gather()?;
        Ok(true)
    }

    /// Takes another model for what follows.
    pub(crate) fn take_model(&mut self, name: &str) -> Result<()> {
        // How much the new one takes is asked once it has answered, where the list does not say it.
        self.asked_context = self.server.llama_cpp();
        let context = self.options.model.context(&self.server, name);
        if let Some(tokens) = context {
            self.hands.fit_context(tokens);
        }
        let mut settings = Settings { model: name.to_owned(), context, ..self.settings.clone() };
        settings.words =
            words(&self.options, &settings, &self.server, self.catalog, &self.common, &self.runtime)?;
        self.configure(settings)
    }

    /// Has the model think so much from now on.
    pub(crate) fn take_thinking(&mut self, how: &str) -> Result<()> {
        self.options.model.think(how)?;
        let extra = self.options.model.members(&self.server);
        self.configure(Settings { extra, ..self.settings.clone() })
    }

    /// Writes and reads calls in another dialect from now on, or in whichever it is.
    pub(crate) fn take_dialect(&mut self, name: &str) -> Result<()> {
        let dialect = chosen(Some(name), None, self.catalog)?;
        self.configure(Settings { dialect, ..self.settings.clone() })
    }

    /// Goes on with the conversation as another one: what was kept so far stays as it is. Its title tells the two apart.
    pub(crate) fn fork(&mut self) -> io::Result<()> {
        const FORK: &str = " (fork)";
        let title = self.record.given_title();
        self.record.begin_anew();
        self.keep();
        title.map_or(Ok(()), |title| {
            self.record.rename(&format!("{}{FORK}", title.strip_suffix(FORK).unwrap_or(&title)))
        })
    }

    /// Adds to what the model is told first, in place of what was added before.
    pub(crate) fn add_instructions(&mut self, text: &str) -> Result<()> {
        text.clone_into(&mut self.added);
        let system = instructions(&self.options, &self.hands, &self.memory, text);
        self.configure(Settings { system, ..self.settings.clone() })
    }

    /// These images go along with the next question; fails where it is known that the model sees none.
    pub(crate) fn attach(&mut self, images: Vec<Image>) -> Result<()> {
        self.show(&images)?;
        self.agent.attach(images);
        Ok(())
    }

    /// Fails where the server says that the model does not see these images.
    pub(super) fn show(&self, images: &[Image]) -> Result<()> {
        if images.is_empty() {
            return Ok(());
        }
        let Self { runtime, server, settings, .. } = self;
        if runtime.block_on(server.sees(&settings.model)) == Some(false) {
            return Err(Exit::BadInput.because(format!(
                "the model {} takes no images, as its server says; take one that does with -m or /model",
                settings.model
            )));
        }
        Ok(())
    }

    /// Has answers be JSON that fits, where the server can; no tools are offered any more. Nothing: as it was, but for the
    /// tools.
    pub(crate) fn hold_to(&mut self, response_format: Option<Value>) -> Result<()> {
        let mut settings = Settings { tools: Vec::new(), ..self.settings.clone() };
        match response_format {
            Some(format) => settings.extra.insert("response_format".to_owned(), format),
            None => settings.extra.remove("response_format"),
        };
        self.configure(settings)
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
pub(super) fn instructions(options: &SessionOptions, hands: &Hands, memory: &Memory, added: &str) -> String {
    let short = Constrain::from(options.constrain) == Constrain::On;
    let mut text = match &options.system {
        Some(own) => own.clone(),
        None if options.workplace.has_none() => instructions::WITHOUT_TOOLS.to_owned(),
        None => instructions::text(hands.toolbox.directory(), &memory.around, short),
    };
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
