//! The tables of definitions.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::dialect::{Definitions, ParameterForm, Spelling, TypeForms};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DefinitionsSource {
    open: String,
    each: Option<String>,
    plain: Option<String>,
    between: Option<String>,
    close: String,
    parameter: Option<ParameterSource>,
    argument: Option<ParameterSource>,
    indent: Option<u8>,
    compact: bool,
    sorted: bool,
    python: bool,
    xml: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterSource {
    form: String,
    compound: Option<String>,
    #[serde(default)]
    joint: String,
    words: Option<[String; 2]>,
    types: Option<BTreeMap<String, String>>,
    optional: Option<String>,
    union: Option<String>,
    bar: Option<String>,
    #[serde(default)]
    values: bool,
}

impl From<DefinitionsSource> for Definitions {
    fn from(source: DefinitionsSource) -> Self {
        Self {
            open: source.open,
            each: source.each.unwrap_or_else(|| "{json}".to_owned()),
            plain: source.plain,
            between: source.between.unwrap_or_else(|| "\n".to_owned()),
            close: source.close,
            parameter: source.parameter.map(Into::into),
            argument: source.argument.map(Into::into),
            spelling: Spelling {
                indent: source.indent.map(usize::from),
                compact: source.compact,
                sorted: source.sorted,
                python: source.python,
            },
            xml: source.xml,
        }
    }
}

impl From<ParameterSource> for ParameterForm {
    fn from(source: ParameterSource) -> Self {
        Self {
            form: source.form,
            compound: source.compound,
            joint: source.joint,
            words: source.words.unwrap_or_else(|| ["true", "false"].map(str::to_owned)),
            types: TypeForms {
                words: source.types,
                optional: source.optional,
                union: source.union.unwrap_or_else(|| "{types}".to_owned()),
                bar: source.bar.unwrap_or_else(|| " | ".to_owned()),
                values: source.values,
            },
        }
    }
}
