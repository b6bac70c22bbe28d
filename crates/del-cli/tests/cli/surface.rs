//! What all commands share: help, versions, completions, colour, closed pipes.

use std::process::Stdio;

use crate::del::{del, directory, plain, run};
use crate::terminal::Terminal;

#[test]
fn the_version_and_the_help_are_there() {
    assert_eq!(plain(&["--version"]).out, format!("del {}\n", env!("CARGO_PKG_VERSION")));
    let help = plain(&["--help"]).out;
    for word in [
        "parse",
        "exec",
        "render",
        "dialects",
        "tools",
        "completions",
        "doctor",
        "sessions",
        "config",
        "acp",
        "man",
        "--continue",
        "--print",
        "--base-url",
    ] {
        assert!(help.contains(word), "{word}");
    }
    plain(&["nosuch"]).fails(2, "nosuch");
    plain(&["--max-turns", "0"]).fails(2, "0 is not in 1..");
}

#[test]
fn what_cannot_be_written_is_an_error() {
    for arguments in
        [&["--help"][..], &["--version"], &["parse", "--help"], &["dialects"], &["completions", "bash"]]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let ended = del(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("no space left on device"), "{arguments:?}: {said}");
    }
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let got = plain(&["completions", shell]);
        assert_eq!(got.code, 0, "{shell}");
        for word in ["dialects", "sessions", "doctor", "config"] {
            assert!(got.out.contains(word), "{shell}: {word}");
        }
    }
    plain(&["completions", "nosuch"]).fails(2, "nosuch");
}

#[test]
fn colour_is_as_the_environment_and_the_option_say() {
    let coloured = |got: crate::del::Run| got.out.contains('\u{1b}');
    assert!(!coloured(plain(&["dialects"])));
    assert!(coloured(plain(&["dialects", "--color", "always"])));
    assert!(coloured(run(del(&["dialects"]).env("CLICOLOR_FORCE", "1"), "")));
    assert!(!coloured(run(del(&["dialects"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"), "")));
    assert!(!coloured(run(del(&["dialects", "--color", "never"]).env("CLICOLOR_FORCE", "1"), "")));
    assert!(plain(&["dialects", "show", "nosuch", "--color", "always"]).err.contains("\u{1b}[31m"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["dialects", "--json"][..], &["completions", "bash"], &["parse", "--jsonl"]] {
        let mut child = del(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        // Either side may notice first.
        let _ = std::io::Write::write_all(&mut stdin, "{\"text\": \"x\"}\n".repeat(10_000).as_bytes());
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn usage_errors_break_between_words() {
    let place = directory(&[]);
    for (words, said) in [
        (&["detec", "a"][..], "a question of several words stands in quotes"),
        (&["--approval-mode", "foo"], "for '--approval-mode <MODE>'"),
        (&["-p", "hi", "--max-turns", "many"], "invalid digit found in string"),
        (&["-p", "one", "two"], "put it in quotes"),
    ] {
        let (seen, code) = Terminal::with(&place, words, 40, &[("NO_COLOR", "1")]).end();
        assert_eq!(code, 2, "{seen}");
        assert!(seen.lines().all(|line| line.chars().count() <= 40), "{seen}");
        let together: Vec<&str> = seen.split_whitespace().collect();
        assert!(together.join(" ").contains(said), "{seen}");
    }
}
