//! `del undo`.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::del::{Run, del, directory, run};

/// A directory and the state that Del keeps of it.
struct Place {
    files: TempDir,
    state: TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        Self { files: directory(files), state: tempfile::tempdir().unwrap() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = del(arguments);
        command.current_dir(self.files.path()).env("XDG_STATE_HOME", self.state.path());
        command
    }

    fn del(&self, arguments: &[&str]) -> Run {
        run(&mut self.command(arguments), "")
    }

    fn call(&self, tool: &str, arguments: &Value) {
        let got = self.del(&["tools", "call", tool, &arguments.to_string(), "-y", "--toolset", "all"]);
        assert_eq!((got.code, got.err.as_str()), (0, ""), "{got:#?}");
    }

    fn edit(&self, file: &str, old: &str, new: &str) {
        self.call("edit_file", &json!({"path": file, "old_string": old, "new_string": new}));
    }

    fn get(&self, file: &str) -> String {
        fs::read_to_string(self.files.path().join(file)).unwrap()
    }
}

#[test]
fn the_last_change_is_undone_and_shown() {
    let place = Place::new(&[("a.txt", "one\n")]);
    place.del(&["undo"]).fails(1, "nothing to undo");
    place.edit("a.txt", "one", "two");
    place.call("write_file", &json!({"path": "new/b.txt", "content": "b\n"}));
    let got = place.del(&["undo"]);
    assert_eq!(got.code, 0, "{got:#?}");
    assert!(got.out.starts_with("--- a/new/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"), "{}", got.out);
    assert!(got.out.contains("  removed new/b.txt (+0 -1)\n"), "{}", got.out);
    assert!(!place.files.path().join("new").exists());
    let got = place.del(&["undo", "--json"]).json();
    assert_eq!(got["files"], json!([{"path": "a.txt", "kind": "modified", "added": 1, "removed": 1}]));
    assert_eq!(place.get("a.txt"), "one\n");
    place.del(&["undo"]).fails(1, "nothing to undo");
}

#[test]
fn changes_are_listed_and_undone_by_number_and_by_id() {
    let place = Place::new(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    assert_eq!(place.del(&["undo", "--list"]).out, "no changes are known that were made in this directory\n");
    assert_eq!(place.del(&["undo", "--list", "--json"]).json(), json!([]));
    place.edit("a.txt", "one", "two");
    place.edit("a.txt", "two", "three");
    place.call(
        "multi_edit",
        &json!({"operations": [
        {"file": "a.txt", "old": "three", "new": "four"}, {"file": "b.txt", "old": "b", "new": "c"}]}),
    );
    let listed = place.del(&["undo", "--list", "--json"]).json();
    let row =
        |at: usize| (listed[at]["tool"].clone(), listed[at]["state"].clone(), listed[at]["files"].clone());
    assert_eq!(row(0), (json!("multi_edit"), json!("done"), json!(["a.txt", "b.txt"])));
    assert_eq!(row(2), (json!("edit_file"), json!("done"), json!(["a.txt"])));
    let id = listed[0]["id"].as_str().unwrap();
    let table = place.del(&["undo", "--list"]).out;
    assert!(table.starts_with("ID ") && table.contains(id) && table.contains("a.txt, b.txt"), "{table}");
    place.del(&["undo", "--steps", "4"]).fails(2, "only 3 changes");
    place.del(&["undo", "nosuch"]).fails(2, "no change");
    assert_eq!(place.del(&["undo", "--steps", "2"]).code, 0);
    assert_eq!((place.get("a.txt"), place.get("b.txt")), ("two\n".to_owned(), "b\n".to_owned()));
    let undo = place.del(&["undo", "--list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(place.del(&["undo", &undo]).code, 0);
    assert_eq!((place.get("a.txt"), place.get("b.txt")), ("four\n".to_owned(), "c\n".to_owned()));
}

#[test]
fn a_file_that_changed_since_needs_force() {
    let place = Place::new(&[("a.txt", "one\n")]);
    place.edit("a.txt", "one", "two");
    fs::write(place.files.path().join("a.txt"), "mine\n").unwrap();
    place.del(&["undo"]).fails(1, "because other changes came after: a.txt; --force undoes it all the same");
    assert_eq!(place.get("a.txt"), "mine\n");
    assert_eq!(place.del(&["undo", "--force"]).code, 0);
    assert_eq!(place.get("a.txt"), "one\n");
    // Where nothing is forced, nothing is promised.
    place.edit("a.txt", "one", "two");
    fs::remove_file(place.files.path().join("a.txt")).unwrap();
    fs::create_dir(place.files.path().join("a.txt")).unwrap();
    let got = place.del(&["undo"]);
    got.fails(1, "something of another kind is there by now: a.txt");
}

#[test]
fn a_change_that_was_cut_off_is_told_of_at_the_next_start() {
    let place = Place::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    place.call(
        "multi_edit",
        &json!({"operations": [
        {"file": "a.txt", "old": "one", "new": "two"}, {"file": "b.txt", "old": "one", "new": "two"}]}),
    );
    let id = place.del(&["undo", "--list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    let session = fs::read_dir(place.state.path().join("del/undo")).unwrap().next().unwrap().unwrap().path();
    let journal = session.join("journal.jsonl");
    let first = fs::read_to_string(&journal).unwrap().lines().next().unwrap().to_owned();
    fs::write(&journal, first + "\n").unwrap();
    fs::write(place.files.path().join("b.txt"), "one\n").unwrap();
    let got = place.del(&["tools", "call", "read_file", "{\"path\": \"a.txt\"}"]);
    let told =
        format!("del: a multi_edit of a.txt, b.txt was cut off halfway; `del undo {id}` takes it back");
    assert!(got.err.starts_with(&told), "{got:#?}");
    assert!(place.del(&["undo", "--list"]).out.contains("unfinished"));
    let got = place.del(&["undo", "--finish", &id]);
    assert!(got.code == 0 && got.out.contains("finished: "), "{got:#?}");
    assert_eq!((place.get("a.txt"), place.get("b.txt")), ("two\n".to_owned(), "two\n".to_owned()));
    assert_eq!(place.del(&["undo"]).code, 0);
    assert_eq!((place.get("a.txt"), place.get("b.txt")), ("one\n".to_owned(), "one\n".to_owned()));
}

#[test]
fn without_a_place_for_it_the_first_write_says_so() {
    let files = directory(&[]);
    let write = ["tools", "call", "write_file", "{\"path\": \"a.txt\", \"content\": \"x\"}", "-y"];
    let got = run(del(&write).current_dir(files.path()), "");
    assert_eq!(got.code, 0, "{got:#?}");
    assert!(got.err.starts_with("del: changes cannot be undone: cannot use /dev/null/home"), "{}", got.err);
    run(del(&["undo"]).current_dir(files.path()), "").fails(52, "cannot use /dev/null/home");
}

#[test]
fn names_in_the_list_cannot_act_on_the_terminal() {
    let place = Place::new(&[]);
    place.call("write_file", &json!({"path": "a\u{1b}[31m.txt", "content": "\u{1b}]0;x\u{7}\n"}));
    for arguments in [&["undo", "--list"][..], &["undo"][..]] {
        let got = place.del(arguments);
        assert!(got.code == 0 && !got.out.contains('\u{1b}'), "{got:#?}");
    }
}
