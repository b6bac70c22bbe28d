//! Input from a file or from standard input, as text, as it comes.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};

use anyhow::Result;
use del_dialects::Tool;
pub(crate) use del_tools::plain_error as plain;
use del_wire::tools;
use same_file::Handle;

use crate::exit::Exit;
use crate::say;

/// Something to read.
pub(crate) struct Input {
    name: String,
    /// In bytes, for a file.
    size: Option<u64>,
    reader: BufReader<Box<dyn Read + Send>>,
    /// Which file it is, where that can be said.
    file: Option<Handle>,
    /// Whether a line feed at the very end is left out of its text.
    without_last_line_feed: bool,
}

/// Bytes to text: what is no UTF-8 is replaced, everything else kept, and characters may be cut anywhere.
#[derive(Debug, Default)]
struct Utf8 {
    /// The beginning of a character.
    partial: Vec<u8>,
    at: u64,
    /// How many places were replaced, and where the first one is.
    replaced: u64,
    first: u64,
}

const PIECE: usize = 64 * 1024;
/// The longest text that is read as one.
const MAX_TEXT: usize = 1 << 30;

impl Input {
    /// Opens a file; `None` and `-` are standard input.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        let (name, size, file, reader): (_, _, _, Box<dyn Read + Send>) = match path {
            Some(path) if path != Path::new("-") => {
                let name = path.display().to_string();
                let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
                let size = file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
                // A pipe that is opened once more may wait for ever, or be taken from who writes to it.
                let same = file.try_clone().and_then(Handle::from_file).ok();
                (name, size, same, Box::new(file))
            }
            _ => {
                if io::stdin().is_terminal() {
                    say("reading from the terminal; Ctrl-D ends the input");
                }
                ("standard input".to_owned(), None, Handle::stdin().ok(), Box::new(io::stdin()))
            }
        };
        let reader = BufReader::with_capacity(PIECE, reader);
        Ok(Self { name, size, reader, file, without_last_line_feed: false })
    }

    /// The same, and the text of a file that was named is without the line feed that editors end a file with.
    pub(crate) fn of_a_model(mut self) -> Self {
        self.without_last_line_feed = self.size.is_some();
        self
    }

    /// An error if `path`, which is to be written, is what is read here.
    pub(crate) fn check_kept(&self, path: &Path) -> Result<()> {
        not_written_over(path, self.file.as_ref())
    }

    /// What it is called in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes there are, where that is known before they are read.
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Its bytes.
    pub(crate) fn into_reader(self) -> impl Read + Send + 'static {
        self.reader
    }

    /// Gives the text out piece by piece, as soon as it is there.
    pub(crate) fn pieces(mut self, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        let mut utf8 = Utf8::default();
        let mut held = false;
        let without_last = self.without_last_line_feed;
        let mut each = |piece: &str| {
            if std::mem::take(&mut held) {
                each("\n")?;
            }
            let inside = piece.strip_suffix('\n').filter(|_| without_last);
            held = inside.is_some();
            match inside.unwrap_or(piece) {
                "" => Ok(()),
                piece => each(piece),
            }
        };
        let each = &mut each;
        loop {
            let bytes = match self.reader.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(&self.name, &error)),
            };
            let taken = bytes.len();
            utf8.push(bytes, each)?;
            self.reader.consume(taken);
        }
        utf8.finish(each)?;
        if utf8.replaced > 0 {
            say(format!(
                "{}: not UTF-8 in {} from byte {} on; replaced by U+FFFD, everything else kept",
                self.name,
                places(utf8.replaced),
                utf8.first
            ));
        }
        Ok(())
    }

    /// The whole text, which is held in memory.
    pub(crate) fn text(self) -> Result<String> {
        let (mut text, name) = (String::new(), self.name.clone());
        self.pieces(&mut |piece| {
            if text.len() + piece.len() > MAX_TEXT {
                return Err(
                    Exit::BadInput.because(format!("{name}: expected at most 1 GiB of text, got more"))
                );
            }
            text.push_str(piece);
            Ok(())
        })?;
        Ok(text)
    }

    /// The whole text of a model, and behind it the line feed that editors end a file with, where one was named.
    pub(crate) fn text_and_end(self) -> Result<(String, &'static str)> {
        let is_file = self.size.is_some();
        let mut text = self.text()?;
        let end = if is_file && text.ends_with('\n') { "\n" } else { "" };
        text.truncate(text.len() - end.len());
        Ok((text, end))
    }
}

/// An error if `path`, which is to be written, is the file `read`. Only regular files are opened to find that out.
pub(crate) fn not_written_over(path: &Path, read: Option<&Handle>) -> Result<()> {
    let written = path.is_file().then(|| Handle::from_path(path).ok()).flatten();
    if written.is_none() || written.as_ref() != read {
        return Ok(());
    }
    let path = path.display();
    Err(Exit::Usage.because(format!("{path} would be written over while it is read; name another file")))
}

impl Utf8 {
    fn push(&mut self, bytes: &[u8], each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        if self.partial.is_empty() {
            return self.decode(bytes, each);
        }
        let mut joined = std::mem::take(&mut self.partial);
        joined.extend_from_slice(bytes);
        self.decode(&joined, each)
    }

    fn decode(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        while !bytes.is_empty() {
            let (valid, invalid) = match std::str::from_utf8(bytes) {
                Ok(text) => return self.give(text, each),
                Err(error) => (error.valid_up_to(), error.error_len()),
            };
            let (text, rest) = bytes.split_at(valid);
            self.give(std::str::from_utf8(text)?, each)?;
            let Some(invalid) = invalid else {
                self.partial = rest.to_vec();
                return Ok(());
            };
            self.replace(invalid, each)?;
            bytes = &rest[invalid..];
        }
        Ok(())
    }

    fn finish(&mut self, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        match std::mem::take(&mut self.partial).len() {
            0 => Ok(()),
            cut => self.replace(cut, each),
        }
    }

    fn give(&mut self, text: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        let first = self.at == 0 && self.replaced == 0;
        self.at += text.len() as u64;
        let text = if first { without_mark(text) } else { text };
        if text.is_empty() { Ok(()) } else { each(text) }
    }

    fn replace(&mut self, bytes: usize, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        if self.replaced == 0 {
            self.first = self.at;
        }
        self.replaced += 1;
        self.at += bytes as u64;
        each("\u{fffd}")
    }
}

/// The file where one at most can be meant.
pub(crate) fn only(files: &[PathBuf]) -> Result<Option<&Path>> {
    match files {
        [] => Ok(None),
        [file] => Ok(Some(file)),
        several => {
            Err(Exit::Usage.because(format!("expected one file, got {}; --out takes several", several.len())))
        }
    }
}

/// The content of a file that has to be text.
pub(crate) fn read_text(path: &Path, exit: Exit) -> Result<String> {
    let name = path.display();
    let bytes = std::fs::read(path)
        .map_err(|error| exit.because(format!("cannot read {name}: {}", plain(&error))))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        exit.because(format!("{name}: expected UTF-8, got something else at byte {at}"))
    })?;
    Ok(if text.starts_with(MARK) { without_mark(&text).to_owned() } else { text })
}

/// The byte order mark, by which some editors say that a text is UTF-8.
const MARK: char = '\u{feff}';

fn without_mark(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The definitions of tools in a file.
pub(crate) fn read_tools(path: &Path) -> Result<Vec<Tool>> {
    tools::read_text(&read_text(path, Exit::BadInput)?)
        .map_err(|error| Exit::BadInput.because(format!("{}: {error}", path.display())))
}

/// The error for input that cannot be read.
pub(crate) fn unreadable(name: &str, error: &io::Error) -> anyhow::Error {
    Exit::BadInput.because(format!("cannot read {name}: {}", plain(error)))
}

fn places(count: u64) -> String {
    if count == 1 { "one place".to_owned() } else { format!("{count} places") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_byte_order_mark_is_no_part_of_a_text() {
        for (bytes, expected) in [
            (&b"\xef\xbb\xbfa\xef\xbb\xbf"[..], "a\u{feff}"),
            (b"\xef\xbb\xbf", ""),
            (b"\xff\xef\xbb\xbf", "\u{fffd}\u{feff}"),
        ] {
            for size in 1..=bytes.len() {
                let (mut utf8, mut text) = (Utf8::default(), String::new());
                let mut each = |piece: &str| {
                    text.push_str(piece);
                    Ok(())
                };
                bytes.chunks(size).for_each(|piece| utf8.push(piece, &mut each).unwrap());
                utf8.finish(&mut each).unwrap();
                assert_eq!(text, expected, "{size}");
            }
        }
    }

    #[test]
    fn text_cut_anywhere_reads_as_the_standard_library_reads_it_whole() {
        let bytes = b"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff\xe2\x82b\xc0\x80\xf0\x9f\x98";
        for size in 1..=bytes.len() {
            let mut utf8 = Utf8::default();
            let mut text = String::new();
            let mut each = |piece: &str| {
                text.push_str(piece);
                Ok(())
            };
            for piece in bytes.chunks(size) {
                utf8.push(piece, &mut each).unwrap();
            }
            utf8.finish(&mut each).unwrap();
            assert_eq!(text, String::from_utf8_lossy(bytes), "{size}");
            assert_eq!((utf8.replaced, utf8.first), (5, 10), "{size}");
        }
    }
}
