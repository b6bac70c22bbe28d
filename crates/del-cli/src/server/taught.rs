//! What a model's chat template says of tools, for telling the model of them in the same words.

use std::path::Path;

use anyhow::Result;
use clap::{Args, ValueEnum};
use del_agent::ToolsMode;
use del_detect::{Material, Report};
use del_dialects::Detail;
use del_wire::Words;

use super::Server;
use crate::catalog::Catalog;
use crate::common::Common;
use crate::confined;
use crate::exit::Exit;

/// Which chat template has the words.
#[derive(Debug, Clone, Args)]
pub(crate) struct TemplateOptions {
    /// Where the words come from that tell the model of its tools in its prompt: `auto`, the model's chat template as the
    /// server tells it; a FILE with the template; or `none`, Del's own words
    #[arg(long, value_name = "auto|none|FILE", default_value = "auto")]
    chat_template: String,
    /// How much the model is told of its tools in its prompt
    #[arg(long, value_enum, value_name = "DETAIL", default_value = "full")]
    definitions: Definitions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Definitions {
    /// Whole schemas, in the form that the model's family knows
    Full,
    /// Types of TypeScript with comments: half the tokens
    Types,
    /// Names and required arguments: for very small models
    Short,
}

impl TemplateOptions {
    /// The words for this model; none where nothing tells the template, or where that says too little.
    ///
    /// # Errors
    /// When a file was named, and that is no template.
    pub(crate) async fn words(
        &self,
        server: &Server,
        model: &str,
        catalog: Catalog,
        common: &Common,
    ) -> Result<Option<Words>> {
        match self.chat_template.as_str() {
            "none" => Ok(None),
            "auto" => {
                let material = server.template(model).await;
                let report = material.and_then(|material| confined::of_template(material, common).ok());
                Ok(report.and_then(|report| words(&report, catalog)))
            }
            file => {
                let bad = |error: del_detect::SourceError| Exit::BadInput.because(error.to_string());
                let material = Material::read(Path::new(file)).map_err(bad)?;
                Ok(words(&confined::of_template(material, common)?, catalog))
            }
        }
    }

    /// The file that was named.
    pub(crate) fn file(&self) -> Option<&Path> {
        Some(self.chat_template.as_str()).filter(|named| !matches!(*named, "auto" | "none")).map(Path::new)
    }

    /// How much the model is told.
    pub(crate) fn detail(&self) -> Detail {
        match self.definitions {
            Definitions::Full => Detail::Full,
            Definitions::Types => Detail::Types,
            Definitions::Short => Detail::Compact,
        }
    }

    /// Whether the words are needed at once: where tools go into the prompt from the start, or a file was named.
    pub(crate) fn is_needed(&self, mode: ToolsMode, in_prompt: bool) -> bool {
        let named = self.file().is_some();
        match mode {
            ToolsMode::Prompt => true,
            ToolsMode::Auto | ToolsMode::Hybrid => named || in_prompt,
            ToolsMode::Native => false,
        }
    }
}

/// The words that a report on a template has.
pub(crate) fn words(report: &Report, catalog: Catalog) -> Option<Words> {
    let told = report.instructions.as_ref()?;
    let known = |name: &str| catalog.all().get(name).cloned();
    Some(Words {
        dialect: known(report.dialect.as_deref()?)?,
        alone: told.alone.clone(),
        before: told.before.clone(),
        definitions: known(&told.definitions)?,
        behind: told.behind.clone(),
    })
}
