//! Dialects, by name or described anew.

use std::sync::Arc;

use del_dialects::{Dialects, Parser, Turn};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::{DialectError, UnknownDialectError};

/// How a family of models writes tool calls.
#[pyclass(frozen, module = "del_dialects", name = "Dialect")]
pub(crate) struct Dialect {
    pub(crate) dialect: Arc<del_dialects::Dialect>,
}

#[pymethods]
impl Dialect {
    /// A built-in dialect by its name, or by a name that another engine has for it. Case, and the difference of `-` and
    /// `_`, do not matter; `vllm:mistral` asks for one engine's.
    #[staticmethod]
    fn get(name: &str) -> PyResult<Self> {
        Ok(Self { dialect: known(name)? })
    }

    /// The built-in dialect of a model by its id, such as `Qwen/Qwen3-8B`; `None` where the id tells nothing.
    #[staticmethod]
    fn for_model(model: &str) -> Option<Self> {
        Dialects::builtin().for_model(model).map(|dialect| Self { dialect: Arc::clone(dialect) })
    }

    /// A dialect of one's own, from its description.
    #[staticmethod]
    fn from_toml(toml: &str, name: &str) -> PyResult<Self> {
        let dialect = del_dialects::Dialect::from_toml(name, toml);
        dialect
            .map(|dialect| Self { dialect: Arc::new(dialect) })
            .map_err(|error| DialectError::new_err(format!("{name}: {error}")))
    }

    /// The canonical name.
    #[getter]
    fn name(&self) -> &str {
        self.dialect.name()
    }

    /// The models that write it, for people.
    #[getter]
    fn title(&self) -> &str {
        self.dialect.title()
    }

    /// The kind of form.
    #[getter]
    fn family(&self) -> &str {
        self.dialect.family()
    }

    /// Where the format is specified.
    #[getter]
    fn source(&self) -> &str {
        self.dialect.source()
    }

    /// Globs over ids of models that write it.
    #[getter]
    fn models(&self) -> Vec<&str> {
        self.dialect.models().iter().map(String::as_str).collect()
    }

    /// Names of this dialect in other engines.
    #[getter]
    fn aliases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let aliases = PyDict::new(py);
        for (engine, names) in self.dialect.aliases() {
            aliases.set_item(engine, names)?;
        }
        Ok(aliases)
    }

    /// The marks that open thinking; the first is the one that the model writes.
    #[getter]
    fn reasoning_begin(&self) -> Vec<&str> {
        self.dialect.reasoning().iter().flat_map(|marks| &marks.begin).map(String::as_str).collect()
    }

    /// The marks that close thinking; the first is the one that the model writes.
    #[getter]
    fn reasoning_end(&self) -> Vec<&str> {
        self.dialect.reasoning().iter().flat_map(|marks| &marks.end).map(String::as_str).collect()
    }

    /// The role of the message that carries the results of calls.
    #[getter]
    fn results_role(&self) -> &str {
        self.dialect.results_role()
    }

    /// The description.
    #[getter]
    fn toml(&self) -> &str {
        self.dialect.text()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&str, &str))> {
        Ok((py.get_type::<Self>().getattr("from_toml")?, (self.dialect.text(), self.dialect.name())))
    }

    fn __repr__(&self) -> String {
        format!("Dialect({:?})", self.dialect.name())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.dialect.name() == other.dialect.name() && self.dialect.text() == other.dialect.text()
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.dialect.name(), self.dialect.text()).hash(&mut hasher);
        hasher.finish()
    }
}

/// All built-in dialects, in the order in which `auto` prefers them.
#[pyfunction]
pub(crate) fn dialects() -> Vec<Dialect> {
    Dialects::builtin().iter().map(|dialect| Dialect { dialect: Arc::clone(dialect) }).collect()
}

/// Text of others (results, names, what a user pasted) for a prompt: every mark of every dialect in it is broken by an
/// invisible character, so that nothing in it reads as a call, a result or the end of a turn.
#[pyfunction]
pub(crate) fn neutralise(text: &str) -> String {
    Dialects::builtin().neutralise(text).into_owned()
}

/// What `neutralise` was given, from what it made of it or from any part of that.
#[pyfunction]
pub(crate) fn restore(text: &str) -> String {
    Dialects::builtin().restore(text).into_owned()
}

/// The same of JSON text, in every string of it: for the arguments of a call.
#[pyfunction]
pub(crate) fn restore_json(json: &str) -> String {
    Dialects::builtin().restore_json(json).into_owned()
}

/// What the argument `dialect` of a function may be.
pub(crate) enum Which {
    /// All dialects at once.
    Auto,
    /// One.
    One(Arc<del_dialects::Dialect>),
}

impl<'py> FromPyObject<'_, 'py> for Which {
    type Error = PyErr;

    fn extract(dialect: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match dialect.cast::<PyString>() {
            Ok(name) if name.to_str()? == "auto" => Ok(Self::Auto),
            _ => one(&dialect).map(Self::One),
        }
    }
}

impl Which {
    pub(crate) fn parser(&self, turn: Turn) -> Parser {
        match self {
            Self::Auto => Dialects::builtin().parser(turn),
            Self::One(dialect) => dialect.parser(turn),
        }
    }
}

/// One dialect, by name or as an object.
pub(crate) fn one(dialect: &Bound<'_, PyAny>) -> PyResult<Arc<del_dialects::Dialect>> {
    match dialect.cast::<Dialect>() {
        Ok(dialect) => Ok(Arc::clone(&dialect.get().dialect)),
        Err(_) => known(dialect.cast::<PyString>()?.to_str()?),
    }
}

fn known(name: &str) -> PyResult<Arc<del_dialects::Dialect>> {
    let known = Dialects::builtin().named(name).cloned();
    known.map_err(|error| UnknownDialectError::new_err(error.to_string()))
}
