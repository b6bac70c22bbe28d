//! Values of one key, one behind the other: a list, where what stands inside an element is one as well.

use super::elements::{self, Element};
use super::{FieldsReader, On};
use crate::fault::FaultKind;
use crate::schema::{Place, Types};

/// Values that wait until another key follows.
#[derive(Debug)]
pub(super) struct Repeated {
    key: String,
    /// What stands before the value in the arguments.
    lead: String,
    types: Types,
    values: Vec<Value>,
}

#[derive(Debug)]
struct Value {
    text: String,
    json: String,
    fits: bool,
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

    /// Takes a value; true when it fits, or may fit as an item.
    pub(super) fn add(&mut self, text: &str, json: String, fits: bool) -> bool {
        let waits = self.types.array;
        self.values.push(Value { text: text.to_owned(), json, fits });
        fits || waits
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
            let mut read = Element { json: value.json, fits: value.fits || !types.array, closed: true };
            if several
                && types.array
                && !read.json.starts_with('[')
                && let (Some(nest), Some(marks)) = (&form.nest, &on.given.marks.elements)
            {
                match elements::read(form, nest, marks, &value.text, items, items.types(), self.max_depth) {
                    Ok(item) => read = item,
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
