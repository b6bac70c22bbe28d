//! How tools are shown to the model.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// How tools are shown to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definitions {
    /// Before the first.
    pub open: String,
    /// Each one: `{json}` (the tool wrapped as OpenAI does), `{function}` (unwrapped), `{literal}`; or piece by piece
    /// `{name}`, `{description}`, `{parameters}`, `{arguments}`, `{schema}`, `{rest}`.
    pub each: String,
    /// Each one without parameters, where it looks different.
    pub plain: Option<String>,
    /// Between two.
    pub between: String,
    /// After the last.
    pub close: String,
    /// How `{parameters}` are written, one by one.
    pub parameter: Option<ParameterForm>,
    /// How `{arguments}` are.
    pub argument: Option<ParameterForm>,
    /// How JSON is spelt.
    pub spelling: Spelling,
    /// Names and descriptions stand in attributes of XML.
    pub xml: bool,
}

/// How a parameter is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParameterForm {
    /// `{key}`, `{type}`, `{description}`, `{required}`, `{optional}` (a question mark), `{schema}`, and `{rest}` of the
    /// schema as elements. A line with one slot that has nothing to say is left out.
    pub form: String,
    /// An object or a list, where it looks different.
    pub compound: Option<String>,
    /// Between two.
    pub joint: String,
    /// What `{required}` says of one that has to be there, and of one that may be missing.
    pub words: [String; 2],
    /// What types are called.
    pub types: TypeForms,
}

/// The words for types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeForms {
    /// By the names of JSON Schema; `any` for all others, `array` with `{items}`, and `record`, an object whose
    /// `{parameters}` are known. None where a type is called what the schema calls it.
    pub words: Option<BTreeMap<String, String>>,
    /// Around the `{type}` of what may be missing.
    pub optional: Option<String>,
    /// Around the `{types}` of which one is meant.
    pub union: String,
    /// Between them.
    pub bar: String,
    /// True where the values of an enumeration are its type.
    pub values: bool,
}

/// How JSON is spelt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spelling {
    /// Over several lines, each level by so many spaces.
    pub indent: Option<usize>,
    /// Without any space.
    pub compact: bool,
    /// Keys in alphabetical order.
    pub sorted: bool,
    /// As a literal of Python.
    pub python: bool,
}

impl Definitions {
    /// A name or a description as it stands in a form.
    pub(crate) fn escaped<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.xml || !text.contains(['&', '"', '<', '>']) {
            return Cow::Borrowed(text);
        }
        let escaped = text.replace('&', "&amp;").replace('"', "&quot;");
        Cow::Owned(escaped.replace('<', "&lt;").replace('>', "&gt;"))
    }
}
