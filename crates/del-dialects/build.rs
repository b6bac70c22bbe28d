//! Lists the folders of `dialects/`: a new folder is a new built-in dialect.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=dialects");
    let mut names = Vec::new();
    for entry in fs::read_dir("dialects")? {
        let entry = entry?;
        println!("cargo::rerun-if-changed={}", entry.path().display());
        if entry.path().join("dialect.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let mut list = String::from("&[\n");
    let mut cases = String::from("&[\n");
    for name in names {
        let folder = Path::new(&root).join("dialects").join(&name);
        let path = folder.join("dialect.toml");
        println!("cargo::rerun-if-changed={}", path.display());
        let file = path.to_string_lossy();
        writeln!(list, "    ({name:?}, include_str!({file:?})),").map_err(io::Error::other)?;
        let count = count_cases(&folder.join("cases"))?;
        writeln!(cases, "    ({name:?}, {count}),").map_err(io::Error::other)?;
    }
    list.push(']');
    cases.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("builtin.rs"), list)?;
    fs::write(Path::new(&out).join("cases.rs"), cases)
}

/// How many files of cases a folder holds; none when there is no folder.
fn count_cases(folder: &Path) -> io::Result<usize> {
    if !folder.is_dir() {
        return Ok(0);
    }
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let is_case = entry?.path().extension().is_some_and(|extension| extension == "toml");
        count += usize::from(is_case);
    }
    Ok(count)
}
