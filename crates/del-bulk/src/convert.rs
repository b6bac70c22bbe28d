//! Rewriting: a column of answers or transcripts is replaced.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use del_wire::convert::{Beside, Cell, Converted, Converter};
use del_wire::records::{RecordError, Said};

use crate::memo::Memo;
use crate::rows::{ERROR, Errors, Rows, TOOLS, Tally, cell, column, free, saying, strings};

/// Rewrites answers in the column `text`, or transcripts, lists of messages as JSON, in the column `messages`. A row that
/// cannot be rewritten stays as it is, and has an error. Tools that a row has of its own stand in `tools`, as JSON; how its
/// text is to be read may stand in columns of the names [`Said::MEMBERS`], which say afterwards what is right then.
#[derive(Debug, Clone)]
pub struct Convert {
    converter: Converter,
    /// The column, where it is another.
    column: Option<Arc<str>>,
    /// What came of rows that say nothing but their text.
    made: Memo<Result<Converted, RecordError>>,
}

impl Convert {
    /// Rewrites the column `column`, or else `messages`, or else `text`.
    pub fn new(converter: Converter, column: Option<&str>) -> Self {
        let converter = match column {
            Some(name) => converter.of_member(name),
            None => converter,
        };
        Self { converter, column: column.map(Into::into), made: Memo::default() }
    }

    fn column(&self, schema: &Schema) -> Result<usize, String> {
        match &self.column {
            Some(name) => strings(schema, name),
            None if schema.column_with_name(MESSAGES).is_some() => strings(schema, MESSAGES),
            None => strings(schema, "text"),
        }
    }

    /// What the column says of a row that was rewritten, where that changes; `rewritten` is the column of texts.
    fn says(&self, name: &str, rewritten: &str) -> Option<&str> {
        self.converter.says(name, rewritten == MESSAGES)
    }
}

/// The column of transcripts.
const MESSAGES: &str = "messages";

impl Rows for Convert {
    fn schema(&self, given: &Schema) -> Result<SchemaRef, String> {
        self.column(given)?;
        for name in saying(given) {
            strings(given, name)?;
        }
        free(given, &[ERROR])?;
        let kept = |at: usize| self.keeps(given, at);
        let rewritten = |old: &Field| {
            Field::new(old.name(), DataType::Utf8, old.is_nullable()).with_metadata(old.metadata().clone())
        };
        let fields = given.fields().iter().enumerate();
        let mut fields: Vec<FieldRef> = fields
            .map(|(at, field)| if kept(at) { Arc::clone(field) } else { Arc::new(rewritten(field)) })
            .collect();
        fields.push(Errors::field());
        Ok(Arc::new(Schema::new_with_metadata(fields, given.metadata().clone())))
    }

    fn keeps(&self, given: &Schema, place: usize) -> bool {
        self.column(given).is_ok_and(|rewritten| {
            let (name, texts) = (given.field(place).name(), given.field(rewritten).name());
            rewritten != place && self.says(name, texts).is_none()
        })
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
        let (old, tools) = (column(given, &name), column(given, TOOLS));
        let said = Said::MEMBERS.map(|name| column(given, name));
        let mut new = New::with_capacity(given.num_rows(), given.column(place).get_array_memory_size());
        for (row, place) in (0..given.num_rows()).zip(first..) {
            tally.rows += 1;
            let here = |texts| cell(texts, row);
            let Some(answer) = here(old) else {
                new.add(None, tally);
                continue;
            };
            let beside = Beside { tools: here(tools), said: said.map(here) };
            let alone = beside == Beside::default() && !self.converter.is_native();
            if let Some(known) = alone.then(|| self.made.get(answer)).flatten() {
                new.add(Some((answer, known)), tally);
                continue;
            }
            let cell = if name == MESSAGES { Cell::Messages(answer) } else { Cell::Answer(answer) };
            let made = self.converter.cell(cell, beside, place);
            new.add(Some((answer, &made)), tally);
            if alone {
                self.made.keep(answer, || made);
            }
        }
        let mut columns = given.columns().to_vec();
        columns[place] = Arc::new(new.texts.finish());
        for (member, texts) in Said::MEMBERS.iter().zip(said) {
            let (Some(says), Some((place, _))) =
                (self.says(member, &name), given.schema_ref().column_with_name(member))
            else {
                continue;
            };
            let cells = new
                .done
                .iter()
                .enumerate()
                .map(|(row, done)| cell(texts, row).map(|old| if *done { says } else { old }));
            columns[place] = Arc::new(cells.collect::<StringArray>());
        }
        columns.push(new.errors.finish()?);
        RecordBatch::try_new(Arc::clone(schema), columns)
    }

    fn line(
        &mut self,
        line: &[u8],
        place: u64,
        tally: &mut Tally,
        lines: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let made = self.converter.record(line, place)?;
        tally.found(made.calls, made.faults.into_iter());
        lines.extend_from_slice(made.text.as_bytes());
        Ok(())
    }
}

/// What comes of the rows of a batch.
struct New {
    texts: StringBuilder,
    errors: Errors,
    /// Which of them were rewritten.
    done: Vec<bool>,
}

impl New {
    fn with_capacity(rows: usize, bytes: usize) -> Self {
        let (texts, errors) = (StringBuilder::with_capacity(rows, bytes), Errors::default());
        Self { texts, errors, done: Vec::with_capacity(rows) }
    }

    /// Adds a row: what stood there and what came of it, or nothing where nothing stood.
    fn add(&mut self, row: Option<(&str, &Result<Converted, RecordError>)>, tally: &mut Tally) {
        let error = row.and_then(|(_, made)| made.as_ref().err());
        self.errors.add(error);
        self.done.push(row.is_some() && error.is_none());
        match row {
            None => self.texts.append_null(),
            Some((_, Ok(made))) => {
                tally.found(made.calls, made.faults.iter().copied());
                self.texts.append_value(&made.text);
            }
            Some((old, Err(error))) => {
                tally.reject(error);
                self.texts.append_value(old);
            }
        }
    }
}
