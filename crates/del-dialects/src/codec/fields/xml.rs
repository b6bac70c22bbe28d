//! The entities and sections of XML text, and the attributes of its tags.

use super::lookahead::Keyed;
use crate::scan::is_word;
use crate::value::white_space;

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
const ENTITIES: [(&str, char); 7] = [
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&amp;", '&'),
    ("&quot;", '"'),
    ("&apos;", '\''),
    ("&#34;", '"'),
    ("&#39;", '\''),
];

/// What stands behind an attribute of a tag.
pub(super) struct RestOfTag {
    /// How long it is up to the end of the tag, with its closing tag where it is not closed by itself.
    pub(super) keyed: Keyed,
    /// Something stands between the two.
    pub(super) holds: bool,
    /// How long the attributes are, whatever follows.
    pub(super) attributes: usize,
    /// So much was looked at.
    pub(super) looked: usize,
}

/// The rest of a tag behind one of its attributes, which ends at this quote: more attributes, and its end. An attribute of
/// a name that is `given` cannot come again, and what stands between two tags holds no such quote: that would be the end
/// of the value.
pub(super) fn rest_of_tag(rest: &[u8], tag: &str, quote: u8, given: impl Fn(&[u8]) -> bool) -> RestOfTag {
    let (mut at, mut attributes, mut holds) = (0, 0, false);
    let takes = |at: &mut usize, text: &str| {
        let (text, rest) = (text.as_bytes(), &rest[*at..]);
        let same = rest.iter().zip(text).take_while(|(byte, wanted)| byte == wanted).count();
        *at += same;
        match same {
            _ if same == text.len() => Ok(()),
            _ if same == rest.len() => Err(Keyed::Half),
            _ => Err(Keyed::Other),
        }
    };
    let mut read = || {
        loop {
            let space = white_space(&rest[at..]);
            at += space;
            match rest.get(at) {
                None => return Err(Keyed::Half),
                Some(b'/') => return takes(&mut at, "/>"),
                Some(b'>') => break,
                Some(_) if space == 0 => return Err(Keyed::Other),
                Some(_) => {}
            }
            let name = rest[at..].iter().take_while(|byte| is_word(**byte)).count();
            at += name;
            let name = &rest[at - name..at];
            takes(&mut at, "=")?;
            let quote = *rest.get(at).ok_or(Keyed::Half)?;
            if name.is_empty() || given(name) || !matches!(quote, b'"' | b'\'') {
                return Err(Keyed::Other);
            }
            at += 1;
            at += rest[at..].iter().position(|byte| *byte == quote).ok_or(Keyed::Half)? + 1;
            attributes = at;
        }
        at += 1;
        let (inside, end) = (at, rest[at..].iter().position(|byte| *byte == quote));
        at = end.map_or(rest.len(), |end| inside + end);
        let is_close = |part: &[u8]| {
            part.starts_with(b"</") && part[2..].starts_with(tag.as_bytes()) && part.ends_with(b">")
        };
        let len = "</>".len() + tag.len();
        let closed = rest[inside..at].windows(len).position(is_close);
        let closed = closed.ok_or(if end.is_none() { Keyed::Half } else { Keyed::Other })?;
        holds = white_space(&rest[inside..]) < closed;
        at = inside + closed + len;
        Ok(())
    };
    let keyed = match read() {
        Ok(()) => Keyed::Whole(at),
        Err(other) => other,
    };
    RestOfTag { keyed, holds, attributes, looked: at }
}
