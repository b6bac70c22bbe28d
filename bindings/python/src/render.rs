//! Writing: what a model is told of its tools, what it writes itself, and the results of its calls.

use del_dialects::{CallResult, Detail};
use del_wire::{Prompt, ToolChoice};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyString};
use serde_json::Value;

use crate::call::{Call, dumps, loads};
use crate::dialect::one;
use crate::error::RenderError;
use crate::message::Message;
use crate::tools;

/// What a model is told in prompt mode: its tools, and how to call one, by an example. What others say in it is
/// neutralised. `compact` is for small models: names, required arguments and one sentence.
#[pyfunction]
#[pyo3(signature = (tools, dialect, *, compact=false))]
pub(crate) fn render_prompt(
    tools: &Bound<'_, PyAny>,
    dialect: &Bound<'_, PyAny>,
    compact: bool,
) -> PyResult<String> {
    let (tools, dialect) = (tools::read(Some(tools))?, one(dialect)?);
    let detail = if compact { Detail::Compact } else { Detail::Full };
    Ok(dialect.system_prompt(&tools, detail))
}

/// The tools as the family's own chat template shows them, without any words around; neutralised.
#[pyfunction]
pub(crate) fn render_definitions(tools: &Bound<'_, PyAny>, dialect: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(one(dialect)?.definitions(&tools::read(Some(tools))?))
}

/// Calls as the model itself writes them. `tools` type the values of dialects that do not write JSON.
#[pyfunction]
#[pyo3(signature = (calls, dialect, tools=None))]
pub(crate) fn render_calls(
    py: Python<'_>,
    calls: Vec<Bound<'_, Call>>,
    dialect: &Bound<'_, PyAny>,
    tools: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (dialect, tools) = (one(dialect)?, tools::read(tools)?);
    let calls = calls.iter().map(|call| call.get().read(py)).collect::<PyResult<Vec<_>>>()?;
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

/// What running a call gave, as a dict.
fn result(place: usize, given: &Bound<'_, PyAny>) -> PyResult<CallResult> {
    let wrong = |member: &str, expected: &str, got: &str| {
        PyTypeError::new_err(format!("results[{place}]{member}: expected {expected}, got {got}"))
    };
    let kind = |value: &Bound<'_, PyAny>| Ok::<_, PyErr>(value.get_type().name()?.to_string());
    let Ok(given) = given.cast::<PyMapping>() else { return Err(wrong("", "a dict", &kind(given)?)) };
    let member = |key: &str| if given.contains(key)? { given.get_item(key).map(Some) } else { Ok(None) };
    let text = |key: &str| {
        let Some(value) = member(key)?.filter(|value| !value.is_none()) else { return Ok(None) };
        match value.cast::<PyString>() {
            Ok(text) => Ok(Some(text.to_str()?.to_owned())),
            Err(_) => Err(wrong(&format!(".{key}"), "a text", &kind(&value)?)),
        }
    };
    let needed = |key: &str| text(key)?.ok_or_else(|| wrong(&format!(".{key}"), "a text", "nothing"));
    let ok = member("ok")?.map_or(Ok(true), |ok| ok.extract())?;
    Ok(CallResult { id: text("id")?, name: needed("name")?, text: needed("text")?, ok })
}

/// A conversation of the `OpenAI` API for a model without tools: definitions stand in the system prompt, calls and results
/// are text. What users and tools say is neutralised; content parts that are no text stay what they are. `remind` says
/// behind results which question they are for: very small models forget it.
#[pyfunction]
#[pyo3(signature = (messages, dialect, tools=None, choice="auto", *, compact=false, parallel=true, remind=false))]
#[expect(clippy::too_many_arguments, reason = "each is an argument with a name in Python")]
pub(crate) fn render_messages<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    dialect: &Bound<'py, PyAny>,
    tools: Option<&Bound<'py, PyAny>>,
    choice: &str,
    compact: bool,
    parallel: bool,
    remind: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (dialect, tools) = (one(dialect)?, tools::read(tools)?);
    let wrong = |error: &dyn std::fmt::Display| RenderError::new_err(format!("messages: {error}"));
    let messages: Vec<Value> =
        serde_json::from_str(dumps(messages)?.to_str()?).map_err(|error| wrong(&error))?;
    let choice = ToolChoice::of(choice, &tools).map_err(|error| RenderError::new_err(error.to_string()))?;
    let detail = if compact { Detail::Compact } else { Detail::Full };
    let prompt = Prompt::new(&dialect, &tools).choosing(choice).detail(detail);
    let mut prompt = prompt.one_call(!parallel).reminding(remind);
    prompt.read(&messages).map_err(|error| wrong(&error))?;
    loads(py, &Value::Array(prompt.into_messages()).to_string())
}
