//! The tools there are, under every name, and the sets in which models are offered them. The tool that runs others is here
//! as well.

pub(crate) mod batch_operations;

use std::fmt;
use std::str::FromStr;

use del_dialects::Tool;
use serde_json::Value;

use crate::arguments::folded;
use crate::class::Class;
use crate::job::Entry;
use crate::tools;

static ENTRIES: &[&Entry] = &[
    &tools::read_file::TOOL,
    &tools::write_file::TOOL,
    &tools::edit_file::TOOL,
    &tools::multi_edit::TOOL,
    &batch_operations::TOOL,
    &tools::list_dir::TOOL,
    &tools::glob_files::TOOL,
    &tools::search_code::TOOL,
    &tools::run_command::TOOL,
    &tools::git_operation::TOOL,
    #[cfg(feature = "code")]
    &tools::analyze_code::TOOL,
    #[cfg(feature = "code")]
    &tools::extract_functions::TOOL,
    #[cfg(feature = "code")]
    &tools::find_references::TOOL,
    &tools::format_code::TOOL,
    &tools::lint_code::TOOL,
    #[cfg(feature = "code")]
    &tools::project_context::TOOL,
    #[cfg(feature = "code")]
    &tools::security_scan::TOOL,
    &tools::web_search::TOOL,
    &tools::test_runner::TOOL,
];

/// Which tools a model is offered, and under which names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Toolset {
    /// The seven of the Devstral document, defined to the byte as there. Small models do best with few tools.
    #[default]
    Core,
    /// Del's own.
    Del,
    /// Every tool, under the engine's name.
    All,
}

/// A tool as a model is offered it.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The name in the set.
    pub name: &'static str,
    /// What a call may do at most.
    pub class: Class,
    /// The definition in OpenAI's form, as JSON text without a newline at the end.
    pub json: &'static str,
    pub(crate) entry: &'static Entry,
}

impl Toolset {
    /// The tools of the set, in the order in which models see them.
    pub fn definitions(self) -> Vec<Definition> {
        ENTRIES
            .iter()
            .copied()
            .filter_map(|entry| {
                let (name, json) = match self {
                    Self::Core => entry.core?,
                    Self::Del if !entry.del => return None,
                    Self::Del | Self::All => (entry.name, entry.definition),
                };
                Some(Definition { name, class: entry.class, json: json.trim_end(), entry })
            })
            .collect()
    }
}

impl Definition {
    /// The sets that offer the tool, each with the name that models see there.
    pub fn names(&self) -> Vec<(Toolset, &'static str)> {
        let offered = [
            (Toolset::Core, self.entry.core.map(|(name, _)| name)),
            (Toolset::Del, self.entry.del.then_some(self.entry.name)),
            (Toolset::All, Some(self.entry.name)),
        ];
        offered.into_iter().filter_map(|(set, name)| Some((set, name?))).collect()
    }
}

impl fmt::Display for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Core => "core",
            Self::Del => "del",
            Self::All => "all",
        })
    }
}

/// A word that names no toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown toolset '{0}'; expected core, del or all")]
pub struct UnknownToolset(pub String);

impl FromStr for Toolset {
    type Err = UnknownToolset;

    fn from_str(word: &str) -> Result<Self, UnknownToolset> {
        match word {
            "core" => Ok(Self::Core),
            "del" => Ok(Self::Del),
            "all" => Ok(Self::All),
            _ => Err(UnknownToolset(word.to_owned())),
        }
    }
}

impl Definition {
    /// The definition as the engine's own type.
    pub fn tool(&self) -> Tool {
        let json: Value = serde_json::from_str(self.json).unwrap_or_default();
        let function = &json["function"];
        Tool {
            name: self.name.to_owned(),
            description: function["description"].as_str().unwrap_or_default().to_owned(),
            parameters: function["parameters"].clone().into(),
        }
    }
}

/// The tool that `name` means, in any spelling: `grep_search`, `Grep`, `functions.grep`.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    let exact = |name: &str| {
        let name = folded(name);
        ENTRIES.iter().copied().find(|entry| {
            folded(entry.name) == name
                || entry.core.is_some_and(|(core, _)| folded(core) == name)
                || entry.aliases.contains(&name.as_ref())
        })
    };
    let name = name.trim();
    exact(name).or_else(|| exact(name.rsplit(['.', ':', '/']).next()?))
}

/// The engine's names.
pub(crate) fn canonical_names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().copied().map(|entry| entry.name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn definitions_parse_and_carry_the_name_they_are_listed_under() {
        for set in [Toolset::Core, Toolset::Del, Toolset::All] {
            for definition in set.definitions() {
                let json: Value = serde_json::from_str(definition.json).unwrap();
                assert_eq!(json["function"]["name"], definition.name, "{set}");
                assert!(!definition.tool().description.is_empty());
            }
        }
    }

    #[test]
    fn every_declared_property_is_a_parameter_of_the_tool() {
        for set in [Toolset::Core, Toolset::All] {
            for definition in set.definitions() {
                for key in definition.tool().parameters["properties"].as_object().unwrap().keys() {
                    let arguments = Arguments::read(
                        definition.name,
                        &serde_json::json!({ key.as_str(): "1" }).to_string(),
                        definition.entry.parameters,
                        &Value::Null,
                    );
                    assert!(arguments.unwrap().notes().is_empty(), "{}.{key}", definition.name);
                }
            }
        }
    }

    #[test]
    fn no_name_means_two_tools() {
        let mut seen = HashSet::new();
        for entry in ENTRIES.iter().copied() {
            let core = entry.core.map(|(name, _)| folded(name).into_owned());
            let mut own: HashSet<_> = entry.aliases.iter().map(|alias| (*alias).to_owned()).collect();
            own.insert(folded(entry.name).into_owned());
            own.extend(core);
            for name in own {
                assert!(!name.contains('_'), "{name} is not folded");
                assert!(seen.insert(name.clone()), "{name} names two tools");
            }
        }
    }

    #[test]
    fn names_are_found_in_any_spelling() {
        for (name, tool) in [
            ("list_directory", "list_dir"),
            ("ListDirectory", "list_dir"),
            ("grep-search", "search_code"),
            ("functions.bash", "run_command"),
            ("default_api:view", "read_file"),
            ("str_replace", "edit_file"),
        ] {
            assert_eq!(find(name).map(|entry| entry.name), Some(tool), "{name}");
        }
        assert!(find("nosuch").is_none());
    }
}
