//! The tools, a file each.

pub(crate) mod batch_operations;
pub(crate) mod edit_file;
pub(crate) mod glob_files;
pub(crate) mod list_dir;
pub(crate) mod multi_edit;
pub(crate) mod read_file;
pub(crate) mod run_command;
pub(crate) mod search_code;
pub(crate) mod write_file;
