//! One conversation: does in the world what the agent says, and tells it what happened.

mod change;
mod context;
pub(crate) mod delegate;
mod destination;
mod effects;
mod heard;
mod meanwhile;
mod opening;
mod options;

use std::sync::Arc;

use anyhow::Result;
use del_agent::{Agent, Done, Effect, Entry, Failure, Input, Mode, Settings};
use del_tools::Cancel;
use del_wire::{ApiErrorKind, Usage};
use tokio::runtime::Runtime;

pub(crate) use context::{Context, thousands};
use effects::PATIENCE;
pub(crate) use meanwhile::Meanwhile;
use opening::{agent, chosen, unusable, words};
pub(crate) use options::{ConstrainOption, SessionOptions, ToolsModeOption};

use crate::catalog::Catalog;
use crate::common::Common;
use crate::consent::Asked;
use crate::exit::Exit;
use crate::hands::{Hands, told};
use crate::instructions::Memory;
use crate::interrupt::Interrupt;
use crate::onlooker::Screen;
use crate::project::Project;
use crate::prompts::Prompt;
use crate::record::{Kept, Record, Set};
use crate::screen::near::Tried;
use crate::server::Server;
use crate::todo;

/// One conversation.
pub(crate) struct Session {
    pub(crate) catalog: Catalog,
    pub(crate) hands: Hands,
    pub(crate) server: Server,
    pub(crate) settings: Settings,
    pub(crate) interrupt: Interrupt,
    pub(crate) record: Record,
    /// Requests that the questions so far cost, retries not counted.
    pub(crate) turns: u32,
    /// Those before the question that is worked on.
    turns_before: u32,
    /// What the user and the project want models to know.
    pub(crate) memory: Memory,
    /// The program that asks its user, in place of the person at the terminal.
    host: Option<Asked>,
    /// What the user says while calls run, where somebody can.
    meanwhile: Option<Box<dyn Meanwhile>>,
    /// Instructions that the user added in this conversation.
    pub(crate) added: String,
    agent: Agent,
    /// Changes of the agent's entries that are in the record.
    revision: u32,
    /// The server was asked how much the model takes, after it had answered.
    asked_context: bool,
    /// Hooks know that the session has begun.
    begun: bool,
    /// The model answered the last question with nothing, and it was dropped.
    unanswered: bool,
    /// Tokens that sub-agents cost.
    delegated: Usage,
    runtime: Runtime,
    common: Common,
    options: SessionOptions,
}

impl Session {
    /// Another program is asked what needs consent.
    pub(crate) fn let_host_ask(&mut self, host: Asked) {
        self.host = Some(host);
    }

    /// Commands and skills in files, the user's own and those of the project.
    pub(crate) fn prompts(&self) -> &Arc<[Prompt]> {
        &self.options.prompts
    }

    /// What the directory brings along.
    pub(crate) fn project(&self) -> &Project {
        &self.options.project
    }

    /// Waits for the MCP servers that still start, and offers their tools. False when the user wants to wait no more.
    pub(crate) fn gather(&mut self) -> Result<bool> {
        if self.hands.starting_servers().is_empty() {
            return Ok(true);
        }
        let cancel = self.interrupt.begin();
        let taken = self.take_in_servers(&cancel);
        self.interrupt.rest();
        taken.map(|()| !cancel.is_cancelled())
    }

    /// Offers the tools of the MCP servers that have started, and waits for the others until `cancel` is set.
    pub(crate) fn take_in_servers(&mut self, cancel: &Cancel) -> Result<()> {
        let before = self.hands.tools().len();
        self.hands.take_in_servers(&self.options.workplace, cancel);
        if self.hands.tools().len() > before {
            self.configure(Settings { tools: self.hands.tools().to_vec(), ..self.settings.clone() })?;
        }
        Ok(())
    }

    /// Leaves this conversation and goes on with another one, which is kept if this one is.
    pub(crate) fn take_up(&mut self, kept: Kept, record: Record) -> Result<()> {
        self.record =
            if self.record.is_wanted() { record } else { Record::new(None, &kept.head.working_dir) };
        self.go_on(kept)
    }

    /// Goes on with a conversation that was kept.
    fn go_on(&mut self, kept: Kept) -> Result<()> {
        let entries: Vec<Entry> = kept.entries.into_iter().map(|dated| dated.entry).collect();
        self.agent = agent(self.catalog, self.settings.clone())?.with_entries(entries.clone());
        self.revision = self.agent.revision();
        let plan = entries.iter().rev().find_map(|entry| match entry {
            Entry::Results { results } => {
                results.iter().rev().find(|result| result.name == todo::NAME && result.ok)
            }
            _ => None,
        });
        self.hands.plan.go_on(plan.map(|plan| plan.text.clone()));
        if !self.agent.entries().starts_with(&entries) {
            self.record.rewrite();
        }
        self.keep();
        Ok(())
    }

    /// Writes down what is new in the conversation.
    fn keep(&mut self) {
        if self.agent.revision() != self.revision {
            self.revision = self.agent.revision();
            self.record.take_back(self.agent.entries());
        }
        let set = Set {
            model: self.settings.model.clone(),
            base_url: self.server.base.clone(),
            dialect: self.settings.dialect.as_ref().map(|dialect| dialect.name().to_owned()),
            in_prompt: self.agent.mode() == Mode::Prompt,
        };
        self.record.keep(&set, self.agent.entries());
        if let Some(trouble) = self.record.trouble() {
            crate::say(format!("this conversation is not kept: {trouble}"));
        }
    }

    /// Writes down what a failure has left of the conversation.
    fn keep_after(&mut self) {
        if self.agent.entries().len() < self.record.written() {
            self.record.take_back(self.agent.entries());
        }
        self.keep();
    }

    /// Asks, and works until there is an answer or none can be had.
    pub(crate) fn ask(&mut self, question: &str, screen: &mut dyn Screen) -> Result<Result<Done, Failure>> {
        let cancel = self.interrupt.begin();
        match self.prompted(question, &cancel, screen) {
            Ok(question) => self.begin(Input::Start(&question), &cancel, screen),
            Err(failure) => {
                self.interrupt.rest();
                Ok(Err(failure))
            }
        }
    }

    /// Has the conversation summed up, and this kept. Whether there was anything to sum up.
    pub(crate) fn compact(&mut self, focus: &str, screen: &mut dyn Screen) -> Result<Result<bool, Failure>> {
        let before = self.agent.revision();
        let cancel = self.interrupt.begin();
        let outcome = self.begin(Input::Compact(focus), &cancel, screen)?;
        self.keep();
        Ok(outcome.map(|_| self.agent.revision() != before))
    }

    fn begin(
        &mut self,
        input: Input<'_>,
        cancel: &Cancel,
        screen: &mut dyn Screen,
    ) -> Result<Result<Done, Failure>> {
        let outcome = self.work(input, cancel, screen);
        self.record.settle();
        self.learn_context();
        if !self.agent.context_is_counted() && !self.agent.entries().is_empty() {
            self.count();
        }
        self.interrupt.rest();
        outcome.map(|outcome| outcome.map_err(|failure| self.server.named_key(failure)))
    }

    /// Asks the server how much the model takes: some know it only once the model has answered.
    fn learn_context(&mut self) {
        if let Some(tokens) = self.agent.context() {
            // A refusal may have told it.
            self.settings.context = Some(tokens);
            return;
        }
        // Whoever stops an answer has had enough of waiting; the next one will do.
        if self.asked_context || self.interrupt.is_pressed() {
            return;
        }
        let Self { runtime, server, settings, interrupt, .. } = self;
        let about = runtime.block_on(async {
            tokio::select! {
                about = tokio::time::timeout(PATIENCE, server.about(&settings.model)) => about.ok(),
                () = interrupt.pressed() => None,
            }
        });
        self.asked_context = !self.interrupt.is_pressed();
        if let Some(tokens) = about.and_then(|about| about.context) {
            self.settings.context = Some(tokens);
            self.agent.learn_context(tokens);
            self.hands.fit_context(tokens);
        }
    }

    fn work(
        &mut self,
        input: Input<'_>,
        cancel: &Cancel,
        screen: &mut dyn Screen,
    ) -> Result<Result<Done, Failure>> {
        let mut asked = self.host.take().unwrap_or_else(|| Asked::find(false, self.common.color, cancel));
        let outcome = self.work_with(input, cancel, &mut asked, screen);
        self.host = Some(asked).filter(|_| self.options.hosted);
        outcome
    }

    fn work_with(
        &mut self,
        input: Input<'_>,
        cancel: &Cancel,
        asked: &mut Asked,
        screen: &mut dyn Screen,
    ) -> Result<Result<Done, Failure>> {
        self.turns_before = self.turns;
        self.unanswered = false;
        self.offer_jobs();
        self.follow_servers(cancel);
        let (mut objections, mut stopped) = (0, None);
        let mut effect = self.step(input, screen);
        loop {
            // Before anything is done that rests on it.
            self.keep();
            effect = match effect {
                Effect::Request(body) => self.exchange(&body, screen),
                Effect::Wait { milliseconds } => self.wait(milliseconds, screen),
                Effect::Count(body) => {
                    let input = self.counted(&body);
                    self.step(input, screen)
                }
                Effect::Run(calls) => {
                    screen.turn_over(false);
                    self.learn_context();
                    let results = self.run_calls(&calls, cancel, asked, screen);
                    self.offer_jobs();
                    self.follow_servers(cancel);
                    stopped = self.hands.take_stop();
                    let told = calls.iter().zip(&results).map(|(read, result)| told(&read.call, result));
                    let given = told.collect();
                    if stopped.is_none() {
                        self.add_meanwhile(cancel, screen);
                    }
                    let over = cancel.is_cancelled() || stopped.is_some();
                    self.step(if over { Input::Stopped(given) } else { Input::Results(given) }, screen)
                }
                Effect::Done(done) => {
                    if let Some(why) = self.objection(&mut objections, cancel, screen) {
                        screen.turn_over(false);
                        effect = self.step(Input::GoOn(&why), screen);
                        continue;
                    }
                    screen.turn_over(true);
                    self.unanswered = self.agent.drop_unanswered();
                    if self.unanswered {
                        self.keep();
                    }
                    screen.check()?;
                    return Ok(Ok(done));
                }
                Effect::Failed(failure) => {
                    // What came before it is no answer.
                    screen.turn_over(false);
                    self.keep_after();
                    let stop = |why| Failure::Stopped { why: format!("a hook stopped this: {why}") };
                    return Ok(Err(stopped.map_or(failure, stop)));
                }
                // Nothing is under way that could go on.
                Effect::Continue => self.step(Input::Cancel, screen),
            };
            screen.check()?;
        }
    }

    /// How the model learns of the tools at present.
    pub(crate) fn mode(&self) -> Mode {
        self.agent.mode()
    }

    /// What the model's context is filled with.
    pub(crate) fn context(&self) -> Context {
        Context {
            used: self.agent.context_used(),
            counted: self.agent.context_is_counted(),
            limit: self.agent.context(),
        }
    }

    /// Forgets the conversation.
    pub(crate) fn clear(&mut self) {
        self.agent.clear();
        self.record.begin_anew();
    }

    /// The conversation so far.
    pub(crate) fn entries(&self) -> &[Entry] {
        self.agent.entries()
    }

    /// The model has answered the last question with nothing, so that it was left out of the conversation.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.unanswered
    }

    /// The dialect that calls are written in, in prompt mode.
    pub(crate) fn dialect(&self) -> &str {
        self.agent.dialect().name()
    }

    /// Tokens of the whole conversation, as far as the server says.
    pub(crate) fn usage(&self) -> Usage {
        let mut usage = self.agent.usage();
        usage += self.delegated;
        usage
    }

    /// The dialects that answers are read in.
    pub(crate) fn tried(&self) -> Tried {
        let dialects = match &self.settings.dialect {
            Some(dialect) => vec![Arc::clone(dialect)],
            None => self.catalog.all().iter().cloned().collect(),
        };
        Tried { dialects, tools: self.settings.tools.clone().into() }
    }
}

/// How a run ends that ends with this failure.
pub(crate) fn exit(failure: &Failure) -> Exit {
    match failure {
        Failure::Refused { error, .. } if error.kind == ApiErrorKind::Authentication => Exit::Authentication,
        Failure::TurnLimit { .. } => Exit::TurnLimit,
        Failure::Cancelled => Exit::Interrupted,
        Failure::Images { .. } => Exit::BadInput,
        _ => Exit::Failed,
    }
}
