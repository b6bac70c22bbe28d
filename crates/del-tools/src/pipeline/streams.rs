//! What commands read from and write to.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::Path;
use std::process::Stdio;

use del_judge::{Input, Output, Redirect, is_public};

use crate::workspace::{Access, Workspace};

/// The input and the outputs of commands.
pub(super) struct Streams {
    pub(super) input: Source,
    pub(super) out: Sink,
    pub(super) err: Sink,
}

/// What feeds commands.
pub(super) enum Source {
    Nothing,
    Pipe(PipeReader),
    File(File),
}

/// Where an output goes.
pub(super) enum Sink {
    Pipe(PipeWriter),
    Nowhere,
}

impl Streams {
    /// The same after an input, which lies in the workspace, and redirections, in their order.
    pub(super) fn redirected(
        mut self,
        input: Option<&Input>,
        redirects: &[Redirect],
        workspace: &Workspace,
    ) -> io::Result<Self> {
        match input {
            Some(Input::File(path)) => self.input = Source::File(opened(path, workspace)?),
            Some(Input::Text(text)) => self.input = Source::Pipe(said(text)?),
            None => {}
        }
        for redirect in redirects {
            match redirect {
                Redirect::Discard(Output::Standard) => self.out = Sink::Nowhere,
                Redirect::Discard(Output::Error) => self.err = Sink::Nowhere,
                Redirect::Join(Output::Standard, Output::Error) => self.out = self.err.again()?,
                Redirect::Join(Output::Error, Output::Standard) => self.err = self.out.again()?,
                Redirect::Join(..) => {}
            }
        }
        Ok(self)
    }

    /// Says something where messages go. Whoever should hear it may be gone.
    pub(super) fn say(&self, message: &str) {
        if let Sink::Pipe(pipe) = &self.err {
            let _ = writeln!(&*pipe, "{message}");
        }
    }
}

impl Source {
    pub(super) fn again(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Nothing => Self::Nothing,
            Self::Pipe(pipe) => Self::Pipe(pipe.try_clone()?),
            Self::File(file) => Self::File(file.try_clone()?),
        })
    }

    pub(super) fn stdio(self) -> Stdio {
        match self {
            Self::Nothing => Stdio::null(),
            Self::Pipe(pipe) => pipe.into(),
            Self::File(file) => file.into(),
        }
    }
}

impl Sink {
    pub(super) fn again(&self) -> io::Result<Self> {
        match self {
            Self::Pipe(pipe) => Ok(Self::Pipe(pipe.try_clone()?)),
            Self::Nowhere => Ok(Self::Nowhere),
        }
    }

    pub(super) fn stdio(self) -> Stdio {
        match self {
            Self::Pipe(pipe) => pipe.into(),
            Self::Nowhere => Stdio::null(),
        }
    }
}

/// A text as an input. It is no longer than a command, which fits into a pipe.
fn said(text: &str) -> io::Result<PipeReader> {
    let (reader, mut writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    writer.write_all(text.as_bytes())?;
    Ok(reader)
}

/// The file of an input. What lies at its place is looked at again: it may be a link by now.
fn opened(path: &Path, workspace: &Workspace) -> io::Result<File> {
    if is_public(path) {
        return File::open(path);
    }
    let place = workspace.resolve_path(path, Access::Read);
    let opened = place.and_then(|place| workspace.open_file(&place));
    opened.map(|(file, _)| file).map_err(|obstacle| io::Error::other(obstacle.to_string()))
}
