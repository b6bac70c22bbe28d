//! Where commands stand, and what variables hold.

use std::collections::BTreeMap;
use std::path::Path;

use crate::ground::Ground;
use crate::reason::Reason;
use crate::syntax::{Command, Pipeline, Substitution, VARIABLES, Word, is_own_name};

/// What is known where a command stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scene {
    pub(crate) ground: Ground,
    /// The variables that the commands set.
    values: BTreeMap<String, String>,
    /// Whether what stands here may run again, or not at all, so that it may leave nothing changed.
    pub(crate) repeats: bool,
}

impl Scene {
    /// Where nothing is set.
    pub(crate) fn on(ground: Ground) -> Self {
        Self { ground, values: BTreeMap::new(), repeats: false }
    }

    /// The scene of commands that leave nothing changed here.
    pub(crate) fn apart(&self) -> Self {
        Self { repeats: false, ..self.clone() }
    }

    /// The scene of commands inside of others, which would leave things changed here. So they may change nothing but
    /// variables of their own.
    pub(crate) fn inside(&self) -> Self {
        Self { repeats: true, ..self.clone() }
    }

    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.values.insert(name.to_owned(), value);
    }

    /// Whether a variable of this name may be set: it means something to these commands only.
    pub(crate) fn name(&self, name: &str) -> Result<(), Vec<Reason>> {
        const COMMON: [&str; 24] = [
            "DIR", "FILE", "FILES", "ROOT", "BRANCH", "N", "COUNT", "NAME", "BASE", "SRC", "TARGET",
            "VERSION", "COMMIT", "SHA", "HASH", "TAG", "X", "Y", "I", "F", "D", "CURRENT", "OUT", "RESULT",
        ];
        let common = COMMON.contains(&name) && std::env::var_os(name).is_none();
        if !(is_own_name(name) || common) {
            return Err(vec![Reason::Variable(name.to_owned())]);
        }
        if self.repeats && self.values.contains_key(name) {
            return Err(vec![Reason::Unsure(name.to_owned())]);
        }
        Ok(())
    }

    /// The value of a variable that the commands set.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        self.values.get(name).cloned()
    }

    /// The text of a word that is not divided.
    pub(crate) fn text(&self, word: &Word) -> Result<String, Reason> {
        let unknown = || Reason::Value(word.unmatched());
        let known = word.with_values(|name| self.any(name)).ok_or_else(unknown)?;
        known.literal().map(str::to_owned).ok_or_else(unknown)
    }

    fn any(&self, name: &str) -> Option<String> {
        if !VARIABLES.contains(&name) {
            return self.value(name);
        }
        match name {
            "PWD" => self.ground.directory().to_str().map(str::to_owned),
            // What programs get as `PATH` is another one.
            "PATH" => None,
            _ => std::env::var(name).ok(),
        }
    }

    /// The pipeline with the outputs that are known without running anything.
    pub(crate) fn with_known_outputs(&self, pipeline: &Pipeline) -> Pipeline {
        let known: Vec<_> = pipeline.outputs().into_iter().map(|output| self.output(output)).collect();
        if known.iter().all(Option::is_none) { pipeline.clone() } else { pipeline.with_outputs(known, None) }
    }

    fn output(&self, Substitution { script, is_file }: Substitution<'_>) -> Option<String> {
        let [pipeline] = script.pipelines.as_slice() else { return None };
        if is_file {
            return None;
        }
        let [Command::Simple(simple)] = pipeline.commands.as_slice() else { return None };
        if !simple.assignments.is_empty() || pipeline.negated {
            return None;
        }
        let words: Vec<_> = simple.words.iter().map(Word::literal).collect::<Option<_>>()?;
        let directory = self.ground.directory();
        let is_top = |place: &&Path| {
            ["HEAD", "objects", "refs"].iter().all(|name| place.join(".git").join(name).exists())
        };
        let path = match words.as_slice() {
            ["pwd"] | ["pwd", "-P" | "-L"] => directory,
            ["git", "rev-parse", "--show-toplevel"] => directory.ancestors().find(is_top)?,
            _ => return None,
        };
        path.to_str().map(str::to_owned)
    }
}
