use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use del_tools::{Cancel, Control, Progress};
use serde_json::json;

use crate::desk::Desk;

/// Longer than anything here may take; it only keeps a broken test from hanging for ever.
const FAR: Duration = Duration::from_secs(60);

/// Waits until the process is gone or a zombie.
fn ends(pid: &str) -> bool {
    let start = Instant::now();
    while start.elapsed() < FAR {
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if !Path::new(&format!("/proc/{pid}")).exists() || state.contains(") Z ") {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn a_command_that_takes_too_long_ends_with_all_its_children() {
    let desk = Desk::new();
    let command = "echo started; sleep 1000 & echo $! > child; (trap '' TERM; sh -c 'trap \"\" TERM; sleep 1000') & echo $! > stubborn; wait";
    let text = desk.fails("run_command", &json!({"command": command, "timeout": 1}), "timeout");
    assert!(
        text.starts_with(
            "Error: command timed out after 1 s and was killed (process group). Partial output:"
        ),
        "{text}"
    );
    assert!(text.contains("STDOUT:\nstarted") && text.ends_with("or run it in the background."), "{text}");
    for name in ["child", "stubborn"] {
        assert!(ends(desk.get(name).trim()), "{name} still runs");
    }
}

#[test]
fn a_grandchild_that_holds_the_output_does_not_hold_the_result() {
    let desk = Desk::new();
    let result = desk
        .call("run_command", &json!({"command": "sleep 1000 & echo $! > pid; echo done", "timeout": 100}));
    let pid = desk.get("pid").trim().to_owned();
    assert!(result.ok && result.text.contains("STDOUT:\ndone"), "{}", result.text);
    assert!(
        result.text.ends_with(&format!("[background processes still running: {pid}]")),
        "{}",
        result.text
    );
    assert!(Path::new(&format!("/proc/{pid}")).exists());
    drop(desk);
    assert!(ends(&pid), "it outlives the toolbox");
}

#[test]
fn a_background_process_with_output_of_its_own_is_reported_too() {
    let desk = Desk::new();
    let text = desk.ok("run_command", &json!({"command": "sleep 1000 > log 2>&1 & echo $! > pid"}));
    assert!(
        text.contains(&format!("[background processes still running: {}]", desk.get("pid").trim())),
        "{text}"
    );
}

#[test]
fn a_hundred_megabytes_of_output_are_bounded() {
    let desk = Desk::new();
    let command = "head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo the end; echo problem >&2";
    let result = desk.call("run_command", &json!({"command": command}));
    assert!(result.ok && result.truncated);
    let text = &result.text;
    assert!(text.chars().count() < 31_000, "{}", text.len());
    assert!(
        text.contains("STDOUT:\nxxx") && text.contains("the end\n\nSTDERR:\nproblem"),
        "{}",
        &text[text.len() - 200..]
    );
    let file = result.full_output.clone().unwrap();
    assert!(text.contains(&format!(
        "first 67.1 MB: {} — use read_file with offset/limit or search_code] ...",
        file.display()
    )));
    assert_eq!(fs::metadata(&file).unwrap().len(), 64 << 20);
    let part = desk.ok("read_file", &json!({"path": file, "offset": 3, "limit": 1}));
    assert!(part.starts_with(&format!("     3\t{}\n", "x".repeat(99))), "{part}");
    desk.fails("write_file", &json!({"path": file, "content": "x"}), "outside");
    drop(desk);
    assert!(!file.exists(), "the file goes with the toolbox");
}

#[test]
fn long_output_shows_its_ends_and_keeps_the_whole() {
    let desk = Desk::new();
    let result = desk.call("run_command", &json!({"command": "seq 1 20000"}));
    let text = &result.text;
    assert!(text.contains("STDOUT:\n1\n2\n3\n") && text.contains("\n19999\n20000"), "{text}");
    assert!(text.contains(" lines, ") && text.contains(" bytes omitted; full output: "), "{text}");
    let (head, tail) = text.split_once("... [").unwrap();
    assert!(head.len() < 11_000 && tail.len() < 21_000 && tail.len() > 19_000);
    let whole = fs::read_to_string(result.full_output.unwrap()).unwrap();
    assert_eq!(whole, (1..=20_000).map(|n| n.to_string() + "\n").collect::<String>());
}

#[test]
fn errors_are_shown_even_beside_much_output() {
    let desk = Desk::new();
    let text = desk.ok(
        "run_command",
        &json!({"command": "yes out | head -n 50000; yes err | head -n 50000 >&2; echo last >&2"}),
    );
    assert!(
        text.contains("STDERR:\nerr\n") && text.ends_with("\nerr\nlast"),
        "{}",
        &text[text.len() - 200..]
    );
    assert!(text.chars().count() < 31_000);
}

#[test]
fn a_cancelled_command_ends_at_once_with_its_children() {
    let desk = Desk::new();
    let cancel = Cancel::new();
    let control = Control::new(cancel.clone()).with_progress(|progress| {
        // The command says when it has started.
        if matches!(progress, Progress::Output(text) if text.contains("go")) {
            cancel.cancel();
        }
    });
    let command = json!({"command": "sleep 1000 & echo $! > pid; echo go; wait", "timeout": 600});
    let start = Instant::now();
    let result = desk.watched("run_command", &command, &control);
    assert_eq!(result.text, "Error: cancelled by the user. Partial output:\n\nSTDOUT:\ngo");
    assert!(start.elapsed() < FAR);
    assert!(ends(desk.get("pid").trim()));
}

#[test]
fn output_is_reported_as_it_comes() {
    let desk = Desk::new();
    let seen = Mutex::new(String::new());
    let control = Control::default().with_progress(|progress| {
        if let Progress::Output(text) = progress {
            seen.lock().unwrap().push_str(text);
        }
    });
    desk.watched("run_command", &json!({"command": "echo one; printf '\\033[1mtwo\\033[0m\\n'"}), &control);
    drop(control);
    assert_eq!(seen.into_inner().unwrap(), "one\ntwo\n");
}

#[test]
fn a_command_has_a_session_of_its_own_and_no_terminal() {
    let desk = Desk::new();
    let text = desk.ok("run_command", &json!({"command": "cut -d' ' -f6 /proc/$$/stat; echo $$; (: < /dev/tty) 2>/dev/null || echo no terminal"}));
    let lines: Vec<_> = text.lines().skip(3).collect();
    assert_eq!(lines[0], lines[1], "it leads its session");
    assert_eq!(lines[2], "no terminal");
}

/// The environment belongs to the whole process, so the test runs itself again with a secret in it.
#[test]
fn secrets_do_not_reach_commands() {
    const NAME: &str = "DEL_TEST_API_KEY";
    if std::env::var_os(NAME).is_none() {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again
            .args(["--exact", "commands::secrets_do_not_reach_commands"])
            .env(NAME, "hidden")
            .env("PLAIN", "seen");
        let output = again.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let desk = Desk::new();
    let command = json!({"command": "echo $PAGER $GIT_TERMINAL_PROMPT $TERM $NO_COLOR $DEL $PLAIN; env | grep -i api_key"});
    let text = desk.ok("run_command", &command);
    assert!(text.ends_with("STDOUT:\ncat 0 dumb 1 1 seen"), "{text}");
}

#[test]
fn the_working_directory_is_where_it_was_said_to_be() {
    let desk = Desk::new();
    desk.put("sub/a.txt", "");
    let sub = fs::canonicalize(desk.path("sub")).unwrap();
    let text =
        desk.ok("run_command", &json!({"command": "pwd; pwd -P; echo $PWD", "working_directory": "sub"}));
    assert!(text.ends_with(&format!("STDOUT:\n{0}\n{0}\n{0}", sub.display())), "{text}");
}

#[test]
fn a_directory_that_is_not_there_any_more_is_said() {
    for (command, says) in [("touch x", "Error: cannot start "), ("ls", "Error: cannot run the command")] {
        let desk = Desk::new();
        fs::create_dir(desk.path("gone")).unwrap();
        let call = json!({"command": command, "cwd": "gone"}).to_string();
        let plan = desk.toolbox.plan("run_command", &call).unwrap();
        fs::remove_dir(desk.path("gone")).unwrap();
        let result = desk.toolbox.run(plan, &Control::default());
        assert!(!result.ok && result.text.starts_with(says), "{}", result.text);
    }
}
