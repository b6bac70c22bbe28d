//! Names of dialects.

use std::collections::BTreeMap;

use super::check::DialectError;
use super::table::Field;

/// Words that stand where a name does, and mean no dialect.
const WORDS: [&str; 2] = ["auto", "openai-native"];

/// A name as it is compared.
pub(crate) fn plain(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('_', "-")
}

/// Checks that a dialect can be asked for by this name; `Err` holds what was expected.
pub(super) fn check(name: &str) -> Result<(), &'static str> {
    if WORDS.contains(&plain(name).as_str()) {
        return Err("a name of its own, as this one is taken");
    }
    if name.is_empty() || name.trim() != name || name.contains(|c: char| c.is_control() || c == '/') {
        return Err("a name without slashes, control characters, and white space at its ends");
    }
    Ok(())
}

impl Field<'_> {
    /// Names of the dialect, by the engines that have them.
    pub(super) fn aliases(self) -> Result<BTreeMap<String, Vec<String>>, DialectError> {
        let mut all = BTreeMap::new();
        for field in self.table()?.entries() {
            let names = field.strings()?;
            for name in &names {
                let of = &field.key;
                check(name).map_err(|expected| {
                    field.error(format!("expected {expected}, for `{of}`, got {name:?}"))
                })?;
            }
            all.insert(field.key.clone(), names);
        }
        Ok(all)
    }
}
