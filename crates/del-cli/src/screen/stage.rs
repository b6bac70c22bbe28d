//! The terminal while Del works: what is said goes down the screen and stays; below it stands what is being done, which
//! is drawn anew ten times a second and is gone when it is over.
//!
//! The cursor rests at the end of what is said, so that more of it costs nothing but itself. What stands below is drawn
//! from there and back.

mod curtain;
mod footer;
mod guards;
mod out;

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use curtain::CURTAIN;
use footer::{Doing, Footer};
pub(crate) use guards::{Busy, Held, Left};
use out::{PLAIN, Stream, last_style, put, wide};

use super::ahead::{self, Paused};
use super::look::{self, Look};
use crate::terminal;

/// The terminal is one, and so is this.
static STAGE: OnceLock<Stage> = OnceLock::new();

/// Says what there is to say, and shows what is being done.
#[derive(Debug)]
pub(crate) struct Stage {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug)]
struct State {
    look: Look,
    /// Lines can be written anew.
    redraws: bool,
    /// Whoever watches standard error without that is told in lines.
    told: bool,
    /// Somebody else has the terminal.
    held: bool,
    /// Where the cursor stands on its row, and which stream brought it there.
    column: usize,
    stream: Stream,
    /// The row above the cursor is empty.
    apart: bool,
    /// How what is written next looks: the last escape for that, unless it took all back.
    style: String,
    footer: Footer,
    /// Whole lines that wait until a row ends.
    later: String,
    /// The rows below the cursor, as they are on the screen.
    drawn: Vec<String>,
}

/// Between two pictures. What is over sooner is not seen.
const PACE: Duration = Duration::from_millis(80);
/// How often whoever is told in lines hears that it still goes on.
const STILL: Duration = Duration::from_secs(15);

/// The stage of this process, as the first who wants it will have it.
pub(crate) fn open(look: Look) -> &'static Stage {
    let mut fresh = false;
    let stage = STAGE.get_or_init(|| {
        fresh = true;
        Stage { state: Mutex::new(State::new(look)), wake: Condvar::new() }
    });
    if fresh && io::stderr().is_terminal() {
        // Without a thread nothing moves, and all is said the same.
        let _ = std::thread::Builder::new().name("screen".to_owned()).spawn(|| stage.tick());
    }
    stage
}

/// The stage, if there is one.
pub(crate) fn current() -> Option<&'static Stage> {
    STAGE.get()
}

/// Takes the terminal from the stage, if there is one, for as long as the guard is there.
pub(crate) fn hold() -> Held {
    let keys = ahead::pause();
    let stage = current().filter(|stage| !stage.lock().held);
    if let Some(stage) = stage {
        let mut state = stage.lock();
        state.erase();
        state.end_row();
        state.held = true;
    }
    Held { stage, keys }
}

impl Stage {
    /// Whether what is being done can be shown below what is said.
    pub(crate) fn redraws(&self) -> bool {
        self.lock().redraws
    }

    /// Something begins that takes a while.
    pub(crate) fn busy(&'static self, what: &str) -> Busy {
        self.doing(what);
        Busy(Some(self))
    }

    /// This is being done from now on.
    pub(crate) fn doing(&self, what: &str) {
        self.begin(Doing::new(what));
    }

    /// Nothing is done for so long, for the reason that `what` gives.
    pub(crate) fn waiting(&self, what: &str, milliseconds: u64) {
        self.begin(Doing::until(what, Instant::now() + Duration::from_millis(milliseconds)));
    }

    fn begin(&self, doing: Doing) {
        let mut state = self.lock();
        if state.footer.is_doing(&doing) {
            return;
        }
        if state.told && !state.held {
            state.end_row();
            let line = format!("... {}\n", doing.what());
            state.write(Stream::Err, &line);
        }
        state.footer.begin(doing);
        self.wake.notify_all();
    }

    /// What is being done begins only now.
    pub(crate) fn again(&self) {
        self.lock().footer.again();
    }

    /// The model wrote about so many tokens.
    pub(crate) fn count(&self, tokens: usize) {
        self.lock().footer.count(tokens);
    }

    /// What is being done says this: its last lines are shown.
    pub(crate) fn output(&self, text: &str) {
        self.lock().footer.output(text);
    }

    /// How far what is being done has come.
    pub(crate) fn progress(&self, text: &str) {
        self.lock().footer.progress(text);
    }

    /// The key that stops what is being done.
    pub(crate) fn stops_with(&self, key: &'static str) {
        self.lock().footer.stops_with(key);
    }

    /// What the user types meanwhile, before and behind the cursor, and how many questions wait.
    pub(crate) fn typed(&self, text: (&str, &str), waiting: usize) {
        let mut state = self.lock();
        state.footer.typed(text, waiting);
        if state.footer.is_busy() {
            state.draw();
        }
    }

    /// Something changed meanwhile, by the user's hand; `""` takes that away again.
    pub(crate) fn news(&self, text: &str) {
        let mut state = self.lock();
        state.footer.news(text);
        if state.footer.is_busy() {
            state.draw();
        }
    }

    /// What is done goes on in silence: this may be why. Whether that can be shown here.
    pub(crate) fn hint(&self, why: &'static str) -> bool {
        let mut state = self.lock();
        state.footer.hint(why);
        state.redraws && state.footer.is_busy()
    }

    /// Gives whoever writes next a row of its own, and draws nothing as long as the guard is there.
    pub(crate) fn leave_row(&'static self) -> Left {
        let mut state = self.lock();
        state.erase();
        state.end_row();
        let held = std::mem::replace(&mut state.held, true);
        Left { stage: self, held }
    }

    /// Nothing is being done any more.
    pub(crate) fn rest(&self) {
        let mut state = self.lock();
        state.erase();
        state.footer.rest();
        state.catch_up();
    }

    /// A piece of the answer, on standard output.
    pub(crate) fn answer(&self, text: &str) -> io::Result<()> {
        self.lock().say(Stream::Out, text)
    }

    /// The same where standard output is no terminal: byte for byte, whatever the terminal can show.
    pub(crate) fn piped(&self, text: &str) -> io::Result<()> {
        let _alone = self.lock();
        put(Stream::Out, text)
    }

    /// A piece of what is said beside it, on standard error. It is lost without a fuss when nobody reads it.
    pub(crate) fn aside(&self, text: &str) {
        let _ = self.lock().say(Stream::Err, text);
    }

    /// Whole lines on standard error, on rows of their own.
    pub(crate) fn line(&self, text: &str) {
        let mut state = self.lock();
        if state.column > 0 {
            state.erase();
            state.end_row();
        }
        let _ = state.say(Stream::Err, &format!("{text}\n"));
    }

    /// Whole lines on standard error that can wait until a row of what is said ends.
    pub(crate) fn between(&self, text: &str) {
        let mut state = self.lock();
        state.later.push_str(text);
        state.later.push('\n');
        state.catch_up();
    }

    /// A line that need not be looked at.
    pub(crate) fn dimmed(&self, line: &str) -> String {
        self.lock().look.paint.dim(line)
    }

    /// An empty row, unless one stands there already.
    pub(crate) fn space(&self) {
        if !self.lock().apart {
            self.line("");
        }
    }

    /// Somebody else wrote a row.
    pub(crate) fn follow(&self) {
        self.lock().apart = false;
    }

    fn tick(&self) {
        let mut state = self.lock();
        let mut told = Instant::now();
        loop {
            while state.held || !state.footer.is_busy() {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                told = Instant::now();
            }
            state = self.wake.wait_timeout(state, PACE).unwrap_or_else(PoisonError::into_inner).0;
            if state.held || !state.footer.is_busy() {
                continue;
            }
            if state.told && told.elapsed() > STILL {
                told = Instant::now();
                let line = format!("... {}\n", state.footer.still());
                state.end_row();
                state.write(Stream::Err, &line);
            }
            state.footer.turn();
            state.draw();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(look: Look) -> Self {
        Self {
            redraws: look::redraws() && look::is_alone(),
            told: (look.plain || !look::is_alone()) && io::stderr().is_terminal(),
            held: false,
            column: 0,
            stream: Stream::Err,
            apart: false,
            style: String::new(),
            footer: Footer::new(look),
            later: String::new(),
            drawn: Vec::new(),
            look,
        }
    }

    /// Says something. What stands below moves down with the cursor.
    fn say(&mut self, stream: Stream, text: &str) -> io::Result<()> {
        let moves = !self.drawn.is_empty() && text.contains('\n');
        if moves {
            self.erase();
        }
        self.try_write(stream, text)?;
        if moves {
            self.draw();
        }
        self.catch_up();
        Ok(())
    }

    /// Says what had to wait, where a row has ended.
    fn catch_up(&mut self) {
        if self.column == 0 && !self.held && !self.later.is_empty() {
            let later = std::mem::take(&mut self.later);
            let _ = self.say(Stream::Err, &later);
        }
    }

    fn write(&mut self, stream: Stream, text: &str) {
        // Whoever does not read cannot be told.
        let _ = self.try_write(stream, text);
    }

    fn try_write(&mut self, stream: Stream, text: &str) -> io::Result<()> {
        let ascii;
        let text = if self.look.unicode {
            text
        } else {
            ascii = look::in_ascii(text);
            &ascii
        };
        let seen = match stream {
            Stream::Out => terminal::stdout_width(),
            Stream::Err => terminal::stderr_width(),
        };
        if let Some(width) = seen {
            let (kept, last) = text.rsplit_once('\n').map_or((self.column, text), |(_, last)| (0, last));
            if !text.is_empty() {
                self.apart = text.ends_with("\n\n") || (text == "\n" && self.column == 0);
            }
            self.column = (kept + wide(last)) % width.max(1);
            self.stream = stream;
            if let Some(style) = last_style(text) {
                self.style = if style == PLAIN { String::new() } else { style.to_owned() };
            }
        }
        put(stream, text)
    }

    /// Puts the cursor at the start of a row.
    fn end_row(&mut self) {
        if self.column > 0 {
            self.write(self.stream, "\n");
        }
    }

    /// Takes away what stands below.
    fn erase(&mut self) {
        if !self.drawn.is_empty() {
            self.drawn.clear();
            let _ = put(Stream::Err, "\u{1b}[J");
        }
    }

    /// Draws what is being done, as far as it is not on the screen already.
    fn draw(&mut self) {
        if !self.redraws || self.held {
            return;
        }
        let width = terminal::width();
        let rows = self.footer.rows(width.saturating_sub(1));
        let mut out = String::new();
        if rows.len() < self.drawn.len() {
            out.push_str("\u{1b}[J");
            self.drawn.clear();
        }
        if rows == self.drawn {
            return;
        }
        if !self.style.is_empty() {
            out.push_str(PLAIN);
        }
        for (place, row) in rows.iter().enumerate() {
            out.push('\n');
            let before = self.drawn.get(place).map_or("", String::as_str);
            if before == row && place < self.drawn.len() {
                continue;
            }
            match footer::turned(before, row) {
                Some(sign) => out.push_str(sign),
                None => out.extend([row, "\u{1b}[K"]),
            }
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "\u{1b}[{}A\r", rows.len());
        // A row that is wider than the terminal has become goes on in the next.
        let column = self.column % width.max(1);
        if column > 0 {
            let _ = write!(out, "\u{1b}[{column}C");
        }
        out.push_str(&self.style);
        if !self.look.unicode {
            out = look::in_ascii(&out);
        }
        let _ = put(Stream::Err, &out);
        self.drawn = rows;
    }
}
