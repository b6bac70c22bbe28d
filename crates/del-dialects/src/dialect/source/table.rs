//! Tables of a description, key by key.
//!
//! Who reads a table takes the keys that mean something there. A key that nobody took is an error, and it says which
//! keys would have been right, so nothing in a description is ignored.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::dialect::check::{DialectError, line_of};

/// A mark may be this long, in bytes: what a parser holds back at most.
const MAX_MARK: usize = 128;

/// A table whose keys are taken one by one.
pub(super) struct Table<'t> {
    /// What errors call it: `[results]`, `a mark`.
    title: String,
    text: &'t str,
    at: usize,
    left: Vec<Field<'t>>,
    asked: Vec<&'static str>,
}

/// A key with its value.
pub(super) struct Field<'t> {
    pub(super) key: String,
    text: &'t str,
    at: usize,
    value: DeValue<'t>,
}

impl<'t> Table<'t> {
    /// The whole description.
    pub(super) fn parse(text: &'t str) -> Result<Self, DialectError> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            DialectError::new(line, error.message().trim().replace('\n', "\\n"))
        })?;
        let Range { start, .. } = table.span();
        Ok(Self::new("a description", text, start, table.into_inner()))
    }

    fn new(title: &str, text: &'t str, at: usize, table: DeTable<'t>) -> Self {
        Self { title: title.to_owned(), text, at, left: fields(text, table), asked: Vec::new() }
    }

    /// What errors call it from here on: what it is shows in its keys.
    pub(super) fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// An error about the whole table.
    pub(super) fn error(&self, message: impl Into<String>) -> DialectError {
        DialectError::new(line_of(self.text, self.at), message)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
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
        match self.take(key) {
            Some(field) => Ok(field),
            None => Err(self.error(format!("expected `{key}` in {}, got none", self.title))),
        }
    }

    pub(super) fn string(&mut self, key: &'static str) -> Result<Option<String>, DialectError> {
        self.take(key).map(|field| field.string()).transpose()
    }

    /// One string or several; none where the key is left out.
    pub(super) fn strings(&mut self, key: &'static str) -> Result<Vec<String>, DialectError> {
        self.take(key).map_or(Ok(Vec::new()), |field| field.strings())
    }

    /// Marks to wait for; none where the key is left out.
    pub(super) fn marks(&mut self, key: &'static str) -> Result<Vec<String>, DialectError> {
        self.take(key).map_or(Ok(Vec::new()), |field| field.marks())
    }

    /// Left out, it is false.
    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, DialectError> {
        self.take(key).map_or(Ok(false), |field| field.flag())
    }

    /// The table of this key; an empty one where it is left out.
    pub(super) fn table(&mut self, key: &'static str, title: &str) -> Result<Self, DialectError> {
        match self.take(key) {
            Some(field) => field.table(title),
            None => Ok(Self::new(title, self.text, self.at, DeTable::new())),
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
        let message = format!("expected {} in {}, got `{}`", known.join(", "), self.title, first.key);
        Err(DialectError::new(line_of(self.text, first.at), message))
    }
}

impl<'t> Field<'t> {
    pub(super) fn line(&self) -> usize {
        line_of(self.text, self.at)
    }

    /// An error about this key.
    pub(super) fn error(&self, message: impl Into<String>) -> DialectError {
        DialectError::new(self.line(), message)
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

    pub(super) fn string(&self) -> Result<String, DialectError> {
        self.value.as_str().map(str::to_owned).ok_or_else(|| self.wrong("a string"))
    }

    /// One string or several.
    pub(super) fn strings(&self) -> Result<Vec<String>, DialectError> {
        let one = self.value.as_str().map(|text| vec![text.to_owned()]);
        one.or_else(|| strings(&self.value)).ok_or_else(|| self.wrong("a string or a list of strings"))
    }

    /// Exactly so many strings.
    pub(super) fn exactly<const N: usize>(&self) -> Result<[String; N], DialectError> {
        let found = strings(&self.value).and_then(|all| all.try_into().ok());
        found.ok_or_else(|| self.wrong(&format!("a list of {N} strings")))
    }

    /// A list of openers, each with its closer.
    pub(super) fn pairs(&self) -> Result<Vec<[String; 2]>, DialectError> {
        let pair = |pair: &Spanned<DeValue<'_>>| strings(pair.get_ref())?.try_into().ok();
        let list = self.value.as_array().and_then(|list| list.iter().map(pair).collect());
        list.ok_or_else(|| self.wrong("a list of pairs of strings"))
    }

    /// Marks of more than white space that a parser can wait for.
    pub(super) fn marks(&self) -> Result<Vec<String>, DialectError> {
        let marks = self.strings()?;
        self.limit(&marks)?;
        if marks.iter().any(|mark| mark.trim().is_empty()) {
            return Err(self.wrong("marks of more than white space"));
        }
        Ok(marks)
    }

    /// Marks that are too long to wait for are an error.
    pub(super) fn limit(&self, marks: &[String]) -> Result<(), DialectError> {
        let Some(long) = marks.iter().find(|mark| mark.len() > MAX_MARK) else { return Ok(()) };
        let message =
            format!("expected a mark of at most {MAX_MARK} bytes for `{}`, got {}", self.key, long.len());
        Err(self.error(message))
    }

    pub(super) fn flag(&self) -> Result<bool, DialectError> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
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

    pub(super) fn table(self, title: &str) -> Result<Table<'t>, DialectError> {
        match self.value {
            DeValue::Table(table) => Ok(Table::new(title, self.text, self.at, table)),
            _ => Err(self.wrong("a table")),
        }
    }

    pub(super) fn tables(self, title: &str) -> Result<Vec<Table<'t>>, DialectError> {
        match self.value {
            DeValue::Array(list) if list.iter().all(|value| value.get_ref().is_table()) => {
                let table = |value: Spanned<DeValue<'t>>| {
                    let Range { start, .. } = value.span();
                    match value.into_inner() {
                        DeValue::Table(table) => Some(Table::new(title, self.text, start, table)),
                        _ => None,
                    }
                };
                Ok(list.into_iter().filter_map(table).collect())
            }
            _ => Err(self.wrong("a list of tables")),
        }
    }
}

fn fields<'t>(text: &'t str, table: DeTable<'t>) -> Vec<Field<'t>> {
    let field = |(key, value): (Spanned<DeString<'t>>, Spanned<DeValue<'t>>)| {
        let Range { start: at, .. } = key.span();
        Field { key: key.into_inner().into_owned(), text, at, value: value.into_inner() }
    };
    table.into_iter().map(field).collect()
}

/// A list of strings.
fn strings(value: &DeValue<'_>) -> Option<Vec<String>> {
    let text = |value: &Spanned<DeValue<'_>>| value.get_ref().as_str().map(str::to_owned);
    value.as_array()?.iter().map(text).collect()
}
