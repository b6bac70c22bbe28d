//! Repositories and trees that would make git, or what reads its files, run something, wait for ever or look elsewhere.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod desk;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use del_judge::{Action, Ground, Judge, Stage, Step, Verdict, what_reveals};
use desk::Desk;

fn is_safe(desk: &Desk, command: &str) -> bool {
    Judge::default().judge(command, &Ground::new(&desk.work())).verdict == Verdict::Safe
}

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_plain_repository_is_looked_into() {
    let desk = Desk::plain();
    for command in ["git status", "git -C src log", "cd src && git diff", "rg x", "tree"] {
        assert!(is_safe(&desk, command), "{command}");
    }
}

#[test]
fn what_would_never_end_asks() {
    for name in [
        ".git/HEAD",
        ".git/index",
        ".git/packed-refs",
        ".git/shallow",
        ".git/info/exclude",
        ".git/refs/heads/x",
        ".git/refs/deep/er/x",
        ".git/objects/ab/cd",
        ".git/objects/pack/x.idx",
        ".gitignore",
        ".gitattributes",
        ".mailmap",
        "src/.gitignore",
    ] {
        let desk = Desk::plain();
        pipe(&desk.work().join(name));
        assert!(!is_safe(&desk, "git status"), "{name}");
        assert!(!is_safe(&desk, "git -C src log"), "{name}");
    }
    for name in [".gitignore", ".ignore", ".rgignore", ".git/info/exclude", "src/.ignore"] {
        let desk = Desk::plain();
        pipe(&desk.work().join(name));
        for command in ["rg x", "rg --files", "cd src && rg x"] {
            assert!(!is_safe(&desk, command), "{name}: {command}");
        }
        assert!(is_safe(&desk, "cat README.md"), "{name}");
    }
}

#[test]
fn what_leads_elsewhere_asks() {
    for name in
        ["HEAD", "config", "index", "refs", "objects", "objects/ab", "objects/ab/cd", "refs/heads/x", "logs"]
    {
        let desk = Desk::plain();
        let path = desk.work().join(".git").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            let _ = fs::remove_file(&path);
        }
        symlink(desk.path("outside"), path).unwrap();
        assert!(!is_safe(&desk, "git log"), "{name}");
    }
    // Of these git shows the lines that it does not understand.
    for name in [
        "BISECT_START",
        "shallow",
        "rebase-merge/done",
        "worktrees/a/locked",
        "info/sparse-checkout",
        "modules/a/HEAD",
    ] {
        let desk = Desk::plain();
        let path = desk.work().join(".git").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(desk.path("outside/secret.txt"), path).unwrap();
        assert!(!is_safe(&desk, "git status"), "{name}");
    }
    let desk = Desk::plain();
    fs::create_dir_all(desk.work().join(".git/hooks")).unwrap();
    symlink("../../scripts/check", desk.work().join(".git/hooks/pre-commit")).unwrap();
    assert!(is_safe(&desk, "git status"), "no hook runs");
    for (name, content) in [
        (".git/commondir", "../outside\n"),
        (".git/objects/info/alternates", "/x\n"),
        ("commondir", "store\n"),
    ] {
        let desk = Desk::plain();
        fs::write(desk.work().join(name), content).unwrap();
        fs::write(desk.work().join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert!(!is_safe(&desk, "git log"), "{name}");
    }
}

#[test]
fn a_setting_hides_nowhere() {
    for setting in [
        "[core]fsmonitor=./x]",
        "[filter \"x\"]clean=./x]",
        "[diff \"x\"] textconv = x # ]",
        "[CORE]\n\tPager = x",
        "\u{feff}[core]\npager = x",
        "[core]\r\n\tpager = x\r",
    ] {
        let desk = Desk::plain();
        fs::write(desk.work().join(".git/config"), format!("{setting}\n")).unwrap();
        assert!(!is_safe(&desk, "git status"), "{setting}");
    }
}

#[test]
fn attributes_that_show_secrets_ask() {
    for (name, line) in [
        (".gitattributes", "* diff"),
        (".gitattributes", "*.key diff"),
        (".gitattributes", "*.env\ttext diff=x"),
        (".gitattributes", "\".env\" diff"),
        (".gitattributes", "**/.ssh/** !diff"),
        (".gitattributes", "id_rsa diff"),
        (".gitattributes", "[attr]shown diff\n.env shown"),
        (".gitattributes", "\\.env diff"),
        ("src/.gitattributes", "credentials.* diff"),
        (".git/info/attributes", "*.pem diff"),
    ] {
        let desk = Desk::plain();
        let path = desk.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("# text\n{line}\n")).unwrap();
        assert!(!is_safe(&desk, "git show"), "{name}: {line}");
        assert!(!is_safe(&desk, "git -C src grep x"), "{name}: {line}");
    }
    for name in [".gitattributes", "src/.gitattributes", ".git/info/attributes"] {
        let desk = Desk::plain();
        let path = desk.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(desk.work().join("plain"), "*.rs diff=rust\n").unwrap();
        symlink(desk.work().join("plain"), path).unwrap();
        assert!(!is_safe(&desk, "git show"), "{name} is a link");
    }
    let desk = Desk::plain();
    let git = desk.work().join(".git");
    assert_eq!(what_reveals(&git, &git, &desk.work(), 1_000), None);
    assert!(what_reveals(&git, &git, &desk.work(), 3).is_some(), "what was not looked at may show anything");
    let usual = "* text=auto\n*.rs diff=rust\n*.php diff=php\n*.png binary\n*.pem -diff\n# * diff\nCargo.lock -diff\n";
    fs::write(desk.work().join(".gitattributes"), usual).unwrap();
    assert!(is_safe(&desk, "git show"));
}

/// Where the file is missing, git reads the attributes that were added.
#[test]
fn attributes_that_stand_in_the_index_alone_ask() {
    let desk = Desk::plain();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "core.hooksPath=/dev/null"]).args(arguments).current_dir(desk.work());
        assert!(git.env("GIT_CONFIG_GLOBAL", "/dev/null").status().unwrap().success(), "{arguments:?}");
    };
    fs::write(desk.work().join("src/.gitattributes"), "*.rs diff=rust\n").unwrap();
    for version in ["2", "4"] {
        git(&["add", "src"]);
        git(&["update-index", "--index-version", version]);
        assert!(is_safe(&desk, "git diff"), "{version}");
        fs::rename(desk.work().join("src/.gitattributes"), desk.work().join("kept")).unwrap();
        assert!(!is_safe(&desk, "git diff"), "{version}");
        fs::rename(desk.work().join("kept"), desk.work().join("src/.gitattributes")).unwrap();
    }
    fs::write(desk.work().join(".git/index"), "DIRC and nothing that is known").unwrap();
    assert!(!is_safe(&desk, "git diff"));
}

#[test]
fn the_configuration_of_a_tree_of_its_own_counts() {
    let desk = Desk::plain();
    fs::write(desk.work().join(".git/config"), "[extensions]\nworktreeConfig = true\n").unwrap();
    assert!(is_safe(&desk, "git status"));
    fs::write(desk.work().join(".git/config.worktree"), "[core]\nsparseCheckout = true\n").unwrap();
    assert!(is_safe(&desk, "git status"));
    fs::write(desk.work().join(".git/config.worktree"), "[filter \"x\"]\nclean = id\n").unwrap();
    assert!(!is_safe(&desk, "git status"));
}

#[test]
fn what_is_shown_by_a_name_or_an_id_is_a_commit() {
    let desk = Desk::plain();
    fs::write(desk.work().join("added"), "").unwrap();
    for (command, expected) in [
        ("git show abcdef0", vec!["abcdef0^{commit}"]),
        ("git show ABCD --stat", vec!["ABCD^{commit}", "--stat"]),
        ("git cat-file -p 0123456789", vec!["-p", "0123456789^{commit}"]),
        ("git diff abcdef0..1234567", vec!["abcdef0^{commit}..1234567^{commit}"]),
        ("git diff HEAD...1234567", vec!["HEAD...1234567^{commit}"]),
        ("git grep beef cafe -- face", vec!["beef", "cafe^{commit}", "--", "face"]),
        ("git show added main HEAD:cafe abc", vec!["added", "main^{commit}", "HEAD:cafe", "abc^{commit}"]),
        ("git show v1.0 HEAD~2 @{1}", vec!["v1.0^{commit}", "HEAD~2", "@{1}"]),
        ("git show refs/tags/x stash@{0}", vec!["refs/tags/x^{commit}", "stash@{0}^{commit}"]),
        ("git grep -e x ^main v1..", vec!["-e", "x", "^main^{commit}", "v1^{commit}.."]),
        ("git grep x -- main ':!a'", vec!["x", "--", "main", ":!a"]),
        ("git cat-file -t abcdef0", vec!["-t", "abcdef0"]),
    ] {
        let plan = Judge::default().judge(command, &Ground::new(&desk.work())).plan.unwrap();
        let [Step { action: Action::Run(stages), .. }] = plan.steps.as_slice() else { panic!("{command}") };
        let [Stage::Process(process)] = stages.as_slice() else { panic!("{command}") };
        let words: Vec<_> = process.arguments.iter().map(String::as_str).collect();
        assert!(words.ends_with(&expected), "{command}: {words:?}");
    }
}

#[test]
fn what_is_left_out_is_not_said_by_links_that_lead_away() {
    for (name, place) in [
        (".ignore", "../outside/secret.txt"),
        (".rgignore", "../outside/secret.txt"),
        (".gitignore", "../outside/secret.txt"),
        (".fdignore", ".env"),
        ("src/.ignore", "../.env"),
        ("src/.ignore", "/etc/passwd"),
        ("src/.ignore", "via"),
        ("src/.git/info/exclude", "../../../.env"),
        (".git/info/exclude", "../../../outside/secret.txt"),
    ] {
        let desk = Desk::plain();
        fs::write(desk.work().join(".env"), "KEY=sesame\n").unwrap();
        symlink("../../outside/secret.txt", desk.work().join("src/via")).unwrap();
        let path = desk.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        symlink(place, &path).unwrap();
        for command in ["rg x", "fd x", "cd src && rg x", "tree --gitignore"] {
            assert!(!is_safe(&desk, command), "{name} -> {place}: {command}");
        }
    }
    let desk = Desk::plain();
    fs::write(desk.work().join("ignored"), "target\n").unwrap();
    symlink("ignored", desk.work().join(".ignore")).unwrap();
    symlink("nowhere", desk.work().join(".fdignore")).unwrap();
    symlink("../ignored", desk.work().join("src/.gitignore")).unwrap();
    assert!(is_safe(&desk, "rg x") && is_safe(&desk, "fd x"));
}

#[test]
fn addresses_with_passwords_ask() {
    let desk = Desk::plain();
    let with = |address: &str| {
        let text = format!("[remote \"origin\"]\n\turl = {address}\n");
        fs::write(desk.work().join(".git/config"), text).unwrap();
    };
    let shows = [
        "git remote -v",
        "git remote get-url origin",
        "git config remote.origin.url",
        "git -c color.ui=never remote --verbose",
    ];
    for address in ["https://user:word@host/a.git", "https://ghp_0123456789abcdef0123@github.com/a/b.git"] {
        with(address);
        for command in shows {
            assert!(!is_safe(&desk, command), "{address}: {command}");
        }
        for command in ["git log -- remote", "git status", "git remote", "git config user.name"] {
            assert!(is_safe(&desk, command), "{address}: {command}");
        }
    }
    for address in ["https://user@host/a.git", "git@github.com:a/b.git", "../a"] {
        with(address);
        for command in shows {
            assert!(is_safe(&desk, command), "{address}: {command}");
        }
    }
}

#[test]
fn places_of_secrets_are_neither_searched_nor_entered_nor_shown() {
    let desk = Desk::plain();
    for (place, file) in [
        (".config/doctl", "config.yaml"),
        ("home/.config/hub", "x"),
        (".config/glab-cli", "config.yml"),
        (".local/state/del", "sessions/a.jsonl"),
    ] {
        let path = desk.work().join(place).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "token\n").unwrap();
        for command in
            ["grep -rn token .", "grep -rn token", "rg --hidden token", "cd {} && cat *", "git -C {} log"]
        {
            let command = command.replace("{}", place);
            assert!(!is_safe(&desk, &command), "{command} beside {place}");
        }
        for command in ["grep -rn token src", "cd src && grep -rn token .", "grep token README.md"] {
            assert!(is_safe(&desk, command), "{command} beside {place}");
        }
        fs::remove_dir_all(desk.work().join(place)).unwrap();
    }
    assert!(is_safe(&desk, "grep -rn token ."));
    let attributes = del_judge::git_attributes();
    assert!(
        attributes.contains("**/.[cC][oO][nN][fF][iI][gG]/[dD][oO][cC][tT][lL]/** -diff\n"),
        "{attributes}"
    );
}
