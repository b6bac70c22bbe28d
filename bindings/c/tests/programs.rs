//! C programs that use the library rightly and wrongly, against the static and the shared library, under valgrind where it
//! is installed.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where cargo has put the library: beside the tests.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{said}\n{wrong}", output.status);
    said.into_owned()
}

/// What a program prints.
fn program(source: &str, link: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let warnings = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g"];
    let mut compile = Command::new(compiler);
    compile.args(warnings).arg("-I").arg(root.join("include")).arg(root.join(source)).arg("-o").arg(&program);
    run(compile.arg("-L").arg(libraries()).args(link));
    let valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    let mut watched = Command::new(if valgrind { Path::new("valgrind") } else { &program });
    if valgrind {
        // What it says without more options: what is kept for all parsers has to be in sight as well.
        watched.args(["--quiet", "--leak-check=full", "--error-exitcode=99"]).arg(&program);
    } else {
        eprintln!("valgrind is not installed: the program runs alone");
    }
    run(watched.env("LD_LIBRARY_PATH", libraries()))
}

#[test]
fn the_border_holds_in_the_static_library() {
    let link = ["-l:libdel_dialects_c.a", "-lpthread", "-ldl", "-lm"];
    assert_eq!(program("tests/border.c", &link), "the border holds\n");
}

#[test]
fn the_border_holds_in_the_shared_library() {
    assert_eq!(program("tests/border.c", &["-ldel_dialects_c"]), "the border holds\n");
}

#[test]
fn the_example_prints_what_the_document_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let printed = program("examples/stream.c", &["-ldel_dialects_c"]);
    let document = std::fs::read_to_string(root.join("../../docs/c.md")).unwrap();
    assert!(document.contains(&format!("```text\n{printed}```")), "docs/c.md does not show: {printed}");
    let source = std::fs::read_to_string(root.join("examples/stream.c")).unwrap();
    let shown = document.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(source.ends_with(shown), "docs/c.md shows another program than examples/stream.c");
    // The commands are run as they stand, in a directory that is laid out as a clone is.
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("bindings/c")).unwrap();
    std::fs::create_dir_all(folder.path().join("target")).unwrap();
    symlink(libraries(), folder.path().join("target/release")).unwrap();
    symlink(root.join("include"), folder.path().join("bindings/c/include")).unwrap();
    std::fs::write(folder.path().join("program.c"), source).unwrap();
    let commands: Vec<&str> = document.lines().filter(|line| line.starts_with("cc ")).collect();
    assert_eq!(commands.len(), 2, "one for each library");
    for command in commands {
        run(Command::new("sh").current_dir(folder.path()).args(["-c", command]));
        let mut made = Command::new(folder.path().join("a.out"));
        assert_eq!(run(made.env_remove("LD_LIBRARY_PATH")), printed, "{command}");
    }
}
