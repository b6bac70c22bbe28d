//! Answers as columns: what `del parse` prints of an answer, in the types of Arrow.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, BooleanArray, LargeListArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};

use crate::answer::Answer;

/// The type of an answer. Offsets have 64 bits: a column may hold more text than 32 can count.
pub fn field() -> FieldRef {
    Arc::new(Field::new("answer", DataType::Struct(members()), true))
}

fn members() -> Fields {
    Fields::from(vec![
        text("dialect", true),
        text("content", false),
        text("reasoning", false),
        Field::new("calls", DataType::LargeList(item(calls())), false),
        Field::new("faults", kinds(), false),
    ])
}

fn calls() -> Fields {
    Fields::from(vec![text("id", true), text("name", false), text("arguments", false)])
}

/// The type of a list of faults.
pub(crate) fn kinds() -> DataType {
    DataType::LargeList(item(faults()))
}

fn faults() -> Fields {
    Fields::from(vec![text("kind", false), Field::new("changes_arguments", DataType::Boolean, false)])
}

pub(crate) fn text(name: &str, nullable: bool) -> Field {
    Field::new(name, DataType::LargeUtf8, nullable)
}

fn item(members: Fields) -> FieldRef {
    Arc::new(Field::new("item", DataType::Struct(members), false))
}

/// The columns of answers, while they are read.
#[derive(Debug, Default)]
pub struct Columns {
    present: Vec<bool>,
    dialect: LargeStringBuilder,
    content: LargeStringBuilder,
    reasoning: LargeStringBuilder,
    /// How many calls each answer has.
    calls: Vec<usize>,
    id: LargeStringBuilder,
    name: LargeStringBuilder,
    arguments: LargeStringBuilder,
    /// How many faults each answer has.
    faults: Vec<usize>,
    kind: LargeStringBuilder,
    changes: Vec<bool>,
}

impl Columns {
    /// Room for the answers of so many rows, whose texts have so many bytes together.
    pub fn with_capacity(rows: usize, bytes: usize) -> Self {
        Self {
            present: Vec::with_capacity(rows),
            content: LargeStringBuilder::with_capacity(rows, bytes),
            ..Self::default()
        }
    }

    /// Adds an answer, or none.
    pub fn add(&mut self, answer: Option<&Answer>) {
        self.present.push(answer.is_some());
        let Some(answer) = answer else {
            self.dialect.append_null();
            self.content.append_value("");
            self.reasoning.append_value("");
            self.calls.push(0);
            self.faults.push(0);
            return;
        };
        self.dialect.append_option(answer.dialect());
        self.content.append_value(&answer.content);
        self.reasoning.append_value(&answer.reasoning);
        self.calls.push(answer.calls().len());
        for (id, name, arguments) in answer.calls() {
            self.id.append_option(id);
            self.name.append_value(name);
            self.arguments.append_value(arguments);
        }
        self.faults.push(answer.faults.len());
        for kind in &answer.faults {
            self.kind.append_value(kind.as_str());
            self.changes.push(kind.changes_arguments());
        }
    }

    /// The column of the type of [`field`].
    pub fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let call: Vec<ArrayRef> =
            vec![Arc::new(self.id.finish()), Arc::new(self.name.finish()), Arc::new(self.arguments.finish())];
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.dialect.finish()),
            Arc::new(self.content.finish()),
            Arc::new(self.reasoning.finish()),
            list(calls(), self.calls, call)?,
            list_of_kinds(self.faults, self.kind, self.changes)?,
        ];
        let present = NullBuffer::from(self.present);
        Ok(Arc::new(StructArray::try_new(members(), columns, Some(present))?))
    }
}

/// A column of lists of so many faults each.
pub(crate) fn list_of_kinds(
    lengths: Vec<usize>,
    mut kinds: LargeStringBuilder,
    changes: Vec<bool>,
) -> Result<ArrayRef, ArrowError> {
    let columns: Vec<ArrayRef> = vec![Arc::new(kinds.finish()), Arc::new(BooleanArray::from(changes))];
    list(faults(), lengths, columns)
}

/// A column of lists of so many items each.
fn list(members: Fields, lengths: Vec<usize>, columns: Vec<ArrayRef>) -> Result<ArrayRef, ArrowError> {
    let items = StructArray::try_new(members.clone(), columns, None)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(LargeListArray::try_new(item(members), offsets, Arc::new(items), None)?))
}
