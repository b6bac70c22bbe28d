//! Definitions as types of TypeScript with comments: half the tokens of JSON, and nothing left out.

use std::sync::LazyLock;

use crate::dialect::Definitions;

/// The forms for any dialect, as a description has them. A test shows tools by them.
pub(super) static TYPESCRIPT: LazyLock<Definitions> = LazyLock::new(|| {
    const TABLE: &str = r#"
        each = "// {description}\n{name}({\n  {parameters}\n})"
        plain = "// {description}\n{name}({})"
        values = true
        union = "({type} | {type})"
        parameter = { form = "// {description}\n{key}{optional}: {type},", joint = "\n" }

        [types]
        string = "string"
        integer = "integer"
        number = "number"
        boolean = "boolean"
        null = "null"
        array = "{items}[]"
        object = "object"
        record = "{\n{parameters}\n}"
        any = "any"
    "#;
    Definitions::from_toml(TABLE).unwrap_or_default()
});
