//! Which files are worked on, and what they are called afterwards.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::BulkError;

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

/// The files that `paths` mean: each file itself, and of a directory all files of a known kind, however deep, in the order
/// of their names. What begins with a dot or an underscore there is left out, as all readers of such directories do.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, BulkError> {
    let mut found = Vec::new();
    for path in paths {
        let failed = |error| BulkError::Read { path: path.clone(), error };
        if fs::metadata(path).map_err(failed)?.is_dir() {
            below(path, Path::new(""), &mut found).map_err(failed)?;
            continue;
        }
        let name = path.file_name().map_or_else(PathBuf::new, PathBuf::from);
        let Some(kind) = kind(&name) else {
            let got = path.display();
            let expected = ".parquet, .jsonl or .ndjson, the last two also with .zst behind them";
            return Err(BulkError::Arguments(format!("{got}: expected a file that ends in {expected}")));
        };
        found.push(Source { path: path.clone(), name, kind });
    }
    let mut names: Vec<&Path> = found.iter().map(|source| source.name.as_path()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let name = twice[0].display();
        return Err(BulkError::Arguments(format!("expected files of different names, got {name} twice")));
    }
    if found.is_empty() {
        return Err(BulkError::Arguments("expected files of Parquet or JSON lines, got none".to_owned()));
    }
    Ok(found)
}

fn below(root: &Path, inner: &Path, found: &mut Vec<Source>) -> io::Result<()> {
    let mut names: Vec<_> =
        fs::read_dir(root.join(inner))?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    names.sort();
    for name in names {
        if matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_')) {
            continue;
        }
        let name = inner.join(name);
        let path = root.join(&name);
        let what = fs::metadata(&path)?;
        if what.is_dir() {
            below(root, &name, found)?;
        } else if let Some(kind) = kind(&name).filter(|_| what.is_file()) {
            found.push(Source { path, name, kind });
        }
    }
    Ok(())
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
        let found = sources(&[directory.path().to_owned()]).unwrap();
        let names: Vec<_> = found.iter().map(|source| (source.name.to_str().unwrap(), source.kind)).collect();
        let lines = |packed| Kind::Lines { packed };
        assert_eq!(
            names,
            [("a/x.jsonl.zst", lines(true)), ("b.parquet", Kind::Parquet), ("c.ndjson", lines(false))]
        );

        let refused = |paths: &[&str]| {
            let paths: Vec<_> = paths.iter().map(|path| directory.path().join(path)).collect();
            sources(&paths).unwrap_err().to_string()
        };
        assert!(refused(&["a/notes.txt"]).contains("expected a file that ends in .parquet"));
        assert!(refused(&["b.parquet", "b.parquet"]).contains("b.parquet twice"));
        assert!(refused(&["none.parquet"]).contains("none.parquet"));
    }
}
