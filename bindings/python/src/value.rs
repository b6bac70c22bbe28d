//! Objects that are data: they compare, hash, copy and pickle by their fields.

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

/// What `__reduce__` gives: the class, and the arguments that make the object again.
pub(crate) type Reduced<'py> = (Bound<'py, PyType>, Bound<'py, PyTuple>);

/// A class whose constructor takes its fields in their order.
pub(crate) trait Value: PyClass {
    /// Their names.
    const FIELDS: &[&str];
}

pub(crate) fn fields<'py, T: Value>(object: &Bound<'py, T>) -> PyResult<Bound<'py, PyTuple>> {
    let fields = T::FIELDS.iter().map(|name| object.as_any().getattr(*name)).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(object.py(), fields)
}

pub(crate) fn equal<T: Value>(one: &Bound<'_, T>, other: &Bound<'_, T>) -> PyResult<bool> {
    fields(one)?.eq(fields(other)?)
}

pub(crate) fn hash<T: Value>(object: &Bound<'_, T>) -> PyResult<isize> {
    fields(object)?.hash()
}

pub(crate) fn reduce<'py, T: Value>(object: &Bound<'py, T>) -> PyResult<Reduced<'py>> {
    Ok((object.as_any().get_type(), fields(object)?))
}
