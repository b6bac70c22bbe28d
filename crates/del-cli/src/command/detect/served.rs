//! The chat template of a model that a server has.

use anyhow::Result;
use del_detect::Material;

use crate::exit::Exit;
use crate::server::{Server, ServerOptions};

/// What the server tells of its model's template.
pub(crate) fn material(options: &ServerOptions) -> Result<Material> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = Server::find(options).await?;
        let model = server.choose(options.model.as_deref());
        let mut material = server.template(&model).await.ok_or_else(|| {
            Exit::Failed.because(format!(
                "the server at {} does not tell the chat template of {model}; give its file, or examples of what it writes",
                server.base
            ))
        })?;
        material.found.push(format!("the template is what the server at {} has for {model}", server.base));
        Ok(material)
    })
}
