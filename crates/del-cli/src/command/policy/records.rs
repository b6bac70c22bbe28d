//! `del policy check --jsonl`: a command a line, a verdict a line.

use std::io::{BufWriter, Write};

use anyhow::Result;

use serde_json::{Map, Value, json};

use super::Checker;
use crate::exit::Exit;
use crate::input::Input;
use crate::say;
use crate::terminal::shown;

/// Answers in order, each as soon as its line is there. A line that cannot be read gets an error line.
pub(super) fn run(checker: &Checker, mut input: Input) -> Result<Exit> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut line = Vec::new();
    let (mut lines, mut bad) = (0_u64, 0_u64);
    while input.line(&mut line)? {
        lines += 1;
        let answer = answer(checker, &line);
        bad += u64::from(answer.is_err());
        let (Ok(answer) | Err(answer)) = answer;
        writeln!(out, "{}", shown(&answer.to_string()))?;
        if !input.has_line() {
            out.flush()?;
        }
    }
    out.flush()?;
    if bad > 0 {
        say(format!("{bad} of {lines} lines had no answer; their lines say why"));
    }
    Ok(Exit::Done)
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
