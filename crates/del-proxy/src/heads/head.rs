//! The head of one request, as far as it has come.

use memchr::memchr;

use crate::family::Family;

/// So much of a line tells its name.
const NAME: usize = 64;

/// What has come of a head.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The beginning of a line that has not come whole.
    pub(super) line: Vec<u8>,
    /// The API that is called, once the first line has come.
    pub(super) family: Option<Family>,
    pub(super) has_length: bool,
}

impl Head {
    pub(super) fn has_begun(&self) -> bool {
        self.family.is_some() || !self.line.is_empty()
    }

    /// Takes more of it; where it ends in this, once it does.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        while let Some(at) = memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(at + 1);
            rest = behind;
            let ends = if self.line.is_empty() {
                self.ends_with(line)
            } else {
                self.keep(line);
                let line = std::mem::take(&mut self.line);
                self.ends_with(&line)
            };
            if ends {
                return Some(bytes.len() - rest.len());
            }
        }
        self.keep(rest);
        None
    }

    fn keep(&mut self, more: &[u8]) {
        let room = NAME.saturating_sub(self.line.len());
        self.line.extend_from_slice(&more[..room.min(more.len())]);
    }

    /// True for the empty line behind all others. Those before the first count for nothing.
    fn ends_with(&mut self, line: &[u8]) -> bool {
        if line.trim_ascii().is_empty() {
            return self.family.is_some();
        }
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        if self.family.is_none() {
            self.family = Some(Family::of_line(line));
        } else if name.eq_ignore_ascii_case(b"content-length") {
            self.has_length = true;
        } else if name.eq_ignore_ascii_case(b"anthropic-version") {
            self.family = Some(Family::Anthropic);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_known_wherever_it_is_cut() {
        let head = b"\r\nPOST /api/chat HTTP/1.1\r\nA: content-length: 1\r\ncONTENT-lENGTH: 1\r\n\r\n";
        for at in 0..=head.len() {
            let mut known = Head::default();
            let (first, second) = head.split_at(at);
            let end = known.take(first).or_else(|| known.take(second).map(|end| at + end));
            assert_eq!((end, known.family), (Some(head.len()), Some(Family::Ollama)), "{at}");
            assert!(known.has_length, "{at}");
        }
        let mut known = Head::default();
        let other = b"GET /content-length: HTTP/1.1\na: b\nx-content-length: 1\n\nContent-Length: 1\n\n";
        assert_eq!(known.take(other), other.windows(2).position(|two| two == b"\n\n").map(|at| at + 2));
        assert!(!known.has_length && known.family == Some(Family::OpenAi));
    }
}
