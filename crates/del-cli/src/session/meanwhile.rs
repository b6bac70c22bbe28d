//! What the user says while the model works, and does between questions.

use del_agent::Image;
use del_tools::{Cancel, Toolbox};

use super::Session;
use crate::exit;
use crate::onlooker::Screen;

/// Gives what the user has said since this was asked last, with the files and images that it names.
pub(crate) type Meanwhile = Box<dyn FnMut(&Toolbox) -> Vec<(String, Vec<Image>)> + Send>;

impl Session {
    /// The model gets this with the next results of calls, and not only when it has answered.
    pub(crate) fn hear(&mut self, meanwhile: Meanwhile) {
        self.meanwhile = Some(meanwhile);
    }

    /// The user has run a command: the model is told with the next question.
    pub(crate) fn ran(&mut self, command: &str, output: &str) {
        self.agent.ran(command.to_owned(), output.to_owned());
        self.keep();
    }

    /// Gives the model what the user has said while calls ran. Hooks hear of it as of any question.
    pub(super) fn add_meanwhile(&mut self, cancel: &Cancel, screen: &mut dyn Screen) {
        let said = self.meanwhile.as_mut().map(|meanwhile| meanwhile(&self.hands.toolbox));
        for (text, images) in said.into_iter().flatten() {
            let shown = self.show(&images).map_err(|error| exit::line(&error));
            match shown.and_then(|()| self.prompted(&text, cancel, screen)) {
                Ok(text) => self.agent.add(text, images),
                Err(why) => crate::say(format!("the model is not told this: {why}")),
            }
        }
    }
}
