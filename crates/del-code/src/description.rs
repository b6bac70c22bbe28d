//! A language as its file describes it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The whole of a file in `languages/`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Description {
    /// The name for people.
    pub(crate) name: String,
    /// What a caller may call it.
    pub(crate) names: Names,
    pub(crate) extensions: Names,
    /// Whole names of files.
    pub(crate) files: Names,
    /// Programs that a first line `#!` names.
    pub(crate) interpreters: Names,
    /// How comments and strings are written, by the name of a table in `lines.toml`.
    pub(crate) comments: String,
    /// The grammar; without one, `patterns` read the language.
    pub(crate) grammar: String,
    /// The language whose nodes this one's grammar has as well.
    pub(crate) like: String,
    /// What stands between the parts of a qualified name.
    pub(crate) joint: String,
    /// The same before a function, if it differs.
    pub(crate) member: String,
    /// The word for a function inside a type, if it differs.
    pub(crate) method: String,
    /// Nodes that are functions where they are a value.
    pub(crate) values: Names,
    pub(crate) functions: BTreeMap<String, Form>,
    pub(crate) types: BTreeMap<String, Form>,
    pub(crate) others: BTreeMap<String, Form>,
    /// Nodes that qualify what is in them without being symbols, and the field with their name.
    pub(crate) scopes: BTreeMap<String, String>,
    pub(crate) private: Private,
    pub(crate) roles: Roles,
    pub(crate) places: Places,
    pub(crate) patterns: Vec<Pattern>,
}

/// How a node is a symbol.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "FormWritten")]
pub(crate) struct Form {
    /// The word for it.
    pub(crate) kind: String,
    /// The field with its name.
    pub(crate) name: String,
    /// It counts only with this field.
    pub(crate) needs: String,
    /// It counts only where this field is one of the `values` of the language.
    pub(crate) value: String,
    /// It counts only where the name lies inside a node of this kind.
    pub(crate) through: String,
    /// The field with the type that it belongs to.
    pub(crate) owner: String,
    /// What stands before its name in a qualified one, if not the language's own.
    pub(crate) joint: String,
    /// It does not count inside a function.
    pub(crate) outside: bool,
    /// It does not qualify what is in it.
    pub(crate) flat: bool,
}

/// Which symbols are private.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Private {
    /// With a name that begins so.
    pub(crate) prefixes: Names,
    /// With a name that begins with no capital.
    pub(crate) lower: bool,
    /// With one of these words before the name.
    pub(crate) words: Names,
    /// In something else, with none of these words before the name.
    pub(crate) unless: Names,
    /// Without a node of this kind inside.
    pub(crate) without: String,
    /// Nothing is private in these nodes (or in those with this field).
    pub(crate) open: Names,
    /// In these nodes all is private until a section says otherwise.
    pub(crate) closed: Names,
    /// Nodes that begin a section,
    pub(crate) sections: Names,
    /// of private symbols with one of these words,
    pub(crate) hidden: Names,
    /// of public ones with one of these.
    pub(crate) shown: Names,
}

/// What kinds of nodes mean.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Roles {
    pub(crate) comments: Names,
    pub(crate) strings: Names,
    /// Code inside strings.
    pub(crate) interpolations: Names,
    pub(crate) imports: Names,
    /// What makes one more path through a function.
    pub(crate) branches: Names,
    /// What goes one level deeper.
    pub(crate) nests: Names,
    /// What is a type, and all in it.
    pub(crate) types: Names,
}

/// What a node means by its place: `kind.field` of the node above, or `kind` where it is in no field.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Places {
    pub(crate) calls: Names,
    /// Where the last part of a longer name stands, which means what the whole means.
    pub(crate) members: Names,
    /// Where a name is defined, besides symbols.
    pub(crate) definitions: Names,
    /// What a definition may be wrapped in.
    pub(crate) within: Names,
    pub(crate) types: Names,
}

/// A symbol of a language without a grammar: an expression with a group `name`, perhaps `signature`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pattern {
    pub(crate) kind: String,
    pub(crate) regex: String,
}

/// Words between blanks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Names(Vec<String>);

impl Names {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.iter().any(|name| name == word)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Names {
    fn from(words: String) -> Self {
        Self(words.split_whitespace().map(str::to_owned).collect())
    }
}

/// A form is its kind alone, or a table.
#[derive(Deserialize)]
#[serde(untagged)]
enum FormWritten {
    Kind(String),
    Table(Table),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kind: String,
    #[serde(default = "name")]
    name: String,
    #[serde(default)]
    needs: String,
    #[serde(default)]
    value: String,
    #[serde(default)]
    through: String,
    #[serde(default)]
    owner: String,
    #[serde(default)]
    joint: String,
    #[serde(default)]
    outside: bool,
    #[serde(default)]
    flat: bool,
}

fn name() -> String {
    "name".to_owned()
}

impl From<FormWritten> for Form {
    fn from(written: FormWritten) -> Self {
        let empty = String::new;
        match written {
            FormWritten::Kind(kind) => Self {
                kind,
                name: name(),
                needs: empty(),
                value: empty(),
                through: empty(),
                owner: empty(),
                joint: empty(),
                outside: false,
                flat: false,
            },
            FormWritten::Table(Table { kind, name, needs, value, through, owner, joint, outside, flat }) => {
                Self { kind, name, needs, value, through, owner, joint, outside, flat }
            }
        }
    }
}
