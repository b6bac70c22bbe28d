use super::*;
use crate::tables::linters;

fn shown(title: &str, output: &str) -> Vec<String> {
    let linter = linters().iter().find(|linter| linter.title == title).unwrap();
    read(linter, output).iter().map(Finding::shown).collect()
}

/// What linters wrote on a machine.
#[test]
fn recorded_outputs_are_read() {
    for (title, output, expected) in [
        (
            "shellcheck",
            include_str!("../tests/outputs/lint-shellcheck.txt"),
            "a.sh:2:6 note [SC2086] Double quote to prevent globbing and word splitting.",
        ),
        (
            "flake8",
            include_str!("../tests/outputs/lint-flake8.txt"),
            "a.py:2:5 error [F821] undefined name 'undefined_name'",
        ),
        (
            "ruff",
            include_str!("../tests/outputs/lint-ruff.txt"),
            "a.py:2:5 error [F821] Undefined name `undefined_name`",
        ),
        (
            "yamllint",
            include_str!("../tests/outputs/lint-yamllint.txt"),
            "a.yaml:2:5 error [colons] too many spaces after colon",
        ),
        (
            "eslint",
            include_str!("../tests/outputs/lint-eslint.txt"),
            "/project/li/a.js:1:5 error [no-unused-vars] 'x' is assigned a value but never used.",
        ),
        (
            "tsc",
            include_str!("../tests/outputs/lint-tsc.txt"),
            "a.ts:1:7 error [TS2322] Type 'string' is not assignable to type 'number'.",
        ),
        (
            "clippy",
            include_str!("../tests/outputs/lint-cargo.txt"),
            "src/lib.rs:1:37 warning [clippy::needless_return] unneeded `return` statement",
        ),
        (
            "go vet",
            include_str!("../tests/outputs/lint-go-vet.txt"),
            "./a.go:3:12 warning fmt.Printf format %d has arg \"a\" of wrong type string",
        ),
    ] {
        let found = shown(title, output);
        assert!(found.iter().any(|line| line == expected), "{title}: {found:#?}");
    }
}

/// Lines as the documentation of linters shows them.
#[test]
fn documented_lines_are_read() {
    for (title, output, expected) in [
        (
            "hadolint",
            "Dockerfile:3 DL3008 warning: Pin versions",
            "Dockerfile:3:1 warning [DL3008] Pin versions",
        ),
        (
            "golangci-lint",
            "a.go:5:2: ineffectual assignment (ineffassign)",
            "a.go:5:2 warning [ineffassign] ineffectual assignment",
        ),
        (
            "biome",
            "::error title=lint/style/noVar,file=a.js,line=1,endLine=1,col=2,endColumn=9::Use let.",
            "a.js:1:2 error [lint/style/noVar] Use let.",
        ),
        ("clang-tidy", "/p/a.c:2:3: warning: x [bugprone-y]", "/p/a.c:2:3 warning [bugprone-y] x"),
        ("rubocop", "/p/a.rb:1:2: C: Style/X: Do y.", "/p/a.rb:1:2 note [Style/X] Do y."),
        ("ruff", "a.py:1:9: invalid-syntax: Expected x", "a.py:1:9 error [invalid-syntax] Expected x"),
        ("ruff", "a.py:1:8: F401 [*] `os` unused", "a.py:1:8 warning [F401] `os` unused"),
    ] {
        assert_eq!(shown(title, output), [expected], "{title}");
    }
}

#[test]
fn other_lines_are_no_findings() {
    for linter in linters() {
        for output in [
            "",
            "Found 3 errors.",
            "{\"reason\":\"build-finished\"}",
            "null",
            "[1, {}]",
            "error: no such file",
        ] {
            assert!(read(linter, output).is_empty(), "{}: {output}", linter.title);
        }
    }
}

#[test]
fn paths_are_named_from_the_root() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    std::fs::create_dir_all(root.join("a/src")).unwrap();
    std::fs::write(root.join("a/src/x.rs"), "").unwrap();
    let finding = |path: &str| Finding {
        severity: Severity::Note,
        path: path.to_owned(),
        line: 1,
        column: 1,
        rule: None,
        message: String::new(),
    };
    let inner = root.join("a");
    for path in ["src/x.rs", "./src/x.rs", "a/src/x.rs", root.join("a/src/x.rs").to_str().unwrap()] {
        assert_eq!(finding(path).rooted(&inner, root).path, "a/src/x.rs", "{path}");
    }
}
