//! What is done with rows, whatever file they come from.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use del_dialects::FaultKind;
use del_wire::records::{RecordError, Said};
use serde::{Deserialize, Serialize};

use crate::texts::Texts;

/// Work on the rows of a file. Each worker has a clone of its own.
pub trait Rows: Clone + Send {
    /// The columns that come out where `given` come in, or why nothing can.
    fn schema(&self, given: &Schema) -> Result<SchemaRef, String>;

    /// True when a column of `given` always comes out as it was, in its place.
    fn keeps(&self, given: &Schema, place: usize) -> bool;

    /// The rows of a batch. `first` is the place of its first one, and those behind it follow; no row of another file of the run
    /// has the same. A row that cannot be worked on comes out as it is, with an error.
    fn batch(
        &mut self,
        given: &RecordBatch,
        schema: &SchemaRef,
        first: u64,
        tally: &mut Tally,
    ) -> Result<RecordBatch, ArrowError>;

    /// Appends what comes of the record in a line to `lines`, without a line end, and nothing for an error. No line of another
    /// file of the run has the same `place`. Rejects are counted by the caller.
    fn line(
        &mut self,
        line: &[u8],
        place: u64,
        tally: &mut Tally,
        lines: &mut Vec<u8>,
    ) -> Result<(), RecordError>;
}

/// What was found in rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// All rows, rejects among them.
    pub rows: u64,
    /// Calls that count.
    pub calls: u64,
    /// Faults, by their kind.
    pub faults: BTreeMap<String, u64>,
    /// Rows with an error, by its code.
    pub rejects: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds what another has.
    pub fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.calls += other.calls;
        for (into, from) in [(&mut self.faults, &other.faults), (&mut self.rejects, &other.rejects)] {
            for (kind, count) in from {
                *into.entry(kind.clone()).or_default() += count;
            }
        }
    }

    /// How many rows have an error.
    pub fn rejected(&self) -> u64 {
        self.rejects.values().sum()
    }

    pub(crate) fn found(&mut self, calls: u64, faults: impl Iterator<Item = FaultKind>) {
        self.calls += calls;
        for kind in faults {
            count(&mut self.faults, kind.as_str());
        }
    }

    pub(crate) fn reject(&mut self, error: &RecordError) {
        count(&mut self.rejects, error.code.as_str());
    }
}

fn count(counts: &mut BTreeMap<String, u64>, kind: &str) {
    if let Some(count) = counts.get_mut(kind) {
        *count += 1;
    } else {
        counts.insert(kind.to_owned(), 1);
    }
}

/// The column of errors: what is wrong with a row, missing where nothing is.
pub(crate) const ERROR: &str = "error";

/// The column of errors, while it is made.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    present: Vec<bool>,
    code: StringBuilder,
    message: StringBuilder,
}

impl Errors {
    pub(crate) fn field() -> FieldRef {
        Arc::new(Field::new(ERROR, DataType::Struct(Self::members()), true))
    }

    fn members() -> Fields {
        ["code", "message"].into_iter().map(|name| Field::new(name, DataType::Utf8, true)).collect()
    }

    pub(crate) fn add(&mut self, error: Option<&RecordError>) {
        self.present.push(error.is_some());
        self.code.append_option(error.map(|error| error.code.as_str()));
        self.message.append_option(error.map(|error| error.message.as_str()));
    }

    pub(crate) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let columns: Vec<ArrayRef> = vec![Arc::new(self.code.finish()), Arc::new(self.message.finish())];
        Ok(Arc::new(StructArray::try_new(Self::members(), columns, Some(NullBuffer::from(self.present)))?))
    }
}

/// The column with the tools of a row, as JSON.
pub(crate) const TOOLS: &str = "tools";

/// The columns of `schema` that say how a text is to be read.
pub(crate) fn saying(schema: &Schema) -> impl Iterator<Item = &'static str> {
    Said::MEMBERS.into_iter().chain([TOOLS]).filter(|name| schema.column_with_name(name).is_some())
}

/// The place of the column `name`, which has to hold strings.
pub(crate) fn strings(schema: &Schema, name: &str) -> Result<usize, String> {
    let Some((place, field)) = schema.column_with_name(name) else {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        return Err(format!("expected a column `{name}`, got {}", names.join(", ")));
    };
    match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => Ok(place),
        other => Err(format!("column `{name}`: expected strings, got {other}")),
    }
}

/// No column may have one of the names that are added.
pub(crate) fn free(schema: &Schema, names: &[&str]) -> Result<(), String> {
    match names.iter().find(|name| schema.column_with_name(name).is_some()) {
        Some(taken) => Err(format!("expected no column `{taken}`, for that is added")),
        None => Ok(()),
    }
}

/// The strings of a column, if it is there.
pub(crate) fn column<'a>(batch: &'a RecordBatch, name: &str) -> Option<Texts<'a>> {
    batch.column_by_name(name).and_then(Texts::of)
}

/// The string of a row in a column that may be missing.
pub(crate) fn cell(texts: Option<Texts<'_>>, row: usize) -> Option<&str> {
    texts.and_then(|texts| texts.get(row))
}
