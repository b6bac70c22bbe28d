//! The languages there are, and which one a file is in.

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use crate::description::{Description, Pattern};
use crate::grammar::Grammar;
use crate::patterns::Patterns;

static BUILTIN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// In the order of the names of their files.
static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let read = |(file, text): &(&'static str, &str)| {
        // A test holds that every file is a description.
        let description = toml::from_str(text).unwrap_or_default();
        Language { file, description, grammar: OnceLock::new(), patterns: OnceLock::new() }
    };
    BUILTIN.iter().map(read).collect()
});

/// A language that can be read.
pub struct Language {
    file: &'static str,
    description: Description,
    grammar: OnceLock<Option<Grammar>>,
    patterns: OnceLock<Patterns>,
}

impl Language {
    /// Every language, by the name of its file.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        LANGUAGES.iter()
    }

    /// The language that a caller means: `Rust`, `rs`, `c++`.
    pub fn named(word: &str) -> Option<&'static Self> {
        let word = word.trim().trim_start_matches('.').to_lowercase();
        Self::all().find(|language| language.description.names.has(&word) || language.file == word)
    }

    /// The language of the file at `path`, which begins with `start`: by its name, its extension, or its first line.
    pub fn of_file(path: &str, start: &str) -> Option<&'static Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
        Self::all()
            .find(|language| language.description.files.has(name))
            .or_else(|| {
                let extension = extension.as_deref()?;
                Self::all().find(|language| language.description.extensions.has(extension))
            })
            .or_else(|| if extension.is_none() { Self::of_text(start) } else { None })
    }

    /// The language that the first line of a script names.
    pub fn of_text(start: &str) -> Option<&'static Self> {
        let line = start.lines().next()?.strip_prefix("#!")?;
        let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let first = words.next()?;
        let program = if first == "env" {
            words.find(|word| !word.starts_with('-') && !word.contains('='))?
        } else {
            first
        };
        let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Self::all().find(|language| language.description.interpreters.has(program))
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// The extensions of its files.
    pub fn extensions(&self) -> impl Iterator<Item = &str> {
        self.description.extensions.iter()
    }

    /// How its comments and strings are written, by the name of a table in `lines.toml`.
    pub(crate) fn comments(&self) -> &str {
        &self.description.comments
    }

    /// What stands between the parts of a qualified name: `::`, `.`, `#`.
    pub fn joints(&self) -> impl Iterator<Item = &str> {
        [&self.description.joint, &self.description.member]
            .into_iter()
            .map(String::as_str)
            .filter(|j| !j.is_empty())
    }

    /// Whether there is a grammar for it. Without one only patterns read it.
    pub fn has_grammar(&self) -> bool {
        self.grammar().is_some()
    }

    pub(crate) fn grammar(&self) -> Option<&Grammar> {
        let read = || {
            let own = &self.description;
            let nodes = Self::all().find(|other| !own.like.is_empty() && other.file == own.like);
            Grammar::new(&own.grammar, nodes.map_or(own, |other| &other.description))
        };
        self.grammar.get_or_init(read).as_ref()
    }

    pub(crate) fn patterns(&self) -> &Patterns {
        self.patterns.get_or_init(|| Patterns::new(self.written_patterns()))
    }

    fn written_patterns(&self) -> &[Pattern] {
        &self.description.patterns
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Language").field(&self.file).finish()
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

impl Eq for Language {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_file_is_a_description_and_no_word_means_two_languages() {
        let mut seen = HashSet::new();
        for (file, text) in BUILTIN {
            let description: Description = toml::from_str(text).unwrap_or_else(|e| panic!("{file}: {e}"));
            assert!(!description.name.is_empty(), "{file}");
            for word in description.names.iter().chain([*file]).collect::<HashSet<_>>() {
                assert!(seen.insert(format!("name {word}")), "{file}: {word}");
            }
            for word in description.extensions.iter() {
                assert!(seen.insert(format!("extension {word}")), "{file}: {word}");
            }
        }
    }

    #[test]
    fn files_are_known_by_name_extension_and_first_line() {
        for (path, start, name) in [
            ("src/lib.rs", "", Some("Rust")),
            ("a/B.HPP", "", Some("C++")),
            ("Rakefile", "", Some("Ruby")),
            ("tool", "#!/usr/bin/env -S python3.12 -u\n", Some("Python")),
            ("tool", "#!/bin/sh\n", Some("Shell")),
            ("view.tsx", "", Some("TSX")),
            ("x.kt", "", Some("Kotlin")),
            ("notes.txt", "#!/bin/sh\n", None),
            ("LICENSE", "text", None),
            ("", "", None),
        ] {
            assert_eq!(Language::of_file(path, start).map(Language::name), name, "{path}");
        }
        assert_eq!(Language::named("C++").map(Language::name), Some("C++"));
        assert_eq!(Language::named(".py").map(Language::name), Some("Python"));
        assert!(Language::named("cobol").is_none());
    }
}
