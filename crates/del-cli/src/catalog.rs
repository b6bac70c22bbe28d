//! The dialects of this run: the built-in ones, and the user's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use del_dialects::{AddError, Dialect, Dialects, Parser, Turn};

use crate::exit::Exit;
use crate::folders;
use crate::input::read_text;

/// The dialects of this run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Catalog {
    all: &'static Dialects,
}

/// Which dialect to read: one, or whichever it is.
#[derive(Debug, Clone)]
pub(crate) enum Choice {
    Auto,
    One(Arc<Dialect>),
}

/// A description of the user's own.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Catalog {
    /// The built-in dialects, those in the user's configuration, and those in `folder`.
    pub(crate) fn load(folder: Option<&Path>) -> Result<Self> {
        let mut own = Vec::new();
        if let Some(configured) = configured().filter(|folder| folder.is_dir()) {
            own.extend(descriptions(&configured)?);
        }
        if let Some(folder) = folder {
            own.extend(descriptions(folder)?);
        }
        if own.is_empty() {
            return Ok(Self { all: Dialects::builtin() });
        }
        let pairs = own.iter().map(|own| (own.name.as_str(), own.text.as_str()));
        let all = Dialects::with(pairs).map_err(|error| in_its_file(&error, &own))?;
        // One catalog a run: it lives as long as the program does.
        Ok(Self { all: Box::leak(Box::new(all)) })
    }

    pub(crate) fn all(self) -> &'static Dialects {
        self.all
    }

    /// The dialect that `name` means; `auto` is no dialect.
    pub(crate) fn get(self, name: &str) -> Result<&'static Arc<Dialect>> {
        self.all.get(name).ok_or_else(|| {
            Exit::Usage.because(format!("expected the name of a dialect, got `{name}`; {}", self.hint(name)))
        })
    }

    /// What `name` asks to be read: `auto`, or a dialect.
    pub(crate) fn choose(self, name: &str) -> Result<Choice> {
        if name == "auto" { Ok(Choice::Auto) } else { Ok(Choice::One(Arc::clone(self.get(name)?))) }
    }

    /// What to do about a name that is none.
    pub(crate) fn hint(self, name: &str) -> String {
        let list = "`del dialects` lists all";
        match self.all.similar(name).as_slice() {
            [] => list.to_owned(),
            near => format!("did you mean {}? {list}", near.join(", ")),
        }
    }

    /// A parser for one answer.
    pub(crate) fn parser(self, choice: &Choice, turn: Turn) -> Parser {
        match choice {
            Choice::Auto => self.all.parser(turn),
            Choice::One(dialect) => dialect.parser(turn),
        }
    }
}

impl Description {
    /// A description in `path`: it is named like the file, or like the folder of a `dialect.toml`.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = read_text(path, Exit::Configuration)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder =
            || Some(std::path::absolute(path).ok()?.parent()?.file_name()?.to_string_lossy().into_owned());
        let name = if stem == "dialect" { folder().unwrap_or(stem) } else { stem };
        Ok(Self { name, path: path.to_owned(), text })
    }
}

/// The folder of the user's own dialects, whether it is there or not.
fn configured() -> Option<PathBuf> {
    Some(folders::configuration()?.join("dialects"))
}

/// The descriptions in a folder: `NAME.toml` and `NAME/dialect.toml`, by name.
fn descriptions(folder: &Path) -> Result<Vec<Description>> {
    let unreadable = |error: std::io::Error| {
        let reason = crate::input::plain(&error);
        Exit::Configuration.because(format!("cannot read the dialects in {}: {reason}", folder.display()))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let inner = path.join("dialect.toml");
        if inner.is_file() {
            found.push(Description::read(&inner)?);
        } else if path.is_file() && path.extension().is_some_and(|extension| extension == "toml") {
            found.push(Description::read(&path)?);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn in_its_file(error: &AddError, own: &[Description]) -> anyhow::Error {
    let path = |name: &str| {
        let found = own.iter().rev().find(|own| own.name == name);
        found.map_or_else(|| name.to_owned(), |own| own.path.display().to_string())
    };
    Exit::Configuration.because(match error {
        AddError::Description { name, error } => format!("{}:{}: {}", path(name), error.line, error.message),
        AddError::Taken { name } => {
            format!("{}: the name `{name}` is taken by another dialect; rename the file", path(name))
        }
    })
}
