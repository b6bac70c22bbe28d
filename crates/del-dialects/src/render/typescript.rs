//! Definitions as types of TypeScript with comments: half the tokens of JSON, and nothing left out.

use std::sync::LazyLock;

use crate::dialect::{Definitions, ParameterForm, TypeForms};

/// The forms for any dialect.
pub(super) static TYPESCRIPT: LazyLock<Definitions> = LazyLock::new(|| {
    let words = [
        ("string", "string"),
        ("integer", "integer"),
        ("number", "number"),
        ("boolean", "boolean"),
        ("null", "null"),
        ("array", "{items}[]"),
        ("object", "object"),
        ("record", "{\n{parameters}\n}"),
        ("any", "any"),
    ];
    let types = TypeForms {
        words: Some(words.map(|(name, word)| (name.to_owned(), word.to_owned())).into()),
        optional: None,
        union: "({types})".to_owned(),
        bar: " | ".to_owned(),
        values: true,
    };
    let parameter = ParameterForm {
        form: "// {description}\n{key}{optional}: {type},".to_owned(),
        joint: "\n".to_owned(),
        types,
        ..ParameterForm::default()
    };
    Definitions {
        each: "// {description}\n{name}({\n  {parameters}\n})".to_owned(),
        plain: Some("// {description}\n{name}({})".to_owned()),
        between: "\n".to_owned(),
        parameter: Some(parameter),
        ..Definitions::default()
    }
});
