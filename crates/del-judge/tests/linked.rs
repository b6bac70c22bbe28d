//! Working trees whose `.git` is a file, as git makes them, and as somebody would make them who wants to look elsewhere.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use del_judge::{Ground, Judge, Verdict, what_is_linked};
use tempfile::TempDir;

fn git(directory: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]);
    git.args(arguments).current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let done = git.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn verdict(command: &str, directory: &Path) -> Verdict {
    Judge::default().judge(command, &Ground::new(directory)).verdict
}

/// A repository with a commit.
fn repository(top: &Path) -> PathBuf {
    fs::create_dir_all(top).unwrap();
    git(top, &["init", "-q", "-b", "main"]);
    fs::write(top.join("a"), "a\n").unwrap();
    git(top, &["add", "a"]);
    git(top, &["commit", "-q", "-m", "x"]);
    top.to_owned()
}

/// `main` with a linked working tree beside it.
fn linked() -> (TempDir, PathBuf, PathBuf) {
    let desk = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(desk.path()).unwrap();
    let main = repository(&top.join("main"));
    let tree = top.join("tree");
    git(&main, &["worktree", "add", "-q", "../tree", "-b", "b"]);
    (desk, main, tree)
}

#[test]
fn a_linked_working_tree_is_looked_into() {
    let (_desk, main, tree) = linked();
    fs::create_dir(tree.join("sub")).unwrap();
    for command in
        ["git status", "git log --oneline", "git diff", "git show HEAD:a", "git -C sub log", "git remote -v"]
    {
        assert_eq!(verdict(command, &tree), Verdict::Safe, "{command}");
    }
    assert_eq!(verdict("git status", &tree.join("sub")), Verdict::Safe);
    assert_eq!(verdict("git status", &main), Verdict::Safe);
    assert_eq!(what_is_linked(&tree), Some(main.join(".git")));
    assert_eq!(what_is_linked(&main), None);
    git(&main, &["config", "extensions.relativeWorktrees", "true"]);
    fs::write(tree.join(".git"), "gitdir: ../main/.git/worktrees/tree\n").unwrap();
    fs::write(main.join(".git/worktrees/tree/gitdir"), "../../../../tree/.git\n").unwrap();
    assert_eq!(verdict("git status", &tree), Verdict::Safe, "by relative paths");
}

#[test]
fn a_working_tree_of_a_repository_without_one_is_looked_into() {
    let desk = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(desk.path()).unwrap();
    let main = repository(&top.join("main"));
    let all = top.join("all");
    fs::create_dir(&all).unwrap();
    git(&all, &["clone", "-q", "--bare", main.to_str().unwrap(), ".bare"]);
    fs::write(all.join(".git"), "gitdir: ./.bare\n").unwrap();
    git(&all, &["worktree", "add", "-q", "main"]);
    assert_eq!(verdict("git status", &all.join("main")), Verdict::Safe);
    assert_eq!(verdict("git log", &all), Verdict::Safe);
    assert_eq!(verdict("git log", &all.join(".bare")), Verdict::Ask, "what has no working tree asks");
}

#[test]
fn a_submodule_is_looked_into() {
    let desk = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(desk.path()).unwrap();
    let (main, other) = (repository(&top.join("main")), repository(&top.join("other")));
    git(&main, &["submodule", "--quiet", "add", other.to_str().unwrap(), "sub"]);
    let sub = main.join("sub");
    for (command, directory) in [
        ("git status", &sub),
        ("git log", &sub),
        ("git -C sub log", &main),
        ("cd sub && git diff", &main),
        ("git status", &main),
    ] {
        assert_eq!(verdict(command, directory), Verdict::Safe, "{command}");
    }
    git(&sub, &["config", "filter.x.clean", "id"]);
    assert_eq!(verdict("git status", &sub), Verdict::Ask);
    git(&sub, &["config", "--remove-section", "filter.x"]);
    git(&sub, &["config", "--add", "core.worktree", "../../../../other"]);
    assert_eq!(verdict("git status", &sub), Verdict::Ask, "another tree");
}

#[test]
fn what_runs_or_shows_asks_wherever_it_is_kept() {
    for (name, content) in [
        ("main/.git/config", "[filter \"x\"]\nclean = id\n"),
        ("main/.git/config", "[core]\nworktree = ../tree\n"),
        ("main/.git/worktrees/tree/config.worktree", "[filter \"x\"]\nclean = id\n"),
        ("main/.git/worktrees/tree/config.worktree", "[core]\nworktree = /etc\n"),
        ("main/.git/info/attributes", "*.pem diff\n"),
        ("main/.git/objects/info/alternates", "/x\n"),
        ("main/.git/commondir", "../other\n"),
        ("tree/.gitattributes", "* diff\n"),
    ] {
        let (desk, _, tree) = linked();
        let path = desk.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, before + content).unwrap();
        assert_eq!(verdict("git log", &tree), Verdict::Ask, "{name}: {content}");
    }
    for name in ["index", "HEAD", "logs"] {
        let (desk, main, tree) = linked();
        let path = main.join(".git/worktrees/tree").join(name);
        let kept = desk.path().join("kept");
        fs::rename(&path, &kept).unwrap();
        symlink(&kept, &path).unwrap();
        assert_eq!(verdict("git log", &tree), Verdict::Ask, "{name} is a link");
    }
}

#[test]
fn what_does_not_lead_back_asks() {
    let (desk, main, tree) = linked();
    let top = fs::canonicalize(desk.path()).unwrap();
    let fake = top.join("fake");
    fs::create_dir(&fake).unwrap();
    let other = main.join(".git/worktrees/tree");
    for said in [
        // Those of others.
        format!("gitdir: {}\n", main.join(".git").display()),
        format!("gitdir: {}\n", other.display()),
        "gitdir: ../main/.git\n".to_owned(),
        // No such thing.
        "gitdir: /nosuch\n".to_owned(),
        "gitdir: \n".to_owned(),
        "x\n".to_owned(),
        String::new(),
    ] {
        fs::write(fake.join(".git"), &said).unwrap();
        assert_eq!(verdict("git log", &fake), Verdict::Ask, "{said}");
        assert_eq!(what_is_linked(&fake), None, "{said}");
    }
    // Kept in the project, and borrowing from what is not.
    let own = fake.join("x/worktrees/a");
    fs::create_dir_all(&own).unwrap();
    fs::write(fake.join(".git"), "gitdir: x/worktrees/a\n").unwrap();
    fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(own.join("gitdir"), format!("{}\n", fake.join(".git").display())).unwrap();
    for common in [main.join(".git").display().to_string(), "../../../../main/.git".to_owned()] {
        fs::write(own.join("commondir"), format!("{common}\n")).unwrap();
        assert_eq!(verdict("git log", &fake), Verdict::Ask, "{common}");
    }
    // The tree moved, so that it is named no more.
    let moved = top.join("moved");
    fs::rename(&tree, &moved).unwrap();
    assert_eq!(verdict("git log", &moved), Verdict::Ask);
    fs::create_dir(&tree).unwrap();
    symlink(moved.join(".git"), tree.join(".git")).unwrap();
    assert_eq!(verdict("git log", &tree), Verdict::Ask, "a link");
}
