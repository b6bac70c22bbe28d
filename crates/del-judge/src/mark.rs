//! Values that are only known when a command runs: what is known of them before. Each stands in words as a character that
//! no command can hold.

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing: it may be any text.
    Text,
    /// It is a path that a program found in the working directory. It is looked at again when it is there.
    Path,
    /// It names a revision.
    Revision,
    /// What follows is what a file holds that Del makes for the command.
    Made,
}

/// The least known one first.
const MARKS: [Mark; 4] = [Mark::Text, Mark::Path, Mark::Revision, Mark::Made];

impl Mark {
    pub(crate) fn character(self) -> char {
        match self {
            Self::Text => '\u{f0000}',
            Self::Path => '\u{f0001}',
            Self::Revision => '\u{f0002}',
            Self::Made => '\u{f0003}',
        }
    }

    /// A word of this and a text.
    pub(crate) fn before(self, text: &str) -> String {
        format!("{}{text}", self.character())
    }

    /// What is known of the least known value in `text`, if there is one.
    pub(crate) fn within(text: &str) -> Option<Self> {
        MARKS.into_iter().find(|mark| text.contains(mark.character()))
    }

    /// Whether `text` begins with a value that might be an option.
    pub(crate) fn may_be_option(text: &str) -> bool {
        text.starts_with(Self::Text.character())
    }

    /// The text with something harmless for its values.
    pub(crate) fn filled(text: &str) -> String {
        text.replace(MARKS.map(Self::character), "x")
    }
}

/// A text for people: what is not known yet as dots.
pub(crate) fn shown(text: &str) -> String {
    text.replace(MARKS.map(Mark::character), "…")
}
