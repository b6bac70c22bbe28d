//! The module `del_dialects._lib`: Del's crates for Python. What is for Python alone, such as the tools of a function's
//! signature, is written in Python beside it.

mod batch;
mod call;
mod detect;
mod dialect;
mod error;
mod event;
mod grammar;
mod message;
mod parser;
mod render;
mod tools;
mod value;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
mod _lib {
    #[pymodule_export]
    use super::batch::{Answers, convert_batch, parse_batch};
    #[pymodule_export]
    use super::call::Call;
    #[pymodule_export]
    use super::detect::{Detection, detect, detect_file, response_template};
    #[pymodule_export]
    use super::dialect::{Dialect, dialects, neutralise, restore, restore_json};
    #[pymodule_export]
    use super::error::{
        DelError, DetectError, DialectError, GrammarError, RenderError, TemplateError, ToolsError,
        UnknownDialectError,
    };
    #[pymodule_export]
    use super::event::{Args, CallEnd, CallStart, Fault, Reasoning, Text};
    #[pymodule_export]
    use super::grammar::{Grammar, grammar};
    #[pymodule_export]
    use super::message::{Evidence, Message};
    #[pymodule_export]
    use super::parser::{Parser, parse};
    #[pymodule_export]
    use super::render::{
        render_answer, render_calls, render_definitions, render_messages, render_prompt, render_results,
    };
    #[pymodule_export]
    use super::tools::Tools;

    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
