//! Columns of answers, from any library that speaks the Arrow `PyCapsule` interface: nothing is copied on its way in or out.

use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, NullArray};
use arrow_schema::{ArrowError, DataType, FieldRef};
use del_bulk::{Answer, Columns, Rewritten, Texts, field};
use del_dialects::{Dialects, End};
use del_wire::convert::{Beside, Cell, Converter, Source, Target};
use del_wire::native;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyString, PyTuple};
use pyo3_arrow::PyChunkedArray;
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule};
use pyo3_arrow::input::AnyArray;

use crate::dialect::{Which, one};
use crate::error::DelError;
use crate::parser::{read_into, turn};
use crate::tools;

/// Fewer answers than this are not worth a thread.
const SHARE: usize = 256;

/// Answers that were read or rewritten, as a column of Arrow. Every library that takes such columns takes this: `pyarrow.chunked_array`,
/// `polars.Series`, …
#[pyclass(frozen, module = "del_dialects", name = "Answers")]
pub(crate) struct Answers {
    chunks: Vec<ArrayRef>,
    field: FieldRef,
}

/// Reads a column of whole answers. `column` is anything with `__arrow_c_array__` or `__arrow_c_stream__`, of strings.
/// A missing answer stays missing. `threads` is how many to use, one for each core if it is left out.
#[pyfunction]
#[pyo3(
    signature = (column, dialect=Which::Auto, tools=None, *, starts_in="unknown", threads=None),
    text_signature = "(column, dialect='auto', tools=None, *, starts_in='unknown', threads=None)"
)]
pub(crate) fn parse_batch(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    dialect: Which,
    tools: Option<&Bound<'_, PyAny>>,
    starts_in: &str,
    threads: Option<usize>,
) -> PyResult<Answers> {
    let turn = turn(tools, starts_in)?;
    let chunks = each_part(py, column, threads, |texts, part| {
        let (mut columns, mut answer) = (Columns::default(), Answer::default());
        for place in part {
            let Some(text) = texts.get(place) else {
                columns.add(None);
                continue;
            };
            answer.clear();
            read_into(text, &dialect, turn.clone(), End::End, &mut answer);
            columns.add(Some(&answer));
        }
        columns.finish()
    })?;
    Ok(Answers { chunks, field: field() })
}

/// Rewrites a column of whole answers in the dialect `to`, or with `messages` a column of transcripts, each a JSON list of
/// messages. What cannot be rewritten without a change of meaning has an error in place of its text; what is missing
/// stays missing. `drop_thinking` leaves out what the model thought, for a dialect that has no form for it. Calls whose
/// arguments were mended by a guess are rewritten with `keep_guesses` alone.
#[pyfunction]
#[pyo3(
    signature = (column, to, dialect=Which::Auto, tools=None, *, messages=false, drop_thinking=false, keep_guesses=false, threads=None),
    text_signature = "(column, to, dialect='auto', tools=None, *, messages=False, drop_thinking=False, keep_guesses=False, threads=None)"
)]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn convert_batch(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    to: &Bound<'_, PyAny>,
    dialect: Which,
    tools: Option<&Bound<'_, PyAny>>,
    messages: bool,
    drop_thinking: bool,
    keep_guesses: bool,
    threads: Option<usize>,
) -> PyResult<Answers> {
    let from = match dialect {
        Which::Auto => Source::Any(Dialects::builtin()),
        Which::One(dialect) => Source::Text(dialect),
    };
    let to = match to.cast::<PyString>() {
        Ok(name) if name.to_str()? == native::NAME => Target::Native,
        _ => Target::Text(one(to)?),
    };
    let converter = Converter::new(from, to, !drop_thinking, tools::read(tools)?);
    let converter = if keep_guesses { converter.with_guesses() } else { converter };
    let chunks = each_part(py, column, threads, |texts, part| {
        let (mut columns, mut converter) = (Rewritten::default(), converter.clone());
        for place in part {
            let made = texts.get(place).map(|text| {
                // Ids of calls follow from the text alone, however the rows were cut into columns.
                let cell = if messages { Cell::Messages(text) } else { Cell::Answer(text) };
                converter.cell(cell, Beside::default(), 0)
            });
            columns.add(made.as_ref());
        }
        columns.finish()
    })?;
    Ok(Answers { chunks, field: Rewritten::field() })
}

/// What `work` makes of the strings of a column: it is given parts of them, on several threads, and the parts are put
/// together in order.
fn each_part(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    threads: Option<usize>,
    work: impl Fn(Texts<'_>, Range<usize>) -> Result<ArrayRef, ArrowError> + Sync,
) -> PyResult<Vec<ArrayRef>> {
    let threads = match threads {
        Some(0) => return Err(DelError::new_err("threads: expected at least 1, got 0")),
        Some(threads) => threads,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let (chunks, given) = arrow(column)?.into_inner();
    py.detach(|| {
        let mut made = Vec::new();
        for chunk in chunks {
            let expected = |got: String| {
                let name = if given.name().is_empty() { "column" } else { given.name() };
                PyTypeError::new_err(format!("{name}: expected strings, got {got}"))
            };
            // Who has made it may not have looked whether it is UTF-8.
            chunk.to_data().validate_full().map_err(|error| expected(error.to_string()))?;
            let texts = Texts::of(&chunk).ok_or_else(|| expected(chunk.data_type().to_string()))?;
            made.extend(on_threads(texts, threads, &work)?);
        }
        Ok(made)
    })
}

fn arrow(column: &Bound<'_, PyAny>) -> PyResult<PyChunkedArray> {
    for way in ["__arrow_c_array__", "__arrow_c_stream__"] {
        if column.hasattr(way)? {
            // What was handed over once is empty the second time, and the reader of arrays takes that for a mistake of its own.
            return panic::catch_unwind(AssertUnwindSafe(|| taken(column))).unwrap_or_else(|_| {
                Err(DelError::new_err(
                    "column: expected a whole column of Arrow, got one that was taken already",
                ))
            });
        }
    }
    let kind = column.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "column: expected a column of Arrow, such as `pyarrow.array([…])` or a series of Polars, got {kind}"
    )))
}

fn taken(column: &Bound<'_, PyAny>) -> PyResult<PyChunkedArray> {
    let given = column.extract::<AnyArray>()?;
    let field = given.field()?;
    // Polars gives such a column a buffer, which Arrow does not allow. There is nothing in it to read.
    if let (AnyArray::Stream(_), DataType::Null, Ok(rows)) = (&given, field.data_type(), column.len()) {
        return PyChunkedArray::try_new(vec![Arc::new(NullArray::new(rows))], field);
    }
    Ok(given.into_chunked_array()?)
}

/// A chunk in parts, each worked on by a thread of its own.
fn on_threads(
    texts: Texts<'_>,
    threads: usize,
    work: &(impl Fn(Texts<'_>, Range<usize>) -> Result<ArrayRef, ArrowError> + Sync),
) -> PyResult<Vec<ArrayRef>> {
    let share = texts.len().div_ceil(threads).max(SHARE);
    let parts: Vec<Range<usize>> =
        (0..texts.len()).step_by(share).map(|begin| begin..(begin + share).min(texts.len())).collect();
    let one = |part: &Range<usize>| {
        work(texts, part.clone()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    };
    if let [part] = parts.as_slice() {
        return Ok(vec![one(part)?]);
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = parts.iter().map(|part| scope.spawn(|| one(part))).collect();
        let made = workers.into_iter().map(|worker| {
            worker.join().map_err(|_| PyRuntimeError::new_err("a thread has ended before its work"))?
        });
        made.collect()
    })
}

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.chunks.iter().map(Array::len).sum()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.field.as_ref())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyTuple>> {
        let chunks: Vec<&dyn Array> = self.chunks.iter().map(AsRef::as_ref).collect();
        let whole = match chunks.as_slice() {
            [] => arrow_array::new_empty_array(self.field.data_type()),
            [_] => Arc::clone(&self.chunks[0]),
            several => py.detach(|| arrow_select::concat::concat(several))?,
        };
        to_array_pycapsules(py, Arc::clone(&self.field), &whole, requested_schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let chunks: Vec<_> = self.chunks.iter().cloned().map(Ok).collect();
        let reader = ArrayIterator::new(chunks, Arc::clone(&self.field));
        to_stream_pycapsule(py, Box::new(reader), requested_schema)
    }

    fn __repr__(&self) -> String {
        format!("<Answers, {} of them>", self.__len__())
    }
}
