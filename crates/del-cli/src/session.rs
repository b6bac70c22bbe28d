//! One conversation: does in the world what the agent says, and tells it what happened.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use del_agent::{
    Agent, Constrain, Done, Effect, Entry, Failure, Input, Mode, Settings, SettingsError, ToolsMode, View,
};
use del_dialects::Dialect;
use del_tools::{Cancel, Toolset};
use del_wire::{ApiErrorKind, Usage, Words};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::arguments::Common;
use crate::catalog::{Catalog, Choice};
use crate::consent::Asked;
use crate::exchange::exchange;
use crate::exit::Exit;
use crate::hands::{Consenting, Hands, Onlooker, Workplace, told};
use crate::instructions;
use crate::interrupt::Interrupt;
use crate::keeping::Keeping;
use crate::record::{Kept, Record, Set};
use crate::screen::near::Tried;
use crate::server::taught::TemplateOptions;
use crate::server::{Server, ServerOptions};
use crate::servers::ServerTools;

/// What a conversation is set to.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionOptions {
    #[command(flatten)]
    pub(crate) server: ServerOptions,
    #[command(flatten)]
    keeping: Keeping,
    /// The dialect of the model's calls, or `auto`: written in the model's own, read in all [default: auto, or that of
    /// the session that goes on]
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// How the model learns of the tools
    #[arg(long, value_enum, value_name = "MODE", default_value = "auto")]
    tools_mode: ToolsModeOption,
    /// Makes the server sample calls only, until there is a result (llama.cpp, tools in the prompt)
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    constrain: ConstrainOption,
    #[command(flatten)]
    template: TemplateOptions,
    /// The set of tools: core, del or all
    #[arg(long, value_name = "SET", default_value = "core")]
    toolset: Toolset,
    #[command(flatten)]
    workplace: Workplace,
    #[command(flatten)]
    consenting: Consenting,
    #[command(flatten)]
    servers: ServerTools,
    /// How many requests one question may cost [default: 25, or 50 in a conversation]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,
    /// Shows the model's raw text, and which dialect matched where
    #[arg(long)]
    pub(crate) debug: bool,
    /// Does not show the model's thinking
    #[arg(long)]
    pub(crate) hide_reasoning: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ToolsModeOption {
    /// Native, until it shows that the server or the model cannot; then prompt
    Auto,
    /// Through the API
    Native,
    /// In the system prompt, in the dialect
    Prompt,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ConstrainOption {
    Auto,
    On,
    Off,
}

impl From<ToolsModeOption> for ToolsMode {
    fn from(option: ToolsModeOption) -> Self {
        match option {
            ToolsModeOption::Auto => Self::Auto,
            ToolsModeOption::Native => Self::Native,
            ToolsModeOption::Prompt => Self::Prompt,
        }
    }
}

impl From<ConstrainOption> for Constrain {
    fn from(option: ConstrainOption) -> Self {
        match option {
            ConstrainOption::Auto => Self::Auto,
            ConstrainOption::On => Self::On,
            ConstrainOption::Off => Self::Off,
        }
    }
}

/// One conversation.
pub(crate) struct Session {
    pub(crate) catalog: Catalog,
    pub(crate) hands: Hands,
    pub(crate) server: Server,
    pub(crate) settings: Settings,
    pub(crate) interrupt: Interrupt,
    pub(crate) record: Record,
    /// Requests that the last question cost, retries not counted.
    pub(crate) turns: u32,
    agent: Agent,
    runtime: Runtime,
    common: Common,
    options: SessionOptions,
}

/// Shows what happens.
pub(crate) trait Screen: Onlooker {
    /// Something to show.
    fn view(&mut self, view: View<'_>);
    /// An answer is over; `last` when no calls follow.
    fn turn_over(&mut self, last: bool);
    /// Why nobody can see anything any more, if so.
    fn check(&mut self) -> io::Result<()>;
}

impl Session {
    /// Finds the server and makes everything ready. `max_turns` holds where the options say nothing.
    pub(crate) fn open(options: &SessionOptions, common: &Common, max_turns: u32) -> Result<Self> {
        let catalog = Catalog::load(common.dialect_dir.as_deref())?;
        let mut hands = Hands::new(options.toolset, &options.workplace, &options.consenting)?;
        let (record, kept) = options.keeping.begin(hands.toolbox.directory())?;
        let before = kept.as_ref().map(|kept| &kept.set);
        let dialect = chosen(options.dialect.as_deref(), before, catalog)?;
        let interrupt = Interrupt::listen()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let cancel = interrupt.begin();
        hands.begin_to_connect(&options.servers, &mut Asked::find(false, common.color, &cancel))?;
        let server = runtime.block_on(async {
            tokio::select! {
                found = Server::find(&options.server) => found,
                () = interrupt.pressed() => Err(Exit::Interrupted.because("interrupted")),
            }
        })?;
        interrupt.rest();
        if let Some(tokens) = server.context {
            hands.toolbox.fit_context(tokens);
        }
        let constrain = options.constrain.into();
        let mut settings = Settings {
            model: server.choose(options.server.model.as_deref().or_else(|| {
                // The model that the conversation was with, if it is still there.
                before
                    .map(|set| set.model.as_str())
                    .filter(|model| server.models.iter().any(|known| known == model))
            })),
            system: instructions::text(hands.toolbox.directory(), constrain == Constrain::On),
            tools: hands.tools().to_vec(),
            tools_mode: options.tools_mode.into(),
            dialect,
            detail: options.template.detail(),
            constrain,
            server: del_agent::Server { llama_cpp: server.llama_cpp, takes_tools: server.takes_tools },
            max_turns: options.max_turns.unwrap_or(max_turns),
            ..Settings::default()
        };
        if let (ToolsMode::Auto, Some(set)) = (settings.tools_mode, before)
            && set.in_prompt
            && set.model == settings.model
        {
            settings.tools_mode = ToolsMode::Prompt;
        }
        settings.words = words(options, &settings, &server, catalog, common, &runtime)?;
        let agent = agent(catalog, settings.clone())?;
        let (common, options) = (common.clone(), options.clone());
        let mut session = Self {
            catalog,
            hands,
            server,
            settings,
            interrupt,
            record,
            turns: 0,
            agent,
            runtime,
            common,
            options,
        };
        if let Some(kept) = kept {
            session.go_on(kept)?;
        }
        Ok(session)
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
            let settings = Settings { tools: self.hands.tools().to_vec(), ..self.settings.clone() };
            let fresh = agent(self.catalog, settings.clone())?;
            let now = std::mem::replace(&mut self.agent, fresh);
            self.agent = now.reconfigure(settings.clone()).map_err(|error| unusable(&error))?;
            self.settings = settings;
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
        if !self.agent.entries().starts_with(&entries) {
            self.record.rewrite();
        }
        self.keep();
        Ok(())
    }

    /// Writes down what is new in the conversation.
    fn keep(&mut self) {
        let set = Set {
            model: self.settings.model.clone(),
            base_url: self.server.base.clone(),
            dialect: self.settings.dialect.as_ref().map(|dialect| dialect.name.clone()),
            in_prompt: self.agent.mode() == Mode::Prompt,
        };
        self.record.keep(&set, self.agent.entries());
    }

    /// Writes down what a failure has left of the conversation.
    fn keep_after(&mut self, failure: &Failure) {
        let too_long = matches!(failure, Failure::Refused { error, .. }
            if matches!(error.kind, ApiErrorKind::ContextExceeded { .. }));
        if too_long || self.agent.entries().len() < self.record.written() {
            self.record.take_back(self.agent.entries());
        }
        self.keep();
    }

    /// Asks, and works until there is an answer or none can be had.
    pub(crate) fn ask(&mut self, question: &str, screen: &mut dyn Screen) -> Result<Result<Done, Failure>> {
        let cancel = self.interrupt.begin();
        let outcome = self.work(question, &cancel, screen);
        self.record.settle();
        self.interrupt.rest();
        outcome
    }

    fn work(
        &mut self,
        question: &str,
        cancel: &Cancel,
        screen: &mut dyn Screen,
    ) -> Result<Result<Done, Failure>> {
        let mut asked = Asked::find(false, self.common.color, cancel);
        self.turns = 0;
        let mut effect = self.step(Input::Start(question), screen);
        loop {
            // Before anything is done that rests on it.
            self.keep();
            effect = match effect {
                Effect::Request(body) => self.exchange(&body, screen),
                Effect::Wait { milliseconds } => self.wait(milliseconds, screen),
                Effect::Run(calls) => {
                    screen.turn_over(false);
                    let results = self.hands.run(&calls, cancel, &mut asked, screen);
                    let input = if cancel.is_cancelled() {
                        Input::Cancel
                    } else {
                        Input::Results(
                            calls
                                .iter()
                                .zip(&results)
                                .map(|(read, result)| told(&read.call, result))
                                .collect(),
                        )
                    };
                    self.step(input, screen)
                }
                Effect::Done(done) => {
                    screen.turn_over(true);
                    screen.check()?;
                    return Ok(Ok(done));
                }
                Effect::Failed(failure) => {
                    screen.turn_over(true);
                    self.keep_after(&failure);
                    return Ok(Err(failure));
                }
                // Nothing is under way that could go on.
                Effect::Continue => self.step(Input::Cancel, screen),
            };
            screen.check()?;
        }
    }

    /// Takes another model for what follows.
    pub(crate) fn take_model(&mut self, name: &str) -> Result<()> {
        let mut settings = Settings { model: name.to_owned(), ..self.settings.clone() };
        settings.words =
            words(&self.options, &settings, &self.server, self.catalog, &self.common, &self.runtime)?;
        let fresh = agent(self.catalog, settings.clone())?;
        self.agent = fresh.with_entries(self.agent.entries().to_vec());
        self.settings = settings;
        Ok(())
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

    /// The dialect that calls are written in, in prompt mode.
    pub(crate) fn dialect(&self) -> &str {
        &self.agent.dialect().name
    }

    /// Tokens of the whole conversation, as far as the server says.
    pub(crate) fn usage(&self) -> Usage {
        self.agent.usage()
    }

    /// The dialects that answers are read in.
    pub(crate) fn tried(&self) -> Tried {
        let dialects = match &self.settings.dialect {
            Some(dialect) => vec![Arc::clone(dialect)],
            None => self.catalog.all().iter().cloned().collect(),
        };
        Tried { dialects, tools: self.settings.tools.clone().into() }
    }

    fn step(&mut self, input: Input<'_>, screen: &mut dyn Screen) -> Effect {
        let turns = &mut self.turns;
        self.agent.step(input, &mut |view| watch(view, turns, screen))
    }

    fn exchange(&mut self, body: &Value, screen: &mut dyn Screen) -> Effect {
        let Self { runtime, server, agent, interrupt, turns, .. } = self;
        let mut step = |input: Input<'_>| agent.step(input, &mut |view| watch(view, turns, screen));
        runtime.block_on(exchange(server, body, interrupt, &mut step))
    }

    fn wait(&mut self, milliseconds: u64, screen: &mut dyn Screen) -> Effect {
        let interrupted = self.runtime.block_on(async {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(milliseconds)) => false,
                () = self.interrupt.pressed() => true,
            }
        });
        let input = if interrupted { Input::Cancel } else { Input::Waited };
        self.step(input, screen)
    }
}

/// The dialect that is asked for now, or else was before, if it is still known.
fn chosen(asked: Option<&str>, before: Option<&Set>, catalog: Catalog) -> Result<Option<Arc<Dialect>>> {
    let before = before.and_then(|set| catalog.all().get(set.dialect.as_deref()?)).cloned();
    Ok(match asked.map(|name| catalog.choose(name)).transpose()? {
        None => before,
        Some(Choice::Auto) => None,
        Some(Choice::One(dialect)) => Some(dialect),
    })
}

fn watch(view: View<'_>, turns: &mut u32, screen: &mut dyn Screen) {
    if let View::Turn { turn, .. } = view {
        *turns = turn;
    }
    screen.view(view);
}

/// What the model's template says of tools, where it is needed.
fn words(
    options: &SessionOptions,
    settings: &Settings,
    server: &Server,
    catalog: Catalog,
    common: &Common,
    runtime: &Runtime,
) -> Result<Option<Words>> {
    let constrained = settings.constrain == Constrain::On && server.llama_cpp;
    if !options.template.is_needed(settings.tools_mode, constrained) {
        return Ok(None);
    }
    runtime.block_on(options.template.words(server, &settings.model, catalog, common))
}

fn agent(catalog: Catalog, settings: Settings) -> Result<Agent> {
    Agent::new(catalog.all(), settings).map_err(|error| unusable(&error))
}

fn unusable(error: &SettingsError) -> anyhow::Error {
    Exit::Configuration.because(error.to_string())
}

/// How a run ends that ends with this failure.
pub(crate) fn exit(failure: &Failure) -> Exit {
    match failure {
        Failure::Refused { error, .. } if error.kind == ApiErrorKind::Authentication => Exit::Authentication,
        Failure::TurnLimit { .. } => Exit::TurnLimit,
        Failure::Cancelled => Exit::Interrupted,
        _ => Exit::Failed,
    }
}
