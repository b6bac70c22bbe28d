//! Results on their way to the model.

use std::borrow::Cow;

use serde_json::Value;

use super::form::Said;
use crate::codec::head::numbered;
use crate::dialect::{Dialect, Piece};
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
                "number" => Some(Said::by_others(numbered(result.id.as_deref(), place))),
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
        let Some(head) = self.call.iter().filter_map(Piece::head).find(|form| form.is_id) else {
            return self.native_id(id, place);
        };
        let mut out = String::new();
        head.write(Some(id), &result.name, place, &mut out);
        Cow::Owned(out)
    }
}
