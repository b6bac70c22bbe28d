//! The syntax of values that are not JSON.

use super::check::DialectError;
use super::record::{record, variants};
use super::table::Field;

/// The syntax of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// JSON, passed on byte for byte.
    Json,
    /// Bare keys, own quotes and words.
    Loose(Loose),
}

variants!(Literal { Json, Loose(syntax) });

record! {
    /// A literal syntax that is not JSON: Python's keyword arguments, Gemma's objects.
    pub struct Loose keys(table) {
        /// Opens the arguments: `(` or `{`.
        pub open: u8 as byte,
        /// Closes them.
        pub close: u8 as byte,
        /// Between key and value at the outer level: `=` or `:`.
        pub pair: u8 as byte,
        /// The quotes of strings; the first is written. Quotes of one byte know backslash escapes.
        pub quotes: Vec<String> as quotes,
        /// Quotes around the keys of inner objects; those of the outer level are bare, unless it is written with the same
        /// brackets.
        pub quoted_keys: bool = false,
        /// The words for true, false and null that are written. JSON's and Python's are always read.
        pub words: [String; 3] = ["true", "false", "null"].map(str::to_owned),
        /// Written between two items.
        pub comma: String = ", ".to_owned(),
        /// Written between key and value of inner objects.
        pub colon: String = ": ".to_owned(),
        /// Keys are written in alphabetical order.
        pub sorted: bool = false,
    }
}

impl Field<'_> {
    fn quotes(self) -> Result<Vec<String>, DialectError> {
        let quotes = self.strings()?;
        if quotes.is_empty() || quotes.iter().any(String::is_empty) {
            return Err(self.wrong("at least one quote, none of them empty"));
        }
        Ok(quotes)
    }
}

impl Loose {
    /// Python's literals, as its `repr` writes them.
    pub fn python() -> Self {
        Self {
            open: b'{',
            close: b'}',
            pair: b':',
            quotes: vec!["'".to_owned()],
            quoted_keys: true,
            words: ["True", "False", "None"].map(str::to_owned),
            comma: ", ".to_owned(),
            colon: ": ".to_owned(),
            sorted: false,
        }
    }

    /// True for a key that is written without quotes: the syntax does so, and it is read as one word.
    pub fn writes_bare(&self, key: &str) -> bool {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let head = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        !self.quoted_keys && head && key.len() <= 64 && key.bytes().all(word)
    }

    /// True when the outer level is written as the objects inside.
    pub fn is_uniform(&self) -> bool {
        self.open == b'{' && self.quoted_keys
    }
}
