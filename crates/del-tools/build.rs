//! Lists the files of `programs/`: a new file is a formatter, a linter, a runner of tests or a form of their summaries.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=programs");
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let mut files = Vec::new();
    for folder in fs::read_dir("programs")? {
        let folder = folder?.path();
        println!("cargo::rerun-if-changed={}", folder.display());
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = |path: Option<&std::ffi::OsStr>| path.unwrap_or_default().to_string_lossy().into_owned();
        let folder = name(file.parent().and_then(Path::file_name));
        let (stem, path) = (name(file.file_stem()), Path::new(&root).join(&file));
        println!("cargo::rerun-if-changed={}", file.display());
        writeln!(list, "    ({folder:?}, {stem:?}, include_str!({:?})),", path.to_string_lossy())
            .map_err(io::Error::other)?;
    }
    list.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("programs.rs"), list)
}
