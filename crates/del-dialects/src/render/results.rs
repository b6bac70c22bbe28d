//! Results on their way to the model.

use std::borrow::Cow;

use serde_json::Value;

use super::form::Said;
use crate::dialect::{Dialect, HeadForm, Piece, Slot};
use crate::message::CallResult;

impl Dialect {
    /// Results as the dialect hands them to the model, neutralised, for one message of the role
    /// [`results_role`](Self::results_role).
    pub fn render_results(&self, results: &[CallResult]) -> String {
        let results = results.iter().enumerate().map(|(place, result)| {
            let form = match &self.results.failed {
                Some(failed) if !result.ok => failed,
                _ => &self.results.each,
            };
            Said::filled(form, |slot| match slot {
                "text" => Some(Said::by_others(result.text.as_str())),
                "quoted" => Some(Said::by_others(Value::from(result.text.as_str()).to_string())),
                "name" => Some(Said::by_others(result.name.as_str())),
                "id" => Some(Said::by_others(self.result_id(result, place))),
                "number" => Some(Said::by_others(number(result, place))),
                _ => None,
            })
        });
        let mut out = Said::own(self.results.open.as_str());
        out.add(&Said::joined(results, &self.results.between));
        out.add(&Said::own(self.results.close.as_str()));
        out.neutral(&self.foreign_marks())
    }

    /// The role of the message that carries results.
    pub fn results_role(&self) -> &str {
        &self.results.role
    }

    /// The id of the call that a result is for, as the dialect writes it there.
    fn result_id<'r>(&self, result: &'r CallResult, place: usize) -> Cow<'r, str> {
        let id = result.id.as_deref().unwrap_or_default();
        let head = self.call.iter().find_map(|piece| match piece {
            Piece::Mark(_, Some(form)) | Piece::Head(form) if form.is_id => Some(form),
            _ => None,
        });
        match head {
            Some(form) if !form.says(id, &result.name) => Cow::Owned(said(form, &result.name, place)),
            _ => self.native_id(id, place),
        }
    }
}

/// What a head that is the id as a whole says of a call.
fn said(form: &HeadForm, name: &str, place: usize) -> String {
    let part = |part: &Slot| match part {
        Slot::Text(text) => text.clone(),
        Slot::Name => name.to_owned(),
        Slot::Index => place.to_string(),
        _ => String::new(),
    };
    form.parts.iter().map(part).collect()
}

/// The call's number in the turn, counted from 1: its id, where that is one.
fn number(result: &CallResult, place: usize) -> Cow<'_, str> {
    let numbered = |id: &&str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    match result.id.as_deref().filter(numbered) {
        Some(id) => Cow::Borrowed(id),
        None => Cow::Owned((place + 1).to_string()),
    }
}
