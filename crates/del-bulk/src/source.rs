//! Which files are worked on, and what they are called afterwards.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{BulkError, Failure};

/// A file to work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// What it is called below the directory for outputs: its name, or its way below the directory that was named.
    pub name: PathBuf,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Parquet,
    Lines { packed: bool },
}

/// What a run works on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// The files.
    pub files: Vec<Source>,
    /// What cannot be looked at, of these and in the directories.
    pub unread: Vec<Failure>,
}

/// The files that `paths` mean: each file itself, and of a directory all files of a known kind, however deep, in the order
/// of their names. What cannot be looked at is [told of](Sources::unread), and the others are worked on. What begins with a dot or an underscore there is left out, as all readers of such directories do, and so is
/// `out`, the directory for outputs.
pub fn sources(paths: &[PathBuf], out: &Path) -> Result<Sources, BulkError> {
    let mut found = Sources::default();
    for path in paths {
        let is_folder =
            fs::metadata(path).and_then(|what| what.is_dir().then(|| path.canonicalize()).transpose());
        match is_folder {
            Ok(Some(folder)) => {
                let around = [folder].into_iter().chain(out.canonicalize());
                Walk { root: path, around: around.collect(), found: &mut found }.below(Path::new(""));
                continue;
            }
            Ok(None) => {}
            Err(error) => {
                found.unread.push(Failure { file: path.clone(), reason: error.to_string() });
                continue;
            }
        }
        let name = path.file_name().map_or_else(PathBuf::new, PathBuf::from);
        let Some(kind) = kind(&name) else {
            let got = path.display();
            let expected = ".parquet, .jsonl or .ndjson, the last two also with .zst behind them";
            return Err(BulkError::Arguments(format!("{got}: expected a file that ends in {expected}")));
        };
        found.files.push(Source { path: path.clone(), name, kind });
    }
    let mut names: Vec<&Path> = found.files.iter().map(|source| source.name.as_path()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let name = twice[0].display();
        return Err(BulkError::Arguments(format!("expected files of different names, got {name} twice")));
    }
    if found == Sources::default() {
        return Err(BulkError::Arguments("expected files of Parquet or JSON lines, got none".to_owned()));
    }
    Ok(found)
}

/// The way through a directory.
struct Walk<'a> {
    root: &'a Path,
    /// Directories that are not gone into: the one for outputs, and those that it goes through already, which links may lead to.
    around: Vec<PathBuf>,
    found: &'a mut Sources,
}

impl Walk<'_> {
    fn below(&mut self, inner: &Path) {
        let directory = self.root.join(inner);
        let listed = fs::read_dir(&directory)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>());
        let mut names = match listed {
            Ok(names) => names,
            Err(error) => return self.fail(directory, &error),
        };
        names.sort();
        for name in names {
            if matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_')) {
                continue;
            }
            let name = inner.join(name);
            let path = self.root.join(&name);
            let kind = kind(&name);
            match fs::metadata(&path) {
                Ok(what) if what.is_dir() => self.enter(&name, path),
                Ok(what) => {
                    let source = kind.filter(|_| what.is_file()).map(|kind| Source { path, name, kind });
                    self.found.files.extend(source);
                }
                // A link that leads nowhere is no directory.
                Err(error) if error.kind() == io::ErrorKind::NotFound && kind.is_none() => {}
                Err(error) => self.fail(path, &error),
            }
        }
    }

    fn enter(&mut self, inner: &Path, path: PathBuf) {
        match path.canonicalize() {
            Ok(real) if self.around.contains(&real) => {}
            Ok(real) => {
                self.around.push(real);
                self.below(inner);
                self.around.pop();
            }
            Err(error) => self.fail(path, &error),
        }
    }

    fn fail(&mut self, file: PathBuf, error: &io::Error) {
        self.found.unread.push(Failure { file, reason: error.to_string() });
    }
}

/// The kind that the end of a name says.
fn kind(name: &Path) -> Option<Kind> {
    let (stem, packed) = match name.extension().and_then(OsStr::to_str)? {
        "parquet" => return Some(Kind::Parquet),
        "zst" => (name.file_stem().map(Path::new)?, true),
        _ => (name, false),
    };
    match stem.extension().and_then(OsStr::to_str)? {
        "jsonl" | "ndjson" => Some(Kind::Lines { packed }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_stands_for_its_files_in_order() {
        let directory = tempfile::tempdir().unwrap();
        for name in [
            "b.parquet",
            "a/x.jsonl.zst",
            "a/.hidden.jsonl",
            "_SUCCESS.jsonl",
            "a/notes.txt",
            "c.ndjson",
            "d.zst",
        ] {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let out = directory.path().join("out");
        let found = sources(&[directory.path().to_owned()], &out).unwrap();
        let names: Vec<_> =
            found.files.iter().map(|source| (source.name.to_str().unwrap(), source.kind)).collect();
        let lines = |packed| Kind::Lines { packed };
        assert_eq!(
            names,
            [("a/x.jsonl.zst", lines(true)), ("b.parquet", Kind::Parquet), ("c.ndjson", lines(false))]
        );

        let refused = |paths: &[&str]| {
            let paths: Vec<_> = paths.iter().map(|path| directory.path().join(path)).collect();
            sources(&paths, &out).unwrap_err().to_string()
        };
        assert!(refused(&["a/notes.txt"]).contains("expected a file that ends in .parquet"));
        assert!(refused(&["b.parquet", "b.parquet"]).contains("b.parquet twice"));
        let missing = sources(&[directory.path().join("none.parquet")], &out).unwrap();
        assert!(missing.files.is_empty() && missing.unread[0].file.ends_with("none.parquet"), "{missing:?}");
    }

    #[test]
    fn what_is_no_source_does_not_keep_from_the_others() {
        use std::os::unix::fs::symlink;

        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["a.jsonl", "deep/b.jsonl", "read/a.jsonl", "read/deep/b.jsonl"] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), "").unwrap();
        }
        for (to, name) in [
            ("nowhere", "gone.jsonl"),
            ("nowhere", "gone"),
            ("..", "deep/up"),
            ("self", "self"),
            ("read", "again"),
        ] {
            symlink(to, path(name)).unwrap();
        }
        let found = sources(&[directory.path().to_owned()], &path("read")).unwrap();
        let names: Vec<_> = found.files.iter().map(|source| source.name.to_str().unwrap()).collect();
        assert_eq!(names, ["a.jsonl", "deep/b.jsonl"]);
        let unread: Vec<_> = found.unread.iter().map(|failure| failure.file.clone()).collect();
        assert_eq!(unread, [path("gone.jsonl"), path("self")]);
        // What is named is a source, wherever it is.
        let named = sources(&[path("read/deep")], &path("read")).unwrap();
        assert_eq!(named.files.len(), 1);
    }
}
