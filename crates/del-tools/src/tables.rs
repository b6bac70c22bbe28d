//! The programs that tools run for a project, as the files of `programs/` describe them.

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::configuration::Configuration;
use crate::names::Names;
use crate::summary::Summary;
use crate::template::Template;

/// By folder and name: `linters/ruff`.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Writes a file as it should look: the file comes on standard input, and the result leaves on standard output.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Formatter {
    pub(crate) title: String,
    #[serde(rename = "about")]
    _about: String,
    /// Of several for a file, the lowest that is there.
    rank: u32,
    pub(crate) extensions: Names,
    pub(crate) program: String,
    /// Where in the project it may lie.
    #[serde(default)]
    pub(crate) local: Vec<String>,
    /// `{path}` stands for the file.
    pub(crate) arguments: Vec<String>,
    /// It runs nothing that the project names, so it may run before anybody is asked, with copies of its configuration
    /// and without the right to write.
    #[serde(default)]
    pub(crate) harmless: bool,
    /// It is run in `/`, where no project tells it what to do.
    #[serde(default)]
    pub(crate) nowhere: bool,
    /// What the project tells it.
    #[serde(default)]
    pub(crate) configuration: Option<Configuration>,
    /// Exit codes of success.
    #[serde(default = "zero")]
    pub(crate) done: Vec<i32>,
}

/// Looks for faults.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Linter {
    pub(crate) title: String,
    #[serde(rename = "about")]
    _about: String,
    /// Of one group, one runs: the lowest that is there.
    pub(crate) group: String,
    rank: u32,
    /// Extensions, or whole names, of the files that it is for.
    pub(crate) extensions: Names,
    pub(crate) program: String,
    /// Another program that has to be there.
    #[serde(default)]
    pub(crate) needs: Option<String>,
    #[serde(default)]
    pub(crate) local: Vec<String>,
    /// It is run where this file lies, at the path or above it.
    #[serde(default)]
    pub(crate) project: Option<String>,
    /// `{path}` stands for the path, `{files}` for the files at it.
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) fix: Option<Vec<String>>,
    /// What a finding looks like, the first that fits.
    #[serde(default)]
    pub(crate) lines: Vec<Template>,
    /// Or a form that has no lines.
    #[serde(default)]
    pub(crate) form: Option<Form>,
    /// What the project tells it.
    #[serde(default)]
    pub(crate) configuration: Option<Configuration>,
    /// Beginnings of rules that are errors where the line does not say.
    #[serde(default)]
    pub(crate) errors: Vec<String>,
}

/// Findings as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    Cargo,
    Eslint,
}

/// Runs tests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runner {
    pub(crate) title: String,
    /// Of several in a directory, the lowest.
    rank: u32,
    /// One of these has to be there.
    pub(crate) detect: Vec<Sign>,
    pub(crate) program: String,
    #[serde(default)]
    pub(crate) needs: Option<String>,
    /// The program lies beside this one, which has to be there.
    #[serde(default)]
    pub(crate) beside: Option<String>,
    #[serde(default)]
    pub(crate) local: Vec<String>,
    pub(crate) arguments: Vec<String>,
    /// What is added for a filter.
    #[serde(default)]
    pub(crate) filter: Option<Vec<String>>,
    /// What is added for a filter that is a path.
    #[serde(default)]
    pub(crate) node: Option<Vec<String>>,
    /// Others that run where their file lies, there or above.
    #[serde(default)]
    pub(crate) instead: Vec<Instead>,
    /// The forms in which it may sum up; all when left out.
    #[serde(default)]
    pub(crate) summaries: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sign {
    /// A name, or a pattern for one; perhaps in a directory.
    pub(crate) file: String,
    /// A line of it begins so.
    #[serde(default)]
    pub(crate) line: Option<String>,
    /// It is JSON with a script of this name.
    #[serde(default)]
    pub(crate) script: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Instead {
    pub(crate) file: String,
    pub(crate) title: String,
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
}

/// The formatters, by rank.
pub(crate) fn formatters() -> &'static [Formatter] {
    static ALL: LazyLock<Vec<Formatter>> = LazyLock::new(|| {
        let mut all: Vec<Formatter> = read("formatters").map(|(_, formatter)| formatter).collect();
        all.sort_by_key(|formatter| formatter.rank);
        all
    });
    &ALL
}

/// The linters, by rank.
pub(crate) fn linters() -> &'static [Linter] {
    static ALL: LazyLock<Vec<Linter>> = LazyLock::new(|| {
        let mut all: Vec<Linter> = read("linters").map(|(_, linter)| linter).collect();
        all.sort_by_key(|linter| linter.rank);
        all
    });
    &ALL
}

/// The runners of tests, by rank.
pub(crate) fn runners() -> &'static [Runner] {
    static ALL: LazyLock<Vec<Runner>> = LazyLock::new(|| {
        let mut all: Vec<Runner> = read("runners").map(|(_, runner)| runner).collect();
        all.sort_by_key(|runner| runner.rank);
        all
    });
    &ALL
}

/// The forms of summaries, by their names.
pub(crate) fn summaries() -> &'static [(&'static str, Summary)] {
    static ALL: LazyLock<Vec<(&'static str, Summary)>> = LazyLock::new(|| read("summaries").collect());
    &ALL
}

/// What a folder describes. A file that cannot be read is left out; a test reads them all.
fn read<T: DeserializeOwned>(folder: &str) -> impl Iterator<Item = (&'static str, T)> {
    FILES.iter().filter_map(move |(path, text)| {
        let (own, name) = path.split_once('/')?;
        if own == folder { Some((name, toml::from_str(text).ok()?)) } else { None }
    })
}

fn zero() -> Vec<i32> {
    vec![0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_can_be_read() {
        for (path, text) in FILES {
            let error = match path.split_once('/') {
                Some(("formatters", _)) => toml::from_str::<Formatter>(text).err(),
                Some(("linters", _)) => toml::from_str::<Linter>(text).err(),
                Some(("runners", _)) => toml::from_str::<Runner>(text).err(),
                Some(("summaries", _)) => toml::from_str::<Summary>(text).err(),
                _ => panic!("nobody reads {path}"),
            };
            assert!(error.is_none(), "{path}: {error:?}");
        }
    }

    #[test]
    fn runners_name_summaries_that_there_are() {
        for runner in runners() {
            for name in &runner.summaries {
                assert!(summaries().iter().any(|(own, _)| own == name), "{}: {name}", runner.title);
            }
        }
    }
}
