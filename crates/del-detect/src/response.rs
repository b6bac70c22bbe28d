//! A checkpoint's response template, as Hugging Face ships them in `tokenizer_config.json`, becomes a description.
//!
//! Such a template says with literals and regular expressions where thinking, text and calls begin and end. What it can
//! say and a description cannot is refused by name: nothing is guessed.

mod call;
mod channels;
mod fields;
mod inexpressible;
mod pattern;
mod regex;
mod template;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::describe::{list, one_or_list, quoted};
use pattern::Bit;

pub use inexpressible::Inexpressible;
pub use template::template;

/// Why a response template is no description.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: expected {expected}, got {got}")]
#[non_exhaustive]
pub struct ResponseError {
    /// The key of the template, as a path.
    pub place: String,
    /// What can be read there.
    pub expected: &'static str,
    /// What stands there, as JSON, cut short.
    pub got: String,
}

impl ResponseError {
    fn new(place: impl Into<String>, expected: &'static str, got: &Value) -> Self {
        let mut got = got.to_string();
        if let Some((at, _)) = got.char_indices().nth(80) {
            got.truncate(at);
            got.push('…');
        }
        Self { place: place.into(), expected, got }
    }
}

/// The description, as TOML, of a response template: the object itself, or a tokenizer configuration that holds it as
/// `response_template`. `title` names the models.
///
/// # Errors
/// Says which part of the template a description has no word for.
pub fn describe(title: &str, json: &str) -> Result<String, ResponseError> {
    let value: Value = serde_json::from_str(json).map_err(|error| ResponseError {
        place: "template".to_owned(),
        expected: "a JSON object",
        got: error.to_string(),
    })?;
    let template = value.get("response_template").unwrap_or(&value);
    if let Some(version) = template.get("version").filter(|version| **version != 1) {
        return Err(ResponseError::new("version", "1", version));
    }
    let fields = template
        .get("fields")
        .and_then(Value::as_object)
        .ok_or_else(|| ResponseError::new("fields", "an object", template))?;
    let mut ends = Vec::new();
    let mut reasoning = String::new();
    let mut call = None;
    for (name, value) in fields {
        let field = Field::of(name, value)?;
        match name.as_str() {
            "thinking" => {
                let (begin, end) = (field.spellings("open")?, field.spellings("close")?);
                reasoning = format!("\n[reasoning]\nbegin = {}\nend = {}\n", list(&begin), list(&end));
            }
            "content" => {
                ends.extend(field.spellings("open")?);
                ends.extend(field.spellings("close")?);
            }
            "tool_calls" => call = Some(field.call()?),
            _ => return Err(ResponseError::new(name, "thinking, content or tool_calls", value)),
        }
    }
    let call = call.ok_or_else(|| ResponseError::new("fields", "a field tool_calls", template))?;
    Ok(format!(
        "title = {}\nfamily = \"response template\"\nsource = \"the checkpoint's response template\"\nends = {}\n{reasoning}{call}",
        quoted(title),
        list(&ends),
    ))
}

/// One field of a template.
struct Field<'v> {
    name: &'v str,
    members: &'v Map<String, Value>,
}

impl<'v> Field<'v> {
    fn of(name: &'v str, value: &'v Value) -> Result<Self, ResponseError> {
        match value.as_object() {
            Some(members) => Ok(Self { name, members }),
            None => Err(ResponseError::new(name, "an object", value)),
        }
    }

    fn wrong(&self, key: &str, expected: &'static str) -> ResponseError {
        ResponseError::new(
            format!("{}.{key}", self.name),
            expected,
            self.members.get(key).unwrap_or(&Value::Null),
        )
    }

    fn text(&self, key: &str) -> Option<&'v str> {
        self.members.get(key).and_then(Value::as_str)
    }

    /// The literal spellings of an anchor: `open` or `open_pattern`.
    fn spellings(&self, anchor: &str) -> Result<Vec<String>, ResponseError> {
        let literals = match self.members.get(anchor) {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(many)) => {
                let text = |value: &Value| value.as_str().map(str::to_owned);
                many.iter()
                    .map(text)
                    .collect::<Option<_>>()
                    .ok_or_else(|| self.wrong(anchor, "a list of strings"))?
            }
            Some(_) => return Err(self.wrong(anchor, "a string or a list of strings")),
            None => Vec::new(),
        };
        let key = format!("{anchor}_pattern");
        let Some(pattern) = self.text(&key) else { return Ok(literals) };
        pattern::spellings(pattern)
            .ok_or_else(|| self.wrong(&key, "alternatives without anything that varies"))
    }

    /// The tables of the calls.
    fn call(&self) -> Result<String, ResponseError> {
        let mut pieces: Vec<String> = Vec::new();
        let open = self.spellings_or_bits()?;
        let named = open.iter().any(|bit| matches!(bit, Bit::Group(_)));
        for bit in &open {
            pieces.push(match bit {
                Bit::Text(text) => format!("{{ mark = {} }}", quoted(text)),
                Bit::Maybe(text) => format!("{{ mark = {}, need = \"free\" }}", quoted(text)),
                Bit::Either(all) => format!("{{ mark = {} }}", one_or_list(all)),
                Bit::Group(name) if name == "name" => "{ head = \"{name}\" }".to_owned(),
                Bit::Group(_) => return Err(self.wrong("open_pattern", "no group but (?P<name>…)")),
            });
        }
        let each = self.members.get("transform_each") == Some(&Value::Bool(true));
        pieces.push(self.arguments(named)?);
        let closers = self.spellings("close")?;
        let closer =
            (!closers.is_empty()).then(|| format!("{{ mark = {}, need = \"soft\" }}", one_or_list(&closers)));
        if !each {
            pieces.extend(closer);
            return Ok(format!("\n[call]\npieces = [\n  {},\n]\n", pieces.join(",\n  ")));
        }
        // One region holds a list of calls.
        let args = pieces.pop().unwrap_or_default();
        pieces.push("{ mark = \"[\", need = \"free\" }".to_owned());
        let close: Vec<String> =
            std::iter::once("{ mark = \"]\", need = \"soft\" }".to_owned()).chain(closer).collect();
        Ok(format!(
            "\n[block]\nopen = [{}]\nclose = [{}]\n\n[call]\npieces = [{args}]\nbetween = \", \"\n",
            pieces.join(", "),
            close.join(", "),
        ))
    }

    fn spellings_or_bits(&self) -> Result<Vec<Bit>, ResponseError> {
        match self.text("open_pattern") {
            Some(pattern) => pattern::read(pattern).ok_or_else(|| {
                self.wrong("open_pattern", "literal text, alternatives and one group for the name")
            }),
            None => Ok(match &self.spellings("open")?[..] {
                [] => return Err(self.wrong("open", "what opens a call")),
                [one] => vec![Bit::Text(one.clone())],
                many => vec![Bit::Either(many.to_vec())],
            }),
        }
    }

    /// The arguments, and where the name is when no mark holds it.
    fn arguments(&self, named: bool) -> Result<String, ResponseError> {
        let args = self.members.get("content_args").unwrap_or(&Value::Null);
        let content = self.text("content").unwrap_or("text");
        let (name, arguments) = self.transform();
        match content {
            "json" if !named => {
                let key = |slot: Option<&str>, usual: &'static str| {
                    let inner = slot.and_then(|slot| slot.strip_prefix("{content."));
                    inner.and_then(|slot| slot.strip_suffix('}')).unwrap_or(usual).to_owned()
                };
                let (name, arguments) = (key(name, "name"), key(arguments, "arguments"));
                let form = format!("{{{}: \"{{name}}\", {}: {{args}}}}", quoted(&name), quoted(&arguments));
                Ok(format!("{{ args = \"call\", form = {} }}", quoted(&form)))
            }
            "json" => {
                let delims = args.get("string_delims").and_then(Value::as_array);
                let Some(delims) = delims.filter(|delims| !delims.is_empty()) else {
                    return Ok("{ args = \"object\" }".to_owned());
                };
                let alike = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
                    Some([Value::String(open), Value::String(close)]) if open == close => Some(open.clone()),
                    _ => None,
                };
                let quotes: Vec<String> = delims
                    .iter()
                    .map(alike)
                    .collect::<Option<_>>()
                    .ok_or_else(|| self.wrong("content_args", "delimiters that open and close alike"))?;
                Ok(format!(
                    "{{ args = \"object\", loose = {{ open = \"{{\", close = \"}}\", pair = \":\", quotes = {}, comma = \",\", colon = \":\" }} }}",
                    list(&quotes)
                ))
            }
            "xml-inline" => {
                let pattern = args.get("tag_pattern").and_then(Value::as_str);
                let form = pattern.and_then(pattern::field);
                let form = form.ok_or_else(|| {
                    self.wrong("content_args", "a tag_pattern of literal text and the groups key and value")
                })?;
                Ok(format!("{{ args = \"fields\", form = {} }}", quoted(&form)))
            }
            "text" => {
                let key = self.members.get("transform").and_then(|transform| {
                    transform.pointer("/function/arguments")?.as_object()?.iter().next().map(|(key, _)| key)
                });
                let key = key.ok_or_else(|| self.wrong("transform", "an argument that takes the text"))?;
                Ok(format!("{{ args = \"raw\", key = {} }}", quoted(key)))
            }
            _ => Err(self.wrong("content", "json, xml-inline or text")),
        }
    }

    /// What `transform` puts in for name and arguments.
    fn transform(&self) -> (Option<&'v str>, Option<&'v str>) {
        let function = self.members.get("transform").and_then(|transform| transform.get("function"));
        let slot = |key: &str| function.and_then(|function| function.get(key)).and_then(Value::as_str);
        (slot("name"), slot("arguments"))
    }
}
