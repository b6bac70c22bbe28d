//! Code in the text.

use super::{Engine, Flow, Io};
use crate::codec::reading::MAX_SPACE;
use crate::scan::is_word;
use crate::value::white_space;

/// A longer run opens a fence as one of so many does.
const MAX_FENCE: u8 = 16;

/// The name of a language behind an opening run has so many bytes at most.
const MAX_WORD: usize = 16;

const BACKTICKS: &[u8; 16] = b"````````````````";
const TILDES: &[u8; 16] = b"~~~~~~~~~~~~~~~~";

/// Whether text is code: in a fence, or between backticks on one line.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Fence {
    /// So many backticks or tildes opened the fence, and close it; none outside of one.
    opened: u8,
    /// The fence stands behind prose, and not behind nothing or another fence alone.
    pub(super) behind_prose: bool,
    pub(super) inline: bool,
    /// A mark that opens calls was talked about on this line, and so is what closes them.
    pub(super) told: bool,
    /// Right behind the last backtick a call seemed to open: code that may go on over several lines.
    pub(super) call: bool,
    /// The line that opened the fence went with a call, and so does the one that closes it.
    pub(super) around_call: bool,
    /// The open fence is one of tildes.
    tildes: bool,
    /// Backticks or tildes at the end of the text so far, and which they are.
    run: u8,
    of: u8,
    /// Something else stands before them on the line.
    in_line: bool,
}

impl Fence {
    pub(super) fn pass(&mut self, text: &[u8]) {
        let mut at = 0;
        for place in memchr::memchr2_iter(b'`', b'~', text) {
            self.between(&text[at..place]);
            let byte = text[place];
            at = place + 1;
            self.run = if byte == self.of { self.run.saturating_add(1) } else { 1 };
            self.of = byte;
            let tilde = byte == b'~';
            if !self.is_open() || tilde == self.tildes {
                self.longer_run(tilde);
            }
            self.in_line |= !tilde;
        }
        self.between(&text[at..]);
    }

    /// The run at hand is one byte longer, which opens or closes code.
    fn longer_run(&mut self, tilde: bool) {
        match self.run {
            1 if !tilde => {
                let call = std::mem::take(&mut self.call);
                self.inline = !self.inline && !call;
            }
            2 if !tilde => self.inline = false,
            3 if !self.is_open() && (!tilde || !self.in_line) => {
                (self.opened, self.tildes) = (3, tilde);
            }
            run if run == self.opened => self.opened = 0,
            // Only the run that opens a fence outgrows it.
            run if self.is_open() && run > self.opened => self.opened = run.min(MAX_FENCE),
            _ => {}
        }
    }

    pub(super) fn is_open(self) -> bool {
        self.opened > 0
    }

    /// What closes the open fence, on a line of its own.
    pub(super) fn closer(self) -> &'static [u8] {
        let closer = if self.tildes { TILDES } else { BACKTICKS };
        &closer[..usize::from(self.opened)]
    }

    /// The line goes on with text in which no code begins.
    pub(super) fn pass_plain(&mut self, blank: bool) {
        self.run = 0;
        self.behind_prose |= !self.is_open() && !blank;
        self.in_line |= !blank;
    }

    fn between(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.run = 0;
        self.behind_prose = self.behind_prose || (!self.is_open() && !is_blank(text));
        if let Some(line) = memchr::memrchr(b'\n', text) {
            self.inline = false;
            self.told = false;
            self.in_line = !is_blank(&text[line + 1..]);
        } else {
            self.in_line = self.in_line || !is_blank(text);
        }
    }
}

impl Engine {
    /// How many bytes before `end` are a line that opens a fence, or may become one.
    pub(super) fn fence_before(&mut self, io: &Io<'_>, end: usize, partial: bool) -> usize {
        let line = opening_line(&io.bytes[io.at.min(end)..end], partial);
        if line == 0 || self.before(io, end - line)[1] != b'\n' {
            return 0;
        }
        let place = io.base + end as u64;
        // Of a line that is noted, in part or whole, the fence says no more what stood before it.
        if self.text.noted <= place - line as u64 {
            self.note(io, end - line);
            // In an open fence it is code.
            self.text.fenced = (!self.text.fence.is_open()).then_some(place);
        }
        if self.text.fenced == Some(place) { line } else { 0 }
    }

    /// Behind calls in a fence of their own: drops the line that closes it.
    pub(super) fn fence_end(&mut self, io: &mut Io<'_>) -> Option<Flow> {
        let space = white_space(&io.bytes[io.at..]);
        let rest = &io.bytes[io.at + space..];
        let marks = self.text.fence.closer();
        if space <= MAX_SPACE && rest.len() <= marks.len() && marks.starts_with(rest) && !io.last() {
            return Some(Flow::More);
        }
        self.text.fence.around_call = false;
        let line = match rest.strip_prefix(marks)? {
            [] => 0,
            [b'\n', ..] => 1,
            _ => return None,
        };
        if space > MAX_SPACE {
            return None;
        }
        let end = io.at + space + marks.len() + line;
        self.note(io, end);
        io.at = end;
        io.rewind(end);
        Some(Flow::Next)
    }
}

/// How many bytes at the end of `text` are a line that opens a fence, or may become one where it may be half of one: the
/// backticks or tildes, a word and the end of the line.
fn opening_line(text: &[u8], half: bool) -> usize {
    let whole = text.ends_with(b"\n");
    if !whole && !half {
        return 0;
    }
    let line = &text[..text.len() - usize::from(whole)];
    let word = line.iter().rev().take(MAX_WORD + 1).take_while(|byte| is_word(**byte)).count();
    let marks = &line[..line.len() - word];
    let Some(mark) = marks.last().filter(|mark| matches!(mark, b'`' | b'~')) else { return 0 };
    let run = marks.iter().rev().take(usize::from(MAX_FENCE) + 1).take_while(|byte| *byte == mark).count();
    let least = if whole || word > 0 { 3 } else { 1 };
    let opens = word <= MAX_WORD && (least..=usize::from(MAX_FENCE)).contains(&run);
    if opens { run + word + usize::from(whole) } else { 0 }
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}
