//! How tools are shown to the model.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::check::DialectError;
use super::record::{record, variants};
use super::table::{Field, Source};

record! {
    /// How tools are shown to the model. What no form has a slot for means nothing.
    pub struct Definitions keys(table) {
        /// Before the first.
        pub open: String = String::new(),
        /// Each one: `{json}` (the tool wrapped as OpenAI does), `{function}` (unwrapped), `{literal}`; or piece by piece
        /// `{name}`, `{description}`, `{parameters}`, `{arguments}`, `{schema}`, `{rest}`.
        pub each: String = "{json}".to_owned(),
        /// Each one without parameters, where it looks different.
        pub plain: Option<String> = None,
        /// Between two.
        pub between: String = "\n".to_owned(),
        /// After the last.
        pub close: String = String::new(),
        /// How `{parameters}` are written, one by one.
        pub parameter: Option<ParameterForm> where (has(plain.iter().chain([&each]), &["{parameters}"])) = None,
        /// How `{arguments}` are.
        pub argument: Option<ParameterForm> where (has(plain.iter().chain([&each]), &["{arguments}"])) = None,
        /// All forms.
        pub forms: Vec<String> where (false) = {
            let parameters = parameter.iter().chain(&argument).flat_map(ParameterForm::forms);
            parameters.chain(&plain).chain([&each]).cloned().collect()
        },
        /// What types are called, by the names of JSON Schema; `any` for all others, `array` with `{items}`, and
        /// `record`, an object whose `{parameters}` are known. None where a type is called what the schema calls it.
        pub types: Option<BTreeMap<String, String>> as types where (has(&forms, &["{type}"])) = None,
        /// True where the values of an enumeration are its type.
        pub values: bool where (types.is_some()) = false,
        /// Before, between and behind several types of which one is meant.
        pub union: [String; 3] as union where (types.is_some()) = ["", " | ", ""].map(str::to_owned),
        /// How JSON is spelt.
        pub json: Spelling where (has(&forms, &["{json}", "{function}", "{schema}"])) = Spelling::Spaced,
        /// Names and descriptions stand in attributes of XML.
        pub xml: bool where (has(&forms, &["{name}", "{description}"])) = false,
    }
}

record! {
    /// How a parameter is written.
    pub struct ParameterForm keys(table) {
        /// `{key}`, `{type}`, `{description}`, `{required}`, `{optional}` (a question mark), `{schema}`, and `{rest}` of
        /// the schema as elements. A line with one slot that has nothing to say is left out.
        pub form: String,
        /// An object or a list, where it looks different.
        pub compound: Option<String> = None,
        /// Between two.
        pub joint: String = String::new(),
        /// What `{required}` says of one that has to be there, and of one that may be missing.
        pub words: [String; 2] where (has(compound.iter().chain([&form]), &["{required}"])) =
            ["true", "false"].map(str::to_owned),
        /// Around the `{type}` of what may be missing.
        pub optional: Option<String> where (has(compound.iter().chain([&form]), &["{type}"])) = None,
    }
}

/// How JSON is spelt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spelling {
    /// On one line, with spaces.
    #[default]
    Spaced,
    /// On one line without spaces, keys in alphabetical order.
    Compact,
    /// Over several lines, each level by two spaces.
    Indent2,
    /// By four.
    Indent4,
    /// As a literal of Python.
    Python,
}

variants!(Spelling {
    Spaced = "spaced",
    Compact = "compact",
    Indent2 = "indent-2",
    Indent4 = "indent-4",
    Python = "python",
});

/// True where one of these forms has one of these slots.
fn has<'f>(forms: impl IntoIterator<Item = &'f String>, slots: &[&str]) -> bool {
    forms.into_iter().any(|form| slots.iter().any(|slot| form.contains(slot)))
}

impl Field<'_> {
    /// Words for types, by the names of JSON Schema and what stands for others.
    fn types(self) -> Result<Option<BTreeMap<String, String>>, DialectError> {
        let (mut words, mut table) = (BTreeMap::new(), self.table()?);
        for name in ["string", "integer", "number", "boolean", "null", "object", "array", "any", "record"] {
            if let Some(word) = table.get::<Option<String>>(name)? {
                words.insert(name.to_owned(), word);
            }
        }
        table.close()?;
        Ok(Some(words))
    }

    fn union(self) -> Result<[String; 3], DialectError> {
        self.form(|union| {
            let parts: Vec<String> = union.split("{type}").map(str::to_owned).collect();
            parts.try_into().map_err(|_| "a form such as \"Union[{type}, {type}]\"")
        })
    }
}

impl ParameterForm {
    fn forms(&self) -> impl Iterator<Item = &String> {
        self.compound.iter().chain([&self.form])
    }
}

impl Definitions {
    /// Reads what stands in `[definitions]`.
    pub(crate) fn from_toml(text: &str) -> Result<Self, DialectError> {
        Self::keys(Source::new(text).table()?)
    }

    /// A name or a description as it stands in a form.
    pub(crate) fn escaped<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.xml || !text.contains(['&', '"', '<', '>']) {
            return Cow::Borrowed(text);
        }
        let escaped = text.replace('&', "&amp;").replace('"', "&quot;");
        Cow::Owned(escaped.replace('<', "&lt;").replace('>', "&gt;"))
    }
}
