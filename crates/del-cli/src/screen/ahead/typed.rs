//! What keys mean that are pressed while the model works: the next question is written, in one row.

use std::collections::VecDeque;
use std::fmt;

use super::line::Line;
use crate::screen::pastes::Pastes;

/// What was typed ahead: whole questions, and one that is not sent yet. Long pastes are words in both.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    pub(crate) questions: VecDeque<String>,
    pub(super) line: Line,
    /// What stood in the line when something that waited was taken back into it; the last of them comes next.
    pub(crate) drafts: Vec<String>,
    /// Questions that waited, and were given to the model already.
    pub(crate) given: Vec<String>,
    pastes: Pastes,
    /// What is being pasted.
    pasted: Option<Vec<u8>>,
    /// The beginning of a key or of a character.
    begun: Vec<u8>,
    turn: Option<Turn>,
    answer: Option<Answer>,
    /// Lines that were answered at once, with what there is to say.
    answers: Vec<(String, String)>,
}

/// What a press means beside the text; of several the one that stops most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pressed {
    Text,
    /// Shift-Tab.
    Turn,
    /// Ctrl-Z.
    Suspend,
    Escape,
}

/// What Shift-Tab does; it says so in words.
pub(crate) struct Turn(Box<dyn Fn() -> String + Send>);

/// What is said at once to a line, if it is one that only shows something.
pub(crate) struct Answer(Box<Ask>);

type Ask = dyn Fn(&str) -> Option<String> + Send;

impl Answer {
    pub(crate) fn new(answer: impl Fn(&str) -> Option<String> + Send + 'static) -> Self {
        Self(Box::new(answer))
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}

impl Turn {
    pub(crate) fn new(turn: impl Fn() -> String + Send + 'static) -> Self {
        Self(Box::new(turn))
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turn")
    }
}

const ESC: u8 = 27;
const CTRL_Z: u8 = 26;
const CTRL_U: u8 = 21;
/// What a paste stands between.
const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";

impl Typed {
    /// Goes on with questions that wait already, and with one that was begun before.
    pub(crate) fn begun(questions: VecDeque<String>, text: String, pastes: Pastes) -> Self {
        Self { questions, line: text.into(), pastes, ..Self::default() }
    }

    /// What stands in the line.
    pub(crate) fn text(&self) -> &str {
        self.line.text()
    }

    /// The same, with something that Shift-Tab does.
    pub(crate) fn turning(self, turn: Turn) -> Self {
        Self { turn: Some(turn), ..self }
    }

    /// The same, with lines that are answered at once.
    pub(crate) fn answering(self, answer: Answer) -> Self {
        Self { answer: Some(answer), ..self }
    }

    /// The question that waits longest, where it fits. Where it does not, what stands behind it may rest on it.
    pub(super) fn give(&mut self, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.questions.front().filter(|question| fits(question))?;
        let given = self.questions.pop_front()?;
        self.given.push(given.clone());
        Some(given)
    }

    /// What was given last waits again.
    pub(super) fn keep_back(&mut self) {
        if let Some(question) = self.given.pop() {
            self.questions.push_front(question);
        }
    }

    /// Lines that were answered since this was last asked, and what there is to say.
    pub(super) fn answers(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.answers)
    }

    /// Does what Shift-Tab does. What it says.
    pub(super) fn turn(&self) -> Option<String> {
        self.turn.as_ref().map(|Turn(turn)| turn())
    }

    /// The end of a paste has not come yet.
    pub(super) fn is_pasting(&self) -> bool {
        self.pasted.is_some()
    }

    /// Takes what was pressed.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Pressed {
        let mut bytes = [std::mem::take(&mut self.begun).as_slice(), bytes].concat();
        let mut pressed = Pressed::Text;
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let taken = match &mut self.pasted {
                Some(pasted) => match find(rest, PASTED) {
                    Some(end) => {
                        pasted.extend_from_slice(&rest[..end]);
                        self.end_paste();
                        Some(end + PASTED.len())
                    }
                    None => {
                        let held = (1..PASTED.len()).rev().find(|held| rest.ends_with(&PASTED[..*held]));
                        let sure = rest.len() - held.unwrap_or(0);
                        pasted.extend_from_slice(&rest[..sure]);
                        at += sure;
                        None
                    }
                },
                None => self.key(rest, &mut pressed),
            };
            match taken {
                Some(count) => at += count,
                None => break,
            }
        }
        self.begun = bytes.split_off(at);
        pressed
    }

    /// Takes the first key or character; how many bytes it has, if it is whole.
    fn key(&mut self, bytes: &[u8], pressed: &mut Pressed) -> Option<usize> {
        match bytes {
            [ESC, b'[' | b'O', name @ ..] => {
                let end = name.iter().position(|byte| (b'@'..=b'~').contains(byte))?;
                match &name[..=end] {
                    b"A" => self.take_back(),
                    b"Z" => *pressed = Pressed::Turn.max(*pressed),
                    name => self.line.named(name),
                }
                if bytes.starts_with(PASTE) {
                    self.pasted = Some(Vec::new());
                }
                return Some(end + 3);
            }
            [ESC, b'\r', ..] => {
                self.line.insert("\n");
                return Some(2);
            }
            [ESC] | [ESC, ESC, ..] => *pressed = Pressed::Escape,
            [ESC, rest @ ..] => {
                let (c, count) = character(rest)?;
                if let Some(c) = c {
                    self.line.with_alt(c);
                }
                return Some(count + 1);
            }
            [b'\r', ..] if self.line.goes_on() => {}
            [b'\r', ..] => {
                let question = self.take_line();
                let answer = self.answer.as_ref().and_then(|Answer(answer)| answer(&question));
                match answer {
                    Some(answer) => self.answers.push((question, answer)),
                    None if question.trim().is_empty() => {}
                    None => self.questions.push_back(question),
                }
            }
            [b'\n', ..] => self.line.insert("\n"),
            [CTRL_Z, ..] => *pressed = Pressed::Suspend.max(*pressed),
            [key @ (0..32 | 127), ..] => {
                self.line.with_control(*key);
                if *key == CTRL_U && self.line.is_empty() {
                    self.take_line();
                }
            }
            _ => {
                let (c, count) = character(bytes)?;
                if let Some(c) = c {
                    self.line.insert(c.encode_utf8(&mut [0; 4]));
                }
                return Some(count);
            }
        }
        Some(1)
    }

    /// The question that was sent last stands in the line again, alone: what stood there comes back after it.
    fn take_back(&mut self) {
        if let Some(question) = self.questions.pop_back() {
            let draft = std::mem::replace(&mut self.line, question.into());
            self.drafts.extend(Some(draft.text().to_owned()).filter(|draft| !draft.is_empty()));
        }
    }

    /// What stands in the line, which goes on with what stood there before.
    fn take_line(&mut self) -> String {
        let next = self.drafts.pop().unwrap_or_default();
        std::mem::replace(&mut self.line, next.into()).text().to_owned()
    }

    fn end_paste(&mut self) {
        if let Some(pasted) = self.pasted.take() {
            self.line.insert(&self.pastes.fold(&String::from_utf8_lossy(&pasted)));
        }
    }
}

/// The character that these bytes begin with, where they are text, and how many of them that takes; nothing where more
/// has to come first.
fn character(bytes: &[u8]) -> Option<(Option<char>, usize)> {
    let longest = &bytes[..bytes.len().min(4)];
    let text = match std::str::from_utf8(longest) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => std::str::from_utf8(&longest[..error.valid_up_to()]).ok()?,
        Err(error) => return Some((None, error.error_len()?)),
    };
    let c = text.chars().next()?;
    Some((Some(c), c.len_utf8()))
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_kept_and_esc_alone_stops() {
        let mut typed = Typed::default();
        assert_eq!(typed.take(b"first\rsec\x1b[C\x1b[1;5Cond\x7f\x7fn\xc3"), Pressed::Text);
        assert_eq!(typed.take(b"\xa4 word gone\x17here\n\xff"), Pressed::Text);
        assert_eq!(typed.questions, ["first"]);
        assert_eq!(typed.text(), "seconä word here\n");
        assert_eq!(typed.take(b"\x1b"), Pressed::Escape);
        assert_eq!(typed.take(b"x\x1b"), Pressed::Escape);
        typed.take(b"\x15\r");
        assert_eq!((typed.questions.len(), typed.text()), (1, ""));
    }

    #[test]
    fn keys_do_in_the_line_what_they_do_in_the_ordinary_one() {
        for (keys, before, behind) in [
            ("ab\x1b[Dc", "ac", "b"),
            ("ab\x1b[D\x1b[D\x1b[Cc", "ac", "b"),
            ("ab\x1bOHc\x1b[4~d", "cabd", ""),
            ("ab\x01c\x05d\x02e\x06f", "cabedf", ""),
            ("ab\x01\x04\x1b[3~c", "c", ""),
            ("one two three\x1bb\x0b\x1b[1;5D", "one ", "two "),
            ("one two\x01\x1bf\x1bd", "one", ""),
            ("one two\x1b\x7f\x15x", "x", ""),
            ("one two\x02\x02\x15", "", "wo"),
            ("a👩\u{200d}👧e\u{301}\x7f\x7f", "a", ""),
            ("one\\\rtwo\x01x", "one\nx", "two"),
        ] {
            let mut typed = Typed::default();
            assert_eq!(typed.take(keys.as_bytes()), Pressed::Text);
            assert_eq!((typed.line.parts(), typed.questions.len()), ((before, behind), 0), "{keys:?}");
        }
    }

    #[test]
    fn up_takes_back_what_was_sent_last_and_alt_inserts_nothing() {
        let mut typed = Typed::default();
        assert_eq!(typed.take(b"first\rsecond\rthird\x1b[A"), Pressed::Text);
        assert_eq!(typed.questions, ["first"]);
        assert_eq!(typed.text(), "second");
        typed.take(b"\x15");
        assert_eq!(typed.text(), "third", "it comes back");
        typed.take(b"\x15\x1bOA\x1b[A");
        assert_eq!((typed.questions.len(), typed.text()), (0, "first"));
        assert_eq!(typed.take("\x1bb\x1bä!".as_bytes()), Pressed::Text);
        assert_eq!(typed.text(), "!first");
        assert_eq!(typed.take(b"\x1b\x1b"), Pressed::Escape);
    }

    #[test]
    fn shift_tab_and_ctrl_z_are_told_and_leave_the_text_alone() {
        let mut typed = Typed::default().turning(Turn::new(|| "plan".to_owned()));
        assert_eq!(typed.take(b"a\x1b[Zb"), Pressed::Turn);
        assert_eq!(typed.take(b"c\x1a\x1b[Z"), Pressed::Suspend);
        assert_eq!(typed.take(b"\x1b[Z\x1a\x1b"), Pressed::Escape);
        assert_eq!((typed.text(), typed.turn().as_deref()), ("abc", Some("plan")));
    }

    #[test]
    fn what_only_shows_something_is_answered_and_does_not_wait() {
        let answer = Answer::new(|line| (line == "/status").then(|| "well".to_owned()));
        let mut typed = Typed::default().answering(answer);
        typed.take(b"/status\rnext\r\r");
        assert_eq!(typed.answers(), [("/status".to_owned(), "well".to_owned())]);
        assert_eq!((typed.answers().len(), typed.questions.len()), (0, 1));
    }

    #[test]
    fn what_waits_is_given_one_by_one_up_to_the_first_that_does_not_fit() {
        let mut typed = Typed::default();
        typed.take(b"one\rtwo\r/clear\rthree\rfo");
        let fits = |line: &str| !line.starts_with('/');
        assert_eq!(typed.give(fits).as_deref(), Some("one"));
        assert_eq!(typed.give(fits).as_deref(), Some("two"));
        assert_eq!(typed.give(fits), None);
        typed.take(b"\x1b[A\x1b[A");
        assert_eq!((typed.questions.len(), typed.text()), (0, "/clear"));
        // What was taken back goes the same way again, one after the other.
        typed.take(b"\r\r");
        assert_eq!(typed.questions, ["/clear", "three"]);
        assert_eq!(typed.text(), "fo");
        assert_eq!(typed.given, ["one", "two"]);
        typed.keep_back();
        assert_eq!((typed.questions[0].as_str(), typed.given), ("two", vec!["one".to_owned()]));
    }

    #[test]
    fn a_paste_is_one_text_however_it_comes() {
        let long = "row\r".repeat(20);
        let keys = format!("a \u{1b}[200~two\rrows ä\u{1b}[201~ b \u{1b}[200~{long}\u{1b}[201~\rc");
        for size in [1, 2, 3, 5, 7, keys.len()] {
            let pastes = Pastes::default();
            let mut typed = Typed::begun(VecDeque::new(), String::new(), pastes.clone());
            let mut read = Vec::new();
            for piece in keys.as_bytes().chunks(size) {
                read.extend_from_slice(piece);
                // Whoever reads waits whether more of a key follows.
                if !read.ends_with(&[ESC]) {
                    assert_eq!(typed.take(&std::mem::take(&mut read)), Pressed::Text, "{size}");
                }
            }
            assert_eq!(typed.questions, ["a two\nrows ä b [paste 1: 20 lines]"], "{size}");
            assert_eq!(pastes.unfold("[paste 1: 20 lines]"), "row\n".repeat(20));
            assert_eq!(typed.text(), "c");
        }
    }
}
