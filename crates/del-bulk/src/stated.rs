//! Types that Arrow has and Parquet cannot state: time stamps in seconds, and days in milliseconds. They are written as bare
//! numbers, so where a file states a time or a day, it is read as one that can be stated again.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use parquet::basic::{ConvertedType, Type};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

/// As what a file is read, if that is not `schema`.
pub(crate) fn stated(schema: &Schema, file: &SchemaDescriptor) -> Option<SchemaRef> {
    let fields = all(schema.fields(), &mut Leaves { file, next: 0 });
    (&fields != schema.fields()).then(|| Schema::new_with_metadata(fields, schema.metadata().clone()).into())
}

/// The leaves of a file, in the order in which the fields of Arrow have them.
struct Leaves<'f> {
    file: &'f SchemaDescriptor,
    next: usize,
}

impl Leaves<'_> {
    /// True where the next leaf states what its numbers are.
    fn is_stated(&mut self) -> bool {
        let leaf = self.file.columns().get(self.next);
        self.next += 1;
        leaf.is_some_and(|leaf| !is_bare(leaf))
    }
}

fn is_bare(leaf: &ColumnDescriptor) -> bool {
    leaf.physical_type() != Type::INT96
        && leaf.converted_type() == ConvertedType::NONE
        && leaf.logical_type_ref().is_none()
}

fn all(fields: &Fields, leaves: &mut Leaves<'_>) -> Fields {
    fields.iter().map(|field| one(field, leaves)).collect()
}

fn one(field: &FieldRef, leaves: &mut Leaves<'_>) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(kind(field.data_type(), leaves)))
}

fn kind(given: &DataType, leaves: &mut Leaves<'_>) -> DataType {
    match given {
        DataType::Struct(fields) => DataType::Struct(all(fields, leaves)),
        DataType::List(item) => DataType::List(one(item, leaves)),
        DataType::LargeList(item) => DataType::LargeList(one(item, leaves)),
        DataType::ListView(item) => DataType::ListView(one(item, leaves)),
        DataType::LargeListView(item) => DataType::LargeListView(one(item, leaves)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(one(item, leaves), *len),
        DataType::Map(entries, sorted) => DataType::Map(one(entries, leaves), *sorted),
        DataType::Dictionary(key, value) => DataType::Dictionary(key.clone(), kind(value, leaves).into()),
        leaf => match (leaf, leaves.is_stated()) {
            (DataType::Timestamp(TimeUnit::Second, zone), true) => {
                DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
            }
            (DataType::Date64, true) => DataType::Date32,
            _ => leaf.clone(),
        },
    }
}
