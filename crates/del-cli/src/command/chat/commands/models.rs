//! What commands do that say which model answers, and how it is asked.

use anyhow::Result;
use del_tools::visible;

use crate::command::chat::word::Name;
use crate::command::chat::{Chat, say};
use crate::config::Config;
use crate::exit;
use crate::keeping;
use crate::project::few;

impl Chat {
    /// What may stand behind commands, as far as that is known before it is typed.
    pub(in super::super) fn words_behind(&self) -> Vec<(Name, Vec<String>)> {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let config = Config::load().ok();
        let profiles = config.iter().flat_map(Config::profiles).map(|profile| format!("@{profile}"));
        let models = self.session.server.models.iter().cloned().chain(profiles);
        let dialects = self.session.catalog.all().iter().map(|dialect| dialect.name().to_owned());
        let sound = |word: &String| !word.contains(char::is_whitespace) && visible(word) == word.as_str();
        vec![
            (Name::Model, models.filter(sound).collect()),
            (Name::Dialect, std::iter::once("auto".to_owned()).chain(dialects).collect()),
            (Name::Mode, owned(&["ask", "auto-edit", "plan", "yolo"])),
            (Name::Undo, owned(&["all", "list", "show"])),
            (Name::Diff, owned(&["all"])),
            (Name::Help, owned(&["all"])),
        ]
    }

    /// Lists the models, or takes one by its name or its number in the list.
    pub(super) fn model(&mut self, name: &str) -> Result<()> {
        let models = &self.session.server.models;
        let numbered = name.parse().ok().and_then(|number: usize| models.get(number.wrapping_sub(1)));
        let known = models.iter().any(|model| model == name);
        if name.parse::<usize>().is_ok() && numbered.is_none() && !known && !models.is_empty() {
            self.fail(&format!(
                "expected the name of a model, or a number from 1 to {}; got {name}",
                models.len()
            ));
            return Ok(());
        }
        let name = match numbered {
            Some(model) if !known => model.clone(),
            _ => name.to_owned(),
        };
        if let Some(profile) = name.strip_prefix('@') {
            if let Err(error) = self.session.take_profile(profile) {
                self.fail(&exit::line(&error));
                return Ok(());
            }
            let (model, server) = (&self.session.settings.model, &self.session.server);
            let from = format!("{} at {} ({})", visible(model), visible(&server.base), server.api.name());
            say(&format!("the model is {from} from now on; its dialect is {}", self.session.dialect()));
            return Ok(());
        }
        if !name.is_empty() {
            return self.take_model(&name);
        }
        let current = &self.session.settings.model;
        let profiles: Vec<String> =
            Config::load()?.profiles().into_iter().map(|profile| format!("@{profile}")).collect();
        if self.terminal && models.len() + profiles.len() > 1 {
            let now = models.iter().position(|model| model == current).unwrap_or(0);
            let rows = [models.as_slice(), &profiles].concat();
            return match keeping::pick(&rows, now)? {
                Some(place) => self.model(&rows[place]),
                None => Ok(()),
            };
        }
        self.list_models();
        for profile in profiles {
            say(&format!("      {}", visible(&profile)));
        }
        Ok(())
    }

    /// The models of the server.
    pub(in super::super) fn list_models(&self) {
        let current = &self.session.settings.model;
        say(&format!("the model is {}; `/model NAME`, or its number, takes another", visible(current)));
        for (place, model) in self.session.server.models.iter().enumerate() {
            let mark = if model == current { "*" } else { " " };
            say(&format!("{mark} {:>2}  {}", place + 1, visible(model)));
        }
    }

    pub(super) fn take_model(&mut self, name: &str) -> Result<()> {
        self.session.take_model(name)?;
        let dialect = self.session.dialect();
        say(&format!("the model is {} from now on; its dialect is {dialect}", visible(name)));
        let models = &self.session.server.models;
        // Ollama takes a name without its tag.
        let is_it = |model: &String| model.split(':').next() == Some(name) || model == name;
        if !models.is_empty() && !models.iter().any(is_it) {
            let listed = visible(&few(models)).into_owned();
            say(&self.paint.yellow(format!("! the server does not list it, but {listed}")));
        }
        Ok(())
    }

    pub(super) fn think(&mut self, how: &str) {
        match (self.session.take_thinking(how), how) {
            (Err(error), _) => self.fail(&error.to_string()),
            (Ok(()), "off") => say("the model is asked not to think, from now on"),
            (Ok(()), _) => say(&format!("the model is asked to think, from now on: {how}")),
        }
    }

    pub(super) fn dialect(&mut self, name: &str) {
        if !name.is_empty()
            && let Err(error) = self.session.take_dialect(name)
        {
            return self.fail(&error.to_string());
        }
        let read = match &self.session.settings.dialect {
            Some(_) => "and read in it alone",
            None => "and read in all",
        };
        say(&format!("calls are written in {}, {read}", self.session.dialect()));
    }

    pub(super) fn system(&mut self, text: &str) -> Result<()> {
        match text {
            "" => say(&self.paint.dim(visible(&self.session.settings.system))),
            "-" => {
                self.session.add_instructions("")?;
                say("the instructions are as they were at the start");
            }
            text => {
                self.session.add_instructions(text)?;
                say("added to the instructions; `/system -` takes it back");
            }
        }
        Ok(())
    }
}
