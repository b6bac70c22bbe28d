//! The tables of definitions.

use std::collections::BTreeMap;

use super::table::{Field, Table};
use crate::dialect::check::DialectError;
use crate::dialect::{Definitions, ParameterForm, Spelling, TypeForms};

/// What types may be called by: the names of JSON Schema, and what stands for others.
const TYPES: [&str; 9] =
    ["string", "integer", "number", "boolean", "null", "object", "array", "any", "record"];

/// Reads `[definitions]`. What no form has a slot for means nothing.
pub(super) fn read(mut table: Table<'_>) -> Result<Definitions, DialectError> {
    let open = table.string("open")?.unwrap_or_default();
    let each = table.string("each")?.unwrap_or_else(|| "{json}".to_owned());
    let plain = table.string("plain")?;
    let between = table.string("between")?.unwrap_or_else(|| "\n".to_owned());
    let close = table.string("close")?.unwrap_or_default();
    let whole = || plain.iter().chain([&each]);
    let mut form = |key, slot| {
        let says = whole().any(|form| form.contains(slot));
        match says.then(|| table.take(key)).flatten() {
            Some(field) => parameter(field).map(Some),
            None => Ok(None),
        }
    };
    let (mut parameter, mut argument) =
        (form("parameter", "{parameters}")?, form("argument", "{arguments}")?);
    let parameters = || parameter.iter().chain(&argument);
    let texts = || parameters().flat_map(forms).chain(whole());
    let has = |slots: &[&str]| texts().any(|form| slots.iter().any(|slot| form.contains(slot)));
    let types = if has(&["{type}"]) { types(&mut table)? } else { TypeForms::default() };
    let spelling =
        if has(&["{json}", "{function}", "{schema}"]) { spelling(&mut table)? } else { Spelling::default() };
    let xml = has(&["{name}", "{description}"]) && table.flag("xml")?;
    table.close()?;
    for form in parameter.iter_mut().chain(&mut argument) {
        form.types = TypeForms { optional: form.types.optional.take(), ..types.clone() };
    }
    Ok(Definitions { open, each, plain, between, close, parameter, argument, spelling, xml })
}

/// How a parameter is written; its types are those of all.
fn parameter(field: Field<'_>) -> Result<ParameterForm, DialectError> {
    let title = format!("[definitions.{}]", field.key);
    let mut table = field.table(&title)?;
    let mut form = ParameterForm {
        form: table.need("form")?.string()?,
        compound: table.string("compound")?,
        joint: table.string("joint")?.unwrap_or_default(),
        words: ["true", "false"].map(str::to_owned),
        types: TypeForms::default(),
    };
    if forms(&form).any(|form| form.contains("{required}"))
        && let Some(words) = table.take("words")
    {
        form.words = words.exactly()?;
    }
    if forms(&form).any(|form| form.contains("{type}")) {
        form.types.optional = table.string("optional")?;
    }
    table.close()?;
    Ok(form)
}

fn forms(parameter: &ParameterForm) -> impl Iterator<Item = &String> {
    parameter.compound.iter().chain([&parameter.form])
}

/// The words for types, and what is made of several.
fn types(table: &mut Table<'_>) -> Result<TypeForms, DialectError> {
    let mut forms = TypeForms { union: "{types}".to_owned(), bar: " | ".to_owned(), ..TypeForms::default() };
    let Some(field) = table.take("types") else { return Ok(forms) };
    let mut words = BTreeMap::new();
    let mut types = field.table("types")?;
    for name in TYPES {
        if let Some(word) = types.string(name)? {
            words.insert(name.to_owned(), word);
        }
    }
    types.close()?;
    forms.words = Some(words);
    forms.values = table.flag("values")?;
    if let Some(field) = table.take("union") {
        let union = field.string()?;
        let [before, bar, after] = union.split("{type}").collect::<Vec<_>>()[..] else {
            return Err(field.wrong("a form such as \"Union[{type}, {type}]\""));
        };
        forms.union = format!("{before}{{types}}{after}");
        bar.clone_into(&mut forms.bar);
    }
    Ok(forms)
}

/// How JSON is spelt: on one line, over several, or as a literal of Python.
fn spelling(table: &mut Table<'_>) -> Result<Spelling, DialectError> {
    let sorted = table.flag("sorted")?;
    let indent = table.take("indent");
    let indent = indent.map(|field| field.number::<u8>("a number of spaces")).transpose()?.map(usize::from);
    let compact = indent.is_none() && table.flag("compact")?;
    let python = indent.is_none() && !compact && table.flag("python")?;
    Ok(Spelling { indent, compact, sorted, python })
}
