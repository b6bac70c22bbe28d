//! `del policy check --jsonl`: a command a line, a verdict a line.

use anyhow::Result;
use del_parallel::threads;
use del_tools::counted;
use serde_json::{Map, Value, json};

use super::Checker;
use crate::blocks::{self, Block};
use crate::exit::Exit;
use crate::input::Input;
use crate::say;
use crate::terminal::show_lines;

/// What became of a block.
#[derive(Default)]
struct Done {
    answers: String,
    lines: u64,
    bad: u64,
}

/// Answers in order, each as soon as its line is there. A line that cannot be read gets an error line.
pub(super) fn run(checker: &Checker, input: Input) -> Result<Exit> {
    let workers = (0..threads(usize::MAX)).map(|_| |block: Block| answer_all(checker, &block));
    let mut out = std::io::stdout().lock();
    let (mut lines, mut bad) = (0, 0);
    blocks::run(input, workers.collect(), |done: Done| {
        lines += done.lines;
        bad += done.bad;
        Ok(show_lines(done.answers.as_bytes(), &mut out)?)
    })?;
    if bad > 0 {
        say(format!("{bad} of {} had no answer; the lines say why", counted(lines, "line")));
    }
    Ok(Exit::Done)
}

fn answer_all(checker: &Checker, block: &Block) -> Done {
    let mut done = Done::default();
    if let Some((_, reason)) = block.too_long() {
        done.add(Err(failure(&Value::Null, "invalid_request", &reason)));
    }
    for (_, line) in block.lines() {
        done.add(answer(checker, line));
    }
    done
}

impl Done {
    fn add(&mut self, answer: Result<Value, Value>) {
        self.lines += 1;
        self.bad += u64::from(answer.is_err());
        let (Ok(answer) | Err(answer)) = answer;
        self.answers.push_str(&answer.to_string());
        self.answers.push('\n');
    }
}

fn answer(checker: &Checker, line: &[u8]) -> Result<Value, Value> {
    let request: Map<String, Value> = serde_json::from_slice(line).map_err(|error| {
        failure(&Value::Null, "invalid_json", &format!("expected a JSON object on one line: {error}"))
    })?;
    let id = request.get("id").cloned().unwrap_or_default();
    let invalid = |message: &str| failure(&id, "invalid_request", message);
    let Some(Value::String(command)) = request.get("command") else {
        return Err(invalid("expected `command`, a string"));
    };
    let checked = match request.get("cwd") {
        None | Some(Value::Null) => checker.check(command, &checker.ground()),
        Some(Value::String(directory)) => checker.check_in(command, directory),
        Some(_) => return Err(invalid("expected `cwd` to be a string")),
    };
    Ok(json!({"id": id, "verdict": checked.verdict, "reasons": checked.reasons}))
}

fn failure(id: &Value, code: &str, message: &str) -> Value {
    json!({"id": id, "error": {"code": code, "message": message}})
}
