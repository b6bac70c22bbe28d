//! Text on its way to the screen, as it comes.

use del_tools::visible;

use crate::terminal::harmless;

/// Text without the white space around it, as it comes.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) started: bool,
    held: String,
}

impl Flow {
    /// What of `piece` is certain to be inside.
    pub(super) fn take(&mut self, piece: &str) -> String {
        let piece = if self.started { piece } else { piece.trim_start() };
        let inside = piece.trim_end();
        let mut out = String::new();
        if !inside.is_empty() {
            self.started = true;
            out = std::mem::take(&mut self.held) + inside;
        }
        if self.started {
            self.held.push_str(&piece[inside.len()..]);
        }
        out
    }
}

/// How text is made fit for where it goes, piece by piece.
#[derive(Debug)]
pub(super) enum Guard {
    Screen(Safe),
    Pipe(Harmless),
    /// A pipe gets it as the model wrote it.
    AsItIs,
}

impl Guard {
    pub(super) fn take(&mut self, piece: &str) -> String {
        match self {
            Self::Screen(safe) => safe.take(piece),
            Self::Pipe(pipe) => pipe.take(piece),
            Self::AsItIs => piece.to_owned(),
        }
    }

    /// What is held when nothing follows.
    pub(super) fn end(&mut self) -> String {
        match self {
            Self::Screen(safe) => safe.end(),
            Self::Pipe(pipe) => pipe.end(),
            Self::AsItIs => String::new(),
        }
    }
}

/// Text made harmless for a pipe, however it is cut: a carriage return may end a line with what follows.
#[derive(Debug, Default)]
pub(super) struct Harmless {
    held: bool,
}

impl Harmless {
    fn take(&mut self, piece: &str) -> String {
        let mut whole = if self.held { format!("\r{piece}") } else { piece.to_owned() };
        self.held = whole.ends_with('\r');
        if self.held {
            whole.pop();
        }
        harmless(&whole).into_owned()
    }

    fn end(&mut self) -> String {
        let held = if std::mem::take(&mut self.held) { "\r" } else { "" };
        harmless(held).into_owned()
    }
}

/// Text made safe to show, however it is cut: a joiner is judged by both its neighbours.
#[derive(Debug, Default)]
pub(super) struct Safe {
    last: Option<char>,
    joiner: Option<char>,
}

impl Safe {
    pub(super) fn take(&mut self, piece: &str) -> String {
        let before = self.last.map_or(0, char::len_utf8);
        let mut whole: String =
            self.last.into_iter().chain(self.joiner.take()).chain(piece.chars()).collect();
        if whole.ends_with(['\u{200c}', '\u{200d}']) {
            self.joiner = whole.pop();
        }
        self.last =
            whole.chars().next_back().filter(|c| visible(c.encode_utf8(&mut [0; 4])) == c.to_string());
        visible(&whole)[before..].to_owned()
    }

    /// What is held when nothing follows.
    pub(super) fn end(&mut self) -> String {
        let rest: String = self.joiner.take().into_iter().collect();
        self.last = None;
        visible(&rest).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_safe_to_show_does_not_depend_on_how_it_is_cut() {
        let text = "a 👩\u{200d}💻 l\u{200d}s می\u{200c}خواهم \u{1b}[2J\u{202e}x\u{200d}";
        let chars: Vec<char> = text.chars().collect();
        for size in 1..chars.len() {
            let mut safe = Safe::default();
            let mut out: String =
                chars.chunks(size).map(|piece| safe.take(&piece.iter().collect::<String>())).collect();
            out.push_str(&safe.end());
            assert_eq!(out, visible(text), "{size}");
        }
    }

    #[test]
    fn what_is_harmless_in_a_pipe_does_not_depend_on_how_it_is_cut() {
        let text = "a\r\nb\rc \u{1b}[2J\r\r\n\u{202e}d\r";
        for size in 1..text.len() {
            let chars: Vec<char> = text.chars().collect();
            let mut pipe = Harmless::default();
            let mut out: String =
                chars.chunks(size).map(|piece| pipe.take(&piece.iter().collect::<String>())).collect();
            out.push_str(&pipe.end());
            assert_eq!(out, harmless(text), "{size}");
        }
    }

    #[test]
    fn white_space_around_a_text_is_left_out_however_it_is_cut() {
        let text = "\n\n  a b\n\nc \n\n";
        for size in 1..text.len() {
            let mut flow = Flow::default();
            let pieces: Vec<char> = text.chars().collect();
            let shown: String =
                pieces.chunks(size).map(|piece| flow.take(&piece.iter().collect::<String>())).collect();
            assert_eq!(shown, "a b\n\nc");
        }
    }
}
