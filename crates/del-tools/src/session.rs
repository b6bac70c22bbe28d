//! The processes that a command started, known by the session that it leads, and those that left it by a mark that they
//! inherit.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A session, by the process that leads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    leader: Option<Pid>,
    /// When the leader was started; what is older is none of its.
    started: u64,
    mark: Option<Mark>,
}

/// What tells the processes of one command from all others, wherever they went: a variable that they inherit, and a limit
/// that nobody without special rights can lift. It limits nothing: only processes that run before all others have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The process that ran the command.
    owner: u32,
    command: u64,
}

impl Mark {
    pub(crate) const NAME: &str = "DEL_COMMAND";

    /// A mark that no other command has.
    pub(crate) fn new() -> Self {
        static COMMANDS: AtomicU64 = AtomicU64::new(1);
        Self { owner: std::process::id(), command: COMMANDS.fetch_add(1, Ordering::Relaxed) & LAST }
    }

    /// The value of the variable.
    pub(crate) fn value(self) -> String {
        format!("{}-{}", self.owner, self.command)
    }

    /// The limit, which nobody without special rights can lift. In microseconds: some hundred thousand years.
    pub(crate) fn limit(self) -> u64 {
        LEAST_LIMIT + (u64::from(self.owner) << 24) + self.command
    }

    /// Those that a process was started with: by its limit, and by its variable, which it may have changed.
    fn on(pid: i32) -> impl Iterator<Item = Self> {
        let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        Self::in_limits(&limits).into_iter().chain(Self::in_environment(&environment))
    }

    /// In the limit that holds, or else in that up to which it may be raised.
    fn in_limits(limits: &str) -> Option<Self> {
        let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"))?;
        let numbers = line.split_whitespace().filter_map(|number| number.parse::<u64>().ok());
        let number = numbers.filter_map(|number| number.checked_sub(LEAST_LIMIT)).next_back()?;
        Some(Self { owner: u32::try_from(number >> 24).ok()?, command: number & LAST })
    }

    fn in_environment(environment: &[u8]) -> Option<Self> {
        let set =
            environment.split(|byte| *byte == 0).find_map(|set| set.strip_prefix(Self::NAME.as_bytes()))?;
        let (owner, command) = std::str::from_utf8(set.strip_prefix(b"=")?).ok()?.split_once('-')?;
        Some(Self { owner: owner.parse().ok()?, command: command.parse().ok()? })
    }
}

/// The limits of marks begin here.
const LEAST_LIMIT: u64 = 1 << 62;
/// The largest number of a command.
const LAST: u64 = 0xff_ffff;

/// Ends all processes that commands of this process started, wherever they went.
pub(crate) fn end_commands_of(owner: u32) {
    kill_all(|| every(|stat| stat.runs && Mark::on(stat.process.pid).any(|mark| mark.owner == owner)));
}

/// Ends what there is, and what that starts in between.
fn kill_all(left: impl Fn() -> Vec<Background>) {
    for _ in 0..ROUNDS {
        let left = left();
        if left.is_empty() {
            return;
        }
        for process in left {
            process.end();
        }
    }
}

/// The processes of this machine that fit.
fn every(fits: impl Fn(&Stat) -> bool) -> Vec<Background> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Stat::of)
        .filter(fits)
        .map(|stat| stat.process)
        .collect()
}

/// How often what is left is ended: a process may start another in between.
const ROUNDS: usize = 20;

/// A process that outlived the command that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Background {
    pub(crate) pid: i32,
    /// Clock ticks from boot to its start: with the pid, what tells it from every other.
    started: u64,
}

impl Session {
    pub(crate) fn led_by(leader: u32) -> Self {
        let leader = i32::try_from(leader).ok().and_then(Pid::from_raw);
        let stat = leader.and_then(|leader| Stat::of(leader.as_raw_nonzero().get()));
        Self { leader, started: stat.map_or(0, |stat| stat.process.started), mark: None }
    }

    /// The same with the processes that left the session.
    pub(crate) fn marked(self, mark: Mark) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// Asks every process to end.
    pub(crate) fn terminate(self) {
        if let Some(leader) = self.leader {
            signal_group(leader, Signal::TERM);
        }
        for member in self.all() {
            member.signal(Signal::TERM);
        }
    }

    /// Ends every process. Once the leader is reaped its number may be another's, so then each is ended by itself.
    pub(crate) fn kill(self, reaped: bool) {
        if let Some(leader) = self.leader.filter(|_| !reaped || cfg!(not(target_os = "linux"))) {
            signal_group(leader, Signal::KILL);
        }
        kill_all(|| self.all());
    }

    /// The processes that still run.
    pub(crate) fn all(self) -> Vec<Background> {
        let Some(leader) = self.leader else { return Vec::new() };
        every(|stat| {
            let marked = || self.mark.is_some_and(|mark| Mark::on(stat.process.pid).any(|on| on == mark));
            let may_be = stat.runs && stat.process.started >= self.started;
            may_be && (stat.session == leader.as_raw_nonzero().get() || marked())
        })
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

/// Signals the whole group that `leader` leads. The caller knows that the leader is not yet reaped.
pub(crate) fn signal_group(leader: Pid, signal: Signal) {
    // The group may be gone already, which is what is wanted.
    let _ = kill_process_group(leader, signal);
}
