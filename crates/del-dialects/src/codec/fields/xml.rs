//! The entities and sections of XML text.

/// XML text as plain text: entities, and sections that hold text as it is.
pub(super) fn unescaped(text: &str) -> String {
    let trimmed = text.trim();
    if let Some(inside) = trimmed.strip_prefix("<![CDATA[").and_then(|rest| rest.strip_suffix("]]>")) {
        let framed = inside.strip_prefix('\n').and_then(|inside| inside.strip_suffix('\n'));
        return framed.unwrap_or(inside).to_owned();
    }
    entities_read(text)
}

/// Opens a section of text that stands as it is.
pub(super) const SECTION: &str = "<![CDATA[";

/// How many bytes at the end may be half an entity.
pub(super) fn half_entity(text: &str) -> usize {
    let last = &text.as_bytes()[text.len().saturating_sub(LONGEST - 1)..];
    let tail = last.iter().rposition(|byte| *byte == b'&').map_or(&[][..], |at| &last[at..]);
    let half = |spelling: &str| spelling.len() > tail.len() && spelling.as_bytes().starts_with(tail);
    if ENTITIES.iter().any(|(spelling, _)| half(spelling)) { tail.len() } else { 0 }
}

pub(super) fn entities_read(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let entity = ENTITIES.iter().find(|(spelling, _)| rest[at..].starts_with(spelling));
        match entity {
            Some((spelling, plain)) => {
                out.push(*plain);
                rest = &rest[at + spelling.len()..];
            }
            None => {
                out.push('&');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The length of the longest entity.
const LONGEST: usize = "&quot;".len();

/// The last two are what Python's escapes write for quotes.
pub(super) const ENTITIES: [(&str, char); 7] = [
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&amp;", '&'),
    ("&quot;", '"'),
    ("&apos;", '\''),
    ("&#34;", '"'),
    ("&#39;", '\''),
];
