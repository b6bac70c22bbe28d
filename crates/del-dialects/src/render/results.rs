//! Results on their way to the model.

use super::fill;
use crate::dialect::Dialect;
use crate::dialects::Dialects;
use crate::message::CallResult;

impl Dialect {
    /// Results as the dialect hands them to the model, neutralised, for one message of the role [`results_role`](Self::results_role).
    pub fn render_results(&self, results: &[CallResult]) -> String {
        let mut out = self.results.open.clone();
        for (place, result) in results.iter().enumerate() {
            if place > 0 {
                out.push_str(&self.results.between);
            }
            let form = match &self.results.failed {
                Some(failed) if !result.ok => failed,
                _ => &self.results.each,
            };
            let all = Dialects::builtin();
            let (name, text) = (all.neutralise(&result.name), all.neutralise(&result.text));
            let id = self.native_id(result.id.as_deref().unwrap_or_default(), place);
            out.push_str(&fill(form, &[("{name}", &name), ("{id}", &id), ("{text}", &text)]));
        }
        out.push_str(&self.results.close);
        out
    }

    /// The role of the message that carries results.
    pub fn results_role(&self) -> &str {
        &self.results.role
    }
}
