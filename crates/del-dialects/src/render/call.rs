//! Calls as the model itself writes them.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::RenderError;
use crate::codec::{call, fields};
use crate::dialect::{Codec, Dialect, HeadForm, Literal, Mark, Need, Piece, Slot};
use crate::message::Call;
use crate::tool::Tool;
use crate::value;
use crate::value::members;

impl Dialect {
    /// Writes calls that follow each other, the first of which is the answer's call number `first`.
    pub(super) fn write_calls(
        &self,
        calls: &[&Call],
        first: usize,
        tools: &[Tool],
        out: &mut String,
    ) -> Result<(), RenderError> {
        for (place, call) in calls.iter().enumerate() {
            let renamed = self.renamed(call, first + place);
            let own = |variant: &&Arc<Self>| variant.tool.as_deref() == Some(call.name.as_str());
            let form = if self.tool.as_deref() == Some(call.name.as_str()) {
                self
            } else {
                self.variants.iter().find(own).map_or(self, Arc::as_ref)
            };
            if place == 0 {
                write_marks(&form.block.open, &renamed, out);
            } else {
                out.push_str(&form.between);
            }
            form.write_pieces(&renamed, tools, first + place, out)?;
            if place + 1 == calls.len() {
                write_marks(&form.block.close, &renamed, out);
            }
        }
        Ok(())
    }

    /// A call with its id as this dialect writes it.
    pub(super) fn renamed<'c>(&self, call: &'c Call, place: usize) -> Cow<'c, Call> {
        match call.id.as_deref().map(|id| self.native_id(id, place)) {
            Some(Cow::Owned(id)) => Cow::Owned(Call { id: Some(id), ..call.clone() }),
            _ => Cow::Borrowed(call),
        }
    }

    /// True when a call's id stands in the text as it is.
    pub(super) fn carries_ids(&self) -> bool {
        let written = |form: &HeadForm| !form.is_id && form.parts.contains(&Slot::Id);
        let object = matches!(self.codec(), Codec::Call(form) if form.id.is_some());
        object || self.call.iter().filter_map(Piece::head).any(written)
    }

    fn write_pieces(
        &self,
        call: &Call,
        tools: &[Tool],
        place: usize,
        out: &mut String,
    ) -> Result<(), RenderError> {
        for piece in &self.call {
            match piece {
                Piece::Mark(mark, head) => {
                    if write_mark(mark, call, out)
                        && let Some(form) = head
                    {
                        form.write(call.id.as_deref(), &call.name, place, out);
                    }
                }
                Piece::Head(form) => form.write(call.id.as_deref(), &call.name, place, out),
                Piece::Args(codec) => write_args(codec, call, tools, place, out)?,
            }
        }
        Ok(())
    }
}

fn write_marks(marks: &[Mark], call: &Call, out: &mut String) {
    for mark in marks {
        write_mark(mark, call, out);
    }
}

/// Writes a mark; false where a call has none.
fn write_mark(mark: &Mark, call: &Call, out: &mut String) -> bool {
    let written = match mark.need {
        Need::Noise => false,
        Need::Id => call.id.is_some(),
        _ => true,
    };
    out.push_str(if written { &mark.write } else { "" });
    written
}

fn write_args(
    codec: &Codec,
    call: &Call,
    tools: &[Tool],
    place: usize,
    out: &mut String,
) -> Result<(), RenderError> {
    let members = arguments(call)?;
    match codec {
        Codec::Object(Literal::Json) => out.push_str(&call.arguments),
        Codec::Call(form) => call::write(form, call, place, out),
        Codec::Object(Literal::Loose(syntax)) => value::write_arguments(syntax, &members, out),
        Codec::Raw { key, .. } => {
            let text = match &members[..] {
                [(name, value)] if name == key => serde_json::from_str::<String>(value.get()).ok(),
                _ => None,
            };
            // Of any other arguments nothing is written, and that does not read back as this call.
            out.push_str(&text.unwrap_or_default());
        }
        Codec::Fields(form) | Codec::Lines(form) => {
            let tool = tools.iter().find(|tool| tool.name == call.name);
            for (key, value) in members {
                let text: Option<String> = serde_json::from_str(value.get()).ok();
                fields::write(form, &key, value.get(), text.as_deref(), tool, out);
            }
        }
    }
    Ok(())
}

fn arguments(call: &Call) -> Result<Vec<(String, &RawValue)>, RenderError> {
    members(&call.arguments).ok_or_else(|| RenderError::Arguments {
        name: call.name.clone(),
        got: call.arguments.chars().take(40).collect(),
    })
}
