//! The tools, a file each.

pub(crate) mod analyze_code;
pub(crate) mod edit_file;
pub(crate) mod extract_functions;
pub(crate) mod find_references;
pub(crate) mod glob_files;
pub(crate) mod list_dir;
pub(crate) mod project_context;
pub(crate) mod read_file;
pub(crate) mod run_command;
pub(crate) mod search_code;
pub(crate) mod security_scan;
pub(crate) mod write_file;
