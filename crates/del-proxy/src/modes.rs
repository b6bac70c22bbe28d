//! How each model is asked: how it learns of tools, and what its server does not take.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use del_agent::{Constrain, Mode, ToolsMode};
use del_wire::Amends;

use crate::request::Hold;
use crate::settings::RouteSettings;

/// What is set, and what was learnt of models.
#[derive(Debug)]
pub(crate) struct Modes {
    /// The mode of models of which nothing was learnt.
    usual: Mode,
    learns: bool,
    without_tools: Mutex<HashSet<String>>,
    amends: Mutex<HashMap<String, Amends>>,
    /// How a grammar is told, or that none is, where the server refused another way; by the model and its tools, which the
    /// grammar is made of.
    holds: Mutex<HashMap<(String, u64), Option<Hold>>>,
}

/// Names come from clients.
const MOST_MODELS: usize = 1024;

impl Modes {
    /// Those of a route, whose servers take tools and grammars or do not.
    pub(crate) fn new(settings: &RouteSettings, takes_tools: bool, takes_grammar: bool) -> Self {
        let constrains = settings.constrain == Constrain::On && takes_grammar;
        let usual = match settings.tools_mode {
            ToolsMode::Prompt => Mode::Prompt,
            ToolsMode::Hybrid if settings.dialect.is_some() => Mode::Prompt,
            mode if mode.learns() && (constrains || !takes_tools) => Mode::Prompt,
            ToolsMode::Auto | ToolsMode::Native | ToolsMode::Hybrid => Mode::Native,
        };
        let learns = settings.tools_mode.learns() && usual == Mode::Native;
        let (without_tools, amends, holds) = Default::default();
        Self { usual, learns, without_tools, amends, holds }
    }

    /// The mode for a model.
    pub(crate) fn of(&self, model: &str) -> Mode {
        let known = self.without_tools.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(model) { Mode::Prompt } else { self.usual }
    }

    /// What is changed of requests for a model.
    pub(crate) fn amends(&self, model: &str) -> Amends {
        let known = self.amends.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(model).copied().unwrap_or_default()
    }

    /// From now on, requests for this model are changed so.
    pub(crate) fn amend(&self, model: &str, amends: Amends) {
        let mut known = self.amends.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST_MODELS || known.contains_key(model) {
            known.insert(model.to_owned(), amends);
        }
    }

    /// How a grammar over these tools is told for a model: as was learnt, or as is usual.
    pub(crate) fn hold(&self, model: &str, tools: impl FnOnce() -> u64, usual: Option<Hold>) -> Option<Hold> {
        let known = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return usual;
        }
        known.get(&(model.to_owned(), tools())).copied().unwrap_or(usual)
    }

    /// From now on it is told so, or not at all.
    pub(crate) fn learn_hold(&self, model: &str, tools: u64, hold: Option<Hold>) {
        let mut known = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST_MODELS {
            known.insert((model.to_owned(), tools), hold);
        }
    }

    /// The thoughts of this model came as `reasoning`, and go back so.
    pub(crate) fn thinks_as_reasoning(&self, model: &str) {
        let known = self.amends(model);
        let learnt = known.thinking_as_reasoning();
        // Each answer of such a server says so anew.
        if learnt != known {
            self.amend(model, learnt);
        }
    }

    /// The server refused tools for this model. True when it is asked without them from now on.
    pub(crate) fn refused(&self, model: &str) -> bool {
        if self.learns {
            let mut known = self.without_tools.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() < MOST_MODELS {
                known.insert(model.to_owned());
            }
        }
        self.learns
    }
}
