//! A process that is ended in the middle of its work: `kill -9` at any moment.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use del_tools::{Control, Selection, Toolbox, Toolset, UndoError, UndoState, UndoStore};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const FILES: usize = 6;
/// Where the child works; without it, it does nothing.
const DIRECTORY: &str = "DEL_TEST_CRASH_DIRECTORY";
/// How often a process is killed, if not so often that everybody has the time for it.
const ROUNDS: &str = "DEL_TEST_CRASH_ROUNDS";

fn open(root: &Path) -> Toolbox {
    let mut toolbox = Toolbox::open(&root.join("project"), &[], Toolset::All).unwrap();
    toolbox.keep_undo(UndoStore::open(&root.join("undo")).unwrap());
    toolbox
}

fn generation(number: usize) -> String {
    format!("generation {number:08}\n{}\nend of {number:08}\n", "some line of text\n".repeat(100))
}

/// Goes from one generation of all files to the next until it is killed.
#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child() {
    let Some(root) = std::env::var_os(DIRECTORY) else { return };
    let toolbox = open(Path::new(&root));
    let text = fs::read_to_string(Path::new(&root).join("project/f0")).unwrap();
    let mut number: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    loop {
        let old = format!("{number:08}");
        number += 1;
        let edits: Vec<_> = (0..FILES)
            .map(|file| json!({"file": format!("f{file}"), "old": old, "new": format!("{number:08}"), "replace_all": true}))
            .collect();
        let plan = toolbox.plan("multi_edit", &json!({"operations": edits}).to_string()).unwrap();
        println!("ready");
        let result = toolbox.run(plan, &Control::default());
        assert!(result.ok, "{}", result.text);
    }
}

/// The generation that each file is of; it has to be whole.
fn generations(project: &Path) -> Vec<usize> {
    (0..FILES)
        .map(|file| {
            let text = fs::read_to_string(project.join(format!("f{file}"))).unwrap();
            let number = text.split_whitespace().nth(1).unwrap().parse().unwrap();
            assert!(text == generation(number), "f{file} is not whole: {} bytes", text.len());
            number
        })
        .collect()
}

/// Every content that a journal names is there and is what its name says.
fn objects_are_whole(store: &Path) -> usize {
    let mut seen = 0;
    for session in fs::read_dir(store).unwrap() {
        let session = session.unwrap().path();
        let journal = fs::read_to_string(session.join("journal.jsonl")).unwrap_or_default();
        for line in journal.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let line: Value = serde_json::from_str(line).unwrap();
            for file in line["change"]["files"].as_array().into_iter().flatten() {
                let name = file["before"]["file"]["sha256"].as_str().unwrap();
                let content = fs::read(session.join("objects").join(name)).unwrap();
                assert_eq!(hex::encode(Sha256::digest(&content)), name);
                seen += 1;
            }
        }
    }
    seen
}

#[test]
fn a_killed_process_leaves_whole_files_and_can_be_taken_back_or_finished() {
    let rounds = std::env::var(ROUNDS).ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(25);
    let root = tempfile::tempdir().unwrap();
    let project = root.path().join("project");
    fs::create_dir(&project).unwrap();
    for file in 0..FILES {
        fs::write(project.join(format!("f{file}")), generation(1)).unwrap();
    }
    let mut ends = BTreeMap::<&str, usize>::new();
    let mut objects = 0;
    for round in 0..rounds {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "crash::child"])
            .env(DIRECTORY, root.path())
            // Who is killed removes nothing.
            .env("TMPDIR", root.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let status = killed(child, u32::try_from(round * 37 % 101).unwrap());
        assert_eq!(status, Some(9), "the child ended by itself");
        let now = generations(&project);
        let (least, most) = (*now.iter().min().unwrap(), *now.iter().max().unwrap());
        assert!(most - least <= 1, "{now:?}");
        objects += objects_are_whole(&root.path().join("undo"));
        let toolbox = open(root.path());
        let unfinished: Vec<_> = toolbox
            .undoable()
            .unwrap()
            .into_iter()
            .filter(|change| change.state == UndoState::Unfinished)
            .collect();
        if least == most {
            assert!(unfinished.is_empty(), "{unfinished:?}");
            *ends.entry("between two changes").or_default() += 1;
        } else {
            assert_eq!(unfinished.len(), 1, "{now:?}: {unfinished:?}");
            let id = unfinished[0].id.clone();
            let finish = round % 2 == 0;
            let selection = if finish { Selection::Finish(id) } else { Selection::Id(id) };
            let undo = toolbox.plan_undo(&selection, false).unwrap();
            toolbox.undo(&undo).unwrap();
            assert_eq!(generations(&project), vec![if finish { most } else { least }; FILES]);
            let left = toolbox.undoable().unwrap();
            assert!(left.iter().all(|change| change.state != UndoState::Unfinished));
            *ends.entry(if finish { "finished" } else { "taken back" }).or_default() += 1;
        }
        // Journals of all rounds would be read again and again.
        fs::remove_dir_all(root.path().join("undo")).unwrap();
    }
    eprintln!("{rounds} kills: {ends:?}, {objects} contents whole");
    assert_eq!(ends.values().sum::<usize>(), rounds);
}

/// What a crash between two renames leaves: the change in the journal, not closed, and half of the files changed.
#[test]
fn half_of_a_change_is_known_at_the_next_start() {
    let root = tempfile::tempdir().unwrap();
    let project = root.path().join("project");
    fs::create_dir(&project).unwrap();
    let put = |name: &str, text: &str| fs::write(project.join(name), text).unwrap();
    let get = |name: &str| fs::read_to_string(project.join(name)).unwrap();
    for name in ["a", "b", "c"] {
        put(name, "old\n");
    }
    let toolbox = open(root.path());
    let edits: Vec<_> =
        ["a", "b", "c"].iter().map(|file| json!({"file": file, "old": "old", "new": "new"})).collect();
    let plan = toolbox.plan("multi_edit", &json!({"operations": edits}).to_string()).unwrap();
    assert!(toolbox.run(plan, &Control::default()).ok);
    drop(toolbox);
    let session = fs::read_dir(root.path().join("undo")).unwrap().next().unwrap().unwrap().path();
    let journal = session.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    // All are changed: only the line that says so is missing.
    assert_eq!(open(root.path()).undoable().unwrap()[0].state, UndoState::Done);
    put("c", "old\n");
    let id = open(root.path()).undoable().unwrap()[0].id.clone();
    assert_eq!(open(root.path()).undoable().unwrap()[0].state, UndoState::Unfinished);
    let turn = |selection: &Selection| {
        let toolbox = open(root.path());
        toolbox.plan_undo(selection, false).and_then(|undo| toolbox.undo(&undo)).map(|changes| changes.len())
    };
    assert_eq!(turn(&Selection::Finish(id.clone())).unwrap(), 1);
    assert_eq!((get("a"), get("b"), get("c")), ("new\n".into(), "new\n".into(), "new\n".into()));
    assert!(matches!(turn(&Selection::Finish(id.clone())), Err(UndoError::Whole(_))));
    put("a", "mine\n");
    put("c", "old\n");
    assert!(matches!(turn(&Selection::Id(id.clone())), Err(UndoError::Stale(files)) if files == ["a"]));
    put("a", "new\n");
    assert_eq!(turn(&Selection::Last(1)).unwrap(), 2);
    assert_eq!((get("a"), get("b"), get("c")), ("old\n".into(), "old\n".into(), "old\n".into()));
    // None is changed, and nothing says that it happened: it did not.
    fs::write(&journal, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    let states: Vec<_> = open(root.path()).undoable().unwrap().iter().map(|one| one.tool.clone()).collect();
    assert_eq!(states, ["undo", "undo"]);
}

/// Lets the child make a change, and ends it in the next one, `percent` of the time in that the first one took.
fn killed(mut child: Child, percent: u32) -> Option<i32> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut begun = || assert!(lines.any(|line| line.ends_with("ready")), "the child did not begin");
    begun();
    let start = Instant::now();
    begun();
    std::thread::sleep(start.elapsed() * percent / 100);
    child.kill().unwrap();
    child.wait().unwrap().signal()
}
