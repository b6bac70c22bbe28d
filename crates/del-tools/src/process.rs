//! Running a program: in a session of its own, with a deadline, and with nothing of it left waiting.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use process_wrap::std::ChildWrapper;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::control::Control;
use crate::limits::Limits;
use crate::sandbox::{Reach, Sandbox};
use crate::session::{Mark, Session};

pub(crate) use crate::session::Background;

/// Between asking a group to end and ending it, and between the end of a command and the closing of its output.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// A program to run.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: PathBuf,
    /// The whole environment: no other variable reaches it.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// What it reads on its standard input.
    pub(crate) input: Vec<u8>,
    pub(crate) timeout: Duration,
    /// How far it reaches.
    pub(crate) reach: Reach,
}

/// Where output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) took: Duration,
    /// Processes of it that still run.
    pub(crate) background: Vec<Background>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

/// Runs `spec` and hands its output to `take` as it comes. Returns when the command has ended and its output is
/// complete, or two seconds after its end if something still holds the output open.
pub(crate) fn run(
    spec: &Spec,
    sandbox: &Sandbox,
    control: &Control<'_>,
    take: &mut dyn FnMut(Stream, &[u8]),
) -> io::Result<Ended> {
    Running::start(spec, sandbox)?.wait(TICK, control, take)
}

/// A program that runs.
pub(crate) struct Running {
    started: Instant,
    timeout: Duration,
    child: Box<dyn ChildWrapper>,
    pub(crate) session: Session,
    pipes: Pipes,
}

impl Running {
    pub(crate) fn start(spec: &Spec, sandbox: &Sandbox) -> io::Result<Self> {
        let started = Instant::now();
        let mark = Mark::new();
        let limits = Limits { mark: Some(mark.limit()), ..Limits::default() };
        let command = command(spec, sandbox, mark, limits)?;
        let mut child = sandbox.spawn(command, spec.reach, limits)?;
        let session = Session::led_by(child.id()).marked(mark);
        let pipes = Pipes::of(child.as_mut())?;
        Ok(Self { started, timeout: spec.timeout, child, session, pipes })
    }

    /// Hands its output to `take` as it comes, and looks every `tick` whether it has ended or is to.
    pub(crate) fn wait(
        self,
        tick: Duration,
        control: &Control<'_>,
        take: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<Ended> {
        let Self { started, timeout, mut child, session, mut pipes } = self;
        let mut watch = Watch { started, timeout, ended: None, stopped: None, killed: false };
        let status = loop {
            pipes.wait(if watch.ended.is_none() && pipes.is_empty() {
                Duration::from_millis(5)
            } else {
                tick
            })?;
            pipes.read(take);
            if watch.ended.is_none() {
                watch.ended = child.try_wait()?.map(|status| (status, Instant::now()));
            }
            watch.stop_if_due(control, session);
            if let Some(status) = watch.over(pipes.is_empty()) {
                break status;
            }
        };
        let how = watch.stopped.map_or(How::Exited(status), |(how, _)| how);
        if watch.stopped.is_some() {
            session.kill(true);
            pipes.read(take);
        }
        let background = if watch.stopped.is_some() { Vec::new() } else { session.all() };
        Ok(Ended { how, took: started.elapsed(), background })
    }
}

/// What has happened to the command so far.
struct Watch {
    started: Instant,
    timeout: Duration,
    ended: Option<(ExitStatus, Instant)>,
    /// Why it is being stopped, and since when.
    stopped: Option<(How, Instant)>,
    killed: bool,
}

impl Watch {
    fn stop_if_due(&mut self, control: &Control<'_>, session: Session) {
        let now = Instant::now();
        if self.stopped.is_none() && self.ended.is_none() {
            let how = match () {
                () if control.check().is_err() => How::Cancelled,
                () if now.duration_since(self.started) >= self.timeout => How::TimedOut,
                () => return,
            };
            self.stopped = Some((how, now));
            session.terminate();
        }
        if let Some((_, since)) = self.stopped
            && !self.killed
            && now.duration_since(since) >= GRACE
        {
            self.killed = true;
            session.kill(self.ended.is_some());
        }
        // While the output of a finished command is awaited, the user may still have enough of it.
        if self.stopped.is_none() && control.check().is_err() {
            self.stopped = Some((How::Cancelled, now));
            session.kill(true);
            self.killed = true;
        }
    }

    /// The status, once nothing more is to be waited for.
    fn over(&self, drained: bool) -> Option<ExitStatus> {
        let (status, ended) = self.ended?;
        let patience = match self.stopped {
            Some((_, since)) => since.max(ended) + GRACE + GRACE / 4,
            None => ended + GRACE,
        };
        (drained || Instant::now() >= patience).then_some(status)
    }
}

fn command(spec: &Spec, sandbox: &Sandbox, mark: Mark, limits: Limits) -> io::Result<Command> {
    let mut command = sandbox.command(&spec.program, spec.reach, limits);
    command.args(&spec.arguments).current_dir(&spec.directory).env_clear();
    command.envs(spec.environment.iter().map(|(name, value)| (name, value)));
    command.env(Mark::NAME, mark.value());
    let input = if spec.input.is_empty() { Stdio::null() } else { said(&spec.input)?.into() };
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// A text as an input: a file without a name, so that nobody has to write while the program reads.
fn said(text: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text)?;
    file.rewind()?;
    Ok(file)
}

/// The output of a command, read without waiting.
pub(crate) struct Pipes {
    open: Vec<(Stream, Box<dyn Pipe>)>,
    buffer: Vec<u8>,
}

trait Pipe: Read + AsFd + Send {}
impl<T: Read + AsFd + Send> Pipe for T {}

impl Pipes {
    fn of(child: &mut dyn ChildWrapper) -> io::Result<Self> {
        let mut open: Vec<(Stream, Box<dyn Pipe>)> = Vec::new();
        if let Some(stdout) = child.stdout().take() {
            open.push((Stream::Stdout, Box::new(stdout)));
        }
        if let Some(stderr) = child.stderr().take() {
            open.push((Stream::Stderr, Box::new(stderr)));
        }
        for (_, pipe) in &open {
            rustix::io::ioctl_fionbio(pipe.as_fd(), true)?;
        }
        Ok(Self { open, buffer: vec![0; 64 * 1024] })
    }

    /// The reading ends of pipes that several programs write to.
    pub(crate) fn over(out: PipeReader, err: PipeReader) -> io::Result<Self> {
        let open: Vec<(Stream, Box<dyn Pipe>)> =
            vec![(Stream::Stdout, Box::new(out)), (Stream::Stderr, Box::new(err))];
        for (_, pipe) in &open {
            rustix::io::ioctl_fionbio(pipe.as_fd(), true)?;
        }
        Ok(Self { open, buffer: vec![0; 64 * 1024] })
    }

    /// Reads what is left once nobody writes any more.
    pub(crate) fn drain(&mut self, take: &mut dyn FnMut(Stream, &[u8])) {
        let since = Instant::now();
        while !self.is_empty() && since.elapsed() < GRACE {
            if self.wait(TICK).is_err() {
                return;
            }
            self.read(take);
        }
    }

    fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Waits until there is something to read, at most for `patience`.
    pub(crate) fn wait(&self, patience: Duration) -> io::Result<()> {
        let mut polled: Vec<_> =
            self.open.iter().map(|(_, pipe)| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)).collect();
        let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
        match poll(&mut polled, Some(&patience)) {
            Err(error) if error != rustix::io::Errno::INTR => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Reads what is there. One buffer from each, so that neither starves the other nor the clock.
    pub(crate) fn read(&mut self, take: &mut dyn FnMut(Stream, &[u8])) {
        let buffer = &mut self.buffer;
        self.open.retain_mut(|(stream, pipe)| match pipe.read(buffer) {
            Ok(0) => false,
            Ok(length) => {
                take(*stream, &buffer[..length]);
                true
            }
            Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
        });
    }
}
