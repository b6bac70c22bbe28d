//! Repositories of which a part lies elsewhere, or that are none: nothing outside of the workspace is looked at.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn what_lies_elsewhere_is_refused() {
    let gate = Gate::new(Approval::Yolo);
    let elsewhere = |desk: &Desk| {
        let other = desk.outside().join("other");
        git(desk, &["init", "-q", other.to_str().unwrap()]);
        fs::write(other.join("secret.txt"), "secret\n").unwrap();
        git(desk, &["-C", other.to_str().unwrap(), "add", "."]);
        git(desk, &["-C", other.to_str().unwrap(), "commit", "-qm", "their secret"]);
        other.join(".git")
    };
    let refused = |desk: &Desk, what: &str| {
        for call in LOOKS {
            let Verdict::Deny(failure) = verdict(desk, &gate, call) else { panic!("{what}: {call}") };
            assert_eq!(failure.code.as_str(), "outside", "{what}: {failure}");
        }
        look(desk, what);
    };

    let desk = Desk::new();
    desk.put(".git", format!("gitdir: {}\n", elsewhere(&desk).display()));
    refused(&desk, "a .git file");

    let desk = Desk::new();
    symlink(elsewhere(&desk), desk.path(".git")).unwrap();
    refused(&desk, "a link called .git");

    let desk = repository();
    let other = elsewhere(&desk);
    desk.put(".git/commondir", other.to_str().unwrap());
    refused(&desk, "commondir");

    let desk = repository();
    let other = elsewhere(&desk);
    desk.put(".git/objects/info/alternates", other.join("objects").to_str().unwrap());
    refused(&desk, "alternates");

    for name in ["config", "HEAD", "index", "packed-refs", "info/exclude", "info/attributes"] {
        let desk = repository();
        let _ = fs::remove_file(desk.path(format!(".git/{name}")));
        symlink(desk.outside().join("secret.txt"), desk.path(format!(".git/{name}"))).unwrap();
        refused(&desk, name);
    }

    let desk = repository();
    git(&desk, &["config", "include.path", desk.outside().join("secret.txt").to_str().unwrap()]);
    refused(&desk, "include.path");
    let desk = repository();
    git(&desk, &["config", "include.path", "../more"]);
    desk.put("more", format!("[includeIf \"gitdir:/\"]\npath = {}/secret.txt\n", desk.outside().display()));
    refused(&desk, "includeIf in what is included");
}

#[test]
fn what_is_included_counts_as_well() {
    let desk = repository();
    git(&desk, &["config", "include.path", "../more"]);
    let run = format!("touch '{}'", canary(&desk).display());
    desk.put("more", format!("[filter \"x\"]\nclean = {run}\n[core]\nfsmonitor = {run}\nnewThing = {run}\n"));
    look(&desk, "include");
    let gate = Gate::new(Approval::Ask);
    assert_eq!(verdict(&desk, &gate, LOOKS[0]), Verdict::Ask, "core.newthing is unknown");
    let text = asked(&desk, LOOKS[0]);
    assert!(text.contains("`core.newthing`"), "{text}");
}

#[test]
fn a_working_tree_elsewhere_does_not_count() {
    let desk = repository();
    git(&desk, &["config", "core.worktree", desk.outside().to_str().unwrap()]);
    look(&desk, "core.worktree");
    let text = desk.ok("git_operation", &json!({"operation": "status"}));
    assert!(text.contains(" M a.txt") && !text.contains("secret"), "{text}");
}

#[test]
fn files_outside_are_not_looked_at() {
    let desk = repository();
    symlink(desk.outside(), desk.path("link")).unwrap();
    for files in ["../outside/secret.txt", "/etc/passwd", "link/secret.txt", "..", "a/../../outside"] {
        for operation in ["diff", "log", "add"] {
            let result = desk.call("git_operation", &json!({"operation": operation, "files": [files]}));
            let said = format!("{operation} {files}: {}", result.text);
            assert!(!result.ok && !said.contains("secret\n") && !said.contains("root:"), "{said}");
        }
    }
    let both = json!({"operation": "diff", "files": ["../outside/secret.txt", "/dev/null"]});
    desk.fails("git_operation", &both, "outside");
}

#[test]
fn words_are_never_options() {
    let desk = repository();
    for (key, word) in [
        ("branch", "--output=../outside/canary"),
        ("branch", "-p"),
        ("branch", "a\nb"),
        ("files", "--output=../outside/canary"),
    ] {
        for operation in ["diff", "log", "branch", "push", "pull", "add"] {
            desk.call("git_operation", &json!({"operation": operation, key: word, "message": "x"}));
            assert!(!canary(&desk).exists(), "{operation} {word}");
        }
    }
    for branch in ["a..b", "a b", "+main", "x:y", "@{-1}", "a.lock", "HEAD^"] {
        let call = json!({"operation": "branch", "branch": branch});
        let result = desk.call("git_operation", &call);
        assert!(!result.ok || branch == "+main", "{branch}: {}", result.text);
    }
}

#[test]
fn pipes_do_not_hang() {
    for name in [
        ".git/config",
        ".git/HEAD",
        ".git/index",
        ".git/info/exclude",
        ".git/refs/heads/x",
        ".gitignore",
        "sub/.gitattributes",
    ] {
        let desk = repository();
        let path = desk.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let text = desk.fails("git_operation", &json!({"operation": "status"}), "not_regular");
        assert!(text.contains("look at it first"), "{text}");
    }
}

#[test]
fn a_pipe_that_is_included_does_not_hang() {
    let desk = repository();
    git(&desk, &["config", "include.path", "../pipe"]);
    assert!(Command::new("mkfifo").arg(desk.path("pipe")).status().unwrap().success());
    let text = desk.call("git_operation", &json!({"operation": "status"})).text;
    assert!(text.contains("pipe"), "{text}");
}

#[test]
fn objects_and_branches_are_no_links() {
    for name in [".git/objects/ab", ".git/objects/ab/cdef", ".git/refs/heads/x"] {
        let desk = repository();
        let path = desk.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_dir_all(&path);
        symlink(desk.outside(), &path).unwrap();
        let text = desk.fails("git_operation", &json!({"operation": "log"}), "not_regular");
        assert!(text.contains("look at it first"), "{text}");
    }
}

#[test]
fn a_directory_that_only_looks_like_a_repository_is_none() {
    let desk = Desk::new();
    let none = desk.fails("git_operation", &json!({"operation": "status"}), "not_found");
    assert!(none.starts_with("Error: not a git repository: "), "{none}");
    git(&desk, &["init", "-q", "--bare", "."]);
    git(&desk, &["config", "core.fsmonitor", &format!("touch '{}'", canary(&desk).display())]);
    git(&desk, &["config", "core.bare", "false"]);
    git(&desk, &["config", "core.worktree", "."]);
    look(&desk, "bare");
    desk.fails("git_operation", &json!({"operation": "status"}), "not_found");
}

#[test]
fn worktrees_and_submodules_inside_are_repositories() {
    let desk = repository();
    git(&desk, &["worktree", "add", "-q", "tree", "-b", "tree"]);
    let inner = Desk::over(&desk.path("tree"));
    let gone = inner.toolbox.plan("git_operation", LOOKS[0]);
    assert!(gone.is_ok(), "git's data lie in the .git of a directory above: {gone:?}");
}

#[test]
fn a_directory_below_the_top_sees_its_own_changes() {
    let desk = repository();
    desk.put("sub/b.txt", "1\n");
    let inner = Desk::over(&desk.path("sub"));
    let status = inner.ok("git_operation", &json!({"operation": "status"}));
    assert!(status.contains("?? ./") && !status.contains("a.txt"), "{status}");
    assert!(!inner.ok("git_operation", &json!({"operation": "diff"})).contains("a.txt"));
    inner.fails("git_operation", &json!({"operation": "add", "files": "../a.txt"}), "outside");
}
