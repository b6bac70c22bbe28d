//! What is kept beside a description: its text, and what the modules above make of it once.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::record::Stored;

/// What is made of a dialect when it is first needed; a copy begins without. It says nothing of what the dialect is.
#[derive(Debug, Default)]
pub(crate) struct Once {
    /// The TOML text.
    pub(crate) text: Cow<'static, str>,
    /// The parser's plan.
    pub(crate) plan: Memo,
    /// The marks of all dialects and of this one, where it is none of the built-in ones.
    pub(crate) marks: Memo,
    /// Whether it reads what it writes.
    pub(crate) sound: OnceLock<bool>,
}

impl Clone for Once {
    fn clone(&self) -> Self {
        Self { text: self.text.clone(), ..Self::default() }
    }
}

impl PartialEq for Once {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Once {}

/// Not kept with the description.
impl Stored for Once {
    fn store(&self, _: &mut Vec<u8>) {}

    fn load(_: &mut &[u8]) -> Option<Self> {
        Some(Self::default())
    }
}

/// One value of a type that only the module knows which makes it.
#[derive(Debug, Default)]
pub(crate) struct Memo(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Memo {
    /// The value, made by `make` at the first time.
    pub(crate) fn get<T: Any + Send + Sync>(&self, make: impl Fn() -> T) -> Arc<T> {
        let value = Arc::clone(self.0.get_or_init(|| Arc::new(make())));
        value.downcast().unwrap_or_else(|_| Arc::new(make()))
    }
}
