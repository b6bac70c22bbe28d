//! Running what the judge called safe: the programs of its plan, without a shell.
//!
//! One thread works off the plan, and one for each group of commands in the middle of a pipeline. This one reads what they
//! print, and ends them when their time is over.

mod gather;
mod runner;
mod streams;

use std::io;
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use del_judge::{Judge, Plan};
use process_wrap::std::ChildWrapper;
use tempfile::NamedTempFile;

use crate::control::Control;
use crate::process::{Ended, GRACE, How, Pipes, Stream, TICK};
use crate::sandbox::Sandbox;
use crate::session::Session;
use crate::workspace::Workspace;
use runner::Runner;
use streams::{Sink, Source, Streams};

/// What plans run with.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) judge: &'a Judge,
    pub(crate) sandbox: &'a Sandbox,
    /// Where inputs are opened.
    pub(crate) workspace: &'a Workspace,
}

/// Runs the steps of `plan` in their order and hands their output to `take` as it comes.
pub(crate) fn run(
    plan: &Plan,
    timeout: Duration,
    means: Means<'_>,
    control: &Control<'_>,
    take: &mut dyn FnMut(Stream, &[u8]),
) -> io::Result<Ended> {
    let started = Instant::now();
    let (read_out, out) = io::pipe()?;
    let (read_err, err) = io::pipe()?;
    let mut pipes = Pipes::over(read_out, read_err)?;
    let crew = Crew::default();
    let runner = Runner { crew: &crew, means, beside: 0 };
    let streams = Streams { input: Source::Nothing, out: Sink::Pipe(out), err: Sink::Pipe(err) };
    let (ended, stopped) = thread::scope(|scope| {
        let worker = scope.spawn(move || runner.plan(plan, &streams, ExitStatus::default()));
        let mut stopped: Option<(How, Instant)> = None;
        // Most programs end at once; those that do not are looked at less and less often.
        let mut patience = Duration::from_millis(1);
        while !worker.is_finished() {
            if pipes.wait(patience).is_err() {
                crew.stop();
                crew.kill();
            }
            patience = (patience * 2).min(TICK);
            pipes.read(take);
            match stopped {
                None => {
                    let how = match () {
                        () if control.check().is_err() => How::Cancelled,
                        () if started.elapsed() >= timeout => How::TimedOut,
                        () => continue,
                    };
                    stopped = Some((how, Instant::now()));
                    crew.stop();
                }
                Some((_, since)) if since.elapsed() >= GRACE => crew.kill(),
                Some(_) => {}
            }
        }
        let ended = worker.join().unwrap_or_else(|_| Err(io::Error::other("the run broke down")));
        (ended, stopped.map(|(how, _)| how))
    });
    crew.end();
    pipes.drain(take);
    // What was stopped may have failed because of that.
    let how = match stopped {
        Some(how) => how,
        None => How::Exited(ended?),
    };
    Ok(Ended { how, took: started.elapsed(), background: Vec::new() })
}

/// The programs that were started, and whether any more may be.
#[derive(Default)]
struct Crew(Mutex<Hands>);

#[derive(Default)]
struct Hands {
    running: Vec<Running>,
    stopped: bool,
}

/// A program that was started.
struct Running {
    child: Box<dyn ChildWrapper>,
    session: Session,
    ended: Option<ExitStatus>,
    /// Files that were made for it, which go when all is over.
    _files: Vec<NamedTempFile>,
}

impl Crew {
    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a program that `start` starts, and returns its number.
    fn add(
        &self,
        files: Vec<NamedTempFile>,
        start: impl FnOnce() -> io::Result<Box<dyn ChildWrapper>>,
    ) -> io::Result<usize> {
        let mut hands = self.hands();
        if hands.stopped {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let child = start()?;
        let session = Session::led_by(child.id());
        hands.running.push(Running { child, session, ended: None, _files: files });
        Ok(hands.running.len() - 1)
    }

    /// What became of a program, once it has ended.
    fn look(&self, number: usize) -> io::Result<Option<ExitStatus>> {
        let mut hands = self.hands();
        let Some(running) = hands.running.get_mut(number) else { return Ok(Some(ExitStatus::default())) };
        if running.ended.is_none() {
            running.ended = running.child.try_wait()?;
        }
        Ok(running.ended)
    }

    fn is_stopped(&self) -> bool {
        self.hands().stopped
    }

    /// Starts nothing more, and asks what runs to end.
    fn stop(&self) {
        let mut hands = self.hands();
        hands.stopped = true;
        hands.alive().for_each(|running| running.session.terminate());
    }

    fn kill(&self) {
        self.hands().alive().for_each(|running| running.session.kill(false));
    }

    /// Ends what is left when a run broke off.
    fn end(&self) {
        let mut hands = self.hands();
        hands.stopped = true;
        for running in hands.running.iter_mut().filter(|running| running.ended.is_none()) {
            running.session.kill(false);
            // It was killed; what became of it interests nobody.
            running.ended = Some(running.child.wait().unwrap_or_default());
        }
    }
}

impl Hands {
    fn alive(&self) -> impl Iterator<Item = &Running> {
        self.running.iter().filter(|running| running.ended.is_none())
    }
}
