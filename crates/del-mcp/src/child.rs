//! A server that is a program: in a session of its own, without secrets, and with bounds on what it says.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use del_tools::looks_secret;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::process::{ChildStdin, ChildStdout, Command};

/// The longest line that is taken from a server.
pub(crate) const LONGEST_LINE: usize = 16 << 20;
/// Bytes of the end of standard error that are kept.
const LAST_WORDS: usize = 2048;
/// Between closing its input, asking it to end, and ending it.
const GRACE: Duration = Duration::from_millis(700);
const TICK: Duration = Duration::from_millis(20);

/// A running server.
#[derive(Debug)]
pub(crate) struct Child {
    process: Box<dyn ChildWrapper>,
    group: Option<Pid>,
    words: Arc<Mutex<Words>>,
}

/// What is known of how a server ended.
#[derive(Debug, Default)]
pub(crate) struct Words {
    stderr: Vec<u8>,
    too_long: bool,
}

impl Child {
    /// Starts a program; what comes with it are its input and its output.
    pub(crate) fn start(command: Command) -> io::Result<(Self, Bounded, ChildStdin)> {
        let mut command = command;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = CommandWrap::from(command).wrap(ProcessSession).spawn()?;
        let group = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let words = Arc::new(Mutex::new(Words::default()));
        let pipe = || io::Error::other("a pipe is missing");
        let input = process.stdin().take().ok_or_else(pipe)?;
        let output = process.stdout().take().ok_or_else(pipe)?;
        let mut errors = process.stderr().take().ok_or_else(pipe)?;
        let heard = Arc::clone(&words);
        tokio::spawn(async move {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut bytes).await {
                let mut words = heard.lock().unwrap_or_else(PoisonError::into_inner);
                words.stderr.extend_from_slice(&bytes[..count]);
                let over = words.stderr.len().saturating_sub(LAST_WORDS);
                words.stderr.drain(..over);
            }
        });
        let output = Bounded { output, line: 0, words: Arc::clone(&words) };
        Ok((Self { process, group, words }, output, input))
    }

    /// Why it can be heard no more, in words.
    pub(crate) async fn obituary(&mut self) -> String {
        if self.words().too_long {
            return "it sent a line above 16 MiB and was stopped".to_owned();
        }
        let mut text = match self.exit(GRACE).await {
            Some(how) => how,
            None => "it closed its output".to_owned(),
        };
        // What it said last may still be on its way.
        tokio::time::sleep(TICK).await;
        let words = self.words();
        let stderr = String::from_utf8_lossy(&words.stderr);
        if let Some(last) = stderr.lines().rev().find(|line| !line.trim().is_empty()) {
            text.push_str(": ");
            text.push_str(last.trim());
        }
        text
    }

    /// Ends it and all that it started in its session. Its input is closed already.
    pub(crate) async fn end(&mut self) {
        if self.exit(GRACE).await.is_none() {
            self.signal(Signal::TERM);
            let _ = self.exit(GRACE).await;
        }
        // It is not reaped yet, so the number of its group is still its own.
        self.signal(Signal::KILL);
        self.group = None;
        // It was killed; whether waiting for it works changes nothing.
        let _ = tokio::time::timeout(GRACE, self.process.wait()).await;
    }

    /// How it ended, if it does so in this time. It stays unreaped.
    async fn exit(&self, patience: Duration) -> Option<String> {
        let pid = self.group?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let until = tokio::time::Instant::now() + patience;
        loop {
            match waitid(WaitId::Pid(pid), options) {
                Ok(Some(status)) => {
                    return Some(match (status.exit_status(), status.terminating_signal()) {
                        (Some(code), _) => format!("it has ended (exit code {code})"),
                        (None, Some(signal)) => format!("it was ended by signal {signal}"),
                        (None, None) => "it has ended".to_owned(),
                    });
                }
                Ok(None) if tokio::time::Instant::now() < until => tokio::time::sleep(TICK).await,
                Ok(None) | Err(_) => return None,
            }
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The group may be gone.
            let _ = kill_process_group(group, signal);
        }
    }

    fn words(&self) -> std::sync::MutexGuard<'_, Words> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// What a program is started with: the environment without secrets, but for what was named.
pub(crate) fn command(
    program: &str,
    arguments: &[String],
    environment: &[(String, String)],
    directory: &std::path::Path,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    for (name, _) in std::env::vars_os() {
        if looks_secret(&name) {
            command.env_remove(name);
        }
    }
    command.env("PWD", directory).env("DEL", "1").envs(environment.iter().map(|(key, value)| (key, value)));
    command
}

/// The output of a server, which ends at a line that is too long.
#[derive(Debug)]
pub(crate) struct Bounded {
    output: ChildStdout,
    line: usize,
    words: Arc<Mutex<Words>>,
}

impl AsyncRead for Bounded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.output).poll_read(cx, buf))?;
        let read = &buf.filled()[before..];
        self.line = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => read.len() - newline - 1,
            None => self.line + read.len(),
        };
        if self.line > LONGEST_LINE {
            self.words.lock().unwrap_or_else(PoisonError::into_inner).too_long = true;
            return Poll::Ready(Err(io::Error::other("a line is too long")));
        }
        Poll::Ready(Ok(()))
    }
}
