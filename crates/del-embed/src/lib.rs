//! For build scripts: the descriptions in a folder, as a list that is compiled in.
//!
//! A new file in the folder is a new entry, and nobody has to name it anywhere else. The build script calls
//! [`descriptions`], and the crate takes what it wrote:
//!
//! ```ignore
//! static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/languages.rs"));
//! ```
#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Writes the TOML files below `folder` of the crate that is built to `folder.rs` of its output: a slice of pairs of
/// name and text, in the order of the names. A file's name is its path in the folder without the extension:
/// `rust`, `linters/ruff`.
///
/// # Errors
/// When the folder cannot be read, a path is no UTF-8, or it is not a build script that asks.
pub fn descriptions(folder: &str) -> io::Result<()> {
    let variable = |name| env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")));
    let (root, out) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
    let base = Path::new(&root).join(folder);
    let mut files = Vec::new();
    collect(&base, &mut files)?;
    fs::write(Path::new(&out).join(format!("{folder}.rs")), list(&base, &files)?)
}

/// The TOML files below `folder`. Cargo is told to look at each file and each folder again.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
    Ok(())
}

/// The pairs as an expression of Rust.
fn list(base: &Path, files: &[PathBuf]) -> io::Result<String> {
    let mut pairs = Vec::new();
    for path in files {
        let wrong = || io::Error::other(format!("expected a path in UTF-8, got {}", path.display()));
        let name = path.strip_prefix(base).map_err(io::Error::other)?.with_extension("");
        pairs.push((name.to_str().ok_or_else(wrong)?.to_owned(), path.to_str().ok_or_else(wrong)?));
    }
    pairs.sort();
    let mut out = String::from("&[\n");
    for (name, path) in pairs {
        writeln!(out, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    out.push(']');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_by_name_whatever_the_folder_says() {
        let base = Path::new("/a/programs");
        let files = ["linters/b.toml", "c.toml", "a \"1\".toml"].map(|name| base.join(name));
        let expected = concat!(
            "&[\n    (\"a \\\"1\\\"\", include_str!(\"/a/programs/a \\\"1\\\".toml\")),\n",
            "    (\"c\", include_str!(\"/a/programs/c.toml\")),\n",
            "    (\"linters/b\", include_str!(\"/a/programs/linters/b.toml\")),\n]",
        );
        assert_eq!(list(base, &files).unwrap(), expected);
    }
}
