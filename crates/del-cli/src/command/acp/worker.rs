//! One conversation of an editor at work.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    PromptRequest, PromptResponse, SessionInfoUpdate, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, StopReason, UsageUpdate,
};
use anyhow::Result;
use del_agent::{Done, Failure};

use super::desk::{Job, refusal};
use super::editor::Editor;
use super::setup::{self, Setup};
use super::{commands, prompt, shown};
use crate::exit::Exit;
use crate::prompts;
use crate::session::Session;

/// One conversation, and the editor that it is with.
pub(super) struct Worker {
    pub(super) session: Session,
    pub(super) editor: Editor,
    pub(super) setup: Setup,
    /// Is dropped last: who waits for it finds the conversation let go.
    pub(super) _here: Sender<()>,
}

impl Worker {
    pub(super) fn serve(&mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            let answered = match job {
                Job::Prompt(request, responder) => {
                    let outcome = self.prompt(&request);
                    let context = self.session.context();
                    if let Some(limit) = context.limit {
                        self.editor.update(SessionUpdate::UsageUpdate(UsageUpdate::new(context.used, limit)));
                    }
                    responder.respond_with_result(outcome.map(PromptResponse::new))
                }
                Job::Option(request, responder) => responder.respond_with_result(self.set(&request)),
            };
            if answered.is_err() {
                break;
            }
        }
    }

    fn prompt(&mut self, request: &PromptRequest) -> Result<StopReason, Error> {
        if self.editor.stop.begin() {
            return Ok(StopReason::Cancelled);
        }
        let (text, images) =
            prompt::read(&request.prompt).map_err(|problem| Error::invalid_params().data(problem))?;
        self.session.attach(images).map_err(|error| refusal(&error))?;
        let first = self.session.entries().is_empty();
        let outcome = match commands::read(&text) {
            Some(command) => self.command(command),
            None => self.ask_what(&text),
        };
        if first && let Some(title) = text.lines().map(str::trim).find(|line| !line.is_empty()) {
            let title: String = title.chars().take(80).collect();
            self.editor.update(SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title)));
        }
        outcome.map_err(|error| refusal(&error))
    }

    /// Asks, or asks what a command in a file says.
    fn ask_what(&mut self, text: &str) -> Result<StopReason> {
        let prompts = Arc::clone(self.session.prompts());
        let Some((prompt, rest)) = prompts::named(&prompts, text) else {
            let Some(told) = commands::unknown(text, &prompts) else { return self.ask(text) };
            self.editor.say(&told);
            return Ok(StopReason::EndTurn);
        };
        let text = prompt.filled(rest).map_err(|error| Exit::BadInput.because(error.to_string()))?;
        self.session.hands.let_only_those_of(prompt);
        let outcome = self.ask(&text);
        self.session.hands.only = None;
        outcome
    }

    pub(super) fn ask(&mut self, text: &str) -> Result<StopReason> {
        if !self.session.gather()? {
            return Ok(StopReason::Cancelled);
        }
        let outcome = self.session.ask(text, &mut self.editor.clone())?;
        if outcome.is_ok() && self.session.is_unanswered() {
            self.editor.say("The model answered nothing; the conversation goes on without this question.");
        }
        stop_reason(outcome)
    }

    fn set(
        &mut self,
        request: &SetSessionConfigOptionRequest,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        let model = request.value.as_value_id().filter(|_| request.config_id.0.as_ref() == setup::MODEL);
        let Some(model) = model else {
            let (mode, model, got) = (setup::MODE, setup::MODEL, &request.config_id.0);
            return Err(Error::invalid_params().data(format!(
                "expected the option `{mode}` or `{model}` and one of its values; got `{got}`"
            )));
        };
        self.setup.check_model(&model.0)?;
        self.session.take_model(&model.0).map_err(|error| refusal(&error))?;
        self.setup.took_model(&model.0);
        Ok(SetSessionConfigOptionResponse::new(self.setup.options()))
    }

    /// Tells what was said before.
    pub(super) fn recall(&self) {
        let directory = self.session.hands.toolbox.directory();
        for update in shown::entries(self.session.entries(), directory) {
            self.editor.update(update);
        }
    }
}

/// How a question ended, as the protocol has it.
pub(super) fn stop_reason(outcome: Result<Done, Failure>) -> Result<StopReason> {
    match outcome {
        Ok(done) if done.cut => Ok(StopReason::MaxTokens),
        Ok(_) => Ok(StopReason::EndTurn),
        Err(Failure::Cancelled) => Ok(StopReason::Cancelled),
        Err(Failure::TurnLimit { .. }) => Ok(StopReason::MaxTurnRequests),
        Err(failure) => Err(crate::session::exit(&failure).because(failure.to_string())),
    }
}
