//! Opening a conversation: the server is found, tools and settings are put together, and a conversation that was kept goes on.

use std::sync::Arc;
use std::thread;

use anyhow::Result;
use del_agent::{Agent, Constrain, Settings, SettingsError, ToolsMode};
use del_dialects::Dialect;
use del_wire::{Usage, Words};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::{Session, SessionOptions, change};
use crate::catalog::{Catalog, Choice};
use crate::common::Common;
use crate::config::blame;
use crate::consent::Asked;
use crate::exit::Exit;
use crate::hands::Hands;
use crate::hooks::Hooks;
use crate::instructions::Memory;
use crate::interrupt::Interrupt;
use crate::project;
use crate::record::Set;
use crate::screen::stage;
use crate::server::Server;

impl Session {
    /// Finds the server and makes everything ready. `max_turns` holds where the options say nothing.
    pub(crate) fn open(options: &SessionOptions, common: &Common, max_turns: u32) -> Result<Self> {
        let catalog = Catalog::load(common.dialect_dir.as_deref())?;
        let (record, kept) = options.keeping.begin(&options.workplace.directory()?)?;
        let before = kept.as_ref().map(|kept| &kept.set);
        let dialect = chosen(options.dialect.as_deref(), before, catalog)?;
        let interrupt = Interrupt::listen(stage::CURTAIN)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        interrupt.begin();
        let busy = stage::current().map(|stage| stage.busy("asking the model server"));
        let (mut hands, mut server) = meet(options, &interrupt, &runtime)?;
        server.first_byte = options.model.first_byte();
        drop(busy);
        interrupt.rest();
        let memory = match options.constrain.into() {
            // A model that needs a grammar takes whatever it reads for its task.
            Constrain::On => Memory::default(),
            _ => Memory::find(hands.toolbox.directory()),
        };
        let mut settings = settings(options, before, &hands, &server, &memory);
        if let Some(tokens) = settings.context {
            hands.fit_context(tokens);
        }
        settings.dialect = dialect;
        settings.max_turns = options.max_turns.unwrap_or(max_turns);
        settings.words = words(options, &settings, &server, catalog, common, &runtime)?;
        let agent = agent(catalog, settings.clone())?;
        let host = options.hosted.then_some(Asked::Nobody);
        hands.hooks = Hooks {
            all: options.hooks.clone(),
            directory: hands.toolbox.directory().to_owned(),
            project: project::root(hands.toolbox.directory()).to_owned(),
            ..Hooks::default()
        };
        let (common, options) = (common.clone(), options.clone());
        let mut session = Self {
            catalog,
            hands,
            server,
            settings,
            interrupt,
            record,
            turns: 0,
            turns_before: 0,
            memory,
            host,
            meanwhile: None,
            added: options.appended().to_owned(),
            agent,
            revision: 0,
            asked_context: false,
            begun: false,
            unanswered: false,
            delegated: Usage::default(),
            runtime,
            common,
            options,
        };
        session.let_help()?;
        if let Some(kept) = kept {
            session.go_on(kept)?;
        }
        Ok(session)
    }
}

/// What the options say, and what of `before`, the conversation that goes on, still holds.
fn settings(
    options: &SessionOptions,
    before: Option<&Set>,
    hands: &Hands,
    server: &Server,
    memory: &Memory,
) -> Settings {
    // The model that the conversation was with, if it is still there.
    let model = before.map(|set| set.model.as_str());
    let model = model.filter(|model| server.models.iter().any(|known| known == model));
    let model = server.choose(options.server.model.as_deref().or(model));
    let tools_mode = match (options.tools_mode.into(), before) {
        (ToolsMode::Auto, Some(set)) if set.in_prompt && set.model == model => ToolsMode::Prompt,
        (mode, _) => mode,
    };
    Settings {
        context: options.model.context(server, &model),
        model,
        system: change::instructions(options, hands, memory, options.appended()),
        tools: hands.tools().to_vec(),
        tools_mode,
        detail: options.template.detail(),
        constrain: options.constrain.into(),
        api: server.api,
        extra: options.model.members(server),
        server: server.for_agent(),
        stream: !options.no_stream,
        ..Settings::default()
    }
}

/// Makes the tools ready and finds the server, both at once: the one waits for the kernel, the other for the network.
fn meet(options: &SessionOptions, interrupt: &Interrupt, runtime: &Runtime) -> Result<(Hands, Server)> {
    let (failed, failure) = oneshot::channel();
    thread::scope(|scope| {
        let making = scope.spawn(move || {
            let made = make(options);
            if made.is_err() {
                // Nobody waits for a server any more.
                let _ = failed.send(());
            }
            made
        });
        let found = runtime.block_on(async {
            tokio::select! {
                found = Server::find(&options.server) => found,
                () = interrupt.pressed() => Err(Exit::Interrupted.because("interrupted")),
                Ok(()) = failure => Err(Exit::Failed.because("there are no tools")),
            }
        });
        let made = making.join().unwrap_or_else(|_| Err(Exit::Failed.because("the tools broke down")));
        Ok((made?, found?))
    })
}

fn make(options: &SessionOptions) -> Result<Hands> {
    let mut hands = Hands::new(options.toolset, &options.workplace, &options.consenting)?;
    hands.begin_to_connect(&options.servers, &options.project)?;
    Ok(hands)
}

/// The dialect that is asked for now, or else was before, if it is still known.
pub(super) fn chosen(
    asked: Option<&str>,
    before: Option<&Set>,
    catalog: Catalog,
) -> Result<Option<Arc<Dialect>>> {
    let before = before.and_then(|set| catalog.all().get(set.dialect.as_deref()?)).cloned();
    let choose = |name| catalog.choose(name).map_err(|error| blame("dialect", name, error));
    Ok(match asked.map(choose).transpose()? {
        None => before,
        Some(Choice::Auto) => None,
        Some(Choice::One(dialect)) => Some(dialect),
    })
}

/// What the model's template says of tools, where it is needed.
pub(super) fn words(
    options: &SessionOptions,
    settings: &Settings,
    server: &Server,
    catalog: Catalog,
    common: &Common,
    runtime: &Runtime,
) -> Result<Option<Words>> {
    let constrained = settings.constrain == Constrain::On && server.llama_cpp();
    let in_prompt = constrained || settings.tools_mode == ToolsMode::Hybrid && settings.dialect.is_some();
    if !options.template.is_needed(settings.tools_mode, in_prompt) {
        return Ok(None);
    }
    runtime.block_on(options.template.words(server, &settings.model, catalog, common))
}

pub(super) fn agent(catalog: Catalog, settings: Settings) -> Result<Agent> {
    Agent::new(catalog.all(), settings).map_err(|error| unusable(&error))
}

pub(super) fn unusable(error: &SettingsError) -> anyhow::Error {
    Exit::Configuration.because(error.to_string())
}
