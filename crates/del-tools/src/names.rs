//! Names in the files of `programs`.

use serde::Deserialize;

/// Names between blanks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Names(Vec<String>);

impl From<String> for Names {
    fn from(text: String) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }
}

impl Names {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|own| own == name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
