//! What a server tells of each of its models.

use serde_json::Value;

use super::Server;
use super::about;

/// What is known of a model, and where it is said.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Tokens that it takes.
    pub(crate) context: Option<u64>,
    /// Whether it can be given tools.
    pub(crate) tools: Option<bool>,
    /// The path that said so.
    pub(crate) from: Option<&'static str>,
}

impl Server {
    /// What is told of each of the models, in their order.
    pub(crate) async fn facts(&self) -> Vec<Facts> {
        let root = self.base.trim_end_matches("/v1");
        if self.llama_cpp() && self.models.len() == 1 {
            let (context, tools) = (self.context.map(u64::from), self.takes_tools);
            return vec![Facts { context, tools, from: Some("/props") }.checked()];
        }
        let listed = self.said(&format!("{}/models", self.base)).await;
        let studio = match self.said(&format!("{root}/api/v0/models")).await {
            Value::Null => Value::Null,
            mut said => said["data"].take(),
        };
        let mut facts = Vec::new();
        for model in &self.models {
            let rows = [(&studio, "/api/v0/models"), (&listed["data"], "/models")];
            let told = rows.into_iter().find_map(|(rows, from)| {
                Some(of_row(row(rows, model)?, from)).filter(|facts| facts.from.is_some())
            });
            facts.push(match told {
                Some(facts) => facts,
                None => of_ollama(&self.shown(model).await),
            });
        }
        facts
    }
}

impl Facts {
    /// Nothing is from anywhere where nothing is known.
    fn checked(self) -> Self {
        let from = self.from.filter(|_| self.context.is_some() || self.tools.is_some());
        Self { from, ..self }
    }
}

fn row<'v>(rows: &'v Value, model: &str) -> Option<&'v Value> {
    rows.as_array()?.iter().find(|row| row["id"] == model)
}

/// What a row of a list says: of LM Studio, `OpenRouter`, Mistral and others.
fn of_row(row: &Value, from: &'static str) -> Facts {
    let context = about::context(row);
    let names = |list: &Value, name: &str| Some(list.as_array()?.iter().any(|known| known == name));
    let tools = names(&row["supported_parameters"], "tools")
        .or_else(|| names(&row["capabilities"], "tool_use"))
        .or_else(|| row["capabilities"]["function_calling"].as_bool());
    Facts { context, tools, from: Some(from) }.checked()
}

/// What Ollama says of a model. `num_ctx` in its file counts, not what it was trained with.
fn of_ollama(shown: &Value) -> Facts {
    let file = shown["parameters"].as_str().unwrap_or_default().lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("num_ctx")).then(|| words.next()?.parse().ok()).flatten()
    });
    let trained = || {
        let info = shown["model_info"].as_object()?;
        info.iter().find(|(name, _)| name.ends_with(".context_length"))?.1.as_u64()
    };
    let able = shown["capabilities"].as_array();
    let tools = able.map(|able| able.iter().any(|ability| ability == "tools"));
    Facts { context: file.or_else(trained), tools, from: Some("/api/show") }.checked()
}
