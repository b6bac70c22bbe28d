//! Values that commands wait for: what others print, the lines of an input, and its words.

use std::io::{self, PipeReader, Read};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::streams::Source;
use super::{Crew, TICK};

/// More than this is not gathered.
const MAX_BYTES: usize = 4 << 20;

/// The text of an input, up to its end.
pub(super) fn text(source: Source, crew: &Crew) -> io::Result<String> {
    let mut bytes = Vec::new();
    match source {
        Source::Nothing => {}
        Source::File(file) => {
            file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        }
        Source::Pipe(pipe) => read(pipe, crew, &mut bytes)?,
    }
    if bytes.len() > MAX_BYTES {
        return Err(io::Error::other("more than 4 MB of values"));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("values that are not text"))
}

/// Reads to the end, however long that takes, as long as nothing is stopped.
fn read(mut pipe: PipeReader, crew: &Crew, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    let patience = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
    while bytes.len() <= MAX_BYTES {
        let mut polled = [PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)];
        match poll(&mut polled, Some(&patience)) {
            Err(error) if error != rustix::io::Errno::INTR => return Err(error.into()),
            Ok(0) | Err(_) if crew.is_stopped() => return Err(io::ErrorKind::Interrupted.into()),
            Ok(0) | Err(_) => continue,
            Ok(_) => {}
        }
        match pipe.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The lines that `read` would see: a last one without its newline is none.
pub(super) fn lines(text: &str, blanks: bool) -> impl Iterator<Item = &str> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = (!text.is_empty() && text.contains('\n')).then(|| whole.split('\n'));
    lines.into_iter().flatten().map(move |line| if blanks { line } else { line.trim_matches([' ', '\t']) })
}

/// The words that `xargs` would see.
pub(super) fn words(text: &str, end: Option<char>) -> io::Result<Vec<String>> {
    let Some(end) = end else { return quoted(text) };
    let mut words: Vec<String> = text.split(end).map(str::to_owned).collect();
    if words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    Ok(words)
}

/// Words between blanks, with quotes and backslashes as `xargs` reads them.
fn quoted(text: &str) -> io::Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(own), c) if own == c => quote = None,
            (Some(_), '\n') => return Err(io::Error::other("a quote without its end among the values")),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(rest.next()),
            (None, c) if c.is_ascii_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(io::Error::other("a quote without its end among the values"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_xargs() {
        for (text, expected) in [
            ("a b\nc", vec!["a", "b", "c"]),
            ("  a\t\n\n b ", vec!["a", "b"]),
            ("'a b' \"c d\"e\n", vec!["a b", "c de"]),
            ("a\\ b \\'c", vec!["a b", "'c"]),
            ("''", vec![""]),
            ("", vec![]),
        ] {
            assert_eq!(words(text, None).unwrap(), expected, "{text:?}");
        }
        assert!(words("'a\n'", None).is_err() && words("\"", None).is_err());
        assert_eq!(words("a b\0c\n\0", Some('\0')).unwrap(), ["a b", "c\n"]);
        assert_eq!(words("a 'b\n\nc", Some('\n')).unwrap(), ["a 'b", "", "c"]);
    }

    #[test]
    fn lines_are_those_of_read() {
        let all = |text| lines(text, false).collect::<Vec<_>>();
        assert_eq!(all(" a \nb\n\nc"), ["a", "b", ""]);
        assert_eq!(all("a"), Vec::<&str>::new());
        assert_eq!(all(""), Vec::<&str>::new());
        assert_eq!(lines(" a \n", true).collect::<Vec<_>>(), [" a "]);
    }
}
