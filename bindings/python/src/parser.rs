//! Reading: a whole answer, or one that arrives in pieces.

use del_dialects::{Collect, End, Sink, Turn, UnknownStart};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::dialect::Which;
use crate::error::DelError;
use crate::event::Objects;
use crate::message::Message;
use crate::tools;

/// Reads a whole answer. `starts_in` is `"text"`, `"reasoning"` where the prompt ended inside the thinking, or
/// `"unknown"`: what stands before a mark that ends thinking, and that nothing opened, is thinking. `cut` says that the
/// answer was cut off, and did not end by itself.
#[pyfunction]
#[pyo3(
    signature = (text, dialect=Which::Auto, tools=None, *, starts_in="unknown", cut=false),
    text_signature = "(text, dialect='auto', tools=None, *, starts_in='unknown', cut=False)"
)]
pub(crate) fn parse(
    py: Python<'_>,
    text: &str,
    dialect: Which,
    tools: Option<&Bound<'_, PyAny>>,
    starts_in: &str,
    cut: bool,
) -> PyResult<Message> {
    let turn = turn(tools, starts_in)?;
    Ok(Message::from(py.detach(|| read(text, &dialect, turn, end(cut)))))
}

pub(crate) fn read(text: &str, dialect: &Which, turn: Turn, end: End) -> del_dialects::Message {
    let mut answer = Collect::new();
    read_into(text, dialect, turn, end, &mut answer);
    answer.into_message()
}

/// Reads a whole answer.
pub(crate) fn read_into(text: &str, dialect: &Which, turn: Turn, end: End, sink: &mut dyn Sink) {
    let mut parser = dialect.parser(turn);
    parser.push(text, sink);
    parser.finish(end, sink);
}

/// Reads one answer as it arrives: `push` each piece, then `finish`. With `starts_in="unknown"` text may be held until a
/// mark of thinking, or the end of the answer.
#[pyclass(module = "del_dialects", name = "Parser")]
pub(crate) struct Parser {
    /// None when the answer is over.
    parser: Option<del_dialects::Parser>,
}

#[pymethods]
impl Parser {
    #[new]
    #[pyo3(
        signature = (dialect=Which::Auto, tools=None, *, starts_in="text"),
        text_signature = "(dialect='auto', tools=None, *, starts_in='text')"
    )]
    fn new(dialect: Which, tools: Option<&Bound<'_, PyAny>>, starts_in: &str) -> PyResult<Self> {
        Ok(Self { parser: Some(dialect.parser(turn(tools, starts_in)?)) })
    }

    /// The next piece of the answer; returns everything that is settled by it.
    #[pyo3(signature = (text, /))]
    fn push<'py>(&mut self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let mut events = Objects::new(py);
        self.parser.as_mut().ok_or_else(over)?.push(text, &mut events);
        events.into_list()
    }

    /// The answer is over; returns what was held. `cut` says that it was cut off, and did not end by itself.
    #[pyo3(signature = (*, cut=false))]
    fn finish<'py>(&mut self, py: Python<'py>, cut: bool) -> PyResult<Bound<'py, PyList>> {
        let mut events = Objects::new(py);
        self.parser.take().ok_or_else(over)?.finish(end(cut), &mut events);
        events.into_list()
    }

    /// How many bytes are held back, because they may be part of markup.
    #[getter]
    fn held(&self) -> usize {
        self.parser.as_ref().map_or(0, del_dialects::Parser::held)
    }

    /// A parser that reads on from the same place.
    fn __copy__(&self) -> Self {
        Self { parser: self.parser.clone() }
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__()
    }

    fn __repr__(&self) -> String {
        match &self.parser {
            Some(parser) => format!("<Parser, {} bytes held>", parser.held()),
            None => "<Parser, finished>".to_owned(),
        }
    }
}

fn over() -> PyErr {
    DelError::new_err("expected an answer that goes on, got one that is finished: use a new Parser")
}

pub(crate) fn turn(tools: Option<&Bound<'_, PyAny>>, starts_in: &str) -> PyResult<Turn> {
    let wrong = |error: UnknownStart| DelError::new_err(format!("starts_in: {error}"));
    let starts = starts_in.parse().map_err(wrong)?;
    Ok(Turn::new(tools::read(tools)?).starting(starts))
}

fn end(cut: bool) -> End {
    if cut { End::Cut } else { End::End }
}
