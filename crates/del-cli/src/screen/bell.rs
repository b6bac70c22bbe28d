//! Calls whoever sits at the terminal when Del waits for them and they may have gone.

use std::io::Write;
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::look;
use crate::terminal;

/// Whether, how and when the user is called.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct BellOptions {
    /// How to call you when a question or the line waits for you
    #[arg(long, value_enum, value_name = "HOW", default_value = "auto")]
    notify: Notify,
    /// Seconds without a key after which you are called
    #[arg(long, value_name = "SECONDS", default_value = "20")]
    notify_after: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Notify {
    /// By a notification where the terminal is known to show some (iTerm2, Ghostty, kitty and others), else by its bell
    Auto,
    /// By the terminal's bell
    Bell,
    Off,
}

#[derive(Debug)]
struct Bell {
    notifies: bool,
    after: Duration,
    /// When the user pressed a key last.
    touched: Instant,
    /// What waits for them since, as long as they were not called for it.
    waits: Option<&'static str>,
}

/// The terminal is one, and so is this. Nothing where nobody is to be called.
static BELL: Mutex<Option<Bell>> = Mutex::new(None);

impl BellOptions {
    /// Calls the user from now on, as the options say.
    pub(crate) fn hang(self) {
        let notifies = self.notify == Notify::Auto && !look::is_plain() && shows_notifications(named);
        let after = Duration::from_secs(self.notify_after.into());
        let bell = (self.notify != Notify::Off).then(|| Bell {
            notifies,
            after,
            touched: Instant::now(),
            waits: None,
        });
        *lock() = bell;
    }
}

/// How often whoever reads keys in other ways than [`listen`] looks whether it is time.
pub(crate) const PACE: Duration = Duration::from_secs(1);

/// The user has pressed a key, and is there.
pub(crate) fn touched() {
    if let Some(bell) = &mut *lock() {
        (bell.touched, bell.waits) = (Instant::now(), None);
    }
}

/// Something waits for the user, who is called once they have pressed no key for long. Nothing of `why` may be others' words.
pub(crate) fn wait(why: &'static str) {
    if let Some(bell) = &mut *lock() {
        bell.waits = Some(why);
    }
    ring();
}

/// Calls the user if it is time.
pub(crate) fn ring() {
    let mut bell = lock();
    let Some(bell) = bell.as_mut().filter(|bell| bell.due().is_some_and(|due| due.is_zero())) else { return };
    if let (Some(why), Some(mut tty)) = (bell.waits.take(), terminal::open()) {
        let sign = if bell.notifies { format!("\u{1b}]9;Del: {why}\u{7}") } else { "\u{7}".to_owned() };
        // Where the terminal is gone nobody hears it.
        let _ = tty.write_all(sign.as_bytes());
    }
}

/// Returns when a key comes, or when there is nobody to be called any more; calls the user when it is time.
pub(crate) fn listen(tty: &impl AsFd) {
    loop {
        let due = lock().as_ref().and_then(Bell::due);
        if due.is_none_or(|due| terminal::comes_within(tty, due)) {
            return;
        }
        ring();
    }
}

impl Bell {
    /// How long it is until the user is to be called, if something waits for them.
    fn due(&self) -> Option<Duration> {
        self.waits.map(|_| self.after.saturating_sub(self.touched.elapsed()))
    }
}

fn lock() -> MutexGuard<'static, Option<Bell>> {
    BELL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the terminal, as the environment names it, shows what OSC 9 says. Multiplexers set a name of their own.
fn shows_notifications(named: impl Fn(&str) -> Option<String>) -> bool {
    let is = |name, known: &[&str]| named(name).is_some_and(|value| known.contains(&value.as_str()));
    is("TERM_PROGRAM", &["iTerm.app", "WezTerm", "ghostty"]) || is("TERM", &["xterm-kitty", "xterm-ghostty"])
}

fn named(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests {
    use super::shows_notifications;

    #[test]
    fn only_terminals_that_are_known_to_show_notifications_get_one() {
        for (term, program, shows) in [
            ("xterm-256color", "iTerm.app", true),
            ("xterm-256color", "WezTerm", true),
            ("xterm-ghostty", "", true),
            ("xterm-kitty", "", true),
            ("xterm-256color", "Apple_Terminal", false),
            ("tmux-256color", "tmux", false),
            ("xterm", "", false),
        ] {
            let named = |name: &str| match name {
                "TERM" => Some(term.to_owned()),
                _ => Some(program.to_owned()),
            };
            assert_eq!(shows_notifications(named), shows, "{term} {program}");
        }
    }
}
