//! Tool definitions, read once.

use std::sync::Arc;

use del_dialects::Tool;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

use crate::error::ToolsError;

/// The tools that a model was told of, read once: hand the same object to every parser, rather than the definitions.
///
/// Takes what the OpenAI, Anthropic and MCP APIs take, as dicts or as JSON text; functions with annotated parameters;
/// pydantic models, classes and instances; or a list of these.
#[pyclass(frozen, module = "del_dialects", name = "Tools")]
pub(crate) struct Tools {
    pub(crate) tools: Arc<[Tool]>,
}

#[pymethods]
impl Tools {
    #[new]
    #[pyo3(signature = (tools=None, /))]
    fn new(tools: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Ok(Self { tools: read(tools)? })
    }

    /// The names, in order.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.tools.len()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        let json = del_wire::tools::definitions(&self.tools, del_wire::tools::Format::OpenAi);
        (py.get_type::<Self>(), (json.to_string(),))
    }

    fn __repr__(&self) -> String {
        format!("Tools({})", self.names().join(", "))
    }
}

/// The tools of an argument.
pub(crate) fn read(tools: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<[Tool]>> {
    let Some(tools) = tools else { return Ok(Arc::default()) };
    if let Ok(known) = tools.cast::<Tools>() {
        return Ok(Arc::clone(&known.get().tools));
    }
    let json = in_json(tools)?;
    let tools = del_wire::tools::read_text(json.to_str()?);
    tools.map(Into::into).map_err(|error| ToolsError::new_err(error.to_string()))
}

/// As JSON text: what a dict, a function or a model of pydantic is, Python knows best.
fn in_json<'py>(tools: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    static WRITE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let write = WRITE.import(tools.py(), "del_dialects._tools", "to_json")?;
    Ok(write.call1((tools,))?.cast_into()?)
}
