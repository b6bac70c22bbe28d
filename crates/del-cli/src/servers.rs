//! The MCP servers of a run: the user's own, those of a file that was named, and those that the directory brings.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use del_mcp::{Config, ConfigError, Server, Servers, Source, State, Trust};
use del_tools::{Cancel, visible};

use crate::consent::Asked;
use crate::exit::Exit;
use crate::folders;
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

/// The servers that a directory brings along, if there are any, and whether the user trusts them.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) path: PathBuf,
    pub(crate) config: Config,
    pub(crate) trusted: bool,
    directory: PathBuf,
    content: Vec<u8>,
}

/// The file of servers in a working directory.
const PROJECT: &str = ".mcp.json";
/// What takes longer is said.
const A_WHILE: Duration = Duration::from_secs(1);
/// The longest such file.
const LONGEST: u64 = 1 << 20;

impl ServerTools {
    /// Another program brings these, in its user's name.
    pub(crate) fn bring(&mut self, servers: Vec<Server>) {
        self.brought = servers;
    }

    /// Begins to start the servers of this run, in the background; `None` when there are none.
    pub(crate) fn start(&self, directory: &Path, asked: &mut Asked) -> Result<Option<Servers>> {
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
        if let Some(mut project) = Project::find(directory) {
            if !project.trusted {
                project.ask(asked);
            }
            if project.trusted {
                add(&mut servers, project.config);
            } else if !project.config.servers.is_empty() {
                say(format!(
                    "the MCP servers of {PROJECT} are left out: you have not agreed to run them; `del mcp trust` asks"
                ));
            }
        }
        if servers.iter().all(|server: &Server| server.disabled) {
            return Ok(None);
        }
        tls::prepare();
        Ok(Some(Servers::start(servers, directory)))
    }
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

impl Project {
    /// What the directory (absolute and without links) brings along. A file that cannot be read is said and left.
    pub(crate) fn find(directory: &Path) -> Option<Self> {
        let path = directory.join(PROJECT);
        let regular = std::fs::symlink_metadata(&path)
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LONGEST);
        if !regular {
            return None;
        }
        let content = std::fs::read(&path).ok()?;
        let config = match Config::parse(&content, &path, Source::Project) {
            Ok(config) => config,
            Err(error) => {
                say(format!("the MCP servers of {PROJECT} are left out: {error}"));
                return None;
            }
        };
        let trusted = trust().is_some_and(|trust| trust.holds(directory, &content));
        Some(Self { path, config, trusted, directory: directory.to_owned(), content })
    }

    /// Asks the person at the terminal, if there is one, whether these programs may run, and keeps a yes.
    pub(crate) fn ask(&mut self, asked: &mut Asked) {
        let Asked::Terminal(terminal) = asked else { return };
        if self.config.servers.is_empty() {
            return;
        }
        let text = self.question();
        if terminal.agrees(&text, "Run them, now and whenever you work here, until the file changes?") {
            self.keep();
        }
    }

    /// Keeps that the user trusts these servers.
    pub(crate) fn keep(&mut self) {
        self.trusted = true;
        let kept = trust().map(|trust| trust.keep(&self.directory, &self.content));
        if !matches!(kept, Some(Ok(()))) {
            say("your answer cannot be kept; it holds for this run");
        }
    }

    /// What would run, to the last word.
    pub(crate) fn question(&self) -> String {
        let mut text = format!(
            "{} names programs that would be started, with your rights and outside of the sandbox:",
            self.path.display().to_string().replace('\n', "\u{2424}")
        );
        for server in &self.config.servers {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  {}", server.name);
            for line in server.launch.lines() {
                let _ = write!(text, "\n    {}", line.replace('\n', "\u{2424}"));
            }
        }
        visible(&text).into_owned()
    }
}

fn trust() -> Option<Trust> {
    Some(Trust::at(folders::state()?.join("trusted.json")))
}
