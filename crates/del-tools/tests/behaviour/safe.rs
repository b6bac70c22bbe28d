//! Commands that surely only read: they run without a question and without a shell.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use del_tools::{Approval, Code, Control, Gate, Rule, Verdict};
use serde_json::json;

use crate::desk::Desk;

fn verdict(desk: &Desk, gate: &Gate, command: &str) -> Verdict {
    let call = json!({"command": command}).to_string();
    gate.verdict(&desk.toolbox.plan("run_command", &call).unwrap())
}

/// Calls a command that must not ask.
fn safe(desk: &Desk, command: &str) -> String {
    let call = json!({"command": command}).to_string();
    let plan = desk.toolbox.plan("run_command", &call).unwrap();
    assert_eq!(Gate::new(Approval::Ask).pass(&plan, None), Ok(()), "{command}");
    desk.toolbox.run(plan, &Control::default()).text
}

fn output(text: &str) -> &str {
    text.split_once("\n\n").map_or(text, |(_, output)| output)
}

#[test]
fn what_only_reads_does_not_ask_in_any_mode_and_what_destroys_never_runs() {
    let desk = Desk::new();
    for approval in [Approval::Ask, Approval::AutoEdit, Approval::Yolo, Approval::Plan] {
        let gate = Gate::new(approval);
        assert_eq!(verdict(&desk, &gate, "ls | wc -l"), Verdict::Run, "{approval:?}");
        let Verdict::Deny(failure) = verdict(&desk, &gate, "ls; sudo rm -rf /") else {
            panic!("{approval:?}")
        };
        assert!(
            failure.code == Code::Denied && failure.to_string().contains("rights of another user"),
            "{failure}"
        );
    }
}

#[test]
fn steps_and_pipes_run_as_in_a_shell() {
    let desk = Desk::new();
    desk.put("a.txt", "b\na\n");
    desk.put("src/c.txt", "c\n");
    for (command, expected) in [
        ("cat a.txt | sort | head -1", "STDOUT:\na"),
        ("cat nosuch 2>/dev/null || echo none", "STDOUT:\nnone"),
        ("cat a.txt && echo '$x' \"y z\"", "STDOUT:\nb\na\n$x y z"),
        ("false && echo no; echo yes", "STDOUT:\nyes"),
        ("true || echo no; echo yes", "STDOUT:\nyes"),
        ("false && echo no || echo yes", "STDOUT:\nyes"),
        ("cd src && cat *.txt", "STDOUT:\nc"),
        ("cd src; cd ..; wc -l < a.txt", "STDOUT:\n2"),
        ("cat <<< 'a  b'", "STDOUT:\na  b"),
        ("cat nosuch 2>&1 | wc -l", "STDOUT:\n1"),
        ("cat nosuch >/dev/null 2>&1 | wc -l", "STDOUT:\n0"),
        ("echo x | cat a.txt - | tail -1", "STDOUT:\nx"),
        ("cat a.txt >/dev/null", "(no output)"),
        ("echo *.txt nosuch*", "STDOUT:\na.txt nosuch*"),
        ("LC_ALL=C sort a.txt", "STDOUT:\na\nb"),
        ("cat a.txt src/c.txt | sort -r | uniq -c | awk '{print $2}'", "STDOUT:\nc\nb\na"),
    ] {
        assert_eq!(output(&safe(&desk, command)), expected, "{command}");
    }
    for (command, expected) in [
        (
            "for f in a.txt src/*.txt; do echo \"= $f\"; cat $f; done",
            "STDOUT:\n= a.txt\nb\na\n= src/c.txt\nc",
        ),
        ("for i in {1..3}; do echo $i; done | tail -1", "STDOUT:\n3"),
        ("(cd src && ls); ls", "STDOUT:\nc.txt\na.txt\nsrc"),
        ("{ echo b; echo a; } | sort", "STDOUT:\na\nb"),
        ("if [ -f a.txt ]; then echo yes; else echo no; fi", "STDOUT:\nyes"),
        ("if test -f nosuch; then echo yes; elif false; then echo no; else echo none; fi", "STDOUT:\nnone"),
        ("[[ -f a.txt && ! -d a.txt ]] && echo file", "STDOUT:\nfile"),
        ("! false && echo turned", "STDOUT:\nturned"),
        ("echo \"$(wc -l < a.txt) lines\"", "STDOUT:\n2 lines"),
        ("echo $(cat a.txt)", "STDOUT:\nb a"),
        ("n=$(ls | wc -l); echo \"$n names\"", "STDOUT:\n2 names"),
        ("d=src; ls $d && echo \"in $d\"", "STDOUT:\nc.txt\nin src"),
        ("false; echo $?", "STDOUT:\n1"),
        ("find . -name '*.txt' | sort | xargs cat", "STDOUT:\nb\na\nc"),
        ("find . -name '*.txt' | sort | xargs -n1 wc -l", "STDOUT:\n2 ./a.txt\n1 ./src/c.txt"),
        ("find . -name 'c.txt' -exec cat {} \\;", "STDOUT:\nc"),
        ("find . -name '*.txt' -exec cat {} + | sort", "STDOUT:\na\nb\nc"),
        ("ls | xargs -I{} echo '<{}>'", "STDOUT:\n<a.txt>\n<src>"),
        ("cat a.txt | while read -r line; do echo \"> $line\"; done", "STDOUT:\n> b\n> a"),
        ("while read l; do echo $l; done < a.txt", "STDOUT:\nb\na"),
        ("while IFS=, read -r a b; do echo \"$b $a\"; done <<< 'x,y,z'", "STDOUT:\ny,z x"),
        (
            "printf 'k = v w\\n' | while read -r key sign value; do echo \"$value:$key\"; done",
            "STDOUT:\nv w:k",
        ),
        ("x=2; echo $((2 * (x + 1)))", "STDOUT:\n6"),
        ("n=$(wc -l < a.txt); echo \"$((n * 2)) names\"", "STDOUT:\n4 names"),
        ("comm -12 <(sort a.txt) <(echo b)", "STDOUT:\nb"),
        ("diff <(sort a.txt) <(printf 'a\\nb\\n') && echo same", "STDOUT:\nsame"),
        ("timeout 9 wc -l <(cat a.txt src/c.txt) | cut -c1", "STDOUT:\n3"),
        ("while read -r l; do echo \"= $l\"; done < <(sort a.txt)", "STDOUT:\n= a\n= b"),
        ("cat <(cat <(printf 'x\\n\\n')) | wc -l", "STDOUT:\n2"),
        ("false; cat <(true) <(echo $?)", "STDOUT:\n1"),
        ("nohup cat a.txt", "STDOUT:\nb\na"),
        ("ulimit -c; umask -p | cut -c1-5", "STDOUT:\n0\numask"),
        ("for f in $(find src -name '*.txt'); do cat $f; done", "STDOUT:\nc"),
        ("cat <<EOF | tr a-z A-Z\none\nEOF", "STDOUT:\nONE"),
        ("set -e; false; echo no", "(no output)"),
        ("set -o pipefail; false | true || echo failed", "STDOUT:\nfailed"),
        ("false || exit 3; echo no", "(no output)"),
        ("timeout 5 cat a.txt", "STDOUT:\nb\na"),
        ("cd \"$(pwd)\" && ls", "STDOUT:\na.txt\nsrc"),
        ("ls src 2>/dev/null | while read f; do wc -l \"src/$f\"; done", "STDOUT:\n1 src/c.txt"),
    ] {
        assert_eq!(output(&safe(&desk, command)), expected, "{command}");
    }
    assert!(safe(&desk, "cat nosuch").starts_with("Failed (exit code 1"), "the last status counts");
    assert!(safe(&desk, "time true").contains("STDERR:\n\nreal\t0."), "{}", safe(&desk, "time true"));
    assert!(safe(&desk, "time -p cat a.txt").contains("STDOUT:\nb\na\n\nSTDERR:\n\nreal\t0."));
    // A shell would compute with these words.
    let text = safe(&desk, "n=$(cat a.txt); echo $((n))");
    assert!(text.contains("not run without a question") && !text.contains("STDOUT"), "{text}");
    assert!(safe(&desk, "(exit 4)").starts_with("Failed (exit code 4"));
    assert!(safe(&desk, "cat nosuch; true").starts_with("Success"), "the last status counts");
}

#[test]
fn a_link_that_is_put_in_the_way_is_seen() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let plan = desk.toolbox.plan("run_command", r#"{"command": "cat a.txt"}"#).unwrap();
    Gate::new(Approval::Ask).pass(&plan, None).unwrap();
    fs::remove_file(desk.path("a.txt")).unwrap();
    symlink(desk.outside().join("secret.txt"), desk.path("a.txt")).unwrap();
    let result = desk.toolbox.run(plan, &Control::default());
    assert!(!result.ok && !result.text.contains("secret\n"), "{}", result.text);
    assert_eq!(result.data.unwrap()["code"], "stale");
}

/// Names that come out of other programs are looked at before they go into the next.
#[test]
fn what_names_lead_out_or_to_secrets_is_left_out() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    desk.put(".env", "inner\n");
    desk.put("x y/a.txt", "b\n");
    symlink(desk.outside().join("secret.txt"), desk.path("link.txt")).unwrap();
    symlink(desk.outside(), desk.path("out")).unwrap();
    let hostile = format!("a.txt {}\n", desk.outside().join("secret.txt").display());
    for name in [hostile.trim_end(), "-rf", "$(id).txt", "it's.txt", "new\nline.txt"] {
        if !name.contains('/') {
            desk.put(name, "odd\n");
        }
    }
    for command in [
        "find . | xargs cat",
        "find . -print0 | xargs -0 cat",
        "find . -exec cat {} +",
        "find . -exec cat {} \\;",
        "ls -a | xargs -n1 cat",
        "ls -a | while read -r f; do cat \"$f\"; done",
        "ls | while IFS= read -r f; do cat < \"$f\"; done",
        "for f in $(ls -a); do cat \"$f\"; done",
        "cat $(ls)",
        "find . | xargs grep -h ''",
        "find . | xargs -I{} head {}",
    ] {
        let text = safe(&desk, command);
        assert!(!text.contains("secret\n") && !text.contains("inner\n"), "{command}: {text}");
        assert!(!text.contains("uid="), "{command}: {text}");
    }
    let text = safe(&desk, "find . -name 'a*' -exec cat {} +");
    assert_eq!(output(&text).replace("a\nb", "b\na"), "STDOUT:\nb\na");
    let text = safe(&desk, "find . -name 'link.t*' -exec cat {} +");
    assert!(text.contains("not run without a question: cat: `./link.txt` lies outside"), "{text}");
}

#[test]
fn what_never_ends_is_ended() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    for command in [
        "sleep 1000 | cat",
        "(sleep 1000; ls) | cat",
        "for i in 1 2; do sleep 1000; done",
        "echo \"$(sleep 1000)$(ls)\"",
        "sleep 1000 | xargs echo",
        "sleep 1000 | while read x; do echo $x; done",
    ] {
        let call = json!({"command": command, "timeout": 1}).to_string();
        let plan = desk.toolbox.plan("run_command", &call).unwrap();
        if Gate::new(Approval::Ask).pass(&plan, None).is_err() {
            continue;
        }
        let started = std::time::Instant::now();
        let text = desk.toolbox.run(plan, &Control::default()).text;
        assert!(text.starts_with("Error: command timed out after 1 s"), "{command}: {text}");
        assert!(started.elapsed() < std::time::Duration::from_secs(30), "{command}");
    }
}

#[test]
fn a_program_of_the_project_never_stands_for_one_of_the_system() {
    let desk = Desk::new();
    desk.put("ls", "#!/bin/sh\necho fooled\n");
    fs::set_permissions(desk.path("ls"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(output(&safe(&desk, "ls")), "STDOUT:\nls");
    let gate = Gate::new(Approval::Ask);
    for command in ["./ls", "PATH=. ls", "PATH=.:$PATH ls"] {
        assert_eq!(verdict(&desk, &gate, command), Verdict::Ask, "{command}");
    }
}

/// Runs git in the project with nothing of this machine's settings.
fn git(desk: &Desk, words: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"]);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let status = git.args(words).current_dir(desk.work()).output().unwrap();
    assert!(status.status.success(), "{words:?}: {}", String::from_utf8_lossy(&status.stderr));
}

/// What git keeps lies elsewhere there, and the sandbox lets it be read.
#[test]
fn git_looks_into_a_linked_working_tree() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    git(&desk, &["init", "-q"]);
    git(&desk, &["add", "."]);
    git(&desk, &["commit", "-qm", "first"]);
    let tree = fs::canonicalize(desk.outside()).unwrap().join("tree");
    git(&desk, &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "other"]);
    let linked = Desk::over(&tree).confined();
    fs::write(tree.join("a.txt"), "b\n").unwrap();
    if linked.is_held() {
        assert_eq!(output(&safe(&linked, "git status --short --branch")), "STDOUT:\n## other\n M a.txt");
        assert!(safe(&linked, "git log --oneline | cat").ends_with(" first"));
        assert!(safe(&linked, "git diff").contains("-a\n+b"));
    }
}

#[test]
fn git_looks_into_a_plain_repository() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    git(&desk, &["init", "-q"]);
    git(&desk, &["add", "."]);
    git(&desk, &["commit", "-qm", "first"]);
    desk.put("a.txt", "b\n");
    assert_eq!(output(&safe(&desk, "git status --short")), "STDOUT:\n M a.txt");
    assert!(safe(&desk, "git log --oneline | cat").ends_with(" first"));
    assert!(safe(&desk, "git diff").contains("-a\n+b"));
    for command in [
        "git show --stat",
        "git branch",
        "git blame a.txt",
        "git ls-files",
        "git stash list",
        "git describe --always",
    ] {
        assert!(safe(&desk, command).starts_with("Success"), "{command}");
    }
}

#[test]
fn git_shows_no_secret_by_its_id_or_by_attributes() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    desk.put(".env", "KEY=canary\n");
    git(&desk, &["init", "-q"]);
    git(&desk, &["add", "-f", "."]);
    git(&desk, &["commit", "-qm", "first"]);
    let id = |name: &str| {
        let mut git = Command::new("git");
        let output = git.args(["rev-parse", name]).current_dir(desk.work()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let secret = id("HEAD:.env");
    for command in ["git show", "git cat-file -p", "git diff HEAD:a.txt", "git grep KEY"] {
        for id in [&secret, &secret[..9]] {
            let text = safe(&desk, &format!("{command} {id}"));
            assert!(!text.contains("canary"), "{command}: {text}");
        }
    }
    assert!(safe(&desk, &format!("git show {}", &id("HEAD")[..9])).contains("+a"));
    desk.put(".gitattributes", "*.env diff\n");
    let gate = Gate::new(Approval::Ask);
    assert_eq!(verdict(&desk, &gate, "git log -p"), Verdict::Ask);
    let plan = desk.toolbox.plan("git_operation", r#"{"operation": "diff"}"#).unwrap();
    assert_eq!(gate.verdict(&plan), Verdict::Ask);
}

#[test]
fn a_hostile_repository_runs_nothing() {
    let settings = [
        ("core.fsmonitor", "touch ../canary"),
        ("filter.x.clean", "touch ../canary"),
        ("filter.x.process", "touch ../canary"),
        ("diff.external", "touch ../canary"),
        ("diff.x.textconv", "touch ../canary"),
        ("diff.x.command", "touch ../canary"),
        ("core.pager", "touch ../canary"),
        ("pager.log", "touch ../canary"),
        ("alias.status", "!touch ../canary"),
        ("core.hooksPath", "hooks"),
        ("log.showSignature", "true"),
        ("include.path", "../evil"),
        ("core.worktree", "/etc"),
        ("remote.x.uploadpack", "touch ../canary"),
        ("extensions.partialClone", "x"),
    ];
    for (name, value) in settings {
        let desk = Desk::new();
        desk.put("a.txt", "a\n");
        desk.put(".gitattributes", "* filter=x diff=x\n");
        git(&desk, &["init", "-q"]);
        git(&desk, &["add", "."]);
        git(&desk, &["commit", "-qm", "first"]);
        git(&desk, &["config", name, value]);
        desk.put("a.txt", "b\n");
        let gate = Gate::new(Approval::Ask);
        for command in ["git status", "git diff", "git log -p", "git show", "cd src && git status"] {
            fs::create_dir_all(desk.path("src/.git")).unwrap();
            assert_eq!(verdict(&desk, &gate, command), Verdict::Ask, "{name}: {command}");
        }
        assert!(!desk.work().parent().unwrap().join("canary").exists(), "{name}");
    }
}

#[test]
fn hooks_do_not_run() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    git(&desk, &["init", "-q"]);
    git(&desk, &["add", "."]);
    git(&desk, &["commit", "-qm", "first"]);
    for hook in ["post-index-change", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman"] {
        desk.put(&format!(".git/hooks/{hook}"), "#!/bin/sh\ntouch \"$PWD/canary\"\n");
        let path = desk.path(format!(".git/hooks/{hook}"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    desk.put("a.txt", "b\n");
    for command in
        ["git status", "git diff", "git log -p", "git stash list", "git ls-files -m", "git describe --always"]
    {
        safe(&desk, command);
    }
    assert!(!desk.path("canary").exists());
}

#[test]
fn rules_are_held_against_each_command() {
    let desk = Desk::new();
    let mut gate = Gate::new(Approval::Ask);
    gate.allow(Rule::parse("run_command(cargo test:*)").unwrap());
    for command in ["cargo test 2>&1 | tail -5", "ls && cargo test -q", "cargo test; cargo test --doc"] {
        assert_eq!(verdict(&desk, &gate, command), Verdict::Run, "{command}");
    }
    for command in [
        "cargo test; rm x",
        "cargo test | sh",
        "A=b cargo test",
        "cargo test > x",
        "cargo test $(rm x)",
        "touch x",
    ] {
        assert_eq!(verdict(&desk, &gate, command), Verdict::Ask, "{command}");
    }
    let mut gate = Gate::new(Approval::Yolo);
    gate.deny(Rule::parse("run_command(curl:*)").unwrap());
    for command in ["curl x", "env curl x", "ls; (curl x)", "sh -c 'curl x'", "/usr/bin/curl x"] {
        assert!(matches!(verdict(&desk, &gate, command), Verdict::Deny(_)), "{command}");
    }
    assert_eq!(verdict(&desk, &gate, "$(echo cu)rl x"), Verdict::Ask, "nobody knows whether it is curl");
    assert_eq!(verdict(&desk, &gate, "touch x"), Verdict::Run);
    let mut gate = Gate::new(Approval::Yolo);
    gate.allow(Rule::parse("run_command").unwrap());
    gate.allow(Rule::parse("run_command(git:*)").unwrap());
    assert!(matches!(verdict(&desk, &gate, "git reset --hard"), Verdict::Deny(_)), "no rule says so");
    gate.allow(Rule::parse("run_command(git reset --hard:*)").unwrap());
    assert_eq!(verdict(&desk, &gate, "git reset --hard"), Verdict::Run);
}

#[test]
fn a_safe_command_that_takes_too_long_is_ended() {
    let desk = Desk::new();
    let text = desk.fails(
        "run_command",
        &json!({"command": "echo one; sleep 1000 | sleep 1000", "timeout": 1}),
        "timeout",
    );
    assert!(text.contains("STDOUT:\none"), "{text}");
}
