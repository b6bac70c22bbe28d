use del_tools::{
    Answer, Approval, Class, Code, Consent, Control, Gate, Question, Rule, Subject, Toolset, Verdict,
};
use serde_json::json;

use crate::desk::Desk;

/// Answers in turn, and keeps what it was asked.
#[derive(Default)]
pub(crate) struct User {
    answers: Vec<Answer>,
    pub(crate) asked: Vec<String>,
}

impl User {
    pub(crate) fn saying(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: answers.into_iter().collect(), asked: Vec::new() }
    }
}

impl Consent for User {
    fn ask(&mut self, question: &Question) -> Answer {
        self.asked.push(question.text());
        self.answers.remove(0)
    }
}

fn verdict(desk: &Desk, gate: &Gate, tool: &str, arguments: &serde_json::Value) -> Verdict {
    gate.verdict(&desk.toolbox.plan(tool, &arguments.to_string()).unwrap())
}

#[test]
fn a_write_that_changes_nothing_needs_no_question_unless_the_file_does() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    desk.put(".env", "a\n");
    let gate = Gate::new(Approval::Ask);
    let write = |path: &str, content: &str| {
        verdict(&desk, &gate, "write_file", &json!({"path": path, "content": content}))
    };
    assert_eq!(write("a.txt", "a\n"), Verdict::Run);
    assert_eq!(write("a.txt", "b\n"), Verdict::Ask);
    assert_eq!(write("new.txt", ""), Verdict::Ask);
    assert_eq!(write(".env", "a\n"), Verdict::Ask);
    let mut strict = Gate::new(Approval::Yolo);
    strict.deny(Rule::parse("write_file(*.txt)").unwrap());
    let denied = verdict(&desk, &strict, "write_file", &json!({"path": "a.txt", "content": "a\n"}));
    assert!(matches!(denied, Verdict::Deny(_)), "{denied:?}");
}

#[test]
fn each_mode_asks_for_what_it_should() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let read = ("read_file", json!({"path": "a.txt"}));
    let write = ("write_file", json!({"path": "a.txt", "content": "b"}));
    let edit = ("edit_file", json!({"path": "a.txt", "old_string": "a", "new_string": "b"}));
    let secret = ("write_file", json!({"path": ".env", "content": "b"}));
    let run = ("run_command", json!({"command": "touch a.txt"}));
    let seen = |approval| {
        let gate = Gate::new(approval);
        [&read, &write, &edit, &secret, &run].map(|(tool, arguments)| {
            match verdict(&desk, &gate, tool, arguments) {
                Verdict::Run => 'r',
                Verdict::Ask => 'a',
                Verdict::Deny(_) => 'd',
            }
        })
    };
    assert_eq!(seen(Approval::Ask), ['r', 'a', 'a', 'a', 'a']);
    assert_eq!(seen(Approval::AutoEdit), ['r', 'r', 'r', 'a', 'a']);
    assert_eq!(seen(Approval::Yolo), ['r', 'r', 'r', 'r', 'r']);
    assert_eq!(seen(Approval::Plan), ['r', 'd', 'd', 'd', 'd']);
}

#[test]
fn always_holds_for_the_same_call_only() {
    let desk = Desk::new();
    let mut gate = Gate::new(Approval::Ask);
    let plan =
        |command: &str| desk.toolbox.plan("run_command", &json!({"command": command}).to_string()).unwrap();
    let mut user = User::saying([Answer::Always, Answer::Yes, Answer::No { reason: Some("not now".into()) }]);
    gate.pass(&plan("cargo test"), Some(&mut user)).unwrap();
    gate.pass(&plan("cargo test"), None).unwrap();
    gate.pass(&plan("cargo test -q"), Some(&mut user)).unwrap();
    let refused = gate.pass(&plan("cargo test -q"), Some(&mut user)).unwrap_err();
    assert_eq!(refused.to_string(), "Denied: the user said no: not now");
    assert_eq!(user.asked.len(), 3);
    let elsewhere = Desk::new();
    let same = elsewhere.toolbox.plan("run_command", r#"{"command": "cargo test"}"#).unwrap();
    assert_eq!(gate.verdict(&same), Verdict::Ask, "a grant is for one directory");
}

#[test]
fn a_question_shows_exactly_what_would_run() {
    let desk = Desk::new();
    let command = "rm -rf /\r\u{1b}[2K\u{202e}ls      \nsecond";
    let plan = desk.toolbox.plan("bash", &json!({"cmd": command, "timeout": 5}).to_string()).unwrap();
    assert_eq!((plan.tool(), plan.class()), ("run_command", Class::Execute));
    let Subject::Command { command: exact, directory, .. } = &plan.question().subject else {
        panic!("not a command")
    };
    assert_eq!(exact, command);
    assert_eq!(directory, desk.toolbox.directory());
    let text = plan.question().text();
    assert!(text.contains("  $ rm -rf /␍␛[2K\\u{202e}ls      \n  $ second"), "{text}");
    assert!(text.contains(&format!("in {} (at most 5 s)", desk.toolbox.directory().display())), "{text}");
}

#[test]
fn a_question_shows_the_change() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\n");
    let edit = json!({"path": "a.txt", "old_string": "two", "new_string": "2\u{1b}[0m"});
    let plan = desk.toolbox.plan("edit_file", &edit.to_string()).unwrap();
    let text = plan.question().text();
    assert!(
        text.starts_with(
            "edit_file: change a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2␛[0m"
        ),
        "{text}"
    );
    assert_eq!(desk.get("a.txt"), "one\ntwo\n", "planning changes nothing");
    let long = json!({"path": "new.txt", "content": "x\n".repeat(1000)});
    let text = desk.toolbox.plan("write_file", &long.to_string()).unwrap().question().text();
    assert!(
        text.starts_with("write_file: create new.txt") && text.ends_with("... [803 more lines of diff]"),
        "{text}"
    );
    let over = json!({"path": "a.txt", "content": "x"});
    let text = desk.toolbox.plan("write_file", &over.to_string()).unwrap().question().text();
    assert!(text.ends_with("! the model has not read this file"), "{text}");
}

/// What is shown and what runs come from one reading of the arguments.
#[test]
fn a_doubled_key_shows_what_runs() {
    let desk = Desk::new();
    let plan =
        desk.toolbox.plan("run_command", r#"{"command": "echo shown", "command": "echo run"}"#).unwrap();
    assert!(plan.question().text().contains("$ echo run"));
    assert!(desk.toolbox.run(plan, &Control::default()).text.ends_with("STDOUT:\nrun"));
}

#[test]
fn a_toolbox_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let plan = desk.toolbox.plan("read_file", r#"{"path": "a.txt"}"#).unwrap();
    shared(&desk.toolbox);
    shared(&plan);
}

#[test]
fn rules_allow_and_forbid() {
    let desk = Desk::with(Toolset::Core);
    let mut gate = Gate::new(Approval::Ask);
    gate.allow(Rule::parse("run_command(cargo test:*)").unwrap());
    gate.allow(Rule::parse("write_file(docs/**)").unwrap());
    let run = |command: &str| ("run_command", json!({"command": command}));
    let write = |path: &str| ("write_file", json!({"path": path, "content": "x"}));
    for ((tool, arguments), expected) in [
        (run("cargo test -q"), Verdict::Run),
        (run("cargo test -q; rm x"), Verdict::Ask),
        (write("docs/a.md"), Verdict::Run),
        (write("src/a.md"), Verdict::Ask),
        // What runs later, or holds secrets, is meant by its own name alone.
        (write("docs/.envrc"), Verdict::Ask),
        (write("docs/.env"), Verdict::Ask),
    ] {
        assert_eq!(verdict(&desk, &gate, tool, &arguments), expected, "{arguments}");
    }
    gate.allow(Rule::parse("write_file").unwrap());
    let (tool, arguments) = write("docs/.envrc");
    assert_eq!(verdict(&desk, &gate, tool, &arguments), Verdict::Ask);
    gate.allow(Rule::parse("write_file(docs/.envrc)").unwrap());
    assert_eq!(verdict(&desk, &gate, tool, &arguments), Verdict::Run);
    let mut gate = Gate::new(Approval::Yolo);
    gate.deny(Rule::parse("bash(rm:*)").unwrap());
    let (tool, arguments) = run("ls; rm -rf x");
    let Verdict::Deny(failure) = verdict(&desk, &gate, tool, &arguments) else { panic!("not denied") };
    assert_eq!((failure.code, failure.to_string().starts_with("Denied: ")), (Code::Denied, true));
}

/// The same holds for commands that name such files: neither a pattern nor a rule for all commands is meant for them.
#[test]
fn a_command_on_files_that_run_or_hold_secrets_has_to_be_named() {
    let desk = Desk::with(Toolset::Core);
    desk.put(".env", "SECRET=1\n");
    let commands = ["cat .env", "cp a.txt .envrc", "cat < .env", "echo x > .envrc", "sh -c 'cat .env'"];
    let call = |command: &str| json!({"command": command});
    for rule in ["run_command", "*", "run_command(cat:*)", "run_command(cp:*)", "run_command(sh:*)"] {
        let mut gate = Gate::new(Approval::Ask);
        gate.allow(Rule::parse(rule).unwrap());
        for command in commands {
            assert_eq!(
                verdict(&desk, &gate, "run_command", &call(command)),
                Verdict::Ask,
                "{rule}: {command}"
            );
        }
    }
    for command in commands {
        let mut gate = Gate::new(Approval::Ask);
        gate.allow(Rule::parse(&format!("run_command({command})")).unwrap());
        assert_eq!(verdict(&desk, &gate, "run_command", &call(command)), Verdict::Run, "{command}");
    }
    let mut gate = Gate::new(Approval::Ask);
    gate.allow(Rule::parse("run_command(cp:*)").unwrap());
    gate.allow(Rule::parse("run_command(cat .env:*)").unwrap());
    for (command, expected) in
        [("cp a.txt b.txt", Verdict::Run), ("cat .env", Verdict::Run), ("cp .env b.txt", Verdict::Ask)]
    {
        assert_eq!(verdict(&desk, &gate, "run_command", &call(command)), expected, "{command}");
    }
    let yolo = Gate::new(Approval::Yolo);
    assert_eq!(verdict(&desk, &yolo, "run_command", &call("cat .env")), Verdict::Run);
}

/// A denial names only what helps.
#[test]
fn a_denial_names_the_options_that_would_let_the_call_run() {
    let desk = Desk::with(Toolset::Core);
    let denied = |gate: &mut Gate, tool: &str, arguments: &serde_json::Value| {
        let plan = desk.toolbox.plan(tool, &arguments.to_string()).unwrap();
        gate.pass(&plan, None).unwrap_err().to_string()
    };
    let write = json!({"path": "a.txt", "content": "x"});
    let secret = json!({"path": ".env", "content": "x"});
    let command = json!({"command": "mkdir q"});
    let mut ask = Gate::new(Approval::Ask);
    let got = denied(&mut ask, "write_file", &write);
    assert!(got.ends_with("rerun with --approval-mode auto-edit|yolo or --allow-tool"), "{got}");
    for (tool, arguments) in [("write_file", &secret), ("run_command", &command)] {
        for mut gate in [Gate::new(Approval::Ask), Gate::new(Approval::AutoEdit)] {
            let got = denied(&mut gate, tool, arguments);
            assert!(got.ends_with("rerun with --approval-mode yolo or --allow-tool"), "{got}");
        }
    }
    // A denying rule may mean a part of what is not understood.
    ask.deny(Rule::parse("run_command(git push:*)").unwrap());
    let got = denied(&mut ask, "run_command", &json!({"command": "for x in $(y); do $x; done"}));
    assert!(got.contains("rerun with --allow-tool and exactly this command"), "{got}");
}

#[test]
fn what_cannot_work_is_said_before_anybody_is_asked() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let edit = json!({"path": "a.txt", "old_string": "nosuch", "new_string": "x"});
    assert_eq!(desk.toolbox.plan("edit_file", &edit.to_string()).unwrap_err().code, Code::NoMatch);
    assert_eq!(desk.toolbox.plan("bash", r#"{"command": "vim"}"#).unwrap_err().code, Code::Interactive);
}

#[test]
fn a_rule_covers_its_command_wherever_it_is_known_to_run_as_it_stands() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let mut gate = Gate::new(Approval::Ask);
    gate.allow(Rule::parse("run_command(cargo test:*)").unwrap());
    let call = |command: &str| json!({ "command": command });
    for command in [
        "timeout 60 cargo test",
        "time cargo test -q | tail",
        "RUST_BACKTRACE=1 cargo test",
        "(cargo test) 2>&1 | head",
        "! cargo test",
        "if cargo test; then ls; else cat a.txt; fi",
        "for x in 1 2 3; do cargo test; done",
        "for x in 1 2; do cargo test || echo failed; done",
    ] {
        assert_eq!(verdict(&desk, &gate, "run_command", &call(command)), Verdict::Run, "{command}");
    }
    gate.allow(Rule::parse("run_command(cd:*)").unwrap());
    for command in [
        "(cd /; cat a.txt; cargo test)",
        "{ cd / && ls; }; cargo test",
        "if cargo test; then rm a.txt; fi",
        "if cargo test; then cat ../x; fi",
        "for x in *; do cargo test $x; done",
        "RUSTC=x cargo test",
        "(cargo test; source x)",
    ] {
        assert_eq!(verdict(&desk, &gate, "run_command", &call(command)), Verdict::Ask, "{command}");
    }
}
