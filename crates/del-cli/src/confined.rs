//! A chat template is a program of somebody else's: it runs in a process of its own, which has little time and memory.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use del_detect::examples::{self, Example};
use del_detect::{Found, Material, Options, Report};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::common::Common;
use crate::exit::Exit;

/// What the process is asked.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) subject: Subject,
    pub(crate) options: Options,
}

/// What is to be looked at.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Subject {
    Material(Material),
    Examples(Vec<Example>),
}

/// What it answers: what was found, or why nothing was.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Found(Box<Found>),
    Error(String),
}

/// Bytes of memory, the program itself included.
const MEMORY: u64 = 512 << 20;

impl Subject {
    /// Seconds of work. A template takes a tenth of one, and examples may be many.
    fn seconds(&self) -> u64 {
        match self {
            Self::Material(_) => 1,
            Self::Examples(_) => 10,
        }
    }

    /// Time by the clock, for a process that waits: that does not use up its seconds of work. On a busy machine, work
    /// takes many times as long.
    fn patience(&self) -> Duration {
        Duration::from_secs(self.seconds() * 30)
    }
}

/// What is found out of a template that a server has.
pub(crate) fn of_template(material: Material, common: &Common) -> Result<Report> {
    let question = Question { subject: Subject::Material(material), options: Options::default() };
    Ok(ask(&question, common)?.report)
}

/// Asks a process that is confined.
pub(crate) fn ask(question: &Question, common: &Common) -> Result<Found> {
    let own = std::env::current_exe().context("cannot find this program to run the template in")?;
    let mut command = Command::new(own);
    command
        .args(["detect", "--confined"])
        // The allocator sets more aside at once than the process may have.
        .env("MIMALLOC_ARENA_RESERVE", "16MiB")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(folder) = &common.dialect_dir {
        command.arg("--dialect-dir").arg(folder);
    }
    let mut child = command.spawn().context("cannot start a process to run the template in")?;
    let text = serde_json::to_string(question)?;
    let mut input = child.stdin.take();
    let writer = std::thread::spawn(move || input.as_mut().map(|input| input.write_all(text.as_bytes())));
    let output = output(child, question.subject.patience())?;
    let _ = writer.join();
    match serde_json::from_slice(&output.stdout) {
        Ok(Answer::Found(found)) => Ok(*found),
        Ok(Answer::Error(error)) => Err(Exit::BadInput.because(error)),
        Err(_) if output.status.code().is_none() => {
            Err(Exit::BadInput.because(ended(output.status, &question.subject)))
        }
        Err(_) => {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(Exit::Failed.because(told.trim_start_matches("del: error: ").trim()))
        }
    }
}

/// What the process says before its time is over; then it is ended.
fn output(child: Child, patience: Duration) -> Result<Output> {
    let process = Pid::from_child(&child);
    let (done, ended) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let output = child.wait_with_output();
        // Nobody may be waiting any more.
        let _ = done.send(());
        output
    });
    if ended.recv_timeout(patience).is_err() {
        // It may have ended just now.
        let _ = kill_process(process, Signal::KILL);
    }
    let output = reader.join().map_err(|_| anyhow!("the process that runs the template was lost"))?;
    output.context("cannot read from the process that runs the template")
}

/// Which limit ended the process.
fn ended(status: ExitStatus, subject: &Subject) -> String {
    let of_time = [Signal::XCPU, Signal::KILL].map(|signal| Some(signal.as_raw()));
    let more = if of_time.contains(&status.signal()) { "time" } else { "memory, or is nested too deep" };
    let (expected, got) = match subject {
        Subject::Material(_) => ("a template that needs", "one that needs"),
        Subject::Examples(_) => ("examples that need", "some that need"),
    };
    format!(
        "expected {expected} at most {} MiB of memory, {} s of work and {} s by the clock, got {got} more {more}",
        MEMORY >> 20,
        subject.seconds(),
        subject.patience().as_secs(),
    )
}

/// Answers the question on standard input, as the process that is confined.
pub(crate) fn answer(catalog: Catalog) -> Result<Exit> {
    // Where a limit cannot be set, the template's steps and its text are limited all the same.
    let limit = |resource, most| {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    };
    limit(Resource::As, MEMORY);
    limit(Resource::Core, 0);
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let Question { subject, options } = serde_json::from_str(&text)?;
    limit(Resource::Cpu, subject.seconds());
    let answer = match subject {
        Subject::Material(material) => match del_detect::detect(&material, catalog.all(), options) {
            Ok(found) => Answer::Found(Box::new(found)),
            Err(error) => Answer::Error(error.to_string()),
        },
        Subject::Examples(list) => Answer::Found(Box::new(examples::detect(&list, catalog.all(), options))),
    };
    writeln!(std::io::stdout().lock(), "{}", serde_json::to_string(&answer)?)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_process_that_does_not_work_is_ended_as_well() {
        let mut command = Command::new("sleep");
        let child = command.arg("60").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = output(child, Duration::from_millis(100)).unwrap();
        assert_eq!(output.status.signal(), Some(Signal::KILL.as_raw()));
        assert!(
            ended(output.status, &Subject::Examples(Vec::new()))
                .contains("300 s by the clock, got some that need more time")
        );
    }
}
