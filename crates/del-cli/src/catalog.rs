//! The dialects of this run: the built-in ones, and the user's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use del_dialects::{Dialect, Dialects, Parser, Turn};

use crate::config::blame;
use crate::exit::Exit;
use crate::folders;
use crate::input::read_text;
use crate::say;

/// The dialects of this run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Catalog {
    all: &'static Dialects,
    /// Descriptions of the user's own that are left out.
    broken: &'static [Broken],
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

/// A description that cannot be used.
#[derive(Debug)]
struct Broken {
    name: String,
    /// What is wrong with it, and where.
    why: String,
}

impl Catalog {
    /// The built-in dialects, those in the user's configuration, and those in `folder`. What cannot be used is said and
    /// left out; it is an error only where it is asked for.
    pub(crate) fn load(folder: Option<&Path>) -> Result<Self> {
        let mut found = Vec::new();
        if let Some(configured) = configured().filter(|folder| folder.is_dir()) {
            match descriptions(&configured) {
                Ok(own) => found.extend(own),
                Err(error) => say(error),
            }
        }
        if let Some(folder) = folder {
            let own = descriptions(folder);
            found.extend(own.map_err(|error| blame("dialect_dir", &folder.to_string_lossy(), error))?);
        }
        if found.is_empty() {
            return Ok(Self { all: Dialects::builtin(), broken: &[] });
        }
        let (own, broken) = sorted(found);
        for broken in &broken {
            say(format!("{}; this dialect is left out", broken.why));
        }
        let pairs = own.iter().map(|own| (own.name.as_str(), own.text.as_str()));
        let all = Dialects::with(pairs).map_err(|error| Exit::Configuration.because(error.to_string()))?;
        // One catalog a run: it lives as long as the program does.
        Ok(Self { all: Box::leak(Box::new(all)), broken: Box::leak(broken.into_boxed_slice()) })
    }

    pub(crate) fn all(self) -> &'static Dialects {
        self.all
    }

    /// The dialect that `name` means; `auto` is no dialect.
    pub(crate) fn get(self, name: &str) -> Result<&'static Arc<Dialect>> {
        self.all.get(name).ok_or_else(|| {
            match self.broken.iter().find(|broken| is_same(&broken.name, name)) {
                Some(broken) => Exit::Configuration.because(&broken.why),
                None => {
                    let hint = self.hint(name);
                    Exit::Usage.because(format!("expected the name of a dialect, got `{name}`; {hint}"))
                }
            }
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
    /// The description in `path`; `unread` ends the run where that cannot be read.
    pub(crate) fn read(path: &Path, unread: Exit) -> Result<Self> {
        let text = read_text(path, unread)?;
        Ok(Self { name: name(path), path: path.to_owned(), text })
    }

    /// Itself if it describes a dialect.
    fn checked(self) -> Result<Self, Broken> {
        match Dialect::from_toml(&self.name, &self.text) {
            Ok(_) => Ok(self),
            Err(error) => {
                let why = format!("{}:{}: {}", self.path.display(), error.line, error.message);
                Err(Broken { name: self.name, why })
            }
        }
    }
}

/// The folder of the user's own dialects, whether it is there or not.
fn configured() -> Option<PathBuf> {
    Some(folders::configuration()?.join("dialects"))
}

/// The descriptions in a folder: `NAME.toml` and `NAME/dialect.toml`, by name; of one that cannot be read, why.
fn descriptions(folder: &Path) -> Result<Vec<Result<Description, Broken>>> {
    let unreadable = |error: std::io::Error| {
        let reason = crate::input::plain(&error);
        Exit::Configuration.because(format!("cannot read the dialects in {}: {reason}", folder.display()))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let inner = path.join("dialect.toml");
        if inner.is_file() {
            paths.push(inner);
        } else if path.is_file() && path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    let mut named: Vec<(String, PathBuf)> = paths.into_iter().map(|path| (name(&path), path)).collect();
    named.sort();
    let read = |(name, path): (String, PathBuf)| {
        Description::read(&path, Exit::Configuration).map_err(|error| Broken { name, why: error.to_string() })
    };
    Ok(named.into_iter().map(read).collect())
}

/// The descriptions that are dialects, and those that are none or have the name of another.
fn sorted(found: Vec<Result<Description, Broken>>) -> (Vec<Description>, Vec<Broken>) {
    let (mut own, mut broken): (Vec<Description>, _) = (Vec::new(), Vec::new());
    for description in found {
        let taken = |name: &str| {
            Dialects::builtin().iter().any(|known| known.name() == name)
                || own.iter().any(|known| known.name == name)
        };
        match description.and_then(Description::checked) {
            Ok(new) if taken(&new.name) => {
                let (path, name) = (new.path.display(), &new.name);
                let why = format!("{path}: the name `{name}` is taken by another dialect; rename the file");
                broken.push(Broken { why, name: new.name });
            }
            Ok(new) => own.push(new),
            Err(why) => broken.push(why),
        }
    }
    (own, broken)
}

/// The name of the description in `path`: that of the file, or of the folder of a `dialect.toml`.
fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder =
        || Some(std::path::absolute(path).ok()?.parent()?.file_name()?.to_string_lossy().into_owned());
    if stem == "dialect" { folder().unwrap_or(stem) } else { stem }
}

/// Whether two names are the same to whoever types them.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |name: &str| name.trim().to_ascii_lowercase().replace('_', "-");
    plain(one) == plain(other)
}
