//! What stands between the opening mark of a field and its value.

use crate::codec::attributes;
use crate::dialect::KeyKind;
use crate::message::Tool;
use crate::schema::may_have;

/// What stands between a field's opening mark and the end of its header.
pub(super) struct Header {
    pub(super) key: String,
    pub(super) type_word: Option<String>,
}

const QUOTES: [char; 2] = ['"', '\''];

impl Header {
    /// `city`, `"city"`, `"city" string="true"`, `key="city" type="string"`.
    pub(super) fn read(text: &str, kind: &KeyKind) -> Option<Self> {
        let (key, type_word) = Self::attributes(text, kind);
        let attribute = matches!(kind, KeyKind::Attribute(_));
        let quoted = attribute || (*kind == KeyKind::First && text.trim_start().starts_with(QUOTES));
        let marked = |key: &str| !quoted && key.contains(['<', '>']);
        let key = key.filter(|key| !key.is_empty() && !key.contains('\n') && !marked(key))?;
        let key = if attribute { attributes::read(&key).into_owned() } else { key };
        Some(Self { key, type_word })
    }

    /// The same; a header that is as a whole the name of an argument of `tool` is nothing else.
    pub(super) fn declared(text: &str, kind: &KeyKind, tool: Option<&Tool>) -> Option<Self> {
        let whole = tool.is_some() && !matches!(kind, KeyKind::Attribute(_)) && may_have(tool, text);
        if whole { Some(Self { key: text.to_owned(), type_word: None }) } else { Self::read(text, kind) }
    }

    /// Key and type, as far as they are there.
    pub(super) fn attributes(text: &str, kind: &KeyKind) -> (Option<String>, Option<String>) {
        let text = text.trim();
        let (mut key, mut rest) = match kind {
            KeyKind::First => {
                let (key, rest) = first_word(text);
                (Some(key.to_owned()), rest)
            }
            KeyKind::Whole => (Some(text.to_owned()), ""),
            KeyKind::Attribute(_) => (None, text),
        };
        let mut type_word = None;
        loop {
            rest = rest.trim_start();
            let Some((name, value)) = rest.split_once('=') else { break };
            let (value, after) = first_word(value.trim_start());
            match (name.trim(), kind) {
                ("string" | "type", _) => type_word = Some(value.to_owned()),
                (name, KeyKind::Attribute(attribute)) if name == attribute => key = Some(value.to_owned()),
                _ => {}
            }
            rest = after;
        }
        (key, type_word)
    }
}

/// True at the end of the header `text` where a quote is still open.
pub(super) fn is_quoted(text: &str, kind: &KeyKind) -> bool {
    let quotes = match kind {
        KeyKind::Attribute(_) => true,
        KeyKind::First => text.trim_start().starts_with('"'),
        KeyKind::Whole => false,
    };
    quotes && text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1
}

/// A quoted or bare word at the start, and what is behind it.
pub(super) fn first_word(text: &str) -> (&str, &str) {
    for quote in QUOTES {
        if let Some(inside) = text.strip_prefix(quote) {
            return inside.split_once(quote).unwrap_or((inside, ""));
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (text[..end].trim_end_matches(QUOTES), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_names_may_hold_spaces() {
        let tool: Tool = serde_json::from_value(serde_json::json!({
            "name": "f",
            "parameters": {"type": "object", "properties": {"full name": {"type": "string"}}},
        }))
        .unwrap();
        let key = |text: &str, tool| Header::declared(text, &KeyKind::First, tool).unwrap().key;
        assert_eq!(key("full name", Some(&tool)), "full name");
        assert_eq!(key("full type=\"string\"", Some(&tool)), "full");
        assert_eq!(key("full name", None), "full");
    }
}
