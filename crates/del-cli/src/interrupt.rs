//! Ctrl-C, and being told to end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use del_tools::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::Notify;

use crate::exit::Exit;

/// Hears Ctrl-C in place of the system, so that what runs can end in order. A second one ends the program at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    cancel: Mutex<Cancel>,
    pressed: AtomicBool,
    notify: Notify,
}

/// What is running has this long to end when the program is told to end.
const GRACE: Duration = Duration::from_secs(3);

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn listen() -> Result<Self> {
        let interrupt = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let heard = interrupt.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                heard.hear(signal);
            }
        })?;
        Ok(interrupt)
    }

    /// Something begins that may be interrupted: the flag for it.
    pub(crate) fn begin(&self) -> Cancel {
        let cancel = Cancel::new();
        self.shared.pressed.store(false, Ordering::SeqCst);
        *self.shared.cancel.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
        cancel
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

    fn hear(&self, signal: i32) {
        let again = self.shared.pressed.swap(true, Ordering::SeqCst);
        self.current().cancel();
        self.shared.notify.notify_one();
        if signal != SIGINT {
            std::thread::sleep(GRACE);
            std::process::exit(128 + signal);
        }
        if again {
            std::process::exit(Exit::Interrupted as i32);
        }
    }
}
