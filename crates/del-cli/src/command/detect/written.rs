//! Writes the description of a dialect that was found, and its cases.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use del_detect::{Description, Report};

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
pub(crate) fn write(
    path: &Path,
    report: &Report,
    description: Option<&Description>,
    catalog: Catalog,
) -> Result<Exit> {
    let known = report.dialect.as_deref().and_then(|name| catalog.all().get(name));
    match (description, known) {
        (Some(description), _) => {
            put(path, &description.toml)?;
            let folder = cases(path);
            for case in &description.cases {
                put(&folder.join(&case.name), &case.toml)?;
            }
            let (read, turns) = (description.read, description.turns);
            let (file, folder) = (path.display(), folder.display());
            match &description.copy_of {
                Some(known) => say(format!(
                    "{file}: a copy of {known}, which fits; it reads {read} of {turns} turns; cases are in {folder}"
                )),
                None => say(format!("{file}: reads {read} of {turns} turns; cases are in {folder}")),
            }
            description.open.iter().for_each(|open| say(format!("open: {open}")));
        }
        (None, Some(known)) => {
            put(path, &known.text)?;
            say(format!("{}: a copy of {}, which fits", path.display(), known.name));
        }
        (None, None) => {
            return Err(Exit::Failed
                .because(format!("{} was not written: there are no calls to describe", path.display())));
        }
    }
    Ok(Exit::Done)
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
