//! The sandbox of commands: what the kernel keeps them, and whatever they start, from doing.
//!
//! The kernel holds a thread to its limits, and a child to those of the thread that started it. So each command is
//! started by a thread that gives up its own rights first and then ends; nothing runs between it and the command.

#[cfg_attr(all(target_os = "linux", target_pointer_width = "64"), path = "sandbox/linux.rs")]
#[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), path = "sandbox/elsewhere.rs")]
mod kernel;
mod places;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use del_judge::git_attributes;
use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use tempfile::TempDir;

use kernel::{Bubble, Hold};

/// How commands are to be confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// How much depends on it.
    pub need: Need,
    /// Whether commands may use sockets.
    pub network: bool,
    /// Whether keys and credentials in the home directory are kept from commands.
    pub hide_secrets: bool,
    /// Where commands may write besides the directories that the tools work in.
    pub writable: Vec<PathBuf>,
}

/// How much depends on the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Need {
    /// There shall be none.
    Off,
    /// As much as the kernel offers.
    #[default]
    Auto,
    /// Without a whole one no command may run.
    On,
    /// It is made by the program bwrap, or no command may run.
    Bwrap,
}

/// How far commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nobody wants it.
    Off,
    /// The kernel does not hold writes: every command asks.
    None,
    /// Writes are held, but not everything is.
    Partial,
    /// Writes are held to the allowed directories, and system calls are filtered.
    Full,
}

/// How programs say that they could not write.
const REFUSED_WRITES: [&str; 6] = [
    "Permission denied",
    "permission denied",
    "Read-only file system",
    "EACCES",
    "EROFS",
    "Access is denied",
];
/// How they say that there is no network.
const NO_NETWORK: [&str; 14] = [
    "Operation not permitted",
    "operation not permitted",
    "EPERM",
    "Could not resolve host",
    "Couldn't resolve host",
    "Temporary failure in name resolution",
    "failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "EAI_AGAIN",
    "ENOTFOUND",
    "getaddrinfo",
    "dial tcp",
    "socket: ",
];

/// How far a command reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It writes where commands may write.
    Write,
    /// It reads, and writes nothing but temporary files of its own.
    Look,
    /// The same, and of what is the user's it reads only what lies in the directories that the tools work in.
    Near,
}

/// What commands are held to. The default holds nothing.
#[derive(Debug)]
pub struct Sandbox {
    level: Level,
    network: bool,
    /// For each reach.
    write: Hold,
    look: Hold,
    near: Hold,
    bubble: Option<Bubble>,
    /// Where tools work.
    roots: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    /// For the temporary files of commands that only look, and what is said to them.
    scratch: Option<TempDir>,
}

/// A file in the scratch directory: attributes that keep git from showing secrets.
const ATTRIBUTES: &str = "attributes";

/// What commands may do.
#[derive(Debug, Clone, Copy)]
struct Rights<'a> {
    readable: &'a [PathBuf],
    /// What may not be read, though what lies around it may.
    hidden: &'a [PathBuf],
    writable: &'a [PathBuf],
    network: bool,
}

/// There is no sandbox as it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SandboxError(String);

impl Default for Confinement {
    /// What the kernel offers, no network, and the temporary directory.
    fn default() -> Self {
        Self {
            need: Need::Auto,
            network: false,
            hide_secrets: false,
            writable: temporary().into_iter().collect(),
        }
    }
}

impl Confinement {
    /// How far this system confines commands like this. It is tried out.
    pub fn level(&self) -> Result<Level, SandboxError> {
        Sandbox::new(self, Vec::new()).map(|sandbox| sandbox.level)
    }
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            level: Level::Off,
            network: true,
            write: Hold::default(),
            look: Hold::default(),
            near: Hold::default(),
            bubble: None,
            roots: Vec::new(),
            writable: Vec::new(),
            hidden: Vec::new(),
            scratch: None,
        }
    }
}

impl Sandbox {
    /// A sandbox in which `roots` may be written as well. What the kernel really holds is tried out first. The
    /// directories are those that are there now: what takes their names later gains nothing.
    pub(crate) fn new(confinement: &Confinement, roots: Vec<PathBuf>) -> Result<Self, SandboxError> {
        if confinement.need == Need::Off {
            return Ok(Self::default());
        }
        let network = confinement.network;
        let hidden = if confinement.hide_secrets { places::secrets() } else { Vec::new() };
        let mut writable = roots.clone();
        writable.extend(confinement.writable.iter().cloned());
        if let Some((place, secret)) = places::holder(&writable, &hidden) {
            return Err(SandboxError(format!(
                "`--hide-secrets` cannot keep {} from commands that may write in {}; work in a directory beside it",
                secret.display(),
                place.display()
            )));
        }
        let scratch = tempfile::Builder::new().prefix("del-look-").tempdir().ok();
        if let Some(scratch) = &scratch {
            // Without it git shows what is committed, as it always does.
            let _ = std::fs::write(scratch.path().join(ATTRIBUTES), git_attributes());
        }
        let own: Vec<_> = scratch.iter().map(|scratch| scratch.path().to_owned()).collect();
        let all = [PathBuf::from("/")];
        let (hidden, near) = (hidden.as_slice(), places::near(&roots, &own));
        let write = Rights { readable: &all, hidden, writable: &writable, network };
        let look = Rights { writable: &own, ..write };
        let near = Rights { readable: &near, ..look };
        let mut sandbox = Self {
            level: Level::None,
            network,
            write: Hold::new(&write),
            look: Hold::new(&look),
            near: Hold::new(&near),
            bubble: None,
            roots,
            writable: writable.clone(),
            hidden: hidden.to_owned(),
            scratch,
        };
        sandbox.level = sandbox.write.level();
        if confinement.need == Need::Bwrap {
            let bubble = Bubble::new([&write, &look, &near], sandbox.write.filter_bytes());
            let said = "`--sandbox auto` takes what the kernel offers";
            sandbox.bubble = Some(bubble.map_err(|cause| SandboxError(format!("{cause}. {said}")))?);
            sandbox.level = Level::Full;
        }
        if confinement.need == Need::On && sandbox.level != Level::Full {
            let said = "`--sandbox on` demands a whole sandbox; `--sandbox auto` takes what there is";
            return Err(SandboxError(format!("{sandbox}. {said}")));
        }
        if !hidden.is_empty() && matches!(sandbox.level, Level::None) {
            let said = "`--hide-secrets` needs a sandbox";
            return Err(SandboxError(format!("{sandbox}. {said}")));
        }
        Ok(sandbox)
    }

    /// How far commands are confined.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Whether commands may use the network.
    pub(crate) fn network(&self) -> bool {
        self.network
    }

    /// What to pass when the output of a program that failed looks as if the sandbox had been in its way.
    pub(crate) fn remark(&self, output: &str) -> Option<String> {
        if matches!(self.level, Level::Off | Level::None) {
            return None;
        }
        let says = |signs: &[&str]| signs.iter().any(|sign| output.contains(sign));
        let mut remedies = Vec::new();
        if says(&REFUSED_WRITES) {
            remedies.push(format!("commands write only in {} (--allow-dir DIR adds one)", self.places()));
        }
        if !self.network && says(&NO_NETWORK) {
            remedies.push("commands have no network (--allow-network gives it)".to_owned());
        }
        (!remedies.is_empty())
            .then(|| format!("[the sandbox may have been in the way: {}]", remedies.join("; ")))
    }

    /// How far a safe command reaches that runs `program` in `directory`.
    pub(crate) fn reach_of(&self, program: &Path, directory: &Path) -> Reach {
        let works_here = self.roots.iter().any(|root| directory.starts_with(root));
        // Programs in the home directory keep there what they need.
        if works_here && places::is_of_system(program) { Reach::Near } else { Reach::Look }
    }

    /// The attributes that keep git from showing lines of files that usually hold secrets.
    pub(crate) fn attributes(&self) -> Option<PathBuf> {
        self.scratch.as_ref().map(|scratch| scratch.path().join(ATTRIBUTES)).filter(|path| path.exists())
    }

    /// Where commands that only look have their temporary files, and find what is said to them.
    pub(crate) fn scratch(&self) -> Option<&Path> {
        self.scratch.as_ref().map(TempDir::path)
    }

    /// A command that will run `program`, to be started with the same reach. Arguments, directory and environment are
    /// still to be given.
    pub(crate) fn command(&self, program: &Path, reach: Reach) -> Command {
        match &self.bubble {
            Some(bubble) => bubble.command(program, reach),
            None => Command::new(program),
        }
    }

    /// Starts `command` in a session of its own and in the sandbox.
    pub(crate) fn spawn(&self, mut command: Command, reach: Reach) -> io::Result<Box<dyn ChildWrapper>> {
        if let Some(scratch) = self.scratch.as_ref().filter(|_| reach != Reach::Write) {
            command.env("TMPDIR", scratch.path());
        }
        // The session is set up by the inner wrapper; the outer one would wait for the whole group.
        let start = || Ok(CommandWrap::from(command).wrap(ProcessSession).spawn()?.into_inner());
        if self.level == Level::Off {
            return start();
        }
        let hold = match reach {
            Reach::Write => &self.write,
            Reach::Look => &self.look,
            Reach::Near => &self.near,
        };
        let child = if self.bubble.is_some() {
            start()?
        } else {
            apart(|| {
                hold.apply()?;
                start()
            })?
        };
        kernel::limit(child.id());
        Ok(child)
    }
}

impl fmt::Display for Sandbox {
    /// Says on one line what commands can and cannot do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = match () {
            () if self.network => "they may use the network",
            () if self.bubble.is_some() || self.write.filters() => "they have no network",
            () => "the network is not kept from them",
        };
        let network = match self.hidden.len() {
            0 => network.to_owned(),
            many => format!("{network}; {many} places with keys and credentials are kept from them"),
        };
        let by =
            self.bubble.as_ref().map_or_else(|| self.write.names(), |_| "bubblewrap, seccomp".to_owned());
        match self.level {
            Level::Off => f.write_str("commands are not confined: the sandbox is off"),
            Level::None => {
                write!(
                    f,
                    "this system cannot keep commands from writing anywhere, so each one asks; {network} ({by})"
                )
            }
            Level::Partial => {
                write!(f, "commands are confined in part: they write in {}; {network} ({by})", self.places())
            }
            Level::Full => {
                write!(f, "commands are confined: they write only in {}; {network} ({by})", self.places())
            }
        }
    }
}

impl Sandbox {
    fn places(&self) -> String {
        let places: Vec<_> = self.writable.iter().map(|path| path.display().to_string()).collect();
        places.join(", ")
    }
}

/// Runs `work` on a thread that ends with it, since what a thread gives up it never gets back.
fn apart<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().name("sandbox".to_owned()).spawn_scoped(scope, work)?;
        worker.join().unwrap_or_else(|_| Err(io::Error::other("the sandbox broke down")))
    })
}

/// The directory for temporary files, unless it is one that holds more than that.
fn temporary() -> Option<PathBuf> {
    let directory = std::env::temp_dir().canonicalize().ok()?;
    let home = std::env::var_os("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
    let within = home.is_some_and(|home| home.starts_with(&directory));
    (directory.parent().is_some() && !within).then_some(directory)
}
