//! The little of HTML that results of searches hold: tags are dropped, and the usual entities read.

/// The text of a piece of HTML, on one line.
pub(super) fn text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('<') {
            rest = rest.find('>').map_or("", |end| &rest[end + 1..]);
        } else {
            let (c, used) = entity(rest);
            out.push(c);
            rest = &rest[used..];
        }
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The character that an entity at the start of `text` stands for, and how long it is.
fn entity(text: &str) -> (char, usize) {
    const NAMED: [(&str, char); 10] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("nbsp", ' '),
        ("ndash", '–'),
        ("mdash", '—'),
        ("hellip", '…'),
        ("middot", '·'),
    ];
    let plain = ('&', 1);
    let Some(end) = text.bytes().take(12).position(|b| b == b';') else { return plain };
    let name = &text[1..end];
    let number = name.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    });
    let named = NAMED.iter().find(|(own, _)| *own == name).map(|(_, c)| *c);
    named.or_else(|| number.and_then(char::from_u32)).map_or(plain, |c| (c, end + 1))
}

/// The value of an attribute in a tag.
pub(super) fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let start = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    tag[start..].split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_and_entities_are_read() {
        assert_eq!(
            text("a <b>bold</b>\n  &amp;&#x27;&#39;&nbsp;&lt;x&gt; & &nosuch; &"),
            "a bold &'' <x> & &nosuch; &"
        );
        assert_eq!(text("open <a href="), "open");
        assert_eq!(text("&ä;"), "&ä;");
        assert_eq!(attribute("<a class=\"x\" href=\"//y\">", "href"), Some("//y"));
    }
}
