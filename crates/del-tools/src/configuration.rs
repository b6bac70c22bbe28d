//! What a project tells its formatters and linters, held to the directories that the tools work in.
//!
//! A program that runs before anybody was asked gets copies: a tree of its own with the files of configuration that it
//! would find, at the same paths, so that nothing in it leads elsewhere and nothing is swapped under it.

mod named;

use std::collections::HashSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use tempfile::TempDir;

use crate::context::Context;
use crate::names::Names;
use crate::outcome::{Code, Failure};
use crate::targets::{small, upward};
use crate::workspace::{Access, without_home};

/// Files that take over from each other.
const MAX_CHAIN: usize = 8;
/// Files that are looked at for what they name.
const MAX_FILES: usize = 64;

/// The files in which a project configures a program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configuration {
    /// The names of the files, the better ones first.
    names: Names,
    /// Others that it reads beside them.
    #[serde(default)]
    beside: Names,
    /// The table that such a file must have where it is also for other programs: `tool.ruff`.
    #[serde(default)]
    table: String,
    /// Keys whose values name further files.
    #[serde(default)]
    leads: Names,
    /// What makes the program look for further files by itself, which it may not.
    #[serde(default)]
    climbs: String,
    /// Files of all directories count, not only the nearest.
    #[serde(default)]
    every: bool,
    /// What the program is told of the nearest: `{file}` stands for it.
    #[serde(default)]
    given: Vec<String>,
    /// What it is told where there is none.
    #[serde(default)]
    none: Vec<String>,
}

/// A file of configuration.
struct Found {
    path: PathBuf,
    text: String,
}

impl Configuration {
    /// Refuses where a file that the program would read, in `directory` or above, leads out.
    pub(crate) fn check(&self, directory: &Path, context: &Context) -> Result<(), Failure> {
        let mut seen = HashSet::new();
        let names = || self.names.iter().chain(self.beside.iter());
        for path in upward(directory, context).flat_map(|place| names().map(|name| place.join(name))) {
            if let Some(found) = read(&path, context)? {
                self.stays_inside(&found, context, &mut seen)?;
            }
        }
        Ok(())
    }

    /// What a program says that failed, unless it may be of a file above the working directory, where it looks as well.
    pub(crate) fn complaint(&self, said: String, context: &Context) -> String {
        let above = context.workspace.root().ancestors().skip(1);
        let names = || self.names.iter().chain(self.beside.iter());
        let mut files = above.flat_map(|place| names().map(move |name| place.join(name)));
        match files.find(|file| fs::symlink_metadata(file).is_ok()) {
            Some(file) => {
                let file = without_home(&file);
                format!(
                    "What it said is not shown: it may be of {file}, which lies outside of the working directory."
                )
            }
            None => said,
        }
    }

    /// The words that tell the program of its configuration, which has to be inside.
    pub(crate) fn words(&self, directory: &Path, context: &Context) -> Result<Vec<String>, Failure> {
        self.check(directory, context)?;
        let nearest = self.nearest(directory, context)?;
        let exists = |place: &Path| self.beside.iter().any(|name| place.join(name).exists());
        if nearest.is_none() && upward(directory, context).any(exists) {
            return Ok(Vec::new());
        }
        Ok(self.given_as(nearest.as_ref().map(|found| found.path.as_path())))
    }

    fn given_as(&self, file: Option<&Path>) -> Vec<String> {
        let Some(file) = file else { return self.none.clone() };
        self.given.iter().map(|word| word.replace("{file}", &file.to_string_lossy())).collect()
    }

    fn nearest(&self, directory: &Path, context: &Context) -> Result<Option<Found>, Failure> {
        for place in upward(directory, context) {
            for name in self.names.iter() {
                if let Some(found) = read(&place.join(name), context)?
                    && self.counts(&found)?
                {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Whether a file that may be for other programs says something to this one.
    fn counts(&self, found: &Found) -> Result<bool, Failure> {
        if self.table.is_empty() || !is_shared(&found.path) {
            return Ok(true);
        }
        let parsed = parsed(found)?;
        Ok(at(&parsed, self.table.split('.')).is_some())
    }

    /// Refuses a file that names one outside, itself or through those that it names.
    fn stays_inside(
        &self,
        found: &Found,
        context: &Context,
        seen: &mut HashSet<PathBuf>,
    ) -> Result<(), Failure> {
        if !seen.insert(found.path.clone()) {
            return Ok(());
        }
        if seen.len() > MAX_FILES {
            let cause = format!("{} names more than {MAX_FILES} files.", without_home(&found.path));
            return Err(Failure::new(Code::TooLarge, cause));
        }
        let directory = found.path.parent().unwrap_or(&found.path);
        for value in named::values(&found.path, &found.text, &self.leads)? {
            if value.starts_with(['~', '$']) {
                return Err(leads_out(&found.path, &value));
            }
            let path = directory.join(&value);
            match context.workspace.resolve(&path.to_string_lossy(), Access::Read) {
                Err(failure) if failure.code == Code::Outside => {
                    return Err(leads_out(&found.path, &value));
                }
                Ok(place) if place.exists => {
                    // A directory, or a program, is not what names further files.
                    if let Ok(Some(text)) = small(&place, context) {
                        self.stays_inside(&Found { path: plain(&path), text }, context, seen)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A tree of copies of what the project says to a program.
#[derive(Debug)]
pub(crate) struct Copies {
    top: TempDir,
}

impl Copies {
    /// An empty tree, where programs that only look can read it.
    pub(crate) fn new(context: &Context) -> Result<Self, Failure> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("del-format-").permissions(Permissions::from_mode(0o700));
        let top = match context.sandbox.scratch() {
            Some(scratch) => builder.tempdir_in(scratch),
            None => builder.tempdir(),
        };
        let top = top.map_err(|error| unwritten(&error))?;
        // Nothing above the tree counts.
        fs::write(top.path().join(".editorconfig"), "root = true\n").map_err(|error| unwritten(&error))?;
        Ok(Self { top })
    }

    /// Where the copy of `path` is, or would be.
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        let mut inner = self.top.path().to_owned();
        inner.extend(path.components().filter(|part| matches!(part, Component::Normal(_))));
        inner
    }

    /// The same text without the tree in its paths.
    pub(crate) fn named(&self, text: &str) -> String {
        text.replace(&*self.top.path().to_string_lossy(), "")
    }

    /// Copies what counts for files in `directory`, and gives the words that tell the program of it.
    pub(crate) fn take(
        &self,
        configuration: &Configuration,
        directory: &Path,
        context: &Context,
    ) -> Result<Vec<String>, Failure> {
        let inner = self.path(directory);
        fs::create_dir_all(&inner).map_err(|error| unwritten(&error))?;
        if configuration.every {
            for place in upward(directory, context) {
                for name in configuration.names.iter() {
                    if let Some(found) = read(&place.join(name), context)? {
                        self.copy(configuration, &found, context, 0)?;
                    }
                }
            }
            return Ok(Vec::new());
        }
        let Some(found) = configuration.nearest(directory, context)? else {
            return Ok(configuration.none.clone());
        };
        self.copy(configuration, &found, context, 0)?;
        Ok(configuration.given_as(Some(&self.path(&found.path))))
    }

    /// Copies a file and those that it names.
    fn copy(
        &self,
        configuration: &Configuration,
        found: &Found,
        context: &Context,
        depth: usize,
    ) -> Result<(), Failure> {
        let shown = without_home(&found.path);
        if !configuration.climbs.is_empty() && found.text.contains(&configuration.climbs) {
            let cause = format!(
                "{shown} says {}, which may lead out of the working directory; it is not followed.",
                configuration.climbs
            );
            return Err(Failure::new(Code::Outside, cause));
        }
        for value in configuration.followed(found)? {
            // What is expanded or absolute would not be looked for among the copies.
            if value.starts_with(['~', '/']) || value.contains('$') {
                return Err(leads_out(&found.path, &value));
            }
            if depth == MAX_CHAIN {
                let cause = format!("{shown} extends more than {MAX_CHAIN} files.");
                return Err(Failure::new(Code::TooLarge, cause));
            }
            let path = plain(&found.path.parent().unwrap_or(&found.path).join(&value));
            if let Some(next) = read(&path, context)? {
                self.copy(configuration, &next, context, depth + 1)?;
            }
        }
        let path = self.path(&found.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| unwritten(&error))?;
        }
        fs::write(path, &found.text).map_err(|error| unwritten(&error))
    }
}

impl Configuration {
    /// The files that a file names, read as the program reads it.
    fn followed(&self, found: &Found) -> Result<Vec<String>, Failure> {
        if self.leads.is_empty() {
            return Ok(Vec::new());
        }
        let parsed = parsed(found)?;
        let table = if is_shared(&found.path) { at(&parsed, self.table.split('.')) } else { Some(&parsed) };
        let values = self.leads.iter().filter_map(|key| table?.get(key));
        Ok(values.filter_map(toml::Value::as_str).map(str::to_owned).collect())
    }
}

/// The file at `path`, if there is one. One that lies outside, or is no plain text file, is refused.
fn read(path: &Path, context: &Context) -> Result<Option<Found>, Failure> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    let place = context.workspace.resolve(&path.to_string_lossy(), Access::Read).map_err(|failure| {
        let cause = format!("{} is configuration that cannot be used: {}", without_home(path), failure.cause);
        Failure::new(failure.code, cause)
    })?;
    Ok(small(&place, context)?.map(|text| Found { path: path.to_owned(), text }))
}

fn parsed(found: &Found) -> Result<toml::Value, Failure> {
    named::parsed(&found.path, &found.text)
}

fn at<'v, 'k>(value: &'v toml::Value, keys: impl Iterator<Item = &'k str>) -> Option<&'v toml::Value> {
    keys.into_iter().try_fold(value, |value, key| value.get(key))
}

/// Whether other programs are configured in files of this name too.
fn is_shared(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "pyproject.toml" || name == "package.json")
}

/// `path` without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

fn leads_out(path: &Path, value: &str) -> Failure {
    let value: String = value.chars().take(200).collect();
    let cause = format!(
        "{} names '{}', which leads out of the working directory or cannot be followed there; nothing was run.",
        without_home(path),
        crate::text::on_one_line(&value)
    );
    Failure::new(Code::Outside, cause)
}

fn unwritten(error: &std::io::Error) -> Failure {
    Failure::new(Code::System, format!("cannot write a copy of the configuration: {error}."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::tables::formatters;
    use crate::workspace::Workspace;

    struct Tree {
        top: TempDir,
        context: Context,
    }

    impl Tree {
        fn new(files: &[(&str, &str)]) -> Self {
            let top = tempfile::tempdir().unwrap();
            let work = top.path().join("work");
            fs::write(top.path().join("secret"), "key = 1\n").unwrap();
            for (name, text) in files {
                let path = work.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            fs::create_dir_all(work.join("src")).unwrap();
            let context = Context::new(Workspace::open(&work, &[]).unwrap(), Vec::new());
            Self { top, context }
        }

        fn taken(&self, program: &str) -> Result<(Copies, Vec<String>), Failure> {
            let formatter = formatters().iter().find(|own| own.program == program).unwrap();
            let copies = Copies::new(&self.context)?;
            let directory = self.context.workspace.root().join("src");
            let words = copies.take(formatter.configuration.as_ref().unwrap(), &directory, &self.context)?;
            Ok((copies, words))
        }

        fn copied(&self, copies: &Copies, name: &str) -> String {
            fs::read_to_string(copies.path(&self.context.workspace.root().join(name))).unwrap()
        }
    }

    #[test]
    fn the_nearest_configuration_is_copied_with_what_it_extends() {
        let tree = Tree::new(&[
            ("src/pyproject.toml", "[tool.other]\nextend = \"~/x\"\n"),
            ("ruff.toml", "extend = \"conf/../conf/base.toml\"\n"),
            ("conf/base.toml", "line-length = 40\n"),
        ]);
        let (copies, words) = tree.taken("ruff").unwrap();
        let copy = copies.path(&tree.context.workspace.root().join("ruff.toml"));
        assert_eq!(words, ["--config".to_owned(), copy.to_string_lossy().into_owned()]);
        assert_eq!(tree.copied(&copies, "conf/base.toml"), "line-length = 40\n");
        let (_, words) = Tree::new(&[]).taken("ruff").unwrap();
        assert_eq!(words, ["--isolated"]);
    }

    #[test]
    fn nothing_leads_out() {
        for value in ["~/.netrc", "$HOME/.netrc", "/etc/passwd", "../secret", "conf/../../secret"] {
            let extend = format!("extend = \"{value}\"\n");
            let shared = format!("[tool.ruff]\n{extend}");
            for (name, text) in
                [("ruff.toml", &extend), ("src/.ruff.toml", &extend), ("pyproject.toml", &shared)]
            {
                let tree = Tree::new(&[(name, text), ("conf/x", "")]);
                let refused = tree.taken("ruff").map(|(_, words)| words);
                // From `src` one step up is still inside.
                let inside = name.starts_with("src") && value.ends_with("../secret");
                assert_eq!(
                    refused.as_ref().err().map(|failure| failure.code),
                    (!inside).then_some(Code::Outside),
                    "{name} {value}"
                );
            }
        }
        let chain =
            Tree::new(&[("ruff.toml", "extend = \"a.toml\"\n"), ("a.toml", "extend = \"ruff.toml\"\n")]);
        assert_eq!(chain.taken("ruff").map(|_| ()).unwrap_err().code, Code::TooLarge);
    }

    #[test]
    fn links_and_pipes_are_no_configuration() {
        for (program, name) in [
            ("ruff", "ruff.toml"),
            ("black", "pyproject.toml"),
            ("rustfmt", ".rustfmt.toml"),
            ("clang-format", ".clang-format"),
            ("shfmt", ".editorconfig"),
            ("taplo", ".taplo.toml"),
        ] {
            let tree = Tree::new(&[]);
            let path = tree.top.path().join("work").join(name);
            symlink("../secret", &path).unwrap();
            assert_eq!(tree.taken(program).map(|_| ()).unwrap_err().code, Code::Outside, "{program}");
            fs::remove_file(&path).unwrap();
            rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
            assert_eq!(tree.taken(program).map(|_| ()).unwrap_err().code, Code::NotRegular, "{program}");
        }
        let climbing = Tree::new(&[(".clang-format", "BasedOnStyle: InheritParentConfig\n")]);
        assert_eq!(climbing.taken("clang-format").map(|_| ()).unwrap_err().code, Code::Outside);
    }
}
