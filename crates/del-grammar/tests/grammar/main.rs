//! Grammars, against the writer, the reader and a recogniser of GBNF.

#![expect(clippy::unwrap_used, clippy::panic, reason = "so a test fails")]

mod calls;
mod engines;
mod gbnf;
mod guidance;
mod own;
mod print;
mod random;
mod sampled;
mod schemas;

use std::sync::Arc;

use del_dialects::{Call, Collect, Dialect, Dialects, End, Message, Tool, Turn};
use del_grammar::{Choice, Grammar, GrammarError, Options};
use gbnf::Gbnf;
use serde_json::{Value, json};

fn built(
    dialect: &Dialect,
    tools: &[Tool],
    choice: &Choice,
    parallel: bool,
) -> Result<Grammar, GrammarError> {
    Grammar::new(dialect, tools, &Options::new(choice.clone()).parallel(parallel))
}

/// A grammar that has been printed and read again.
fn grammar(dialect: &Dialect, tools: &[Tool], choice: &Choice, parallel: bool) -> Gbnf {
    let text = built(dialect, tools, choice, parallel).unwrap().to_gbnf();
    Gbnf::read(&text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", dialect.name()))
}

fn dialect(name: &str) -> &'static Arc<Dialect> {
    Dialects::builtin().get(name).unwrap()
}

/// The dialects that can call any tool.
fn of_any_tool() -> impl Iterator<Item = &'static Arc<Dialect>> {
    Dialects::builtin().iter().filter(|dialect| dialect.tool().is_none())
}

fn tool(name: &str, parameters: Value) -> Tool {
    Tool { name: name.to_owned(), description: String::new(), parameters: parameters.into() }
}

fn call(name: &str, arguments: &Value) -> Call {
    Call { id: None, name: name.to_owned(), arguments: spaced(arguments) }
}

fn read(dialect: &Arc<Dialect>, tools: &[Tool], text: &str) -> Message {
    let mut parser = dialect.parser(Turn::new(tools));
    let mut collect = Collect::new();
    parser.push(text, &mut collect);
    parser.finish(End::End, &mut collect);
    collect.into_message()
}

/// JSON with a space behind `:` and `,`.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{}: {}", json!(key), spaced(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        scalar => scalar.to_string(),
    }
}
