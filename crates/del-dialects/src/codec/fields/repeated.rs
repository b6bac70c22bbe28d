//! Values of one key, one behind the other: a list, where what stands inside an element is one as well.

use std::ops::ControlFlow::{Break, Continue};

use super::{FieldsReader, On, Step, elements};
use crate::codec::ArgsProgress;
use crate::tool::place_of;
use crate::typed::{TooDeep, Typed};

/// Values of the field at hand that wait until another key follows.
#[derive(Debug, Clone)]
pub(super) struct Repeated {
    /// What stands before the value in the arguments.
    pub(super) lead: String,
    /// As they are written, and as what they were read.
    pub(super) values: Vec<(String, Typed)>,
}

impl FieldsReader {
    /// Passes on the values that waited. One that does not fit may do so as an item.
    pub(super) fn tell_repeated(&mut self, on: &mut On<'_, '_>) -> Step {
        let Some(Repeated { lead: mut json, values }) = self.repeated.take() else { return Continue(()) };
        let listed = values.len() > 1;
        let items = place_of(on.given.tool, &self.field.key).items();
        json.push_str(if listed { "[" } else { "" });
        for (place, (text, mut read)) in values.into_iter().enumerate() {
            if listed
                && self.field.types.array
                && !read.json.starts_with('[')
                && let Some(marks) = &on.given.marks.elements
            {
                match elements::read(on.given.form, marks, &text, items, items.types(), self.max_depth) {
                    Ok(item) => read = item,
                    Err(TooDeep) => return Break(ArgsProgress::TooDeep),
                }
            }
            self.note_read(on, &read, on.at.kept);
            json.push_str(if place > 0 { "," } else { "" });
            json.push_str(&read.json);
        }
        json.push_str(if listed { "]" } else { "" });
        on.put(&json);
        Continue(())
    }
}
