//! The line that is written while the model works. Keys do in it what they do in the line at which nothing else is done.

use reedline::LineBuffer;

/// A text, and where in it more of it goes.
#[derive(Debug, Default)]
pub(super) struct Line(LineBuffer);

impl From<String> for Line {
    fn from(text: String) -> Self {
        let mut line = LineBuffer::new();
        line.insert_str(&text);
        Self(line)
    }
}

impl Line {
    pub(super) fn text(&self) -> &str {
        self.0.get_buffer()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What stands before the cursor, and behind it.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.text().split_at(self.0.insertion_point())
    }

    pub(super) fn insert(&mut self, text: &str) {
        self.0.insert_str(text);
    }

    /// Enter does not send a text that ends with a `\`, but begins a row in its place. Whether it did.
    pub(super) fn goes_on(&mut self) -> bool {
        let begun = self.text().strip_suffix('\\').map(|begun| format!("{begun}\n"));
        begun.map(|begun| *self = begun.into()).is_some()
    }

    /// A key that terminals send by a name.
    pub(super) fn named(&mut self, name: &[u8]) {
        match name {
            b"D" => self.0.move_left(),
            b"C" => self.0.move_right(),
            b"H" | b"1~" | b"7~" => self.0.move_to_line_start(),
            b"F" | b"4~" | b"8~" => self.0.move_to_line_end(),
            b"3~" => self.0.delete_right_grapheme(),
            // With Ctrl or Alt.
            b"1;5D" | b"1;3D" => self.word_left(),
            b"1;5C" | b"1;3C" => self.word_right(),
            _ => {}
        }
    }

    /// A character with Alt.
    pub(super) fn with_alt(&mut self, c: char) {
        match c {
            'b' => self.word_left(),
            'f' => self.word_right(),
            'd' => self.0.delete_word_right(),
            '\u{7f}' => self.0.delete_word_left(),
            _ => {}
        }
    }

    /// A letter with Ctrl, or a key that terminals send as one.
    pub(super) fn with_control(&mut self, byte: u8) {
        match byte {
            CTRL_A => self.0.move_to_line_start(),
            CTRL_B => self.0.move_left(),
            CTRL_D => self.0.delete_right_grapheme(),
            CTRL_E => self.0.move_to_line_end(),
            CTRL_F => self.0.move_right(),
            CTRL_H | BACKSPACE => self.0.delete_left_grapheme(),
            CTRL_K => self.0.clear_to_line_end(),
            CTRL_U => self.0.clear_to_insertion_point(),
            CTRL_W => self.0.delete_word_left(),
            _ => {}
        }
    }

    /// Words end where they would be deleted to.
    fn word_left(&mut self) {
        let mut rest = self.0.clone();
        rest.delete_word_left();
        self.0.set_insertion_point(rest.insertion_point());
    }

    fn word_right(&mut self) {
        let mut rest = self.0.clone();
        rest.delete_word_right();
        self.0.set_insertion_point(self.0.insertion_point() + self.0.len() - rest.len());
    }
}

const CTRL_A: u8 = 1;
const CTRL_B: u8 = 2;
const CTRL_D: u8 = 4;
const CTRL_E: u8 = 5;
const CTRL_F: u8 = 6;
const CTRL_H: u8 = 8;
const CTRL_K: u8 = 11;
const CTRL_U: u8 = 21;
const CTRL_W: u8 = 23;
const BACKSPACE: u8 = 127;
