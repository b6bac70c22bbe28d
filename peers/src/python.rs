//! Engines that are Python packages, asked line by line through `engines.py`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::json;

use crate::Fail;
use crate::case::{Call, Case};
use crate::peer::{Mode, Reading, pieces};

/// A Python that has loaded one engine.
pub(crate) struct Python {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// What a parser made of a text; nothing at all where the engine has no such parser.
#[derive(Deserialize)]
struct Answer {
    calls: Option<Vec<Part>>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    name: String,
    arguments: String,
}

impl Python {
    /// Starts the Python at this path with this engine, or nothing where it cannot load it.
    pub(crate) fn start(python: &str, engine: &str) -> Result<Option<Self>, Fail> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/engines.py");
        let mut child = Command::new(python)
            .args([script, engine])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{python}: {error}"))?;
        let (Some(questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("expected pipes to Python, got none".into());
        };
        let mut started = Self { child, questions, answers: BufReader::new(answers) };
        let ready = started.answers.read_line(&mut String::new())? > 0;
        Ok(ready.then_some(started))
    }

    /// What a parser of the engine reads, or nothing where there is no such parser.
    pub(crate) fn read(&mut self, parser: &str, case: &Case, mode: Mode) -> Option<Reading> {
        match self.ask(parser, case, mode) {
            Err(error) => Some(Err(error)),
            Ok(Answer { error: Some(error), .. }) => Some(Err(error.into())),
            Ok(Answer { calls, .. }) => {
                let calls = calls?;
                Some(Ok(calls.iter().map(|call| Call::new(&call.name, &call.arguments)).collect()))
            }
        }
    }

    fn ask(&mut self, parser: &str, case: &Case, mode: Mode) -> Result<Answer, Fail> {
        let (pieces, stream) = (pieces(&case.text, mode), mode == Mode::Stream);
        let question = json!({"parser": parser, "tools": case.tools, "pieces": pieces, "stream": stream});
        writeln!(self.questions, "{question}")?;
        self.questions.flush()?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It only waits for questions; there is nothing that it could lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
