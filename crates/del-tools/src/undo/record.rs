//! What the journal says: which files a change touched, and what stood there before and after.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// One line of a journal. A change is written before it happens, and closed behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// This is about to happen.
    Change(Record),
    /// The change with this id has happened.
    Done(String),
    /// The change with this id failed, and everything is as it was.
    Void(String),
}

/// A change: files that were written together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    /// Milliseconds since 1970.
    pub(crate) time: u64,
    /// The tool's canonical name, or `undo`.
    pub(crate) tool: String,
    /// The working directory.
    #[serde(with = "path")]
    pub(crate) directory: PathBuf,
    pub(crate) files: Vec<Touched>,
    /// The changes that this one takes back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) undoes: Vec<String>,
}

/// A path that a change touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Touched {
    /// Absolute and without links.
    #[serde(with = "path")]
    pub(crate) path: PathBuf,
    pub(crate) before: State,
    pub(crate) after: State,
    /// Whether the file was written over where it stands, so that half of it may be there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) in_place: bool,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Absent,
    File {
        /// Of the content, in hexadecimal; its name among the objects.
        sha256: String,
        /// Permission bits; `None` when they are those of a new file.
        mode: Option<u32>,
    },
    Link {
        #[serde(with = "path")]
        target: PathBuf,
    },
    #[serde(untagged, with = "directory")]
    Directory {
        /// Permission bits; `None` when they are those of a new directory, or nobody wrote them down.
        mode: Option<u32>,
    },
}

impl State {
    /// A file with this content.
    pub(crate) fn file(content: &[u8], mode: Option<u32>) -> Self {
        Self::File { sha256: sha256(content), mode }
    }

    /// Whether the same thing stands there; the mode does not count.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { sha256: own, .. }, Self::File { sha256: other, .. }) => own == other,
            (Self::Directory { .. }, Self::Directory { .. }) => true,
            _ => self == other,
        }
    }
}

/// The SHA-256 of `content`, in hexadecimal.
pub(crate) fn sha256(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

/// The SHA-256 of what `from` gives, in hexadecimal.
pub(crate) fn sha256_of(mut from: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(hex::encode(hash.finalize())),
            Ok(length) => hash.update(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A directory as JSON: `"directory"`, as it always was, or `{"directory": {"mode": 448}}`.
mod directory {
    use super::{Deserialize, Serialize};
    use serde::{Deserializer, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Usual(Name),
        Private { directory: Mode },
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Name {
        Directory,
    }

    #[derive(Serialize, Deserialize)]
    struct Mode {
        mode: u32,
    }

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
    pub(super) fn serialize<S: Serializer>(mode: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match *mode {
            None => Written::Usual(Name::Directory),
            Some(mode) => Written::Private { directory: Mode { mode } },
        };
        written.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Usual(Name::Directory) => None,
            Written::Private { directory } => Some(directory.mode),
        })
    }
}

/// A path as JSON: text, or its bytes where they are no text.
mod path {
    use super::{Deserialize, OsStrExt, OsString, OsStringExt, Path, PathBuf, Serialize};
    use serde::{Deserializer, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written<'a> {
        Text(std::borrow::Cow<'a, str>),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match path.to_str() {
            Some(text) => Written::Text(text.into()),
            None => Written::Bytes(path.as_os_str().as_bytes().to_vec()),
        };
        written.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => PathBuf::from(text.into_owned()),
            Written::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back_as_it_was_written() {
        let odd = PathBuf::from(OsString::from_vec(b"/a/\xff".to_vec()));
        let touched =
            |path: &Path, before, after| Touched { path: path.to_owned(), before, after, in_place: false };
        let record = Record {
            id: "1f".to_owned(),
            time: 7,
            tool: "multi_edit".to_owned(),
            directory: "/a".into(),
            files: vec![
                touched(&odd, State::Absent, State::file(b"x", None)),
                touched(
                    Path::new("/a/d"),
                    State::Link { target: odd.clone() },
                    State::Directory { mode: None },
                ),
                touched(Path::new("/a/e"), State::Directory { mode: Some(0o700) }, State::Absent),
            ],
            undoes: vec!["2e".to_owned()],
        };
        for line in [Line::Change(record), Line::Done("1f".to_owned()), Line::Void("1f".to_owned())] {
            let text = serde_json::to_string(&line).unwrap();
            assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line, "{text}");
        }
    }

    #[test]
    fn directories_without_a_mode_are_read_as_they_were_written() {
        let read = |text| serde_json::from_str::<State>(text).unwrap();
        assert_eq!(read(r#""directory""#), State::Directory { mode: None });
        assert_eq!(read(r#"{"directory": {"mode": 448}}"#), State::Directory { mode: Some(0o700) });
        assert!(serde_json::from_str::<State>(r#""folder""#).is_err());
    }

    #[test]
    fn content_is_named_as_sha256sum_names_it() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_change_of_mode_is_no_other_content() {
        assert!(State::file(b"a", Some(0o644)).holds(&State::file(b"a", None)));
        assert!(!State::file(b"a", None).holds(&State::file(b"b", None)));
        assert!(!State::Absent.holds(&State::Directory { mode: None }));
        assert!(State::Directory { mode: Some(0o700) }.holds(&State::Directory { mode: None }));
    }
}
