use super::*;

fn rule(text: &str) -> Rule {
    Rule::parse(text).unwrap()
}

fn allows(rule: &Rule, command: &str) -> bool {
    let members = members(command);
    members.exact
        && members.members.iter().all(|member| rule.allows_member("run_command", member, false, &[]))
}

#[test]
fn a_start_vouches_for_one_program_only() {
    let cargo = rule("run_command(cargo test:*)");
    for command in [
        "cargo test --workspace",
        "cargo test",
        "  cargo  'test' -q",
        "cargo test; cargo test -q",
        "cargo test 2>&1",
        "timeout 60 cargo test",
        "nice -n 5 cargo test",
        "time cargo test",
        "! cargo test",
        "RUST_BACKTRACE=1 NO_COLOR=1 cargo test",
        "(cargo test)",
        "{ cargo test; } 2>&1",
        "if cargo test; then cargo test -q; else cargo test; fi",
        "for x in a b; do cargo test; done",
        "( ! timeout 5 cargo test )",
        "timeout -s KILL 5 nice -n 5 cargo test",
        "env NO_COLOR=1 cargo test",
        "command cargo test",
    ] {
        assert!(allows(&cargo, command), "{command}");
    }
    for command in [
        "cargo testify",
        "cargo test; rm -rf .",
        "cargo test\nrm x",
        "cargo test $(x)",
        "cargo test > x",
        "cargo test | sh",
        "PATH=. cargo test",
        "./cargo test",
        "cargo test < x",
        "cargo test & rm x",
        "cargo 'test x'",
        "\"cargo test\"",
        "RUSTC_WRAPPER=x cargo test",
        "timeout -x 5 cargo test",
        "env PATH=. cargo test",
        "command -p cargo test",
        "timeout 5 ./cargo test",
        "nice rm cargo test",
        "(cargo test) > x",
        "(cargo test; rm x)",
        "if rm x; then cargo test; fi",
        "for PATH in .; do cargo test; done",
        "for path in .; do cargo test; done",
        "for x in a; do cargo test $x; done",
        "while read PATH; do cargo test; done",
        "(PATH=.; cargo test)",
        "env cargo test",
    ] {
        assert!(!allows(&cargo, command), "{command}");
    }
    assert!(!rule("write_file(cargo test)").allows_member(
        "run_command",
        &members("cargo test").members[0],
        false,
        &[]
    ));
}

#[test]
fn a_start_unlocks_what_is_refused_only_when_it_says_so() {
    let unlocks = |text: &str, command: &str| {
        rule(text).allows_member("run_command", &members(command).members[0], true, &[])
    };
    assert!(unlocks("bash(git reset --hard:*)", "git reset --hard HEAD~1"));
    assert!(unlocks("bash(rm -rf /srv/x)", "rm -rf /srv/x"));
    assert!(!unlocks("bash(git reset:*)", "git reset --hard"));
    assert!(!unlocks("bash(rm:*)", "rm -rf /srv/x"));
}

#[test]
fn a_denied_start_is_found_in_any_part() {
    let forbids = |text: &str, command: &str| rule(text).forbids("run_command", command, &members(command));
    for command in [
        "rm x",
        "ls && rm -rf x",
        "/bin/rm x",
        "r''m x",
        "\\rm x",
        "sudo rm x",
        "env A=b rm x",
        "sh -c 'rm x'",
        "echo $(rm x)",
        "ls | xargs rm",
        "find . -exec rm {} +",
        "if true; then rm x; fi",
        "eval 'rm x'",
        "A=b rm x",
        "A+=b rm x",
        "A[0]=b rm x",
        "timeout 5 rm x",
        "rm x > y",
        "bash --norc -c 'rm x'",
        "find . -exec env rm {} +",
        "env -S 'rm x'",
        "script -qc 'rm x' /dev/null",
        "alias y=rm; y x",
    ] {
        assert!(forbids("bash(rm:*)", command), "{command}");
    }
    for command in [
        "git -C . push o main",
        "git --no-pager push",
        "git -c a=b push -q",
        "git --git-dir=.git push",
        "echo push | xargs git",
        "ls | xargs git",
        "git push",
    ] {
        assert!(forbids("bash(git push:*)", command), "{command}");
    }
    for command in ["git log push", "git add push", "ls | xargs git add", "git", "echo git push"] {
        assert!(!forbids("bash(git push:*)", command), "{command}");
    }
    assert!(!forbids("bash(rm:*)", "ls rm"));
    assert!(forbids("bash(git push)", "git push") && !forbids("bash(git push)", "git push origin"));
}

#[test]
fn paths_are_globs_and_names_may_be_aliases() {
    let docs = rule("write(docs/**)");
    assert!(docs.matches_path("write_file", "docs/a/b.md"));
    assert!(!docs.matches_path("write_file", "src/a.md"));
    assert!(rule("*").matches_path("edit_file", "x"));
}

#[test]
fn what_cannot_be_read_says_what_was_expected() {
    assert!(matches!(Rule::parse("nosuch"), Err(RuleError::UnknownTool { .. })));
    assert!(matches!(Rule::parse("write_file("), Err(RuleError::Form { .. })));
    assert!(matches!(Rule::parse("write_file()"), Err(RuleError::Form { .. })));
    assert!(matches!(Rule::parse("mcp__files__read(x)"), Err(RuleError::Form { .. })));
    assert!(matches!(Rule::parse("mcp__*__read"), Err(RuleError::Form { .. })));
}

#[test]
fn foreign_tools_are_named_one_by_one_or_by_the_start_of_their_names() {
    assert!(rule("mcp__files__read").is_for_all("mcp__files__read"));
    assert!(!rule("mcp__files__read").is_for_all("mcp__files__read_all"));
    assert!(rule("mcp__files__*").is_for_all("mcp__files__read_all"));
    assert!(!rule("mcp__files__*").is_for_all("mcp__files2__read"));
    assert!(!rule("write_file").is_for_all("mcp__files__write_file"));
}

#[test]
fn a_rule_says_what_it_covers() {
    for (text, says) in [
        ("bash(cargo test:*)", "every command that begins with the words: cargo test"),
        ("bash(cargo test)", "exactly this command: cargo test"),
        ("run_command", "every command, but for those that destroy or name files that run or hold secrets"),
        ("write_file(src/**)", "write_file on every path that fits: src/**"),
        ("mcp__a__*", "every tool whose name begins with mcp__a__, whatever it is called with"),
    ] {
        assert_eq!(rule(text).meaning(), says);
    }
}
