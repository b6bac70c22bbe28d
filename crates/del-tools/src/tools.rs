//! The tools, a file each.

#[cfg(feature = "code")]
pub(crate) mod analyze_code;
pub(crate) mod edit_file;
#[cfg(feature = "code")]
pub(crate) mod extract_functions;
#[cfg(feature = "code")]
pub(crate) mod find_references;
pub(crate) mod format_code;
pub(crate) mod git_operation;
pub(crate) mod glob_files;
pub(crate) mod lint_code;
pub(crate) mod list_dir;
pub(crate) mod multi_edit;
#[cfg(feature = "code")]
pub(crate) mod project_context;
pub(crate) mod read_file;
pub(crate) mod run_command;
pub(crate) mod search_code;
#[cfg(feature = "code")]
pub(crate) mod security_scan;
pub(crate) mod test_runner;
pub(crate) mod web_search;
pub(crate) mod write_file;
