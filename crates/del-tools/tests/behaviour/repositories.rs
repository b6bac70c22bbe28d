//! git over repositories, hostile ones among them: what their configuration names does not run while somebody looks, and
//! nothing runs that a question has not named.

mod elsewhere;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use del_tools::{Answer, Approval, Consent, Control, Gate, Question, Rule, Verdict};
use serde_json::{Value, json};

use crate::desk::Desk;

const LOOKS: [&str; 4] = [
    r#"{"operation": "status"}"#,
    r#"{"operation": "diff"}"#,
    r#"{"operation": "log"}"#,
    r#"{"operation": "branch"}"#,
];

/// Runs git with nothing of this machine's settings.
fn git(desk: &Desk, words: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"]);
    git.args(["-c", "protocol.file.allow=always"]);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.args(words).current_dir(desk.work()).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A repository with a commit, and a change since.
fn repository() -> Desk {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    desk.put(".gitattributes", "a.txt filter=x diff=x\n");
    git(&desk, &["init", "-q"]);
    git(&desk, &["config", "user.name", "x"]);
    git(&desk, &["config", "user.email", "x@example.com"]);
    git(&desk, &["add", "."]);
    git(&desk, &["commit", "-qm", "first"]);
    desk.put("a.txt", "b\n");
    desk
}

fn canary(desk: &Desk) -> PathBuf {
    desk.outside().join("canary")
}

fn script(desk: &Desk, name: &str) {
    desk.put(name, format!("#!/bin/sh\ntouch '{}'\ncat\n", canary(desk).display()));
    fs::set_permissions(desk.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn verdict(desk: &Desk, gate: &Gate, call: &str) -> Verdict {
    match desk.toolbox.plan("git_operation", call) {
        Ok(plan) => gate.verdict(&plan),
        Err(failure) => Verdict::Deny(failure),
    }
}

/// Looks in every way, with consent, and finds that nothing ran.
fn look(desk: &Desk, what: &str) {
    for call in LOOKS {
        let arguments: Value = serde_json::from_str(call).unwrap();
        let text = desk.call("git_operation", &arguments).text;
        assert!(!canary(desk).exists(), "{what}: {call} ran something: {text}");
        assert!(!text.contains("secret\n"), "{what}: {call}: {text}");
    }
    assert!(!canary(desk).exists(), "{what}");
}

/// Somebody who keeps what was asked, and says no.
#[derive(Default)]
struct Listener(Vec<String>);

impl Consent for Listener {
    fn ask(&mut self, question: &Question) -> Answer {
        self.0.push(question.text());
        Answer::No { reason: None }
    }
}

fn asked(desk: &Desk, call: &str) -> String {
    let plan = desk.toolbox.plan("git_operation", call).unwrap();
    let mut listener = Listener::default();
    assert!(Gate::new(Approval::Ask).pass(&plan, Some(&mut listener)).is_err());
    listener.0.concat()
}

#[test]
fn looking_asks_nothing_and_changing_asks() {
    let desk = repository();
    let gate = Gate::new(Approval::Ask);
    for call in LOOKS {
        assert_eq!(verdict(&desk, &gate, call), Verdict::Run, "{call}");
    }
    for call in [
        r#"{"operation": "add", "files": "a.txt"}"#,
        r#"{"operation": "commit", "message": "x", "files": ["a.txt"]}"#,
        r#"{"operation": "branch", "branch": "new"}"#,
    ] {
        assert_eq!(verdict(&desk, &gate, call), Verdict::Ask, "{call}");
    }
    assert_eq!(desk.ok("git_status", &json!({})), desk.ok("git_operation", &json!({"operation": "status"})));
}

#[test]
fn a_day_with_git() {
    let desk = repository();
    let call = |arguments: Value| desk.ok("git_operation", &arguments);
    let status = call(json!({"operation": "status"}));
    assert_eq!(status, "$ git status --short --branch --ignore-submodules=all\n## main\n M a.txt");
    assert!(call(json!({"operation": "diff"})).contains("-a\n+b"));
    desk.fails("git_operation", &json!({"operation": "commit", "message": "x"}), "no_change");
    call(json!({"operation": "add", "files": "a.txt"}));
    assert!(call(json!({"operation": "diff", "staged": true})).contains("-a\n+b"));
    let message = "Change a\n\nSo that it's \"b\"; $(touch x) `y`\n-- z";
    call(json!({"operation": "commit", "message": message}));
    assert_eq!(git(&desk, &["log", "-1", "--format=%B"]).trim_end(), message);
    assert!(call(json!({"operation": "status"})).ends_with("(clean)"));
    call(json!({"operation": "branch", "branch": "topic/one"}));
    assert!(call(json!({"operation": "branch"})).contains("* topic/one"));
    call(json!({"operation": "branch", "branch": "main"}));
    desk.put("b c.txt", "1\n");
    desk.put("d.txt", "2\n");
    call(json!({"operation": "commit", "message": "two", "files": ["b c.txt", "d.txt"]}));
    desk.put("b c.txt", "3\n");
    call(json!({"operation": "add", "files": "b c.txt"}));
    let log = call(json!({"operation": "log", "limit": 1}));
    assert!(log.ends_with("two") && log.lines().count() == 2, "{log}");
    assert!(!call(json!({"operation": "log", "files": ["d.txt"]})).contains("first"));
    assert!(call(json!({"operation": "diff", "branch": "HEAD~1", "files": "*.txt"})).contains("+2"));
}

#[test]
fn push_and_pull_go_to_the_remote_and_never_by_force() {
    let desk = repository();
    let remote = desk.outside().join("remote.git");
    git(&desk, &["init", "-q", "--bare", remote.to_str().unwrap()]);
    let none = desk.fails("git_operation", &json!({"operation": "push"}), "not_found");
    assert!(none.contains("no remote 'origin'"), "{none}");
    git(&desk, &["remote", "add", "origin", remote.to_str().unwrap()]);
    desk.ok("git_operation", &json!({"operation": "push"}));
    assert_eq!(git(&desk, &["rev-parse", "origin/main"]), git(&desk, &["rev-parse", "main"]));
    git(&desk, &["stash", "-q"]);
    git(&desk, &["commit", "-q", "--amend", "-m", "other"]);
    let refused = desk.fails("git_operation", &json!({"operation": "push"}), "failed");
    assert!(refused.contains("pull first"), "{refused}");
    let refused = desk.fails("git_operation", &json!({"operation": "pull"}), "failed");
    assert!(refused.contains("both moved on"), "{refused}");
    git(&desk, &["reset", "-q", "--hard", "origin/main"]);
    assert!(desk.ok("git_operation", &json!({"operation": "pull"})).contains("up to date"));
}

#[test]
fn settings_of_a_repository_run_nothing_while_somebody_looks() {
    let run = |desk: &Desk| format!("touch '{}'", canary(desk).display());
    for name in [
        "core.fsmonitor",
        "core.pager",
        "pager.log",
        "pager.status",
        "pager.diff",
        "pager.branch",
        "core.editor",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
        "core.alternateRefsCommand",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "gpg.program",
        "gpg.ssh.program",
        "credential.helper",
        "sequence.editor",
        "interactive.diffFilter",
        "merge.x.driver",
        "remote.origin.uploadpack",
        "trace2.eventTarget",
        "trace2.normalTarget",
    ] {
        let desk = repository();
        git(&desk, &["config", name, &run(&desk)]);
        git(&desk, &["config", "filter.x.required", "true"]);
        look(&desk, name);
    }
    for alias in ["status", "diff", "log", "branch", "config", "rev-parse"] {
        let desk = repository();
        git(&desk, &["config", &format!("alias.{alias}"), &format!("!{}", run(&desk))]);
        look(&desk, alias);
    }
}

#[test]
fn filters_of_hidden_attributes_do_not_run() {
    let desk = repository();
    git(&desk, &["config", "filter.y.clean", &format!("touch '{}'", canary(&desk).display())]);
    desk.put(".git/info/attributes", "* filter=y diff=y\n");
    desk.put("attributes", "* filter=y diff=y\n");
    git(&desk, &["config", "core.attributesFile", desk.path("attributes").to_str().unwrap()]);
    git(&desk, &["config", "diff.y.textconv", &format!("touch '{}'; cat", canary(&desk).display())]);
    look(&desk, "attributes");
    assert!(desk.ok("git_operation", &json!({"operation": "diff"})).contains("-a\n+b"));
}

#[test]
fn hooks_do_not_run_while_somebody_looks() {
    let desk = repository();
    for hook in
        ["post-index-change", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman", "pre-commit"]
    {
        script(&desk, &format!(".git/hooks/{hook}"));
        script(&desk, &format!("hooks/{hook}"));
    }
    look(&desk, ".git/hooks");
    git(&desk, &["config", "core.hooksPath", "hooks"]);
    look(&desk, "core.hooksPath");
    git(&desk, &["config", "core.fsmonitor", ".git/hooks/fsmonitor-watchman"]);
    git(&desk, &["config", "core.fsmonitorHookVersion", "2"]);
    look(&desk, "core.fsmonitor");
}

#[test]
fn signatures_are_not_checked_and_submodules_not_entered() {
    let desk = repository();
    script(&desk, "gpg");
    git(&desk, &["config", "log.showSignature", "true"]);
    git(&desk, &["config", "gpg.program", desk.path("gpg").to_str().unwrap()]);
    look(&desk, "log.showSignature");
    git(&desk, &["init", "-q", "sub"]);
    git(&desk, &["-C", "sub", "commit", "-q", "--allow-empty", "-m", "s"]);
    git(&desk, &["-c", "advice.addEmbeddedRepo=false", "add", "sub"]);
    git(&desk, &["-C", "sub", "config", "core.fsmonitor", &format!("touch '{}'", canary(&desk).display())]);
    git(&desk, &["config", "submodule.sub.update", &format!("!touch '{}'", canary(&desk).display())]);
    git(&desk, &["config", "submodule.sub.ignore", "none"]);
    git(&desk, &["config", "diff.submodule", "diff"]);
    git(&desk, &["config", "diff.ignoreSubmodules", "none"]);
    git(&desk, &["config", "status.submoduleSummary", "true"]);
    desk.put("sub/x.txt", "x\n");
    look(&desk, "submodule");
}

#[test]
fn a_missing_object_is_not_fetched() {
    let desk = repository();
    // A blank inside an argument is written so.
    let run = format!("touch '{}'", canary(&desk).display()).replace(' ', "% ");
    let remote = format!("ext::sh -c {run}");
    for (name, value) in [
        ("remote.origin.url", remote.as_str()),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
        ("protocol.ext.allow", "always"),
    ] {
        git(&desk, &["config", name, value]);
    }
    let blob = git(&desk, &["rev-parse", "HEAD:a.txt"]);
    let (start, rest) = blob.trim().split_at(2);
    fs::remove_file(desk.path(format!(".git/objects/{start}/{rest}"))).unwrap();
    look(&desk, "promisor");
}

#[test]
fn a_question_names_the_hooks_and_filters_that_would_run() {
    let desk = repository();
    for hook in ["pre-commit", "commit-msg", "post-checkout"] {
        script(&desk, &format!(".git/hooks/{hook}"));
    }
    git(&desk, &["config", "filter.x.clean", "./clean me"]);
    let commit = r#"{"operation": "commit", "message": "one\n\u001b[2Jtwo", "files": "a.txt"}"#;
    let text = asked(&desk, commit);
    for part in [
        "$ git add -- a.txt",
        "$ git commit -F -",
        "< one\n  < ␛[2Jtwo",
        "! this runs the hook .git/hooks/pre-commit",
        "! this runs the hook .git/hooks/commit-msg",
        "filter.x.clean = ./clean me",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("post-checkout"), "{text}");
    assert!(!canary(&desk).exists());
    let switch = asked(&desk, r#"{"operation": "branch", "branch": "new"}"#);
    assert!(switch.contains("post-checkout") && !switch.contains("pre-commit"), "{switch}");
}

#[test]
fn a_hook_that_comes_after_the_question_does_not_run() {
    let desk = repository();
    let call = r#"{"operation": "commit", "message": "x", "files": "a.txt"}"#;
    let plan = desk.toolbox.plan("git_operation", call).unwrap();
    script(&desk, ".git/hooks/pre-commit");
    let result = desk.toolbox.run(plan, &Control::default());
    assert!(!result.ok && result.text.contains("have changed since you were asked"), "{}", result.text);
    assert!(!canary(&desk).exists());
    desk.ok("git_operation", &serde_json::from_str(call).unwrap());
    assert!(canary(&desk).exists(), "with consent it runs");
}

#[test]
fn always_does_not_cover_a_hook_that_is_new() {
    struct Always;
    impl Consent for Always {
        fn ask(&mut self, _: &Question) -> Answer {
            Answer::Always
        }
    }
    let desk = repository();
    let call = r#"{"operation": "add", "files": "a.txt"}"#;
    let mut gate = Gate::new(Approval::Ask);
    gate.pass(&desk.toolbox.plan("git_operation", call).unwrap(), Some(&mut Always)).unwrap();
    assert_eq!(verdict(&desk, &gate, call), Verdict::Run);
    script(&desk, ".git/hooks/post-index-change");
    assert_eq!(verdict(&desk, &gate, call), Verdict::Ask);
}

#[test]
fn rules_are_about_what_is_done() {
    let desk = repository();
    let add = r#"{"operation": "add", "files": "a.txt"}"#;
    let commit = r#"{"operation": "commit", "message": "x", "files": "a.txt"}"#;
    let mut gate = Gate::new(Approval::Ask);
    gate.allow(Rule::parse("git_operation(commit:*)").unwrap());
    assert_eq!(verdict(&desk, &gate, commit), Verdict::Run);
    assert_eq!(verdict(&desk, &gate, add), Verdict::Ask);
    gate.deny(Rule::parse("git_operation(add)").unwrap());
    assert!(matches!(verdict(&desk, &gate, commit), Verdict::Deny(_)), "it adds as well");
    for rule in ["run_command(git log:*)", "git(log)", "git_operation", "*"] {
        let mut gate = Gate::new(Approval::Yolo);
        gate.deny(Rule::parse(rule).unwrap());
        assert!(matches!(verdict(&desk, &gate, LOOKS[2]), Verdict::Deny(_)), "{rule}");
    }
    let mut gate = Gate::new(Approval::Plan);
    gate.allow(Rule::parse("git_operation").unwrap());
    assert_eq!(verdict(&desk, &gate, LOOKS[0]), Verdict::Run);
    assert!(matches!(verdict(&desk, &gate, commit), Verdict::Deny(_)));
}

/// A repository in which `keys` has changed, and its rule against reading there.
fn withholding() -> Desk {
    let mut desk = repository();
    desk.put("keys/k", "hidden one\n");
    desk.put("keys/[k]*", "hidden two\n");
    git(&desk, &["add", "keys"]);
    git(&desk, &["commit", "-qm", "second"]);
    desk.put("keys/k", "hidden three\n");
    git(&desk, &["mv", "keys/[k]*", "keys/m"]);
    let mut gate = Gate::new(Approval::Ask);
    gate.deny(Rule::parse("read_file(keys/**)").unwrap());
    desk.toolbox.withhold(&gate);
    desk
}

#[test]
fn a_difference_leaves_out_what_may_not_be_read() {
    let desk = withholding();
    for arguments in [
        json!({"operation": "diff"}),
        json!({"operation": "diff", "branch": "HEAD"}),
        json!({"operation": "diff", "branch": "HEAD~1"}),
        json!({"operation": "diff", "branch": "HEAD~1..HEAD"}),
        json!({"operation": "diff", "branch": "HEAD^!"}),
        json!({"operation": "diff", "staged": true}),
        json!({"operation": "diff", "files": ["keys"]}),
        json!({"operation": "diff", "files": ["keys/k", "a.txt"]}),
        json!({"operation": "diff", "files": ["k*"]}),
    ] {
        let text = desk.ok("git_operation", &arguments);
        assert!(!text.contains("hidden"), "{arguments}: {text}");
        assert!(text.contains("[what a rule denies to be read is left out]"), "{arguments}: {text}");
    }
    let text = desk.ok("git_operation", &json!({"operation": "diff"}));
    assert!(text.contains("-a") && text.contains("+b"), "{text}");
    let text = desk.ok("git_operation", &json!({"operation": "diff", "files": ["a.txt"]}));
    assert!(text.contains("+b") && !text.contains("left out"), "{text}");
}

/// By an id, nobody could tell which file it was.
#[test]
fn what_is_compared_is_a_commit() {
    let desk = withholding();
    let id = git(&desk, &["rev-parse", "HEAD:keys/k"]);
    for revision in
        [id.trim(), "HEAD:keys/k", "HEAD:keys", "HEAD^{tree}", "HEAD~1:keys..HEAD:keys", ":keys/k"]
    {
        for files in [json!(["a.txt"]), json!([])] {
            let arguments = json!({"operation": "diff", "branch": revision, "files": files});
            let text = desk.call("git_operation", &arguments).text;
            assert!(text.contains("Error") && !text.contains("hidden"), "{revision}: {text}");
        }
    }
    for revision in ["HEAD", "main", "HEAD~1", "HEAD~1..HEAD", "HEAD~1...main", "HEAD^!", "..HEAD"] {
        desk.ok("git_operation", &json!({"operation": "diff", "branch": revision}));
        desk.ok("git_operation", &json!({"operation": "log", "branch": revision}));
    }
}
