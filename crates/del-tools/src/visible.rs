//! Untrusted text made safe to show: what would move the cursor, hide, or reorder is written out.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` with every control, invisible and reordering character written out, except newline and tab.
///
/// Controls become their pictures (`␛`), the rest `\u{202e}`. Joiners stay where writing needs them: between two
/// characters that are not ASCII. Apply it last, after cutting: a cut can end an escape early.
pub fn visible(text: &str) -> Cow<'_, str> {
    let Some(first) = text.char_indices().find(|(_, c)| is_hidden(*c)).map(|(at, _)| at) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    let start = text[..first].char_indices().next_back().map_or(0, |(at, _)| at);
    out.push_str(&text[..start]);
    let mut before = None;
    let mut rest = text[start..].chars().peekable();
    while let Some(c) = rest.next() {
        let joins = matches!(c, '\u{200c}' | '\u{200d}')
            && before.is_some_and(is_joined)
            && rest.peek().copied().is_some_and(is_joined);
        if !is_hidden(c) || joins {
            out.push(c);
        } else if let Some(picture) = picture(c) {
            out.push(picture);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        before = Some(c);
    }
    Cow::Owned(out)
}

fn picture(c: char) -> Option<char> {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        _ => None,
    }
}

fn is_joined(c: char) -> bool {
    !c.is_ascii() && !is_hidden(c)
}

fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\n' | '\t');
    }
    // Controls; soft hyphen, joiners, fillers, marks of direction, separators of lines, zero widths; musical and shorthand
    // controls; tags and the second block of variation selectors.
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}')
        || matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        for text in ["", "a\tb\n", "größe 日本 👍🏽 ❤️"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn what_moves_hides_or_reorders_is_written_out() {
        for (text, shown) in [
            ("\u{1b}]52;c;aGk=\u{7}", "␛]52;c;aGk=␇"),
            ("rm -rf /\rls       ", "rm -rf /␍ls       "),
            ("a\r\nb", "a␍\nb"),
            ("ab\u{8}c\u{7f}", "ab␈c␡"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}txt.exe", "a\\u{202e}txt.exe"),
            ("l\u{200b}s", "l\\u{200b}s"),
            ("l\u{200d}s", "l\\u{200d}s"),
            ("x\u{e0041}", "x\\u{e0041}"),
            ("\u{feff}a", "\\u{feff}a"),
            ("\0", "␀"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn joiners_stay_where_writing_needs_them() {
        for text in ["👩\u{200d}💻", "می\u{200c}خواهم"] {
            assert_eq!(visible(text), text);
        }
    }
}
