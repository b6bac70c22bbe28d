//! Finds out which tool-call dialect a chat template, a checkpoint or an answer is in, and describes a new one.
//!
//! [`Material::read`] says what a file is, [`detect`] what it tells. A template is run on conversations with known words
//! in them; what it writes for a call is read and written by every known dialect, and compared. The descriptions' own rules
//! on the text of a template decide between dialects that write the same, and where a template shows no calls.
//!
//! ```
//! use del_detect::{Kind, Material, Options, detect};
//! use del_dialects::Dialects;
//!
//! let template = "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}\
//!     {% for call in message.tool_calls %}<tool_call>\n{\"name\": \"{{ call.function.name }}\", \
//!     \"arguments\": {{ call.function.arguments | tojson }}}\n</tool_call>{% endfor %}<|end|>{% endfor %}\
//!     {% if tools %}{{ tools | tojson }}{% endif %}";
//! let found = detect(&Material::of(Kind::Jinja, template), Dialects::builtin(), Options::default())?;
//! assert_eq!(found.report.dialect.as_deref(), Some("hermes-json"));
//! # Ok::<(), del_detect::RenderError>(())
//! ```
//!
//! How sure a [`Report`] is, is a number from 0 to 1; what it stands on is its evidence, in sentences for people.
//!
//! A template is a program. It runs with a limit on its steps and on the text it writes, but a hostile one can still
//! make long texts on its way; run it in a process of limited memory where it is not trusted.
#![forbid(unsafe_code)]

mod adapt;
mod answer;
pub mod cases;
mod compare;
mod derive;
mod describe;
pub mod examples;
mod instructions;
mod probe;
mod report;
pub mod response;
mod rules;
pub mod source;
mod syntax;
mod template;
mod text;
pub mod trial;
mod verdict;

use del_dialects::Dialects;

pub use cases::Case;
pub use instructions::Instructions;
pub use report::{Basis, Description, Found, Instead, Report, Thinking};
pub use source::{Kind, Material, SourceError};
pub use template::RenderError;

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Options {
    /// Go by rules on the text of a template as well, not only by what it writes.
    pub rules: bool,
    /// Describe what the template writes, also where a known dialect fits.
    pub describe: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { rules: true, describe: false }
    }
}

/// What a template or an answer is in.
///
/// # Errors
/// When a template is no template, cannot be run, or asks for more than any needs.
pub fn detect(material: &Material, dialects: &Dialects, options: Options) -> Result<Found, RenderError> {
    let report = match material.kind {
        Kind::Jinja => return verdict::of_templates(material, dialects, options),
        Kind::Go => return verdict::of_go(material, dialects, options),
        Kind::Answer => answer::report(&material.text, dialects),
        Kind::Nothing => verdict::of_nothing(material, dialects),
    };
    Ok(Found::only(report))
}
