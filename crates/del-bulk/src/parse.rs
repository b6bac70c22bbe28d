//! Reading: each row gets a column with what its text says.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use del_dialects::{Collect, Sink};
use del_wire::convert::Beside;
use del_wire::records::{RecordError, Request, Said, write_extended};
use del_wire::tools::KnownTools;

use crate::answer::Answer;
use crate::columns::{Columns, field};
use crate::memo::Memo;
use crate::rows::{ERROR, Errors, Rows, TOOLS, Tally, cell, column, free, saying, strings};

/// Reads the text of each row. What else a request may say (`dialect`, `tools` as JSON, `starts_in`, `finish`) is read
/// from columns of these names.
#[derive(Debug, Clone)]
pub struct Parse<F> {
    text: Arc<str>,
    into: Arc<str>,
    read: F,
    known: KnownTools,
    /// The answers of rows that say nothing but their text.
    answers: Memo<Answer>,
}

impl<F> Parse<F>
where
    F: Fn(&mut Request, &mut dyn Sink) -> Result<(), RecordError> + Clone + Send,
{
    /// The text stands in the column `text`, and the answer goes into a new one, `into`. `read` says the same each time that
    /// it is given the same.
    pub fn new(text: &str, into: &str, read: F) -> Self {
        let (known, answers) = (KnownTools::default(), Memo::default());
        Self { text: text.into(), into: into.into(), read, known, answers }
    }

    /// Reads the text of `request` as the columns of its row say.
    fn read(
        &mut self,
        request: &mut Request,
        Beside { tools, said }: Beside<'_>,
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
        let (mut answer, mut request) = (Answer::default(), Request::default());
        let answers = Columns::with_capacity(given.num_rows(), size);
        let mut read = Read { answers, errors: Errors::default() };
        for row in 0..given.num_rows() {
            tally.rows += 1;
            let Some(text) = texts.and_then(|texts| texts.get(row)) else {
                read.add(None, tally);
                continue;
            };
            let here = |texts| cell(texts, row);
            let beside = Beside { tools: here(tools), said: said.map(here) };
            let alone = beside == Beside::default();
            if let Some(known) = alone.then(|| self.answers.get(text)).flatten() {
                read.add(Some(Ok(known)), tally);
                continue;
            }
            request.text.clear();
            request.text.push_str(text);
            match self.read(&mut request, beside, &mut answer) {
                Ok(()) => {
                    read.add(Some(Ok(&answer)), tally);
                    if alone {
                        self.answers.keep(text, || answer.clone());
                    }
                }
                Err(error) => read.add(Some(Err(&error)), tally),
            }
        }
        let mut columns = given.columns().to_vec();
        columns.extend([read.answers.finish()?, read.errors.finish()?]);
        RecordBatch::try_new(Arc::clone(schema), columns)
    }

    fn line(
        &mut self,
        line: &[u8],
        place: u64,
        tally: &mut Tally,
        lines: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let mut request = Request::read_to_extend(line, &self.text, &self.into, &mut self.known)?;
        let mut collect = Collect::new();
        (self.read)(&mut request, &mut collect)?;
        let message = collect.into_message();
        tally.found(message.calls.len() as u64, message.faults.iter().map(|fault| fault.kind));
        write_extended(line, &self.into, &message, place, lines);
        Ok(())
    }
}

/// What comes of the rows of a batch.
struct Read {
    answers: Columns,
    errors: Errors,
}

impl Read {
    /// Adds a row: what came of it, or nothing where nothing stood.
    fn add(&mut self, row: Option<Result<&Answer, &RecordError>>, tally: &mut Tally) {
        let (answer, error) = (row.and_then(Result::ok), row.and_then(Result::err));
        self.answers.add(answer);
        self.errors.add(error);
        if let Some(answer) = answer {
            tally.found(answer.calls().len() as u64, answer.faults.iter().copied());
        }
        if let Some(error) = error {
            tally.reject(error);
        }
    }
}
