//! What a project is, by the files in it.

pub(crate) mod manifest;
pub(crate) mod repository;
pub(crate) mod tree;
