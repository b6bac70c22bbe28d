//! The metadata of a GGUF file. Tensors are not looked at, and no length in the file is believed before it is checked.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use serde_json::{Map, Value as Json};
use thiserror::Error;

use super::{Kind, MAX_TEMPLATES, Material, place};

/// Why a file's metadata cannot be read.
#[derive(Debug, Error)]
pub enum GgufError {
    /// The file ends too early, or cannot be read.
    #[error("the metadata is cut off or cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// A version that is not known.
    #[error("expected GGUF version 1, 2 or 3, got {0}")]
    Version(u32),
    /// A length that cannot be.
    #[error("expected {what} of at most {most}, got {got}")]
    Length {
        /// What is that long.
        what: &'static str,
        /// How long it may be.
        most: u64,
        /// How long it says it is.
        got: u64,
    },
    /// A type that is not known.
    #[error("expected the type of a value, 0 to 12, got {0}")]
    Type(u32),
    /// A text that is none.
    #[error("expected UTF-8 in {0}")]
    Text(&'static str),
}

const MAGIC: &[u8] = b"GGUF";
const MAX_ENTRIES: u64 = 100_000;
const MAX_KEY: u64 = 1 << 16;
const MAX_TEMPLATE: u64 = 4 << 20;
/// Bytes of metadata. Large vocabularies have ten to twenty million.
const MAX_METADATA: u64 = 128 << 20;
const MAX_ITEMS: u64 = 8 << 20;
const MAX_DEPTH: usize = 4;

/// True for the first bytes of a GGUF file.
pub(super) fn is_gguf(bytes: &[u8]) -> bool {
    bytes == MAGIC
}

/// The template and what else the metadata tells. The file stands behind its first four bytes.
pub(super) fn read(file: File) -> Result<Material, GgufError> {
    let len = file.metadata()?.len();
    let mut reader =
        Reader { len, at: MAGIC.len() as u64, wide: true, big: false, items: 0, inner: BufReader::new(file) };
    let mut version = reader.u32()?;
    // A small number at the wrong end: the file is for machines of the other byte order.
    if version.trailing_zeros() >= 16 {
        reader.big = true;
        version = version.swap_bytes();
    }
    if !(1..=3).contains(&version) {
        return Err(GgufError::Version(version));
    }
    reader.wide = version > 1;
    reader.count("a number of tensors", u64::MAX)?;
    let entries = reader.count("a number of entries", MAX_ENTRIES)?;
    let mut header = Header::default();
    for _ in 0..entries {
        reader.entry(&mut header)?;
    }
    Ok(header.material(&mut reader))
}

#[derive(Debug, Default)]
struct Header {
    templates: Vec<(String, String)>,
    texts: Map<String, Json>,
    /// Numbers of tokens by the names of what they are for.
    tokens: Vec<(&'static str, u64)>,
    /// Where the list of tokens is.
    vocabulary: Option<u64>,
}

const TEMPLATE: &str = "tokenizer.chat_template";
const TEXTS: [&str; 4] = ["general.name", "general.basename", "general.architecture", "general.finetune"];
const IDS: [(&str, &str); 4] = [
    ("tokenizer.ggml.bos_token_id", "bos_token"),
    ("tokenizer.ggml.eos_token_id", "eos_token"),
    ("tokenizer.ggml.padding_token_id", "pad_token"),
    ("tokenizer.ggml.unknown_token_id", "unk_token"),
];
const VOCABULARY: &str = "tokenizer.ggml.tokens";
const TEXT: u32 = 8;
const LIST: u32 = 9;

struct Reader {
    inner: BufReader<File>,
    len: u64,
    at: u64,
    /// Lengths have eight bytes.
    wide: bool,
    /// The greatest byte of a number comes first.
    big: bool,
    /// Items of lists that were passed so far.
    items: u64,
}

impl Reader {
    fn entry(&mut self, header: &mut Header) -> Result<(), GgufError> {
        let key = self.text("a key", MAX_KEY)?;
        let kind = self.u32()?;
        if kind == TEXT && (key == TEMPLATE || key.starts_with("tokenizer.chat_template.")) {
            let name = key.strip_prefix("tokenizer.chat_template.").unwrap_or_default().to_owned();
            header.templates.push((name, self.text("a chat template", MAX_TEMPLATE)?));
        } else if kind == TEXT && TEXTS.contains(&key.as_str()) {
            let text = self.text("a name", MAX_KEY)?;
            header.texts.insert(key, Json::from(text));
        } else if let Some((_, name)) = IDS.iter().find(|(known, _)| *known == key).filter(|_| kind == 4) {
            let id = u64::from(self.u32()?);
            header.tokens.push((name, id));
        } else {
            let start = self.at;
            self.skip(kind, 0)?;
            if key == VOCABULARY && kind == LIST {
                header.vocabulary = Some(start);
            }
        }
        Ok(())
    }

    /// Passes a value.
    fn skip(&mut self, kind: u32, depth: usize) -> Result<(), GgufError> {
        if let Some(size) = size(kind) {
            return self.pass(size);
        }
        match kind {
            TEXT => {
                let len = self.count("a text", self.len)?;
                self.pass(len)
            }
            LIST if depth < MAX_DEPTH => {
                let kind = self.u32()?;
                let len = self.count("a list", self.len)?;
                if let Some(size) = size(kind) {
                    return self.pass(len.saturating_mul(size));
                }
                self.items = self.items.saturating_add(len);
                if self.items > MAX_ITEMS {
                    return Err(GgufError::Length { what: "lists", most: MAX_ITEMS, got: self.items });
                }
                (0..len).try_for_each(|_| self.skip(kind, depth + 1))
            }
            _ => Err(GgufError::Type(kind)),
        }
    }

    /// Passes bytes that have to be there.
    fn pass(&mut self, len: u64) -> Result<(), GgufError> {
        self.room(len)?;
        let step = i64::try_from(len).map_err(|_| GgufError::Length {
            what: "a value",
            most: self.len,
            got: len,
        })?;
        self.inner.seek_relative(step)?;
        Ok(())
    }

    /// Counts bytes that are about to be read or passed.
    fn room(&mut self, len: u64) -> Result<(), GgufError> {
        let end = self.at.saturating_add(len);
        if end > self.len {
            return Err(GgufError::Length { what: "a value", most: self.len - self.at, got: len });
        }
        if end > MAX_METADATA {
            return Err(GgufError::Length { what: "metadata", most: MAX_METADATA, got: end });
        }
        self.at = end;
        Ok(())
    }

    fn u32(&mut self) -> Result<u32, GgufError> {
        let mut bytes = [0; 4];
        self.room(4)?;
        self.inner.read_exact(&mut bytes)?;
        Ok(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// A length or a number of things.
    fn count(&mut self, what: &'static str, most: u64) -> Result<u64, GgufError> {
        let got = if self.wide {
            let mut bytes = [0; 8];
            self.room(8)?;
            self.inner.read_exact(&mut bytes)?;
            if self.big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
        } else {
            u64::from(self.u32()?)
        };
        if got > most { Err(GgufError::Length { what, most, got }) } else { Ok(got) }
    }

    fn text(&mut self, what: &'static str, most: u64) -> Result<String, GgufError> {
        let len = self.count(what, most)?;
        self.room(len)?;
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| GgufError::Text(what))?];
        self.inner.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| GgufError::Text(what))
    }

    /// The token of a number, in the list that begins at `start`.
    fn token(&mut self, start: u64, number: u64) -> Option<String> {
        self.inner.seek(SeekFrom::Start(start)).ok()?;
        self.at = start;
        let kind = self.u32().ok()?;
        let len = self.count("a list", self.len).ok()?;
        if kind != TEXT || number >= len {
            return None;
        }
        (0..number).try_for_each(|_| self.skip(TEXT, 0)).ok()?;
        self.text("a token", MAX_KEY).ok()
    }
}

/// Bytes of a value whose type says it.
fn size(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

impl Header {
    fn material(self, reader: &mut Reader) -> Material {
        let mut found = Vec::new();
        let text = |name: &str| self.texts.get(name).and_then(Json::as_str).map(str::to_owned);
        if let Some(architecture) = text("general.architecture") {
            found.push(format!("a GGUF file of the architecture {architecture}"));
        }
        let mut templates = self.templates;
        templates.sort_by_key(|(name, _)| place(name));
        if let [(name, _), _, ..] = templates.as_slice() {
            let name = if name.is_empty() { "default" } else { name };
            found.push(format!("of {} templates it is `{name}`", templates.len()));
        }
        let mut tokens = Map::new();
        if let Some(start) = self.vocabulary {
            for (name, number) in &self.tokens {
                if let Some(token) = reader.token(start, *number) {
                    tokens.insert((*name).to_owned(), Json::from(token));
                }
            }
        }
        let kind = if templates.is_empty() { Kind::Nothing } else { Kind::Jinja };
        let model = text("general.name").or_else(|| text("general.basename"));
        let mut templates = templates.into_iter();
        let text = templates.next().map(|(_, text)| text).unwrap_or_default();
        let others = templates.take(MAX_TEMPLATES).collect();
        Material { found, others, tokens, model, ..Material::of(kind, &text) }
    }
}
