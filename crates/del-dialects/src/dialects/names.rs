//! Which dialect a name means.

use std::collections::HashMap;
use std::sync::Arc;

use crate::dialect::Dialect;

/// The names of dialects, each with the place of its dialect in the list that they are from.
#[derive(Debug)]
pub(super) struct Names {
    /// Own names, and beside them what any engine says.
    all: HashMap<String, usize>,
    /// What one engine says.
    engines: HashMap<String, HashMap<String, usize>>,
}

impl Names {
    /// A dialect's own name wins over what another engine calls a dialect, and an earlier one over a later one.
    pub(super) fn of(list: &[Arc<Dialect>]) -> Self {
        let (mut all, mut engines) = (HashMap::new(), HashMap::<_, HashMap<_, _>>::new());
        for (place, dialect) in list.iter().enumerate() {
            all.entry(plain(&dialect.name)).or_insert(place);
        }
        for (place, dialect) in list.iter().enumerate() {
            for (engine, aliases) in &dialect.aliases {
                let names = engines.entry(engine.clone()).or_default();
                for alias in aliases {
                    all.entry(plain(alias)).or_insert(place);
                    names.entry(plain(alias)).or_insert(place);
                }
            }
        }
        Self { all, engines }
    }

    /// The place of the dialect with this name, before which an engine and a colon may stand.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        let (names, name) = match name.split_once(':') {
            Some((engine, name)) => (self.engines.get(&engine.to_ascii_lowercase())?, name),
            None => (&self.all, name),
        };
        names.get(&plain(name)).copied()
    }
}

/// A name as it is compared.
pub(super) fn plain(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('_', "-")
}
