//! Starting commands through this program once more.
//!
//! Only a process with a single thread gets a namespace of users, and without that nobody but an administrator gets a view
//! of the file system of their own. So a command may be started by a process that runs this very program, gives up its
//! rights, and becomes the command.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use nix::sched::CloneFlags;
use serde::{Deserialize, Serialize};

use super::mounts::Place;
use super::{Hold, Rights};

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
}

/// What starts commands in a view of their own.
#[derive(Debug)]
pub(in crate::sandbox) struct Launcher {
    orders: String,
}

impl Launcher {
    /// One that gives commands these rights, if it can. It is tried out.
    pub(in crate::sandbox) fn new(rights: &Rights<'_>) -> Option<Self> {
        // An administrator gives files to others, and in a namespace with one user there are none.
        if rustix::process::geteuid().is_root() {
            return None;
        }
        let orders =
            Orders { hidden: rights.hidden.to_owned(), writable: rights.places(), network: rights.network };
        let launcher = Self { orders: serde_json::to_string(&orders).ok()? };
        let mut command = launcher.command(None);
        let tried = command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        tried.status().is_ok_and(|status| status.success()).then_some(launcher)
    }

    /// The beginning of a command that runs `program` so.
    pub(in crate::sandbox) fn command(&self, program: Option<&Path>) -> Command {
        // This program, also when its file is no longer there.
        let mut command = Command::new(format!("/proc/{}/exe", std::process::id()));
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
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    nix::sched::unshare(CloneFlags::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    Hold::ordered(&orders.hidden, orders.writable, orders.network)?.apply()?;
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
