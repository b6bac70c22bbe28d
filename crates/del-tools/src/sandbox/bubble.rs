//! The sandbox that the program bwrap makes: a view of the file system of its own, and own processes.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::sandbox::{Reach, Rights};

/// Where the system keeps the program.
const PROGRAMS: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// What bwrap is told.
#[derive(Debug)]
pub(in crate::sandbox) struct Bubble {
    program: PathBuf,
    /// The filter of system calls, as a file without a name.
    filter: File,
    write: Vec<PathBuf>,
    look: Vec<PathBuf>,
    near: Vec<PathBuf>,
}

impl Bubble {
    /// What bwrap makes of the rights to write, to look, and to look only near. It is tried out.
    pub(in crate::sandbox) fn new(rights: [&Rights<'_>; 3], filter: Option<Vec<u8>>) -> Result<Self, String> {
        let program =
            Self::program().ok_or("bwrap is not installed; its package is mostly called bubblewrap")?;
        let filter = filter.ok_or("no filter of system calls is known for this processor")?;
        let filter = sealed(&filter).map_err(|error| format!("no filter of system calls: {error}"))?;
        let [write, look, near] = rights.map(view);
        let bubble = Self { program, filter, write, look, near };
        for reach in [Reach::Write, Reach::Look, Reach::Near] {
            bubble.try_out(reach)?;
        }
        Ok(bubble)
    }

    /// Where bwrap is installed.
    pub(in crate::sandbox) fn program() -> Option<PathBuf> {
        PROGRAMS.iter().map(PathBuf::from).find(|path| path.is_file())
    }

    /// The beginning of a command that runs `program` inside.
    pub(in crate::sandbox) fn command(&self, program: &Path, reach: Reach) -> Command {
        let view = match reach {
            // It lends the network to nobody.
            Reach::Write | Reach::Far => &self.write,
            Reach::Look => &self.look,
            Reach::Near => &self.near,
        };
        // bwrap takes the filter from a descriptor that is open, which a shell can arrange.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec 9<\"$0\" && exec \"$@\""]);
        command.arg(format!("/proc/{}/fd/{}", std::process::id(), self.filter.as_raw_fd()));
        command.arg(&self.program).args(["--seccomp", "9"]).args(view).arg("--").arg(program);
        command
    }

    fn try_out(&self, reach: Reach) -> Result<(), String> {
        let mut command = self.command(Path::new("/bin/true"), reach);
        let tried = command.current_dir("/").stdin(Stdio::null()).output();
        let tried = tried.map_err(|error| format!("bwrap cannot be started: {error}"))?;
        if tried.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&tried.stderr);
        Err(format!("bwrap makes no sandbox here, it says: {}", said.trim()))
    }
}

/// The options that give somebody these rights.
fn view(rights: &Rights<'_>) -> Vec<PathBuf> {
    let mut view: Vec<PathBuf> = [
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
    ]
    .map(PathBuf::from)
    .into();
    if !rights.network {
        view.push("--unshare-net".into());
    }
    let mut add = |option: &str, from: &Path, to: &Path| {
        view.extend([PathBuf::from(option), from.to_owned(), to.to_owned()]);
    };
    let windows = |place: &&PathBuf| !place.starts_with("/dev") && !place.starts_with("/proc");
    for place in rights.readable.iter().filter(windows) {
        add("--ro-bind-try", place, place);
    }
    add("--dev", Path::new("/dev"), Path::new(""));
    add("--proc", Path::new("/proc"), Path::new(""));
    for place in rights.writable {
        add("--bind-try", place, place);
    }
    for place in rights.hidden {
        if place.is_dir() {
            add("--tmpfs", place, Path::new(""));
        } else if place.exists() {
            add("--ro-bind", Path::new("/dev/null"), place);
        }
    }
    view.retain(|word| !word.as_os_str().is_empty());
    view
}

/// Bytes in a file without a name that nobody can change.
pub(in crate::sandbox) fn sealed(bytes: &[u8]) -> io::Result<File> {
    let file = memfd_create("del", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}
