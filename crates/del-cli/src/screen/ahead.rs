//! Keys that are pressed while the model works: Esc stops it, and what is typed waits until it can be told.

mod line;
mod typed;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use typed::Pressed;
pub(crate) use typed::{Answer, Turn, Typed};

use crate::interrupt::Interrupt;
use crate::screen::bell;
use crate::screen::stage::{self, Stage};
use crate::terminal;

/// Listens as long as it is there.
#[derive(Debug)]
struct Listener {
    interrupt: Interrupt,
    typed: Arc<Mutex<Typed>>,
    /// Nothing where there is no terminal to listen to.
    ear: Option<Ear>,
}

#[derive(Debug)]
struct Ear {
    /// Closing it ends the thread.
    stop: OwnedFd,
    thread: JoinHandle<()>,
}

/// Nobody listens as long as this is there: somebody else reads the terminal.
#[derive(Debug)]
pub(crate) struct Paused(Option<(Interrupt, Typed)>);

/// The terminal is one, and so is who listens to it.
static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

const ESC: u8 = 27;
/// The terminal marks what is pasted, or does not any more.
const MARK: &str = "\u{1b}[?2004h";
const NO_MARK: &str = "\u{1b}[?2004l";
/// What follows Esc sooner was sent by one key.
const ONE_KEY: Duration = Duration::from_millis(30);
/// A paste whose end has not come after this is over.
const ONE_PASTE: Duration = Duration::from_millis(300);

/// The system stops a program within this.
const STOPPING: Duration = Duration::from_millis(50);

/// Begins to listen, going on with what was typed before.
pub(crate) fn listen(interrupt: &Interrupt, typed: Typed) {
    let typed = Arc::new(Mutex::new(typed));
    let ear = start(interrupt, &typed);
    let listener = Listener { interrupt: interrupt.clone(), typed, ear };
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
}

/// What was typed; nobody listens any more.
pub(crate) fn finish() -> Typed {
    end().map(|(_, typed)| typed).unwrap_or_default()
}

/// The question that waits longest, where it fits: it waits no more.
pub(crate) fn take(fits: impl Fn(&str) -> bool) -> Option<String> {
    change(|typed| typed.give(fits)).flatten()
}

/// What was taken last waits again.
pub(crate) fn give_back() {
    change(Typed::keep_back);
}

fn change<T>(how: impl FnOnce(&mut Typed) -> T) -> Option<T> {
    let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    let mut typed = lock(&listener.as_ref()?.typed);
    let changed = how(&mut typed);
    typed.show();
    Some(changed)
}

/// Lets somebody else read the terminal for as long as the guard is there.
pub(crate) fn pause() -> Paused {
    Paused(end())
}

/// The program goes on after it was stopped.
pub(crate) fn resume() {
    if LISTENER.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
        // A terminal that cannot be told gives lines.
        let _ = terminal::Keys::again();
        mark_pastes(MARK);
    }
}

/// The program ends here and now: the terminal is left as it was found.
pub(crate) fn leave() {
    if LISTENER.try_lock().is_ok_and(|listener| listener.is_some()) {
        mark_pastes(NO_MARK);
    }
}

impl Paused {
    /// The user was typing something when this began.
    pub(crate) fn amid_typing(&self) -> bool {
        self.0.as_ref().is_some_and(|(_, typed)| !typed.line.is_empty())
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
    let Listener { interrupt, typed, ear } =
        LISTENER.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    if let Some(Ear { stop, thread }) = ear {
        drop(stop);
        mark_pastes(NO_MARK);
        // What was typed is there even where the thread has died.
        let _ = thread.join();
    }
    let typed = std::mem::take(&mut *lock(&typed));
    if let Some(stage) = stage::current() {
        stage.typed(("", ""), 0);
        stage.news("");
    }
    Some((interrupt, typed))
}

fn start(interrupt: &Interrupt, typed: &Arc<Mutex<Typed>>) -> Option<Ear> {
    let tty = terminal::open()?;
    mark_pastes(MARK);
    // No command that outlives the question may hold it open.
    let (ended, stop) = pipe_with(PipeFlags::CLOEXEC).ok()?;
    let (heard, typed) = (interrupt.clone(), Arc::clone(typed));
    let thread = std::thread::Builder::new()
        .name("keys".to_owned())
        .spawn(move || hear(&tty, &ended, &heard, &typed))
        .ok()?;
    Some(Ear { stop, thread })
}

fn hear(tty: &File, ended: &OwnedFd, interrupt: &Interrupt, typed: &Mutex<Typed>) {
    lock(typed).show();
    loop {
        let mut waits = [PollFd::new(tty, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
        match poll(&mut waits, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        let mut typed = lock(typed);
        let over = !waits[1].revents().is_empty();
        if over || !waits[0].revents().contains(PollFlags::IN) {
            // Whoever reads next would take the rest of a paste for keys.
            while typed.is_pasting()
                && terminal::comes_within(tty, ONE_PASTE)
                && read(tty, &mut typed).is_some()
            {}
            return;
        }
        match read(tty, &mut typed) {
            Some(Pressed::Escape) => interrupt.stop(),
            Some(Pressed::Suspend) => suspend(),
            Some(Pressed::Turn) => {
                if let Some((stage, said)) = stage::current().zip(typed.turn()) {
                    stage.news(&said);
                }
            }
            Some(Pressed::Text) => {}
            None => return,
        }
        for (line, answer) in typed.answers() {
            if let Some(stage) = stage::current() {
                stage.between(&format!("{}\n{}", stage.dimmed(&format!("> {line}")), answer.trim_end()));
            }
        }
        typed.show();
    }
}

/// Stops the program until the shell lets it go on. The shell gets a row of its own, and a terminal that marks nothing.
fn suspend() {
    let left = stage::current().map(Stage::leave_row);
    mark_pastes(NO_MARK);
    terminal::suspend();
    // Where nothing stops it, nothing else tells that it goes on; where something does, this may be a moment before.
    std::thread::sleep(STOPPING);
    mark_pastes(MARK);
    drop(left);
}

/// Reads what was pressed; nothing where the terminal is gone.
fn read(mut tty: &File, typed: &mut Typed) -> Option<Pressed> {
    let mut bytes = [0; 1024];
    let mut count = tty.read(&mut bytes[..1000]).ok().filter(|count| *count > 0)?;
    if bytes[count - 1] == ESC && terminal::comes_within(tty, ONE_KEY) {
        count += tty.read(&mut bytes[count..]).unwrap_or(0);
    }
    bell::touched();
    Some(typed.take(&bytes[..count]))
}

fn lock(typed: &Mutex<Typed>) -> MutexGuard<'_, Typed> {
    typed.lock().unwrap_or_else(PoisonError::into_inner)
}

fn mark_pastes(how: &str) {
    if let Some(mut tty) = terminal::open() {
        // Where the terminal is gone there is nothing to mark.
        let _ = tty.write_all(how.as_bytes());
    }
}

impl Typed {
    fn show(&self) {
        if let Some(stage) = stage::current() {
            stage.typed(self.line.parts(), self.questions.len() + self.drafts.len());
        }
    }
}
