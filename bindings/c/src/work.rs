//! What is done on this side of the border, in Rust's own types.

use std::sync::Arc;

use del_dialects::{Call, CallResult, Collect, Detail, Dialect, Dialects, End, Parser, Start, Tool, Turn};
use del_grammar::{Choice, Grammar, Options};
use del_wire::{Ids, Prompt, answer};
use serde_json::Value;

use crate::failure::{Code, Failure};

pub(crate) fn dialect(name: &str) -> Result<Arc<Dialect>, Failure> {
    let known = Dialects::builtin().named(name).cloned();
    known.map_err(|error| Failure::new(Code::DelUnknownDialect, error))
}

pub(crate) fn described(toml: &str, name: &str) -> Result<Arc<Dialect>, Failure> {
    let dialect = Dialect::from_toml(name, toml).map(Arc::new);
    dialect.map_err(|error| Failure::new(Code::DelBadDescription, format_args!("{name}: {error}")))
}

pub(crate) fn tools(json: &str) -> Result<Arc<[Tool]>, Failure> {
    let tools = del_wire::tools::read_text(json).map_err(|error| Failure::new(Code::DelBadTools, error))?;
    Ok(tools.into())
}

/// A parser of one dialect, or of all at once.
pub(crate) fn parser(dialect: Option<&Arc<Dialect>>, tools: Arc<[Tool]>, starts: Start) -> Parser {
    let turn = Turn::new(tools).starting(starts);
    dialect.map_or_else(|| Dialects::builtin().parser(turn.clone()), |dialect| dialect.parser(turn.clone()))
}

/// A whole answer, as `del parse` prints it.
pub(crate) fn message(mut parser: Parser, text: &str, end: End) -> Result<String, Failure> {
    let mut collect = Collect::new();
    parser.push(text, &mut collect);
    parser.finish(end, &mut collect);
    let message = collect.into_message();
    serde_json::to_string(&answer::answer(&message, &mut Ids::of_text(text.as_bytes())))
        .map_err(|error| Failure::new(Code::DelInternal, error))
}

pub(crate) fn prompt(dialect: &Arc<Dialect>, tools: &[Tool], detail: Detail) -> String {
    dialect.system_prompt(tools, detail)
}

pub(crate) fn calls(dialect: &Arc<Dialect>, calls: &str, tools: &[Tool]) -> Result<String, Failure> {
    let calls: Vec<Call> = given("calls", calls)?;
    dialect.render_calls(&calls, tools).map_err(|error| Failure::new(Code::DelCannotRender, error))
}

pub(crate) fn results(dialect: &Dialect, results: &str) -> Result<String, Failure> {
    let results: Vec<CallResult> = given("results", results)?;
    Ok(dialect.render_results(&results))
}

pub(crate) fn messages(dialect: &Arc<Dialect>, messages: &str, tools: &[Tool]) -> Result<String, Failure> {
    let messages: Vec<Value> = given("messages", messages)?;
    let mut prompt = Prompt::new(dialect, tools);
    prompt.read(&messages).map_err(|error| Failure::new(Code::DelCannotRender, error))?;
    Ok(Value::Array(prompt.into_messages()).to_string())
}

pub(crate) fn neutral(text: &str) -> String {
    Dialects::builtin().neutralise(text).into_owned()
}

pub(crate) fn restored(text: &str) -> String {
    Dialects::builtin().restore(text).into_owned()
}

pub(crate) fn restored_json(json: &str) -> String {
    Dialects::builtin().restore_json(json).into_owned()
}

pub(crate) fn grammar(
    dialect: &Dialect,
    tools: &[Tool],
    choice: Option<&str>,
    parallel: bool,
    thinking: bool,
) -> Result<Grammar, Failure> {
    let choice = match choice {
        None | Some("auto") => Choice::Auto,
        Some("required") => Choice::Required,
        Some(name) => Choice::Named(name.to_owned()),
    };
    let options = Options::new(choice).parallel(parallel).thinking(thinking);
    Grammar::new(dialect, tools, &options).map_err(|error| Failure::new(Code::DelNoGrammar, error))
}

fn given<'t, T: serde::Deserialize<'t>>(what: &str, json: &'t str) -> Result<T, Failure> {
    serde_json::from_str(json)
        .map_err(|error| Failure::new(Code::DelBadArgument, format_args!("{what}: {error}")))
}
