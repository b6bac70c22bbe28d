//! How comments and strings are written, by language: the tables of `lines.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::description::Names;

static WRITTEN: &str = include_str!("../lines.toml");

static TABLES: LazyLock<BTreeMap<String, Syntax>> = LazyLock::new(|| {
    // A test holds that every table is one.
    let tables: BTreeMap<String, Table> = toml::from_str(WRITTEN).unwrap_or_default();
    tables.into_iter().map(|(name, table)| (name, Syntax::new(table))).collect()
});

/// A table as the file says it; its first lines say what the keys mean.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    line: Vec<String>,
    block: Vec<[String; 2]>,
    nested: bool,
    docs: Vec<[String; 2]>,
    strings: Vec<String>,
    texts: Vec<[String; 2]>,
    raw: Vec<[String; 2]>,
    plain: Vec<String>,
    prose: bool,
    languages: BTreeMap<String, Names>,
}

/// How comments and strings of some languages are written.
#[derive(Debug)]
pub(crate) struct Syntax {
    /// The longest first.
    marks: Vec<(Mark, Opens)>,
    /// Whether a mark begins with this byte.
    begins: [bool; 256],
    /// Every line that is not blank is told as a comment.
    pub(crate) prose: bool,
    languages: BTreeMap<String, Names>,
}

/// A text that opens or closes something, and where it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    text: String,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Anywhere,
    /// Where only white space stands before it on its line.
    Line,
    /// Behind white space, or at the beginning of a line.
    Word,
}

/// What begins at a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Opens {
    /// A comment up to the end of the line.
    Line,
    /// A comment or a string up to a mark.
    Span(Span),
    /// A comment where nothing stands before it on its line, a string else.
    Doc(Span),
    /// Nothing.
    Plain,
}

/// What lies between two marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) close: Mark,
    /// Opens another one inside.
    pub(crate) nested: Option<Mark>,
    pub(crate) comment: bool,
    /// It ends with its line at the latest.
    pub(crate) one_line: bool,
    pub(crate) escapes: bool,
}

impl Syntax {
    /// The table of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        TABLES.get(name)
    }

    /// The syntax of a file of this name, and the name of its language, where that has no description of its own.
    pub(crate) fn of_file(name: &str) -> Option<(&'static Self, &'static str)> {
        let name = name.to_lowercase();
        let whole = format!("/{name}");
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let find = |word: &str| {
            TABLES.values().find_map(|syntax| {
                let (language, _) = syntax.languages.iter().find(|(_, files)| files.has(word))?;
                Some((syntax, language.as_str()))
            })
        };
        find(&whole).or_else(|| find(extension?))
    }

    fn new(table: Table) -> Self {
        let mut marks: Vec<(Mark, Opens)> = Vec::new();
        let span = |close: &str| Span {
            close: Mark::new(close),
            nested: None,
            comment: false,
            one_line: false,
            escapes: false,
        };
        marks.extend(table.line.iter().map(|open| (Mark::new(open), Opens::Line)));
        marks.extend(table.plain.iter().map(|text| (Mark::new(text), Opens::Plain)));
        for [open, close] in &table.block {
            let nested = table.nested.then(|| Mark::new(open));
            marks.push((Mark::new(open), Opens::Span(Span { nested, comment: true, ..span(close) })));
        }
        for [open, close] in &table.docs {
            marks.push((Mark::new(open), Opens::Doc(Span { escapes: true, ..span(close) })));
        }
        for quote in &table.strings {
            let span = Span { one_line: true, escapes: true, ..span(quote) };
            marks.push((Mark::new(quote), Opens::Span(span)));
        }
        for [open, close] in &table.texts {
            marks.push((Mark::new(open), Opens::Span(Span { escapes: true, ..span(close) })));
        }
        for [open, close] in &table.raw {
            marks.push((Mark::new(open), Opens::Span(span(close))));
        }
        marks.sort_by_key(|(mark, _)| std::cmp::Reverse(mark.text.len()));
        let mut begins = [false; 256];
        for (mark, _) in &marks {
            if let Some(first) = mark.text.bytes().next() {
                begins[usize::from(first)] = true;
            }
        }
        Self { marks, begins, prose: table.prose, languages: table.languages }
    }

    /// What the longest mark at `at` opens, and its length. `fresh` says that only white space stands before it.
    pub(crate) fn opens(&self, line: &[u8], at: usize, fresh: bool) -> Option<(&Opens, usize)> {
        let first = line.get(at)?;
        if !self.begins[usize::from(*first)] {
            return None;
        }
        let (mark, opens) = self.marks.iter().find(|(mark, _)| mark.stands(line, at, fresh))?;
        Some((opens, mark.len()))
    }
}

impl Mark {
    fn new(written: &str) -> Self {
        let (place, text) = match written.as_bytes() {
            [b'^', _, ..] => (Place::Line, &written[1..]),
            [b' ', _, ..] => (Place::Word, &written[1..]),
            _ => (Place::Anywhere, written),
        };
        Self { text: text.to_owned(), place }
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether it stands at `at`.
    pub(crate) fn stands(&self, line: &[u8], at: usize, fresh: bool) -> bool {
        let here = match self.place {
            Place::Anywhere => true,
            Place::Line => fresh,
            Place::Word => at.checked_sub(1).is_none_or(|before| line[before].is_ascii_whitespace()),
        };
        here && line[at..].starts_with(self.text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Language;

    #[test]
    fn every_table_is_one_and_every_word_means_one_language() {
        let tables: BTreeMap<String, Table> = toml::from_str(WRITTEN).unwrap();
        assert!(tables.len() > 30);
        let mut seen = BTreeSet::new();
        for (language, words) in tables.values().flat_map(|table| &table.languages) {
            assert!(!words.is_empty(), "{language}");
            for word in words.iter() {
                assert!(seen.insert(word.to_owned()), "{language}: {word}");
                assert_eq!(word, word.to_lowercase(), "{language}");
                let path = word.strip_prefix('/').map_or_else(|| format!("a.{word}"), str::to_owned);
                assert_eq!(Language::of_file(&path, ""), None, "{language}: {word}");
                assert_eq!(Syntax::of_file(&path).map(|(_, name)| name), Some(language.as_str()), "{word}");
            }
        }
    }

    #[test]
    fn every_language_names_a_table() {
        for language in Language::all() {
            assert!(Syntax::named(language.comments()).is_some(), "{}", language.name());
        }
    }

    #[test]
    fn no_mark_is_empty() {
        for (name, syntax) in &*TABLES {
            assert!(syntax.marks.iter().all(|(mark, _)| mark.len() > 0), "{name}");
        }
    }
}
