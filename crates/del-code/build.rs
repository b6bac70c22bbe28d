//! Lists the files of `languages/`: a new file is a language that is read.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=languages");
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let mut files = Vec::new();
    for entry in fs::read_dir("languages")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(Path::new(&root).join(path));
        }
    }
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let (path, name) = (file.to_string_lossy(), file.file_stem().unwrap_or_default().to_string_lossy());
        println!("cargo::rerun-if-changed={path}");
        writeln!(list, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    list.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("languages.rs"), list)
}
