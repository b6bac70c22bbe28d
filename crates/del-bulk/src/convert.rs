//! Rewriting: a column of answers or transcripts is replaced.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use del_wire::convert::{Cell, Converter};
use del_wire::records::RecordError;

use crate::rows::{ERROR, Errors, Rows, Tally, column, free, strings};

/// Rewrites answers in the column `text`, or transcripts, lists of messages as JSON, in the column `messages`. A row that
/// cannot be rewritten stays as it is, and has an error. Tools that a row has of its own stand in `tools`, as JSON.
#[derive(Debug, Clone)]
pub struct Convert {
    converter: Converter,
    /// The column, where it is another.
    column: Option<Arc<str>>,
}

impl Convert {
    /// Rewrites the column `column`, or else `messages`, or else `text`.
    pub fn new(converter: Converter, column: Option<&str>) -> Self {
        let converter = match column {
            Some(name) => converter.of_member(name),
            None => converter,
        };
        Self { converter, column: column.map(Into::into) }
    }

    fn column(&self, schema: &Schema) -> Result<usize, String> {
        match &self.column {
            Some(name) => strings(schema, name),
            None if schema.column_with_name("messages").is_some() => strings(schema, "messages"),
            None => strings(schema, "text"),
        }
    }
}

impl Rows for Convert {
    fn schema(&self, given: &Schema) -> Result<SchemaRef, String> {
        let place = self.column(given)?;
        if given.column_with_name("tools").is_some() {
            strings(given, "tools")?;
        }
        free(given, &[ERROR])?;
        let mut fields = given.fields().to_vec();
        let old = &fields[place];
        let new =
            Field::new(old.name(), DataType::Utf8, old.is_nullable()).with_metadata(old.metadata().clone());
        fields[place] = Arc::new(new);
        fields.push(Errors::field());
        Ok(Arc::new(Schema::new_with_metadata(fields, given.metadata().clone())))
    }

    fn keeps(&self, given: &Schema, place: usize) -> bool {
        self.column(given).is_ok_and(|rewritten| rewritten != place)
    }

    fn batch(
        &mut self,
        given: &RecordBatch,
        schema: &SchemaRef,
        first: u64,
        tally: &mut Tally,
    ) -> Result<RecordBatch, ArrowError> {
        let place = self.column(&given.schema()).map_err(ArrowError::SchemaError)?;
        let name = given.schema().field(place).name().clone();
        let (old, tools) = (column(given, &name), column(given, "tools"));
        let size = given.column(place).get_array_memory_size();
        let (mut new, mut errors) = (StringBuilder::with_capacity(given.num_rows(), size), Errors::default());
        for (row, number) in (0..given.num_rows()).zip(first..) {
            tally.rows += 1;
            let Some(text) = old.and_then(|old| old.get(row)) else {
                new.append_null();
                errors.add(None);
                continue;
            };
            let cell = if name == "messages" { Cell::Messages(text) } else { Cell::Answer(text) };
            match self.converter.cell(cell, tools.and_then(|tools| tools.get(row)), number) {
                Ok(made) => {
                    tally.found(made.calls, made.faults.into_iter());
                    new.append_value(made.text);
                    errors.add(None);
                }
                Err(error) => {
                    tally.reject(&error);
                    new.append_value(text);
                    errors.add(Some(&error));
                }
            }
        }
        let mut columns = given.columns().to_vec();
        let new: ArrayRef = Arc::new(new.finish());
        columns[place] = new;
        columns.push(errors.finish()?);
        RecordBatch::try_new(Arc::clone(schema), columns)
    }

    fn line(
        &mut self,
        line: &[u8],
        number: u64,
        tally: &mut Tally,
        lines: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let made = self.converter.record(line, number)?;
        tally.found(made.calls, made.faults.into_iter());
        lines.extend_from_slice(made.text.as_bytes());
        Ok(())
    }
}
