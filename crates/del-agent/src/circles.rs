//! Notices a model that has lost its way, and writes the same words again and again.

/// What was written last.
#[derive(Debug, Default)]
pub(crate) struct Circles {
    last: Vec<u8>,
    /// Bytes since it was looked at.
    since: usize,
    found: bool,
}

/// So much of the same, without a single other byte in between, is written by nobody who means it.
const SAME: usize = 4096;
/// So much of nothing but white space: where a grammar lets it through, some models write no more than that.
const BLANK: usize = 512;
/// Bytes of what comes again and again: a few calls take some hundred.
const ROUND: usize = SAME / 4;
const LOOK: usize = 256;

impl Circles {
    /// Takes what came.
    pub(crate) fn push(&mut self, text: &str) {
        self.last.extend_from_slice(text.as_bytes());
        self.since += text.len();
        if self.since < LOOK {
            return;
        }
        self.since = 0;
        self.found |= self.last.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count() >= BLANK;
        let surplus = self.last.len().saturating_sub(SAME);
        self.last.drain(..surplus);
        self.found |= self.last.len() == SAME && round(&self.last).is_some();
    }

    /// The model goes round in circles.
    pub(crate) fn is_found(&self) -> bool {
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

    fn goes_round(text: &str, piece: usize) -> bool {
        let mut circles = Circles::default();
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(piece).for_each(|piece| circles.push(&piece.iter().collect::<String>()));
        circles.is_found()
    }

    #[test]
    fn the_same_for_kilobytes_is_noticed_however_it_comes() {
        for piece in [1, 7, 1000] {
            assert!(goes_round(&format!("Well. {}", "Your answer was cut off.\n\n".repeat(400)), piece));
            assert!(goes_round(&"\n".repeat(6000), piece));
            assert!(goes_round(&format!("{{\"a\": 1}}{}", "\n \t".repeat(300)), piece));
            assert!(goes_round(&"日本".repeat(2000), piece));
            let call = |name: &str, path: &str| {
                format!("<tools>\n{{\"name\": \"{name}\", \"arguments\": {{\"path\": \"{path}\"}}}}\n")
            };
            let calls = call("read_file", &"a/".repeat(100)) + &call("write_file", &"b/".repeat(200));
            assert!(goes_round(&calls.repeat(10), piece));
        }
    }

    #[test]
    fn what_repeats_itself_with_a_difference_is_none() {
        let rows: Vec<String> = (0..2000).map(|n| format!("| {n} | the same | the same |\n")).collect();
        let rows = rows.concat();
        assert!(!goes_round(&rows, 5));
        assert!(!goes_round(&"-".repeat(2000), 5));
        assert!(!goes_round(&format!("a{}b", " ".repeat(400)).repeat(10), 5));
        let table = format!("{}x{}", "0, ".repeat(1000), "0, ".repeat(1000));
        assert!(!goes_round(&table, 3));
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
