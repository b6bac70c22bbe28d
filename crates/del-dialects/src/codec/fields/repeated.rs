//! Values of one key, one behind the other: a list, where what stands inside an element is one as well.

use super::elements;
use super::{FieldsReader, On};
use crate::codec::Notes;
use crate::fault::FaultKind;
use crate::schema::{Place, Typed, Types};

/// Values that wait until another key follows.
#[derive(Debug, Clone)]
pub(super) struct Repeated {
    key: String,
    /// What stands before the value in the arguments.
    lead: String,
    types: Types,
    values: Vec<Value>,
}

#[derive(Debug, Clone)]
struct Value {
    text: String,
    read: Typed,
}

impl Repeated {
    pub(super) fn new(key: &str, lead: &str, types: Types) -> Self {
        Self { key: key.to_owned(), lead: lead.to_owned(), types, values: Vec::new() }
    }

    pub(super) fn is_of(&self, key: &str) -> bool {
        self.key == key
    }

    /// True when a list is what the schema asks for, or it asks for nothing.
    pub(super) fn may_be_list(&self) -> bool {
        self.types.array || self.types == Types::default()
    }

    /// Takes a value, and notes what is odd in it; one that does not fit may still do so as an item.
    pub(super) fn add(&mut self, text: &str, read: Typed, notes: &mut Notes, at: usize) {
        if let Some(kind) = read.mended {
            notes.add(kind, at);
        }
        if !read.fits && !self.types.array {
            notes.add(FaultKind::WrongType, at);
        }
        self.values.push(Value { text: text.to_owned(), read });
    }
}

impl FieldsReader {
    /// Passes on the values that waited.
    pub(super) fn tell_repeated(&mut self, on: &mut On<'_, '_>) {
        let (form, tool) = (on.given.form, on.given.tool);
        let Some(Repeated { key, lead, types, values }) = self.repeated.take() else { return };
        let mut json = lead;
        let several = values.len() > 1;
        if several {
            json.push('[');
        }
        let items = Place::argument(tool, &key).items();
        for (place, value) in values.into_iter().enumerate() {
            if place > 0 {
                json.push(',');
            }
            let mut read = value.read;
            read.fits |= !types.array;
            if several
                && types.array
                && !read.json.starts_with('[')
                && let (Some(nest), Some(marks)) = (&form.nest, &on.given.marks.elements)
            {
                match elements::read(form, nest, marks, &value.text, items, items.types(), self.max_depth) {
                    Ok(item) => {
                        read = item;
                        self.notes.add_read(&read, on.kept);
                    }
                    Err(_) => self.too_deep = true,
                }
            }
            if !read.fits {
                self.notes.add(FaultKind::WrongType, on.kept);
            }
            json.push_str(&read.json);
        }
        if several {
            json.push(']');
        }
        on.put(&json);
    }
}
