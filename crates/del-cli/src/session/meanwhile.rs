//! What the user says while the model works, and does between questions.

use del_agent::{Failure, Image};
use del_tools::{Cancel, Toolbox};

use super::Session;
use crate::exit;
use crate::onlooker::Screen;

/// What the user says meanwhile, with the files and images that it names.
pub(crate) trait Meanwhile {
    /// The next of it, if there is more.
    fn next(&mut self, toolbox: &Toolbox) -> Option<(String, Vec<Image>)>;

    /// The model is not told the last of it after all: the user stopped this.
    fn take_back(&mut self);
}

impl Session {
    /// The model gets this with the next results of calls, and not only when it has answered.
    pub(crate) fn hear(&mut self, meanwhile: Box<dyn Meanwhile>) {
        self.meanwhile = Some(meanwhile);
    }

    /// The user has run a command: the model is told with the next question.
    pub(crate) fn ran(&mut self, command: &str, output: &str) {
        self.agent.ran(command.to_owned(), output.to_owned());
        self.keep();
    }

    /// Gives the model what the user has said while calls ran. Hooks hear of it as of any question.
    pub(super) fn add_meanwhile(&mut self, cancel: &Cancel, screen: &mut dyn Screen) {
        let Some(mut meanwhile) = self.meanwhile.take() else { return };
        while !cancel.is_cancelled()
            && let Some((text, images)) = meanwhile.next(&self.hands.toolbox)
        {
            let told = match self.show(&images) {
                Ok(()) => self.prompted(&text, cancel, screen),
                Err(error) => Err(Failure::Stopped { why: exit::line(&error) }),
            };
            match told {
                Ok(text) => self.agent.add(text, images),
                Err(Failure::Cancelled) => meanwhile.take_back(),
                Err(why) => crate::say(format!("the model is not told this: {why}")),
            }
        }
        self.meanwhile = Some(meanwhile);
    }
}
