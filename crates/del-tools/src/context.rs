//! What every tool works with: the workspace, the limits, and what the model has read.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::PermissionsExt;
use del_judge::{Ground, Judge};

use crate::jobs::Jobs;
use crate::outcome::{Code, Failure, sized};
use crate::process::Background;
use crate::sandbox::Sandbox;
use crate::suggest;
use crate::text;
use crate::undo::UndoStore;
use crate::web::Web;
use crate::withheld;
use crate::workspace::{Access, Obstacle, Place, Stamp, Workspace};

/// Files above this are neither edited nor compared.
pub(crate) const MAX_EDITED: u64 = 32 << 20;

/// How much of what a tool finds goes to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Lines that `read_file` returns.
    pub(crate) read_lines: u64,
    /// Bytes of the text of a result.
    pub(crate) result_bytes: usize,
    /// Characters of the output of a command.
    pub(crate) command_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { read_lines: 2000, result_bytes: 50 * 1024, command_chars: 30_000 }
    }
}

/// What tools work with.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) workspace: Workspace,
    pub(crate) limits: Limits,
    /// Names under which tools are offered, by the engine's name.
    pub(crate) names: Vec<(&'static str, &'static str)>,
    /// The only tools that may be called, by the engine's name, if the user left no others.
    pub(crate) only: Option<Vec<&'static str>>,
    seen: Mutex<HashMap<Place, Stamp>>,
    /// Processes that commands left running; they end with the context.
    pub(crate) background: Mutex<Vec<Background>>,
    /// Commands that run in the background, where they may.
    pub(crate) jobs: Option<Jobs>,
    /// What commands are held to.
    pub(crate) sandbox: Sandbox,
    /// Says which commands only read.
    pub(crate) judge: Judge,
    /// The service that searches the web, where there is one.
    pub(crate) web: Option<Web>,
    /// Where what stood there before a change is kept, if it is.
    pub(crate) undo: Option<UndoStore>,
}

/// A file as it was loaded whole.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stamp: Stamp,
    /// Permission bits.
    pub(crate) mode: u32,
}

impl Context {
    pub(crate) fn new(workspace: Workspace, names: Vec<(&'static str, &'static str)>) -> Self {
        Self {
            workspace,
            limits: Limits::default(),
            names,
            only: None,
            seen: Mutex::default(),
            background: Mutex::default(),
            jobs: None,
            sandbox: Sandbox::default(),
            judge: Judge::default(),
            web: None,
            undo: None,
        }
    }

    /// Where commands work, and what they may look into: the working directory, and those that are allowed besides.
    pub(crate) fn ground(&self) -> Ground {
        let ground = Ground::new(self.workspace.root()).and(&self.workspace.writable());
        withheld::kept_from(ground, self.workspace.withheld())
    }

    /// The name under which the model knows a tool.
    pub(crate) fn name_of(&self, tool: &'static str) -> &'static str {
        self.names.iter().find(|(engine, _)| *engine == tool).map_or(tool, |(_, name)| name)
    }

    /// Resolves a path that must be there.
    pub(crate) fn existing(&self, given: &str, access: Access) -> Result<Place, Failure> {
        let place = self.workspace.resolve(given, access)?;
        if place.exists { Ok(place) } else { Err(self.not_found(&place.shown)) }
    }

    /// Says what stands in the way of `place`, and what to do about it.
    pub(crate) fn failure(&self, obstacle: &Obstacle, place: &Place) -> Failure {
        let shown = &place.shown;
        let fail = |code, cause| Failure::new(code, cause);
        match obstacle {
            Obstacle::Missing => self.not_found(shown),
            Obstacle::Dangling => {
                fail(Code::NotFound, format!("file not found: {shown} is a link that leads nowhere."))
            }
            Obstacle::Loop => fail(Code::NotFound, format!("{shown} is a loop of links.")),
            Obstacle::Outside => self.workspace.outside(shown),
            Obstacle::Directory => {
                fail(Code::IsDir, format!("{shown} is a directory; use {}.", self.name_of("list_dir")))
            }
            Obstacle::NotDirectory => {
                fail(Code::NotDir, format!("{shown} is not a directory; use {}.", self.name_of("read_file")))
            }
            Obstacle::Special(kind) => {
                fail(Code::NotRegular, format!("{shown} is a {kind}, not a regular file."))
            }
            Obstacle::ReadOnly => fail(
                Code::Denied,
                format!("{shown} is read-only; its mode forbids writing. Ask the user to change it."),
            ),
            Obstacle::Changed => stale(shown),
            Obstacle::System(_) => fail(Code::System, format!("{shown}: {obstacle}.")),
        }
    }

    /// The failure for a file that is not there, with what may have been meant.
    pub(crate) fn not_found(&self, shown: &str) -> Failure {
        let near = self.near(shown);
        let look = || format!("Use {} to see what is there.", self.name_of("list_dir"));
        let hint = near.unwrap_or_else(look);
        Failure::new(Code::NotFound, format!("file not found: {shown}. {hint}"))
    }

    /// The failure for a file that is not there to be edited.
    pub(crate) fn nothing_to_edit(&self, shown: &str) -> Failure {
        let near = self.near(shown).map(|near| format!("{near} ")).unwrap_or_default();
        let write = self.name_of("write_file");
        Failure::new(Code::NotFound, format!("file not found: {shown}. {near}Call {write} to make it."))
    }

    /// Files that may have been meant.
    fn near(&self, shown: &str) -> Option<String> {
        let near = suggest::files(&self.workspace, shown);
        (!near.is_empty()).then(|| format!("Did you mean: {}?", near.join(", ")))
    }

    /// Loads a file that is to be changed or compared.
    pub(crate) fn load(&self, place: &Place) -> Result<Loaded, Failure> {
        let (file, metadata) = self.workspace.open_file(place).map_err(|o| self.failure(&o, place))?;
        if metadata.len() > MAX_EDITED {
            let cause = format!(
                "{} has {}; at most {} can be changed.",
                place.shown,
                sized(metadata.len()),
                sized(MAX_EDITED)
            );
            return Err(Failure::new(Code::TooLarge, cause));
        }
        let mut bytes = Vec::new();
        file.take(MAX_EDITED + 1).read_to_end(&mut bytes).map_err(|e| self.failure(&e.into(), place))?;
        let stamp = Stamp::of(&metadata, Some(&bytes));
        Ok(Loaded { bytes, stamp, mode: metadata.permissions().mode() & 0o7777 })
    }

    /// The text of a file that is to be edited.
    pub(crate) fn editable(&self, place: &Place, loaded: &Loaded) -> Result<text::Decoded, Failure> {
        let start = &loaded.bytes[..loaded.bytes.len().min(text::SNIFFED)];
        if text::is_binary(start) {
            let kind = text::binary_kind(start, loaded.bytes.len() as u64);
            return Err(Failure::new(
                Code::Binary,
                format!("{} is {kind}; only text can be edited.", place.shown),
            ));
        }
        let decoded = text::decode(&loaded.bytes);
        if !decoded.exact {
            let cause = format!(
                "{} is not valid {}; editing would damage it. Rewrite it with {} or convert it first.",
                place.shown,
                decoded.charset.label(),
                self.name_of("write_file")
            );
            return Err(Failure::new(Code::NotUtf8, cause));
        }
        Ok(decoded)
    }

    /// Remembers that the model knows the content of `place` with this stamp.
    pub(crate) fn remember(&self, place: &Place, stamp: Stamp) {
        self.seen().insert(place.present(), stamp);
    }

    /// Remembers a file as it is on disk right after it was written.
    pub(crate) fn remember_written(&self, place: &Place, content: &[u8]) {
        if let Ok(metadata) = self.workspace.metadata(place) {
            self.remember(place, Stamp::of(&metadata, Some(content)));
        }
    }

    /// Whether the model has read or written the file in this session.
    pub(crate) fn has_seen(&self, place: &Place) -> bool {
        self.seen().contains_key(&place.present())
    }

    /// Refuses when the file is not what the model last saw of it.
    pub(crate) fn fresh(&self, place: &Place, now: &Stamp) -> Result<(), Failure> {
        match self.seen().get(&place.present()) {
            Some(seen) if !seen.holds(now) => Err(stale(&place.shown)),
            _ => Ok(()),
        }
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<Place, Stamp>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let left = self.background.get_mut().unwrap_or_else(PoisonError::into_inner);
        left.drain(..).for_each(Background::end);
    }
}

fn stale(shown: &str) -> Failure {
    Failure::new(Code::Stale, format!("{shown} changed on disk since you read it; read it again."))
}
