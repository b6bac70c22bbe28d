//! Tables of a description, key by key.
//!
//! Who reads a table takes the keys that mean something there. A key that nobody took is an error, and it says which
//! keys would have been right, so nothing in a description is ignored.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::check::DialectError;
use super::rewrite::{Rewrite, SUFFIX, unique};

/// A mark may be this long, in bytes: what a parser holds back at most.
const MAX_MARK: usize = 128;

/// What is known of a whole description while its tables are read.
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    /// How marks are spelled otherwise; not at all before it is known.
    pub(super) rewrite: OnceCell<Rewrite>,
    /// Calls begin with headers.
    pub(super) in_channels: OnceCell<bool>,
}

impl<'t> Source<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, rewrite: OnceCell::new(), in_channels: OnceCell::new() }
    }

    /// The whole description as a table.
    pub(super) fn table(&'t self) -> Result<Table<'t>, DialectError> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let message = error.message().trim().replace('\n', "\\n");
            self.error(error.span().map_or(0, |span| span.start), message)
        })?;
        if let Some(place) = table.get_ref().values().find_map(suffix) {
            return Err(self.error(place, "expected texts without the character U+0000".to_owned()));
        }
        let Range { start, .. } = table.span();
        Ok(Table::new("a description".to_owned(), self, start, table.into_inner()))
    }

    /// All spellings of marks.
    pub(super) fn spellings(&self, marks: &[String]) -> Vec<String> {
        self.rewrite.get_or_init(Rewrite::default).all(marks.iter().map(String::as_str))
    }

    /// All spellings of marks without the white space around them; of a mark that is nothing else, with it.
    pub(super) fn cores(&self, marks: &[String]) -> Vec<String> {
        let core = |spelling: &String| match spelling.trim() {
            "" => spelling.clone(),
            core => core.to_owned(),
        };
        unique(self.spellings(&unique(marks.iter().map(core))).iter().map(core))
    }

    /// All spellings of openers, each with a closer.
    pub(super) fn pairs(&self, pairs: &[[String; 2]]) -> Vec<[String; 2]> {
        let both = pairs.iter().flat_map(|[open, close]| {
            let [opens, closes] = [open, close].map(|mark| self.spellings(std::slice::from_ref(mark)));
            opens.into_iter().zip(closes.into_iter().cycle()).map(Into::into)
        });
        both.collect()
    }

    pub(super) fn in_channels(&self) -> bool {
        self.in_channels.get() == Some(&true)
    }

    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> DialectError {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        DialectError { line, message: message.into() }
    }
}

/// A table whose keys are taken one by one.
pub(super) struct Table<'t> {
    /// What errors call it: `[results]`, `a mark`.
    pub(super) title: String,
    pub(super) source: &'t Source<'t>,
    at: usize,
    left: Vec<Field<'t>>,
    asked: Vec<&'static str>,
}

/// A key with its value.
pub(super) struct Field<'t> {
    pub(super) key: String,
    /// What errors call it where it is a table.
    title: String,
    source: &'t Source<'t>,
    at: usize,
    value: DeValue<'t>,
}

/// What a key can be read as.
pub(super) trait Read: Sized {
    fn read(field: Field<'_>) -> Result<Self, DialectError>;
}

impl<'t> Table<'t> {
    fn new(title: String, source: &'t Source<'t>, at: usize, table: DeTable<'t>) -> Self {
        let within = title.strip_suffix(']').map_or("[".to_owned(), |outer| format!("{outer}."));
        let field = |(key, value): (Spanned<DeString<'t>>, Spanned<DeValue<'t>>)| {
            let (at, key) = (key.span().start, key.into_inner().into_owned());
            Field { title: format!("{within}{key}]"), key, source, at, value: value.into_inner() }
        };
        let left = table.into_iter().map(field).collect();
        Self { title, source, at, left, asked: Vec::new() }
    }

    /// An error about the whole table.
    pub(super) fn error(&self, message: impl Into<String>) -> DialectError {
        self.source.error(self.at, message)
    }

    /// An error about a key that has to be there.
    pub(super) fn misses(&self, key: &str) -> DialectError {
        self.error(format!("expected `{key}` in {}, got none", self.title))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.left.iter().any(|field| field.key == key)
    }

    /// The value of a key that means something in this table.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Field<'t>> {
        self.asked.push(key);
        let place = self.left.iter().position(|field| field.key == key)?;
        Some(self.left.swap_remove(place))
    }

    /// The value of a key that has to be there.
    pub(super) fn need(&mut self, key: &'static str) -> Result<Field<'t>, DialectError> {
        self.take(key).ok_or_else(|| self.misses(key))
    }

    /// What a key says, or nothing where it is left out.
    pub(super) fn get<T: Read + Default>(&mut self, key: &'static str) -> Result<T, DialectError> {
        self.take(key).map_or_else(|| Ok(T::default()), T::read)
    }

    /// The table of this key; an empty one where it is left out.
    pub(super) fn table(&mut self, key: &'static str) -> Result<Self, DialectError> {
        match self.take(key) {
            Some(field) => field.table(),
            None => Ok(Self::new(String::new(), self.source, self.at, DeTable::new())),
        }
    }

    /// The entries of a table whose keys are free, in the order of their keys.
    pub(super) fn entries(self) -> Vec<Field<'t>> {
        self.left
    }

    /// Every key has been asked for that means something here: any other is an error.
    pub(super) fn close(self) -> Result<(), DialectError> {
        let Some(first) = self.left.into_iter().min_by_key(|field| field.at) else { return Ok(()) };
        let known: Vec<String> = self.asked.iter().map(|key| format!("`{key}`")).collect();
        Err(first.error(format!("expected {} in {}, got `{}`", known.join(", "), self.title, first.key)))
    }
}

impl<'t> Field<'t> {
    /// An error about this key.
    pub(super) fn error(&self, message: impl Into<String>) -> DialectError {
        self.source.error(self.at, message)
    }

    /// An error that says what the value should have been, and what it is.
    pub(super) fn wrong(&self, expected: &str) -> DialectError {
        let got = match &self.value {
            DeValue::String(text) => format!("{text:?}"),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Array(list) if list.is_empty() => "an empty list".to_owned(),
            other => format!("a value of type {}", other.type_str()),
        };
        self.error(format!("expected {expected} for `{}`, got {got}", self.key))
    }

    /// What is made of the text of the value; `Err` holds what was expected.
    pub(super) fn form<T>(
        &self,
        make: impl FnOnce(&str) -> Result<T, &'static str>,
    ) -> Result<T, DialectError> {
        make(self.str()?).map_err(|expected| self.wrong(expected))
    }

    pub(super) fn str(&self) -> Result<&str, DialectError> {
        self.value.as_str().ok_or_else(|| self.wrong("a string"))
    }

    /// A text for people, which has to say something.
    pub(super) fn said(self) -> Result<String, DialectError> {
        self.form(|text| if text.trim().is_empty() { Err("a text") } else { Ok(text.to_owned()) })
    }

    /// The one ASCII character of a text.
    pub(super) fn byte(self) -> Result<u8, DialectError> {
        self.form(|text| match text.as_bytes() {
            [byte] => Ok(*byte),
            _ => Err("one ASCII character"),
        })
    }

    /// Marks of more than white space that a parser can wait for, in all spellings.
    pub(super) fn marks(self) -> Result<Vec<String>, DialectError> {
        let marks = self.limited()?;
        if marks.iter().any(|mark| mark.trim().is_empty()) {
            return Err(self.wrong("marks of more than white space"));
        }
        Ok(self.source.spellings(&marks))
    }

    /// All spellings of marks, and before them the one that is written.
    pub(super) fn written_first(self) -> Result<Vec<String>, DialectError> {
        let written = self.strings()?.into_iter().take(1);
        Ok(unique(written.chain(self.marks()?)))
    }

    /// At least one mark in all spellings; a line feed may be one.
    pub(super) fn some_marks(self) -> Result<Vec<String>, DialectError> {
        let marks = self.limited()?;
        if marks.is_empty() || marks.iter().any(String::is_empty) {
            return Err(self.wrong("a mark"));
        }
        Ok(self.source.spellings(&marks))
    }

    /// Marks that are not too long to wait for.
    fn limited(&self) -> Result<Vec<String>, DialectError> {
        let marks = self.strings()?;
        self.limit(&marks)?;
        Ok(marks)
    }

    /// Marks that are too long to wait for are an error.
    pub(super) fn limit(&self, marks: &[String]) -> Result<(), DialectError> {
        let long = marks.iter().find(|mark| mark.len() > MAX_MARK);
        long.map_or(Ok(()), |long| {
            let expected = format!("expected a mark of at most {MAX_MARK} bytes for `{}`", self.key);
            Err(self.error(format!("{expected}, got {}", long.len())))
        })
    }

    /// One string or several.
    pub(super) fn strings(&self) -> Result<Vec<String>, DialectError> {
        let one = self.value.as_str().map(|text| vec![text.to_owned()]);
        one.or_else(|| strings(&self.value)).ok_or_else(|| self.wrong("a string or a list of strings"))
    }

    /// A list of openers, each with its closer, in all spellings.
    pub(super) fn pairs(self) -> Result<Vec<[String; 2]>, DialectError> {
        let pair = |pair: &Spanned<DeValue<'_>>| strings(pair.get_ref())?.try_into().ok();
        let list = self.value.as_array().and_then(|list| list.iter().map(pair).collect());
        let list: Vec<_> = list.ok_or_else(|| self.wrong("a list of pairs of strings"))?;
        Ok(self.source.pairs(&list))
    }

    pub(super) fn number<N: TryFrom<u64>>(&self, expected: &str) -> Result<N, DialectError> {
        let number = self.value.as_integer();
        let number = number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        number.and_then(|number| number.try_into().ok()).ok_or_else(|| self.wrong(expected))
    }

    /// One of these words.
    pub(super) fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, DialectError> {
        let found = words.iter().find(|(word, _)| self.value.as_str() == Some(word));
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            self.wrong(&words.join(", "))
        })
    }

    pub(super) fn table(self) -> Result<Table<'t>, DialectError> {
        match self.value {
            DeValue::Table(table) => Ok(Table::new(self.title, self.source, self.at, table)),
            _ => Err(self.wrong("a table")),
        }
    }

    pub(super) fn tables(self, title: &str) -> Result<Vec<Table<'t>>, DialectError> {
        let wrong = self.wrong("a list of tables");
        let DeValue::Array(list) = self.value else { return Err(wrong) };
        let table = |value: Spanned<DeValue<'t>>| {
            let Range { start, .. } = value.span();
            match value.into_inner() {
                DeValue::Table(table) => Some(Table::new(title.to_owned(), self.source, start, table)),
                _ => None,
            }
        };
        list.into_iter().map(table).collect::<Option<_>>().ok_or(wrong)
    }
}

/// A list of strings.
fn strings(value: &DeValue<'_>) -> Option<Vec<String>> {
    let text = |value: &Spanned<DeValue<'_>>| value.get_ref().as_str().map(str::to_owned);
    value.as_array()?.iter().map(text).collect()
}

impl Read for String {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        field.str().map(str::to_owned)
    }
}

impl Read for bool {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        field.value.as_bool().ok_or_else(|| field.wrong("true or false"))
    }
}

/// One string or several.
impl Read for Vec<String> {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        field.strings()
    }
}

/// Exactly so many strings.
impl<const N: usize> Read for [String; N] {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        let found = strings(&field.value).and_then(|all| all.try_into().ok());
        found.ok_or_else(|| field.wrong(&format!("a list of {N} strings")))
    }
}

impl<T: Read> Read for Option<T> {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        T::read(field).map(Some)
    }
}

impl<T: Read> Read for Box<T> {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        T::read(field).map(Self::new)
    }
}

/// A table whose keys are free.
impl<T: Read> Read for BTreeMap<String, T> {
    fn read(field: Field<'_>) -> Result<Self, DialectError> {
        // Collecting would sort, which is much code for each type.
        let mut all = Self::new();
        for field in field.table()?.entries() {
            all.insert(field.key.clone(), T::read(field)?);
        }
        Ok(all)
    }
}

/// Where a text holds the character that stands for a suffix in the spellings of marks.
fn suffix(value: &Spanned<DeValue<'_>>) -> Option<usize> {
    match value.get_ref() {
        DeValue::String(text) => text.contains(SUFFIX).then(|| value.span().start),
        DeValue::Array(list) => list.iter().find_map(suffix),
        DeValue::Table(table) => table.values().find_map(suffix),
        _ => None,
    }
}
