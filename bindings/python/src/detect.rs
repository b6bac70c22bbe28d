//! Which dialect a chat template, a checkpoint or an answer is in.

use std::path::{Path, PathBuf};

use del_detect::{Found, Material, Options};
use del_dialects::Dialects;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dialect::one;
use crate::error::{DetectError, TemplateError};

/// What was found out.
#[pyclass(frozen, module = "del_dialects", name = "Detection")]
pub(crate) struct Detection {
    found: Found,
}

/// Which dialect a chat template, a tokenizer configuration or an answer of a model is in. A template is a program: it is
/// run with a limit on its steps; run it in a process of limited memory where it is not trusted. `describe` asks for a
/// description also where a known dialect fits.
#[pyfunction]
#[pyo3(signature = (text, *, describe=false))]
pub(crate) fn detect(py: Python<'_>, text: &str, describe: bool) -> PyResult<Detection> {
    look(py, describe, || Material::of_text(text, Path::new("")))
}

/// The same of a file, or of the folder of a checkpoint.
#[pyfunction]
#[pyo3(signature = (path, *, describe=false))]
pub(crate) fn detect_file(py: Python<'_>, path: PathBuf, describe: bool) -> PyResult<Detection> {
    look(py, describe, || Material::read(&path))
}

/// The response template of a dialect, as JSON. `start_anchor` is a regular expression of what ends the prompt.
#[pyfunction]
#[pyo3(signature = (dialect, *, start_anchor=None))]
pub(crate) fn response_template(dialect: &Bound<'_, PyAny>, start_anchor: Option<&str>) -> PyResult<String> {
    let dialect = one(dialect)?;
    let made = del_detect::response::template(&dialect, start_anchor);
    made.map(|made| made.to_string())
        .map_err(|error| TemplateError::new_err(format!("{}: {error}", dialect.name())))
}

fn look(
    py: Python<'_>,
    describe: bool,
    material: impl FnOnce() -> Result<Material, del_detect::SourceError> + Send,
) -> PyResult<Detection> {
    let found = py.detach(|| {
        let material = material().map_err(|error| error.to_string())?;
        let options = Options { describe, ..Options::default() };
        del_detect::detect(&material, Dialects::builtin(), options).map_err(|error| error.to_string())
    });
    found.map(|found| Detection { found }).map_err(DetectError::new_err)
}

#[pymethods]
impl Detection {
    /// The dialect's name; `None` where there are no tool calls, or no known dialect fits.
    #[getter]
    fn dialect(&self) -> Option<&str> {
        self.found.report.dialect.as_deref()
    }

    /// How sure the answer is, from 0 to 1.
    #[getter]
    fn confidence(&self) -> f64 {
        self.found.report.confidence
    }

    /// What was seen, line by line.
    #[getter]
    fn evidence(&self) -> Vec<&str> {
        self.found.report.evidence.iter().map(String::as_str).collect()
    }

    /// Whether there are tool calls at all.
    #[getter]
    fn tool_calls(&self) -> bool {
        self.found.report.tool_calls
    }

    /// What a user should know.
    #[getter]
    fn warnings(&self) -> Vec<&str> {
        self.found.report.warnings.iter().map(String::as_str).collect()
    }

    /// The marks of thinking, where there are any: `begin`, `end`, and whether the prompt ends inside it.
    #[getter]
    fn reasoning<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(thinking) = &self.found.report.reasoning else { return Ok(None) };
        let marks = PyDict::new(py);
        marks.set_item("begin", &thinking.begin)?;
        marks.set_item("end", &thinking.end)?;
        marks.set_item("prefilled", thinking.prefilled)?;
        Ok(Some(marks))
    }

    /// A description of how calls are written, as TOML, where it was asked for or no known dialect fits.
    #[getter]
    fn description(&self) -> Option<&str> {
        self.found.description.as_ref().map(|description| description.toml.as_str())
    }

    fn __repr__(&self) -> String {
        let report = &self.found.report;
        let dialect = report.dialect.as_deref().unwrap_or("none");
        format!("<Detection {dialect}, {:.0} % sure>", report.confidence * 100.0)
    }
}
