use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use del_tools::{Selection, Toolbox, UndoError, UndoState, UndoStore};
use serde_json::json;

use crate::desk::Desk;

fn undo(toolbox: &Toolbox, selection: &Selection) -> Result<Vec<String>, UndoError> {
    let undo = toolbox.plan_undo(selection, false)?;
    let mut changed: Vec<_> = toolbox.undo(&undo)?.into_iter().map(|change| change.path).collect();
    changed.sort();
    Ok(changed)
}

fn last(count: usize) -> Selection {
    Selection::Last(count)
}

fn everything_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}

#[test]
fn every_write_can_be_undone_by_another_process() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    desk.ok("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    desk.ok("write_file", &json!({"path": "a.txt", "content": "three\n"}));
    desk.ok("write_file", &json!({"path": "new/deep/b.txt", "content": "b\n"}));
    let other = desk.another();
    assert_eq!(undo(&other, &last(1)).unwrap(), ["new", "new/deep", "new/deep/b.txt"]);
    assert!(!desk.path("new").exists(), "the directories that were made for it go too");
    assert_eq!(undo(&other, &last(1)).unwrap(), ["a.txt"]);
    assert_eq!(desk.get("a.txt"), "two\n");
    assert_eq!(undo(&other, &last(1)).unwrap(), ["a.txt"]);
    assert_eq!(desk.get("a.txt"), "one\n");
    assert!(matches!(undo(&other, &last(1)), Err(UndoError::Nothing)));
}

#[test]
fn changes_by_several_names_of_one_file_are_taken_back_together() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    fs::hard_link(desk.path("a.txt"), desk.path("b.txt")).unwrap();
    desk.ok("write_file", &json!({"path": "a.txt", "content": "two\n"}));
    desk.ok("write_file", &json!({"path": "b.txt", "content": "three\n"}));
    desk.ok("read_file", &json!({"path": "a.txt"}));
    desk.ok("write_file", &json!({"path": "a.txt", "content": "four\n"}));
    assert_eq!(undo(&desk.toolbox, &last(3)).unwrap(), ["a.txt"]);
    assert_eq!((desk.get("a.txt"), desk.get("b.txt")), ("one\n".to_owned(), "one\n".to_owned()));
    // Somebody else's change is one, whatever the name.
    desk.ok("read_file", &json!({"path": "a.txt"}));
    desk.ok("write_file", &json!({"path": "a.txt", "content": "two\n"}));
    fs::write(desk.path("b.txt"), "other\n").unwrap();
    assert!(matches!(undo(&desk.toolbox, &last(1)), Err(UndoError::Stale(files)) if files == ["a.txt"]));
}

#[test]
fn several_steps_are_one_and_an_undo_can_be_undone() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    for (old, new) in [("one", "two"), ("two", "three"), ("three", "four")] {
        desk.ok("edit_file", &json!({"path": "a.txt", "old_string": old, "new_string": new}));
    }
    assert!(matches!(undo(&desk.toolbox, &last(4)), Err(UndoError::TooMany { wanted: 4, there: 3 })));
    assert_eq!(undo(&desk.toolbox, &last(2)).unwrap(), ["a.txt"]);
    assert_eq!(desk.get("a.txt"), "two\n");
    let known = desk.toolbox.undoable().unwrap();
    let states: Vec<_> = known.iter().map(|one| (one.tool.as_str(), one.state)).collect();
    let (done, undone) = (UndoState::Done, UndoState::Undone);
    assert_eq!(states, [("undo", done), ("edit_file", undone), ("edit_file", undone), ("edit_file", done)]);
    assert_eq!(undo(&desk.toolbox, &Selection::Id(known[0].id.clone())).unwrap(), ["a.txt"]);
    assert_eq!(desk.get("a.txt"), "four\n");
    let states: Vec<_> = desk.toolbox.undoable().unwrap().iter().map(|one| one.state).collect();
    assert_eq!(states, [done, undone, done, done, done]);
    let again = undo(&desk.toolbox, &Selection::Id(known[0].id.clone()));
    assert!(matches!(again, Err(UndoError::Already(_))));
    assert!(matches!(undo(&desk.toolbox, &Selection::Id("zz".into())), Err(UndoError::Unknown(_))));
}

#[test]
fn a_file_that_changed_since_is_left_alone_unless_forced() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    desk.ok("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    desk.put("a.txt", "mine\n");
    let refused = undo(&desk.toolbox, &last(1)).unwrap_err();
    assert!(matches!(&refused, UndoError::Stale(files) if *files == ["a.txt"]), "{refused}");
    assert_eq!(desk.get("a.txt"), "mine\n");
    let forced = desk.toolbox.plan_undo(&last(1), true).unwrap();
    assert_eq!(forced.diff(), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-mine\n+one\n");
    desk.toolbox.undo(&forced).unwrap();
    assert_eq!(desk.get("a.txt"), "one\n");
}

#[test]
fn a_change_between_the_look_and_the_undo_stops_it() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    desk.ok("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    let planned = desk.toolbox.plan_undo(&last(1), true).unwrap();
    desk.put("a.txt", "mine\n");
    assert!(matches!(desk.toolbox.undo(&planned), Err(UndoError::Stale(_))));
    assert_eq!(desk.get("a.txt"), "mine\n");
}

#[test]
fn what_is_of_another_kind_by_now_is_not_forced() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    desk.ok("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    fs::remove_file(desk.path("a.txt")).unwrap();
    fs::create_dir(desk.path("a.txt")).unwrap();
    for force in [false, true] {
        let refused = desk.toolbox.plan_undo(&last(1), force).unwrap_err();
        assert!(matches!(&refused, UndoError::Replaced(path) if path == "a.txt"), "{refused}");
    }
    assert!(desk.path("a.txt").is_dir());
}

#[test]
fn an_older_change_is_undone_alone_only_where_nothing_came_after_it() {
    let desk = Desk::keeping();
    desk.put("a.txt", "a\n");
    desk.put("b.txt", "b\n");
    for (path, old, new) in [("a.txt", "a", "aa"), ("b.txt", "b", "bb"), ("b.txt", "bb", "bbb")] {
        desk.ok("edit_file", &json!({"path": path, "old_string": old, "new_string": new}));
    }
    let known = desk.toolbox.undoable().unwrap();
    assert!(matches!(undo(&desk.toolbox, &Selection::Id(known[1].id.clone())), Err(UndoError::Stale(_))));
    undo(&desk.toolbox, &Selection::Id(known[2].id.clone())).unwrap();
    assert_eq!((desk.get("a.txt"), desk.get("b.txt")), ("a\n".to_owned(), "bbb\n".to_owned()));
}

#[test]
fn what_was_there_comes_back_with_its_bytes_and_its_mode() {
    let desk = Desk::keeping();
    desk.put("run.sh", b"#!/bin/sh\r\n\xff\xfe");
    fs::set_permissions(desk.path("run.sh"), Permissions::from_mode(0o750)).unwrap();
    desk.ok("write_file", &json!({"path": "run.sh", "content": "new\n"}));
    undo(&desk.toolbox, &last(1)).unwrap();
    assert_eq!(fs::read(desk.path("run.sh")).unwrap(), b"#!/bin/sh\r\n\xff\xfe");
    assert_eq!(fs::metadata(desk.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn directories_with_something_else_in_them_stay() {
    let desk = Desk::keeping();
    desk.ok("write_file", &json!({"path": "new/a.txt", "content": "a\n"}));
    desk.put("new/mine.txt", "mine\n");
    let planned = desk.toolbox.plan_undo(&last(1), false).unwrap();
    assert_eq!(planned.stays(), ["new"]);
    desk.toolbox.undo(&planned).unwrap();
    assert!(!desk.path("new/a.txt").exists());
    assert_eq!(desk.get("new/mine.txt"), "mine\n");
}

#[test]
fn a_failed_write_leaves_nothing_to_undo() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    desk.fails("edit_file", &json!({"path": "a.txt", "old_string": "nosuch", "new_string": "x"}), "no_match");
    desk.ok("write_file", &json!({"path": "a.txt", "content": "one\n"}));
    assert!(desk.toolbox.undoable().unwrap().is_empty());
}

#[test]
fn other_directories_have_their_own_changes() {
    let desk = Desk::keeping();
    desk.put("sub/a.txt", "one\n");
    desk.ok("edit_file", &json!({"path": "sub/a.txt", "old_string": "one", "new_string": "two"}));
    let mut inner = Toolbox::open(&desk.path("sub"), &[], del_tools::Toolset::All).unwrap();
    inner.keep_undo(UndoStore::open(&desk.store()).unwrap());
    assert!(matches!(undo(&inner, &last(1)), Err(UndoError::Nothing)));
}

#[test]
fn the_store_is_for_its_owner_alone() {
    let desk = Desk::keeping();
    desk.ok("write_file", &json!({"path": "a.txt", "content": "secret\n"}));
    desk.ok("write_file", &json!({"path": "a.txt", "content": "other\n"}));
    let found = everything_below(&desk.store());
    assert!(found.iter().any(|path| path.ends_with("journal.jsonl")), "{found:?}");
    for path in found {
        let (mode, wanted) = (fs::metadata(&path).unwrap().permissions().mode() & 0o777, path.is_dir());
        assert_eq!(mode, if wanted { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

#[test]
fn no_tool_writes_in_the_store() {
    let mut desk = Desk::new();
    let store = desk.path(".local/state/del/undo");
    desk.toolbox.keep_undo(UndoStore::open(&store).unwrap());
    desk.ok("write_file", &json!({"path": "a.txt", "content": "a\n"}));
    let journal = everything_below(&store).into_iter().find(|path| path.ends_with("journal.jsonl")).unwrap();
    desk.fails("write_file", &json!({"path": journal, "content": "x"}), "outside");
    desk.fails("write_file", &json!({"path": ".local/state/del/undo/x", "content": "x"}), "outside");
    std::os::unix::fs::symlink(&store, desk.path("door")).unwrap();
    desk.fails("write_file", &json!({"path": "door/x", "content": "x"}), "outside");
}

#[test]
fn without_room_to_keep_what_is_there_nothing_is_written() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    fs::remove_dir_all(desk.store()).unwrap();
    fs::write(desk.store(), "a file").unwrap();
    let text = desk.fails("write_file", &json!({"path": "new/a.txt", "content": "x\n"}), "system");
    assert!(text.contains("Nothing was changed"), "{text}");
    desk.fails("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "two"}), "system");
    assert_eq!(desk.get("a.txt"), "one\n");
    assert_eq!(fs::read_dir(desk.work()).unwrap().count(), 1, "nothing was left behind");
}

/// What a crash leaves in the journal is read as far as it is whole.
#[test]
fn a_line_that_was_cut_off_is_no_change() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    desk.ok("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    let journal =
        everything_below(&desk.store()).into_iter().find(|path| path.ends_with("journal.jsonl")).unwrap();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("{text}{}", &text[..text.find('\n').unwrap() / 2])).unwrap();
    assert_eq!(desk.another().undoable().unwrap().len(), 1);
    undo(&desk.another(), &last(1)).unwrap();
    assert_eq!(desk.get("a.txt"), "one\n");
}

#[test]
fn a_content_that_was_tampered_with_is_not_put_back() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    desk.ok("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    let objects = everything_below(&desk.store()).into_iter().filter(|path| path.is_file());
    for object in objects.filter(|path| path.parent().unwrap().ends_with("objects")) {
        fs::write(object, "evil\n").unwrap();
    }
    assert!(matches!(undo(&desk.toolbox, &last(1)), Err(UndoError::Failed(_))));
    assert_eq!(desk.get("a.txt"), "two\n");
}

#[test]
fn without_a_store_nothing_can_be_undone_and_all_else_works() {
    let desk = Desk::new();
    desk.ok("write_file", &json!({"path": "a.txt", "content": "a\n"}));
    assert!(matches!(undo(&desk.toolbox, &last(1)), Err(UndoError::NotKept)));
}

#[test]
fn a_directory_that_became_a_link_is_not_undone_through_it() {
    let desk = Desk::keeping();
    desk.put("d/a.txt", "one\n");
    desk.put("e/a.txt", "two\n");
    desk.ok("edit_file", &json!({"path": "d/a.txt", "old_string": "one", "new_string": "two"}));
    fs::rename(desk.path("d"), desk.path("old")).unwrap();
    std::os::unix::fs::symlink("e", desk.path("d")).unwrap();
    assert!(matches!(undo(&desk.toolbox, &last(1)), Err(UndoError::Replaced(_))));
    fs::remove_file(desk.path("d")).unwrap();
    std::os::unix::fs::symlink(desk.outside(), desk.path("d")).unwrap();
    fs::write(desk.outside().join("a.txt"), "two\n").unwrap();
    assert!(undo(&desk.toolbox, &last(1)).is_err());
    assert_eq!(fs::read_to_string(desk.outside().join("a.txt")).unwrap(), "two\n");
}
