//! Where in the files the values stand that count for this run. What is wrong with some of them shows only when they are used,
//! such as the name of a dialect or a directory.

use std::sync::{Mutex, PoisonError};

use super::{OF_PROJECT, Origin, Setting, path};
use crate::exit::Exit;

/// The settings that count: none that the command line says otherwise.
static COUNTING: Mutex<Vec<Setting>> = Mutex::new(Vec::new());

/// From now on these count.
pub(super) fn keep(settings: Vec<Setting>) {
    *COUNTING.lock().unwrap_or_else(PoisonError::into_inner) = settings;
}

/// The error that a value of an option came to: with its place in a file, where one says it.
pub(crate) fn blame(key: &str, value: &str, error: anyhow::Error) -> anyhow::Error {
    let counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let says =
        |setting: &&Setting| setting.key.name == key && setting.values.iter().any(|said| said == value);
    match counting.iter().find(says) {
        Some(setting) => Exit::Configuration.because(format!("{}: {key}: {error}", place(setting))),
        None => error,
    }
}

fn place(Setting { line, origin, .. }: &Setting) -> String {
    let own = path().filter(|_| *origin != Origin::Project);
    let file = own.map_or_else(|| OF_PROJECT.to_owned(), |path| path.display().to_string());
    format!("{file}:{line}")
}
