//! What the kernel keeps commands from. Where it has no sandbox, what is announced is checked instead.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use del_tools::{Answer, Approval, Cancel, Confinement, Control, Gate, Level, Loan, Need, Verdict};
use serde_json::json;

use crate::consent::User;
use crate::desk::Desk;

/// A desk whose commands may write in the project and in `temporary` beside it. `None` where the kernel holds less than
/// a whole sandbox; then it has been checked that this is said, and acted upon.
pub(crate) fn confined(network: bool) -> Option<Desk> {
    let mut desk = Desk::new();
    let temporary = desk.work().with_file_name("temporary");
    fs::create_dir(&temporary).unwrap();
    let confinement = Confinement { network, writable: vec![temporary], ..Confinement::default() };
    desk.toolbox.confine(&confinement).unwrap();
    let said = desk.toolbox.sandbox().to_string();
    match desk.toolbox.sandbox().level() {
        Level::Full => {
            assert!(said.starts_with("commands are confined: they write only in "), "{said}");
            return Some(desk);
        }
        Level::Partial => assert!(said.starts_with("commands are confined in part"), "{said}"),
        Level::None => {
            assert!(said.starts_with("this system cannot keep commands from writing anywhere"), "{said}");
            let plan = desk.toolbox.plan("run_command", r#"{"command": "ls"}"#).unwrap();
            assert_eq!(Gate::new(Approval::Ask).verdict(&plan), Verdict::Ask);
        }
        Level::Off => unreachable!("a sandbox was asked for"),
    }
    eprintln!("no whole sandbox here, its working is not tested: {said}");
    let refused = desk.toolbox.confine(&Confinement { need: Need::On, ..confinement }).unwrap_err();
    assert!(refused.to_string().contains("--sandbox"), "{refused}");
    None
}

pub(crate) fn run(desk: &Desk, command: &str) -> String {
    desk.call("run_command", &json!({"command": command})).text
}

#[test]
fn nothing_is_written_outside() {
    let Some(desk) = confined(false) else { return };
    let outside = desk.outside();
    for command in [
        "echo x > ../outside/new",
        "echo x >> ../outside/secret.txt",
        ": > ../outside/secret.txt",
        "truncate -s 0 ../outside/secret.txt",
        "rm ../outside/secret.txt",
        "mv ../outside/secret.txt taken.txt",
        "ln ../outside/secret.txt hard.txt && echo x > hard.txt",
        "ln -s ../outside link; echo x > link/new",
        "mkdir ../outside/new",
        "sh -c 'sh -c \"echo x > ../outside/new\"'",
        "setsid sh -c 'echo x > ../outside/new'",
        "(echo x > ../outside/new) & wait",
        "cd .. && mv project other",
    ] {
        run(&desk, command);
        assert!(!outside.join("new").exists(), "{command}");
        assert_eq!(fs::read_to_string(outside.join("secret.txt")).unwrap(), "secret\n", "{command}");
        assert!(desk.work().is_dir(), "{command}");
    }
}

#[test]
fn the_project_and_the_temporary_directory_are_written_and_the_rest_is_read() {
    let Some(desk) = confined(false) else { return };
    let command = "cat ../outside/secret.txt > copy.txt; mkdir -p a b; echo y > a/f; mv a/f b/f; \
                   echo z > ../temporary/t; echo gone > /dev/null; cat b/f ../temporary/t; echo no >&2; exit 3";
    let text = run(&desk, command);
    assert!(text.starts_with("Failed (exit code 3"), "{text}");
    assert!(text.contains("STDOUT:\ny\nz") && text.contains("STDERR:\nno"), "{text}");
    assert_eq!(desk.get("copy.txt"), "secret\n");
}

#[test]
fn a_command_that_the_sandbox_stopped_says_so_and_no_other_one_does() {
    let Some(desk) = confined(false) else { return };
    let text = run(&desk, "echo x > ../outside/new");
    let places = desk.toolbox.tools().iter().find(|tool| tool.name == "run_command").unwrap();
    let root = desk.toolbox.directory().display().to_string();
    assert!(
        text.contains("[the sandbox may have been in the way: ") && text.contains("--allow-dir"),
        "{text}"
    );
    assert!(text.contains(&root) && places.description.contains(&root), "{text} {}", places.description);
    assert!(places.description.contains("have no network"), "{}", places.description);
    for other in ["echo Permission denied", "echo no such thing; exit 3"] {
        let text = run(&desk, other);
        assert!(!text.contains("[the sandbox"), "{text}");
    }
}

#[test]
fn a_command_in_the_background_that_the_sandbox_stopped_says_so() {
    let Some(mut desk) = confined(false) else { return };
    desk.toolbox.let_jobs();
    run(&desk, "sleep 0.1; echo x > ../outside/new &");
    let jobs = desk.toolbox.jobs().unwrap();
    jobs.wait(1, Duration::from_secs(60), &Cancel::new());
    let state = jobs.get(1).unwrap();
    assert!(state.remark.is_some_and(|remark| remark.contains("--allow-dir")), "{:?}", jobs.get(1));
}

#[test]
fn there_is_no_network_unless_it_is_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected'");
    if let Some(desk) = confined(false) {
        for command in [connect.clone(), format!("sh -c \"{connect}\"")] {
            let text = run(&desk, &command);
            assert!(text.starts_with("Failed") && !text.contains("STDOUT:\nconnected"), "{text}");
            assert!(
                text.contains("[the sandbox may have been in the way: commands have no network"),
                "{text}"
            );
        }
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "somebody came through");
    }
    if let Some(desk) = confined(true) {
        let text = run(&desk, &connect);
        assert!(text.contains("STDOUT:\nconnected"), "{text}");
    }
}

#[test]
fn the_network_is_given_to_one_command_whose_question_says_what_that_means() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect =
        json!({"command": format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected'")});
    let Some(desk) = confined(false) else { return };
    let mut gate = Gate::new(Approval::Ask);
    let mut run = |answers: &[Answer]| {
        let mut user = User::saying(answers.to_vec());
        let plan = desk.toolbox.plan("run_command", &connect.to_string()).unwrap();
        let settled = gate.settle(&desk.toolbox, plan, Some(&mut user));
        let text = settled.map(|plan| desk.toolbox.run(plan, &Control::default()).text);
        (text.unwrap_or_else(|denied| denied.to_string()), user.asked)
    };
    let (text, asked) = run(&[Answer::Network, Answer::Yes]);
    assert!(text.contains("STDOUT:\nconnected"), "{text}");
    assert!(text.contains("[the user let this command use the network]"), "{text}");
    assert!(!asked[0].contains("it can send away all that it can read"), "{asked:#?}");
    assert!(asked[1].contains("it can send away all that it can read"), "{asked:#?}");
    // One yes is not enough, and neither is the same answer again.
    let (text, _) = run(&[Answer::Network, Answer::Network, Answer::No { reason: None }]);
    assert!(text.contains("the user said no"), "{text}");
    // It was for that once, also where the yes was for good.
    run(&[Answer::Network, Answer::Always]);
    let (text, asked) = run(&[Answer::Yes]);
    assert!(text.starts_with("Failed") && text.contains("the user's word to one that asks"), "{text}");
    assert_eq!(asked.len(), 1);
}

#[test]
fn where_commands_have_the_network_or_only_read_it_is_not_offered() {
    let loan = |desk: &Desk, command: &str| {
        let plan = desk.toolbox.plan("run_command", &json!({"command": command}).to_string()).unwrap();
        plan.question().loan.clone()
    };
    if let Some(desk) = confined(false) {
        assert!(matches!(loan(&desk, "make"), Loan::Possible(_)));
        assert_eq!(loan(&desk, "ls"), Loan::None);
    }
    if let Some(desk) = confined(true) {
        assert_eq!(loan(&desk, "make"), Loan::None);
    }
}

#[test]
fn with_the_network_a_command_writes_no_further() {
    let Some(desk) = confined(false) else { return };
    let write = json!({"command": "echo x > ../outside/new"}).to_string();
    let plan = desk.toolbox.plan("run_command", &write).unwrap();
    let mut user = User::saying([Answer::Network, Answer::Yes]);
    let plan = Gate::new(Approval::Ask).settle(&desk.toolbox, plan, Some(&mut user)).unwrap();
    let text = desk.toolbox.run(plan, &Control::default()).text;
    assert!(text.starts_with("Failed") && !desk.outside().join("new").exists(), "{text}");
}

#[test]
fn other_processes_are_out_of_reach() {
    let Some(desk) = confined(false) else { return };
    let me = std::process::id();
    let text = run(&desk, &format!("cat /proc/{me}/environ"));
    assert!(text.starts_with("Failed") && !text.contains("STDOUT"), "{text}");
    // The kernel knows rings by one number on every processor. Unfiltered, these arguments are invalid.
    let text =
        run(&desk, "perl -MErrno -e 'syscall(425, 0, 0); print $!{EPERM} ? \"refused\" : \"let through\"'");
    assert!(text.contains("STDOUT:\nrefused"), "{text}");
}

#[test]
fn safe_commands_are_held_as_well_and_run() {
    let Some(desk) = confined(false) else { return };
    desk.put("a.txt", "one\ntwo\n");
    let plan = desk.toolbox.plan("run_command", r#"{"command": "cat a.txt | wc -l"}"#).unwrap();
    assert_eq!(Gate::new(Approval::Ask).verdict(&plan), Verdict::Run);
    assert!(run(&desk, "cat a.txt | wc -l").contains("STDOUT:\n2"));
    // Nothing gains rights by a program's owner, which holds from the moment at which a command starts.
    desk.put("status", "");
    assert!(run(&desk, "grep NoNewPrivs /proc/self/status; ulimit -c").contains("NoNewPrivs:\t1\n0"));
}

#[test]
fn a_directory_that_takes_the_name_of_another_gains_nothing() {
    let Some(desk) = confined(false) else { return };
    let temporary = desk.work().with_file_name("temporary");
    fs::rename(&temporary, temporary.with_file_name("was")).unwrap();
    std::os::unix::fs::symlink(desk.outside(), &temporary).unwrap();
    run(&desk, "echo x > ../temporary/new");
    assert!(!desk.outside().join("new").exists());
}

#[test]
fn without_a_sandbox_nothing_is_held() {
    let mut desk = Desk::new();
    assert_eq!(desk.toolbox.sandbox().level(), Level::Off);
    desk.toolbox.confine(&Confinement { need: Need::Off, ..Confinement::default() }).unwrap();
    assert_eq!(desk.toolbox.sandbox().level(), Level::Off);
    run(&desk, "echo x > ../outside/new");
    assert!(desk.outside().join("new").exists());
}

/// What a hostile command leaves running is known by a name of its own.
fn runs(name: &str) -> usize {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let dead = fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| stat.contains(") Z "));
            !dead && String::from_utf8_lossy(&command).contains(name)
        })
        .count()
}

fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn whatever_a_command_does_it_ends_with_all_that_it_started() {
    let Some(desk) = confined(false) else { return };
    for (place, command) in [
        "(setsid sh -c 'trap \"\" TERM; sleep NAME; :' &) ; sleep NAME",
        "setsid setsid sh -c '(sleep NAME &) ; sleep NAME' & sleep NAME",
        "trap '' TERM; while :; do sleep NAME; done",
        "(trap '' TERM HUP; sleep NAME) & (trap '' TERM; sleep NAME) | cat",
        "yes NAME",
        "cat /dev/zero; sleep NAME",
        "perl -e 'for (1..200) { last unless defined(my $p = fork); unless ($p) { sleep NAME } } sleep NAME'",
        "perl -e 'setpgrp; fork; fork; sleep NAME'",
        "env -i setsid -f sleep NAME; env -i setsid -f setsid -f sleep NAME; sleep NAME",
        "perl -e '$0 = q(x); my @x; while (1) { push @x, q(a) x 100_000; select undef, undef, undef, 0.01 }'; sleep NAME",
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("{}.{place}", 70_000 + std::process::id());
        let call = json!({"command": command.replace("NAME", &name), "timeout": 1});
        let started = std::time::Instant::now();
        let result = desk.call("run_command", &call);
        // Two seconds for what does not end when it is asked to, and one to look.
        assert!(started.elapsed().as_secs() < 60, "{command}");
        assert!(result.text.starts_with("Error: command timed out after 1 s"), "{command}: {}", result.text);
        assert_eq!(runs(&name), 0, "{command}");
    }
    assert!(memory() < 400_000, "{} kB", memory());
}

#[test]
fn the_doors_of_the_kernel_are_closed() {
    let Some(desk) = confined(false) else { return };
    let listener = std::os::unix::net::UnixListener::bind(desk.work().join("socket")).unwrap();
    listener.set_nonblocking(true).unwrap();
    for (name, code) in [
        ("TCP", "socket(S, 2, 1, 0)"),
        ("UDP", "socket(S, 2, 2, 0)"),
        ("local", "socket(S, 1, 1, 0)"),
        ("netlink", "socket(S, 16, 3, 0)"),
        ("raw", "socket(S, 17, 3, 0)"),
        ("io_uring", "syscall(425, 1, 0) >= 0"),
        ("keyctl", "syscall(N(250, 219), 0, 0) >= 0"),
        ("bpf", "syscall(N(321, 280), 0, 0, 0) >= 0"),
        ("userfaultfd", "syscall(N(323, 282), 0) >= 0"),
        ("ptrace", "syscall(N(101, 117), 0, 0, 0, 0) >= 0"),
        ("perf", "syscall(N(298, 241), 0, 0, 0, 0, 0) >= 0"),
        ("mount", "syscall(N(165, 40), 'none', '.', 'tmpfs', 0, 0) >= 0"),
        (
            "unshare",
            "syscall(N(272, 97), 0x10020000) >= 0 && syscall(N(165, 40), 'none', '.', 'tmpfs', 0, 0) >= 0",
        ),
        ("chroot", "chroot('.')"),
    ] {
        // The numbers are those of x86-64 and of ARM.
        let program = format!(
            "sub N {{ `uname -m` =~ /x86_64/ ? $_[0] : $_[1] }} print((eval {{ {code} }}) ? 'open' : 'closed')"
        );
        let text = run(&desk, &format!("perl -e \"{}\"", program.replace('$', "\\$").replace('`', "\\`")));
        assert!(text.contains("STDOUT:\nclosed"), "{name}: {text}");
    }
    assert!(listener.accept().is_err(), "somebody came through");
}

/// A desk whose commands bwrap confines, where it can.
pub(crate) fn bubbled(network: bool) -> Option<Desk> {
    let mut desk = Desk::new();
    let temporary = desk.work().with_file_name("temporary");
    fs::create_dir(&temporary).unwrap();
    let confinement =
        Confinement { need: Need::Bwrap, network, writable: vec![temporary], ..Confinement::default() };
    match desk.toolbox.confine(&confinement) {
        Ok(()) => {
            let said = desk.toolbox.sandbox().to_string();
            assert!(said.contains("(bubblewrap, seccomp)"), "{said}");
            Some(desk)
        }
        Err(error) => {
            assert!(error.to_string().contains("bwrap"), "{error}");
            eprintln!("bwrap makes no sandbox here, its working is not tested: {error}");
            None
        }
    }
}

#[test]
fn bwrap_confines_as_the_kernel_does() {
    let Some(desk) = bubbled(false) else { return };
    let outside = desk.outside();
    for command in [
        "echo x > ../outside/new",
        "rm ../outside/secret.txt",
        "ln -s ../outside link; echo x > link/new",
        "setsid sh -c 'echo x > ../outside/new'",
        "mv ../outside/secret.txt taken.txt",
    ] {
        run(&desk, command);
        assert!(!outside.join("new").exists(), "{command}");
        assert_eq!(fs::read_to_string(outside.join("secret.txt")).unwrap(), "secret\n", "{command}");
    }
    let text =
        run(&desk, "echo y > f; echo z > ../temporary/t; cat f ../temporary/t ../outside/secret.txt; exit 3");
    assert!(text.starts_with("Failed (exit code 3") && text.contains("STDOUT:\ny\nz\nsecret"), "{text}");
    assert!(run(&desk, "cat f | wc -l").contains("STDOUT:\n1"));
    let text = run(&desk, "perl -e 'print socket(S, 1, 1, 0) ? q(open) : q(closed)'");
    assert!(text.contains("STDOUT:\nclosed"), "{text}");
    let name = format!("{}.7", 60_000 + std::process::id());
    let command = format!("env -i setsid -f sh -c 'trap \"\" TERM; sleep {name}; :'; sleep {name}");
    let result = desk.call("run_command", &json!({"command": command, "timeout": 1}));
    assert!(result.text.starts_with("Error: command timed out after 1 s"), "{}", result.text);
    assert_eq!(runs(&name), 0);
}

#[test]
fn bwrap_lets_the_network_through_when_it_is_allowed() {
    let Some(desk) = bubbled(true) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let text = run(&desk, &format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected'"));
    assert!(text.contains("STDOUT:\nconnected"), "{text}");
}

#[test]
fn safe_commands_cannot_be_led_outside_while_they_run() {
    let desks = [confined(false), bubbled(false)];
    for desk in desks.into_iter().flatten() {
        for command in ["sleep 2; cat a/secret.txt", "sleep 2; cat < a/secret.txt", "sleep 2; grep -r . a"] {
            desk.put("a/secret.txt", "mine\n");
            let plan = desk.toolbox.plan("run_command", &json!({"command": command}).to_string()).unwrap();
            assert_eq!(Gate::new(Approval::Ask).verdict(&plan), Verdict::Run, "{command}");
            let text = std::thread::scope(|scope| {
                let called = scope.spawn(|| run(&desk, command));
                // Whenever this comes, nothing outside may be read.
                std::thread::sleep(Duration::from_millis(700));
                fs::rename(desk.work().join("a"), desk.work().join("was")).unwrap();
                std::os::unix::fs::symlink(desk.outside(), desk.work().join("a")).unwrap();
                called.join().unwrap()
            });
            assert!(!text.contains("secret\n") && !text.ends_with("secret"), "{command}: {text}");
            fs::remove_file(desk.work().join("a")).unwrap();
            fs::remove_dir_all(desk.work().join("was")).unwrap();
        }
    }
}

#[test]
fn safe_commands_write_nothing_and_have_temporary_files() {
    let desks = [confined(false), bubbled(false)];
    for desk in desks.into_iter().flatten() {
        desk.put("a.txt", "one\ntwo\n");
        run(&desk, "git init -q . && git add a.txt");
        desk.put("a.txt", "one\ntwo\n");
        let index = || fs::read(desk.work().join(".git/index")).unwrap();
        let before = index();
        let text = run(&desk, "git diff --stat; git status --short");
        assert!(text.contains("A  a.txt"), "{text}");
        assert_eq!(index(), before);
        assert!(run(&desk, "cat a.txt | tac").contains("STDOUT:\ntwo\none"));
        assert!(run(&desk, "sort -S 1K a.txt || sort a.txt").contains("one\ntwo"));
    }
}

#[test]
fn what_searches_and_compares_shows_no_secrets() {
    let Some(desk) = confined(false) else { return };
    let names =
        [".env", "sub/.env.local", "sub/deep/server.pem", "id_rsa", ".aws/credentials", "prod.env", "X.PEM"];
    for name in names {
        desk.put(name, "KEY=sesame\n");
    }
    // An object of git without an end of line may be printed before it.
    desk.put("a.txt", "\nKEY here\n");
    run(&desk, "git init -q . && git add -A . && git -c user.name=x -c user.email=x@y commit -qm first");
    for name in names {
        desk.put(name, "KEY=sesame changed\n");
    }
    desk.put("a.txt", "\nKEY there\n");
    for command in [
        "grep -rn KEY .",
        "grep -r KEY . --include='*'",
        "rg -uuu KEY",
        "rg KEY -uu -g '*' --iglob '**'",
        "git grep -n KEY",
        "git diff",
        "git log -p",
        "git show HEAD",
        "find . -type f | xargs cat",
        "find . -type f -exec grep KEY {} +",
        "for f in $(git ls-files); do cat $f; done",
    ] {
        let plan = desk.toolbox.plan("run_command", &json!({"command": command}).to_string()).unwrap();
        assert_eq!(Gate::new(Approval::Ask).verdict(&plan), Verdict::Run, "{command}");
        let text = run(&desk, command);
        // A loop whose words hold a secret does not run at all, and not every system has rg.
        let runs = !command.starts_with("for ") && !command.starts_with("rg ");
        assert!(!text.contains("sesame") && (!runs || text.contains("KEY ")), "{command}: {text}");
    }
    for operation in ["diff", "log"] {
        let text = desk.ok("git_operation", &json!({"operation": operation}));
        assert!(!text.contains("sesame"), "{text}");
    }
}
