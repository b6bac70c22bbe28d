//! Commands that run in the background: until they end, or are ended, or the toolbox goes.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::capture::Cleaner;
use crate::control::{Cancel, Control};
use crate::outcome::{Code, Failure, ToolResult, sized};
use crate::process::{How, Running, Spec, Stream};
use crate::sandbox::{Fences, Sandbox};
use crate::session::Session;
use crate::shell::not_started;
use crate::workspace::Workspace;

/// The commands of one toolbox that run in the background, or did.
#[derive(Debug, Default)]
pub struct Jobs {
    list: Mutex<Vec<Arc<Job>>>,
}

/// One of them.
#[derive(Debug)]
struct Job {
    id: u32,
    command: String,
    file: PathBuf,
    session: Session,
    started: Instant,
    cancel: Cancel,
    fences: Option<Fences>,
    state: Mutex<State>,
    /// It has ended.
    over: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes of output in the file.
    written: u64,
    /// Bytes of output that the file has no room for.
    lost: u64,
    /// Bytes that were shown to whoever asked last.
    shown: u64,
    last: String,
    ended: Option<(String, Duration)>,
    remark: Option<String>,
    /// That it ended was told.
    told: bool,
}

/// How a job is at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobState {
    /// Its number.
    pub id: u32,
    /// What runs.
    pub command: String,
    /// Since when, or for how long it ran.
    pub time: Duration,
    /// How it ended, once it has.
    pub ended: Option<String>,
    /// That the sandbox may have been in its way, where it failed and looks so.
    pub remark: Option<String>,
    /// The last line that it wrote.
    pub last: String,
    /// Where its output lies.
    pub file: PathBuf,
}

/// So many run at the same time at most.
const MOST: usize = 8;
/// More of one job's output is not kept.
const MAX_FILE: u64 = 8 << 20;
/// Of the output, this much is shown at once.
const SHOWN: u64 = 16 << 10;
/// Characters of a last line.
const LINE: usize = 200;
const TICK: Duration = Duration::from_millis(200);
/// What is asked to end and does not is killed before that.
const ENDING: Duration = Duration::from_secs(5);

/// The sessions of all jobs of this process.
static LIVE: Mutex<Vec<Session>> = Mutex::new(Vec::new());

/// Ends all jobs of this process, for one that ends without dropping what it has.
pub fn end_jobs() {
    let live = std::mem::take(&mut *LIVE.lock().unwrap_or_else(PoisonError::into_inner));
    for session in live {
        session.kill(true);
    }
}

impl Jobs {
    /// Starts a command, and says so.
    pub(crate) fn start(
        &self,
        command: &str,
        spec: &Spec,
        workspace: &Workspace,
        sandbox: &Sandbox,
    ) -> Result<ToolResult, Failure> {
        let system = |cause: String| Failure::new(Code::System, cause);
        let mut list = self.list();
        if list.iter().filter(|job| job.state().ended.is_none()).count() >= MOST {
            let cause = format!("{MOST} commands run in the background already; end one first.");
            return Err(Failure::new(Code::Failed, cause));
        }
        let id = u32::try_from(list.len()).unwrap_or(u32::MAX).saturating_add(1);
        let shelf = workspace.shelf();
        let shelf = shelf.ok_or_else(|| system("there is no place for its output.".to_owned()))?;
        let file = shelf.join(format!("job-{id}.txt"));
        let log = File::create_new(&file).map_err(|error| system(format!("{}: {error}.", file.display())))?;
        let running =
            Running::start(spec, sandbox).map_err(|error| system(not_started(&spec.program, &error)))?;
        let session = running.session;
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        let job = Arc::new(Job {
            id,
            command: command.to_owned(),
            file,
            session,
            started: Instant::now(),
            cancel: Cancel::new(),
            fences: sandbox.fences_of_command(spec.reach),
            state: Mutex::default(),
            over: Condvar::new(),
        });
        let follower = Arc::clone(&job);
        let followed = thread::Builder::new().name(format!("job {id}"));
        if let Err(error) = followed.spawn(move || follower.follow(running, log)) {
            session.kill(false);
            return Err(system(format!("cannot follow the command: {error}.")));
        }
        let text = format!(
            "It runs in the background as job {id}. Its output: {}. You are told when it ends; it ends with the session.",
            job.file.display()
        );
        list.push(job);
        Ok(ToolResult::success(text).with_data(serde_json::json!({"job": id})))
    }

    /// How all of them are, in the order in which they were started.
    pub fn states(&self) -> Vec<JobState> {
        self.list().iter().map(|job| job.now()).collect()
    }

    /// How one is.
    pub fn get(&self, id: u32) -> Option<JobState> {
        self.find(id).map(|job| job.now())
    }

    /// What one wrote since this was last asked; of much, the end.
    pub fn read(&self, id: u32) -> Option<String> {
        self.find(id).map(|job| job.read(false))
    }

    /// All that one wrote; of much, the end.
    pub fn read_all(&self, id: u32) -> Option<String> {
        self.find(id).map(|job| job.read(true))
    }

    /// Waits until one has ended, for so long at most, or until `cancel` is set.
    pub fn wait(&self, id: u32, patience: Duration, cancel: &Cancel) {
        let Some(job) = self.find(id) else { return };
        let until = Instant::now() + patience;
        let mut state = job.state();
        while state.ended.is_none() && !cancel.is_cancelled() && Instant::now() < until {
            let waited = job.over.wait_timeout(state, TICK.min(patience));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends one, with all that it started. False where it has ended already, or there is none.
    pub fn end(&self, id: u32) -> bool {
        let Some(job) = self.find(id).filter(|job| job.state().ended.is_none()) else { return false };
        job.cancel.cancel();
        self.wait(id, ENDING, &Cancel::new());
        true
    }

    /// Asks all to end, and waits until they have. Those that ran.
    pub fn end_all(&self) -> Vec<JobState> {
        let running: Vec<Arc<Job>> =
            self.list().iter().filter(|job| job.state().ended.is_none()).map(Arc::clone).collect();
        for job in &running {
            job.cancel.cancel();
        }
        for job in &running {
            self.wait(job.id, ENDING, &Cancel::new());
        }
        running.iter().map(|job| job.now()).collect()
    }

    /// Those that have ended since this was last asked.
    pub fn take_ended(&self) -> Vec<JobState> {
        let fresh = |job: &&Arc<Job>| {
            let mut state = job.state();
            state.ended.is_some() && !std::mem::replace(&mut state.told, true)
        };
        let list = self.list();
        let ended = list.iter().filter(|job| job.state().ended.is_some());
        ended.filter(fresh).map(|job| job.now()).collect()
    }

    fn find(&self, id: u32) -> Option<Arc<Job>> {
        self.list().iter().find(|job| job.id == id).map(Arc::clone)
    }

    fn list(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        for job in self.list().drain(..) {
            job.cancel.cancel();
            // What it left running behind it ends as well.
            job.session.kill(true);
            LIVE.lock().unwrap_or_else(PoisonError::into_inner).retain(|session| *session != job.session);
        }
    }
}

impl Job {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> JobState {
        let state = self.state();
        let (ended, time) = match &state.ended {
            Some((how, took)) => (Some(how.clone()), *took),
            None => (None, self.started.elapsed()),
        };
        let (command, file) = (self.command.clone(), self.file.clone());
        let (last, remark) = (state.last.clone(), state.remark.clone());
        JobState { id: self.id, command, time, ended, remark, last, file }
    }

    /// Keeps its output until it has ended.
    fn follow(&self, running: Running, mut log: File) {
        let control = Control::new(self.cancel.clone());
        let mut cleaners = [Cleaner::default(), Cleaner::default()];
        let ended = running.wait(TICK, &control, &mut |stream, bytes| {
            let cleaner = &mut cleaners[usize::from(stream == Stream::Stderr)];
            self.keep(&cleaner.push(bytes), &mut log);
        });
        for cleaner in &mut cleaners {
            self.keep(&cleaner.finish(), &mut log);
        }
        let failed = match &ended {
            Ok(ended) => matches!(ended.how, How::Exited(status) if !status.success()),
            Err(_) => false,
        };
        let how = match ended.map(|ended| ended.how) {
            Ok(How::Exited(status)) => match status.code() {
                Some(code) => format!("exit code {code}"),
                None => status.to_string(),
            },
            Ok(How::TimedOut) => "ended: its time was over".to_owned(),
            Ok(How::Cancelled) => "ended by request".to_owned(),
            Err(error) => format!("lost: {error}"),
        };
        let mut state = self.state();
        state.remark = self.fences.as_ref().filter(|_| failed).and_then(|fences| {
            fences.remark(&part(&self.file, state.written.saturating_sub(SHOWN), state.written))
        });
        state.ended = Some((how, self.started.elapsed()));
        drop(state);
        self.over.notify_all();
    }

    fn keep(&self, text: &str, log: &mut File) {
        if text.is_empty() {
            return;
        }
        let mut state = self.state();
        let room = usize::try_from(MAX_FILE - state.written).unwrap_or(usize::MAX);
        let mut fits = room.min(text.len());
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        // A full disk costs output, not the command.
        let kept = if log.write_all(&text.as_bytes()[..fits]).is_ok() { fits } else { 0 };
        state.written += kept as u64;
        state.lost += (text.len() - kept) as u64;
        if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
            state.last = line.chars().take(LINE).collect();
        }
    }

    fn read(&self, all: bool) -> String {
        let mut state = self.state();
        let from = if all { 0 } else { state.shown };
        let start = from.max(state.written.saturating_sub(SHOWN));
        let mut text = part(&self.file, start, state.written);
        if start > from {
            text =
                format!("... [{} left out; all of it: {}]\n{text}", sized(start - from), self.file.display());
        }
        if state.lost > 0 {
            text = format!("{text}\n... [{} more were not kept]", sized(state.lost));
        }
        state.shown = state.written;
        text
    }
}

/// A part of a file, as far as it can be read.
fn part(file: &Path, from: u64, to: u64) -> String {
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(file)
        && file.seek(SeekFrom::Start(from)).is_ok()
    {
        let _ = file.take(to - from).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Display for JobState {
    /// What there is to say of it in a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.time.as_secs();
        match &self.ended {
            None => write!(f, "job {} runs for {seconds} s: {}", self.id, self.command),
            Some(how) => write!(f, "job {} is over after {seconds} s, {how}: {}", self.id, self.command),
        }
    }
}

#[cfg(test)]
#[path = "jobs_tests.rs"]
mod tests;
