//! Starting commands through this program once more.
//!
//! Only a process with a single thread gets a namespace of users, and without that nobody but an administrator gets a view
//! of the file system of their own. So a command may be started by a process that runs this very program, gives up its
//! rights, and becomes the command. Where only bwrap gets such a namespace, it makes the view and starts this program in it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use nix::sched::CloneFlags;
use serde::{Deserialize, Serialize};

use super::mounts::{self, Place};
use super::{Bubble, Hold, Rights};

/// The first argument of such a process.
const WORD: &str = "--become-a-confined-command";
/// As shells say that a command could not be started.
const FAILED: u8 = 126;

/// What such a process is told.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    hidden: Vec<PathBuf>,
    writable: Vec<Place>,
    network: bool,
    /// Whether the process has its view already.
    narrowed: bool,
}

/// What starts commands in a view of their own.
#[derive(Debug)]
pub(in crate::sandbox) struct Launcher {
    orders: String,
    writable: Vec<Place>,
    /// What makes the view, if the process cannot do it.
    bwrap: Option<PathBuf>,
}

impl Launcher {
    /// One that gives commands these rights, if it can. It is tried out.
    pub(in crate::sandbox) fn new(rights: &Rights<'_>) -> Option<Self> {
        // An administrator gives files to others, and in a namespace with one user there are none. ssh refuses what the
        // system has set up, since it seems to be nobody's; and who may speak to servers of the user can have them change
        // modes.
        if rustix::process::geteuid().is_root() || rights.network {
            return None;
        }
        let by_itself = Self::made(rights, None).filter(Self::works);
        by_itself.or_else(|| Self::made(rights, Some(Bubble::program()?)).filter(Self::works))
    }

    fn made(rights: &Rights<'_>, bwrap: Option<PathBuf>) -> Option<Self> {
        let orders = Orders {
            hidden: rights.hidden.to_owned(),
            writable: rights.places(),
            network: rights.network,
            narrowed: bwrap.is_some(),
        };
        Some(Self { orders: serde_json::to_string(&orders).ok()?, writable: orders.writable, bwrap })
    }

    fn works(&self) -> bool {
        let mut command = self.command(None);
        let tried = command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        tried.status().is_ok_and(|status| status.success())
    }

    /// The beginning of a command that runs `program` so.
    pub(in crate::sandbox) fn command(&self, program: Option<&Path>) -> Command {
        // This program, also when its file is no longer there; from another namespace it is not seen so.
        let own = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
        let mut command = match &self.bwrap {
            None => Command::new(own),
            Some(bwrap) => {
                let mut command = Command::new(bwrap);
                command.args(["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"]);
                // What has taken the name of an allowed directory is not shown as one.
                for place in self.writable.iter().filter(|place| place.open().is_some()) {
                    command.arg("--bind").args([place.path(), place.path()]);
                }
                command.arg("--").arg(env::current_exe().unwrap_or(own));
                command
            }
        };
        command.arg(WORD).arg(&self.orders).args(program);
        command
    }
}

/// Becomes a confined command where this process was started for that; `None` where it was not, and the program goes on.
pub(in crate::sandbox) fn launch() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != WORD {
        return None;
    }
    let orders = arguments.next().unwrap_or_default();
    Some(match confined(&orders) {
        Ok(()) => becoming(arguments),
        Err(error) => failed(&format!("cannot confine a command: {error}")),
    })
}

fn confined(orders: &OsString) -> io::Result<()> {
    let orders: Orders = serde_json::from_slice(orders.as_encoded_bytes())?;
    if !orders.narrowed {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        nix::sched::unshare(CloneFlags::CLONE_NEWUSER)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        mounts::narrow(&orders.writable)?;
    }
    Hold::ordered(&orders.hidden, &orders.writable, orders.network)?.apply()?;
    // The directory is another one in the new view, though it has the same name.
    env::set_current_dir(env::current_dir()?)
}

fn becoming(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(program) = arguments.next() else { return ExitCode::SUCCESS };
    let error = Command::new(&program).args(arguments).exec();
    failed(&format!("cannot start {}: {error}", Path::new(&program).display()))
}

fn failed(message: &str) -> ExitCode {
    eprintln!("del: {message}");
    ExitCode::from(FAILED)
}
