//! `del -p`: one task, then the end.

mod schema;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use del_agent::{Done, Failure, Image};
use schema::Schema;
use serde_json::{Value, json};

use crate::assistant::{Assistant, Format};
use crate::attachment::Attachment;
use crate::common::Common;
use crate::exit::Exit;
use crate::input::Input;
use crate::onlooker::Screen;
use crate::prompts::{self, Prompt};
use crate::record;
use crate::say;
use crate::screen::events::Events;
use crate::screen::look::Look;
use crate::screen::stage;
use crate::screen::transcript::{Shown, Transcript};
use crate::session::{self, Session, SessionOptions};
use crate::terminal::{comes_within, harmless, shown};

const MAX_TURNS: u32 = 25;

/// An answer, or how the run ends without one and why.
type Outcome = Result<Done, (Exit, String)>;

pub(crate) fn run(prompt: &str, options: &Assistant, common: &Common) -> Result<Exit> {
    options.bell.hang();
    let format = options.format();
    let Asked { question, images, schema, named } =
        asked(prompt, options).inspect_err(|error| print_unopened(error, format))?;
    if format == Format::Text {
        stage::open(Look::find(common.color));
    }
    let mut session = open(options, common).inspect_err(|error| print_unopened(error, format))?;
    session.attach(images).inspect_err(|error| print_unopened(error, format))?;
    if let Some(prompt) = &named {
        session.hands.let_only_those_of(prompt);
    }
    let id = session.record.id().to_owned();
    let piped = !std::io::stdout().is_terminal();
    // What may have to be asked for again is not shown before it fits. A pipe gets the answer alone, and text is no answer
    // where a call follows.
    let last = !piped || session.hands.tools().is_empty();
    let live = format == Format::Text && schema.is_none() && last;
    let mut screen: Box<dyn Screen> = if format == Format::StreamJson {
        let mut events = Events::default();
        events.print(&init(&session, &id));
        events.print(&json!({"type": "message", "role": "user", "content": question, "delta": false}));
        Box::new(events)
    } else {
        let debug = options.session.debug;
        let reasoning = !options.session.hide_reasoning;
        let shown = Shown { live, piped, debug, reasoning, raw: options.raw, unfolds: false };
        Box::new(Transcript::new(shown, Look::find(common.color), session.tried()))
    };
    let outcome = told(session.ask(&question, &mut *screen)?);
    let outcome = match (&schema, outcome) {
        (Some(schema), Ok(done)) => fitted(&mut session, schema, done, &mut *screen)?,
        (_, outcome) => outcome,
    };
    let outcome = outcome.and_then(|done| something(done, &session));
    drop(screen);
    session.hands.end_jobs();
    session.hands.advice("--unsafe").into_iter().for_each(say);
    if let (Format::StreamJson, Err((exit, why))) = (format, &outcome) {
        Events::default().print(&error_event(*exit, why));
    }
    let mut out = std::io::stdout().lock();
    match &outcome {
        _ if format != Format::Text => {
            writeln!(out, "{}", shown(&result(&outcome, &session, &id).to_string()))?;
        }
        Ok(done) if !live && !done.answer.is_empty() => {
            let answer = if options.raw { shown(&done.answer) } else { harmless(&done.answer) };
            writeln!(out, "{answer}")?;
        }
        _ => {}
    }
    match outcome {
        Ok(_) => Ok(Exit::Done),
        Err((exit, why)) => Err(exit.because(why)),
    }
}

/// All that is asked.
struct Asked {
    question: String,
    images: Vec<Image>,
    schema: Option<Schema>,
    /// The command or skill that the question named.
    named: Option<Prompt>,
}

fn asked(prompt: &str, options: &Assistant) -> Result<Asked> {
    let (mut question, named) = named(question(prompt, !options.file.is_empty())?, &options.session)?;
    let images = attach(&mut question, &options.file)?;
    let schema = options.schema.as_deref().map(Schema::read).transpose()?;
    if let Some(schema) = &schema {
        question = schema.added_to(&question);
    }
    Ok(Asked { question, images, schema, named })
}

fn told(outcome: Result<Done, Failure>) -> Outcome {
    outcome.map_err(|failure| (session::exit(&failure), failure.to_string()))
}

/// The answer. Without a word, a task has failed, unless something was done for it.
fn something(done: Done, session: &Session) -> Outcome {
    if done.answer.trim().is_empty() && session.is_unanswered() {
        return Err((Exit::Failed, "there is no answer. Ask again, or take another model".to_owned()));
    }
    Ok(done)
}

/// Has the answer fit: as it is, or as it is given again, without tools and held to the schema where the server can.
fn fitted(
    session: &mut Session,
    schema: &Schema,
    mut done: Done,
    screen: &mut dyn Screen,
) -> Result<Outcome> {
    let mut format = Some(schema.response_format());
    for attempt in 1.. {
        let trouble = match schema.fit(&done.answer) {
            Ok(answer) => return Ok(Ok(Done { answer, ..done })),
            Err(trouble) => trouble,
        };
        if attempt == schema::TRIES {
            let why = format!("the answer does not fit the schema after {attempt} tries: {trouble}");
            return Ok(Err((Exit::Failed, why)));
        }
        say(format!("the answer does not fit the schema ({trouble}); asking again"));
        let complaint = schema.complaint(&trouble);
        session.hold_to(format.clone())?;
        let mut outcome = session.ask(&complaint, screen)?;
        if format.is_some() && matches!(outcome, Err(Failure::Refused { .. })) {
            // This server cannot; the model can still be asked.
            format = None;
            session.hold_to(None)?;
            outcome = session.ask(&complaint, screen)?;
        }
        match told(outcome) {
            Ok(again) => done = again,
            Err(failure) => return Ok(Err(failure)),
        }
    }
    Ok(Ok(done))
}

/// What the command or skill says that the question names, if it names one.
fn named(question: String, options: &SessionOptions) -> Result<(String, Option<Prompt>)> {
    if let Some((prompt, rest)) = prompts::named(&options.prompts, &question) {
        let filled = prompt.filled(rest).map_err(|error| Exit::BadInput.because(error.to_string()))?;
        return Ok((filled, Some(prompt.clone())));
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

/// Adds the files to the question; their images.
fn attach(question: &mut String, files: &[PathBuf]) -> Result<Vec<Image>> {
    let mut images = Vec::new();
    for path in files {
        let attachment = Attachment::read(path).map_err(|why| Exit::BadInput.because(why))?;
        attachment.add_to(question, &mut images, path);
    }
    Ok(images)
}

/// A session with all its tools.
fn open(options: &Assistant, common: &Common) -> Result<Session> {
    let mut session = Session::open(&options.session, common, MAX_TURNS)?;
    if session.gather()? { Ok(session) } else { Err(Exit::Interrupted.because("interrupted")) }
}

/// The prompt, and what is piped in.
fn question(prompt: &str, attached: bool) -> Result<String> {
    let mut question = prompt.trim().to_owned();
    if !std::io::stdin().is_terminal() {
        tell_what_is_waited_for();
        let piped = Input::open(None)?.text()?;
        let piped = piped.trim_matches(['\n', '\r']);
        if !piped.trim().is_empty() {
            if !question.is_empty() {
                question.push_str("\n\n");
            }
            question.push_str(piped);
        }
    }
    if question.is_empty() && !attached {
        return Err(Exit::BadInput.because("expected a prompt after -p or on standard input, got nothing"));
    }
    Ok(question)
}

/// Says so where nothing comes from standard input for seconds: who started this may have left it open without a thought.
fn tell_what_is_waited_for() {
    if !comes_within(&std::io::stdin(), Duration::from_secs(3)) {
        say("waiting for standard input to end, which is part of the prompt; `< /dev/null` gives none");
    }
}

fn init(session: &Session, id: &str) -> Value {
    let tools: Vec<&str> = session.hands.tools().iter().map(|tool| tool.name.as_str()).collect();
    json!({
        "type": "init", "session_id": id, "version": env!("CARGO_PKG_VERSION"),
        "model": session.settings.model, "base_url": session.server.base,
        "working_dir": session.hands.toolbox.directory(), "dialect": session.dialect(), "tools": tools,
    })
}

fn result(outcome: &Outcome, session: &Session, id: &str) -> Value {
    let text = match outcome {
        Ok(done) => done.answer.clone(),
        Err((_, why)) => why.clone(),
    };
    let usage = session.usage();
    // Why the model wrote no more; nothing where there is no answer.
    let stop = outcome.as_ref().ok().map(|done| if done.cut { "length" } else { "end" });
    json!({
        "type": "result", "result": text, "session_id": id, "num_turns": session.turns,
        "usage": {"input_tokens": usage.prompt, "output_tokens": usage.completion},
        "is_error": outcome.is_err(), "stop_reason": stop, "denied": session.hands.denied(),
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
            "stop_reason": null, "denied": 0,
        }));
    }
}
