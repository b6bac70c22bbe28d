//! What a parser says, as objects of Python. `start` and `end` count bytes of the answer in UTF-8.

use del_dialects::{Event, FaultKind, Report, Sink, Span};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::call::Call;
use crate::error::DelError;
use crate::value::{self, Reduced, Value};

/// The names by which `match` takes an object of this class apart.
macro_rules! event {
    ($(#[doc = $doc:literal])* $class:ident { $($(#[doc = $about:literal])* $field:ident: $kind:ty),* $(,)? }) => {
        $(#[doc = $doc])*
        #[pyclass(frozen, get_all, module = "del_dialects")]
        pub(crate) struct $class {
            $($(#[doc = $about])* pub(crate) $field: $kind,)*
            /// The first byte of the answer that it stands for.
            pub(crate) start: u64,
            /// The byte behind the last.
            pub(crate) end: u64,
        }

        impl Value for $class {
            const FIELDS: &[&str] = &[$(stringify!($field),)* "start", "end"];
        }

        #[pymethods]
        impl $class {
            #[new]
            fn new($($field: $kind,)* start: u64, end: u64) -> Self {
                Self { $($field,)* start, end }
            }

            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
                PyTuple::new(py, [$(stringify!($field)),*])
            }

            fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
                shown(slf.as_any(), stringify!($class), &[$(stringify!($field)),*])
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
    };
}

event! {
    /// Text for the user.
    Text {
        /// The text.
        text: Py<PyString>,
    }
}

event! {
    /// The model's thinking.
    Reasoning {
        /// The text.
        text: Py<PyString>,
    }
}

event! {
    /// A call begins. Calls never nest or interleave.
    CallStart {
        /// The call's number, from 0 on.
        call: u32,
        /// The tool's name, whole.
        name: Py<PyString>,
        /// The id that the model wrote, if its dialect carries one.
        id: Option<Py<PyString>>,
        /// The dialect that the call is written in.
        dialect: Py<PyString>,
    }
}

event! {
    /// A piece of the call's arguments, as JSON text. All pieces together are one object.
    Args {
        /// The call's number.
        call: u32,
        /// JSON text; a piece may end anywhere.
        json: Py<PyString>,
    }
}

event! {
    /// The call is complete, and its arguments are valid JSON. A call without this event must not run.
    CallEnd {
        /// The call's number.
        call: u32,
        /// The id that the model wrote, where it stands behind the arguments.
        id: Option<Py<PyString>>,
    }
}

/// Something was wrong with what the model wrote, or was mended.
#[pyclass(frozen, module = "del_dialects", name = "Fault")]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// The call that it belongs to: in a stream its number, in a message its place in `calls`.
    #[pyo3(get)]
    pub(crate) call: Option<u32>,
    /// In a message, what there was of a call that does not count.
    #[pyo3(get)]
    pub(crate) lost: Option<Py<Call>>,
    /// The first byte of the answer that it stands for.
    #[pyo3(get)]
    pub(crate) start: u64,
    /// The byte behind the last.
    #[pyo3(get)]
    pub(crate) end: u64,
}

impl Value for Fault {
    const FIELDS: &[&str] = &["kind", "call", "lost", "start", "end"];
}

#[pymethods]
impl Fault {
    #[new]
    fn new(kind: &str, call: Option<u32>, lost: Option<Py<Call>>, start: u64, end: u64) -> PyResult<Self> {
        let known = FaultKind::ALL.iter().find(|known| known.as_str() == kind);
        let wrong = || DelError::new_err(format!("kind: expected the kind of a fault, got {kind:?}"));
        Ok(Self { kind: *known.ok_or_else(wrong)?, call, lost, start, end })
    }

    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("kind",)
    }

    /// What it is, in one word.
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind.as_str()
    }

    /// What it is, in one sentence.
    #[getter]
    fn message(&self) -> &'static str {
        self.kind.message()
    }

    /// True when a value, a key or the border of one may be another than the model meant: ask before the call acts.
    #[getter]
    fn changes_arguments(&self) -> bool {
        self.kind.changes_arguments()
    }

    /// True when the call that it belongs to does not count.
    #[getter]
    fn ends_call(&self) -> bool {
        self.kind.ends_call()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown(slf.as_any(), "Fault", &["kind", "call"])
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

impl Fault {
    /// The fault of a message.
    pub(crate) fn read(&self, py: Python<'_>) -> PyResult<Report> {
        Ok(Report {
            kind: self.kind,
            span: Span { start: self.start, end: self.end },
            call: self.lost.as_ref().map(|call| call.get().read(py)).transpose()?,
            place: self.call.and_then(|place| usize::try_from(place).ok()),
        })
    }
}

/// An object as it could be written, but for where it stands.
fn shown(object: &Bound<'_, PyAny>, class: &str, fields: &[&str]) -> PyResult<String> {
    let mut parts = Vec::new();
    for field in fields {
        parts.push(format!("{field}={}", object.getattr(*field)?.repr()?));
    }
    Ok(format!("{class}({})", parts.join(", ")))
}

/// Makes objects of events, and keeps the first error.
pub(crate) struct Objects<'py> {
    list: Bound<'py, PyList>,
    error: Option<PyErr>,
}

impl<'py> Objects<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        Self { list: PyList::empty(py), error: None }
    }

    pub(crate) fn into_list(self) -> PyResult<Bound<'py, PyList>> {
        self.error.map_or(Ok(self.list), Err)
    }

    fn add(&mut self, event: Event<'_>, span: &Span) -> PyResult<()> {
        let py = self.list.py();
        let text = |text: &str| PyString::new(py, text).unbind();
        let Span { start, end } = *span;
        match event {
            Event::Text(piece) => self.list.append(Py::new(py, Text { text: text(piece), start, end })?),
            Event::Reasoning(piece) => {
                self.list.append(Py::new(py, Reasoning { text: text(piece), start, end })?)
            }
            Event::CallStart { call, name, id, dialect } => {
                let (name, id, dialect) = (text(name), id.map(text), text(dialect));
                self.list.append(Py::new(py, CallStart { call, name, id, dialect, start, end })?)
            }
            Event::Args { call, json } => {
                self.list.append(Py::new(py, Args { call, json: text(json), start, end })?)
            }
            Event::CallEnd { call, id } => {
                self.list.append(Py::new(py, CallEnd { call, id: id.map(text), start, end })?)
            }
            Event::Fault(fault) => {
                let (kind, call) = (fault.kind, fault.call);
                self.list.append(Py::new(py, Fault { kind, call, lost: None, start, end })?)
            }
        }
    }
}

impl Sink for Objects<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        if let Err(error) = self.add(event, &span) {
            self.error.get_or_insert(error);
        }
    }
}
