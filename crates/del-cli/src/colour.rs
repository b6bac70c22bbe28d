//! Colour: only where somebody looks, and only if they want it.

use std::fmt::Display;
use std::io::IsTerminal;

use clap::ValueEnum;

/// When output is coloured, as `--color` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    Always,
    Never,
}

/// Paints words for one stream, or leaves them as they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    pub(crate) fn stdout(when: When) -> Self {
        Self::for_terminal(when, std::io::stdout().is_terminal())
    }

    pub(crate) fn stderr(when: When) -> Self {
        Self::for_terminal(when, std::io::stderr().is_terminal())
    }

    /// No colour.
    pub(crate) fn plain() -> Self {
        Self { on: false }
    }

    /// Paint for a stream that is a terminal or not.
    pub(crate) fn for_terminal(when: When, terminal: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let forced = set("CLICOLOR_FORCE") && std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| v != "0");
        let on = match when {
            When::Always => true,
            When::Never => false,
            When::Auto if set("NO_COLOR") => false,
            When::Auto => forced || terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        };
        Self { on }
    }

    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    pub(crate) fn bold(self, text: impl Display) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: impl Display) -> String {
        self.paint("2", text)
    }

    pub(crate) fn red(self, text: impl Display) -> String {
        self.paint("31", text)
    }

    pub(crate) fn green(self, text: impl Display) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(self, text: impl Display) -> String {
        self.paint("33", text)
    }

    pub(crate) fn cyan(self, text: impl Display) -> String {
        self.paint("36", text)
    }

    fn paint(self, code: &str, text: impl Display) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_on_the_command_line_wins() {
        assert_eq!(Paint::for_terminal(When::Always, false).red("x"), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(Paint::for_terminal(When::Never, true).red("x"), "x");
    }
}
