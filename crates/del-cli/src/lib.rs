//! The program `del`: reads what language models write, and works with them at the terminal. It is no library for others: it
//! stands apart from `main`, so that a build has not to wait for all it is made of before it begins with this.
#![forbid(unsafe_code)]

mod age;
mod arguments;
mod assistant;
mod attachment;
mod blocks;
mod catalog;
mod clipboard;
mod colour;
mod command;
mod common;
mod config;
mod confined;
mod consent;
mod exchange;
mod exit;
mod folders;
mod glance;
mod hands;
mod held;
mod hooks;
mod input;
mod instructions;
mod interrupt;
mod keeping;
mod layout;
#[cfg(test)]
mod meaning;
mod onlooker;
mod progress;
mod project;
mod prompts;
mod record;
mod screen;
mod server;
mod servers;
mod session;
mod status;
mod table;
mod terminal;
mod tls;
mod todo;
mod trust;
mod web;
mod wrap;

use std::cell::RefCell;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use arguments::{Cli, Command};
use clap::CommandFactory as _;
use colour::{Paint, When};
use exit::Exit;

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    if let Some(code) = del_tools::launch() {
        return code;
    }
    let cli = Cli::read();
    let paint = Paint::stderr(cli.as_ref().map_or_else(|_| When::Auto, |cli| cli.common.color));
    match cli.and_then(run) {
        Ok(exit) => exit.into(),
        Err(error) => {
            if !exit::is_broken_pipe(&error) {
                tell(&format!("del: {} {}", paint.red("error:"), exit::line(&error)));
            }
            Exit::of(&error).into()
        }
    }
}

fn run(cli: Cli) -> Result<Exit> {
    let common = cli.common;
    match cli.command {
        Some(Command::Parse(options)) => command::parse::run(&options, &common),
        Some(Command::Dialects(options)) => command::dialects::run(&options, &common),
        Some(Command::Exec(options)) => command::exec::run(&options, &common),
        Some(Command::Tools(options)) => command::tools::run(&options, &common),
        Some(Command::Policy(options)) => command::policy::run(&options, &common),
        Some(Command::Render(options)) => command::render::run(&options, &common),
        Some(Command::Convert(options)) => command::convert::run(&options, &common),
        Some(Command::Grammar(options)) => command::grammar::run(&options, &common),
        Some(Command::Detect(options)) => command::detect::run(&options, &common),
        Some(Command::Mcp(options)) => command::mcp::run(&options, &common),
        Some(Command::Sessions(options)) => command::sessions::run(&options, &common),
        Some(Command::Trust(options)) => command::trust::run(&options, &common),
        Some(Command::Undo(options)) => command::undo::run(&options, &common),
        Some(Command::Models(options)) => command::models::run(&options, &common),
        Some(Command::Doctor(options)) => command::doctor::run(&options, &common),
        Some(Command::Serve(options)) => command::serve::run(&options, &common),
        Some(Command::Acp(options)) => command::acp::run(&options, &common, Cli::for_host),
        Some(Command::Config(options)) => command::config::run(&options, &common),
        Some(Command::Completions(options)) => command::completions::run(&options, Cli::command()),
        Some(Command::Man(options)) => command::man::run(&options, Cli::command()),
        None => match cli.assistant.task() {
            Some(prompt) => command::task::run(prompt, &cli.assistant, &common),
            None => command::chat::run(&cli.assistant, &common),
        },
    }
}

/// Shows a line in its own way.
type Host = Box<dyn Fn(&str)>;

thread_local! {
    /// Who hears what is said on this thread, in place of standard error.
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
}

/// What is said on this thread goes to `host` from now on.
pub(crate) fn say_to(host: impl Fn(&str) + 'static) {
    HOST.set(Some(Box::new(host)));
}

/// A line for the user, on standard error unless a host shows it. It is lost without a fuss when nobody reads it.
pub(crate) fn say(line: impl Display) {
    let line = line.to_string();
    if HOST.with_borrow(|host| host.as_ref().map(|host| host(&line))).is_none() {
        tell(&format!("del: {}", del_tools::visible(&line)));
    }
}

/// A line that is good to know and asks for nothing.
pub(crate) fn remark(line: impl Display) {
    let line = format!("del: {}", del_tools::visible(&line.to_string()));
    tell(&screen::stage::current().map_or(line.clone(), |stage| stage.dimmed(&line)));
}

fn tell(line: &str) {
    let line = &wrap::for_stderr(line, |_| "del: ".len());
    if let Some(stage) = screen::stage::current() {
        return stage.line(line);
    }
    let _ = writeln!(std::io::stderr(), "{line}");
}
