//! What the tools do where a folder of files cannot say it: links, pipes, races, other processes, large files.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod batch;
mod bounds;
mod code;
mod commands;
mod confinement;
mod consent;
mod crash;
mod crowds;
mod denied;
mod desk;
mod foreign;
mod formatting;
mod guards;
mod held;
mod programs;
mod reading;
mod repositories;
mod safe;
mod sandbox;
mod schemas;
mod undo;
mod writing;
