//! `del serve`: a proxy in front of a model server, for clients of the OpenAI API.

use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::Result;
use clap::Args;
use del_proxy::{Settings, SettingsError};
use del_wire::Words;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::arguments::Common;
use crate::catalog::{Catalog, Choice};
use crate::exit::Exit;
use crate::server::taught::TemplateOptions;
use crate::server::{Server, ServerOptions};
use crate::session::{ConstrainOption, ToolsModeOption};

/// Serve the OpenAI API in front of a model server: clients get tool calls, whatever the server makes of them
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where to listen; anything but this machine alone needs --api-key-env
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787")]
    listen: String,
    /// The model server, usually ending in /v1 [default: `OPENAI_BASE_URL`, `OLLAMA_HOST`, or the first found here]
    #[arg(long, value_name = "URL", visible_alias = "base-url")]
    upstream: Option<String>,
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
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = Stop::listen()?;
        let server = Server::find(&options.server()).await?;
        let behind = server.base.clone();
        let words = options.words(&server, catalog, common).await?;
        let settings = Settings {
            dialects: catalog.all(),
            dialect,
            words,
            detail: options.template.detail(),
            tools_mode: options.tools_mode.into(),
            constrain: options.constrain.into(),
            model: options.model.clone(),
            max_body: options.max_body,
            key,
            ..Settings::new(server.into_upstream())
        };
        let listener = TcpListener::bind(address).await.map_err(|error| {
            let reason = crate::input::plain(&error);
            Exit::Failed
                .because(format!("cannot listen on {address} ({reason}); --listen takes another address"))
        })?;
        let mut out = std::io::stdout();
        writeln!(out, "listening on http://{}/v1, in front of {behind}", listener.local_addr()?)?;
        out.flush()?;
        serve(listener, settings, stop).await
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
        }
    }
}

/// Serves until a signal comes, and ends what is under way; a second signal ends the program at once.
async fn serve(listener: TcpListener, settings: Settings, mut stop: Stop) -> Result<Exit> {
    let (told, tell) = tokio::sync::oneshot::channel();
    let serving = del_proxy::serve(listener, settings, async {
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

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_read() {
        assert_eq!(
            [size("7"), size("2k"), size("3M"), size("1G")],
            [Ok(7), Ok(2048), Ok(3 << 20), Ok(1 << 30)]
        );
        for wrong in ["", "0", "M", "-1", "1.5M", "99999999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
