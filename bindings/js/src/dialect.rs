//! Dialects, by name or described anew.

use std::sync::Arc;

use del_dialects::Dialects;
use serde_json::json;
use wasm_bindgen::prelude::*;

use crate::error;

/// How a family of models writes tool calls.
#[wasm_bindgen(js_name = RawDialect)]
#[derive(Debug)]
pub struct Dialect {
    pub(crate) dialect: Arc<del_dialects::Dialect>,
}

#[wasm_bindgen(js_class = RawDialect)]
impl Dialect {
    /// A built-in dialect by its name, or by a name that another engine has for it.
    pub fn named(name: &str) -> Result<Dialect, JsValue> {
        let known = Dialects::alone(name).map_or_else(|| Dialects::builtin().named(name), Ok);
        let dialect = known.map_err(|unknown| error("unknown_dialect", &unknown.to_string()))?;
        Ok(Self { dialect: Arc::clone(dialect) })
    }

    /// The built-in dialect of a model by its id.
    #[wasm_bindgen(js_name = ofModel)]
    pub fn of_model(model: &str) -> Option<Dialect> {
        Dialects::builtin().for_model(model).map(|dialect| Self { dialect: Arc::clone(dialect) })
    }

    /// A dialect of one's own, from its description.
    #[wasm_bindgen(js_name = fromToml)]
    pub fn from_toml(name: &str, toml: &str) -> Result<Dialect, JsValue> {
        match del_dialects::Dialect::from_toml(name, toml) {
            Ok(dialect) => Ok(Self { dialect: Arc::new(dialect) }),
            Err(wrong) => Err(error("bad_description", &format_args!("{name}: {wrong}"))),
        }
    }

    /// What is said of it, as JSON.
    pub fn about(&self) -> String {
        let dialect = &self.dialect;
        json!({
            "name": dialect.name(),
            "title": dialect.title(),
            "family": dialect.family(),
            "source": dialect.source(),
            "models": dialect.models(),
            "aliases": dialect.aliases(),
            "resultsRole": dialect.results_role(),
        })
        .to_string()
    }

    /// The description.
    pub fn toml(&self) -> String {
        self.dialect.text().to_owned()
    }
}

/// The names of all built-in dialects, in the order in which `auto` prefers them.
#[wasm_bindgen]
pub fn names() -> Vec<String> {
    Dialects::builtin().iter().map(|dialect| dialect.name().to_owned()).collect()
}

/// Breaks every mark in a text of others.
#[wasm_bindgen]
pub fn neutralise(text: &str) -> String {
    Dialects::builtin().neutralise(text).into_owned()
}

/// What [`neutralise`] was given.
#[wasm_bindgen]
pub fn restore(text: &str) -> String {
    Dialects::builtin().restore(text).into_owned()
}
