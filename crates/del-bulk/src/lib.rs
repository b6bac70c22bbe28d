//! Tables of model answers.
//!
//! [`Columns`] makes a column of Arrow out of [answers](Answer), [`Rewritten`] one out of rewritten answers, and [`Texts`]
//! reads one of strings, whatever its offsets are. With the feature `files`, [`run`] takes whole files of Parquet or JSON
//! lines through [`Parse`] or [`Convert`], on every core, in order, in memory that does not grow with them; a run that was
//! killed goes on where it was.
#![forbid(unsafe_code)]

mod answer;
mod columns;
mod rewritten;
mod texts;

#[cfg(feature = "files")]
mod convert;
#[cfg(feature = "files")]
mod error;
#[cfg(feature = "files")]
mod ledger;
#[cfg(feature = "files")]
mod lines;
#[cfg(feature = "files")]
mod memo;
#[cfg(feature = "files")]
mod parquet_file;
#[cfg(feature = "files")]
mod parse;
#[cfg(feature = "files")]
mod rows;
#[cfg(feature = "files")]
mod run;
#[cfg(feature = "files")]
mod source;
#[cfg(feature = "files")]
mod stated;

pub use answer::Answer;
pub use columns::{Columns, field};
pub use rewritten::Rewritten;
pub use texts::Texts;

#[cfg(feature = "files")]
pub use convert::Convert;
#[cfg(feature = "files")]
pub use error::{BulkError, Failure};
#[cfg(feature = "files")]
pub use parse::Parse;
#[cfg(feature = "files")]
pub use rows::{Rows, Tally};
#[cfg(feature = "files")]
pub use run::{Job, Progress, Report, run};
#[cfg(feature = "files")]
pub use source::{Source, Sources, sources};
