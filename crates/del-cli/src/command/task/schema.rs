//! An answer that fits a JSON schema: as the model gives it, or asked for again with what is wrong.

use std::error::Error;
use std::path::Path;

use anyhow::Result;
use boon::{CompileError, Compiler, SchemaIndex, Schemas, UrlLoader};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::input::read_text;

/// How often an answer is asked for.
pub(super) const TRIES: u32 = 3;
/// What the schema is called inside the validator, which wants an address.
const ADDRESS: &str = "schema:///answer";

/// A schema that was read.
pub(super) struct Schema {
    /// As it stands in the file.
    value: Value,
    compiled: Schemas,
    index: SchemaIndex,
}

/// Nothing is read from anywhere.
struct NoOther;

impl UrlLoader for NoOther {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("a schema has to stand in one file; it refers to {url}").into())
    }
}

impl Schema {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = read_text(path, Exit::BadInput)?;
        Self::parse(&text).map_err(|reason| Exit::BadInput.because(format!("{}: {reason}", path.display())))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("expected a JSON schema: {error}"))?;
        let (mut compiled, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.use_loader(Box::new(NoOther));
        let wrong =
            |error: CompileError| format!("expected a JSON schema: {}", on_one_line(&format!("{error:#}")));
        compiler.add_resource(ADDRESS, value.clone()).map_err(wrong)?;
        let index = compiler.compile(ADDRESS, &mut compiled).map_err(wrong)?;
        Ok(Self { value, compiled, index })
    }

    /// The question, with what is wanted of the answer.
    pub(super) fn added_to(&self, question: &str) -> String {
        format!(
            "{question}\n\nWhen you are done, answer with JSON alone, without a word around it, that fits this JSON schema:\n{}",
            self.value
        )
    }

    /// What is asked after an answer that does not fit.
    pub(super) fn complaint(&self, trouble: &str) -> String {
        format!(
            "That does not fit the schema: {trouble}\nGive the same answer again, as JSON alone:\n{}",
            self.value
        )
    }

    /// The member of a request that has a server sample nothing but what fits.
    pub(super) fn response_format(&self) -> Value {
        json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": self.value, "strict": true}})
    }

    /// The JSON of an answer, or why it does not fit.
    pub(super) fn fit(&self, answer: &str) -> Result<String, String> {
        let value = candidates(answer)
            .find_map(|text| serde_json::from_str::<Value>(text).ok())
            .ok_or_else(|| "expected JSON, got other text".to_owned())?;
        match self.compiled.validate(&value, self.index) {
            Ok(()) => Ok(value.to_string()),
            Err(error) => Err(on_one_line(&error.to_string())),
        }
    }
}

/// Where JSON may stand in an answer: it is all of it, the inside of a fence, or what lies between braces.
fn candidates(answer: &str) -> impl Iterator<Item = &str> {
    let whole = answer.trim();
    let fenced = whole.split_once("```").and_then(|(_, rest)| {
        let (info, rest) = rest.split_once('\n')?;
        let inside = rest.rsplit_once("```")?.0;
        (!info.contains('`')).then_some(inside.trim())
    });
    let between = |open: char, close: char| {
        let (start, end) = (whole.find(open)?, whole.rfind(close)?);
        whole.get(start..=end)
    };
    [Some(whole), fenced, between('{', '}'), between('[', ']')].into_iter().flatten()
}

fn on_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.trim().trim_start_matches("- ")).collect();
    let lines: Vec<&str> = lines
        .into_iter()
        .filter(|line| !line.is_empty() && !line.starts_with("jsonschema validation failed"))
        .collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;

    #[test]
    fn json_is_found_in_an_answer_and_held_against_the_schema() {
        let schema = Schema::parse(SCHEMA).unwrap();
        for answer in ["{\"n\": 1}", "Here:\n```json\n{\"n\": 1}\n```\nDone.", "It is {\"n\": 1}."] {
            assert_eq!(schema.fit(answer).unwrap(), "{\"n\":1}", "{answer}");
        }
        let wrong = schema.fit("{\"n\": \"one\"}").unwrap_err();
        assert!(wrong.contains("/n") && !wrong.contains('\n'), "{wrong}");
        assert_eq!(schema.fit("one").unwrap_err(), "expected JSON, got other text");
    }

    #[test]
    fn what_is_no_schema_is_said() {
        for text in ["{", "{\"type\": 1}", "{\"$ref\": \"http://127.0.0.1:1/other\"}"] {
            let reason = Schema::parse(text).err().unwrap();
            assert!(reason.starts_with("expected a JSON schema") && !reason.contains('\n'), "{reason}");
        }
    }
}
