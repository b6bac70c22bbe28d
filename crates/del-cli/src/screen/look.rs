//! What the terminal can show, and what its user wants to see.

use std::io::IsTerminal;

use rustix::fs::{FileType, fstat};

use crate::colour::{Paint, When};
use crate::terminal;

/// How things are drawn on one terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) paint: Paint,
    /// The terminal reads UTF-8.
    pub(crate) unicode: bool,
    /// Nothing that was written is written over: for screen readers, and for terminals that cannot.
    pub(crate) plain: bool,
    /// Words stand in place of signs.
    pub(crate) spoken: bool,
}

/// Signs that begin a line, so that what it is can be told at a glance, or heard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signs {
    pub(crate) call: &'static str,
    pub(crate) result: &'static str,
    pub(crate) thought: &'static str,
    /// What the model wrote, as it wrote it.
    pub(crate) raw: &'static str,
}

const DRAWN: Signs = Signs { call: "●", result: "⎿", thought: "✻", raw: "│" };
/// A screen reader reads words, and skips signs or spells them out.
const SPOKEN: Signs = Signs { call: "call:", result: "result:", thought: "thinking:", raw: "raw:" };

impl Look {
    /// As standard error and the environment have it.
    pub(crate) fn find(when: When) -> Self {
        Self::with(Paint::stderr(when))
    }

    /// In these colours, and else as the environment has it.
    pub(crate) fn with(paint: Paint) -> Self {
        Self { paint, unicode: is_unicode(), plain: is_plain(), spoken: is_plain() }
    }

    pub(crate) fn signs(self) -> Signs {
        if self.spoken { SPOKEN } else { DRAWN }
    }
}

/// Whether lines can be written anew: standard error is a terminal that can, and its user wants it.
pub(crate) fn redraws() -> bool {
    std::io::stderr().is_terminal() && !is_plain()
}

/// Whether nothing else goes to the terminal meanwhile: what is piped may come there as well, and would stand in the row
/// that is drawn anew.
pub(crate) fn is_alone() -> bool {
    let out = std::io::stdout();
    out.is_terminal()
        || !fstat(&out).is_ok_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Fifo)
}

/// `DEL_PLAIN` asks for output that is read from top to bottom, and a terminal that can do nothing else has no other.
pub(super) fn is_plain() -> bool {
    std::env::var_os("DEL_PLAIN").is_some_and(|value| !value.is_empty() && value != "0")
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether the locale says that text is UTF-8. One that says nothing is taken for a system without locales.
pub(crate) fn is_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_none_or(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Columns that text is laid out in on standard output: long lines are hard to read.
pub(crate) fn columns() -> usize {
    all_columns().min(WIDEST)
}

/// Columns that there are on standard output, for what is wider.
pub(crate) fn all_columns() -> usize {
    // The last column stays free: what fills it leaves the cursor between two rows.
    terminal::stdout_width().map_or(WIDEST, |width| width.saturating_sub(1).max(16))
}

const WIDEST: usize = 110;

/// A text in ASCII, for terminals that read no UTF-8: there, bytes of other characters could be controls.
pub(crate) fn in_ascii(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            _ if c.is_ascii() => c,
            '●' | '•' | '✻' | '◦' => '*',
            '⎿' | '└' | '╰' => '`',
            '│' | '▏' => '|',
            '─' | '–' | '—' => '-',
            '┼' => '+',
            '☑' => 'x',
            '☐' => 'o',
            '’' | '‘' => '\'',
            '“' | '”' => '"',
            '…' => '~',
            '·' => '-',
            '↪' | '→' | '❯' => '>',
            '↑' => '^',
            '↓' => 'v',
            _ => '?',
        })
        .collect()
}

/// A text to the last character in ASCII: what has none is spelt by its number.
pub(crate) fn spelt_in_ascii(text: &str) -> String {
    let spelt = |c: char| match in_ascii(c.encode_utf8(&mut [0; 4])) {
        known if known == "?" && c != '?' => c.escape_unicode().to_string(),
        known => known,
    };
    text.chars().map(spelt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_unicode_nothing_but_ascii_goes_out() {
        assert_eq!(in_ascii("● read — “größe” 日\u{9b}"), "* read - \"gr??e\" ??");
        assert_eq!(spelt_in_ascii("rm ü?"), "rm \\u{fc}?");
    }
}
