//! Keys that are pressed while the model works: Esc stops it, and what is typed is the next question.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::pipe;

use crate::interrupt::Interrupt;
use crate::screen::stage;
use crate::terminal;

/// What was typed ahead: whole questions, and one that is not sent yet.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    pub(crate) questions: VecDeque<String>,
    pub(crate) text: String,
    /// Bytes of a character that is not whole.
    partial: Vec<u8>,
}

/// Listens as long as it is there.
#[derive(Debug)]
struct Listener {
    interrupt: Interrupt,
    /// Closing it ends the thread.
    stop: OwnedFd,
    thread: JoinHandle<Typed>,
}

/// Nobody listens as long as this is there: somebody else reads the terminal.
#[derive(Debug)]
pub(crate) struct Paused(Option<(Interrupt, Typed)>);

/// The terminal is one, and so is who listens to it.
static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

const ESC: u8 = 27;
/// What follows Esc sooner was sent by one key.
const ONE_KEY: Duration = Duration::from_millis(30);

/// Begins to listen, going on with what was typed before.
pub(crate) fn listen(interrupt: &Interrupt, typed: Typed) {
    let started = start(interrupt, typed);
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = started;
}

/// What was typed; nobody listens any more.
pub(crate) fn finish() -> Typed {
    end().map(|(_, typed)| typed).unwrap_or_default()
}

/// Lets somebody else read the terminal for as long as the guard is there.
pub(crate) fn pause() -> Paused {
    Paused(end())
}

impl Paused {
    /// The user was typing something when this began.
    pub(crate) fn amid_typing(&self) -> bool {
        self.0.as_ref().is_some_and(|(_, typed)| !typed.text.is_empty())
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        if let Some((interrupt, typed)) = self.0.take() {
            listen(&interrupt, typed);
        }
    }
}

fn end() -> Option<(Interrupt, Typed)> {
    let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    drop(listener.stop);
    let typed = listener.thread.join().unwrap_or_default();
    if let Some(stage) = stage::current() {
        stage.typed("", 0);
    }
    Some((listener.interrupt, typed))
}

fn start(interrupt: &Interrupt, typed: Typed) -> Option<Listener> {
    let tty = terminal::open()?;
    let (ended, stop) = pipe().ok()?;
    let heard = interrupt.clone();
    let thread = std::thread::Builder::new()
        .name("keys".to_owned())
        .spawn(move || hear(&tty, &ended, &heard, typed))
        .ok()?;
    Some(Listener { interrupt: interrupt.clone(), stop, thread })
}

fn hear(mut tty: &File, ended: &OwnedFd, interrupt: &Interrupt, mut typed: Typed) -> Typed {
    typed.show();
    let mut bytes = [0; 1024];
    loop {
        let mut waits = [PollFd::new(tty, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
        match poll(&mut waits, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return typed,
        }
        if !waits[1].revents().is_empty() || !waits[0].revents().contains(PollFlags::IN) {
            return typed;
        }
        let Ok(mut count @ 1..) = tty.read(&mut bytes) else { return typed };
        if bytes[count - 1] == ESC && count < bytes.len() && follows(tty) {
            count += tty.read(&mut bytes[count..]).unwrap_or(0);
        }
        if typed.take(&bytes[..count]) {
            interrupt.stop();
        }
        typed.show();
    }
}

/// Whether more of a key comes.
fn follows(tty: &File) -> bool {
    let soon = Timespec::try_from(ONE_KEY).ok();
    poll(&mut [PollFd::new(tty, PollFlags::IN)], soon.as_ref()).is_ok_and(|count| count > 0)
}

impl Typed {
    /// A question that was begun before.
    pub(crate) fn begun(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// Takes what was pressed. Whether Esc was.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let mut escaped = false;
        let mut rest = bytes.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            match byte {
                ESC => match rest.next_if(|next| matches!(next, b'[' | b'O')) {
                    // A key with a name: it means nothing here.
                    Some(_) => while rest.next().is_some_and(|byte| !(b'@'..=b'~').contains(&byte)) {},
                    None if rest.next_if_eq(&b'\r').is_some() => self.text.push('\n'),
                    None => escaped = true,
                },
                b'\r' => {
                    let question = std::mem::take(&mut self.text);
                    if !question.trim().is_empty() {
                        self.questions.push_back(question);
                    }
                }
                b'\n' => self.text.push('\n'),
                8 | 127 => drop(self.text.pop()),
                // Ctrl-U and Ctrl-W.
                21 => self.text.clear(),
                23 => {
                    let kept = self.text.trim_end().rfind(char::is_whitespace).map_or(0, |space| space + 1);
                    self.text.truncate(kept);
                }
                byte if byte < 32 => {}
                byte => self.character(byte),
            }
        }
        escaped
    }

    fn character(&mut self, byte: u8) {
        self.partial.push(byte);
        match std::str::from_utf8(&self.partial) {
            Ok(text) => self.text.push_str(text),
            Err(error) if error.error_len().is_none() => return,
            Err(_) => {}
        }
        self.partial.clear();
    }

    fn show(&self) {
        if let Some(stage) = stage::current() {
            stage.typed(&self.text, self.questions.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_kept_and_esc_alone_stops() {
        let mut typed = Typed::default();
        assert!(!typed.take(b"first\rsec\x1b[A\x1b[1;5Cond\x7f\x7fn\xc3"));
        assert!(!typed.take(b"\xa4 word gone\x17here\n"));
        assert_eq!(typed.questions, ["first"]);
        assert_eq!(typed.text, "seconä word here\n");
        assert!(typed.take(b"\x1b"));
        assert!(typed.take(b"x\x1b"));
        typed.take(b"\x15\r");
        assert_eq!((typed.questions.len(), typed.text.as_str()), (1, ""));
    }
}
