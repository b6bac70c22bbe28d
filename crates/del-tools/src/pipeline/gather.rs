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
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.rfind('\n').map(|end| &text[..end]);
    whole.into_iter().flat_map(|text| text.split('\n'))
}

/// The fields that `read` would divide a line into, so many of them. The last is all that is left; a separator at its end
/// belongs to it only where there are others in it.
pub(super) fn fields(line: &str, separators: &str, count: usize) -> Vec<String> {
    let blank = |c: char| matches!(c, ' ' | '\t') && separators.contains(c);
    let mut rest = line.trim_start_matches(blank);
    let mut fields = Vec::new();
    for _ in 1..count {
        let (field, behind) = field(rest, separators);
        fields.push(field.to_owned());
        rest = behind;
    }
    let last = match field(rest, separators) {
        (field, "") => field,
        _ => rest.trim_end_matches(blank),
    };
    fields.push(last.to_owned());
    fields
}

/// The first field of a text, and what is behind it and what ends it: blanks, or another separator with blanks around it.
fn field<'t>(text: &'t str, separators: &str) -> (&'t str, &'t str) {
    let blank = |c: char| matches!(c, ' ' | '\t') && separators.contains(c);
    let Some(end) = text.find(|c| separators.contains(c)) else { return (text, "") };
    let (field, behind) = text.split_at(end);
    let behind = behind.trim_start_matches(blank);
    let separated = behind.strip_prefix(|c| separators.contains(c) && !blank(c));
    (field, separated.map_or(behind, |rest| rest.trim_start_matches(blank)))
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
        let all = |text| lines(text).collect::<Vec<_>>();
        assert_eq!(all(" a \nb\n\nc"), [" a ", "b", ""]);
        assert_eq!(all("\n"), [""]);
        assert_eq!(all("a"), Vec::<&str>::new());
        assert_eq!(all(""), Vec::<&str>::new());
    }

    /// Each of these is what bash says.
    #[test]
    fn fields_are_those_of_read() {
        let lines = [
            "",
            " a ",
            "a b",
            "  a  b\t c  ",
            "a,b",
            "a,b,c",
            ",a,",
            "a,",
            "a,,",
            "a , b , c",
            ":a:b::",
            "\ta\t\tb\t",
        ];
        for separators in ["", " ", "\t", ",", ":", " \t\n"] {
            for (line, count) in lines.iter().flat_map(|line| (1..=3).map(move |count| (line, count))) {
                let names = &["x", "y", "z"][..count];
                let script = format!(
                    "IFS=\"$1\" read -r {} <<< \"$2\"; printf '%s\\n' \"${}\"",
                    names.join(" "),
                    names.join("\" \"$")
                );
                let mut bash = std::process::Command::new("bash");
                bash.args(["--norc", "-c", &script, "bash", separators, line]);
                let said = String::from_utf8(bash.output().unwrap().stdout).unwrap();
                let own = fields(line, separators, count).join("\n") + "\n";
                assert_eq!(own, said, "{separators:?} {line:?} {count}");
            }
        }
    }
}
