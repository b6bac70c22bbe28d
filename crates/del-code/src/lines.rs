//! Lines of code, comments and blanks, in all languages that `tokei` knows.

use std::path::Path;

use tokei::{Config, LanguageType};

/// Names without an extension that `tokei` knows. For any other it would open the file and read its first line.
const WHOLE: [&str; 12] = [
    "build",
    "workspace",
    "module",
    "dockerfile",
    "justfile",
    "gnumakefile",
    "makefile",
    "pkgbuild",
    "rakefile",
    "sconstruct",
    "sconscript",
    "snakefile",
];

/// What a file is for counting, by its name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(LanguageType);

/// How many lines there are, and of what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    /// Lines with code on them.
    pub code: usize,
    /// Lines with comments alone.
    pub comment: usize,
    /// Empty lines.
    pub blank: usize,
}

impl Kind {
    /// What the file `path` holds, if that is known by its name or by the first line in `start`.
    pub fn of_file(path: &str, start: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if Path::new(name).extension().is_some() || WHOLE.contains(&name.to_lowercase().as_str()) {
            return LanguageType::from_path(Path::new(name), &Config::default()).map(Self);
        }
        let language = crate::Language::of_text(start)?;
        language.extensions().find_map(LanguageType::from_file_extension).map(Self)
    }

    /// What files with this extension hold.
    pub fn of_extension(extension: &str) -> Option<Self> {
        LanguageType::from_file_extension(extension).map(Self)
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Counts the lines of `text`.
    pub fn count(self, text: &str) -> Lines {
        let config = Config { treat_doc_strings_as_comments: Some(true), ..Config::default() };
        let counted = self.0.parse_from_str(text, &config).summarise();
        Lines { code: counted.code, comment: counted.comments, blank: counted.blanks }
    }
}
