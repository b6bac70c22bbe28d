//! Commands and skills in Markdown files.

use serde_json::json;
use tempfile::TempDir;

use crate::del::{Run, del, directory, run, text};
use crate::server::{Server, calls, says};
use crate::terminal::Terminal;

const REVIEW: &str = "---\ndescription: Review a file\nargument-hint: FILE\nallowed-tools: Read, Grep, Bash(git diff:*)\n---\n\
    Review $1 for $ARGUMENTS.\n";
const SKILL: &str =
    "---\nname: release\ndescription: How to make a release\n---\nBump the version, then tag.\n";

fn at(files: &TempDir, home: &TempDir, arguments: &[&str]) -> Run {
    run(del(arguments).current_dir(files.path()).env("HOME", home.path()), "")
}

fn project() -> TempDir {
    directory(&[
        (".git/HEAD", "x"),
        (".claude/commands/review.md", REVIEW),
        (".claude/commands/ui/check.md", "Check the interface."),
        (".del/skills/release/SKILL.md", SKILL),
        ("a.txt", "x\n"),
    ])
}

#[test]
fn a_command_of_the_projects_asks_what_it_says_once_it_is_trusted() {
    let (files, home) = (project(), directory(&[]));
    let server = Server::new(vec![
        calls("c1", "write_file", &json!({"file_path": "a.txt", "content": "y"})),
        calls("c2", "read_file", &json!({"file_path": "a.txt"})),
        says("Fine."),
    ]);
    let ask = |prompt: &str| at(&files, &home, &["-p", prompt, "--base-url", server.url(), "--unsafe"]);
    ask("/review a.txt").fails(55, "/review is .claude/commands/review.md, which you have not agreed to");
    ask("/ui:check").fails(55, "have not agreed");
    let shown = at(&files, &home, &["trust"]);
    assert!(shown.err.contains("words for the model behind /ui:check"), "{shown:#?}");
    assert!(shown.err.contains("a skill, which the model may read by itself: release"), "{shown:#?}");
    assert_eq!(at(&files, &home, &["trust", "-y"]).code, 0);
    let got = ask("/review a.txt bugs");
    assert_eq!((got.code, got.out.as_str()), (0, "Fine.\n"), "{got:#?}");
    let seen = server.completions();
    assert_eq!(seen[0].body["messages"][1]["content"], "Review a.txt for a.txt bugs.");
    // It can only narrow what may be called, here to less than `--unsafe` lets pass.
    let denied = seen[1].body["messages"].to_string();
    assert!(denied.contains("write_file may not be called now: /review"), "{denied}");
    assert!(
        denied.contains("lets only read_file, grep_search, run_command be"),
        "by the names that it has: {denied}"
    );
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "x\n");
    std::fs::write(files.path().join(".claude/commands/review.md"), "Other words.").unwrap();
    ask("/review a.txt").fails(55, "have not agreed");
    assert_eq!(ask("/nosuch is a path").code, 0);
}

#[test]
fn the_model_is_told_of_skills_in_a_line_and_reads_one_when_it_needs_it() {
    let (files, home) = (project(), directory(&[]));
    let server = Server::new(vec![calls("c1", "skill", &json!({"name": "release"})), says("I know how.")]);
    let ask = || at(&files, &home, &["-p", "Release it.", "--base-url", server.url()]);
    assert_eq!(at(&files, &home, &["trust", "-y"]).code, 0);
    assert_eq!(ask().out, "I know how.\n");
    let seen = server.completions();
    let system = seen[0].body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("- release: How to make a release") && !system.contains("Bump"), "{system}");
    let result = seen[1].body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(
        result.contains("Bump the version, then tag.") && result.contains(".del/skills/release"),
        "{result}"
    );
    // Without trust the model does not hear of it.
    at(&files, &home, &["trust", "--revoke"]);
    assert_eq!(ask().code, 0);
    let last = server.completions().pop().unwrap().body;
    assert!(!last.to_string().contains("How to make a release"), "{last:#}");
}

#[test]
fn commands_of_the_users_own_need_no_trust_and_are_offered() {
    let files = directory(&[("a.txt", "x\n")]);
    let home = directory(&[
        (
            ".config/del/commands/fix.md",
            "---\ndescription: Fix what is broken\n---\nFix @a.txt: $ARGUMENTS\n",
        ),
        (".config/del/commands/help.md", "Never reached."),
    ]);
    let server = Server::new(vec![says("Fixed.")]);
    let arguments = ["--base-url", server.url(), "--color", "never"];
    let mut terminal = Terminal::with(&files, &arguments, 100, &[("HOME", &text(home.path()))]);
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("/fi");
    terminal.until("Fix what is broken");
    terminal.write("\tthe typo\r");
    terminal.until("commands/fix.md says");
    terminal.until("Fixed.");
    terminal.until("> ");
    terminal.write("/help\r");
    terminal.until("/fix");
    terminal.until("> ");
    terminal.write("/skills\r");
    terminal.until("/fix  Fix what is broken");
    terminal.until("commands/fix.md (command)");
    terminal.until("Del's own command counts before it");
    terminal.until("> ");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    let asked = server.completions()[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.starts_with("Fix @a.txt: the typo") && asked.contains("     1\tx"), "{asked}");
}

#[test]
fn a_command_without_words_asks_nothing() {
    let home = directory(&[
        (".config/del/commands/e.md", ""),
        (".config/del/commands/head.md", "---\ndescription: Looks\n---\n"),
    ]);
    let server = Server::new(vec![says("no")]);
    for name in ["/e", "/head"] {
        let got = at(&project(), &home, &["-p", name, "--base-url", server.url()]);
        got.fails(42, &format!("{name} asks nothing: expected words for the model in "));
    }
    assert!(server.completions().is_empty());
}

#[test]
fn skills_are_listed_with_those_that_wait_for_trust() {
    let (files, home) = (project(), directory(&[(".config/del/skills/pdf/SKILL.md", "Fill in forms.")]));
    let server = Server::new(vec![says("unasked")]);
    let arguments = ["--base-url", server.url(), "--color", "never"];
    let mut terminal = Terminal::with(&files, &arguments, 100, &[("HOME", &text(home.path()))]);
    terminal.until("Trust this");
    terminal.write("n");
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("/skills\r");
    terminal.until("/pdf  Fill in forms.");
    terminal.until("pdf/SKILL.md (skill, which");
    terminal.until("left out, as you have not agreed to it");
    terminal.until(".claude/commands/review.md");
    terminal.until("> ");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
}
