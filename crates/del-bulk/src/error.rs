//! What ends a run, and what ends the work on one file.

use std::io;
use std::path::PathBuf;

use parquet::errors::ParquetError;
use serde::Serialize;

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum BulkError {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Arguments(String),
    /// An output cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

/// A file or directory that cannot be worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Where it is.
    pub file: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// What is wrong with a unit: its source, which is a matter of that file, or where it goes, which ends the run.
#[derive(Debug)]
pub(crate) enum Trouble {
    Source(String),
    Target(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Target(error)
    }
}

impl From<ParquetError> for Trouble {
    fn from(error: ParquetError) -> Self {
        Self::Target(io::Error::other(error))
    }
}
