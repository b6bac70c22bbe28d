//! Columns of strings.

use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::DataType;

/// The strings of an array, however long their offsets are.
#[derive(Debug, Clone, Copy)]
pub enum Texts<'a> {
    /// With offsets of 32 bits.
    Short(&'a StringArray),
    /// With offsets of 64 bits.
    Long(&'a LargeStringArray),
    /// Views of buffers.
    View(&'a StringViewArray),
    /// So many that are all missing: where no row had a value, writers of tables know no other type.
    Missing(usize),
}

impl<'a> Texts<'a> {
    /// The strings of an array; `None` when it has others.
    pub fn of(array: &'a ArrayRef) -> Option<Self> {
        let any = array.as_any();
        match array.data_type() {
            DataType::Utf8 => any.downcast_ref().map(Self::Short),
            DataType::LargeUtf8 => any.downcast_ref().map(Self::Long),
            DataType::Utf8View => any.downcast_ref().map(Self::View),
            DataType::Null => Some(Self::Missing(array.len())),
            _ => None,
        }
    }

    /// How many there are, missing ones among them.
    pub fn len(&self) -> usize {
        match self {
            Self::Short(array) => array.len(),
            Self::Long(array) => array.len(),
            Self::View(array) => array.len(),
            Self::Missing(rows) => *rows,
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string at `place`; `None` where it is missing.
    pub fn get(&self, place: usize) -> Option<&'a str> {
        match self {
            Self::Short(array) => array.is_valid(place).then(|| array.value(place)),
            Self::Long(array) => array.is_valid(place).then(|| array.value(place)),
            Self::View(array) => array.is_valid(place).then(|| array.value(place)),
            Self::Missing(_) => None,
        }
    }
}
