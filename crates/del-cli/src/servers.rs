//! The MCP servers of a run: the user's own, those of a file that was named, and those that the directory brings.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use del_mcp::{Config, ConfigError, Server, Servers, Source, State};
use del_tools::Cancel;

use crate::config::Layers;
use crate::consent::Asked;
use crate::exit::Exit;
use crate::folders;
use crate::project::{self, Project};
use crate::say;
use crate::screen::stage::{self, Stage};
use crate::status::Status;
use crate::tls;

/// Whose tools are offered beside the built-in ones.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServerTools {
    /// MCP servers of FILE (a map `mcpServers`) as well; may be given again
    #[arg(long, value_name = "FILE")]
    mcp_config: Vec<PathBuf>,
    /// No MCP servers
    #[arg(long, conflicts_with = "mcp_config")]
    no_mcp: bool,
    /// Those that another program brings.
    #[arg(skip)]
    brought: Vec<Server>,
}

/// What takes longer is said.
const A_WHILE: Duration = Duration::from_secs(1);

impl ServerTools {
    /// Another program brings these, in its user's name.
    pub(crate) fn bring(&mut self, servers: Vec<Server>) {
        self.brought = servers;
    }

    /// Whether there are to be any.
    pub(crate) fn are_wanted(&self) -> bool {
        !self.no_mcp
    }

    /// Begins to start the servers of this run, those of the project among them if the user trusts them, in the
    /// background; `None` when there are none.
    pub(crate) fn start(&self, directory: &Path, project: &Project) -> Result<Option<Servers>> {
        if self.no_mcp {
            return Ok(None);
        }
        let mut servers = Vec::new();
        let mut brought = Config::default();
        brought.servers.clone_from(&self.brought);
        add(&mut servers, brought);
        for path in &self.mcp_config {
            if !path.is_file() {
                return Err(Exit::Configuration.because(format!("there is no file {}", path.display())));
            }
            add(&mut servers, Config::read(path, Source::Named).map_err(|error| broken(&error))?);
        }
        add(&mut servers, own()?);
        if let Some((part, config)) = project.servers()
            && part.is_trusted()
        {
            add(&mut servers, config.clone());
        }
        if servers.iter().all(|server: &Server| server.disabled) {
            return Ok(None);
        }
        tls::prepare();
        Ok(Some(Servers::start(servers, directory)))
    }
}

/// The servers that a directory brings along; the person at the terminal, if there is one, is asked about new ones.
pub(crate) fn of_project(directory: &Path, asked: &mut Asked, cancel: &Cancel) -> Project {
    let mut project = Project::find_servers(directory);
    project.complain();
    project.ask(&Layers::default(), asked, cancel);
    if !project.is_trusted() {
        say(format!(
            "the MCP servers of {} are left out: you have not agreed to run them; `del mcp trust` asks",
            project::SERVERS
        ));
    }
    project
}

/// Waits for the servers that still start, until `cancel` is set. What became of those that have.
pub(crate) fn gather<'s>(servers: &'s mut Servers, cancel: &Cancel) -> &'s [State] {
    let names: Vec<&str> = servers.starting().collect();
    if names.is_empty() {
        return &[];
    }
    let waiting = format!("waiting for the MCP servers {}", names.join(", "));
    let _busy = stage::current().map(|stage| stage.busy(&waiting));
    let status = Status::new();
    std::thread::scope(|scope| {
        let (done, over) = mpsc::channel::<()>();
        let (waiting, status) = (&waiting, &status);
        scope.spawn(move || tell_of_waiting(waiting, status, &over));
        let states = servers.gather(cancel);
        drop(done);
        states
    })
}

/// Says what is wrong with servers.
pub(crate) fn tell(states: &[State]) {
    for state in states {
        match &state.outcome {
            Err(why) => say(format!("the MCP server '{}' is left out: {why}", state.name)),
            Ok(_) => {
                for warning in &state.warnings {
                    say(format!("MCP server '{}': {warning}", state.name));
                }
            }
        }
    }
}

/// Says for what the user waits once that takes a while, until nobody holds the other end of `over`.
fn tell_of_waiting(waiting: &str, status: &Status, over: &Receiver<()>) {
    let begun = Instant::now();
    let mut told = false;
    while let Err(RecvTimeoutError::Timeout) = over.recv_timeout(A_WHILE) {
        if stage::current().is_some_and(Stage::redraws) {
            continue;
        }
        if status.is_watched() {
            status.show(&format!("{waiting} ({} s); Ctrl-C stops", begun.elapsed().as_secs()));
        } else if !told {
            say(waiting);
            told = true;
        }
    }
}

/// Takes servers in, but for those whose name is taken: what the user chose is not replaced by what a directory brings.
fn add(servers: &mut Vec<Server>, config: Config) {
    config.warnings.iter().for_each(say);
    for server in config.servers {
        if servers.iter().any(|other| other.name == server.name) {
            say(format!("a second MCP server named '{}' is left out", server.name));
        } else {
            servers.push(server);
        }
    }
}

/// The user's own servers.
pub(crate) fn own() -> Result<Config> {
    own_path().map_or_else(
        || Ok(Config::default()),
        |path| Config::read(&path, Source::Own).map_err(|error| broken(&error)),
    )
}

/// Where they stand.
pub(crate) fn own_path() -> Option<PathBuf> {
    Some(folders::configuration()?.join("mcp.json"))
}

pub(crate) fn broken(error: &ConfigError) -> anyhow::Error {
    Exit::Configuration.because(error.to_string())
}
