//! Notices a model that writes the same again and again: one that has lost its way, or one that was asked to.
//!
//! The two cannot be told apart while they write, so text is ended only where nobody can want it any more. Until then it is
//! said, and whoever watches can stop it. Calls are another matter: each counts once, so of more of them nothing is lost.

use crate::view::Circle;

/// What was written last.
#[derive(Debug, Default)]
pub(crate) struct Circles {
    /// A grammar or a schema holds the answer: it may be that nothing but white space is let through.
    held: bool,
    last: Vec<u8>,
    /// Bytes in all, and since it was looked at.
    written: usize,
    since: usize,
    /// Where calls ended, the last two.
    calls: [usize; 2],
    /// Where the same began that is still written.
    same_from: Option<usize>,
    found: Option<Circle>,
}

/// So much of the same, without a single other byte in between, is worth saying.
const SAME: usize = 4096;
/// So much of it is more than models write that are asked for it: some sixty thousand tokens.
const ENDLESS: usize = 256 << 10;
/// Thoughts are nobody's wish; a model may try out in them what it was asked for.
const ENDLESS_THOUGHT: usize = 32 << 10;
/// So much of nothing but white space, where that is no part of a text.
const BLANK: usize = 512;
/// Bytes of what comes again and again: a few calls take some hundred.
const ROUND: usize = SAME / 4;
const LOOK: usize = 256;

impl Circles {
    /// Watches an answer, which a grammar or a schema may hold.
    pub(crate) fn new(held: bool) -> Self {
        Self { held, ..Self::default() }
    }

    /// Takes text that came, or a thought that the server set apart.
    pub(crate) fn push(&mut self, text: &str, apart: bool) {
        self.take(text, self.held && !apart);
        let endless = |from| self.written - from >= ENDLESS_THOUGHT;
        if apart && self.same_from.is_some_and(endless) {
            self.found.get_or_insert(Circle::Thoughts);
        }
    }

    /// Takes a piece of a call that the API tells: JSON, in whose strings no line ends.
    pub(crate) fn push_json(&mut self, json: &str) {
        self.take(json, self.held || self.blank().contains(&b'\n') || json.contains('\n'));
    }

    /// A call has ended here.
    pub(crate) fn call(&mut self) {
        self.calls = [self.calls[1], self.written];
    }

    fn take(&mut self, text: &str, blank_is_nothing: bool) {
        self.last.extend_from_slice(text.as_bytes());
        self.written += text.len();
        self.since += text.len();
        if self.since < LOOK {
            return;
        }
        if blank_is_nothing && self.blank().len() >= BLANK {
            self.found.get_or_insert(Circle::Blanks);
        }
        self.look();
    }

    /// Looks at what came last; also to be done at the end.
    pub(crate) fn look(&mut self) {
        self.since = 0;
        let surplus = self.last.len().saturating_sub(SAME);
        self.last.drain(..surplus);
        let Some(round) = (self.last.len() == SAME).then(|| round(&self.last)).flatten() else {
            self.same_from = None;
            return;
        };
        let window = self.written - SAME;
        let from = *self.same_from.get_or_insert(window);
        if self.calls[0] > window && self.written - self.calls[1] <= round + LOOK {
            self.found.get_or_insert(Circle::Calls);
        } else if self.written - from >= ENDLESS {
            self.found.get_or_insert(Circle::Words);
        }
    }

    /// The white space that came last.
    fn blank(&self) -> &[u8] {
        let words = self.last.iter().rposition(|byte| !byte.is_ascii_whitespace());
        &self.last[words.map_or(0, |at| at + 1)..]
    }

    /// The same is being written again and again.
    pub(crate) fn repeats(&self) -> bool {
        self.same_from.is_some()
    }

    /// What goes round so that nothing more is to be read.
    pub(crate) fn found(&self) -> Option<Circle> {
        self.found
    }
}

/// A text that ends with the same again and again, with what comes twice of that at most.
pub(crate) fn once(text: &str) -> &str {
    let bytes = text.as_bytes();
    let Some(round) = round(&bytes[bytes.len().saturating_sub(SAME)..]) else { return text };
    let same = bytes.iter().rev().zip(bytes[..bytes.len() - round].iter().rev()).take_while(|(a, b)| a == b);
    let start = bytes.len() - same.count() - round;
    let mut end = (start + 2 * round).min(bytes.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Of how many bytes that consist of the same again and again this is.
fn round(bytes: &[u8]) -> Option<usize> {
    (1..=ROUND.min(bytes.len() / 4)).find(|round| bytes[*round..] == bytes[..bytes.len() - round])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it repeats at the end, and what was found.
    fn watched(mut circles: Circles, text: &str, piece: usize) -> (bool, Option<Circle>) {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(piece).for_each(|piece| circles.push(&piece.iter().collect::<String>(), false));
        (circles.repeats(), circles.found())
    }

    fn text(text: &str, piece: usize) -> (bool, Option<Circle>) {
        watched(Circles::default(), text, piece)
    }

    #[test]
    fn the_same_for_kilobytes_is_said_and_not_ended_until_nobody_can_want_it() {
        for piece in [1, 7, 1000] {
            for wanted in [
                "All work and no play makes Jack a dull boy.\n".repeat(400),
                "a".repeat(200_000),
                "\n".repeat(10_000),
                format!("Well. {}", "日本".repeat(2000)),
            ] {
                assert_eq!(text(&wanted, piece), (true, None));
                assert_eq!(text(&(wanted + &"and now another thing ".repeat(2) + "x"), piece).1, None);
            }
            assert_eq!(text(&"Again!\n".repeat(40_000), piece), (true, Some(Circle::Words)));
        }
    }

    #[test]
    fn thoughts_are_ended_sooner() {
        let thinking = |times: usize| {
            let mut circles = Circles::default();
            (0..times).for_each(|_| circles.push("Wait, no. ", true));
            circles.found()
        };
        assert_eq!((thinking(3000), thinking(4000)), (None, Some(Circle::Thoughts)));
    }

    #[test]
    fn another_word_makes_it_begin_anew() {
        let wanted = ("x".repeat(200_000) + "y").repeat(3);
        assert_eq!(text(&wanted, 100).1, None);
    }

    #[test]
    fn white_space_alone_is_ended_where_it_is_no_part_of_a_text() {
        let blank = format!("{{\"a\": 1}}{}", "\n \t".repeat(300));
        for piece in [1, 7, 1000] {
            assert_eq!(watched(Circles::new(true), &blank, piece).1, Some(Circle::Blanks));
            assert_eq!(text(&blank, piece), (false, None));
            let mut call = Circles::default();
            let chars: Vec<char> = blank.chars().collect();
            chars.chunks(piece).for_each(|piece| call.push_json(&piece.iter().collect::<String>()));
            assert_eq!(call.found(), Some(Circle::Blanks));
        }
        let mut spaces = Circles::default();
        spaces.push_json(&format!("{{\"content\": \"{}", " ".repeat(3000)));
        assert_eq!(spaces.found(), None, "they stand in a string");
    }

    #[test]
    fn calls_again_and_again_are_ended_soon_and_what_stands_in_one_is_not() {
        let call = |name: &str, path: &str| {
            format!("<tools>\n{{\"name\": \"{name}\", \"arguments\": {{\"path\": \"{path}\"}}}}\n")
        };
        let two = [call("read_file", &"a/".repeat(100)), call("write_file", &"b/".repeat(200))];
        let mut circles = Circles::default();
        for _ in 0..10 {
            for call in &two {
                circles.push(call, false);
                circles.call();
            }
        }
        assert_eq!(circles.found(), Some(Circle::Calls));
        let mut circles = Circles::default();
        for call in &two {
            circles.push(call, false);
            circles.call();
        }
        for _ in 0..1000 {
            circles.push("the same line in a file\n", false);
        }
        assert_eq!((circles.repeats(), circles.found()), (true, None));
    }

    #[test]
    fn what_repeats_itself_with_a_difference_is_none() {
        let rows: Vec<String> = (0..2000).map(|n| format!("| {n} | the same | the same |\n")).collect();
        for different in [
            rows.concat(),
            "-".repeat(2000),
            format!("a{}b", " ".repeat(400)).repeat(10),
            format!("{}x{}", "0, ".repeat(1000), "0, ".repeat(1000)),
        ] {
            assert_eq!(text(&different, 5), (false, None));
        }
    }

    #[test]
    fn what_is_kept_has_it_twice() {
        let text = format!("Well. {}", "Again!\n".repeat(700));
        assert_eq!(once(&text), "Well. Again!\nAgain!\n");
        assert_eq!(once("Well. Ha ha ha."), "Well. Ha ha ha.");
        assert_eq!(once(""), "");
        assert!(once(&"日本".repeat(2000)).len() <= 12);
    }
}
