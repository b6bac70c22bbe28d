//! Writing a call object.

use crate::dialect::{CallForm, Loose, Slot};
use crate::message::Call;
use crate::value;
use crate::value::members;

/// Writes a call object.
pub(crate) fn write(form: &CallForm, call: &Call, index: usize, out: &mut String) {
    let python = form.python.then(Loose::python);
    let escaped = |text: &str| match &python {
        Some(syntax) => value::escaped(syntax, text),
        None => escaped(text),
    };
    let mut without_id = None;
    let parts = if form.id.is_some() && call.id.is_none() {
        without_id.insert(drop_id(&form.parts))
    } else {
        &form.parts
    };
    for part in parts {
        match part {
            Slot::Text(text) => out.push_str(text),
            // The form's own quotes stand around a name or id: only what is between them is written.
            Slot::Name => out.push_str(&escaped(&call.name)),
            Slot::Id => out.push_str(&escaped(call.id.as_deref().unwrap_or_default())),
            Slot::Index => out.push_str(&index.to_string()),
            Slot::Args => match &python {
                Some(syntax) => {
                    value::write_arguments(syntax, &members(&call.arguments).unwrap_or_default(), out);
                }
                None => out.push_str(&call.arguments),
            },
            _ => {}
        }
    }
}

/// The form without the member that holds the id.
pub(crate) fn drop_id(parts: &[Slot]) -> Vec<Slot> {
    let mut kept: Vec<Slot> = Vec::new();
    let mut after_id = false;
    for part in parts {
        match part {
            Slot::Id => {
                if let Some(Slot::Text(before)) = kept.last_mut() {
                    let key = before.rfind([',', '{']).unwrap_or(0);
                    let from = if before[key..].starts_with('{') { key + 1 } else { key };
                    before.truncate(from);
                }
                after_id = true;
            }
            Slot::Text(text) if std::mem::take(&mut after_id) => {
                let rest = text.trim_start_matches('"');
                let opens = matches!(kept.last(), Some(Slot::Text(before)) if before.ends_with('{'));
                kept.push(Slot::Text(
                    if opens { rest.trim_start_matches([',', ' ']) } else { rest }.to_owned(),
                ));
            }
            part => kept.push(part.clone()),
        }
    }
    kept
}

fn escaped(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json[1..json.len() - 1].to_owned()
}
