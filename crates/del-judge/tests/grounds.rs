//! Directories that commands may look into besides the working directory, and names above them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod desk;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use del_judge::{Ground, Judge, Verdict};
use desk::Desk;

fn verdict(command: &str, ground: &Ground) -> Verdict {
    Judge::default().judge(command, ground).verdict
}

fn put(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x\n").unwrap();
}

#[test]
fn a_directory_that_is_allowed_is_like_the_working_directory() {
    let desk = Desk::plain();
    let also = fs::canonicalize(desk.path("outside")).unwrap();
    for name in ["a.txt", ".env", "build/x.o"] {
        put(&also.join(name));
    }
    symlink(&also, desk.work().join("link")).unwrap();
    symlink(desk.work().join("README.md"), also.join("back")).unwrap();
    symlink("/etc", also.join("etc")).unwrap();
    let alone = Ground::new(&desk.work());
    let both = alone.clone().and(std::slice::from_ref(&also));
    let dir = also.display();
    for command in [
        "ls DIR",
        "cat DIR/a.txt",
        "grep -rn x DIR",
        "rg x DIR",
        "cat DIR/*.txt",
        "find DIR -name '*.txt' -exec wc -l {} +",
        "cd DIR && ls build",
        "diff README.md DIR/a.txt",
        "cat < DIR/a.txt",
        "cat link/a.txt",
        "cat DIR/back",
        "ls DIR/build/..",
    ] {
        let command = command.replace("DIR", &dir.to_string());
        assert_eq!(verdict(&command, &both), Verdict::Safe, "{command}");
        assert_eq!(verdict(&command, &alone), Verdict::Ask, "{command}");
    }
    for command in [
        "cat DIR/.env",
        "cat DIR/*/../.e*",
        "cat DIR/etc/hostname",
        "ls DIR/..",
        "ls DIR/../work",
        "cat DIRx/a",
        "rm -rf DIR/build",
        "cat DIR/a.txt > DIR/b",
    ] {
        let command = command.replace("DIR", &dir.to_string());
        assert_eq!(verdict(&command, &both), Verdict::Ask, "{command}");
    }
    for (command, ground) in [("rm -rf DIR", &both), ("rm -rf DIR/*", &both), ("rm -rf DIR/build", &alone)] {
        let command = command.replace("DIR", &dir.to_string());
        assert_eq!(verdict(&command, ground), Verdict::Refuse, "{command}");
    }
    let there = both.at(&also).unwrap();
    assert_eq!(verdict("cat a.txt", &there), Verdict::Safe);
    assert_eq!(verdict(&format!("cat {}", desk.work().join("README.md").display()), &there), Verdict::Safe);
}

#[test]
fn an_absolute_wildcard_is_expanded_where_it_lies_inside() {
    let desk = Desk::hostile();
    let work = fs::canonicalize(desk.work()).unwrap();
    let ground = Ground::new(&work);
    let work = work.display();
    for (command, expected) in [
        ("ls WORK/src/*.toml", Verdict::Safe),
        ("cat WORK/sub/a*", Verdict::Safe),
        ("cat WORK/.e*", Verdict::Ask),
        ("cat WORK/../outside/*", Verdict::Ask),
        ("cat WORK/*/../../outside/*", Verdict::Ask),
        ("cat WORK/link-out/*", Verdict::Ask),
        ("cat WORK*/a", Verdict::Ask),
        ("cat /*", Verdict::Ask),
        ("cat //*", Verdict::Ask),
        ("cat /e*/passwd", Verdict::Ask),
    ] {
        let command = command.replace("WORK", &work.to_string());
        assert_eq!(verdict(&command, &ground), expected, "{command}");
    }
}

/// The working directory itself may be a part of the name of a secret.
#[test]
fn names_above_the_working_directory_count() {
    let desk = Desk::plain();
    for (root, file) in
        [(".docker", "config.json"), (".config", "hub"), (".config/gh", "hosts.yml"), (".git", "config")]
    {
        let root = desk.work().join(root);
        put(&root.join(file));
        let ground = Ground::new(&root);
        let command = format!("cat {file}");
        let whole = root.ends_with("gh");
        let expected = if whole { Verdict::Safe } else { Verdict::Ask };
        assert_eq!(verdict(&command, &ground), expected, "{command} in {}", root.display());
        assert_eq!(verdict("grep -r x .", &ground), expected, "in {}", root.display());
    }
    // Where all that is there holds secrets, the user wants it so.
    put(&desk.work().join(".ssh/config"));
    assert_eq!(verdict("cat config", &Ground::new(&desk.work().join(".ssh"))), Verdict::Safe);
}
