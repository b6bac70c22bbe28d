//! Tool definitions, read once.

use std::sync::Arc;

use del_dialects::Tool;
use del_wire::tools::{Format, definitions, read_text};
use wasm_bindgen::prelude::*;

use crate::error;

/// The tools that a model was told of.
#[wasm_bindgen(js_name = RawTools)]
#[derive(Debug)]
pub struct Tools {
    pub(crate) tools: Arc<[Tool]>,
}

#[wasm_bindgen(js_class = RawTools)]
impl Tools {
    /// From JSON text.
    #[wasm_bindgen(constructor)]
    pub fn new(json: &str) -> Result<Tools, JsValue> {
        let tools = read_text(json).map_err(|wrong| error("bad_tools", &wrong))?;
        Ok(Self { tools: tools.into() })
    }

    /// As the OpenAI API has them.
    pub fn definitions(&self) -> String {
        definitions(&self.tools, Format::OpenAi).to_string()
    }
}
