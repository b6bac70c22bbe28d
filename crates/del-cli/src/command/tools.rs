//! `del tools`: the built-in tools.

use std::io::Write;
use std::str::FromStr;

use anyhow::Result;
use clap::{Args, Subcommand};
use del_dialects::{Call, ReadCall};
use del_tools::{Definition, Toolset};
use del_wire::tools::{self, Format};
use serde_json::{Map, Value, json};

use crate::colour::Paint;
use crate::common::Common;
use crate::consent::Asked;
use crate::exit::Exit;
use crate::hands::{self, Consenting, Hands, Workplace};
use crate::input::Input;
use crate::interrupt::Interrupt;
use crate::screen::stage;
use crate::table::Table;
use crate::terminal::{self, shown};

/// List, describe and run the built-in tools
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Option<Action>,
    /// The set of tools: core, del or all [default: all; of schema: core]
    #[arg(id = "listed_set", long = "toolset", value_name = "SET", global = true)]
    toolset: Option<Toolset>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the tools of a set
    List,
    /// Print the definitions of a set
    Schema {
        /// The form: openai, anthropic, mcp or xml
        #[arg(long, value_name = "FORM", default_value = "openai", value_parser = Format::from_str)]
        format: Format,
    },
    /// Run one and print what a model would see
    Call(Box<CallOptions>),
}

#[derive(Debug, Args)]
struct CallOptions {
    /// The tool
    name: String,
    /// Its arguments, as a JSON object; `-` for standard input
    #[arg(default_value = "{}")]
    arguments: String,
    #[command(flatten)]
    workplace: Workplace,
    #[command(flatten)]
    consenting: Consenting,
    /// Gives consent where it is asked for; confinement stays as it is
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let toolset = options.toolset.unwrap_or(Toolset::All);
    match &options.action {
        None | Some(Action::List) => list(toolset, options.json, common),
        Some(Action::Schema { format }) => schema(options.toolset.unwrap_or_default(), *format),
        Some(Action::Call(call_options)) => call(call_options, toolset, options.json, common),
    }
}

fn list(toolset: Toolset, json: bool, common: &Common) -> Result<Exit> {
    let definitions = toolset.definitions();
    let mut out = std::io::stdout().lock();
    if json {
        let rows: Value = definitions
            .iter()
            .map(|definition| {
                let description = definition.tool().description;
                let names: Map<String, Value> = definition
                    .names()
                    .into_iter()
                    .map(|(set, name)| (set.to_string(), json!(name)))
                    .collect();
                let sets: Vec<&String> = names.keys().collect();
                json!({
                    "name": definition.name, "class": definition.class, "toolsets": sets,
                    "names": names, "description": description,
                })
            })
            .collect();
        writeln!(out, "{rows:#}")?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["NAME", "DOES", "SETS", "DESCRIPTION"]);
    for definition in &definitions {
        let class = json!(definition.class);
        let description = definition.tool().description;
        let first = description.lines().next().unwrap_or_default().to_owned();
        let class = class.as_str().unwrap_or_default().to_owned();
        table.row(vec![definition.name.to_owned(), class, sets(definition), first]);
    }
    out.write_all(table.text(Paint::stdout(common.color), terminal::stdout_width()).as_bytes())?;
    Ok(Exit::Done)
}

/// The sets that offer the tool, and where it has another name there, under which.
fn sets(definition: &Definition) -> String {
    let shown = |(set, name): (Toolset, &str)| {
        if name == definition.name { set.to_string() } else { format!("{set} ({name})") }
    };
    definition.names().into_iter().map(shown).collect::<Vec<_>>().join(" ")
}

fn schema(toolset: Toolset, format: Format) -> Result<Exit> {
    let definitions = toolset.definitions();
    let text = if format == Format::OpenAi {
        // The definitions as they stand: models and their users know them to the byte.
        let texts: Vec<&str> = definitions.iter().map(|definition| definition.json).collect();
        format!("[\n{}\n]\n", texts.join(",\n"))
    } else {
        let tools: Vec<_> = definitions.iter().map(Definition::tool).collect();
        tools::write(&tools, format)
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn call(options: &CallOptions, toolset: Toolset, json: bool, common: &Common) -> Result<Exit> {
    if options.name.starts_with("mcp__") {
        return Err(Exit::Usage.because(
            "expected a built-in tool; those of MCP servers are called by `del`, `del -p` and `del exec`",
        ));
    }
    let mut arguments = options.arguments.clone();
    if arguments == "-" {
        arguments = Input::open(None)?.text()?;
    }
    let mut hands = Hands::new(toolset, &options.workplace, &options.consenting)?;
    let cancel = Interrupt::listen(stage::CURTAIN)?.begin();
    let mut asked = Asked::find(options.yes, common.color, &cancel);
    let call = Call { id: None, name: options.name.clone(), arguments };
    let result = hands.run_one(&ReadCall { call, guess: None }, &cancel, &mut asked);
    let mut out = std::io::stdout().lock();
    if json {
        let changes = &result.changes;
        let value = json!({
            "ok": result.ok, "text": result.text, "data": result.data,
            "truncated": result.truncated, "changes": changes,
        });
        writeln!(out, "{}", shown(&format!("{value:#}")))?;
    } else {
        writeln!(out, "{}", shown(&result.text))?;
    }
    hands.advice("--yes").into_iter().for_each(crate::say);
    if cancel.is_cancelled() {
        return Ok(Exit::Interrupted);
    }
    Ok(hands::exit(&result))
}
