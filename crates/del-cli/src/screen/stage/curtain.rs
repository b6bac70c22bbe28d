//! The screen when the program goes on after it was stopped, and when it ends here and now.

use super::{ahead, current};
use crate::interrupt::Curtain;

/// What is done with the screen when the program goes on, and when it ends.
pub(crate) const CURTAIN: Curtain = Curtain { resume, leave };

/// The program goes on after it was stopped: somebody else had the terminal meanwhile, and the cursor is on a row of its own.
fn resume() {
    ahead::resume();
    if let Some(stage) = current() {
        let mut state = stage.lock();
        state.column = 0;
        state.drawn.clear();
        state.draw();
    }
}

/// The program ends here and now: what stands below goes, as far as nobody is drawing it.
fn leave() {
    ahead::leave();
    if let Some(stage) = current()
        && let Ok(mut state) = stage.state.try_lock()
    {
        state.erase();
        state.end_row();
        state.held = true;
    }
}
