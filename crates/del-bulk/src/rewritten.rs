//! Rewritten answers as columns.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, StructArray, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use del_wire::convert::Converted;
use del_wire::records::RecordError;

use crate::columns::{kinds, list_of_kinds, text};

/// Columns of rewritten answers, while they are made.
#[derive(Debug, Default)]
pub struct Rewritten {
    present: Vec<bool>,
    text: LargeStringBuilder,
    calls: Vec<u32>,
    /// How many faults each has.
    faults: Vec<usize>,
    kind: LargeStringBuilder,
    changes: Vec<bool>,
    error: LargeStringBuilder,
}

impl Rewritten {
    /// The type of a rewritten answer: `text` is missing where `error` says why.
    pub fn field() -> FieldRef {
        Arc::new(Field::new("rewritten", DataType::Struct(Self::members()), true))
    }

    fn members() -> Fields {
        Fields::from(vec![
            text("text", true),
            Field::new("calls", DataType::UInt32, false),
            Field::new("faults", kinds(), false),
            text("error", true),
        ])
    }

    /// Adds what became of an answer; `None` where there was none.
    pub fn add(&mut self, made: Option<&Result<Converted, RecordError>>) {
        self.present.push(made.is_some());
        let whole = made.and_then(|made| made.as_ref().ok());
        let error = made.and_then(|made| made.as_ref().err());
        self.text.append_option(whole.map(|whole| whole.text.as_str()));
        self.calls.push(whole.map_or(0, |whole| u32::try_from(whole.calls).unwrap_or(u32::MAX)));
        let faults = whole.map_or(&[][..], |whole| whole.faults.as_slice());
        self.faults.push(faults.len());
        for kind in faults {
            self.kind.append_value(kind.as_str());
            self.changes.push(kind.changes_arguments());
        }
        self.error.append_option(error.map(|error| format!("{}: {error}", error.code.as_str())));
    }

    /// The column of the type of [`Rewritten::field`].
    pub fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.text.finish()),
            Arc::new(UInt32Array::from(self.calls)),
            list_of_kinds(self.faults, self.kind, self.changes)?,
            Arc::new(self.error.finish()),
        ];
        let present = NullBuffer::from(self.present);
        Ok(Arc::new(StructArray::try_new(Self::members(), columns, Some(present))?))
    }
}
