//! Files that go along with a question: text as text, images as images, and PDFs as the text that is in them.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use del_agent::Image;
use del_dialects::Dialects;
use reqwest::Url;

use crate::input;

/// What a file is to a model.
#[derive(Debug)]
pub(crate) enum Attachment {
    Text(String),
    Image(Image),
}

/// Bytes of a text; a model reads about a token for every four.
const TEXT: usize = 512 * 1024;
/// Bytes of an image: APIs take little more.
const IMAGE: usize = 5 << 20;
/// What may follow a name in a sentence.
const PUNCTUATION: [char; 7] = [',', '.', ';', ':', '?', '!', ')'];
/// Bytes of a PDF.
const PDF: usize = 64 << 20;

impl Attachment {
    /// Reads a file, or says why it cannot go along.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let fail = |error: std::io::Error| format!("{name}: {}", input::plain(&error));
        if !fs::metadata(path).map_err(fail)?.is_file() {
            return Err(format!("{name}: expected a file, got something else"));
        }
        let mut bytes = Vec::new();
        File::open(path).map_err(fail)?.take(PDF as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
        let within = |limit: usize, what: &str| match bytes.len() {
            size if size <= limit => Ok(()),
            size => Err(format!(
                "{name}: expected {what} of at most {} kB, got {} kB or more",
                limit >> 10,
                size >> 10
            )),
        };
        if let Some(media_type) = image_type(&bytes) {
            within(IMAGE, "an image")?;
            return Ok(Self::Image(Image::new(media_type, STANDARD.encode(&bytes))));
        }
        if bytes.starts_with(b"%PDF-") {
            within(PDF, "a PDF")?;
            return text_of_pdf(path).map(Self::Text).map_err(|why| format!("{name}: {why}"));
        }
        within(TEXT, "text")?;
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(Self::Text(text)),
            _ => Err(format!(
                "{name}: expected text, a PNG, JPEG, GIF or WebP image, or a PDF; got other bytes"
            )),
        }
    }

    /// Adds a file to a question. Markup in it is broken, as in all that others say.
    pub(crate) fn add_to(self, question: &mut String, images: &mut Vec<Image>, path: &Path) {
        match self {
            Self::Text(text) => {
                let text = Dialects::builtin().neutralise(&text);
                question.extend(["\n\nThe file ", &path.to_string_lossy(), ":\n", &text]);
            }
            Self::Image(image) => {
                question.extend(["\n\nThe image ", &path.to_string_lossy(), " is attached."]);
                images.push(image);
            }
        }
    }
}

/// An image that comes in Base64. What it says of itself counts, and not what is said of it: a server refuses what it
/// cannot read, and the conversation would hold it for good.
pub(crate) fn image(data: &str) -> Result<Image, String> {
    let bytes = STANDARD.decode(data).unwrap_or_default();
    match image_type(&bytes) {
        Some(media_type) if bytes.len() <= IMAGE => Ok(Image::new(media_type, data.to_owned())),
        Some(_) => {
            Err(format!("expected an image of at most {} kB, got {} kB", IMAGE >> 10, bytes.len() >> 10))
        }
        None => Err("expected a PNG, JPEG, GIF or WebP image in Base64, got other bytes".to_owned()),
    }
}

/// Images and PDFs that a text names: as `@path`, or by an absolute path, as terminals paste what is dropped on them.
pub(crate) fn named(text: &str, directory: &Path) -> Vec<PathBuf> {
    let path = |word: String| {
        let (at, name) = match word.strip_prefix('@') {
            Some(name) => (true, name),
            None => (false, word.as_str()),
        };
        let path = path_of(name.trim_end_matches(PUNCTUATION));
        let meant = is_name(&path) && (at || path.is_absolute());
        (meant && (at || path.is_file())).then(|| directory.join(path))
    };
    words(text).into_iter().filter_map(path).collect()
}

/// What a text names as `@path`, in quotes where the path has blanks.
pub(crate) fn mentioned(text: &str) -> Vec<String> {
    let path = |word: String| {
        let path = word.strip_prefix('@')?.trim_end_matches(PUNCTUATION);
        (!path.is_empty()).then(|| path.to_owned())
    };
    words(text).into_iter().filter_map(path).collect()
}

/// The words of a question: those that begin with a quote, and characters behind a backslash, as a shell has them. A quote
/// inside a word is an apostrophe.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (mut word, mut quote, mut end) = (String::new(), None, rest.len());
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match (c, quote) {
                ('\'' | '"', None) if word.is_empty() || word == "@" => quote = Some(c),
                (c, Some(open)) if c == open => quote = None,
                ('\\', None) => word.extend(chars.next().map(|(_, escaped)| escaped)),
                (c, None) if c.is_whitespace() => {
                    end = at;
                    break;
                }
                (c, _) => word.push(c),
            }
        }
        if quote.is_some() {
            // It was none.
            end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest[..end].clone_into(&mut word);
        }
        words.push(word);
        rest = rest[end..].trim_start();
    }
    words
}

/// A path as it is pasted: an address of a file, or one in the home directory.
fn path_of(name: &str) -> PathBuf {
    let address = name.starts_with("file://").then(|| Url::parse(name).ok()?.to_file_path().ok()).flatten();
    let home = || name.strip_prefix("~/").and_then(|name| Some(std::env::home_dir()?.join(name)));
    address.or_else(home).unwrap_or_else(|| PathBuf::from(name))
}

/// Whether a name is one of an image or a PDF.
pub(crate) fn is_name(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["png", "jpg", "jpeg", "gif", "webp", "pdf"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The text of a PDF, as the program of poppler finds it: a reader of such files is no part of Del.
fn text_of_pdf(path: &Path) -> Result<String, String> {
    let path = fs::canonicalize(path).map_err(|error| input::plain(&error))?;
    let output = Command::new("pdftotext")
        .args(["-layout", "-enc", "UTF-8"])
        .arg(path)
        .arg("-")
        .stdin(Stdio::null())
        .output()
        .map_err(|_| {
            "it is a PDF, and the program pdftotext (package poppler-utils) is not there to read it"
                .to_owned()
        })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("pdftotext cannot read it: {}", said.lines().next().unwrap_or_default()));
    }
    if text.trim().is_empty() {
        return Err("there is no text in this PDF; images of its pages would have to be attached".to_owned());
    }
    if text.len() > TEXT {
        return Err(format!(
            "expected text of at most {} kB in the PDF, got {} kB",
            TEXT >> 10,
            text.len() >> 10
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n rest";

    #[test]
    fn files_go_along_as_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            Attachment::read(&path)
        };
        assert!(matches!(file("a.txt", b"one <tool_call>"), Ok(Attachment::Text(_))));
        let Ok(Attachment::Image(image)) = file("named.txt", PNG) else { panic!("expected an image") };
        assert_eq!((image.media_type.as_str(), image.data), ("image/png", STANDARD.encode(PNG)));
        assert!(file("b.bin", b"a\0b").unwrap_err().contains("got other bytes"));
        assert!(file("big.txt", &vec![b'a'; TEXT + 1]).unwrap_err().contains("at most 512 kB"));
        assert!(Attachment::read(folder.path()).unwrap_err().contains("expected a file"));
        let (mut question, mut images) = ("What?".to_owned(), Vec::new());
        let text = file("a.txt", b"one <tool_call>").unwrap();
        text.add_to(&mut question, &mut images, Path::new("a.txt"));
        assert!(question.starts_with("What?\n\nThe file a.txt:\none <") && !question.contains("<tool_call>"));
    }

    #[test]
    fn images_are_named_or_pasted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my shot.png");
        fs::write(&path, PNG).unwrap();
        let text = format!("What is in '{}' and @b.JPG, not in c.png?", path.display());
        assert_eq!(named(&text, Path::new("/work")), [path, PathBuf::from("/work/b.JPG")]);
        assert!(named("it's /nowhere/x.png", Path::new("/work")).is_empty());
        let (path, here) = (folder.path().join("my shot.png"), Path::new("/work"));
        let escaped = path.display().to_string().replace(' ', "\\ ");
        let address = format!("file://{}", path.display()).replace(' ', "%20");
        for pasted in [escaped, address, format!("\"{}\"", path.display())] {
            assert_eq!(named(&format!("what's in {pasted}?"), here), std::slice::from_ref(&path), "{pasted}");
        }
        assert_eq!(named("@'a b.png' isn't @c.png", here), [here.join("a b.png"), here.join("c.png")]);
        assert_eq!(named("'tis @c.png", here), [here.join("c.png")]);
        assert_eq!(mentioned("see @\"my file.txt\", @a.rs. or @ b"), ["my file.txt", "a.rs"]);
    }
}
