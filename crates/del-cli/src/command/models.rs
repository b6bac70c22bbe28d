//! `del models`: what the model server has.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use del_agent::Failure;
use del_tools::visible;
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::colour::Paint;
use crate::common::Common;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::look::Look;
use crate::screen::stage;
use crate::server::{Server, ServerOptions};
use crate::table::Table;
use crate::terminal;

/// List the models of the model server
///
/// With the tokens that each takes and whether it can be given tools, where the server tells, and where it tells it.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// Print rows as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let dialects = Catalog::load(common.dialect_dir.as_deref())?.all();
    // Who has had enough of waiting gets a clean screen.
    let _interrupt = Interrupt::listen(stage::CURTAIN)?;
    let busy = stage::open(Look::find(common.color)).busy("asking the model server");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = runtime.block_on(Server::find(&options.server))?;
    if let Some(reason) = &server.unlisted {
        let failure = Failure::Garbage { reason: reason.clone() };
        return Err(Exit::Failed.because(failure.to_string()));
    }
    let facts = runtime.block_on(server.facts());
    drop(busy);
    let models = || server.models.iter().zip(&facts);
    let dialect = |model: &str| dialects.for_model(model).map(|dialect| dialect.name());
    let mut out = std::io::stdout().lock();
    if options.json {
        let rows: Value = models()
            .map(|(model, facts)| {
                json!({"name": model, "dialect": dialect(model), "context": facts.context, "tools": facts.tools,
                    "from": facts.from})
            })
            .collect();
        writeln!(out, "{}", terminal::shown(&format!("{rows:#}")))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["NAME", "DIALECT", "CONTEXT", "TOOLS", "SAYS"]);
    for (model, facts) in models() {
        let tools = facts.tools.map_or("-", |takes| if takes { "yes" } else { "no" });
        table.row(vec![
            visible(model).into_owned(),
            dialect(model).unwrap_or("-").to_owned(),
            facts.context.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string()),
            tools.to_owned(),
            facts.from.unwrap_or("-").to_owned(),
        ]);
    }
    let text = table.text(Paint::stdout(common.color), terminal::stdout_width());
    out.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}
