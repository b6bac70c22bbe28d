//! Directories to judge commands in.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// Two directories side by side: `work`, which commands may look into, and `outside`, which they may not.
pub struct Desk {
    root: TempDir,
}

impl Desk {
    /// A small project in a repository.
    pub fn plain() -> Self {
        let desk = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir(desk.path("outside")).unwrap();
        fs::write(desk.path("outside/secret.txt"), "secret\n").unwrap();
        for (name, content) in [
            ("README.md", "# Title\n\nfoo bar\nstart\nmiddle\nend\n"),
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            ("Makefile", "all:\n\techo hi\n"),
            ("package.json", "{\"scripts\": {\"a\": \"b\"}, \"dependencies\": {}}\n"),
            ("data.json", "{\"name\": \"x\", \"items\": [{\"name\": \"a\", \"a\": 2}]}\n"),
            ("data.csv", "a,b,c\n1,2,3\n4,5,600\n"),
            ("list.txt", "b 2\na 1\na 1\n"),
            ("data.bin", "\u{0}\u{1}\u{2}text\n"),
            ("archive.tar", ""),
            ("archive.tar.gz", ""),
            ("archive.zip", ""),
            ("archive.gz", ""),
            ("src/main.rs", "fn main() {}\n"),
            ("src/lib.rs", "use std::fmt;\npub fn x() {}\n// TODO\n"),
            ("docs/guide.md", "# Guide\n"),
            ("odd/-rf", ""),
            ("odd/a", "a\n"),
        ] {
            let path = desk.path("work").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        for (name, content) in [
            ("HEAD", "ref: refs/heads/main\n"),
            ("config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"),
        ] {
            let git = desk.work().join(".git");
            fs::create_dir_all(git.join("objects/info")).unwrap();
            fs::create_dir_all(git.join("refs/heads")).unwrap();
            fs::write(git.join(name), content).unwrap();
        }
        desk
    }

    /// The same with secrets, links that lead out, a pipe, and names that are options.
    pub fn hostile() -> Self {
        let desk = Self::plain();
        let work = desk.work();
        for name in [
            ".env",
            ".env.local",
            ".env.production",
            "id_rsa",
            "keys/server.pem",
            "keys/server.key",
            ".ssh/config",
            ".aws/credentials",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".git-credentials",
            ".docker/config.json",
            ".kube/config",
            "odd/-rf",
            "odd/a",
            "links/README.md",
            "sub/a",
            "signs/a",
            ".git/modules/a/config",
        ] {
            let path = work.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "KEY=secret\n").unwrap();
        }
        for (target, link) in [
            ("../outside", "link-out"),
            ("../outside/secret.txt", "secret-link"),
            ("../../outside", "sub/deep-link"),
            ("nosuch", "dangling"),
            ("loop", "loop"),
            ("../../outside/secret.txt", "src/linked.rs"),
            ("../outside/secret.gz", "packed.gz"),
            ("../outside/secret.zip", "packed.zip"),
            ("../../outside/secret.txt", "signs/\u{f0001}"),
        ] {
            symlink(target, work.join(link)).unwrap();
        }
        assert!(Command::new("mkfifo").arg(work.join("pipe")).status().unwrap().success());
        desk
    }

    /// The working directory.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// A path beside it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }
}
