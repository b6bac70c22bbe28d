//! What a command may use: limits that hold from its first moment on, before it can start anything.

use std::process::Command;

#[cfg(target_os = "linux")]
pub(crate) use kernel::{around, set_late};

/// How much memory of its own a program may have that runs without a question.
const MEMORY: u64 = 1 << 30;
/// How much all of those that run at once may have.
const MEMORY_OF_ALL: u64 = 4 << 30;

/// The limits of one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Limits {
    /// Whether the size of things is limited.
    pub(crate) sizes: bool,
    /// How much memory each of its processes may have. Files that are only mapped do not count.
    pub(crate) memory: Option<u64>,
    /// What tells its processes from all others: a limit that limits nothing.
    pub(crate) mark: Option<u64>,
}

impl Limits {
    /// Those of one of the programs that run without a question, beside `others` of its kind.
    pub(crate) fn silent(others: u64) -> Self {
        Self { sizes: false, memory: Some(MEMORY.min(MEMORY_OF_ALL / (others + 1))), mark: None }
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::path::Path;

    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    use super::{Command, Limits};
    use crate::executable::is_program;

    /// The largest file that a command may write.
    const FILE_BYTES: u64 = 16 << 30;
    /// How many processes the user may have for a command to start another.
    const PROCESSES: u64 = 8192;

    /// Where the system keeps a program that sets limits and then becomes another program.
    const PROGRAMS: [&str; 3] = ["/usr/bin/prlimit", "/bin/prlimit", "/run/current-system/sw/bin/prlimit"];

    /// The command behind its limits, where there is the program that sets them. Arguments may still be added.
    pub(crate) fn around(command: Command, limits: Limits) -> Command {
        let wanted = limits.wanted();
        if wanted.is_empty() || !is_program(Path::new(command.get_program())) {
            return command;
        }
        let Some(setter) = PROGRAMS.iter().find(|setter| is_program(Path::new(setter))) else {
            return command;
        };
        let written =
            |limit: Option<u64>| limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
        let mut limited = Command::new(setter);
        for (name, _, Rlimit { current, maximum }) in wanted {
            limited.arg(format!("--{name}={}:{}", written(current), written(maximum)));
        }
        limited.arg("--").arg(command.get_program()).args(command.get_args());
        limited
    }

    /// Sets the limits of a command that was just started, where nothing did it before.
    pub(crate) fn set_late(program: &Path, process: u32, limits: Limits) {
        let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return };
        if PROGRAMS.iter().any(|setter| program == Path::new(setter)) {
            return;
        }
        for (_, resource, limit) in limits.wanted() {
            // It may have ended by now.
            let _ = prlimit(Some(process), resource, limit);
        }
    }

    impl Limits {
        fn wanted(self) -> Vec<(&'static str, Resource, Rlimit)> {
            let mut most = Vec::new();
            if self.sizes {
                most.push(("core", Resource::Core, 0));
                // Those that run without a question write only what they sort or turn around.
                let file = if self.memory.is_some() { super::MEMORY } else { FILE_BYTES };
                most.push(("fsize", Resource::Fsize, file));
                most.push(("nproc", Resource::Nproc, PROCESSES));
            }
            if let Some(memory) = self.memory {
                most.push(("data", Resource::Data, memory));
            }
            // A process in a marked one keeps that mark.
            if let Some(mark) = self.mark.filter(|_| getrlimit(Resource::Rttime).maximum.is_none()) {
                most.push(("rttime", Resource::Rttime, mark));
            }
            let least = |(name, resource, most): (_, _, u64)| {
                // What is limited more than that stays so.
                let now = getrlimit(resource);
                let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
                (name, resource, Rlimit { current: least(now.current), maximum: least(now.maximum) })
            };
            most.into_iter().map(least).collect()
        }
    }
}

/// Other systems are asked for no limits.
#[cfg(not(target_os = "linux"))]
pub(crate) fn around(command: Command, _: Limits) -> Command {
    command
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn set_late(_: &std::path::Path, _: u32, _: Limits) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_run_at_once_share_their_memory() {
        let memory = |others| Limits::silent(others).memory.unwrap();
        assert_eq!((memory(0), memory(3)), (MEMORY, MEMORY));
        assert_eq!((memory(7), memory(63)), (MEMORY / 2, MEMORY / 16));
        assert_eq!(memory(u64::MAX - 1), 0);
    }
}
