//! Which dialect a chat template or an answer is in.

use std::path::Path;

use del_detect::{Material, Options};
use del_dialects::Dialects;
use wasm_bindgen::prelude::*;

use crate::error;

/// The report of `del detect --json` on a text, and a description where one was made, as JSON.
#[wasm_bindgen]
pub fn detect(text: &str, describe: bool) -> Result<String, JsValue> {
    let unreadable = |wrong: &dyn std::fmt::Display| error("cannot_detect", wrong);
    let material = Material::of_text(text, Path::new("")).map_err(|wrong| unreadable(&wrong))?;
    let options = Options { describe, ..Options::default() };
    let found = del_detect::detect(&material, Dialects::builtin(), options);
    let found = found.map_err(|wrong| unreadable(&wrong))?;
    let mut report = serde_json::to_value(&found.report).map_err(|wrong| unreadable(&wrong))?;
    report["description"] = found.description.map(|description| description.toml).into();
    Ok(report.to_string())
}
