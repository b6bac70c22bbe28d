//! `del exec`: runs the calls that a model wrote.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use del_dialects::{Call, Collect, End, Message, Start, Turn};
use del_tools::{ToolResult, Toolset};
use del_wire::{Ids, Seed, native};
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::common::Common;
use crate::consent::Asked;
use crate::exit::Exit;
use crate::hands::{self, Consenting, Hands, Workplace};
use crate::input::Input;
use crate::interrupt::Interrupt;
use crate::onlooker::Onlooker;
use crate::say;
use crate::screen::lines;
use crate::screen::look::Look;
use crate::screen::stage;
use crate::servers::ServerTools;
use crate::terminal::shown;

/// Run the calls that a model wrote and print the results as it would see them
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The model's output [default: standard input]
    file: Option<PathBuf>,
    /// The dialect, `auto`, or `openai-native` for an answer of the API itself
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: String,
    /// The set of tools: core, del or all [default: all, under each of their names]
    #[arg(long, value_name = "SET")]
    toolset: Option<Toolset>,
    #[command(flatten)]
    workplace: Workplace,
    #[command(flatten)]
    consenting: Consenting,
    #[command(flatten)]
    servers: ServerTools,
    /// Gives consent where it is asked for; confinement stays as it is
    #[arg(short, long)]
    yes: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let mut hands =
        Hands::new(options.toolset.unwrap_or(Toolset::All), &options.workplace, &options.consenting)?;
    let interrupt = Interrupt::listen(stage::CURTAIN)?;
    let cancel = interrupt.begin();
    let mut asked = Asked::find(options.yes, common.color, &cancel);
    hands.connect(&options.servers, &options.workplace, &mut asked, &cancel)?;
    interrupt.rest();
    let (mut message, seed) = read(options, catalog, &hands)?;
    for fault in message.faults.iter().filter(|fault| fault.kind.ends_call()) {
        say(format!("bytes {} to {}: {}", fault.span.start, fault.span.end, fault.kind.message()));
    }
    if message.calls.is_empty() {
        say("there is no call in this output");
    }
    let mut ids = Ids::new(seed.number());
    for call in &mut message.calls {
        call.id = Some(ids.keep_or_mint(call.id.as_deref()));
    }
    let cancel = interrupt.begin();
    let mut asked = Asked::find(options.yes, common.color, &cancel);
    let mut watch = Watch { look: Look::find(common.color) };
    let results = hands.run(&message.read_calls(), &cancel, &mut asked, &mut watch);
    print(options.json, catalog, &message, &results)?;
    hands.advice("--yes").into_iter().for_each(say);
    if cancel.is_cancelled() {
        return Ok(Exit::Interrupted);
    }
    let exits = results.iter().map(|result| match hands::exit(result) {
        // The model named it, and not the command line.
        Exit::Usage => Exit::ToolFailed,
        exit => exit,
    });
    Ok(exits.into_iter().find(|exit| *exit != Exit::Done).unwrap_or(Exit::Done))
}

/// What the output says, and what ids are made from.
fn read(options: &Options, catalog: Catalog, hands: &Hands) -> Result<(Message, Seed)> {
    let input = Input::open(options.file.as_deref())?.of_a_model();
    if options.dialect == native::NAME {
        let text = input.text()?;
        let message = native::read(&text).map_err(|error| Exit::BadInput.because(error.to_string()))?;
        return Ok((message, Seed::of(text.as_bytes())));
    }
    let choice = catalog.choose(&options.dialect)?;
    let mut tools = hands.tools().to_vec();
    if options.toolset.is_none() {
        // Some have another name and definition in the small set.
        for definition in Toolset::Core.definitions() {
            if tools.iter().all(|tool| tool.name != definition.name) {
                tools.push(definition.tool());
            }
        }
    }
    let mut parser = catalog.parser(&choice, Turn::new(tools).starting(Start::Unknown));
    let (mut collect, mut seed) = (Collect::new(), Seed::default());
    input.pieces(&mut |piece| {
        seed.push(piece.as_bytes());
        parser.push(piece, &mut collect);
        Ok(())
    })?;
    parser.finish(End::End, &mut collect);
    Ok((collect.into_message(), seed))
}

fn print(json: bool, catalog: Catalog, message: &Message, results: &[ToolResult]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let pairs = message.calls.iter().zip(results);
    let dialect = message.dialect.as_deref().and_then(|name| catalog.all().get(name));
    match dialect {
        Some(dialect) if !json => {
            let told: Vec<_> = pairs.map(|(call, result)| hands::told(call, result)).collect();
            writeln!(out, "{}", shown(&dialect.render_results(&told)))?;
        }
        // The API has results in a shape of its own: one message for each.
        None if !json && message.dialect.is_some() => {
            for (call, result) in pairs {
                let line = json!({"role": "tool", "tool_call_id": call.id, "content": result.text});
                writeln!(out, "{}", shown(&line.to_string()))?;
            }
        }
        _ if json => {
            let list: Value = pairs.map(|(call, result)| row(call, result)).collect();
            writeln!(out, "{}", shown(&format!("{list:#}")))?;
        }
        _ => {}
    }
    Ok(())
}

fn row(call: &Call, result: &ToolResult) -> Value {
    json!({
        "id": call.id, "name": call.name, "ok": result.ok, "text": result.text,
        "data": result.data, "truncated": result.truncated, "changes": result.changes,
    })
}

/// Says which calls run; the results are on standard output.
struct Watch {
    look: Look,
}

impl Onlooker for Watch {
    fn call(&mut self, call: &Call) {
        let _ = writeln!(std::io::stderr(), "{}", lines::call(self.look, call));
    }

    fn change(&mut self, change: &str) {
        let _ = writeln!(std::io::stderr(), "{}", lines::change(self.look, change, false));
    }

    fn result(&mut self, _: &Call, result: &ToolResult) {
        if !result.ok {
            let _ = writeln!(std::io::stderr(), "{}", lines::result(self.look, result, false));
        }
    }
}
