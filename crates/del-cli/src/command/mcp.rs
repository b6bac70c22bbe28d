//! `del mcp`: the built-in tools for other hosts, and the servers whose tools models get.

mod serve;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use del_mcp::{ConfigError, Launch, Server, Servers, Source, State};
use del_tools::{counted, visible};
use serde_json::{Value, json};

use crate::colour::Paint;
use crate::command::trust;
use crate::common::Common;
use crate::config::Layers;
use crate::consent::Asked;
use crate::exit::Exit;
use crate::held::Held;
use crate::interrupt::Interrupt;
use crate::project::Project;
use crate::say;
use crate::screen::stage;
use crate::servers;
use crate::table::Table;
use crate::terminal::{self, shown};
use crate::tls;

/// Offer the tools to other hosts, and manage the MCP servers whose tools models get
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Be an MCP server on standard input and output, with the built-in tools
    Serve(Box<serve::Options>),
    /// Add a server to your own, or change it: `add NAME -- COMMAND…`, or `add NAME --url URL`
    Add(AddOptions),
    /// List the servers, without starting them
    List(Listed),
    /// Remove a server from your own
    Remove {
        /// Its name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Start a server and list its tools
    Test {
        /// Its name
        name: String,
        #[command(flatten)]
        listed: Listed,
    },
    /// Show the servers of this directory's .mcp.json, and ask whether they may run
    Trust(Listed),
}

#[derive(Debug, Args)]
struct Listed {
    /// Where the assistant would work [default: the current directory]
    #[arg(long, value_name = "DIR")]
    working_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct AddOptions {
    /// Its name, which its tools carry
    name: String,
    /// The program that is started, and its arguments
    #[arg(
        trailing_var_arg = true,
        value_name = "COMMAND",
        required_unless_present = "url",
        conflicts_with = "url"
    )]
    command: Vec<String>,
    /// The address of a server that speaks streamable HTTP
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Sets a variable of the program; `K=$NAME` takes it from your environment; may be given again
    #[arg(long, value_name = "K=V", value_parser = variable, conflicts_with = "url")]
    env: Vec<(String, String)>,
    /// Sends a header with every request; may be given again
    #[arg(long, value_name = "K: V", value_parser = header, requires = "url")]
    header: Vec<(String, String)>,
    /// How many seconds its start may take [default: 60], and each call [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A server of this run.
struct Row {
    server: Server,
    state: &'static str,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    match &options.action {
        Action::Serve(options) => serve::run(options),
        Action::Add(options) => add(options),
        Action::List(listed) => list(listed, common),
        Action::Remove { name, json } => remove(name, *json),
        Action::Test { name, listed } => test(name, listed, common),
        Action::Trust(listed) => trust(listed, common),
    }
}

fn add(options: &AddOptions) -> Result<Exit> {
    let launch = match (&options.url, options.command.split_first()) {
        (Some(url), _) => Launch::Address { url: url.clone(), headers: options.header.clone() },
        (None, Some((command, arguments))) => Launch::Program {
            command: command.clone(),
            arguments: arguments.to_vec(),
            environment: options.env.clone(),
            directory: None,
        },
        (None, None) => return Err(Exit::Usage.because("expected a command or --url, got neither")),
    };
    let timeout = options.timeout.map(Duration::from_secs);
    let server = Server::new(&options.name, launch, timeout)
        .map_err(|error| Exit::Usage.because(error.to_string()))?;
    let path =
        servers::own_path().ok_or_else(|| Exit::Configuration.because("there is no home directory"))?;
    let _held = held(&path)?;
    let mut own = servers::own()?;
    let replaced = own.put(server);
    own.write(&path).map_err(|error| servers::broken(&error))?;
    let done = if replaced { "changed" } else { "added" };
    tell(options.json, &json!({"name": options.name, "done": done, "file": path}), || {
        format!("{done} {} in {}; `del mcp test {}` tries it", options.name, path.display(), options.name)
    })
}

fn remove(name: &str, json: bool) -> Result<Exit> {
    let path =
        servers::own_path().ok_or_else(|| Exit::Configuration.because("there is no home directory"))?;
    let _held = held(&path)?;
    let mut own = servers::own()?;
    if !own.remove(name) {
        return Err(Exit::Usage.because(format!("there is no server '{name}' in {}", path.display())));
    }
    own.write(&path).map_err(|error| servers::broken(&error))?;
    tell(json, &json!({"name": name, "done": "removed", "file": path}), || {
        format!("removed {name} from {}", path.display())
    })
}

/// The file of one's own servers, while it is changed.
fn held(path: &Path) -> Result<Held> {
    Held::wait(path)
        .map_err(|error| servers::broken(&ConfigError::File { verb: "write", path: path.to_owned(), error }))
}

fn list(listed: &Listed, common: &Common) -> Result<Exit> {
    let rows = rows(listed)?;
    if listed.json {
        let list: Value = rows
            .iter()
            .map(|row| {
                let source = source(row.server.source);
                json!({"name": row.server.name, "from": source, "state": row.state, "runs": row.server.launch.to_string()})
            })
            .collect();
        return tell(true, &list, String::new);
    }
    if rows.is_empty() {
        say("there are no MCP servers; `del mcp add NAME -- COMMAND` adds one");
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["NAME", "FROM", "STATE", "RUNS"]);
    for row in &rows {
        let runs = visible(&row.server.launch.to_string().replace('\n', "\u{2424}")).into_owned();
        table.row(vec![
            row.server.name.clone(),
            source(row.server.source).to_owned(),
            row.state.to_owned(),
            runs,
        ]);
    }
    let text = table.text(Paint::stdout(common.color), terminal::stdout_width());
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn test(name: &str, listed: &Listed, common: &Common) -> Result<Exit> {
    let directory = directory(listed)?;
    let row = rows(listed)?.into_iter().find(|row| row.server.name == name && row.state != "hidden");
    let Some(Row { mut server, state }) = row else {
        return Err(Exit::Usage.because(format!("there is no server '{name}'; `del mcp list` lists all")));
    };
    let cancel = Interrupt::listen(stage::CURTAIN)?.begin();
    if state == "untrusted" {
        let mut project = Project::find_servers(&directory);
        project.ask(&Layers::default(), &mut Asked::find(false, common.color, &cancel), &cancel);
        if !project.is_trusted() {
            return Err(Exit::Untrusted.because(format!(
                "'{name}' is named by this directory's .mcp.json, which you have not agreed to run; `del mcp trust` asks"
            )));
        }
    }
    server.disabled = false;
    tls::prepare();
    let mut started = Servers::start(vec![server], &directory);
    let states = servers::gather(&mut started, &cancel);
    if cancel.is_cancelled() {
        return Ok(Exit::Interrupted);
    }
    let Some(state) = states.first() else {
        return Err(Exit::Failed.because("the server cannot be started"));
    };
    state.warnings.iter().for_each(say);
    report(state, listed.json, common)
}

fn report(state: &State, json: bool, common: &Common) -> Result<Exit> {
    if json {
        let tools: Value = state
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description}))
            .collect();
        let (ok, error) = (state.outcome.is_ok(), state.outcome.as_ref().err());
        let server = state.outcome.as_ref().ok();
        let value = json!({
            "name": state.name, "ok": ok, "server": server, "error": error, "tools": tools, "warnings": state.warnings,
        });
        tell(true, &value, String::new)?;
        return Ok(if ok { Exit::Done } else { Exit::Failed });
    }
    let title = match &state.outcome {
        Ok(title) => title,
        Err(why) => {
            return Err(
                Exit::Failed.because(format!("the MCP server '{}' cannot be used: {why}", state.name))
            );
        }
    };
    say(format!("{title}: {}", counted(state.tools.len(), "tool")));
    let mut table = Table::new(&["NAME", "DESCRIPTION"]);
    for tool in &state.tools {
        let first = tool.description.lines().next().unwrap_or_default().to_owned();
        table.row(vec![tool.name.clone(), first]);
    }
    let text = table.text(Paint::stdout(common.color), terminal::stdout_width());
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn trust(listed: &Listed, common: &Common) -> Result<Exit> {
    let mut project = Project::find_servers(&directory(listed)?).whole()?;
    if project.parts.is_empty() {
        return Err(Exit::Failed.because("there is no .mcp.json here that can be read"));
    }
    trust::settle(&mut project, false, common)?;
    let Some((part, config)) = project.servers() else { return Ok(Exit::Failed) };
    let names: Vec<&str> = config.servers.iter().map(|server| server.name.as_str()).collect();
    let trusted = part.is_trusted();
    tell(listed.json, &json!({"file": part.path, "trusted": trusted, "servers": names}), || {
        if trusted { "its servers may run".to_owned() } else { "its servers do not run".to_owned() }
    })?;
    Ok(if trusted { Exit::Done } else { Exit::Untrusted })
}

/// The servers that a run in this directory would have, those that it would leave out included.
fn rows(listed: &Listed) -> Result<Vec<Row>> {
    let own = servers::own()?;
    own.warnings.iter().for_each(say);
    let state = |server: &Server, state| if server.disabled { "off" } else { state };
    let mut rows: Vec<Row> =
        own.servers.into_iter().map(|server| Row { state: state(&server, "on"), server }).collect();
    let project = Project::find_servers(&directory(listed)?);
    project.complain();
    if let Some((part, config)) = project.servers() {
        config.warnings.iter().for_each(say);
        for server in config.servers.iter().cloned() {
            let taken = rows.iter().any(|row| row.server.name == server.name);
            let word = match () {
                () if taken => "hidden",
                () if !part.is_trusted() => "untrusted",
                () => state(&server, "on"),
            };
            rows.push(Row { server, state: word });
        }
    }
    Ok(rows)
}

fn directory(listed: &Listed) -> Result<PathBuf> {
    let directory = listed.working_dir.clone().unwrap_or_else(|| PathBuf::from("."));
    directory.canonicalize().map_err(|error| {
        let reason = crate::input::plain(&error);
        Exit::Configuration.because(format!("cannot work in {}: {reason}", directory.display()))
    })
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Own => "own",
        Source::Named => "named",
        Source::Project => ".mcp.json",
    }
}

/// The outcome for a program, or in words.
fn tell(json: bool, value: &Value, words: impl FnOnce() -> String) -> Result<Exit> {
    let text = if json { format!("{value:#}") } else { words() };
    writeln!(std::io::stdout().lock(), "{}", shown(&text))?;
    Ok(Exit::Done)
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("expected NAME=VALUE, got '{text}'")),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(format!("expected 'NAME: VALUE', got '{text}'")),
    }
}
