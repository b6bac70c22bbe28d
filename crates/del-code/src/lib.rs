//! What source code says of itself: symbols, measures and references, by the grammars of its languages.
//!
//! A language is a file in `languages/`: its names, and what the nodes of its grammar mean. Nothing in the code knows a
//! language. Text goes in and facts come out; there is no IO and no clock.
//!
//! ```
//! use del_code::{Language, parse};
//!
//! let rust = Language::of_file("src/lib.rs", "").unwrap();
//! let source = parse("impl Parser { fn push(&mut self) { self.next() } }", rust, &|| false).unwrap();
//! assert_eq!(source.outline().symbols[0].name, "Parser::push");
//! assert_eq!(source.occurrences("next").found[0].label.as_str(), "call");
//! ```
//!
//! What is promised: any text is read in time and memory that grow with its length, however deep it is nested and
//! however broken; what a grammar cannot make sense of is left out. What is not: the reading is syntactic. It knows no
//! types and follows no imports.
#![forbid(unsafe_code)]

mod comments;
mod description;
mod grammar;
mod language;
mod lines;
mod occurrences;
mod outline;
mod patterns;
mod rough;
mod source;

pub use language::Language;
pub use lines::{Kind, Lines};
pub use occurrences::{Label, Occurrence, Occurrences, words};
pub use outline::{Cost, Outline, Symbol};
pub use rough::outline_by_patterns;
pub use source::{MAX_BYTES, Matter, Source, Unparsed, parse};
