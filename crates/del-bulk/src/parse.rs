//! Reading: each row gets a column with what its text says.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use del_dialects::{Collect, Sink};
use del_wire::Ids;
use del_wire::records::{RecordError, Request, Said, write_extended};
use del_wire::tools::KnownTools;

use crate::answer::Answer;
use crate::columns::{Columns, field};
use crate::rows::{ERROR, Errors, Rows, TOOLS, Tally, cell, column, free, saying, strings};

/// Reads the text of each row. What else a request may say (`dialect`, `tools` as JSON, `starts_in`, `finish`) is read
/// from columns of these names.
#[derive(Debug, Clone)]
pub struct Parse<F> {
    text: Arc<str>,
    into: Arc<str>,
    read: F,
    known: KnownTools,
}

impl<F> Parse<F>
where
    F: Fn(&mut Request, &mut dyn Sink) -> Result<(), RecordError> + Clone + Send,
{
    /// The text stands in the column `text`, and the answer goes into a new one, `into`.
    pub fn new(text: &str, into: &str, read: F) -> Self {
        Self { text: text.into(), into: into.into(), read, known: KnownTools::default() }
    }

    /// Reads the text of `request` as the columns of its row say.
    fn read(
        &mut self,
        request: &mut Request,
        tools: Option<&str>,
        said: [Option<&str>; 3],
        answer: &mut Answer,
    ) -> Result<(), RecordError> {
        let tools = tools.map(|json| self.known.read(json)).transpose();
        request.tools = tools.map_err(|error| RecordError::invalid(error.to_string()))?;
        request.said = Said::read(said).map_err(RecordError::invalid)?;
        answer.clear();
        (self.read)(request, answer)
    }
}

impl<F> Rows for Parse<F>
where
    F: Fn(&mut Request, &mut dyn Sink) -> Result<(), RecordError> + Clone + Send,
{
    fn schema(&self, given: &Schema) -> Result<SchemaRef, String> {
        strings(given, &self.text)?;
        for name in saying(given) {
            strings(given, name)?;
        }
        free(given, &[&self.into, ERROR])?;
        let answer = Field::new(&*self.into, field().data_type().clone(), true);
        let added = [Arc::new(answer), Errors::field()];
        let fields: Vec<_> = given.fields().iter().cloned().chain(added).collect();
        Ok(Arc::new(Schema::new_with_metadata(fields, given.metadata().clone())))
    }

    fn keeps(&self, _: &Schema, _: usize) -> bool {
        true
    }

    fn batch(
        &mut self,
        given: &RecordBatch,
        schema: &SchemaRef,
        _first: u64,
        tally: &mut Tally,
    ) -> Result<RecordBatch, ArrowError> {
        let texts = column(given, &self.text);
        let (tools, said) = (column(given, TOOLS), Said::MEMBERS.map(|name| column(given, name)));
        let size = given.column_by_name(&self.text).map_or(0, Array::get_array_memory_size);
        let (mut answers, mut errors) = (Columns::with_capacity(given.num_rows(), size), Errors::default());
        let (mut answer, mut request) = (Answer::default(), Request::default());
        for row in 0..given.num_rows() {
            tally.rows += 1;
            let Some(text) = texts.and_then(|texts| texts.get(row)) else {
                answers.add(None);
                errors.add(None);
                continue;
            };
            request.text.clear();
            request.text.push_str(text);
            let here = |texts| cell(texts, row);
            match self.read(&mut request, here(tools), said.map(here), &mut answer) {
                Ok(()) => {
                    tally.found(answer.calls().len() as u64, answer.faults.iter().copied());
                    answers.add(Some(&answer));
                    errors.add(None);
                }
                Err(error) => {
                    tally.reject(&error);
                    answers.add(None);
                    errors.add(Some(&error));
                }
            }
        }
        let mut columns = given.columns().to_vec();
        columns.extend([answers.finish()?, errors.finish()?]);
        RecordBatch::try_new(Arc::clone(schema), columns)
    }

    fn line(
        &mut self,
        line: &[u8],
        number: u64,
        tally: &mut Tally,
        lines: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let mut request = Request::read_to_extend(line, &self.text, &self.into, &mut self.known)?;
        let mut collect = Collect::new();
        (self.read)(&mut request, &mut collect)?;
        let message = collect.into_message();
        tally.found(message.calls.len() as u64, message.faults.iter().map(|fault| fault.kind));
        write_extended(line, &self.into, &message, &mut Ids::of_line(number), lines);
        Ok(())
    }
}
