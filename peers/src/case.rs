//! Del's case files, as far as other engines can be asked about them.

use std::path::Path;
use std::{env, fs};

use del_dialects::{Dialects, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Fail;

/// One answer of a model and the calls in it.
pub(crate) struct Case {
    pub(crate) dialect: String,
    /// `dialect/NN-slug`.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The prompt ended inside the thinking.
    pub(crate) in_reasoning: bool,
    /// As `OpenAI` spells them.
    pub(crate) tools: Vec<Value>,
    pub(crate) calls: Vec<Call>,
}

/// A call, its arguments as a value.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

impl Call {
    /// A call whose arguments are JSON text; what is no JSON stays text, and none is an empty object.
    pub(crate) fn new(name: impl Into<String>, arguments: &str) -> Self {
        let arguments = match arguments.trim() {
            "" => json!({}),
            text => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
        };
        Self { name: name.into(), arguments }
    }
}

/// True when two lists of calls say the same: 3 is 3.0, and the order of keys does not matter.
pub(crate) fn same(a: &[Call], b: &[Call]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name == b.name && alike(&a.arguments, &b.arguments))
}

fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|b| alike(value, b)))
        }
        _ => a == b,
    }
}

#[derive(Deserialize)]
struct File {
    text: String,
    #[serde(default)]
    starts_in: String,
    #[serde(default)]
    tools: String,
    expect: Expect,
}

#[derive(Deserialize)]
struct Expect {
    #[serde(default)]
    calls: Vec<del_dialects::Call>,
}

/// All cases of the dialects named, or of all dialects when none is.
pub(crate) fn load(dialects: &[String]) -> Result<Vec<Case>, Fail> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/del-dialects/dialects");
    let tools: Vec<Tool> = serde_json::from_str(&fs::read_to_string(root.join("tools.json"))?)?;
    let tools: Vec<Value> = tools.iter().map(|tool| json!({"type": "function", "function": tool})).collect();
    let mut cases = Vec::new();
    for dialect in Dialects::builtin().iter() {
        if !dialects.is_empty() && !dialects.iter().any(|name| name == dialect.name()) {
            continue;
        }
        let mut files = fs::read_dir(root.join(dialect.name()).join("cases"))?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()?;
        files.sort();
        for path in files {
            let slug = path.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("{}/{slug}", dialect.name());
            let file: File =
                toml::from_str(&fs::read_to_string(&path)?).map_err(|e| format!("{name}: {e}"))?;
            cases.push(Case {
                dialect: dialect.name().to_owned(),
                name,
                text: file.text,
                in_reasoning: file.starts_in == "reasoning",
                tools: if file.tools == "none" { Vec::new() } else { tools.clone() },
                calls: file.expect.calls.iter().map(|call| Call::new(&call.name, &call.arguments)).collect(),
            });
        }
    }
    Ok(cases)
}
