//! The programs that the judge knows, as their files in `programs/` describe them.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::kind::Kind;

static BUILTIN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The descriptions that are built in.
#[derive(Debug)]
pub(crate) struct Catalog {
    programs: Vec<Program>,
    by_name: HashMap<String, usize>,
}

/// One program, or several that take the same arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    /// The names under which it is called.
    programs: Vec<String>,
    /// What it does, for people.
    #[serde(rename = "about")]
    _about: String,
    /// Commands that have to be safe; a test reads them.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the test of the descriptions"))]
    safe: Vec<String>,
    /// Commands that must not be.
    #[serde(rename = "unsafe")]
    #[cfg_attr(not(test), expect(dead_code, reason = "for the test of the descriptions"))]
    dangerous: Vec<String>,
    /// Variables that may be set for it, besides those of every program.
    #[serde(default)]
    pub(crate) environment: Vec<String>,
    /// Variables that it always gets.
    #[serde(default)]
    pub(crate) set: BTreeMap<String, String>,
    /// It looks into nothing: it is run in `/`, where no project can tell it what to do.
    #[serde(default)]
    pub(crate) nowhere: bool,
    /// It reads the configuration of a repository, which has to be harmless.
    #[serde(default)]
    pub(crate) repository: bool,
    /// It reads files that say what is to be left out.
    #[serde(default)]
    pub(crate) ignores: bool,
    /// The program that does it in its place: it gets the operands alone.
    #[serde(default)]
    pub(crate) instead: Option<String>,
    /// It reads files from their beginning to their end and tells nothing else of them, so that any may be one that is
    /// made of commands.
    #[serde(default)]
    pub(crate) streams: bool,
    /// It is no program but the shell's own: `bash` runs it, word for word.
    #[serde(default)]
    pub(crate) shell: bool,
    /// Options that several subcommands share.
    #[serde(default)]
    groups: BTreeMap<String, Group>,
    pub(crate) arguments: Arguments,
}

/// Options under a name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    flags: Names,
    #[serde(deserialize_with = "values")]
    values: HashMap<String, Value>,
}

/// What may stand behind a program's name, or a subcommand's.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Arguments {
    /// Whole lines of arguments that are fine as they stand.
    pub(crate) exactly: Vec<Line>,
    pub(crate) form: Form,
    /// Options without a value.
    pub(crate) flags: Names,
    /// Groups of options that it takes as well.
    groups: Names,
    /// Behind the first operand everything is an operand.
    pub(crate) options_first: bool,
    /// `-5` is an option.
    pub(crate) numbers: bool,
    /// Options with one.
    #[serde(deserialize_with = "values")]
    pub(crate) values: HashMap<String, Value>,
    /// What operands there are; nothing fits when left out.
    pub(crate) operands: Option<Operands>,
    /// What they are when one of these options is given.
    #[serde(deserialize_with = "given")]
    pub(crate) given: Vec<(Names, Operands)>,
    /// One of these options has to be there.
    pub(crate) needs: Names,
    /// Options that are added before what was given, to hold the program back.
    pub(crate) inject: Vec<String>,
    /// How secrets are left out of what it looks through.
    pub(crate) hide: Option<Hide>,
    /// The arguments of subcommands.
    pub(crate) sub: BTreeMap<String, Arguments>,
}

/// Options that leave files out, with `{}` for the pattern of their names. They are added behind the options that were
/// given: the last one counts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hide {
    pub(crate) files: String,
    pub(crate) folders: String,
    /// The options with which it looks through directories; it always does when there are none.
    #[serde(default)]
    pub(crate) with: Names,
}

/// How a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// `-abc` is three options, `--name=value`, options may follow operands, `--` ends them.
    #[default]
    Usual,
    /// Every option is a word of its own, and its value the next word. Operands come first.
    Expression,
    /// The same, and operands may stand anywhere.
    Words,
    /// There are no options.
    Raw,
}

/// Names between blanks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Names(Vec<String>);

/// Words between blanks.
pub(crate) type Line = Names;

/// How an option takes its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) place: Place,
    /// One for each word.
    pub(crate) kinds: Vec<Kind>,
}

/// Where the value of an option stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the next word, or in the same one.
    Either,
    /// In the same word alone: `=text`.
    Same,
    /// In the same word, and it may be missing: `?text`.
    Optional,
}

/// What the operands are, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Operands {
    pub(crate) needed: Vec<Kind>,
    pub(crate) optional: Vec<Kind>,
    pub(crate) repeated: Option<Kind>,
}

/// What is wrong with a description.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CatalogError {
    #[error("{file}: {source}")]
    Form { file: &'static str, source: Box<toml::de::Error> },
    #[error("{file}: no group of options is called `{name}`")]
    Group { file: &'static str, name: String },
    #[error("{file}: `{name}` is described elsewhere as well")]
    Twice { file: &'static str, name: String },
}

impl Catalog {
    /// The built-in one. A description that cannot be read is left out: what is not known asks.
    pub(crate) fn builtin() -> &'static Self {
        static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
            let mut catalog = Catalog { programs: Vec::new(), by_name: HashMap::new() };
            for (file, text) in BUILTIN {
                // A test reads them all; here there is nobody to tell.
                let _ = catalog.add(file, text);
            }
            catalog
        });
        &CATALOG
    }

    /// The program of this name.
    pub(crate) fn find(&self, name: &str) -> Option<&Program> {
        self.by_name.get(name).and_then(|at| self.programs.get(*at))
    }

    fn add(&mut self, file: &'static str, text: &str) -> Result<(), CatalogError> {
        let mut program: Program =
            toml::from_str(text).map_err(|source| CatalogError::Form { file, source: Box::new(source) })?;
        if let Some(name) = program.programs.iter().find(|name| self.by_name.contains_key(*name)) {
            return Err(CatalogError::Twice { file, name: name.clone() });
        }
        program.arguments.join(&program.groups).map_err(|name| CatalogError::Group { file, name })?;
        for name in &program.programs {
            self.by_name.insert(name.clone(), self.programs.len());
        }
        self.programs.push(program);
        Ok(())
    }
}

impl Arguments {
    /// Takes in the groups that it names, and so do its subcommands.
    fn join(&mut self, groups: &BTreeMap<String, Group>) -> Result<(), String> {
        for name in &self.groups.0 {
            let group = groups.get(name).ok_or_else(|| name.clone())?;
            self.flags.0.extend_from_slice(&group.flags.0);
            self.values.extend(group.values.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        self.sub.values_mut().try_for_each(|sub| sub.join(groups))
    }
}

impl Names {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|own| own == name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.0
    }
}

impl From<String> for Names {
    fn from(text: String) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }
}

impl TryFrom<String> for Operands {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut operands = Self { needed: Vec::new(), optional: Vec::new(), repeated: None };
        for word in text.split_whitespace() {
            if operands.repeated.is_some() {
                return Err(format!("`{word}` follows what is repeated"));
            }
            if let Some(word) = word.strip_suffix('*') {
                operands.repeated = Some(Kind::parse(word)?);
            } else if let Some(word) = word.strip_suffix('?') {
                operands.optional.push(Kind::parse(word)?);
            } else if operands.optional.is_empty() {
                operands.needed.push(Kind::parse(word)?);
            } else {
                return Err(format!("`{word}` follows what may be missing"));
            }
        }
        Ok(operands)
    }
}

impl Value {
    fn parse(text: &str) -> Result<Self, String> {
        let (place, kinds) = match text.split_at_checked(1) {
            Some(("?", rest)) => (Place::Optional, rest),
            Some(("=", rest)) => (Place::Same, rest),
            _ => (Place::Either, text),
        };
        let kinds = kinds.split_whitespace().map(Kind::parse).collect::<Result<Vec<_>, _>>()?;
        match (place, kinds.len()) {
            (Place::Either, 1..) | (_, 1) => Ok(Self { place, kinds }),
            _ => Err(format!("`{text}` says no value, or more than one word holds")),
        }
    }
}

fn values<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<HashMap<String, Value>, D::Error> {
    let mut values = HashMap::new();
    for (names, value) in BTreeMap::<String, String>::deserialize(deserializer)? {
        let value = Value::parse(&value).map_err(serde::de::Error::custom)?;
        values.extend(names.split_whitespace().map(|name| (name.to_owned(), value.clone())));
    }
    Ok(values)
}

fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<(Names, Operands)>, D::Error> {
    let map = BTreeMap::<String, Operands>::deserialize(deserializer)?;
    Ok(map.into_iter().map(|(names, operands)| (names.into(), operands)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ground, Judge, Verdict};

    #[test]
    fn every_description_can_be_read() {
        let mut catalog = Catalog { programs: Vec::new(), by_name: HashMap::new() };
        for (file, text) in BUILTIN {
            catalog.add(file, text).unwrap();
        }
        assert!(catalog.programs.len() > 50, "{}", catalog.programs.len());
    }

    #[test]
    fn every_description_keeps_its_promises() {
        let directory = tempfile::tempdir().unwrap();
        let ground = Ground::new(directory.path());
        let judge = Judge::default();
        let mut wrong = Vec::new();
        for program in &Catalog::builtin().programs {
            assert!(!program.safe.is_empty() && !program.dangerous.is_empty(), "{:?}", program.programs);
            for (commands, safe) in [(&program.safe, true), (&program.dangerous, false)] {
                for command in commands {
                    let judgement = judge.judge(command, &ground);
                    if (judgement.verdict == Verdict::Safe) != safe {
                        wrong.push(format!("{command}: {:?} {:?}", judgement.verdict, judgement.reasons));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
