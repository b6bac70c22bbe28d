//! Programs of the user's own, which are told of something and may answer. Nothing confines them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use crate::control::{Cancel, Control};
use crate::environment;
use crate::process::{self, How, Spec, Stream};
use crate::sandbox::{Reach, Sandbox};
use crate::shell::shell;

/// A command of the user's own.
#[derive(Debug, Clone)]
pub struct Own<'a> {
    /// The shell gets it.
    pub command: &'a str,
    /// Where it runs.
    pub directory: &'a Path,
    /// What it reads.
    pub input: &'a str,
    /// Variables of its environment besides the user's, of which those that look like secrets are left out.
    pub variables: &'a [(&'a str, &'a OsStr)],
    /// After this it is ended.
    pub timeout: Duration,
}

/// What it left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// Its exit code, that of a shell for a signal; none where it took too long or was cancelled.
    pub code: Option<i32>,
    /// What it wrote, of each at most 64 KiB.
    pub stdout: String,
    /// The same.
    pub stderr: String,
}

const MAX_KEPT: usize = 64 * 1024;

impl Own<'_> {
    /// Runs it to its end, or until `cancel` is set.
    pub fn run(&self, cancel: &Cancel) -> io::Result<Left> {
        let mut variables = environment::users(self.directory);
        for (name, value) in self.variables {
            environment::set(&mut variables, name, value);
        }
        let spec = Spec {
            program: shell(),
            arguments: ["-c", self.command].map(OsString::from).to_vec(),
            directory: self.directory.to_owned(),
            environment: variables,
            input: self.input.as_bytes().to_vec(),
            timeout: self.timeout,
            reach: Reach::Write,
        };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let control = Control::new(cancel.clone());
        let ended = process::run(&spec, &Sandbox::default(), &control, &mut |stream, bytes| {
            let kept = if stream == Stream::Stdout { &mut stdout } else { &mut stderr };
            kept.extend_from_slice(&bytes[..bytes.len().min(MAX_KEPT - kept.len())]);
        })?;
        let code = match ended.how {
            How::Exited(status) => {
                Some(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
            }
            How::TimedOut | How::Cancelled => None,
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Left { code, stdout: text(&stdout), stderr: text(&stderr) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_answers_and_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let run = |command: &str, timeout| {
            let variables = [("WHO", OsStr::new("me"))];
            let directory = folder.path();
            Own { command, directory, input: "told", variables: &variables, timeout }
                .run(&Cancel::new())
                .unwrap()
        };
        let long = Duration::from_secs(60);
        let left = run("cat; echo $WHO >&2; exit 3", long);
        assert_eq!(left, Left { code: Some(3), stdout: "told".into(), stderr: "me\n".into() });
        assert_eq!(run("head -c 100000 /dev/zero", long).stdout.len(), MAX_KEPT);
        assert_eq!(run("echo a; sleep 60", Duration::from_millis(300)).code, None);
    }
}
