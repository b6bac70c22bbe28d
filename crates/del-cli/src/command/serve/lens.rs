//! What the inspector sees through: detection, and case files.

use std::path::Path;

use del_detect::{Material, cases};
use del_dialects::{End, Message};
use del_proxy::Lens;
use serde_json::Value;

use crate::common::Common;
use crate::confined;

/// The detection of this program.
#[derive(Debug)]
pub(super) struct Glass {
    common: Common,
}

impl Glass {
    pub(super) fn new(common: &Common) -> Self {
        Self { common: common.clone() }
    }
}

impl Lens for Glass {
    fn template(&self, template: &str) -> Result<Value, String> {
        let material = Material::of_text(template, Path::new("-")).map_err(|error| error.to_string())?;
        let report = confined::of_template(material, &self.common).map_err(|error| error.to_string())?;
        serde_json::to_value(report).map_err(|error| error.to_string())
    }

    fn case(&self, about: &str, text: &str, end: End, message: &Message) -> String {
        cases::of_answer(about, text, end, message)
    }
}
