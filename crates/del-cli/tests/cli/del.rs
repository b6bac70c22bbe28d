//! Runs the program.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program, with nothing of this machine's settings, and with nobody to ask.
pub(crate) fn del<S: AsRef<OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_del"));
    command.args(arguments).process_group(0);
    for name in SETTINGS {
        command.env_remove(name);
    }
    command.env("HOME", "/dev/null/home").env("TERM", "xterm");
    command
}

/// Variables that change what the program does.
pub(crate) const SETTINGS: [&str; 22] = [
    "LC_ALL",
    "LC_CTYPE",
    "LANG",
    "DEL_PLAIN",
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "OLLAMA_HOST",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_KEY",
    "NO_COLOR",
    "CLICOLOR_FORCE",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "DEL_SHELL",
    "DEL_WEB_PROVIDER",
    "DEL_WEB_URL",
    "DEL_WEB_API_KEY_ENV",
    "BRAVE_API_KEY",
];

/// Runs it to its end with this input.
pub(crate) fn run(command: &mut Command, input: impl AsRef<[u8]>) -> Run {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    // It may end before it has read everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs it with these arguments and without input.
pub(crate) fn plain<S: AsRef<OsStr>>(arguments: &[S]) -> Run {
    run(&mut del(arguments), "")
}

impl Run {
    /// The output, which has to be one JSON document.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// The output, which has to be a JSON document a line.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect()
    }

    /// The run failed in this way, and said so in one line.
    pub(crate) fn fails(&self, code: i32, says: &str) {
        assert_eq!(self.code, code, "{self:#?}");
        let lines: Vec<&str> = self.err.lines().filter(|line| line.contains("error:")).collect();
        assert_eq!(lines.len(), 1, "{self:#?}");
        // What is wrong with the command line itself is told with the usage.
        let said = if code == 2 { self.err.as_str() } else { lines[0] };
        assert!(said.contains(says), "expected {says:?}: {self:#?}");
    }
}

/// A directory with these files.
pub(crate) fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    directory
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
