//! Texts as YAML writes them where JSON does not: between single quotes, and as indented blocks.

mod nodes;

use super::lookahead::Lookahead;
pub(super) use nodes::nodes;

/// True where a text begins as no plain one does.
pub(super) fn is_marked(value: &[u8]) -> bool {
    matches!(value.first(), Some(b'"' | b'\'' | b'|' | b'>' | b'\n' | b'\r'))
}

/// True for a value in lines of their own, below its key.
fn is_below(value: &str) -> bool {
    value.starts_with(['\n', '\r', '|', '>'])
}

/// The first line below a key begins within so many bytes, as it is looked for at each line.
const FIRST: usize = 256;

/// How far the first line below the key is indented, and whether it begins an item of a list.
fn first_indent(value: &str) -> Option<(usize, bool)> {
    let value = &value.as_bytes()[..value.len().min(FIRST)];
    let mut lines = value.split(|byte| *byte == b'\n').skip(1);
    let line = lines.find(|line| !line.trim_ascii().is_empty())?;
    let indent = line.iter().take_while(|byte| **byte == b' ').count();
    Some((indent, line[indent..].starts_with(b"- ")))
}

impl Lookahead<'_> {
    /// True for a line of YAML inside a value that begins below its key, as it is indented as far as the first one there.
    pub(super) fn is_nested(&self, from: usize) -> bool {
        let value = self.before.trim_start_matches([' ', '\t']);
        if !self.given.form.yaml || self.field.streams || !(value.is_empty() || is_below(value)) {
            return false;
        }
        let least = match first_indent(value) {
            Some((first, item)) => (first + usize::from(item)).max(1),
            None if !value.is_empty() || self.field.types.may_nest() => 1,
            None => return false,
        };
        let before = self.text.as_bytes()[..from].iter().rev().chain(value.as_bytes().iter().rev());
        before.take(least).filter(|byte| **byte != b'\n').count() == least
    }
}

/// The text that `value` writes in one of these ways.
pub(super) fn text(value: &str) -> Option<String> {
    let value = value.trim_start_matches([' ', '\t']);
    match value.as_bytes().first()? {
        b'\'' => quoted(value.trim_end()),
        b'|' => block(&value[1..], |lines| lines.join("\n")),
        b'>' => block(&value[1..], folded),
        b'\n' | b'\r' => Some(folded(&value.trim().lines().map(str::trim).collect::<Vec<_>>())),
        _ => None,
    }
}

/// A quote between quotes is doubled, and the end of a line is a space.
fn quoted(value: &str) -> Option<String> {
    let inner = value.strip_prefix('\'')?.strip_suffix('\'')?;
    let plain = inner.replace("''", "\0");
    if plain.contains('\'') || inner.contains('\0') {
        return None;
    }
    let lines: Vec<&str> = plain.lines().map(str::trim).collect();
    let text = if lines.len() > 1 { folded(&lines) } else { plain };
    Some(text.replace('\0', "'"))
}

/// A block, behind its sign: how much its lines are indented and how it ends may stand there.
fn block(value: &str, joined: impl Fn(&[&str]) -> String) -> Option<String> {
    let (header, body) = value.split_once('\n')?;
    let mut header = header.split('#').next()?.trim().to_owned();
    let keeps = header.contains('+');
    let strips = header.contains('-');
    header.retain(|c| !matches!(c, '+' | '-'));
    let indented = |line: &&str| !line.trim().is_empty();
    let width = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let indent = match header.as_str() {
        "" => body.lines().find(indented).map_or(0, width),
        digit => digit.parse().ok()?,
    };
    let mut lines = Vec::new();
    for line in body.lines() {
        match line.get(indent..) {
            Some(rest) if indent > 0 && width(line) >= indent => lines.push(rest),
            _ if line.trim().is_empty() => lines.push(""),
            _ => return None,
        }
    }
    let blank = lines.iter().rev().take_while(|line| line.is_empty()).count();
    let mut text = joined(&lines[..lines.len() - blank]);
    let ends = if strips {
        0
    } else if keeps {
        1 + blank
    } else {
        usize::from(!text.is_empty())
    };
    text.extend(std::iter::repeat_n('\n', ends));
    Some(text)
}

/// Lines that are one, but where a blank line or an indented one stands between them.
fn folded(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut before = "";
    for (place, line) in lines.iter().enumerate() {
        let free = |line: &str| line.is_empty() || line.starts_with([' ', '\t']);
        text.push_str(match before {
            _ if place == 0 => "",
            _ if free(line) => "\n",
            "" => "",
            before if free(before) => "\n",
            _ => " ",
        });
        text.push_str(line);
        before = line;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn texts_are_read_as_yaml_means_them() {
        for (value, expected) in [
            ("'it''s'", Some("it's")),
            ("'a\n  b\n\n  c'", Some("a b\nc")),
            ("'a' and 'b'", None),
            ("|\n  a\n    b\n\n  c", Some("a\n  b\n\nc\n")),
            ("|-\n  a\n  b\n", Some("a\nb")),
            ("|+\n  a\n\n", Some("a\n\n")),
            ("|2\n   a\n  b", Some(" a\nb\n")),
            (">\n  a\n  b\n\n  c\n    d\n  e", Some("a b\nc\n  d\ne\n")),
            (">- # why\n  a\n  b", Some("a b")),
            ("|\n  a\nb", None),
            ("| grep x", None),
            ("plain", None),
            ("\"double\"", None),
        ] {
            assert_eq!(text(value).as_deref(), expected, "{value:?}");
        }
    }
}
