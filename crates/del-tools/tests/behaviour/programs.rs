//! Formatters, linters and runners of tests. What is used here comes with Rust; what may be missing is skipped aloud.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use del_tools::{Approval, Confinement, Gate, Level, Rule, Verdict};
use serde_json::{Value, json};

use crate::desk::Desk;

const UGLY: &str = "fn main( ) {let x=1;println!(\"{x}\");}\n";
const PRETTY: &str = "fn main() {\n    let x = 1;\n    println!(\"{x}\");\n}\n";

fn verdict(desk: &Desk, approval: Approval, tool: &str, arguments: &Value) -> Verdict {
    match desk.toolbox.plan(tool, &arguments.to_string()) {
        Ok(plan) => Gate::new(approval).verdict(&plan),
        Err(failure) => Verdict::Deny(failure),
    }
}

fn question(desk: &Desk, tool: &str, arguments: &Value) -> String {
    desk.toolbox.plan(tool, &arguments.to_string()).unwrap().question().text()
}

fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("skipped: there is no {program} here");
    }
    there
}

fn executable(desk: &Desk, name: &str, script: &str) {
    desk.put(name, script);
    fs::set_permissions(desk.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn canary(desk: &Desk) -> PathBuf {
    desk.outside().join("canary")
}

fn crate_with(desk: &Desk, body: &str) {
    desk.put(
        "Cargo.toml",
        "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
    );
    desk.put("src/lib.rs", body);
}

#[test]
fn formatting_shows_the_change_first_and_can_be_undone() {
    let desk = Desk::keeping().confined();
    if !desk.is_held() {
        eprintln!("skipped: no sandbox here");
        return;
    }
    desk.put("a.rs", UGLY);
    desk.put("b.rs", PRETTY);
    let whole = json!({});
    let asked = question(&desk, "format_code", &whole);
    assert!(asked.contains("-fn main( ) {") && asked.contains("+    let x = 1;"), "{asked}");
    assert_eq!(desk.get("a.rs"), UGLY, "nothing is written before the answer");
    assert_eq!(verdict(&desk, Approval::Ask, "format_code", &whole), Verdict::Ask);
    assert_eq!(verdict(&desk, Approval::AutoEdit, "format_code", &whole), Verdict::Run);
    assert_eq!(verdict(&desk, Approval::Ask, "format_code", &json!({"check": true})), Verdict::Run);
    let text = desk.ok("format_code", &whole);
    assert!(text.starts_with("Formatted 1 of 2 files with rustfmt: a.rs (+4 -1)"), "{text}");
    assert_eq!(desk.get("a.rs"), PRETTY);
    assert!(desk.ok("format_code", &whole).starts_with("Nothing to format: 2 files checked with rustfmt."));
    desk.put("a.rs", UGLY);
    let checked = desk.ok("format_code", &json!({"path": "a.rs", "check": true}));
    assert!(checked.starts_with("would reformat: a.rs (+4 -1)"), "{checked}");
    assert_eq!(desk.get("a.rs"), UGLY);
}

#[test]
fn a_file_that_cannot_be_formatted_leaves_all_as_they_were() {
    let desk = Desk::new();
    desk.put("a.rs", UGLY);
    desk.put("b.rs", "fn main( {\n");
    let text = desk.fails("format_code", &json!({}), "failed");
    assert!(text.contains("rustfmt could not format b.rs"), "{text}");
    assert!(text.contains("error:"), "{text}");
    assert_eq!(desk.get("a.rs"), UGLY);
}

#[test]
fn a_file_that_changes_meanwhile_is_left_alone() {
    let desk = Desk::new().confined();
    if !desk.is_held() {
        eprintln!("skipped: no sandbox here");
        return;
    }
    desk.put("a.rs", UGLY);
    let plan = desk.toolbox.plan("format_code", "{}").unwrap();
    desk.put("a.rs", "fn other() {}\n");
    let result = desk.toolbox.run(plan, &del_tools::Control::default());
    assert_eq!(result.data.unwrap()["code"], "stale", "{}", result.text);
    assert_eq!(desk.get("a.rs"), "fn other() {}\n");
}

#[test]
fn line_ends_and_the_configuration_of_the_project_count() {
    let desk = Desk::new();
    desk.put("rustfmt.toml", "tab_spaces = 2\n");
    desk.put("sub/a.rs", UGLY.replace('\n', "\r\n"));
    desk.ok("format_code", &json!({"path": "sub"}));
    assert_eq!(desk.get("sub/a.rs"), PRETTY.replace("    ", "  ").replace('\n', "\r\n"));
}

#[test]
fn a_toolchain_of_the_project_is_not_started() {
    let desk = Desk::new().confined();
    if !desk.is_held() {
        eprintln!("skipped: no sandbox here");
        return;
    }
    desk.put("a.rs", UGLY);
    desk.put("rust-toolchain.toml", format!("[toolchain]\npath = \"{}\"\n", desk.path("evil").display()));
    for name in ["rustfmt", "cargo", "rustc"] {
        executable(
            &desk,
            &format!("evil/bin/{name}"),
            &format!("#!/bin/sh\ntouch '{}'\ncat\n", canary(&desk).display()),
        );
    }
    desk.ok("format_code", &json!({"check": true}));
    desk.ok("format_code", &json!({}));
    assert!(!canary(&desk).exists());
    assert_eq!(desk.get("a.rs"), PRETTY);
}

#[test]
fn programs_of_the_project_run_only_with_consent() {
    let desk = Desk::new();
    desk.put("a.js", "a  =  1\n");
    let script = format!("#!/bin/sh\ntouch '{}'\necho 'a = 1'\n", canary(&desk).display());
    executable(&desk, "node_modules/.bin/prettier", &script);
    for arguments in [json!({}), json!({"check": true}), json!({"path": "a.js"})] {
        assert_eq!(verdict(&desk, Approval::Ask, "format_code", &arguments), Verdict::Ask);
        assert_eq!(
            verdict(&desk, Approval::AutoEdit, "format_code", &arguments),
            Verdict::Ask,
            "it runs a program"
        );
        assert!(matches!(verdict(&desk, Approval::Plan, "format_code", &arguments), Verdict::Deny(_)));
    }
    let asked = question(&desk, "format_code", &json!({}));
    // Behind a path with a blank stands a quote.
    assert!(asked.replace('\'', "").contains("node_modules/.bin/prettier --stdin-filepath"), "{asked}");
    assert!(!canary(&desk).exists());
    desk.ok("format_code", &json!({}));
    assert_eq!(desk.get("a.js"), "a = 1\n");
}

#[test]
fn rules_are_about_paths() {
    let desk = Desk::new().confined();
    if !desk.is_held() {
        eprintln!("skipped: no sandbox here");
        return;
    }
    desk.put("src/a.rs", UGLY);
    desk.put("src/b.rs", UGLY);
    let plan = |path: &str| desk.toolbox.plan("format_code", &json!({"path": path}).to_string()).unwrap();
    let mut gate = Gate::new(Approval::Ask);
    gate.allow(Rule::parse("format(src/*.rs)").unwrap());
    assert_eq!(gate.verdict(&plan(".")), Verdict::Run);
    gate.deny(Rule::parse("format_code(src/b.rs)").unwrap());
    assert!(matches!(gate.verdict(&plan(".")), Verdict::Deny(_)));
    assert_eq!(gate.verdict(&plan("src/a.rs")), Verdict::Run);
    crate_with(&desk, "");
    let tests = desk.toolbox.plan("test_runner", r#"{"path": "src"}"#).unwrap();
    let mut gate = Gate::new(Approval::Ask);
    assert_eq!(gate.verdict(&tests), Verdict::Ask);
    gate.allow(Rule::parse("test_runner").unwrap());
    assert_eq!(gate.verdict(&tests), Verdict::Run);
    gate.deny(Rule::parse("run_command(cargo:*)").unwrap());
    assert!(matches!(gate.verdict(&tests), Verdict::Deny(_)), "what is forbidden to commands");
}

#[test]
fn a_crate_is_linted() {
    let desk = Desk::new();
    crate_with(&desk, "pub fn f() {\n    let unused = 1;\n}\n");
    assert_eq!(verdict(&desk, Approval::AutoEdit, "lint_code", &json!({})), Verdict::Ask);
    let asked = question(&desk, "lint_code", &json!({}));
    assert!(asked.contains("build scripts"), "{asked}");
    let text = desk.ok("lint_code", &json!({}));
    assert!(text.contains("src/lib.rs:2:9 warning [unused_variables] unused variable: `unused`"), "{text}");
    desk.put("src/lib.rs", "pub fn f() -> u8 { \"\" }\n");
    let text = desk.ok("lint_code", &json!({"path": "src/lib.rs"}));
    assert!(text.starts_with("src/lib.rs:1:20 error [E0308] mismatched types"), "{text}");
    desk.put("src/lib.rs", "pub fn f() {}\n");
    assert!(desk.ok("lint_code", &json!({})).starts_with("No problems found ("));
    desk.put("Cargo.toml", "nonsense");
    let text = desk.fails("lint_code", &json!({}), "failed");
    assert!(text.contains("failed (exit code 101):"), "{text}");
}

#[test]
fn repairs_of_linters_are_changes_like_others() {
    if !has("cargo-clippy") {
        return;
    }
    let desk = Desk::keeping();
    crate_with(&desk, "pub fn f() -> u8 {\n    return 1;\n}\n");
    let result = desk.call("lint_code", &json!({"fix": true}));
    assert!(result.text.contains("Repaired 1 file: src/lib.rs (+1 -1)"), "{}", result.text);
    assert_eq!(desk.get("src/lib.rs"), "pub fn f() -> u8 {\n    1\n}\n");
    let change = &result.changes[0];
    assert_eq!(change.before.as_deref(), Some("pub fn f() -> u8 {\n    return 1;\n}\n".as_bytes()));
}

#[test]
fn tests_of_a_crate_run() {
    let desk = Desk::new();
    crate_with(
        &desk,
        "#[test]\nfn good() {}\n#[test]\nfn bad() {\n    println!(\"said\");\n    assert_eq!(1, 2);\n}\n#[test]\n#[ignore]\nfn later() {}\n",
    );
    let result = desk.call("test_runner", &json!({"path": "src/lib.rs"}));
    assert!(
        result.ok && result.text.starts_with("Tests: 1 passed, 1 failed, 1 skipped (cargo test, "),
        "{}",
        result.text
    );
    assert!(result.text.contains("FAILED bad\nsaid\n"), "{}", result.text);
    assert_eq!(result.data.unwrap()["failures"], json!(["bad"]));
    let text = desk.ok("test_runner", &json!({"filter": "good"}));
    assert!(text.starts_with("Tests: 1 passed, 0 failed, 0 skipped"), "{text}");
    desk.fails("test_runner", &json!({"filter": "--help"}), "bad_type");
    desk.put("src/lib.rs", "fn f() -> u8 { \"\" }\n");
    let text = desk.ok("test_runner", &json!({}));
    assert!(text.starts_with("Tests: no summary was found (cargo test, exit code 101"), "{text}");
    assert!(text.contains("mismatched types"), "{text}");
}

#[test]
fn tests_in_other_languages_run() {
    if has("python3") {
        let desk = Desk::new();
        let body = "import unittest\nclass A(unittest.TestCase):\n    def test_ok(self): pass\n    def test_bad(self): self.assertEqual(1, 2)\n";
        desk.put("test_a.py", body);
        // Where pytest is installed it runs these as well.
        let text = desk.ok("test_runner", &json!({}));
        assert!(text.starts_with("Tests: 1 passed, 1 failed, 0 skipped ("), "{text}");
        assert!(text.contains("FAILED ") && text.contains("test_bad"), "{text}");
    }
    if has("npm") {
        let desk = Desk::new();
        desk.put("package.json", r#"{"scripts": {"test": "node --test"}}"#);
        desk.put(
            "a.test.js",
            "const t = require('node:test'); t('good', () => {}); t('bad', () => { throw 1 });\n",
        );
        let text = desk.ok("test_runner", &json!({}));
        assert!(text.starts_with("Tests: 1 passed, 1 failed, 0 skipped (npm test, "), "{text}");
    }
    if has("make") {
        let desk = Desk::new();
        desk.put("Makefile", "test:\n\t@echo '2 passed in 0.1s'\n");
        assert!(
            desk.ok("test_runner", &json!({}))
                .starts_with("Tests: 2 passed, 0 failed, 0 skipped (make test, ")
        );
    }
}

#[test]
fn the_nearest_project_is_tested_and_the_others_are_named() {
    let desk = Desk::new();
    crate_with(&desk, "");
    desk.put("Makefile", "test:\n\t@true\n");
    desk.put("inner/Makefile", "all:\n\t@true\n");
    let text = desk.ok("test_runner", &json!({"path": "inner"}));
    assert!(text.contains("(cargo test, "), "no test: in the inner one: {text}");
    if has("make") {
        assert!(text.ends_with("[the project also has: make test]"), "{text}");
        desk.put("inner/Makefile", "test:\n\t@true\n");
        assert!(desk.ok("test_runner", &json!({"path": "inner"})).contains("make test, exit code 0"));
    }
    let desk = Desk::new();
    desk.put("package.json", r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#);
    let text = desk.fails("test_runner", &json!({}), "not_found");
    assert!(
        text.starts_with("Error: no test runner found (looked for cargo nextest, cargo test, "),
        "{text}"
    );
}

#[test]
fn tests_that_take_too_long_are_ended() {
    if !has("make") {
        return;
    }
    let desk = Desk::new();
    desk.put("Makefile", "test:\n\t@echo begun; sleep 1000 & sleep 1000\n");
    let text = desk.fails("test_runner", &json!({"timeout": 1}), "timeout");
    assert!(text.contains("took longer than 1 s") && text.contains("begun"), "{text}");
}

#[test]
fn what_the_sandbox_kept_from_happening_is_said() {
    if !has("make") {
        return;
    }
    let mut desk = Desk::new();
    desk.toolbox.confine(&Confinement { writable: Vec::new(), ..Confinement::default() }).unwrap();
    if desk.toolbox.sandbox().level() != Level::Full {
        eprintln!("skipped: no whole sandbox here");
        return;
    }
    desk.put("Makefile", "test:\n\techo x > ../outside/canary\n");
    let text = desk.ok("test_runner", &json!({}));
    assert!(
        text.contains("[the sandbox may have been in the way: ") && text.contains("--allow-dir"),
        "{text}"
    );
    assert!(!canary(&desk).exists());
}

#[test]
fn secrets_of_the_environment_do_not_reach_tests() {
    if !has("make") {
        return;
    }
    // Cargo itself sets nothing that looks like a secret; HOME shows that the rest is there.
    let desk = Desk::new();
    desk.put(
        "Makefile",
        "test:\n\t@env | grep -c -E '^(HOME|CI)=' ; env | grep -E '_(TOKEN|KEY|SECRET)=' || echo none\n",
    );
    let text = desk.ok("test_runner", &json!({}));
    assert!(text.contains("2\nnone"), "{text}");
}
