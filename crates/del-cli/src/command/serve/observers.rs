//! Those who are told of requests: a log, and a collector of OpenTelemetry.

use std::sync::Arc;

use anyhow::Result;
use clap::ValueEnum;
use del_proxy::{Collector, CollectorConfig, Lines, Observer, Style};

use crate::exit::Exit;
use crate::{server, tls};

/// What the lines of the log look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogOption {
    /// There is none
    Off,
    /// Words and values, for people
    Text,
    /// A JSON object each
    Json,
}

/// A log on standard error where it is wanted, and a collector where the environment names one. Needs a runtime.
///
/// # Errors
/// When a variable about the collector cannot be used.
pub(super) fn observers(log: LogOption) -> Result<Vec<Arc<dyn Observer>>> {
    let mut observers: Vec<Arc<dyn Observer>> = Vec::new();
    let style = match log {
        LogOption::Off => None,
        LogOption::Text => Some(Style::Text),
        LogOption::Json => Some(Style::Json),
    };
    if let Some(style) = style {
        observers.push(Arc::new(Lines::new(style, std::io::stderr())));
    }
    let collector = CollectorConfig::of(&|name| std::env::var(name).ok());
    if let Some(config) = collector.map_err(|error| Exit::Configuration.because(error))? {
        tls::prepare();
        observers.push(Arc::new(Collector::start(config, server::client(server::Way::Any).build()?)));
    }
    Ok(observers)
}
