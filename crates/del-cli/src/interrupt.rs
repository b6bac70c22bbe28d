//! Ctrl-C, and being told to end.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use del_tools::Cancel;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::Notify;

use crate::exit::Exit;
use crate::terminal::Modes;

/// Hears Ctrl-C in place of the system, so that what runs can end in order. A second one ends the program at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    cancel: Mutex<Cancel>,
    pressed: AtomicBool,
    /// Something runs that has to end in order.
    busy: AtomicBool,
    /// A line is read, which Ctrl-C takes away rather than the program.
    spared: Mutex<Option<Spared>>,
    /// The signal that the program is to end for.
    told: AtomicI32,
    notify: Notify,
}

/// When Ctrl-C was spent last on the line that is read.
#[derive(Debug, Default)]
struct Spared(Option<Instant>);

/// What the screen does when the program goes on after it was stopped, and when it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Curtain {
    pub(crate) resume: fn(),
    pub(crate) leave: fn(),
}

/// A second Ctrl-C at the prompt within this ends the program.
pub(crate) const ARMED: Duration = Duration::from_secs(2);
/// What the first one says.
pub(crate) const ENDS: &str = "Ctrl-C again, Ctrl-D or `exit` ends";
/// What is running has this long to end when the program is told to end.
const GRACE: Duration = Duration::from_secs(3);

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn listen(screen: Curtain) -> Result<Self> {
        let interrupt = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGCONT])?;
        let heard = interrupt.clone();
        let modes = Modes::now();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                if signal == SIGCONT {
                    (screen.resume)();
                    continue;
                }
                if let Some(code) = heard.hear(signal) {
                    del_tools::end_jobs();
                    del_tools::remove_scratch();
                    (screen.leave)();
                    modes.iter().for_each(Modes::put_back);
                    std::process::exit(code);
                }
            }
        })?;
        Ok(interrupt)
    }

    /// Something begins that may be interrupted: the flag for it.
    pub(crate) fn begin(&self) -> Cancel {
        let cancel = Cancel::new();
        self.shared.pressed.store(false, Ordering::SeqCst);
        self.shared.busy.store(true, Ordering::SeqCst);
        *self.shared.cancel.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
        cancel
    }

    /// What was begun is to stop, as if Ctrl-C had been pressed; but a second time ends nothing more.
    pub(crate) fn stop(&self) {
        if self.shared.busy.load(Ordering::SeqCst) {
            self.current().cancel();
            self.shared.notify.notify_one();
        }
    }

    /// Whether a line is read that the terminal itself edits: the first Ctrl-C takes that away, and ends nothing.
    pub(crate) fn spare(&self, spared: bool) {
        *self.shared.spared.lock().unwrap_or_else(PoisonError::into_inner) = spared.then(Spared::default);
    }

    /// How the program is to end, if it was told to while it worked.
    pub(crate) fn told_to_end(&self) -> Option<Exit> {
        match self.shared.told.load(Ordering::SeqCst) {
            0 => None,
            SIGHUP => Some(Exit::HungUp),
            _ => Some(Exit::Terminated),
        }
    }

    /// Whether Ctrl-C is spent on the line that is read.
    fn spares(&self) -> bool {
        let mut spared = self.shared.spared.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Spared(last)) = &mut *spared else { return false };
        let again = last.replace(Instant::now()).is_some_and(|last| last.elapsed() < ARMED);
        if !again {
            // Whoever cannot be told may press it once more.
            let _ = write!(std::io::stderr(), "\n{ENDS}\n> ");
        }
        !again
    }

    /// What was begun has ended.
    pub(crate) fn rest(&self) {
        self.shared.busy.store(false, Ordering::SeqCst);
    }

    /// Returns when what was begun is to stop, at once if that was said before.
    pub(crate) async fn pressed(&self) {
        while !self.is_pressed() {
            self.shared.notify.notified().await;
        }
    }

    /// True when what was begun is to stop.
    pub(crate) fn is_pressed(&self) -> bool {
        self.current().is_cancelled()
    }

    fn current(&self) -> Cancel {
        self.shared.cancel.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The code to end the program with, if it is to end here and now.
    fn hear(&self, signal: i32) -> Option<i32> {
        // Before anything ends because of what follows.
        let busy = self.shared.busy.load(Ordering::SeqCst);
        if signal == SIGINT && !busy && self.spares() {
            return None;
        }
        if signal != SIGINT {
            self.shared.told.store(signal, Ordering::SeqCst);
        }
        let again = self.shared.pressed.swap(true, Ordering::SeqCst);
        self.current().cancel();
        self.shared.notify.notify_one();
        if signal == SIGINT {
            return (again || !busy).then_some(Exit::Interrupted as i32);
        }
        if busy {
            std::thread::sleep(GRACE);
        }
        Some(128 + signal)
    }
}
