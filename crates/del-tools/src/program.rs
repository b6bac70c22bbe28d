//! Programs that tools use: where they lie, and running one to its end.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::sync::PoisonError;
use std::time::Duration;

use crate::context::Context;
use crate::control::Control;
use crate::outcome::{Code, Failure};
use crate::output::{Output, Shown};
use crate::process::{self, Ended, How, Spec, Stream};

/// More than this of one stream is not kept.
const MAX_KEPT: usize = 48 << 20;

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Its exit code; that of a shell for a signal.
    pub(crate) code: i32,
    pub(crate) took: Duration,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// Whether some of what it wrote was not kept.
    pub(crate) cut: bool,
    /// It took too long, and was ended.
    pub(crate) timed_out: bool,
}

impl Finished {
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Runs `spec` to its end and keeps what it writes, to the byte.
pub(crate) fn finish(spec: &Spec, context: &Context, control: &Control<'_>) -> Result<Finished, Failure> {
    collect(spec, context, control, &mut |_, _| ())
}

/// The same, and shows what it writes, as it comes and in the end.
pub(crate) fn watch(
    spec: &Spec,
    context: &Context,
    control: &Control<'_>,
) -> Result<(Finished, Shown), Failure> {
    let mut output = Output::new(context);
    let finished = collect(spec, context, control, &mut |stream, bytes| output.take(stream, bytes, control))?;
    Ok((finished, output.show(context, false)))
}

fn collect(
    spec: &Spec,
    context: &Context,
    control: &Control<'_>,
    take: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Finished, Failure> {
    let (mut stdout, mut stderr, mut cut) = (Vec::new(), Vec::new(), false);
    let ended = run(spec, context, control, &mut |stream, bytes| {
        take(stream, bytes);
        let kept = if stream == Stream::Stdout { &mut stdout } else { &mut stderr };
        let room = bytes.len().min(MAX_KEPT - kept.len());
        kept.extend_from_slice(&bytes[..room]);
        cut |= room < bytes.len();
    })?;
    let (code, timed_out) = code(ended.how);
    Ok(Finished { code, took: ended.took, stdout, stderr, cut, timed_out })
}

/// What goes on running in the background ends with the toolbox.
fn run(
    spec: &Spec,
    context: &Context,
    control: &Control<'_>,
    take: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Ended, Failure> {
    control.check()?;
    let mut ended = process::run(spec, &context.sandbox, control, take).map_err(|error| {
        let program = spec.program.display();
        match error.kind() {
            io::ErrorKind::NotFound if spec.directory.is_dir() => {
                Failure::new(Code::ToolMissing, format!("{program} cannot be started; is it installed?"))
            }
            _ => Failure::new(Code::System, format!("cannot start {program}: {error}.")),
        }
    })?;
    let left = std::mem::take(&mut ended.background);
    context.background.lock().unwrap_or_else(PoisonError::into_inner).extend(left);
    if ended.how == How::Cancelled {
        return Err(Failure::new(Code::Cancelled, "cancelled by the user."));
    }
    Ok(ended)
}

fn code(how: How) -> (i32, bool) {
    match how {
        How::Exited(status) => {
            let signal = status.signal().map_or(-1, |signal| 128 + signal);
            (status.code().unwrap_or(signal), false)
        }
        How::TimedOut | How::Cancelled => (-1, true),
    }
}

/// A command line as a person would write it.
pub(crate) fn written<S: AsRef<str>>(words: &[S]) -> String {
    let plain = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&b))
    };
    let words = words.iter().map(AsRef::as_ref).map(|word| {
        if plain(word) {
            word.to_owned()
        } else {
            shlex::try_quote(word).map_or_else(|_| word.to_owned(), Into::into)
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
