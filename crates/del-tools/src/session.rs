//! The processes that a command started, known by the session that it leads.

use rustix::process::{Pid, Signal, kill_process};

use crate::process::signal_group;

/// A session, by the process that leads it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Session {
    leader: Option<Pid>,
}

/// A process that outlived the command that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Background {
    pub(crate) pid: i32,
    /// Clock ticks from boot to its start: with the pid, what tells it from every other.
    started: u64,
}

impl Session {
    pub(crate) fn led_by(leader: u32) -> Self {
        Self { leader: i32::try_from(leader).ok().and_then(Pid::from_raw) }
    }

    /// Asks every process to end.
    pub(crate) fn terminate(self) {
        if let Some(leader) = self.leader {
            signal_group(leader, Signal::TERM);
        }
        for member in self.members() {
            member.signal(Signal::TERM);
        }
    }

    /// Ends every process. Once the leader is reaped its number may be another's, so then each is ended by itself.
    pub(crate) fn kill(self, reaped: bool) {
        if let Some(leader) = self.leader.filter(|_| !reaped || cfg!(not(target_os = "linux"))) {
            signal_group(leader, Signal::KILL);
        }
        for member in self.members() {
            member.signal(Signal::KILL);
        }
    }

    /// The processes of the session that still run.
    pub(crate) fn members(self) -> Vec<Background> {
        let Some(leader) = self.leader else { return Vec::new() };
        let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
        processes
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(Stat::of)
            .filter(|stat| stat.session == leader.as_raw_nonzero().get() && stat.runs)
            .map(|stat| stat.process)
            .collect()
    }
}

impl Background {
    /// Ends the process, if it is still the same one.
    pub(crate) fn end(self) {
        self.signal(Signal::KILL);
    }

    fn signal(self, signal: Signal) {
        let same = Stat::of(self.pid).is_some_and(|now| now.process == self);
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| same) {
            // It may have ended by itself just now.
            let _ = kill_process(pid, signal);
        }
    }
}

/// What `/proc` says of a process.
struct Stat {
    process: Background,
    session: i32,
    runs: bool,
}

impl Stat {
    fn of(pid: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may contain anything, parentheses too.
        let fields: Vec<_> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
        let runs = !matches!(*fields.first()?, "Z" | "X" | "x");
        let session = fields.get(3)?.parse().ok()?;
        let started = fields.get(19)?.parse().ok()?;
        Some(Self { process: Background { pid, started }, session, runs })
    }
}
