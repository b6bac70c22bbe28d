//! What the modules above make of a description once, and keep with it.

use std::any::Any;
use std::sync::{Arc, OnceLock};

/// What is made of a dialect when it is first needed; a copy begins without.
#[derive(Debug, Default)]
pub(crate) struct Once {
    /// The parser's plan.
    pub(crate) plan: Memo,
    /// The marks of all dialects and of this one, where it is none of the built-in ones.
    pub(crate) marks: Memo,
    /// Whether it reads what it writes.
    pub(crate) sound: OnceLock<bool>,
}

impl Clone for Once {
    fn clone(&self) -> Self {
        Self::default()
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
