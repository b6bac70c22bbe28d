//! What the judge reads, bash reads the same way.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bash;
mod desk;

use std::path::{Path, PathBuf};

use del_judge::{Ground, Judge, Verdict};
use desk::Desk;
use proptest::prelude::*;

thread_local! {
    /// One for each test, as what is static is never removed.
    static DESK: Desk = Desk::hostile();
}

fn work() -> PathBuf {
    DESK.with(Desk::work)
}

/// Pieces of commands, the ones that confuse readers among them.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "ls",
        "cat",
        "echo",
        "a",
        "b c",
        " ",
        " ",
        " ",
        " ",
        "\t",
        "'",
        "\"",
        "\\",
        "\\\n",
        "\n",
        "$",
        "\"$\"",
        "'a b'",
        "\"a b\"",
        "''",
        "\"\"",
        "*",
        "?",
        "[",
        "]",
        "{",
        "}",
        "{}",
        "{a}",
        "~",
        "=",
        "A=b",
        "LC_ALL=C ",
        ":",
        "#",
        " #",
        "!",
        "^",
        "%",
        "@",
        "-n",
        "--",
        "-",
        ";",
        "&&",
        "||",
        "|",
        "&",
        ">",
        "<",
        "{a,b}",
        "{1..3}",
        "{a,",
        ",b}",
        "[a-z]",
        "[!",
        "${x}",
        "$x",
        "$(ls)",
        "$(",
        "`ls`",
        "$((1+1))",
        "for x in a b; do ls $x; done",
        "for x in ",
        "; do ",
        "; done",
        "if ls; then ls; fi",
        "then ",
        "fi",
        "x=1; ",
        "[[ -f a ]]",
        "[[ ",
        " ]]",
        "{ ls; }",
        "<<E\na\nE\n",
        "<<'E'\n$x\nE\n",
        "time ",
        "2>/dev/null",
        "2>&1",
        ">/dev/null",
        "&>/dev/null",
        " 2",
        "1",
        "<<< x",
        "(",
        ")",
        "`",
        "é",
        "→",
        "\\$",
        "\\\"",
        "\"\\$\"",
        "\"\\a\"",
        "\\\\",
        "'\\'",
        "\"'\"",
        "'\"'",
        ",",
        "..",
        "/",
        ".",
        "$|",
        "\"$ \"",
        "\"a$\"",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_text_that_is_read_exactly_is_read_as_by_bash(pieces in prop::collection::vec(piece(), 1..12)) {
        bash::hold(&format!("ls {}", pieces.concat()), &work());
    }

    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,60}") {
        let judge = Judge::default();
        let _ = judge.judge(&text, &Ground::new(&work()));
    }
}

#[test]
fn quotes_make_words_of_signs() {
    for command in [
        "ls 2>/dev/null",
        "ls 2''>/dev/null",
        "ls ''2>/dev/null",
        "ls \\2>/dev/null",
        "ls 2\\\n>/dev/null",
        "for x in a b; do ls $x; done''",
        "if ls; then ls; fi\"\"",
        "[[ -f a ]]''",
        "!'' ls",
        "{'' ls; }",
        "ls | in",
    ] {
        bash::hold(command, &work());
    }
}

#[test]
fn the_corpus_is_read_as_by_bash() {
    #[derive(serde::Deserialize)]
    struct Class {
        commands: Vec<String>,
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/everyday");
    for entry in std::fs::read_dir(root).unwrap() {
        let class: Class = toml::from_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
        for command in class.commands {
            bash::hold(&command, &work());
        }
    }
}

#[test]
fn wildcards_become_what_bash_makes_of_them() {
    let desk = Desk::plain();
    let judge = Judge::default();
    let ground = Ground::new(&desk.work());
    for words in [
        "*",
        "*.md",
        "src/*",
        "src/*.rs",
        "s*/*.rs",
        "*/*",
        "./*.md",
        "*/",
        "nosuch*",
        "'*'.md",
        "d*.???",
        "*a*",
        "????",
        "src//*",
        "./src/./*",
        "\\*.md",
        "*.m\"d\"",
        "**",
        "**/*.rs",
        "src/main.r?",
        "a* nosuch* '*' b",
        "*.rs src/*.rs",
        "README.*",
        "*/main.rs",
        "*.{md}",
        "*.{md,toml}",
        "src/{main,lib}.rs",
        "{a,b}{c,d}",
        "{1..5} {5..1} {a..e}",
        "{a,} x{,y} ''{,a} {,} \"\"{,} {,b}'' {,}\"\"",
        "[A-Z]*",
        "[!a-z]*",
        "src/[lm]*.rs",
        "[a-c]*.[a-z][a-z]*",
        ".g*",
        "$((1 + 2 * 3)) $((7 / 2)) $((2*(3+4)%5))",
        "${PWD}/src",
        "\"$PWD\"/{a,b}",
    ] {
        let command = format!("echo {words}");
        let judgement = judge.judge(&command, &ground);
        assert_eq!(judgement.verdict, Verdict::Safe, "{command}: {:?}", judgement.reasons);
        let own = bash::run(judgement.plan.as_ref().unwrap()).unwrap();
        assert_eq!(bash::quoted(&own), bash::shown(&command, &desk.work(), &[]), "{command}");
    }
}

#[test]
fn the_cost_is_linear_and_bounded() {
    let judge = Judge::default();
    let ground = Ground::new(&work());
    for unit in [
        "ls ",
        "ls;",
        "(",
        "$(",
        "`",
        "'",
        "\"$(",
        "{",
        "*",
        "*/",
        "?*",
        "\\\n",
        "a=",
        "<<E\n",
        ">",
        "|",
        "sh -c '",
        "sudo ",
        "xargs ",
        "env ",
        "{1..200}",
        "$(ls ",
        "for x in {1..200}; do ",
        "ls | while read a; do ",
        "ls | xargs echo {1..9}* | ",
        "if ls; then ",
        "x=$(ls); ",
        "[[ -f a ]] && ",
        "<<E ",
        "[a-z]*",
        "xargs parallel ",
        "env eval ",
    ] {
        for length in [1_000, 16_000, 200_000] {
            let _ = judge.judge(&unit.repeat(length / unit.len()), &ground);
        }
    }
}
