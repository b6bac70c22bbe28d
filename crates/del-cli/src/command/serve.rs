//! `del serve`: a proxy in front of a model server, for clients of the APIs of OpenAI, Anthropic and Ollama.

mod execute;

use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use del_proxy::{ClientKey, Executor, Proxy, RouteSettings, ServerApi, Settings, SettingsError};
use del_wire::Words;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::execute::Execution;
use crate::arguments::Common;
use crate::catalog::{Catalog, Choice};
use crate::exit::Exit;
use crate::server::taught::TemplateOptions;
use crate::server::{Server, ServerOptions};
use crate::session::{ConstrainOption, ToolsModeOption};

/// Serve the APIs of OpenAI, Anthropic and Ollama in front of a model server: clients get tool calls, whatever the
/// server makes of them
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where to listen; anything but this machine alone needs --api-key-env
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787")]
    listen: String,
    /// The model server, usually ending in /v1 [default: `OPENAI_BASE_URL`, `OLLAMA_HOST`, or the first found here]
    #[arg(long, value_name = "URL", visible_alias = "base-url")]
    upstream: Option<String>,
    /// The API that the model server speaks
    #[arg(long, value_enum, value_name = "API", default_value = "openai")]
    upstream_api: ServerApiOption,
    /// The variable that holds the key for the model server [default: `OPENAI_API_KEY`]
    #[arg(long, value_name = "VAR")]
    upstream_key_env: Option<String>,
    /// The variable that holds the key which clients have to show
    #[arg(long, value_name = "VAR")]
    api_key_env: Option<String>,
    /// The model for all requests, whatever they ask for
    #[arg(short, long, value_name = "NAME")]
    model: Option<String>,
    /// The dialect of the model's calls, or `auto`: written in the model's own, read in all
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: String,
    /// How the model learns of the tools
    #[arg(long, value_enum, value_name = "MODE", default_value = "auto")]
    tools_mode: ToolsModeOption,
    /// Holds calls to a grammar (llama.cpp, tools in the prompt): auto where a request demands a call, on until there
    /// is a result
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    constrain: ConstrainOption,
    #[command(flatten)]
    template: TemplateOptions,
    /// The largest request, in bytes or with K, M or G
    #[arg(long, value_name = "SIZE", default_value = "32M", value_parser = size)]
    max_body: usize,
    /// How much is kept of earlier answers, for Responses that go on with one; 0 keeps nothing
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size_or_none)]
    response_memory: usize,
    /// How long a connection to the model server may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    connect_timeout: Duration,
    /// How long the model server may take until the first bytes of an answer
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    first_byte_timeout: Duration,
    /// How long the model server may be silent in the middle of an answer
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    idle_timeout: Duration,
    /// Counts at /metrics what goes through, for Prometheus
    #[arg(long)]
    metrics: bool,
    /// After how long a silence of the model server a streaming client is told that it is still there
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = seconds)]
    keep_alive: Duration,
    #[command(flatten)]
    execution: Execution,
}

/// The APIs of model servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ServerApiOption {
    /// Chat completions
    Openai,
    /// Messages
    Anthropic,
    /// Ollama's own chat
    Ollama,
}

impl From<ServerApiOption> for ServerApi {
    fn from(option: ServerApiOption) -> Self {
        match option {
            ServerApiOption::Openai => Self::OpenAi,
            ServerApiOption::Anthropic => Self::Anthropic,
            ServerApiOption::Ollama => Self::Ollama,
        }
    }
}

/// What ends the program.
struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let dialect = match catalog.choose(&options.dialect)? {
        Choice::Auto => None,
        Choice::One(dialect) => Some(dialect),
    };
    let address = address(&options.listen)?;
    let key = options.api_key_env.as_deref().map(key).transpose()?;
    if !address.ip().is_loopback() && key.is_none() {
        return Err(Exit::Usage.because(format!(
            "{address} is not for this machine alone: name the variable that holds a key for clients with \
             --api-key-env"
        )));
    }
    let executor = options.execution.executor()?.map(|executor| Arc::new(executor) as Arc<dyn Executor>);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = Stop::listen()?;
        let server = Server::find(&options.server()).await?;
        let behind = server.base.clone();
        let words = options.words(&server, catalog, common).await?;
        let mut upstream = server.into_upstream(options.connect_timeout)?;
        upstream.api = options.upstream_api.into();
        upstream.first_byte = options.first_byte_timeout;
        upstream.between_bytes = options.idle_timeout;
        let route = RouteSettings {
            dialect,
            words,
            detail: options.template.detail(),
            tools_mode: options.tools_mode.into(),
            constrain: options.constrain.into(),
            model: options.model.clone(),
            ..RouteSettings::new(vec![upstream])
        };
        let settings = Settings {
            dialects: catalog.all(),
            max_body: options.max_body,
            memory: options.response_memory,
            keep_alive: options.keep_alive,
            metrics: options.metrics,
            executor,
            max_turns: options.execution.max_turns,
            keys: key.into_iter().map(|key| ClientKey::new("default", key)).collect(),
            ..Settings::new(vec![route])
        };
        let listener = TcpListener::bind(address).await.map_err(|error| {
            let reason = crate::input::plain(&error);
            Exit::Failed
                .because(format!("cannot listen on {address} ({reason}); --listen takes another address"))
        })?;
        let mut out = std::io::stdout();
        writeln!(out, "listening on http://{}/v1, in front of {behind}", listener.local_addr()?)?;
        out.flush()?;
        let proxy = Proxy::new(settings, listener.local_addr()?);
        serve(listener, proxy.map_err(|error| Exit::Failed.because(error.to_string()))?, stop).await
    })
}

impl Options {
    /// What the template of the model says, where all requests are for one model.
    async fn words(&self, server: &Server, catalog: Catalog, common: &Common) -> Result<Option<Words>> {
        let only = match server.models.as_slice() {
            [model] => Some(model),
            _ => None,
        };
        let Some(model) = self.model.as_ref().or(only) else { return Ok(None) };
        match self.tools_mode {
            ToolsModeOption::Native => Ok(None),
            _ => self.template.words(server, model, catalog, common).await,
        }
    }

    fn server(&self) -> ServerOptions {
        ServerOptions {
            base_url: self.upstream.clone(),
            model: self.model.clone(),
            api_key_env: self.upstream_key_env.clone(),
            names: ["--upstream", "--upstream-key-env"],
            anthropic: self.upstream_api == ServerApiOption::Anthropic,
        }
    }
}

/// Serves until a signal comes, and ends what is under way; a second signal ends the program at once.
async fn serve(listener: TcpListener, proxy: Arc<Proxy>, mut stop: Stop) -> Result<Exit> {
    let (told, tell) = tokio::sync::oneshot::channel();
    let serving = del_proxy::serve(listener, proxy, async {
        let _ = tell.await;
    });
    tokio::pin!(serving);
    let ended = |served: Result<(), SettingsError>, exit| match served {
        Ok(()) => Ok(exit),
        Err(error) => Err(Exit::Failed.because(error.to_string())),
    };
    let exit = tokio::select! {
        served = &mut serving => return ended(served, Exit::Done),
        exit = stop.comes() => exit,
    };
    let _ = told.send(());
    tokio::select! {
        served = &mut serving => ended(served, exit),
        exit = stop.comes() => Ok(exit),
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

fn address(text: &str) -> Result<SocketAddr> {
    let wrong =
        || Exit::Usage.because(format!("--listen: expected an address such as 127.0.0.1:8787, got `{text}`"));
    text.to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)
}

fn key(variable: &str) -> Result<String> {
    std::env::var(variable).ok().filter(|key| !key.trim().is_empty()).ok_or_else(|| {
        Exit::Configuration.because(format!("the variable {variable}, named by --api-key-env, is not set"))
    })
}

fn size(text: &str) -> Result<usize, String> {
    let (digits, factor) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| "expected a size such as 500000, 512K or 32M".to_owned())
}

fn size_or_none(text: &str) -> Result<usize, String> {
    if text == "0" { Ok(0) } else { size(text) }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.trim_end_matches('s').parse().ok().filter(|seconds| *seconds > 0.0);
    let span = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    span.ok_or_else(|| "expected a number of seconds above 0, such as 30 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{seconds, size, size_or_none};

    #[test]
    fn sizes_are_read() {
        assert_eq!(
            [size("7"), size("2k"), size("3M"), size("1G")],
            [Ok(7), Ok(2048), Ok(3 << 20), Ok(1 << 30)]
        );
        for wrong in ["", "0", "M", "-1", "1.5M", "99999999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!((size_or_none("0"), size_or_none("1K")), (Ok(0), Ok(1024)));
    }

    #[test]
    fn spans_of_time_are_read() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("30s"), Ok(Duration::from_secs(30)));
        for wrong in ["", "0", "-1", "nan", "inf", "1m", "1e30"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
