//! How a running call is watched and stopped.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::outcome::{Code, Failure};

/// How a running call is watched and stopped.
#[derive(Default)]
pub struct Control<'a> {
    cancel: Cancel,
    progress: Option<Listener<'a>>,
}

/// Stops a running call from another thread. Clones share one flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// What a call does while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A command wrote this, without terminal escapes.
    Output(&'a str),
    /// So many files were looked at so far.
    Files(usize),
}

type Listener<'a> = Box<dyn Fn(Progress<'_>) + Send + Sync + 'a>;

impl<'a> Control<'a> {
    /// A control that `cancel` stops.
    pub fn new(cancel: Cancel) -> Self {
        Self { cancel, progress: None }
    }

    /// Tells `progress` what happens, from the thread that runs the call.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(Progress<'_>) + Send + Sync + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Whether the call is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Tells whoever watches what happens.
    pub fn report(&self, progress: Progress<'_>) {
        if let Some(listener) = &self.progress {
            listener(progress);
        }
    }

    /// Fails once the call is to stop.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_cancelled() {
            return Err(Failure::new(Code::Cancelled, "cancelled by the user."));
        }
        Ok(())
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops every call that has this flag.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
