//! A whole answer. What is asked for is made an object of Python once.

use del_dialects::Part;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::event::Fault;

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

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        Ok(self.read(py)? == other.read(py)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyTuple::new(py, [&self.name, &self.arguments])?.hash()
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
    fn of(py: Python<'_>, call: &del_dialects::Call) -> PyResult<Py<Self>> {
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

/// The markup by which a call was known: from its first byte to where the arguments begin.
#[pyclass(frozen, get_all, module = "del_dialects", name = "Evidence")]
pub(crate) struct Evidence {
    /// The dialect of the call.
    dialect: String,
    /// The first byte of the markup.
    start: u64,
    /// The byte behind the last.
    end: u64,
}

#[pymethods]
impl Evidence {
    fn __repr__(&self) -> String {
        let Self { dialect, start, end } = self;
        format!("Evidence(dialect={dialect:?}, start={start}, end={end})")
    }
}

/// A whole answer. It is the same however its text was cut into pieces.
#[pyclass(frozen, module = "del_dialects", name = "Message")]
pub(crate) struct Message {
    pub(crate) message: del_dialects::Message,
    content: PyOnceLock<Py<PyString>>,
    reasoning: PyOnceLock<Py<PyString>>,
    calls: PyOnceLock<Py<PyTuple>>,
    parts: PyOnceLock<Py<PyTuple>>,
    faults: PyOnceLock<Py<PyTuple>>,
}

impl From<del_dialects::Message> for Message {
    fn from(message: del_dialects::Message) -> Self {
        Self {
            message,
            content: PyOnceLock::new(),
            reasoning: PyOnceLock::new(),
            calls: PyOnceLock::new(),
            parts: PyOnceLock::new(),
            faults: PyOnceLock::new(),
        }
    }
}

#[pymethods]
impl Message {
    /// An answer to be written.
    #[new]
    #[pyo3(signature = (content=String::new(), *, reasoning=String::new(), calls=Vec::new()))]
    fn new(
        py: Python<'_>,
        content: String,
        reasoning: String,
        calls: Vec<Bound<'_, Call>>,
    ) -> PyResult<Self> {
        let calls = calls.iter().map(|call| call.get().read(py)).collect::<PyResult<_>>()?;
        Ok(del_dialects::Message { content, reasoning, calls, ..Default::default() }.into())
    }

    /// The dialect of the first call.
    #[getter]
    fn dialect(&self) -> Option<&str> {
        self.message.dialect.as_deref()
    }

    /// All text, joined.
    #[getter]
    fn content(&self, py: Python<'_>) -> Py<PyString> {
        self.content.get_or_init(py, || PyString::new(py, &self.message.content).unbind()).clone_ref(py)
    }

    /// All thinking, joined.
    #[getter]
    fn reasoning(&self, py: Python<'_>) -> Py<PyString> {
        self.reasoning.get_or_init(py, || PyString::new(py, &self.message.reasoning).unbind()).clone_ref(py)
    }

    /// The calls that are complete.
    #[getter]
    fn calls(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let calls = self.calls.get_or_try_init(py, || {
            let calls = self.message.calls.iter().map(|call| Call::of(py, call));
            Ok::<_, PyErr>(PyTuple::new(py, calls.collect::<PyResult<Vec<_>>>()?)?.unbind())
        })?;
        Ok(calls.clone_ref(py))
    }

    /// Text, thinking and calls in the order in which the model wrote them: pairs of `"text"`, `"reasoning"` or `"call"`
    /// and the text or the call.
    #[getter]
    fn parts(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let calls = self.calls(py)?;
        let parts = self.parts.get_or_try_init(py, || {
            let parts = self.message.parts.iter().map(|part| match part {
                Part::Text(text) => ("text", text).into_pyobject(py),
                Part::Reasoning(text) => ("reasoning", text).into_pyobject(py),
                Part::Call(place) => ("call", calls.bind(py).get_item(*place)?).into_pyobject(py),
            });
            Ok::<_, PyErr>(PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.unbind())
        })?;
        Ok(parts.clone_ref(py))
    }

    /// What was wrong.
    #[getter]
    fn faults(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let faults = self.faults.get_or_try_init(py, || {
            let faults = self.message.faults.iter().map(|report| {
                let fault = Fault {
                    kind: report.kind,
                    call: report.place.and_then(|place| u32::try_from(place).ok()),
                    lost: report.call.as_ref().map(|call| Call::of(py, call)).transpose()?,
                    start: report.span.start,
                    end: report.span.end,
                };
                Py::new(py, fault)
            });
            Ok::<_, PyErr>(PyTuple::new(py, faults.collect::<PyResult<Vec<_>>>()?)?.unbind())
        })?;
        Ok(faults.clone_ref(py))
    }

    /// For each call, by which markup it was known.
    #[getter]
    fn evidence(&self) -> Vec<Evidence> {
        let evidence = self.message.evidence.iter();
        evidence
            .map(|known| Evidence {
                dialect: known.dialect.clone(),
                start: known.span.start,
                end: known.span.end,
            })
            .collect()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.message == other.message
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let field = |name: &str| Ok::<_, PyErr>(slf.getattr(name)?.repr()?.to_string());
        Ok(format!(
            "<Message content={} reasoning={} calls={} faults={}>",
            field("content")?,
            field("reasoning")?,
            field("calls")?,
            field("faults")?
        ))
    }
}
