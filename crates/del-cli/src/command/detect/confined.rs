//! A chat template is a program of somebody else's: it runs in a process of its own, which has little time and memory.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use del_detect::{Material, Report, Ways};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::Value;

use crate::arguments::Common;
use crate::catalog::Catalog;
use crate::exit::Exit;

/// What the process is asked.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) material: Material,
    pub(crate) ways: Ways,
}

/// Bytes of memory, the program itself included.
const MEMORY: u64 = 512 << 20;
/// Seconds of work. A template takes a tenth of one; a debug build is many times slower.
const SECONDS: u64 = if cfg!(debug_assertions) { 60 } else { 2 };

/// Asks a process that is confined.
pub(crate) fn ask(question: &Question, common: &Common) -> Result<Report> {
    let own = std::env::current_exe().context("cannot find this program to run the template in")?;
    let mut command = Command::new(own);
    command
        .args(["detect", "--confined"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(folder) = &common.dialect_dir {
        command.arg("--dialect-dir").arg(folder);
    }
    let mut child = command.spawn().context("cannot start a process to run the template in")?;
    let text = serde_json::json!({
        "material": question.material,
        "rendering_only": question.ways == Ways::Rendering,
    })
    .to_string();
    let mut input = child.stdin.take();
    let writer = std::thread::spawn(move || input.as_mut().map(|input| input.write_all(text.as_bytes())));
    let output = child.wait_with_output().context("cannot read from the process that runs the template")?;
    let _ = writer.join();
    let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    match answer {
        Some(answer) if output.status.success() => Ok(serde_json::from_value(answer)
            .context("the process that runs the template says nothing sensible")?),
        Some(answer) => Err(Exit::BadInput.because(answer["error"].as_str().unwrap_or_default())),
        // It was ended by a limit.
        None if output.status.code().is_none() => Err(Exit::BadInput.because(format!(
            "the template does not come to an end within {SECONDS} seconds and {} MiB of memory",
            MEMORY >> 20
        ))),
        None => {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(Exit::of_code(output.status.code()).because(told.trim_start_matches("del: error: ").trim()))
        }
    }
}

/// Answers the question on standard input, as the process that is confined.
pub(crate) fn answer(catalog: Catalog) -> Result<Exit> {
    for (resource, limit) in [(Resource::As, MEMORY), (Resource::Cpu, SECONDS), (Resource::Core, 0)] {
        // Where a limit cannot be set, the template's steps and its text are limited all the same.
        let _ = setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let question: Value = serde_json::from_str(&text)?;
    let material: Material = serde_json::from_value(question["material"].clone())?;
    let ways = if question["rendering_only"] == true { Ways::Rendering } else { Ways::All };
    let mut out = std::io::stdout().lock();
    match del_detect::detect(&material, catalog.all(), ways) {
        Ok(report) => {
            writeln!(out, "{}", serde_json::to_value(report)?)?;
            Ok(Exit::Done)
        }
        Err(error) => {
            writeln!(out, "{}", serde_json::json!({"error": error.to_string()}))?;
            Ok(Exit::BadInput)
        }
    }
}
