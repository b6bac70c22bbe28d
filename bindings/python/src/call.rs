//! A call, and its arguments as objects of Python.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::value::{self, Reduced, Value};

/// A complete call.
#[pyclass(frozen, module = "del_dialects", name = "Call")]
pub(crate) struct Call {
    /// The tool's name.
    #[pyo3(get)]
    name: Py<PyString>,
    /// JSON text of an object; byte for byte what the model wrote where its dialect writes JSON.
    #[pyo3(get)]
    arguments: Py<PyString>,
    /// The id that the model wrote, if its dialect carries one.
    #[pyo3(get)]
    id: Option<Py<PyString>>,
}

impl Value for Call {
    const FIELDS: &[&str] = &["name", "arguments", "id"];
}

#[pymethods]
impl Call {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("name", "arguments", "id")
    }

    /// `arguments` is JSON text, or a dict that is written as JSON.
    #[new]
    #[pyo3(signature = (name, arguments, id=None))]
    fn new(
        name: Bound<'_, PyString>,
        arguments: &Bound<'_, PyAny>,
        id: Option<Bound<'_, PyString>>,
    ) -> PyResult<Self> {
        let arguments = match arguments.cast::<PyString>() {
            Ok(text) => text.clone(),
            Err(_) if arguments.is_instance_of::<PyDict>() => dumps(arguments)?,
            Err(_) => {
                let kind = arguments.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "arguments: expected JSON text or a dict, got {kind}"
                )));
            }
        };
        Ok(Self { name: name.unbind(), arguments: arguments.unbind(), id: id.map(Bound::unbind) })
    }

    /// The arguments as a dict.
    fn loads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, self.arguments.bind(py).to_str()?)
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
        value::equal(slf, other)
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        value::hash(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        value::reduce(slf)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let id = match &self.id {
            Some(id) => format!(", id={}", id.bind(py).repr()?),
            None => String::new(),
        };
        Ok(format!("Call({}, {}{id})", self.name.bind(py).repr()?, self.arguments.bind(py).repr()?))
    }
}

impl Call {
    pub(crate) fn of(py: Python<'_>, call: &del_dialects::Call) -> PyResult<Py<Self>> {
        let text = |text: &String| PyString::new(py, text).unbind();
        let (name, arguments, id) = (text(&call.name), text(&call.arguments), call.id.as_ref().map(text));
        Py::new(py, Self { name, arguments, id })
    }

    pub(crate) fn read(&self, py: Python<'_>) -> PyResult<del_dialects::Call> {
        let text = |text: &Py<PyString>| text.bind(py).to_str().map(str::to_owned);
        Ok(del_dialects::Call {
            id: self.id.as_ref().map(text).transpose()?,
            name: text(&self.name)?,
            arguments: text(&self.arguments)?,
        })
    }
}

/// What JSON text says, as objects of Python.
pub(crate) fn loads<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    LOADS.import(py, "json", "loads")?.call1((json,))
}

/// JSON text of what Python has.
pub(crate) fn dumps<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    static DUMPS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let options = PyDict::new(py);
    options.set_item("ensure_ascii", false)?;
    Ok(DUMPS.import(py, "json", "dumps")?.call((value,), Some(&options))?.cast_into()?)
}
