//! Reads the descriptions in `dialects/`: a new folder is a new built-in dialect, and a wrong one does not build.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

/// The part of the library that reads descriptions; what else it does is for the library.
#[path = "src"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "most of it is for the library")]
mod library {
    pub(crate) mod dialect;
}

use library::dialect;

use dialect::{Dialect, Stored};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/dialect.rs");
    println!("cargo::rerun-if-changed=src/dialect");
    println!("cargo::rerun-if-changed=dialects");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("dialects");
    let mut names = Vec::new();
    for entry in fs::read_dir(&root)? {
        let entry = entry?;
        if entry.path().join("dialect.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    let mut list = String::from("&[\n");
    for name in &names {
        let path = root.join(name).join("dialect.toml");
        let text = fs::read_to_string(&path)?;
        let read = Dialect::read(name, &text, &|other| names.iter().any(|name| name == other));
        let dialect = read.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        let mut bytes = Vec::new();
        dialect.store(&mut bytes);
        let cases = count_cases(&root.join(name).join("cases"))?;
        // A clone that is moved with what was built of it is compiled again.
        let file = format!("/dialects/{name}/dialect.toml");
        let text = format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))");
        writeln!(list, "({name:?}, {cases}, {text}, b\"{}\"),", bytes.escape_ascii())
            .map_err(io::Error::other)?;
    }
    list.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("builtin.rs"), list)
}

/// How many files of cases a folder holds; none when there is no folder.
fn count_cases(folder: &Path) -> io::Result<usize> {
    if !folder.is_dir() {
        return Ok(0);
    }
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let is_case = entry?.path().extension().is_some_and(|extension| extension == "toml");
        count += usize::from(is_case);
    }
    Ok(count)
}
