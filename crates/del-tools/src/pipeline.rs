//! Running what the judge called safe: the programs of its plan, without a shell.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use del_judge::{Action, Input, Link, Output, Plan, Process, Redirect};
use process_wrap::std::ChildWrapper;

use crate::process::{Ended, GRACE, How, Pipes, Stream, TICK};
use crate::sandbox::Sandbox;
use crate::session::Session;
use crate::toolbox::Control;

/// Runs the steps of `plan` in their order and hands their output to `take` as it comes.
pub(crate) fn run(
    plan: &Plan,
    timeout: Duration,
    sandbox: &Sandbox,
    control: &Control<'_>,
    take: &mut dyn FnMut(Stream, &[u8]),
) -> io::Result<Ended> {
    let started = Instant::now();
    let (read_out, out) = io::pipe()?;
    let (read_err, err) = io::pipe()?;
    let mut pipes = Pipes::over(read_out, read_err)?;
    let mut run = Run { deadline: started + timeout, out, err, sandbox, control };
    let mut status = ExitStatus::default();
    let mut how = None;
    for step in &plan.steps {
        let due = match step.link {
            Link::Always => true,
            Link::And => status.success(),
            Link::Or => !status.success(),
        };
        if !due {
            continue;
        }
        match &step.action {
            Action::Enter(directory) if directory.is_dir() => status = ExitStatus::default(),
            Action::Enter(directory) => {
                let message = format!("{} is no longer there", directory.display());
                return Err(io::Error::new(io::ErrorKind::NotFound, message));
            }
            Action::Run(processes) => match run.step(processes, &mut pipes, take)? {
                How::Exited(ended) => status = ended,
                stopped => {
                    how = Some(stopped);
                    break;
                }
            },
        }
    }
    let Run { out, err, .. } = run;
    drop((out, err));
    pipes.drain(take);
    Ok(Ended { how: how.unwrap_or(How::Exited(status)), took: started.elapsed(), background: Vec::new() })
}

struct Run<'a> {
    deadline: Instant,
    out: PipeWriter,
    err: PipeWriter,
    sandbox: &'a Sandbox,
    control: &'a Control<'a>,
}

/// A program that was started.
struct Running {
    child: Box<dyn ChildWrapper>,
    session: Session,
    ended: Option<ExitStatus>,
}

/// Where an output goes.
enum Sink {
    Pipe(PipeWriter),
    Nowhere,
}

impl Run<'_> {
    fn step(
        &mut self,
        processes: &[Process],
        pipes: &mut Pipes,
        take: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<How> {
        let mut group = Group(Vec::new());
        let mut last = None;
        let mut before: Option<PipeReader> = None;
        for (place, process) in processes.iter().enumerate() {
            let (next, out) = if place + 1 < processes.len() {
                let (next, out) = io::pipe()?;
                (Some(next), out)
            } else {
                (None, self.out.try_clone()?)
            };
            last = self.start(process, before.take(), out, &mut group, take)?;
            before = next;
        }
        drop(before);
        let mut stopped: Option<(How, Instant)> = None;
        // Most programs end at once; those that do not are looked at less and less often.
        let mut patience = Duration::from_millis(1);
        while !group.has_ended()? {
            pipes.wait(patience)?;
            patience = (patience * 2).min(TICK);
            pipes.read(take);
            match stopped {
                None => {
                    let how = match () {
                        () if self.control.check().is_err() => How::Cancelled,
                        () if Instant::now() >= self.deadline => How::TimedOut,
                        () => continue,
                    };
                    stopped = Some((how, Instant::now()));
                    group.0.iter().for_each(|running| running.session.terminate());
                }
                Some((_, since)) if since.elapsed() >= GRACE => group.kill(),
                Some(_) => {}
            }
        }
        pipes.read(take);
        let status = match last {
            Some(status) => status,
            None => group.0.last().and_then(|running| running.ended).unwrap_or_default(),
        };
        Ok(stopped.map_or(How::Exited(status), |(how, _)| how))
    }

    /// Starts one program. A status comes back when there is nothing to start.
    fn start(
        &self,
        process: &Process,
        before: Option<PipeReader>,
        out: PipeWriter,
        group: &mut Group,
        take: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<Option<ExitStatus>> {
        let Some(program) = &process.program else {
            take(Stream::Stderr, format!("{}: command not found\n", process.name).as_bytes());
            return Ok(Some(ExitStatus::from_raw(127 << 8)));
        };
        let input = match &process.input {
            Some(Input::File(path)) => match File::open(path).and_then(regular) {
                Ok(file) => file.into(),
                Err(error) => {
                    take(Stream::Stderr, format!("{}: {error}\n", path.display()).as_bytes());
                    return Ok(Some(ExitStatus::from_raw(1 << 8)));
                }
            },
            Some(Input::Text(text)) => said(text)?.into(),
            None => before.map_or_else(Stdio::null, Stdio::from),
        };
        let mut command = Command::new(program);
        command.args(&process.arguments).current_dir(&process.directory).env_clear();
        command.envs(process.environment.iter().map(|(name, value)| (name, value)));
        let (out, err) = sinks(&process.outputs, out, self.err.try_clone()?)?;
        command.stdin(input).stdout(out.stdio()).stderr(err.stdio());
        let child = self.sandbox.spawn(command)?;
        let session = Session::led_by(child.id());
        group.0.push(Running { child, session, ended: None });

        Ok(None)
    }
}

/// Programs that feed each other. Dropping it ends those that still run.
struct Group(Vec<Running>);

impl Group {
    fn has_ended(&mut self) -> io::Result<bool> {
        for running in self.0.iter_mut().filter(|running| running.ended.is_none()) {
            running.ended = running.child.try_wait()?;
        }
        Ok(self.0.iter().all(|running| running.ended.is_some()))
    }

    fn kill(&self) {
        self.0.iter().for_each(|running| running.session.kill(running.ended.is_some()));
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for running in self.0.iter_mut().filter(|running| running.ended.is_none()) {
            running.session.kill(false);
            // It was killed; what became of it interests nobody.
            let _ = running.child.wait();
        }
    }
}

impl Sink {
    fn stdio(self) -> Stdio {
        match self {
            Self::Pipe(pipe) => pipe.into(),
            Self::Nowhere => Stdio::null(),
        }
    }

    fn again(&self) -> io::Result<Self> {
        match self {
            Self::Pipe(pipe) => Ok(Self::Pipe(pipe.try_clone()?)),
            Self::Nowhere => Ok(Self::Nowhere),
        }
    }
}

/// Where both outputs go after all redirections, in their order.
fn sinks(redirects: &[Redirect], out: PipeWriter, err: PipeWriter) -> io::Result<(Sink, Sink)> {
    let (mut out, mut err) = (Sink::Pipe(out), Sink::Pipe(err));
    for redirect in redirects {
        match redirect {
            Redirect::Discard(Output::Standard) => out = Sink::Nowhere,
            Redirect::Discard(Output::Error) => err = Sink::Nowhere,
            Redirect::Join(Output::Standard, Output::Error) => out = err.again()?,
            Redirect::Join(Output::Error, Output::Standard) => err = out.again()?,
            Redirect::Join(..) => {}
        }
    }
    Ok((out, err))
}

/// A text as an input. It is no longer than a command, which fits into a pipe.
fn said(text: &str) -> io::Result<PipeReader> {
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(text.as_bytes())?;
    Ok(reader)
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}
