//! What bytes of a file say: which encoding, or that they are no text at all.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use crate::outcome::sized;

/// How much of the start of a file decides whether it is text.
pub(crate) const SNIFFED: usize = 8 * 1024;

/// How text is written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charset {
    Utf8,
    Utf16(Order),
    Utf32(Order),
    Legacy(&'static Encoding),
}

/// Which byte comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

/// The text of a file and what it takes to write it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) charset: Charset,
    /// Whether a byte order mark stood before it.
    pub(crate) marked: bool,
    /// Whether encoding the text again gives the same bytes.
    pub(crate) exact: bool,
}

/// The byte order mark at the start, with its length.
pub(crate) fn mark(bytes: &[u8]) -> Option<(Charset, usize)> {
    match bytes {
        [0xef, 0xbb, 0xbf, ..] => Some((Charset::Utf8, 3)),
        [0xff, 0xfe, 0, 0, ..] => Some((Charset::Utf32(Order::Little), 4)),
        [0, 0, 0xfe, 0xff, ..] => Some((Charset::Utf32(Order::Big), 4)),
        [0xff, 0xfe, ..] => Some((Charset::Utf16(Order::Little), 2)),
        [0xfe, 0xff, ..] => Some((Charset::Utf16(Order::Big), 2)),
        _ => None,
    }
}

/// Whether the start of a file says that it is no text: NUL, or mostly control characters.
pub(crate) fn is_binary(start: &[u8]) -> bool {
    if mark(start).is_some() {
        return false;
    }
    let start = &start[..start.len().min(SNIFFED)];
    let controls = |byte: &&u8| matches!(**byte, 0..=8 | 14..=26 | 28..=31 | 127);
    let sample = &start[..start.len().min(4096)];
    start.contains(&0) || sample.iter().filter(controls).count() * 10 > sample.len() * 3
}

/// What a binary file is, in words: `a PNG image (640x480)`, `binary (ELF, 1.2 MB)`.
pub(crate) fn binary_kind(start: &[u8], size: u64) -> String {
    let Some(kind) = infer::get(start) else { return format!("binary ({})", sized(size)) };
    let name = match kind.extension() {
        "elf" => "ELF".to_owned(),
        "jpg" => "JPEG".to_owned(),
        extension => extension.to_ascii_uppercase(),
    };
    if kind.matcher_type() != infer::MatcherType::Image {
        return format!("binary ({name}, {})", sized(size));
    }
    match imagesize::blob_size(start) {
        Ok(dimensions) => format!("a {name} image ({}x{})", dimensions.width, dimensions.height),
        Err(_) => format!("a {name} image ({})", sized(size)),
    }
}

/// The text of a whole file. Never fails: what does not decode shows as U+FFFD and `exact` is false.
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    let (charset, skipped) = mark(bytes).unwrap_or_else(|| (unmarked(bytes), 0));
    let body = &bytes[skipped..];
    let text = match charset {
        Charset::Utf8 => String::from_utf8_lossy(body).into_owned(),
        Charset::Utf16(order) => utf16(body, order),
        Charset::Utf32(order) => utf32(body, order),
        Charset::Legacy(encoding) => encoding.decode_without_bom_handling(body).0.into_owned(),
    };
    let mut decoded = Decoded { text, charset, marked: skipped > 0, exact: false };
    decoded.exact = encode(&decoded.text, charset, decoded.marked).as_deref() == Some(bytes);
    decoded
}

/// The bytes of `text`, or `None` if the encoding lacks one of its characters.
pub(crate) fn encode(text: &str, charset: Charset, marked: bool) -> Option<Vec<u8>> {
    let start = if marked { "\u{feff}" } else { "" };
    let characters = || start.chars().chain(text.chars());
    let mut bytes = Vec::with_capacity(text.len() + 4);
    match charset {
        Charset::Utf8 => {
            bytes.extend_from_slice(start.as_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        Charset::Utf16(order) => {
            for unit in start.encode_utf16().chain(text.encode_utf16()) {
                bytes.extend_from_slice(&match order {
                    Order::Little => unit.to_le_bytes(),
                    Order::Big => unit.to_be_bytes(),
                });
            }
        }
        Charset::Utf32(order) => {
            for character in characters() {
                bytes.extend_from_slice(&match order {
                    Order::Little => u32::from(character).to_le_bytes(),
                    Order::Big => u32::from(character).to_be_bytes(),
                });
            }
        }
        Charset::Legacy(encoding) => {
            let (encoded, _, unmappable) = encoding.encode(text);
            if unmappable {
                return None;
            }
            bytes.extend_from_slice(&encoded);
        }
    }
    Some(bytes)
}

impl Charset {
    /// Its name.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16(Order::Little) => "UTF-16LE",
            Self::Utf16(Order::Big) => "UTF-16BE",
            Self::Utf32(Order::Little) => "UTF-32LE",
            Self::Utf32(Order::Big) => "UTF-32BE",
            Self::Legacy(encoding) => encoding.name(),
        }
    }
}

/// The encoding of bytes without a mark: UTF-8 if they are, else a guess.
pub(crate) fn unmarked(bytes: &[u8]) -> Charset {
    let cut = bytes.len().min(8 << 20);
    match std::str::from_utf8(bytes) {
        Ok(_) => return Charset::Utf8,
        // Only the last character is cut off: these are not all the bytes.
        Err(error) if error.error_len().is_none() && bytes.len() >= SNIFFED => return Charset::Utf8,
        // Stray bytes in text that plainly is UTF-8 do not make it something else.
        Err(error) if multibyte(&bytes[..error.valid_up_to()]) > 8 => return Charset::Utf8,
        Err(_) => {}
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..cut], true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    if guess == encoding_rs::UTF_8 { Charset::Utf8 } else { Charset::Legacy(guess) }
}

fn multibyte(valid: &[u8]) -> usize {
    valid.iter().filter(|byte| **byte >= 0xc0).count()
}

fn utf16(bytes: &[u8], order: Order) -> String {
    let units = bytes.chunks(2).map(|pair| match (pair, order) {
        ([a, b], Order::Little) => u16::from_le_bytes([*a, *b]),
        ([a, b], Order::Big) => u16::from_be_bytes([*a, *b]),
        _ => 0xdc00,
    });
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn utf32(bytes: &[u8], order: Order) -> String {
    let units = bytes.chunks(4).map(|four| match (<[u8; 4]>::try_from(four), order) {
        (Ok(four), Order::Little) => u32::from_le_bytes(four),
        (Ok(four), Order::Big) => u32::from_be_bytes(four),
        _ => u32::MAX,
    });
    units.map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// A file name as it can stand in a line: what would break the line is escaped.
pub(crate) fn on_one_line(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_survives_the_round_trip() {
        let text = "größe\n日本\u{1f600}\n";
        for charset in [
            Charset::Utf8,
            Charset::Utf16(Order::Little),
            Charset::Utf16(Order::Big),
            Charset::Utf32(Order::Little),
            Charset::Utf32(Order::Big),
        ] {
            let bytes = encode(text, charset, true).unwrap();
            let decoded = decode(&bytes);
            assert_eq!((decoded.text.as_str(), decoded.charset, decoded.exact), (text, charset, true));
        }
    }

    #[test]
    fn text_without_a_mark_is_guessed() {
        let latin = b"Stra\xdfe und Gr\xf6\xdfe, sch\xf6n f\xfcr uns\n";
        let decoded = decode(latin);
        assert_eq!(decoded.text, "Straße und Größe, schön für uns\n");
        assert_eq!(decoded.charset.label(), "windows-1252");
        assert!(decoded.exact);
        assert_eq!(encode("日", decoded.charset, false), None);
    }

    #[test]
    fn broken_text_is_never_exact() {
        assert!(!decode(b"\xff\xfea\0b").exact);
        assert!(!decode(b"\xff\xfe\x00\xd8").exact);
        assert!(
            !decode("aä".repeat(20).as_bytes().iter().chain(b"\xff").copied().collect::<Vec<_>>().as_slice())
                .exact
        );
    }

    #[test]
    fn nul_and_control_characters_make_it_binary() {
        assert!(is_binary(b"abc\0def"));
        assert!(is_binary(b"\x01\x02\x03abc"));
        assert!(!is_binary(b"\x1b[31mred\x1b[0m\ttab\r\n"));
        assert!(!is_binary(&encode("ab", Charset::Utf16(Order::Little), true).unwrap()));
        let mut late = vec![b'a'; 9000];
        late.push(0);
        assert!(!is_binary(&late));
        assert!(!is_binary(b""));
    }

    #[test]
    fn binary_files_are_named() {
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(64, 0);
        assert_eq!(binary_kind(&elf, 1_200_000), "binary (ELF, 1.2 MB)");
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
        assert_eq!(binary_kind(png, 100), "a PNG image (640x480)");
        assert_eq!(binary_kind(b"\0\0\0", 3), "binary (3 B)");
    }
}
