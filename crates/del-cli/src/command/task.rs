//! `del -p`: one task, then the end.

use std::io::{IsTerminal, Write};

use anyhow::Result;
use clap::ValueEnum;
use del_agent::{Done, Failure};
use serde_json::{Value, json};

use crate::arguments::{Assistant, Common};
use crate::exit::Exit;
use crate::input::Input;
use crate::prompts::{self, Prompt};
use crate::record;
use crate::screen::events::Events;
use crate::screen::look::Look;
use crate::screen::stage;
use crate::screen::transcript::{Shown, Transcript};
use crate::session::{self, Session, SessionOptions};
use crate::terminal::shown;

/// What standard output carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The answer
    Text,
    /// One object at the end
    Json,
    /// Events as they happen, an object a line
    StreamJson,
}

const MAX_TURNS: u32 = 25;

pub(crate) fn run(prompt: &str, options: &Assistant, common: &Common) -> Result<Exit> {
    let (question, named) = named(question(prompt)?, &options.session)?;
    let format = options.output_format;
    if format == Format::Text {
        stage::open(Look::find(common.color));
    }
    let mut session = open(options, common).inspect_err(|error| print_unopened(error, format))?;
    if let Some(prompt) = &named {
        session.hands.let_only_those_of(prompt);
    }
    let id = session.record.id().to_owned();
    let live = format == Format::Text && std::io::stdout().is_terminal();
    let outcome = if format == Format::StreamJson {
        let mut events = Events::default();
        events.print(&init(&session, &id));
        events.print(&json!({"type": "message", "role": "user", "content": question, "delta": false}));
        let outcome = session.ask(&question, &mut events)?;
        if let Err(failure) = &outcome {
            events.print(&error_event(session::exit(failure), &failure.to_string()));
        }
        outcome
    } else {
        let debug = options.session.debug;
        let reasoning = !options.session.hide_reasoning;
        let shown = Shown { live, debug, reasoning, raw: options.raw, unfolds: false };
        session.ask(&question, &mut Transcript::new(shown, Look::find(common.color), session.tried()))?
    };
    let mut out = std::io::stdout().lock();
    match &outcome {
        _ if format != Format::Text => {
            writeln!(out, "{}", shown(&result(&outcome, &session, &id).to_string()))?;
        }
        Ok(done) if !live && !done.answer.is_empty() => writeln!(out, "{}", done.answer)?,
        _ => {}
    }
    match outcome {
        Ok(_) => Ok(Exit::Done),
        Err(failure) => Err(session::exit(&failure).because(failure.to_string())),
    }
}

/// What the command or skill says that the question names, if it names one.
fn named(question: String, options: &SessionOptions) -> Result<(String, Option<Prompt>)> {
    if let Some((prompt, rest)) = prompts::named(&options.prompts, &question) {
        return Ok((prompt.filled(rest), Some(prompt.clone())));
    }
    let name = question.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
    match options.project.prompt(name).filter(|part| !part.is_trusted()) {
        Some(part) => Err(Exit::Untrusted.because(format!(
            "/{name} is {}, which you have not agreed to; `del trust` shows it and asks",
            options.project.name(part)
        ))),
        None => Ok((question, None)),
    }
}

/// A session with all its tools.
fn open(options: &Assistant, common: &Common) -> Result<Session> {
    let mut session = Session::open(&options.session, common, MAX_TURNS)?;
    if session.gather()? { Ok(session) } else { Err(Exit::Interrupted.because("interrupted")) }
}

/// The prompt, and what is piped in.
fn question(prompt: &str) -> Result<String> {
    let mut question = prompt.trim().to_owned();
    if !std::io::stdin().is_terminal() {
        let piped = Input::open(None)?.text()?;
        let piped = piped.trim_matches(['\n', '\r']);
        if !piped.trim().is_empty() {
            if !question.is_empty() {
                question.push_str("\n\n");
            }
            question.push_str(piped);
        }
    }
    if question.is_empty() {
        return Err(Exit::BadInput.because("expected a prompt after -p or on standard input, got nothing"));
    }
    Ok(question)
}

fn init(session: &Session, id: &str) -> Value {
    let tools: Vec<&str> = session.hands.tools().iter().map(|tool| tool.name.as_str()).collect();
    json!({
        "type": "init", "session_id": id, "version": env!("CARGO_PKG_VERSION"),
        "model": session.settings.model, "base_url": session.server.base,
        "working_dir": session.hands.toolbox.directory(), "dialect": session.dialect(), "tools": tools,
    })
}

fn result(outcome: &Result<Done, Failure>, session: &Session, id: &str) -> Value {
    let text = match outcome {
        Ok(done) => done.answer.clone(),
        Err(failure) => failure.to_string(),
    };
    let usage = session.usage();
    json!({
        "type": "result", "result": text, "session_id": id, "num_turns": session.turns,
        "usage": {"input_tokens": usage.prompt, "output_tokens": usage.completion},
        "is_error": outcome.is_err(),
    })
}

fn error_event(exit: Exit, message: &str) -> Value {
    json!({"type": "error", "code": exit as u8, "message": message})
}

/// A run that never began has a result as well, for whoever reads results.
fn print_unopened(error: &anyhow::Error, format: Format) {
    let id = record::new_id();
    let message = error.to_string();
    let mut events = Events::default();
    if format == Format::StreamJson {
        events.print(&error_event(Exit::of(error), &message));
    }
    if format != Format::Text {
        events.print(&json!({
            "type": "result", "result": message, "session_id": id, "num_turns": 0,
            "usage": {"input_tokens": 0, "output_tokens": 0}, "is_error": true,
        }));
    }
}
