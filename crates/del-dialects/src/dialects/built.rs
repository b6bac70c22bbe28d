//! Built-in descriptions: TOML that the build has read and checked.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_spanned::de::{SpannedDeserializer, is_spanned};

use Built::{List, Number, Table, Text, Truth};

/// The table of every built-in description, in the order of the folders' names.
pub(super) static TABLES: &[Built] = include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// A value of TOML.
#[derive(Debug)]
pub(super) enum Built {
    Text(&'static str),
    Number(i64),
    Truth(bool),
    List(&'static [Built]),
    Table(&'static [(&'static str, Built)]),
}

impl IntoDeserializer<'_> for &'static Built {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'static Built {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Text(text) => visitor.visit_borrowed_str(text),
            Number(number) => visitor.visit_i64(*number),
            Truth(truth) => visitor.visit_bool(*truth),
            List(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Table(members) => {
                visitor.visit_map(MapDeserializer::new(members.iter().map(|(key, value)| (*key, value))))
            }
        }
    }

    /// What is there is some; TOML has no other way to say so.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Text(text) => text.into_deserializer().deserialize_enum(name, variants, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    /// Where a value stood matters for errors alone, and the build found none.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if is_spanned(name) {
            visitor.visit_map(SpannedDeserializer::new(self, 0..0))
        } else {
            self.deserialize_any(visitor)
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}
