//! The sandbox of commands: what the kernel keeps them, and whatever they start, from doing.
//!
//! The kernel holds a thread to its limits, and a child to those of the thread that started it. So each command is
//! started by a thread that gives up its own rights first and then ends; nothing runs between it and the command.

#[cfg_attr(all(target_os = "linux", target_pointer_width = "64"), path = "sandbox/linux.rs")]
#[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), path = "sandbox/elsewhere.rs")]
mod kernel;
mod places;
mod said;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Mutex, PoisonError};
use std::thread;

use del_judge::git_attributes;
use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::guardian;
use crate::limits::{self, Limits};
use crate::scratch::Scratch;
use kernel::{Bubble, Hold, Launcher, sealed};
pub(crate) use said::Fences;

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
    /// Whether this program calls [`launch`] before anything else, so that commands can be started through it.
    pub launches: bool,
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

/// How far a command reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It writes where commands may write.
    Write,
    /// The same, and it uses the network, which commands have not.
    Far,
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
    /// Where the network is kept from commands and can be given to one.
    far: Option<Hold>,
    bubble: Option<Bubble>,
    /// This program can be started to stand by for what it leaves running.
    launches: bool,
    /// What starts commands that write, where this thread cannot confine them wholly.
    launcher: Option<Launcher>,
    /// Where tools work.
    roots: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    /// For the temporary files of commands that only look.
    scratch: Option<Scratch>,
    /// Attributes that keep git from showing secrets: a file that no command can change. Who holds the lock starts a
    /// command that has it.
    attributes: Option<Mutex<File>>,
}

/// These attributes in the scratch directory, where no file is safe from commands.
const ATTRIBUTES: &str = "attributes";

/// What commands may do.
#[derive(Debug, Clone, Copy)]
struct Rights<'a> {
    readable: &'a [PathBuf],
    /// What may not be read, though what lies around it may.
    hidden: &'a [PathBuf],
    writable: &'a [PathBuf],
    network: bool,
    /// Whether the modes, times, owners and attributes of files may be changed there.
    changes: bool,
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
            launches: false,
        }
    }
}

impl Confinement {
    /// How far this system confines commands like this. It is tried out.
    pub fn level(&self) -> Result<Level, SandboxError> {
        let tried = Self { launches: false, ..self.clone() };
        Sandbox::new(&tried, Vec::new()).map(|sandbox| sandbox.level)
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
            far: None,
            bubble: None,
            launches: false,
            launcher: None,
            roots: Vec::new(),
            writable: Vec::new(),
            hidden: Vec::new(),
            scratch: None,
            attributes: None,
        }
    }
}

impl Sandbox {
    /// A sandbox in which `roots` may be written as well. What the kernel really holds is tried out first. The
    /// directories are those that are there now: what takes their names later gains nothing.
    pub(crate) fn new(confinement: &Confinement, roots: Vec<PathBuf>) -> Result<Self, SandboxError> {
        let attributes = sealed(git_attributes().as_bytes()).ok().map(Mutex::new);
        if confinement.need == Need::Off {
            return Ok(Self { attributes, launches: confinement.launches, ..Self::default() });
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
        let scratch = Scratch::new("look").ok();
        if let Some(scratch) = scratch.as_ref().filter(|_| attributes.is_none()) {
            // Without it git shows what is committed, as it always does.
            let _ = std::fs::write(scratch.path().join(ATTRIBUTES), git_attributes());
        }
        let own: Vec<_> = scratch.iter().map(|scratch| scratch.path().to_owned()).collect();
        let all = [PathBuf::from("/")];
        let (hidden, near) = (hidden.as_slice(), places::near(&roots, &own));
        let write = Rights { readable: &all, hidden, writable: &writable, network, changes: true };
        let look = Rights { writable: &own, changes: false, ..write };
        let near = Rights { readable: &near, ..look };
        let mut sandbox = Self {
            level: Level::None,
            network,
            write: Hold::new(&write),
            look: Hold::new(&look),
            near: Hold::new(&near),
            far: None,
            bubble: None,
            launches: confinement.launches,
            launcher: None,
            roots,
            writable: writable.clone(),
            hidden: hidden.to_owned(),
            scratch,
            attributes,
        };
        sandbox.level = sandbox.write.level();
        if confinement.need == Need::Bwrap {
            let bubble = Bubble::new([&write, &look, &near], sandbox.write.filter_bytes());
            let said = "`--sandbox auto` takes what the kernel offers";
            sandbox.bubble = Some(bubble.map_err(|cause| SandboxError(format!("{cause}. {said}")))?);
            sandbox.level = Level::Full;
        }
        if confinement.launches && sandbox.bubble.is_none() && !sandbox.write.keeps_modes() {
            sandbox.launcher = Some(&write).filter(|_| sandbox.level == Level::Full).and_then(Launcher::new);
        }
        let held = sandbox.level != Level::None && sandbox.write.filters() && sandbox.bubble.is_none();
        if held && !network {
            sandbox.far = sandbox.write.with(&Rights { network: true, ..write });
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

    /// How far a safe command reaches that runs `program` in `directory`.
    pub(crate) fn reach_of(&self, program: &Path, directory: &Path) -> Reach {
        let works_here = self.roots.iter().any(|root| directory.starts_with(root));
        // Programs in the home directory keep there what they need.
        if works_here && places::is_of_system(program) { Reach::Near } else { Reach::Look }
    }

    /// The attributes that keep git from showing lines of files that usually hold secrets, for a command that only looks.
    pub(crate) fn attributes(&self) -> Option<PathBuf> {
        let Some(file) = &self.attributes else {
            let path = self.scratch.as_ref()?.path().join(ATTRIBUTES);
            return path.exists().then_some(path);
        };
        let file = file.lock().unwrap_or_else(PoisonError::into_inner);
        Some(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())))
    }

    /// Where commands that only look have their temporary files, and find what is said to them.
    pub(crate) fn scratch(&self) -> Option<&Path> {
        self.scratch.as_ref().map(Scratch::path)
    }

    /// A command that will run `program`, to be started with the same reach and limits. Arguments, directory and
    /// environment are still to be given.
    pub(crate) fn command(&self, program: &Path, reach: Reach, limits: Limits) -> Command {
        let command = match (&self.bubble, &self.launcher) {
            (Some(bubble), _) => bubble.command(program, reach),
            (None, Some(launcher)) if reach == Reach::Write => launcher.command(Some(program)),
            _ => Command::new(program),
        };
        limits::around(command, self.sized(limits))
    }

    fn sized(&self, limits: Limits) -> Limits {
        Limits { sizes: self.level != Level::Off, ..limits }
    }

    /// Starts `command` in a session of its own and in the sandbox.
    pub(crate) fn spawn(
        &self,
        mut command: Command,
        reach: Reach,
        limits: Limits,
    ) -> io::Result<Box<dyn ChildWrapper>> {
        if self.launches && limits.mark.is_some() {
            guardian::stand_by();
        }
        if let Some(scratch) = self.scratch.as_ref().filter(|_| !reach.changes()) {
            command.env("TMPDIR", scratch.path());
        }
        let program = PathBuf::from(command.get_program());
        // The session is set up by the inner wrapper; the outer one would wait for the whole group.
        let start = || Ok(CommandWrap::from(command).wrap(ProcessSession).spawn()?.into_inner());
        let child = match (reach, &self.attributes) {
            (Reach::Look | Reach::Near, Some(attributes)) => {
                let file = attributes.lock().unwrap_or_else(PoisonError::into_inner);
                fcntl_setfd(&*file, FdFlags::empty())?;
                let child = self.start(start, reach);
                fcntl_setfd(&*file, FdFlags::CLOEXEC)?;
                child?
            }
            _ => self.start(start, reach)?,
        };
        limits::set_late(&program, child.id(), self.sized(limits));
        Ok(child)
    }

    fn start<T: Send>(&self, start: impl FnOnce() -> io::Result<T> + Send, reach: Reach) -> io::Result<T> {
        let launched = self.launcher.is_some() && reach == Reach::Write;
        if self.level == Level::Off || self.bubble.is_some() || launched {
            return start();
        }
        let hold = match reach {
            Reach::Write => &self.write,
            Reach::Far => self.far.as_ref().unwrap_or(&self.write),
            Reach::Look => &self.look,
            Reach::Near => &self.near,
        };
        apart(|| {
            hold.apply()?;
            start()
        })
    }
}

impl Reach {
    /// Whether it writes where commands may write.
    const fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Far)
    }
}

/// What a program does first that starts commands, while it has one thread: it closes what it inherited besides its input
/// and outputs, since commands would inherit that as well; and where it was started to become a confined command, it does,
/// and this returns only when that failed. Where it was started to stand by for a process that may be killed, it returns once
/// that is gone. [`Confinement::launches`] says that a program calls it.
pub fn launch() -> Option<ExitCode> {
    // A shell gives the outputs of other commands as files of such names.
    let words: Vec<_> = std::env::args_os().collect();
    let is_given = |number: &i32| {
        let name = format!("/fd/{number}");
        words.iter().any(|word| word.to_string_lossy().ends_with(&name))
    };
    let inherited = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers: Vec<i32> = inherited.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2 && !is_given(number)) {
        // That of the listing is closed already.
        let _ = nix::unistd::close(number);
    }
    guardian::watch().or_else(kernel::launch)
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
