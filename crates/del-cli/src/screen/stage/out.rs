//! What goes to the terminal, and what it does to the cursor.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// Takes all back that says how text looks.
pub(super) const PLAIN: &str = "\u{1b}[0m";
pub(super) fn put(stream: Stream, text: &str) -> io::Result<()> {
    match stream {
        Stream::Out => {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        }
        Stream::Err => {
            let mut err = io::stderr().lock();
            err.write_all(text.as_bytes()).and_then(|()| err.flush())
        }
    }
}

/// The last escape in a text that says how what follows looks.
pub(super) fn last_style(text: &str) -> Option<&str> {
    let start = text.rfind("\u{1b}[")?;
    let end = text[start..].find('m')?;
    Some(&text[start..=start + end])
}

/// Columns of a text; its colours have none.
pub(super) fn wide(text: &str) -> usize {
    if !text.contains('\u{1b}') {
        return text.width();
    }
    let parts = text.split('\u{1b}').enumerate();
    let plain = parts.map(
        |(place, part)| if place == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) },
    );
    plain.collect::<String>().width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_of_what_follows_is_known() {
        assert_eq!(last_style("plain"), None);
        assert_eq!(last_style("\u{1b}[0;1mbold"), Some("\u{1b}[0;1m"));
        assert_eq!(last_style("\u{1b}[0;1mbold\u{1b}[0m"), Some(PLAIN));
    }
}
