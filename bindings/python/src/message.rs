//! A whole answer. What is asked for is made an object of Python once.

use del_dialects::{Part, Span};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};

use crate::call::Call;
use crate::event::Fault;
use crate::value::{self, Reduced, Value};

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

impl Value for Evidence {
    const FIELDS: &[&str] = &["dialect", "start", "end"];
}

#[pymethods]
impl Evidence {
    #[new]
    fn new(dialect: String, start: u64, end: u64) -> Self {
        Self { dialect, start, end }
    }

    fn __repr__(&self) -> String {
        let Self { dialect, start, end } = self;
        format!("Evidence(dialect={dialect:?}, start={start}, end={end})")
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
}

impl Evidence {
    fn read(&self) -> del_dialects::Evidence {
        let Self { dialect, start, end } = self;
        del_dialects::Evidence { dialect: dialect.clone(), span: Span { start: *start, end: *end } }
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
        evidence.map(|known| Evidence::new(known.dialect.clone(), known.span.start, known.span.end)).collect()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.message == other.message
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.content(py), self.reasoning(py), self.calls(py)?).into_pyobject(py)?.hash()
    }

    /// What an answer was before it was pickled, from the arguments that `__reduce__` gives.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the fields of an answer")]
    fn _again(
        py: Python<'_>,
        dialect: Option<String>,
        content: String,
        reasoning: String,
        calls: Vec<Bound<'_, Call>>,
        parts: Vec<Stretch>,
        faults: Vec<Bound<'_, Fault>>,
        evidence: Vec<Bound<'_, Evidence>>,
    ) -> PyResult<Self> {
        let calls = calls.iter().map(|call| call.get().read(py)).collect::<PyResult<_>>()?;
        let faults = faults.iter().map(|fault| fault.get().read(py)).collect::<PyResult<_>>()?;
        let evidence = evidence.iter().map(|known| known.get().read()).collect();
        let parts = parts.into_iter().map(Stretch::part).collect();
        Ok(del_dialects::Message { dialect, content, reasoning, calls, parts, faults, evidence }.into())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, message) = (slf.py(), slf.get());
        let state = (
            message.dialect(),
            message.content(py),
            message.reasoning(py),
            message.calls(py)?,
            message.message.parts.iter().map(Stretch::of).collect::<Vec<_>>(),
            message.faults(py)?,
            message.evidence(),
        );
        Ok((slf.get_type().getattr("_again")?, state.into_pyobject(py)?))
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

/// A part of an answer, as it is pickled.
#[derive(FromPyObject, IntoPyObject)]
enum Stretch {
    Call(usize),
    Text(String),
    Reasoning((String,)),
}

impl Stretch {
    fn of(part: &Part) -> Self {
        match part {
            Part::Call(place) => Self::Call(*place),
            Part::Text(text) => Self::Text(text.clone()),
            Part::Reasoning(text) => Self::Reasoning((text.clone(),)),
        }
    }

    fn part(self) -> Part {
        match self {
            Self::Call(place) => Part::Call(place),
            Self::Text(text) => Part::Text(text),
            Self::Reasoning((text,)) => Part::Reasoning(text),
        }
    }
}
