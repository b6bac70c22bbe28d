//! What the model's own chat template says of tools.

use std::sync::Arc;

use del_dialects::{Detail, Dialect, Tool};

/// The words of a chat template that knows tools. A model that was trained on the template was trained on these, so in
/// prompt mode they tell it of its tools better than any others.
#[derive(Debug, Clone)]
pub struct Words {
    /// The dialect that they ask for.
    pub dialect: Arc<Dialect>,
    /// Before all else, where the conversation has no system message.
    pub alone: String,
    /// Before the definitions.
    pub before: String,
    /// The dialect in whose form the definitions are.
    pub definitions: Arc<Dialect>,
    /// Behind them.
    pub behind: String,
}

impl Words {
    /// What the template tells the model of these tools. What others say in it is neutralised.
    pub(super) fn about(&self, tools: &[Tool], detail: Detail, alone: bool) -> String {
        let definitions = self.definitions.definitions_in(tools, detail);
        let about = [self.before.as_str(), definitions.trim(), &self.behind].concat();
        if alone && !self.alone.is_empty() { [self.alone.as_str(), &about].join("\n\n") } else { about }
    }
}
