//! Why a command is not safe.

use std::path::PathBuf;

use crate::arguments::Unknown;
use crate::ground::Forbidden;
use crate::kind::Misfit;
use crate::repository::Untrusted;
use crate::syntax::Unclear;
use crate::tree;
use crate::wildcard::Unexpanded;

/// Why a command is not safe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    #[error("{0}")]
    Unclear(#[from] Unclear),
    #[error("`{0}` is not a program known to only read")]
    Program(String),
    #[error("`{name}` is found in {place}, where others or the project may say what it is")]
    Elsewhere { name: String, place: String },
    #[error("`{name}` would obey `{}`, which leads elsewhere or may never end", path.display())]
    Ignores { name: String, path: PathBuf },
    #[error(
        "the tree has more than {max} entries: whether `{name}` would obey a file in `{}` that leads elsewhere was not \
         looked at", place.display(), max = tree::MOST
    )]
    Large { name: String, place: PathBuf },
    #[error("{program}: {unknown}")]
    Arguments { program: String, unknown: Unknown },
    #[error("`{word}` {unexpanded}")]
    Wildcard { word: String, unexpanded: Unexpanded },
    #[error("the input `{path}` {forbidden}")]
    Input { path: String, forbidden: Forbidden },
    #[error("`{0}` holds a variable whose value is not known or not plain")]
    Value(String),
    #[error("it would have more than {0} words")]
    Words(usize),
    #[error("`{0}` is more than one word, or none")]
    Divided(String),
    #[error("setting `{0}` may change what the command does")]
    Variable(String),
    #[error("`{0}` is set in a command that may run again, or not at all")]
    Unsure(String),
    #[error("git: {0}")]
    Repository(#[from] Untrusted),
    #[error("git: it may show what files hold that may not be read, as a rule says")]
    Withheld,
    #[error("cd: `{path}` {forbidden}")]
    Directory { path: String, forbidden: Forbidden },
    #[error("cd: which directory the rest would run in depends on what happens")]
    Perhaps,
    #[error("cd: only `cd DIRECTORY` by itself is understood")]
    Form,
    #[error("`{0}` is the program's whole name, or else something else would run")]
    Path(String),
    #[error("`{0}` may tell more of a file that is made of commands than what is in it")]
    Made(String),
    #[error("`{0}` is none of the programs whose output is put into words")]
    Answer(String),
    #[error("it would run more than {0} programs")]
    Many(usize),
    #[error("{0}: only plain options, and a command whose words are known, are understood")]
    Wrapper(&'static str),
}

impl Reason {
    /// The word that names what holds secrets, where that is the reason.
    pub(crate) fn secret(&self) -> Option<&str> {
        let (Self::Arguments {
            unknown: Unknown::Misfit { word, misfit: Misfit::Forbidden(forbidden) }, ..
        }
        | Self::Wildcard { word, unexpanded: Unexpanded::Forbidden(forbidden) }
        | Self::Input { path: word, forbidden }
        | Self::Directory { path: word, forbidden }) = self
        else {
            return None;
        };
        matches!(forbidden, Forbidden::Secret | Forbidden::Holds).then_some(word)
    }
}
