//! Reads the folders of `dialects/`: a new folder is a new built-in dialect. A description that is none fails the build;
//! the others become tables that are there when the program starts.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use library::{dialect, scan};
use toml::{Table, Value};

/// What reads and checks descriptions, in the library as well.
#[path = "src"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "the library uses the rest of it")]
mod library {
    pub(crate) mod dialect;
    pub(crate) mod scan {
        pub(crate) mod suffix;
    }
}

/// A built-in dialect.
struct Folder {
    name: String,
    path: PathBuf,
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=dialects");
    println!("cargo::rerun-if-changed=src/dialect.rs");
    println!("cargo::rerun-if-changed=src/dialect");
    println!("cargo::rerun-if-changed=src/scan/suffix.rs");
    let folders = folders(Path::new("dialects"))?;
    let mut sources = String::from("&[\n");
    let mut cases = String::from("&[\n");
    let mut tables = String::from("&[\n");
    for Folder { name, path, text } in &folders {
        let file = path.join("dialect.toml");
        println!("cargo::rerun-if-changed={}", file.display());
        let wrong = |line, message: String| format!("{}:{line}: {message}", file.display());
        let dialect =
            dialect::Dialect::from_toml(name, text).map_err(|error| wrong(error.line, error.message))?;
        if let Some(other) = dialect.reads.iter().find(|other| folders.iter().all(|all| all.name != **other))
        {
            return Err(wrong(1, format!("expected `reads` to name dialects, got `{other}`")).into());
        }
        let place = fs::canonicalize(&file)?;
        writeln!(sources, "    ({name:?}, include_str!({:?})),", place.to_string_lossy())?;
        writeln!(cases, "    ({name:?}, {}),", count_cases(&path.join("cases"))?)?;
        write_table(&text.parse()?, &mut tables)?;
        tables.push_str(",\n");
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for (file, mut list) in [("builtin.rs", sources), ("cases.rs", cases), ("tables.rs", tables)] {
        list.push(']');
        fs::write(out.join(file), list)?;
    }
    Ok(())
}

fn folders(root: &Path) -> io::Result<Vec<Folder>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        println!("cargo::rerun-if-changed={}", path.display());
        let file = path.join("dialect.toml");
        if file.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            folders.push(Folder { name, text: fs::read_to_string(file)?, path });
        }
    }
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(folders)
}

/// Writes a table as a constant of the library.
fn write_table(table: &Table, out: &mut String) -> Result<(), Box<dyn Error>> {
    out.push_str("Table(&[");
    for (key, value) in table {
        write!(out, "({key:?}, ")?;
        write_value(value, out)?;
        out.push_str("), ");
    }
    out.push_str("])");
    Ok(())
}

fn write_value(value: &Value, out: &mut String) -> Result<(), Box<dyn Error>> {
    match value {
        Value::String(text) => write!(out, "Text({text:?})")?,
        Value::Integer(number) => write!(out, "Number({number})")?,
        Value::Boolean(truth) => write!(out, "Truth({truth})")?,
        Value::Array(list) => {
            out.push_str("List(&[");
            for value in list {
                write_value(value, out)?;
                out.push_str(", ");
            }
            out.push_str("])");
        }
        Value::Table(table) => write_table(table, out)?,
        Value::Float(_) | Value::Datetime(_) => {
            return Err(format!("expected texts, integers and truth values, got {value:?}").into());
        }
    }
    Ok(())
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
