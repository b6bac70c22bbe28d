//! What the nodes of a grammar mean: a description in numbers.

use std::collections::HashMap;

use tree_sitter::Language as Parser;

use crate::description::{Description, Form, Names, Private};

/// A grammar with the meaning of its nodes.
pub(crate) struct Grammar {
    pub(crate) parser: Parser,
    pub(crate) joint: String,
    pub(crate) member: String,
    pub(crate) method: Option<String>,
    pub(crate) private: Private,
    /// By the number of a kind.
    kinds: Vec<Meaning>,
    /// By the numbers of a kind and of a field in it; zero where there is no field.
    places: HashMap<(u16, u16), u16>,
    /// Names in the description that the grammar does not have.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the test of the descriptions"))]
    pub(crate) unknown: Vec<String>,
}

/// What a kind of node means.
#[derive(Default)]
pub(crate) struct Meaning {
    roles: u16,
    pub(crate) symbol: Option<Shape>,
    /// The field with the name of a scope that is no symbol.
    pub(crate) scope: Option<u16>,
}

/// A form of a symbol in numbers.
pub(crate) struct Shape {
    pub(crate) form: Form,
    pub(crate) sort: Sort,
    pub(crate) name: u16,
    pub(crate) needs: Option<u16>,
    pub(crate) value: Option<u16>,
    pub(crate) owner: Option<u16>,
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Function,
    Type,
    Other,
}

macro_rules! roles {
    ($($name:ident)+) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "numbers for the bits below")]
        enum Bit { $($name,)+ }
        /// What a kind or a place means.
        pub(crate) mod role {
            $(pub(crate) const $name: u16 = 1 << super::Bit::$name as u16;)+
        }
    };
}

roles! { COMMENT STRING INTERPOLATION IMPORT BRANCH NEST TYPE VALUE OPEN CLOSED SECTION CALL MEMBER DEFINITION WITHIN VISIBILITY }

impl Grammar {
    /// The grammar `name` with nodes as `description` has them; `None` if it is not built in.
    pub(crate) fn new(name: &str, description: &Description) -> Option<Self> {
        let parser = built_in(name)?;
        let mut builder = Builder::new(&parser);
        builder.symbols(description);
        let roles = &description.roles;
        let private = &description.private;
        for (names, bit) in [
            (&roles.comments, role::COMMENT),
            (&roles.strings, role::STRING),
            (&roles.interpolations, role::INTERPOLATION),
            (&roles.imports, role::IMPORT),
            (&roles.branches, role::BRANCH),
            (&roles.nests, role::NEST),
            (&roles.types, role::TYPE),
            (&description.values, role::VALUE),
            (&private.closed, role::CLOSED),
            (&private.sections, role::SECTION),
            (&Names::from(private.without.clone()), role::VISIBILITY),
        ] {
            names.iter().for_each(|kind| builder.mark(kind, bit));
        }
        let places = &description.places;
        for (names, bit) in [
            (&places.calls, role::CALL),
            (&places.members, role::MEMBER),
            (&places.definitions, role::DEFINITION),
            (&places.within, role::WITHIN),
            (&places.types, role::TYPE),
            (&private.open, role::OPEN),
        ] {
            names.iter().for_each(|place| builder.place(place, bit));
        }
        let Builder { kinds, places, unknown, .. } = builder;
        let method = Some(description.method.clone()).filter(|word| !word.is_empty());
        let joint = description.joint.clone();
        let member = if description.member.is_empty() { joint.clone() } else { description.member.clone() };
        Some(Self { parser, joint, member, method, private: private.clone(), kinds, places, unknown })
    }

    /// What nodes of this kind mean.
    pub(crate) fn meaning(&self, kind: u16) -> Option<&Meaning> {
        self.kinds.get(usize::from(kind))
    }

    /// Whether nodes of this kind have a role.
    pub(crate) fn is(&self, kind: u16, role: u16) -> bool {
        self.meaning(kind).is_some_and(|meaning| meaning.roles & role != 0)
    }

    /// Whether a place has a role: `field` of a node of `kind`, zero where there is none.
    pub(crate) fn stands(&self, kind: u16, field: u16, role: u16) -> bool {
        self.places.get(&(kind, field)).is_some_and(|roles| roles & role != 0)
    }
}

struct Builder<'a> {
    parser: &'a Parser,
    kinds: Vec<Meaning>,
    places: HashMap<(u16, u16), u16>,
    unknown: Vec<String>,
}

impl<'a> Builder<'a> {
    fn new(parser: &'a Parser) -> Self {
        let mut kinds = Vec::new();
        kinds.resize_with(parser.node_kind_count(), Meaning::default);
        Self { parser, kinds, places: HashMap::new(), unknown: Vec::new() }
    }

    /// The numbers of a kind: rules that share a name have several.
    fn numbers(&mut self, kind: &str) -> Vec<usize> {
        let named = kind.starts_with(|c: char| c.is_alphabetic());
        let is = |id: &usize| {
            let Ok(number) = u16::try_from(*id) else { return false };
            let word = matches!(kind, "and" | "or") != self.parser.node_kind_is_named(number);
            self.parser.node_kind_for_id(number) == Some(kind) && (!named || word)
        };
        let found: Vec<_> = (0..self.kinds.len()).filter(is).collect();
        if found.is_empty() {
            self.unknown.push(kind.to_owned());
        }
        found
    }

    fn field(&mut self, name: &str) -> Option<u16> {
        if name.is_empty() {
            return None;
        }
        let found = self.parser.field_id_for_name(name).map(u16::from);
        if found.is_none() {
            self.unknown.push(name.to_owned());
        }
        found
    }

    fn mark(&mut self, kind: &str, role: u16) {
        for number in self.numbers(kind) {
            self.kinds[number].roles |= role;
        }
    }

    fn place(&mut self, place: &str, role: u16) {
        let (kind, field) = place.split_once('.').unwrap_or((place, ""));
        let field = self.field(field).unwrap_or_default();
        for number in self.numbers(kind) {
            let number = u16::try_from(number).unwrap_or_default();
            *self.places.entry((number, field)).or_default() |= role;
        }
    }

    fn symbols(&mut self, description: &Description) {
        let sorts = [
            (&description.functions, Sort::Function),
            (&description.types, Sort::Type),
            (&description.others, Sort::Other),
        ];
        for (forms, sort) in sorts {
            for (kind, form) in forms {
                for number in self.numbers(kind) {
                    let shape = Shape {
                        form: form.clone(),
                        sort,
                        name: self.field(&form.name).unwrap_or_default(),
                        needs: self.field(&form.needs),
                        value: self.field(&form.value),
                        owner: self.field(&form.owner),
                    };
                    self.kinds[number].symbol = Some(shape);
                }
            }
        }
        for (kind, name) in &description.scopes {
            let field = self.field(name);
            for number in self.numbers(kind) {
                self.kinds[number].scope = field;
            }
        }
    }
}

/// The grammars that are compiled in, by the names that descriptions use.
fn built_in(name: &str) -> Option<Parser> {
    Some(match name {
        #[cfg(feature = "bash")]
        "bash" => tree_sitter_bash::LANGUAGE.into(),
        #[cfg(feature = "c")]
        "c" => tree_sitter_c::LANGUAGE.into(),
        #[cfg(feature = "cpp")]
        "cpp" => tree_sitter_cpp::LANGUAGE.into(),
        #[cfg(feature = "csharp")]
        "csharp" => tree_sitter_c_sharp::LANGUAGE.into(),
        #[cfg(feature = "go")]
        "go" => tree_sitter_go::LANGUAGE.into(),
        #[cfg(feature = "java")]
        "java" => tree_sitter_java::LANGUAGE.into(),
        #[cfg(feature = "javascript")]
        "javascript" => tree_sitter_javascript::LANGUAGE.into(),
        #[cfg(feature = "php")]
        "php" => tree_sitter_php::LANGUAGE_PHP.into(),
        #[cfg(feature = "python")]
        "python" => tree_sitter_python::LANGUAGE.into(),
        #[cfg(feature = "ruby")]
        "ruby" => tree_sitter_ruby::LANGUAGE.into(),
        #[cfg(feature = "rust")]
        "rust" => tree_sitter_rust::LANGUAGE.into(),
        #[cfg(feature = "typescript")]
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX.into(),
        #[cfg(feature = "typescript")]
        "typescript" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::Language;

    /// A name that a grammar does not have means nothing, and would only be missed in what the tools show.
    #[test]
    fn descriptions_name_what_their_grammars_have() {
        for language in Language::all() {
            let Some(grammar) = language.grammar() else { continue };
            assert_eq!(grammar.unknown, Vec::<String>::new(), "{}", language.name());
        }
    }
}
