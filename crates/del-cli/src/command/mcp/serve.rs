//! `del mcp serve`: the built-in tools for other hosts.

use anyhow::Result;
use clap::Args;
use del_tools::{Level, Toolset};
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Exit;
use crate::hands::{Consenting, Workplace};
use crate::say;

/// Which tools, where, and with which consent.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The set of tools: core, del or all
    #[arg(long, value_name = "SET", default_value = "all")]
    toolset: Toolset,
    #[command(flatten)]
    workplace: Workplace,
    #[command(flatten)]
    consenting: Consenting,
}

pub(super) fn run(options: &Options) -> Result<Exit> {
    let (toolbox, gate) = options.workplace.open_with(options.toolset, &options.consenting)?;
    if toolbox.sandbox().level() != Level::Off {
        say(toolbox.sandbox());
    }
    let stop = async {
        let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(signal);
        let [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] = signals else {
            // Without signals the end of the input is the only end.
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    };
    del_mcp::serve(toolbox, gate, stop)?;
    Ok(Exit::Done)
}
