//! The sandbox of commands.

use std::fs;

use tempfile::TempDir;

use crate::del::{Run, del, directory, plain, run};

/// Runs a command with consent. Its temporary directory is not the one that holds `files`.
fn command(files: &TempDir, command: &str, options: &[&str]) -> Run {
    let temporary = files.path().join("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let arguments = format!("{{\"command\": {command:?}}}");
    let work = files.path().join("work");
    let mut words = vec!["tools", "call", "run_command", &arguments, "--yes"];
    words.extend(options);
    run(del(&words).current_dir(work).env("TMPDIR", temporary).env("STRIPE_KEY", "sesame"), "")
}

/// Whether the kernel has a whole sandbox, by what is announced. Where it has not, `on` must say so and end.
fn whole(files: &TempDir) -> bool {
    let said = command(files, "true", &[]).err;
    let on = command(files, "true", &["--sandbox", "on"]);
    let whole = said.starts_with("del: commands are confined: they write only in ");
    if whole {
        assert_eq!(on.code, 0, "{on:#?}");
    } else {
        assert!(said.contains("confined in part") || said.contains("cannot keep commands"), "{said}");
        assert_eq!(on.code, 44, "{on:#?}");
        assert!(on.err.contains("--sandbox auto"), "{on:#?}");
        eprintln!("no whole sandbox here, its working is not tested: {said}");
    }
    whole
}

#[test]
fn commands_are_confined_as_far_as_is_said() {
    let files = directory(&[("work/a.txt", "one\n"), ("beside/b.txt", "two\n")]);
    if !whole(&files) {
        return;
    }
    let write = "echo x > ../beside/new";
    let held = command(&files, write, &[]);
    assert_eq!(held.err.lines().filter(|line| line.starts_with("del: commands are confined")).count(), 1);
    assert!(held.err.contains("they have no network"), "{held:#?}");
    assert!(held.out.contains("Failed"), "{held:#?}");
    assert!(!files.path().join("beside/new").exists());
    assert!(command(&files, "cat ../beside/b.txt > c.txt && cat c.txt", &[]).out.contains("two"));
    assert!(command(&files, "true", &["--allow-network"]).err.contains("they may use the network"));
    for options in [["--allow-dir", "../beside"], ["--sandbox", "off"]] {
        let _ = fs::remove_file(files.path().join("beside/new"));
        let got = command(&files, write, &options);
        assert!(got.out.contains("Success"), "{options:?}: {got:#?}");
        assert!(files.path().join("beside/new").exists(), "{options:?}");
    }
    assert_eq!(command(&files, "true", &["--sandbox", "off"]).err, "");
}

#[test]
fn secrets_do_not_reach_commands() {
    let files = directory(&[("work/a.txt", "")]);
    for options in [["--sandbox", "auto"], ["--sandbox", "off"]] {
        let got = command(&files, "env | sort", &options);
        assert!(got.out.contains("DEL=1") && !got.out.contains("sesame"), "{got:#?}");
    }
}

#[test]
fn secrets_of_the_home_directory_are_hidden_when_that_is_wanted() {
    let home = directory(&[
        (".ssh/id_rsa", "sesame\n"),
        (".netrc", "sesame\n"),
        (".config/x", "plain\n"),
        (".config/del/mcp.json", "sesame\n"),
        (".local/state/del/sessions/a.jsonl", "sesame\n"),
        ("backup.pem", "sesame\n"),
    ]);
    let files = directory(&[("work/a.txt", "")]);
    if !whole(&files) {
        return;
    }
    fs::create_dir(home.path().join(".config/gh")).unwrap();
    fs::write(home.path().join(".config/gh/hosts.yml"), "sesame\n").unwrap();
    std::os::unix::fs::symlink("/", home.path().join("root")).unwrap();
    std::os::unix::fs::symlink(".ssh", home.path().join("keys")).unwrap();
    let read = |command: &str, options: &[&str]| {
        let arguments = format!("{{\"command\": {command:?}}}");
        let mut words = vec!["tools", "call", "run_command", &arguments, "--yes"];
        words.extend(options);
        let temporary = files.path().join("temporary");
        let command = &mut del(&words);
        let command = command.current_dir(files.path().join("work")).env("HOME", home.path());
        run(command.env("TMPDIR", temporary), "")
    };
    let every = "cat ~/.ssh/id_rsa ~/.netrc ~/.config/gh/hosts.yml ~/keys/id_rsa ~/root$HOME/.netrc \
                 ~/.config/del/mcp.json ~/.local/state/del/sessions/a.jsonl ~/backup.pem";
    assert!(read(every, &[]).out.contains("sesame"));
    let bwrap = read("true", &["--sandbox", "bwrap"]).code == 0;
    for sandbox in ["auto", "bwrap"].into_iter().filter(|sandbox| *sandbox == "auto" || bwrap) {
        let options = ["--hide-secrets", "--sandbox", sandbox];
        let got = read(every, &options);
        assert!(got.out.contains("Failed") && !got.out.contains("sesame"), "{sandbox}: {got:#?}");
        assert!(got.err.contains(" places with keys and credentials are kept from them"), "{got:#?}");
        let got = read("cat ~/.config/x; echo more > b.txt; cat b.txt", &options);
        assert!(got.out.contains("plain\nmore"), "{sandbox}: {got:#?}");
    }
    // The working directory may be written, so nothing in it can be kept from commands.
    let got = read("true", &["--hide-secrets", "--allow-dir", home.path().to_str().unwrap()]);
    assert_eq!(got.code, 44, "{got:#?}");
    assert!(got.err.contains("cannot keep"), "{got:#?}");
}

#[test]
fn modes_and_times_outside_are_kept_or_it_is_said_that_they_are_not() {
    use std::os::unix::fs::MetadataExt;
    let files = directory(&[("work/a.txt", "one\n"), ("beside/b.txt", "two\n")]);
    if !whole(&files) {
        return;
    }
    let looks = || {
        fs::metadata(files.path().join("beside/b.txt")).map(|found| (found.mode(), found.mtime())).unwrap()
    };
    let before = looks();
    let got =
        command(&files, "chmod 777 ../beside/b.txt; touch -d 2001-01-01 ../beside/b.txt; pwd; id -u", &[]);
    if got.err.contains("modes, times and owners of files elsewhere are not kept from them") {
        assert_ne!(looks(), before, "{got:#?}");
        return;
    }
    assert_eq!(looks(), before, "{got:#?}");
    let user = fs::metadata(files.path()).unwrap().uid();
    assert!(got.out.contains(&format!("/work\n{user}")), "{got:#?}");
    let inside = "chmod 700 a.txt && touch -d 2001-01-01 a.txt && mkdir -p b/c && cd b/c && echo x > d && chmod 600 d \
                  && ls -l d ../../a.txt && touch $TMPDIR/e && chmod 600 $TMPDIR/e";
    let got = command(&files, inside, &[]);
    assert!(got.out.contains("Success") && got.out.contains("-rwx------"), "{got:#?}");
    // A program that is not there is none of the sandbox's troubles.
    assert!(command(&files, "no-such-program", &[]).out.contains("exit code 127"));
}

#[test]
fn descriptors_that_were_inherited_end_with_del() {
    let files = directory(&[("work/a.txt", ""), ("beside/b.txt", "sesame\n")]);
    let call = "{\"command\": \"cat <&7; cat /proc/self/fd/7; for f in 3 4 5 6 7 8 9; do test -e /proc/$$/fd/$f && echo open $f; done\"}";
    for options in [&["--sandbox", "auto"][..], &["--sandbox", "off"]] {
        let inner = del(&[&["tools", "call", "run_command", call, "--yes"], options].concat());
        let mut outer = std::process::Command::new("bash");
        outer.args(["-c", "exec 7< ../beside/b.txt; exec \"$@\"", "bash"]).arg(inner.get_program());
        outer.args(inner.get_args()).current_dir(files.path().join("work"));
        let got = run(&mut outer, "");
        assert!(got.out.contains("7: Bad file descriptor") || got.out.contains("Bad fd"), "{got:#?}");
        assert!(!got.out.contains("sesame") && !got.out.contains("open "), "{got:#?}");
    }
}

#[test]
fn what_does_not_run_commands_announces_nothing() {
    let files = directory(&[("a.txt", "one\n")]);
    let read = ["tools", "call", "read_file", "{\"file_path\": \"a.txt\"}"];
    assert_eq!(run(del(&read).current_dir(files.path()), "").err, "");
    plain(&["tools", "call", "read_file", "{}", "--sandbox", "perhaps"]).fails(2, "auto, on, bwrap, off");
}
