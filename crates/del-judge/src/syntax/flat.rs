//! The simple commands of a script, whatever they stand in.

use super::{Command, Compound, Piece, Redirection, Script, Simple, VARIABLES};

/// A simple command, and those before it in its pipeline.
pub(crate) type Placed<'a> = (&'a [Command], &'a Simple);

impl Script {
    /// The simple commands, where all that they stand in only says which of them run: every word is known but for
    /// wildcards and variables that are never set, and of other commands no file is an input or output.
    pub(crate) fn flat(&self) -> Option<Vec<&Simple>> {
        self.is_flat().then(|| self.simple().into_iter().map(|(_, simple)| simple).collect())
    }

    fn is_flat(&self) -> bool {
        let known = |piece: &Piece| match piece {
            Piece::Text(_) | Piece::Any | Piece::One => true,
            Piece::Variable { name, .. } => VARIABLES.contains(&name.as_str()),
            Piece::Set { .. }
            | Piece::Choice(_)
            | Piece::Output { .. }
            | Piece::File(_)
            | Piece::Sum(_)
            | Piece::Value(_) => false,
        };
        let is_flat = |command: &Command| match command {
            Command::Simple(simple) => !simple.words.is_empty(),
            Command::Compound(compound, redirections) => {
                let quiet = |redirection: &Redirection| {
                    matches!(
                        redirection,
                        Redirection::Discard(_) | Redirection::DiscardBoth | Redirection::Join(..)
                    )
                };
                let names = match compound {
                    Compound::For { name, .. } => std::slice::from_ref(name),
                    Compound::Read { names, .. } => names,
                    _ => &[],
                };
                // Some shells look for programs in the list `path`.
                let is_own = |name: &String| is_own_name(name) && !name.ends_with("path");
                names.iter().all(is_own)
                    && redirections.iter().all(quiet)
                    && compound.scripts().into_iter().all(Self::is_flat)
            }
        };
        self.pipelines.iter().all(|pipeline| {
            pipeline.commands.iter().all(is_flat)
                && pipeline.words().all(|word| !word.has(|piece| !known(piece)))
        })
    }

    /// All simple commands in their order.
    fn simple(&self) -> Vec<Placed<'_>> {
        let mut found = Vec::new();
        for pipeline in &self.pipelines {
            for (place, command) in pipeline.commands.iter().enumerate() {
                match command {
                    Command::Simple(simple) => found.push((&pipeline.commands[..place], simple)),
                    Command::Compound(compound, _) => found.extend(compound.simple()),
                }
            }
        }
        found
    }
}

impl Compound {
    /// All simple commands in it, in their order.
    pub(crate) fn simple(&self) -> Vec<Placed<'_>> {
        self.scripts().into_iter().flat_map(Script::simple).collect()
    }

    fn scripts(&self) -> Vec<&Script> {
        match self {
            Self::Subshell(script) | Self::Group(script) => vec![script],
            Self::If { arms, otherwise } => {
                arms.iter().flat_map(|(condition, then)| [condition, then]).chain(otherwise).collect()
            }
            Self::For { body, .. } | Self::Read { body, .. } => vec![body],
        }
    }
}

/// Whether a variable of this name means something to the commands that set it alone, as far as its name says.
pub(crate) fn is_own_name(name: &str) -> bool {
    !name.starts_with('_')
        && !name.contains("proxy")
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && std::env::var_os(name).is_none()
}
