//! Columns of answers, from any library that speaks the Arrow `PyCapsule` interface: nothing is copied on its way in or out.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::{DataType, FieldRef};
use del_dialects::{End, Turn};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::PyChunkedArray;
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule};
use pyo3_arrow::input::AnyArray;

use crate::columns::{Columns, field};
use crate::dialect::Which;
use crate::parser::{read, turn};

/// Fewer answers than this are not worth a thread.
const SHARE: usize = 256;

/// Answers that were read, as a column of Arrow. Every library that takes such columns takes this: `pyarrow.chunked_array`,
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
    signature = (column, dialect=Which::Auto, tools=None, *, starts_in="text", threads=None),
    text_signature = "(column, dialect='auto', tools=None, *, starts_in='text', threads=None)"
)]
pub(crate) fn parse_batch(
    py: Python<'_>,
    column: AnyArray,
    dialect: Which,
    tools: Option<&Bound<'_, PyAny>>,
    starts_in: &str,
    threads: Option<usize>,
) -> PyResult<Answers> {
    let turn = turn(tools, starts_in)?;
    let threads = match threads {
        Some(0) => return Err(PyValueError::new_err("threads: expected at least 1, got 0")),
        Some(threads) => threads,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let column: PyChunkedArray = column.into_chunked_array()?;
    let (chunks, given) = column.into_inner();
    py.detach(|| {
        let mut answers = Vec::new();
        for chunk in chunks {
            let texts = Texts::of(&chunk).map_err(|got| {
                PyTypeError::new_err(format!("column {:?}: expected strings, got {got}", given.name()))
            })?;
            answers.extend(read_all(&texts, &dialect, &turn, threads)?);
        }
        Ok(Answers { chunks: answers, field: field() })
    })
}

/// A chunk in parts, each read by a thread of its own.
fn read_all(texts: &Texts, dialect: &Which, turn: &Turn, threads: usize) -> PyResult<Vec<ArrayRef>> {
    let share = texts.len().div_ceil(threads).max(SHARE);
    let parts: Vec<Range<usize>> =
        (0..texts.len()).step_by(share).map(|begin| begin..(begin + share).min(texts.len())).collect();
    let one = |part: &Range<usize>| read_part(texts, part.clone(), dialect, turn);
    if let [part] = parts.as_slice() {
        return Ok(vec![one(part)?]);
    }
    std::thread::scope(|scope| {
        let readers: Vec<_> = parts.iter().map(|part| scope.spawn(|| one(part))).collect();
        let read = readers.into_iter().map(|reader| {
            reader
                .join()
                .map_err(|_| PyRuntimeError::new_err("a reading thread has ended before its work"))?
        });
        read.collect()
    })
}

fn read_part(texts: &Texts, part: Range<usize>, dialect: &Which, turn: &Turn) -> PyResult<ArrayRef> {
    let mut columns = Columns::default();
    for place in part {
        let message = texts.get(place).map(|text| read(text, dialect, turn.clone(), End::End));
        columns.add(message.as_ref());
    }
    columns.finish().map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The strings of a chunk, however long their offsets are.
enum Texts<'a> {
    Short(&'a StringArray),
    Long(&'a LargeStringArray),
    View(&'a StringViewArray),
}

impl<'a> Texts<'a> {
    /// The strings of an array, or what it is in their place.
    fn of(array: &'a ArrayRef) -> Result<Self, String> {
        // Who has made it may not have looked whether it is UTF-8.
        array.to_data().validate_full().map_err(|error| error.to_string())?;
        let any = array.as_any();
        let texts = match array.data_type() {
            DataType::Utf8 => any.downcast_ref().map(Self::Short),
            DataType::LargeUtf8 => any.downcast_ref().map(Self::Long),
            DataType::Utf8View => any.downcast_ref().map(Self::View),
            _ => None,
        };
        texts.ok_or_else(|| array.data_type().to_string())
    }

    fn len(&self) -> usize {
        match self {
            Self::Short(array) => array.len(),
            Self::Long(array) => array.len(),
            Self::View(array) => array.len(),
        }
    }

    fn get(&self, place: usize) -> Option<&str> {
        match self {
            Self::Short(array) => array.is_valid(place).then(|| array.value(place)),
            Self::Long(array) => array.is_valid(place).then(|| array.value(place)),
            Self::View(array) => array.is_valid(place).then(|| array.value(place)),
        }
    }
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
