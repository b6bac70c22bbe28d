//! What holds the screen for a while, and gives it back when it is dropped.

use super::{Paused, Stage};

/// Something that takes a while; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Busy(pub(super) Option<&'static Stage>);

/// Nothing is drawn as long as this is there: somebody else has the terminal.
#[derive(Debug)]
pub(crate) struct Held {
    pub(super) stage: Option<&'static Stage>,
    pub(super) keys: Paused,
}

/// Nothing is drawn as long as this is there: the program is being stopped.
#[derive(Debug)]
pub(crate) struct Left {
    pub(super) stage: &'static Stage,
    /// As it was before.
    pub(super) held: bool,
}

impl Held {
    /// The user was typing something when this began: keys that come now are meant for that.
    pub(crate) fn amid_typing(&self) -> bool {
        self.keys.amid_typing()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(stage) = self.stage {
            stage.lock().held = false;
            stage.wake.notify_all();
        }
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        self.stage.lock().held = self.held;
        self.stage.wake.notify_all();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(stage) = self.0 {
            stage.rest();
        }
    }
}
