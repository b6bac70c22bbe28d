//! Writing: what a model is told of its tools, what it writes itself, and the results of its calls.

use del_dialects::{CallResult, Detail};
use del_wire::{Prompt, ToolChoice};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use serde_json::Value;

use crate::call::{Call, dumps, loads};
use crate::dialect::one;
use crate::error::{DelError, RenderError};
use crate::message::Message;
use crate::tools;

/// What a model is told in prompt mode: its tools, and how to call one, by an example. What others say in it is
/// neutralised. `detail` is how much it is told: `"full"`, as its family is shown tools; `"types"`, those of TypeScript;
/// `"compact"` for very small models: names, required arguments and one sentence.
#[pyfunction]
#[pyo3(signature = (tools, dialect, *, detail="full"))]
pub(crate) fn render_prompt(
    tools: &Bound<'_, PyAny>,
    dialect: &Bound<'_, PyAny>,
    detail: &str,
) -> PyResult<String> {
    let (tools, dialect) = (tools::read(Some(tools))?, one(dialect)?);
    Ok(dialect.system_prompt(&tools, level(detail)?))
}

fn level(detail: &str) -> PyResult<Detail> {
    match detail {
        "full" => Ok(Detail::Full),
        "types" => Ok(Detail::Types),
        "compact" => Ok(Detail::Compact),
        other => Err(DelError::new_err(format!(
            "detail: expected \"full\", \"types\" or \"compact\", got {other:?}"
        ))),
    }
}

/// The tools as the family's own chat template shows them, without any words around; neutralised.
#[pyfunction]
pub(crate) fn render_definitions(tools: &Bound<'_, PyAny>, dialect: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(one(dialect)?.definitions(&tools::read(Some(tools))?))
}

/// Calls as the model itself writes them: `Call`s, or dicts as the `OpenAI` API has them or with the same members. `tools`
/// type the values of dialects that do not write JSON.
#[pyfunction]
#[pyo3(signature = (calls, dialect, tools=None))]
pub(crate) fn render_calls(
    py: Python<'_>,
    calls: Vec<Bound<'_, PyAny>>,
    dialect: &Bound<'_, PyAny>,
    tools: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (dialect, tools) = (one(dialect)?, tools::read(tools)?);
    let calls = calls.iter().enumerate().map(|(place, given)| call(place, given));
    let calls = calls.collect::<PyResult<Vec<_>>>()?;
    let written = py.detach(|| dialect.render_calls(&calls, &tools));
    written.map_err(|error| RenderError::new_err(error.to_string()))
}

/// A whole answer as the model itself writes it: thinking, text and calls, in the order of its parts.
#[pyfunction]
#[pyo3(signature = (answer, dialect, tools=None))]
pub(crate) fn render_answer(
    py: Python<'_>,
    answer: &Bound<'_, Message>,
    dialect: &Bound<'_, PyAny>,
    tools: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (dialect, tools) = (one(dialect)?, tools::read(tools)?);
    let answer = &answer.get().message;
    let written = py.detach(|| dialect.render_answer(answer, &tools));
    written.map_err(|error| RenderError::new_err(error.to_string()))
}

/// Results as the dialect hands them to the model, neutralised, for one message of the role `Dialect.results_role`.
#[pyfunction]
pub(crate) fn render_results(results: Vec<Bound<'_, PyAny>>, dialect: &Bound<'_, PyAny>) -> PyResult<String> {
    let results = results.iter().enumerate().map(|(place, given)| result(place, given));
    Ok(one(dialect)?.render_results(&results.collect::<PyResult<Vec<_>>>()?))
}

/// A call, also as a dict.
fn call(place: usize, given: &Bound<'_, PyAny>) -> PyResult<del_dialects::Call> {
    if let Ok(call) = given.cast::<Call>() {
        return call.get().read(given.py());
    }
    let alone = Members::of(format!("calls[{place}]"), given, "a Call or a dict")?;
    let function = match alone.get("function")? {
        Some(function) => Members::of(format!("calls[{place}].function"), &function, "a dict")?,
        None => alone.clone(),
    };
    let arguments = match function.get("arguments")? {
        Some(given) if given.is_instance_of::<PyDict>() => dumps(&given)?.to_str()?.to_owned(),
        Some(given) if !given.is_instance_of::<PyString>() => {
            return Err(function.wrong("arguments", "JSON text or a dict", &kind(&given)?));
        }
        Some(_) => function.needed("arguments")?,
        None => return Err(function.wrong("arguments", "JSON text or a dict", "nothing")),
    };
    Ok(del_dialects::Call { id: alone.text("id")?, name: function.needed("name")?, arguments })
}

/// What running a call gave, as a dict.
fn result(place: usize, given: &Bound<'_, PyAny>) -> PyResult<CallResult> {
    let given = Members::of(format!("results[{place}]"), given, "a dict")?;
    let ok = match given.get("ok")? {
        Some(ok) => match ok.extract() {
            Ok(ok) => ok,
            Err(_) => return Err(given.wrong("ok", "True or False", &kind(&ok)?)),
        },
        None => true,
    };
    Ok(CallResult { id: given.text("id")?, name: given.needed("name")?, text: given.needed("text")?, ok })
}

/// The members of a dict, for which errors say where it stands.
#[derive(Clone)]
struct Members<'py> {
    at: String,
    given: Bound<'py, PyMapping>,
}

impl<'py> Members<'py> {
    fn of(at: String, given: &Bound<'py, PyAny>, expected: &str) -> PyResult<Self> {
        match given.cast::<PyMapping>() {
            Ok(given) => Ok(Self { at, given: given.clone() }),
            Err(_) => Err(PyTypeError::new_err(format!("{at}: expected {expected}, got {}", kind(given)?))),
        }
    }

    /// None is as good as nothing.
    fn get(&self, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !self.given.contains(key)? {
            return Ok(None);
        }
        Ok(Some(self.given.get_item(key)?).filter(|value| !value.is_none()))
    }

    fn text(&self, key: &str) -> PyResult<Option<String>> {
        let Some(value) = self.get(key)? else { return Ok(None) };
        match value.cast::<PyString>() {
            Ok(text) => Ok(Some(text.to_str()?.to_owned())),
            Err(_) => Err(self.wrong(key, "a text", &kind(&value)?)),
        }
    }

    fn needed(&self, key: &str) -> PyResult<String> {
        self.text(key)?.ok_or_else(|| self.wrong(key, "a text", "nothing"))
    }

    fn wrong(&self, key: &str, expected: &str, got: &str) -> PyErr {
        RenderError::new_err(format!("{}.{key}: expected {expected}, got {got}", self.at))
    }
}

fn kind(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(value.get_type().name()?.to_string())
}

/// A conversation of the `OpenAI` API for a model without tools: definitions stand in the system prompt, calls and results
/// are text. What users and tools say is neutralised; content parts that are no text stay what they are. `remind` says
/// behind results which question they are for: very small models forget it.
#[pyfunction]
#[pyo3(signature = (messages, dialect, tools=None, choice="auto", *, detail="full", parallel=true, remind=false))]
#[expect(clippy::too_many_arguments, reason = "each is an argument with a name in Python")]
pub(crate) fn render_messages<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    dialect: &Bound<'py, PyAny>,
    tools: Option<&Bound<'py, PyAny>>,
    choice: &str,
    detail: &str,
    parallel: bool,
    remind: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (dialect, tools) = (one(dialect)?, tools::read(tools)?);
    let wrong = |error: &dyn std::fmt::Display| RenderError::new_err(format!("messages: {error}"));
    let messages: Vec<Value> =
        serde_json::from_str(dumps(messages)?.to_str()?).map_err(|error| wrong(&error))?;
    let choice = ToolChoice::of(choice, &tools).map_err(|error| RenderError::new_err(error.to_string()))?;
    let prompt = Prompt::new(&dialect, &tools).choosing(choice).detail(level(detail)?);
    let mut prompt = prompt.one_call(!parallel).reminding(remind);
    prompt.read(&messages).map_err(|error| wrong(&error))?;
    loads(py, &Value::Array(prompt.into_messages()).to_string())
}
