//! Writes the description of a dialect that was found, and its cases.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use del_detect::cases::WRITTEN;
use del_detect::{Description, Found};
use del_tools::counted;

use crate::catalog::Catalog;
use crate::exit::Exit;
use crate::say;

/// Where the cases of a description are: `cases` beside a `dialect.toml`, else `NAME.cases` beside `NAME.toml`.
pub(crate) fn cases(path: &Path) -> PathBuf {
    if path.file_stem().is_some_and(|stem| stem == "dialect") {
        path.with_file_name("cases")
    } else {
        path.with_extension("cases")
    }
}

/// Writes the description of a new dialect; where a known one fits, a copy of that.
pub(crate) fn write(path: &Path, found: &Found, catalog: Catalog) -> Result<Exit> {
    let known = found.report.dialect.as_deref().and_then(|name| catalog.all().get(name));
    match (&found.description, known) {
        (Some(description), _) => {
            put(path, &description.toml)?;
            let folder = cases(path);
            remove_written(&folder)?;
            for case in &description.cases {
                put(&folder.join(&case.name), &case.toml)?;
            }
            tell(path, description);
        }
        (None, Some(known)) => {
            put(path, known.text())?;
            remove_written(&cases(path))?;
            say(format!("{}: a copy of {}, which fits", path.display(), known.name()));
        }
        (None, None) => {
            let why = match &found.undescribed {
                Some(why) => format!("there are calls, but in no form that can be described: {why}"),
                None => "there are no calls to describe".to_owned(),
            };
            return Err(Exit::Failed.because(format!("{} was not written: {why}", path.display())));
        }
    }
    Ok(Exit::Done)
}

/// What the description that was written is worth.
fn tell(path: &Path, description: &Description) {
    let copy = match &description.copy_of {
        Some(known) => format!("a copy of {known}, which fits; it "),
        None => String::new(),
    };
    let (read, turns) = (description.read, description.turns);
    let cases = match description.cases.len() {
        0 => "there are no cases, as none of them is read with nothing left over".to_owned(),
        _ => format!("cases are in {}", cases(path).display()),
    };
    say(format!("{}: {copy}reads {read} of {} cleanly; {cases}", path.display(), counted(turns, "turn")));
    if !description.missed.is_empty() {
        say(format!("not read cleanly: {}", description.missed.join(", ")));
    }
    description.open.iter().for_each(|open| say(format!("open: {open}")));
}

/// Removes the cases that an earlier run wrote; those of people stay.
fn remove_written(folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let number = stem.split('-').next().unwrap_or_default();
        let numbered = number.len() > 1
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && path.extension().is_some_and(|ending| ending == "toml");
        let text = if numbered { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        if text.lines().next().is_some_and(is_own) {
            fs::remove_file(&path).map_err(|error| {
                let why = crate::input::plain(&error);
                Exit::Failed
                    .because(format!("cannot remove {}, which an earlier run wrote: {why}", path.display()))
            })?;
        }
    }
    Ok(())
}

/// The first line of a case that was written here.
fn is_own(line: &str) -> bool {
    line.starts_with("about = \"") && line.ends_with(WRITTEN)
}

fn put(path: &Path, text: &str) -> Result<()> {
    let unwritable = |error: std::io::Error| {
        Exit::Failed.because(format!("cannot write {}: {}", path.display(), crate::input::plain(&error)))
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    fs::write(path, text).map_err(unwritable)
}
