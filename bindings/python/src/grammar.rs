//! What a model may write, for engines of constrained decoding.

use del_grammar::{Choice, Options};
use pyo3::prelude::*;

use crate::call::loads;
use crate::dialect::one;
use crate::error::GrammarError;
use crate::tools;

/// What a model may write, as a grammar. Each engine has its own notation.
#[pyclass(frozen, module = "del_dialects", name = "Grammar")]
pub(crate) struct Grammar {
    grammar: del_grammar::Grammar,
}

/// The grammar of one answer. `choice` is `"auto"` for text or calls, `"required"` for calls and nothing else, or the name
/// of the tool that has to be called, once.
#[pyfunction]
#[pyo3(signature = (dialect, tools, choice="auto", *, parallel=true, thinking=false))]
pub(crate) fn grammar(
    dialect: &Bound<'_, PyAny>,
    tools: &Bound<'_, PyAny>,
    choice: &str,
    parallel: bool,
    thinking: bool,
) -> PyResult<Grammar> {
    let choice = match choice {
        "auto" => Choice::Auto,
        "required" => Choice::Required,
        name => Choice::Named(name.to_owned()),
    };
    let options = Options::new(choice).parallel(parallel).thinking(thinking);
    let (dialect, tools) = (one(dialect)?, tools::read(Some(tools))?);
    let grammar = del_grammar::Grammar::new(&dialect, &tools, &options);
    grammar.map(|grammar| Grammar { grammar }).map_err(|error| GrammarError::new_err(error.to_string()))
}

#[pymethods]
impl Grammar {
    /// Texts by which calls begin, for a sampler that waits for one of them.
    #[getter]
    fn triggers(&self) -> Vec<&str> {
        self.grammar.triggers().iter().map(String::as_str).collect()
    }

    /// What the schemas ask and the grammar does not hold a model to.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.grammar.warnings().iter().map(ToString::to_string).collect()
    }

    /// The grammar for llama.cpp.
    fn to_gbnf(&self, py: Python<'_>) -> String {
        py.detach(|| self.grammar.to_gbnf())
    }

    /// The grammar for llguidance.
    fn to_lark(&self, py: Python<'_>) -> String {
        py.detach(|| self.grammar.to_lark())
    }

    /// The grammar for `XGrammar`, as vLLM and `SGLang` take it: `{"type": "structural_tag", "format": …}`.
    fn to_structural_tag<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &py.detach(|| self.grammar.to_structural_tag().to_string()))
    }

    /// One regular expression that whole answers match, without anchors.
    fn to_regex(&self, py: Python<'_>) -> PyResult<String> {
        let regex = py.detach(|| self.grammar.to_regex());
        regex.map_err(|error| GrammarError::new_err(error.to_string()))
    }

    fn __repr__(&self) -> String {
        format!("<Grammar, triggers {:?}>", self.grammar.triggers())
    }
}
