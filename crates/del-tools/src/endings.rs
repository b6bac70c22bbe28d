//! Line endings: text is matched with `\n` alone and written back as it was.

use std::ops::Range;

/// A text whose lines end in `\n`, and where a `\r` stood before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Normalised {
    /// The text with every `\r\n` as `\n`.
    pub(crate) text: String,
    /// Positions in `text` of the `\n` that lost its `\r`, ascending.
    returns: Vec<usize>,
}

/// A replacement of a range of the normalised text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) with: String,
}

impl Normalised {
    pub(crate) fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut returns = Vec::new();
        for line in original.split_inclusive('\n') {
            match line.strip_suffix("\r\n") {
                Some(line) => {
                    text.push_str(line);
                    returns.push(text.len());
                    text.push('\n');
                }
                None => text.push_str(line),
            }
        }
        Self { text, returns }
    }

    /// The text with each span replaced: what was not touched keeps its line endings, what is new takes the ones that
    /// most lines have. `spans` are ascending and do not overlap.
    pub(crate) fn replaced(&self, spans: &[Span]) -> String {
        let crlf = self.mostly_crlf();
        let mut out = String::with_capacity(self.text.len() + self.returns.len());
        let mut at = 0;
        for span in spans {
            self.restore(at..span.range.start, &mut out);
            let with = lf(&span.with);
            if crlf {
                out.push_str(&with.replace('\n', "\r\n"));
            } else {
                out.push_str(&with);
            }
            at = span.range.end;
        }
        self.restore(at..self.text.len(), &mut out);
        out
    }

    fn mostly_crlf(&self) -> bool {
        self.returns.len() * 2 > self.text.bytes().filter(|b| *b == b'\n').count()
    }

    fn restore(&self, range: Range<usize>, out: &mut String) {
        let first = self.returns.partition_point(|at| *at < range.start);
        let mut at = range.start;
        for &newline in self.returns[first..].iter().take_while(|newline| **newline < range.end) {
            out.push_str(&self.text[at..newline]);
            out.push('\r');
            at = newline;
        }
        out.push_str(&self.text[at..range.end]);
    }
}

/// `text` with every line ended by `\r\n`.
pub(crate) fn crlf(text: &str) -> String {
    lf(text).replace('\n', "\r\n")
}

/// `text` with every `\r\n` as `\n`.
pub(crate) fn lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &Normalised, old: &str, with: &str) -> Vec<Span> {
        let at = text.text.find(old).unwrap();
        vec![Span { range: at..at + old.len(), with: with.to_owned() }]
    }

    #[test]
    fn untouched_text_comes_back_to_the_byte() {
        for original in ["", "a", "a\r\nb\nc\r\n", "\r\n\r\n", "a\rb\r\r\nc", "\n\r\n\n"] {
            assert_eq!(Normalised::new(original).replaced(&[]), original, "{original:?}");
        }
    }

    #[test]
    fn new_lines_take_the_style_of_the_file() {
        let dos = Normalised::new("a\r\nb\r\nc\r\n");
        assert_eq!(dos.replaced(&span(&dos, "b\n", "x\ny\n")), "a\r\nx\r\ny\r\nc\r\n");
        assert_eq!(dos.replaced(&span(&dos, "b\n", "x\r\ny\r\n")), "a\r\nx\r\ny\r\nc\r\n");
        let unix = Normalised::new("a\nb\nc\n");
        assert_eq!(unix.replaced(&span(&unix, "b", "x\r\ny")), "a\nx\ny\nc\n");
    }

    #[test]
    fn mixed_files_keep_each_untouched_line() {
        let mixed = Normalised::new("a\r\nb\nc\r\nd\n");
        assert_eq!(mixed.replaced(&span(&mixed, "b", "x")), "a\r\nx\nc\r\nd\n");
        assert_eq!(mixed.replaced(&span(&mixed, "c\n", "")), "a\r\nb\nd\n");
    }
}
