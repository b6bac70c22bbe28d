//! What can be wrong with what a program asks for. What a model writes is never an error.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;

create_exception!(del_dialects, DelError, PyValueError, "Something that was asked for cannot be done.");
create_exception!(del_dialects, UnknownDialectError, DelError, "There is no dialect of this name.");
create_exception!(del_dialects, DialectError, DelError, "A description of a dialect is none.");
create_exception!(del_dialects, ToolsError, DelError, "Tool definitions cannot be read.");
create_exception!(del_dialects, RenderError, DelError, "A dialect cannot carry an answer.");
create_exception!(del_dialects, GrammarError, DelError, "There is no grammar of this kind.");
create_exception!(del_dialects, DetectError, DelError, "A file or a chat template cannot be looked at.");
create_exception!(del_dialects, TemplateError, DelError, "A dialect has no response template.");
