//! Arguments that are programs in a language of their own: which of them surely only read.

mod awk;
mod format;
mod jq;
mod sed;
mod yq;

/// A language that an argument may be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Sed,
    Awk,
    Jq,
    Yq,
    /// The format of `printf`.
    Printf,
    /// The formats of git.
    Git,
}

/// Why a program in a language is not surely harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsure {
    #[error("holds the command `{0}`, which is not known to be harmless")]
    Command(char),
    #[error("holds `{0}`, which may do more than read")]
    Word(&'static str),
    #[error("cannot be read to its end")]
    Broken,
}

impl Language {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "sed" => Self::Sed,
            "awk" => Self::Awk,
            "jq" => Self::Jq,
            "yq" => Self::Yq,
            "printf" => Self::Printf,
            "format" => Self::Git,
            _ => return None,
        })
    }

    pub(crate) fn check(self, text: &str) -> Result<(), Unsure> {
        match self {
            Self::Sed => sed::check(text),
            Self::Awk => awk::check(text),
            Self::Jq => jq::check(text),
            Self::Yq => yq::check(text),
            Self::Printf => format::printf(text),
            Self::Git => format::git(text),
        }
    }
}
