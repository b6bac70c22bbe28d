//! Images and files that stand in an address (`data:image/png;base64,…`), and what of all addresses a server can be told.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// What stands in an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inline<'a> {
    /// Its media type, in small letters and without parameters, where the address says one.
    pub(crate) kind: Option<String>,
    /// In base 64.
    pub(crate) data: &'a str,
}

/// Formats whose files begin with bytes of their own, in base 64.
const BEGINNINGS: [(&str, &str); 5] = [
    ("iVBOR", "image/png"),
    ("/9j", "image/jpeg"),
    ("R0lG", "image/gif"),
    ("UklG", "image/webp"),
    ("JVBER", "application/pdf"),
];

/// Reads what stands in an address, if something does.
pub(crate) fn read(address: &str) -> Option<Inline<'_>> {
    let (about, data) = behind_scheme(address)?.split_once(',')?;
    let mut words = about.split(';').map(|word| word.trim().to_ascii_lowercase());
    let kind = words.next().filter(|kind| !kind.is_empty());
    words.any(|word| word == "base64").then_some(Inline { kind, data })
}

/// True for what a server elsewhere can be told: an address on a network, or what stands in one.
pub(crate) fn is_address(text: &str) -> bool {
    let is_file = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    behind_scheme(text).is_some() || text.contains("://") && !is_file
}

fn behind_scheme(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_at_checked(5)?;
    scheme.eq_ignore_ascii_case("data:").then_some(rest)
}

impl Inline<'_> {
    /// The media type of an image: as it begins, or else as the address says, by its proper name.
    pub(crate) fn of_image(&self) -> &str {
        let begins = begun(self.data).filter(|kind| kind.starts_with("image/"));
        begins.unwrap_or(match self.kind.as_deref() {
            None => "image/png",
            Some("image/jpg" | "image/pjpeg") => "image/jpeg",
            Some(kind) => kind,
        })
    }

    /// The same of a document.
    pub(crate) fn of_document(&self) -> &str {
        begun(self.data).or(self.kind.as_deref()).unwrap_or("application/pdf")
    }

    /// Its text, where its media type says that it is one.
    pub(crate) fn text(&self) -> Option<String> {
        let kind = self.kind.as_deref()?;
        let inner = kind.strip_prefix("application/").unwrap_or_default();
        let words = ["json", "xml", "yaml", "toml", "javascript", "sql"];
        let is_text = kind.starts_with("text/") || words.iter().any(|word| inner.ends_with(word));
        is_text.then(|| decoded(self.data)).flatten()
    }
}

/// The media type of a file that begins so, in base 64.
pub(crate) fn begun(base64: &str) -> Option<&'static str> {
    BEGINNINGS.iter().find(|(begin, _)| base64.starts_with(begin)).map(|(_, kind)| *kind)
}

/// With or without the signs at its end, in either alphabet, and in lines.
fn decoded(base64: &str) -> Option<String> {
    let plain = |sign| match sign {
        '-' => Some('+'),
        '_' => Some('/'),
        '=' | '\r' | '\n' => None,
        sign => Some(sign),
    };
    let plain: String = base64.chars().filter_map(plain).collect();
    String::from_utf8(STANDARD_NO_PAD.decode(plain).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::{is_address, read};

    #[test]
    fn what_an_address_holds_has_its_proper_type() {
        for (address, image) in [
            ("data:image/png;base64,iVBORw0", "image/png"),
            ("DATA:image/jpg;base64,AAAA", "image/jpeg"),
            ("data:image/png;charset=utf-8;base64,/9j/4AAQ", "image/jpeg"),
            ("data:;base64,R0lGODlh", "image/gif"),
            ("data:application/octet-stream;base64,UklGRg", "image/webp"),
            ("data:image/heic; base64,AAAA", "image/heic"),
        ] {
            assert_eq!(read(address).unwrap().of_image(), image, "{address}");
        }
        assert_eq!(read("data:image/svg+xml,<svg/>"), None);
        let text = |address: &str| read(address).unwrap().text();
        assert_eq!(text("data:text/plain;charset=utf-8;base64,SGkuIMOpCg==").as_deref(), Some("Hi. é\n"));
        assert_eq!(text("data:application/json;base64,e30").as_deref(), Some("{}"));
        assert_eq!(text("data:text/plain;base64,_w"), None);
        assert_eq!(text("data:application/pdf;base64,JVBERi0"), None);
    }

    #[test]
    fn a_file_of_the_client_and_what_is_no_address_is_told_to_nobody() {
        for address in ["https://a/b.png", "data:image/png;base64,", "DATA:,", "gs://a/b"] {
            assert!(is_address(address), "{address}");
        }
        for other in ["iVBORw0KGgo=", "file:///etc/passwd", "FILE://a", "", "a.png", "dataé"] {
            assert!(!is_address(other), "{other}");
        }
    }
}
