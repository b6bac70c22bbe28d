//! Finds out which tool-call dialect a chat template, a checkpoint or an answer is in, and describes a new one.
//!
//! [`Material::read`] says what a file is, [`detect`] what it tells. A template is run on conversations with known words
//! in them; what it writes for a call is read and written by every known dialect, and compared. The descriptions' own rules
//! on the text of a template decide between dialects that write the same, and where a template shows no calls.
//!
//! A template is a program. It runs with a limit on its steps and on the text it writes, but a hostile one can still
//! make long texts on its way; run it in a process of limited memory where it is not trusted.
#![forbid(unsafe_code)]

mod answer;
mod compare;
mod probe;
mod report;
mod rules;
pub mod source;
mod template;
mod text;
mod verdict;

use del_dialects::Dialects;

pub use report::{Basis, Instead, Report, Thinking};
pub use source::{Kind, Material, SourceError};
pub use template::RenderError;

/// What to go by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ways {
    /// Rules on the text of a template, and what it writes.
    #[default]
    All,
    /// Only what it writes.
    Rendering,
}

/// What a template or an answer is in.
///
/// # Errors
/// When a template is no template, or does not come to an end.
pub fn detect(material: &Material, dialects: &Dialects, ways: Ways) -> Result<Report, RenderError> {
    match material.kind {
        Kind::Jinja => verdict::of_template(material, dialects, ways),
        Kind::Go => Ok(verdict::of_text(material, dialects)),
        Kind::Answer => Ok(answer::report(&material.text, dialects)),
        Kind::Nothing => Ok(verdict::of_nothing(material, dialects)),
    }
}
