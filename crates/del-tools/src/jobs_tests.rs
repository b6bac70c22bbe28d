use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::control::{Cancel, Control};
use crate::plan::Plan;
use crate::policy::{Approval, Gate, Verdict};
use crate::registry::Toolset;
use crate::toolbox::Toolbox;

const LONG: Duration = Duration::from_secs(60);

fn toolbox() -> (TempDir, Toolbox) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "a\n").unwrap();
    let mut toolbox = Toolbox::open(folder.path(), &[], Toolset::Core).unwrap();
    toolbox.let_jobs();
    (folder, toolbox)
}

fn plan(toolbox: &Toolbox, command: &str) -> Plan {
    toolbox.plan("run_command", &json!({"command": command}).to_string()).unwrap()
}

fn start(toolbox: &Toolbox, command: &str) {
    let result = toolbox.run(plan(toolbox, command), &Control::default());
    assert!(result.ok && result.text.contains("in the background as job"), "{}", result.text);
}

fn until(what: impl Fn() -> bool) {
    let since = Instant::now();
    while !what() {
        assert!(since.elapsed() < LONG, "it does not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_ends_by_itself_is_told_once_with_its_output() {
    let (_folder, toolbox) = toolbox();
    start(&toolbox, "echo out; echo err >&2; exit 3 &");
    let jobs = toolbox.jobs().unwrap();
    jobs.wait(1, LONG, &Cancel::new());
    let state = jobs.get(1).unwrap();
    assert_eq!(state.ended.as_deref(), Some("exit code 3"));
    assert_eq!(state.command, "echo out; echo err >&2; exit 3");
    let output = jobs.read(1).unwrap();
    assert!(output.contains("out\n") && output.contains("err\n"), "{output}");
    assert_eq!(jobs.read(1).as_deref(), Some(""), "it was read already");
    assert_eq!((jobs.take_ended().len(), jobs.take_ended().len()), (1, 0));
    assert!(!jobs.end(1), "it is over");
}

#[test]
fn all_that_a_job_started_ends_with_it_and_with_the_toolbox() {
    for by_request in [true, false] {
        let (folder, toolbox) = toolbox();
        start(&toolbox, "(sleep 1000 & echo $! > inner; wait) & echo $$ > outer; echo ready; wait &");
        let jobs = toolbox.jobs().unwrap();
        until(|| jobs.read_all(1).is_some_and(|output| output.contains("ready")));
        until(|| folder.path().join("inner").metadata().is_ok_and(|inner| inner.len() > 1));
        let pids: Vec<String> = ["outer", "inner"]
            .iter()
            .map(|name| std::fs::read_to_string(folder.path().join(name)).unwrap().trim().to_owned())
            .collect();
        assert!(jobs.get(1).unwrap().ended.is_none() && jobs.take_ended().is_empty());
        if by_request {
            assert!(jobs.end(1));
            assert_eq!(jobs.get(1).unwrap().ended.as_deref(), Some("ended by request"));
        }
        drop(toolbox);
        let runs = |pid: &String| {
            let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        until(|| !pids.iter().any(runs));
    }
}

#[test]
fn the_judge_and_the_gate_see_what_runs() {
    let (_folder, toolbox) = toolbox();
    let mut gate = Gate::new(Approval::Ask);
    assert_eq!(gate.verdict(&plan(&toolbox, "cat a.txt")), Verdict::Run);
    // What runs without a question has to end soon.
    assert_eq!(gate.verdict(&plan(&toolbox, "cat a.txt &")), Verdict::Ask);
    gate.set_approval(Approval::Plan);
    assert!(matches!(gate.verdict(&plan(&toolbox, "cat a.txt &")), Verdict::Deny(_)));
    gate.set_approval(Approval::Yolo);
    assert!(matches!(gate.verdict(&plan(&toolbox, "rm -rf / &")), Verdict::Deny(_)));
    let arguments = json!({"command": "touch b", "run_in_background": true}).to_string();
    let wanted = toolbox.plan("run_command", &arguments).unwrap();
    assert!(wanted.question().text().contains("in the background"), "{}", wanted.question().text());
}

#[test]
fn without_leave_nothing_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let toolbox = Toolbox::open(folder.path(), &[], Toolset::Core).unwrap();
    assert!(toolbox.jobs().is_none());
    let result = toolbox.run(plan(&toolbox, "echo now &"), &Control::default());
    assert!(result.text.contains("exit code 0") && result.text.contains("now"), "{}", result.text);
}

#[test]
fn there_is_an_end_to_how_many_run() {
    let (_folder, toolbox) = toolbox();
    for _ in 0..super::MOST {
        start(&toolbox, "sleep 1000 &");
    }
    let result = toolbox.run(plan(&toolbox, "sleep 1000 &"), &Control::default());
    assert!(!result.ok && result.text.contains("end one first"), "{}", result.text);
    let ended = toolbox.jobs().unwrap().end_all();
    assert_eq!(ended.len(), super::MOST);
    assert!(ended.iter().all(|state| state.ended.is_some()));
}
