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
    for name in names {
        let path = Path::new(&root).join("dialects").join(&name).join("dialect.toml");
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(list, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    list.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("builtin.rs"), list)
}
