//! The sandbox of commands: what the kernel keeps them, and whatever they start, from doing.
//!
//! The kernel holds a thread to its limits, and a child to those of the thread that started it. So each command is
//! started by a thread that gives up its own rights first and then ends; nothing runs between it and the command.

#[cfg_attr(all(target_os = "linux", target_pointer_width = "64"), path = "sandbox/linux.rs")]
#[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), path = "sandbox/elsewhere.rs")]
mod kernel;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};

use kernel::Hold;

/// How commands are to be confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// How much depends on it.
    pub need: Need,
    /// Whether commands may use sockets.
    pub network: bool,
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

/// What commands are held to. The default holds nothing.
#[derive(Debug)]
pub struct Sandbox {
    level: Level,
    network: bool,
    hold: Hold,
    writable: Vec<PathBuf>,
}

/// The kernel does not offer the sandbox that was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{0}. `--sandbox on` demands a whole sandbox; `--sandbox auto` takes what there is")]
pub struct SandboxError(String);

impl Default for Confinement {
    /// What the kernel offers, no network, and the temporary directory.
    fn default() -> Self {
        Self { need: Need::Auto, network: false, writable: temporary().into_iter().collect() }
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
        Self { level: Level::Off, network: true, hold: Hold::default(), writable: Vec::new() }
    }
}

impl Sandbox {
    /// A sandbox in which `roots` may be written as well. What the kernel really holds is tried out first. The
    /// directories are those that are there now: what takes their names later gains nothing.
    pub(crate) fn new(confinement: &Confinement, roots: Vec<PathBuf>) -> Result<Self, SandboxError> {
        if confinement.need == Need::Off {
            return Ok(Self::default());
        }
        let mut writable = roots;
        writable.extend(confinement.writable.iter().cloned());
        let network = confinement.network;
        let hold = Hold::new(&writable, network);
        let sandbox = Self { level: hold.level(), network, hold, writable };
        if confinement.need == Need::On && sandbox.level != Level::Full {
            return Err(SandboxError(sandbox.to_string()));
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

    /// Starts `command` in a session of its own and in the sandbox.
    pub(crate) fn spawn(&self, command: Command) -> io::Result<Box<dyn ChildWrapper>> {
        // The session is set up by the inner wrapper; the outer one would wait for the whole group.
        let start = || Ok(CommandWrap::from(command).wrap(ProcessSession).spawn()?.into_inner());
        if self.level == Level::Off {
            return start();
        }
        let child = apart(|| {
            self.hold.apply()?;
            start()
        })?;
        kernel::limit(child.id());
        Ok(child)
    }
}

impl fmt::Display for Sandbox {
    /// Says on one line what commands can and cannot do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = match () {
            () if self.network => "they may use the network",
            () if self.hold.filters() => "they have no network",
            () => "the network is not kept from them",
        };
        let by = self.hold.names();
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
