//! A process that stands by until this one is gone, and then ends what its commands left running: a process that is killed
//! can end nothing by itself.

use std::fs::File;
use std::io::{self, PipeWriter, Read};
use std::os::fd::AsFd;
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;

use crate::session::end_commands_of;

/// The first argument of such a process; the second is the number of the one that it watches.
const WORD: &str = "--end-what-commands-left-running";

/// Has one stand by from the first time on that this is asked for. Without it commands run as well.
pub(crate) fn stand_by() {
    // It is held until this process ends, however it does.
    static HELD: OnceLock<Option<PipeWriter>> = OnceLock::new();
    HELD.get_or_init(|| start().ok());
}

fn start() -> io::Result<PipeWriter> {
    let (end, held) = io::pipe()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args([WORD, &std::process::id().to_string()]).env_clear().current_dir("/");
    command.stdin(end).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok(held)
}

/// Stands by where this process was started for that; `None` where it was not, and the program goes on.
pub(crate) fn watch() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != WORD {
        return None;
    }
    let owner = arguments.next().and_then(|owner| owner.to_str()?.parse().ok());
    // What a terminal sends to the other process is not meant for this one.
    let alone = rustix::process::setsid();
    Some(match (owner, alone) {
        (Some(owner), Ok(_)) => {
            wait();
            end_commands_of(owner);
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    })
}

/// Until nobody holds the other end any more.
fn wait() {
    let Ok(input) = io::stdin().as_fd().try_clone_to_owned() else { return };
    let (mut input, mut byte) = (File::from(input), [0]);
    loop {
        match input.read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
}
