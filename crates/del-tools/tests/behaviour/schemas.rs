use std::fs;
use std::path::Path;

use del_tools::{Toolbox, Toolset, WorkspaceError};

use crate::desk::Desk;

/// The definitions of the `core` set are those of the document, to the byte: the files are what is printed.
#[test]
fn core_definitions_are_the_files_byte_for_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/core");
    let names: Vec<_> = Toolset::Core.definitions().iter().map(|definition| definition.name).collect();
    let expected = [
        "read_file",
        "write_file",
        "edit_file",
        "list_directory",
        "glob_files",
        "grep_search",
        "run_command",
    ];
    assert_eq!(names, expected);
    for definition in Toolset::Core.definitions() {
        let file = fs::read_to_string(folder.join(format!("{}.json", definition.name))).unwrap();
        assert_eq!(format!("{}\n", definition.json), file, "{}", definition.name);
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), expected.len());
}

/// A change to a file of the document shows here, even when the file and the binary agree.
#[test]
fn core_definitions_have_not_changed() {
    let lengths: Vec<_> =
        Toolset::Core.definitions().iter().map(|definition| definition.json.len()).collect();
    assert_eq!(lengths, [904, 708, 1199, 756, 671, 1204, 849]);
}

#[test]
fn sets_name_their_tools() {
    let names = |set: Toolset| set.definitions().iter().map(|d| d.name).collect::<Vec<_>>();
    assert_eq!(
        names(Toolset::Del),
        [
            "read_file",
            "write_file",
            "multi_edit",
            "batch_operations",
            "list_dir",
            "search_code",
            "run_command",
            "git_operation",
            "analyze_code",
            "extract_functions",
            "find_references",
            "format_code",
            "lint_code",
            "project_context",
            "security_scan",
            "web_search",
            "test_runner"
        ],
    );
    assert_eq!(
        names(Toolset::All),
        [
            "read_file",
            "write_file",
            "edit_file",
            "multi_edit",
            "batch_operations",
            "list_dir",
            "glob_files",
            "search_code",
            "run_command",
            "git_operation",
            "analyze_code",
            "extract_functions",
            "find_references",
            "format_code",
            "lint_code",
            "project_context",
            "security_scan",
            "web_search",
            "test_runner"
        ],
    );
}

#[test]
fn a_restricted_toolbox_has_only_what_it_was_left() {
    let mut desk = Desk::with(Toolset::Core);
    desk.put("a.txt", "a\n");
    desk.toolbox.restrict(&["grep", "read_file"]).unwrap();
    let names: Vec<_> = desk.toolbox.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["read_file", "grep_search"]);
    desk.ok("read_file", &serde_json::json!({"path": "a.txt"}));
    let text = desk.fails("bash", &serde_json::json!({"command": "ls"}), "unknown_tool");
    assert_eq!(text, "Error: unknown tool 'bash'. Available: read_file, grep_search");
    assert!(matches!(desk.toolbox.restrict(&["nosuch"]), Err(WorkspaceError::UnknownTool { .. })));
}

#[test]
fn a_directory_that_is_not_there_is_no_workspace() {
    let error = Toolbox::open(Path::new("/no/such/place"), &[], Toolset::Core).unwrap_err();
    assert!(error.to_string().starts_with("cannot open /no/such/place as a working directory: "), "{error}");
}
