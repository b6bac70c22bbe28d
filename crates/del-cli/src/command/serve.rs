//! `del serve`: a proxy in front of model servers, for clients of the APIs of OpenAI, Anthropic and Ollama.

mod execute;
mod file;
mod lens;
mod observers;
mod plan;
#[cfg(test)]
mod reference;
mod values;
mod words;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use del_proxy::{Engine, Executor, Lens, Proxy, Settings};
use del_tools::counted;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::execute::Execution;
use self::lens::Glass;
use self::observers::{LogOption, observers};
use self::plan::Plan;
use self::values::{count, origin, seconds, size, size_or_none};
use self::words::Typed;
use crate::catalog::Catalog;
use crate::common::Common;
use crate::exit::Exit;
use crate::say;
use crate::server::ApiOption;
use crate::server::taught::TemplateOptions;
use crate::session::{ConstrainOption, ToolsModeOption};

/// Serve the APIs of OpenAI, Anthropic and Ollama in front of a model server: clients get tool calls, whatever the
/// server makes of them
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Takes routes, keys and values for these options from FILE (TOML); SIGHUP reads it anew
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Checks the file and ends
    #[arg(long, requires = "config")]
    check: bool,
    #[command(flatten)]
    listening: Typed<Listening>,
    #[command(flatten)]
    route: Typed<RouteOptions>,
    /// Shows nobody what goes through; otherwise a page at / does, from memory
    #[arg(long)]
    no_inspector: bool,
    #[command(flatten)]
    execution: Execution,
}

/// What holds for the proxy.
#[derive(Debug, Args)]
struct Listening {
    /// Where to listen; anything but this machine alone needs --api-key-env
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787")]
    listen: String,
    /// The variable that holds the key which clients have to show
    #[arg(long, value_name = "VAR")]
    api_key_env: Option<String>,
    /// Pages of this site may use it from a browser, such as `https://app.example`; given again, of another one as well
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Vec<String>,
    /// The largest request, in bytes or with K, M or G
    #[arg(long, value_name = "SIZE", default_value = "32M", value_parser = size)]
    max_body: usize,
    /// At most so many connections of clients are open at once; requests on more are refused with status 503 [default: half of
    /// the files that may be open]
    #[arg(long, value_name = "N", value_parser = count)]
    max_connections: Option<u32>,
    /// How much is kept of earlier answers, for Responses that go on with one; 0 keeps nothing
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size_or_none)]
    response_memory: usize,
    /// After how long a silence of the model server a streaming client is told that it is still there
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = seconds)]
    keep_alive: Duration,
    /// How often each of several model servers is asked whether it is there
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    health_interval: Duration,
    /// Counts at /metrics what goes through, for Prometheus
    #[arg(long)]
    metrics: bool,
    /// Writes a line for each request on standard error, without what was said in it
    #[arg(long, value_enum, value_name = "FORM", default_value = "off")]
    log: LogOption,
    /// Writes into these lines what was said as well: the first 64 KB of each request and of each answer
    #[arg(long)]
    log_content: bool,
}

/// Where requests go, and how the model is asked.
#[derive(Debug, Args)]
struct RouteOptions {
    /// The model server, usually ending in /v1; given again, another one with the same models [default:
    /// `OPENAI_BASE_URL`, `OLLAMA_HOST`, or the first found here]
    #[arg(long, value_name = "URL", visible_alias = "base-url")]
    upstream: Vec<String>,
    /// The API that the model server speaks
    #[arg(long, value_enum, value_name = "API", default_value = "openai")]
    upstream_api: ApiOption,
    /// The program of the model server, for its way to take a grammar; `auto` by what it says of its models
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "auto")]
    engine: EngineOption,
    /// The variable that holds the key for the model server [default: `OPENAI_API_KEY`, or `ANTHROPIC_API_KEY` with that API]
    #[arg(long, value_name = "VAR")]
    upstream_key_env: Option<String>,
    /// The model for all requests, whatever they ask for
    #[arg(short, long, value_name = "NAME")]
    model: Option<String>,
    /// The dialect of the model's calls, or `auto`: written in the model's own, read in all
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: String,
    /// How the model learns of the tools
    #[arg(long, value_enum, value_name = "MODE", default_value = "auto")]
    tools_mode: ToolsModeOption,
    /// Holds calls to a grammar (llama.cpp, vLLM, `SGLang`; tools in the prompt): auto once one begins, on from the start until there
    /// is a result
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    constrain: ConstrainOption,
    /// The model server goes on with an answer that a request begins: a call that has to be made is begun for the model, where no
    /// grammar holds it
    #[arg(long)]
    prefill: bool,
    #[command(flatten)]
    template: TemplateOptions,
    /// At most so many requests at once; more are refused with status 429
    #[arg(long, value_name = "N", value_parser = count)]
    max_concurrent: Option<u32>,
    /// How long a connection to the model server may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    connect_timeout: Duration,
    /// How long the model server may take until the first bytes of an answer
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    first_byte_timeout: Duration,
    /// How long the model server may be silent in the middle of an answer
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    idle_timeout: Duration,
}

/// A route in a file.
#[derive(Debug, Args)]
struct RouteTable {
    /// The models: names, or patterns in which `*` stands for anything
    #[arg(long, value_name = "NAME", required = true)]
    models: Vec<String>,
    #[command(flatten)]
    route: RouteOptions,
}

/// A key of clients in a file.
#[derive(Debug, Args)]
struct KeyOptions {
    /// What the key is called in /metrics
    #[arg(long, value_name = "NAME")]
    name: String,
    /// The variable that holds the key
    #[arg(long, value_name = "VAR")]
    env: String,
    /// At most so many requests in a minute; more are refused with status 429
    #[arg(long, value_name = "N", value_parser = count)]
    per_minute: Option<u32>,
    /// At most so many requests at once
    #[arg(long, value_name = "N", value_parser = count)]
    max_concurrent: Option<u32>,
}

/// The programs that take a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineOption {
    /// As it says
    Auto,
    /// llama.cpp
    LlamaCpp,
    /// vLLM
    Vllm,
    /// `SGLang`
    Sglang,
    /// One that takes none
    Other,
}

impl EngineOption {
    /// The engine, where the server says that it is this one.
    fn of(self, said: Option<Engine>) -> Option<Engine> {
        match self {
            Self::Auto => said,
            Self::LlamaCpp => Some(Engine::LlamaCpp),
            Self::Vllm => Some(Engine::Vllm),
            Self::Sglang => Some(Engine::Sglang),
            Self::Other => None,
        }
    }
}

/// What ends the program.
struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

/// A proxy at work.
struct Serving<'a> {
    options: &'a Options,
    common: &'a Common,
    catalog: Catalog,
    plan: Plan,
    /// So many servers could not be asked for what they are.
    away: usize,
    executor: Option<Arc<dyn Executor>>,
    proxy: Arc<Proxy>,
}

/// Servers that were away are asked again after this long.
const AGAIN: Duration = Duration::from_secs(10);

impl Options {
    /// The settings, with what runs here and what is shown.
    fn complete(
        &self,
        settings: Settings,
        executor: Option<&Arc<dyn Executor>>,
        common: &Common,
    ) -> Settings {
        let mut settings = self.execution.put_into(settings, executor);
        settings.inspector = (!self.no_inspector).then(|| Arc::new(Glass::new(common)) as Arc<dyn Lens>);
        settings
    }
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let plan = Plan::new(options, catalog)?;
    if options.check {
        let mut out = std::io::stdout();
        writeln!(out, "{}, nothing is wrong", counted(plan.routes.len(), "route"))?;
        return Ok(Exit::Done);
    }
    open_many_files();
    let executor = options.execution.executor()?.map(|executor| Arc::new(executor) as Arc<dyn Executor>);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = Stop::listen()?;
        let asked = plan.ask(catalog, common).await?;
        asked.away.iter().for_each(|reason| say(format!("{reason}; it is asked again")));
        let listener = TcpListener::bind(plan.address).await.map_err(|error| {
            let reason = crate::input::plain(&error);
            let address = plan.address;
            Exit::Failed
                .because(format!("cannot listen on {address} ({reason}); --listen takes another address"))
        })?;
        let address = listener.local_addr()?;
        let routes = plan.routes.len();
        let behind =
            if routes == 1 { asked.first } else { format!("the servers of {}", counted(routes, "route")) };
        let mut settings = options.complete(asked.settings, executor.as_ref(), common);
        settings.observers = observers(plan.log())?;
        let proxy = Proxy::new(settings, address);
        let proxy = proxy.map_err(|error| Exit::Failed.because(error.to_string()))?;
        let serving = Serving { options, common, catalog, plan, away: asked.away.len(), executor, proxy };
        let mut out = std::io::stdout();
        writeln!(out, "listening on http://{address}/v1, in front of {behind}")?;
        out.flush()?;
        serving.until(stop, listener).await
    })
}

/// Every stream takes two sockets, and most shells let a program open 1,024 files unless it asks for more.
fn open_many_files() {
    const MANY: u64 = 65_536;
    let limit = getrlimit(Resource::Nofile);
    let Some(now) = limit.current else { return };
    let current = limit.maximum.map_or(MANY, |most| most.min(MANY)).max(now);
    // Where the system does not let it, there are fewer streams at once.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
}

/// So many connections of clients leave enough files for one to a model server each.
fn most_connections() -> usize {
    /// The program's own, and those of clients that are turned away.
    const OTHERS: u64 = 128;
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files.saturating_sub(OTHERS) / 2).unwrap_or(usize::MAX).max(1)
}

impl Serving<'_> {
    /// Serves until a signal comes, and ends what is under way; a second signal ends the program at once.
    async fn until(mut self, mut stop: Stop, listener: TcpListener) -> Result<Exit> {
        let (told, tell) = tokio::sync::oneshot::channel::<()>();
        let proxy = Arc::clone(&self.proxy);
        let mut serving =
            tokio::spawn(async move { del_proxy::serve(listener, proxy, async { drop(tell.await) }).await });
        let ended = |exit| {
            move |served: Result<_, _>| match served {
                Ok(Ok(())) => Ok(exit),
                Ok(Err(error)) => Err(Exit::Failed.because(del_proxy::SettingsError::to_string(&error))),
                Err(error) => Err(Exit::Failed.because(tokio::task::JoinError::to_string(&error))),
            }
        };
        // Without a file there is nothing to read anew, and a terminal that goes away ends the program.
        let mut hangups = match &self.options.config {
            Some(_) => Some(signal(SignalKind::hangup())?),
            None => None,
        };
        let exit = loop {
            let hangup = async {
                match &mut hangups {
                    Some(hangups) => hangups.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                served = &mut serving => return ended(Exit::Done)(served),
                exit = stop.comes() => break exit,
                _ = hangup => self.read_anew().await,
                () = tokio::time::sleep(AGAIN), if self.away > 0 => self.ask_again().await,
            }
        };
        let _ = told.send(());
        tokio::select! {
            served = &mut serving => ended(exit)(served),
            exit = stop.comes() => Ok(exit),
        }
    }

    /// Goes on with the file as it is now, if nothing is wrong with it.
    async fn read_anew(&mut self) {
        match self.anew().await {
            Ok(()) => {
                say(format!("the configuration was read anew: {}", counted(self.plan.routes.len(), "route")));
            }
            Err(error) => say(format!("{error:#}; the old configuration goes on")),
        }
    }

    async fn anew(&mut self) -> Result<()> {
        let plan = Plan::new(self.options, self.catalog)?;
        let asked = plan.ask(self.catalog, self.common).await?;
        self.proxy.reload(self.options.complete(asked.settings, self.executor.as_ref(), self.common))?;
        asked.away.iter().for_each(|reason| say(format!("{reason}; it is asked again")));
        if plan.address != self.plan.address {
            say(format!("{} counts after the next start", plan.address));
        }
        (self.plan, self.away) = (plan, asked.away.len());
        Ok(())
    }

    /// Servers that were away may have come.
    async fn ask_again(&mut self) {
        let Ok(asked) = self.plan.ask(self.catalog, self.common).await else { return };
        let away = asked.away.len();
        let settings = self.options.complete(asked.settings, self.executor.as_ref(), self.common);
        if away < self.away && self.proxy.reload(settings).is_ok() {
            say(match self.away - away {
                1 => "a model server that was away answers now".to_owned(),
                more => format!("{more} model servers that were away answer now"),
            });
        }
        self.away = away;
    }
}

impl Stop {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for a signal: how the program ends with it.
    async fn comes(&mut self) -> Exit {
        tokio::select! {
            _ = self.terminate.recv() => Exit::Done,
            _ = self.interrupt.recv() => Exit::Interrupted,
        }
    }
}
