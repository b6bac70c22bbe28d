//! The command line, as clap reads it.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, CommandFactory, Error, FromArgMatches, Parser, Subcommand};

use crate::assistant::Assistant;
use crate::colour::{Paint, When};
use crate::command::{
    acp, completions, config, convert, detect, dialects, doctor, exec, grammar, man, mcp, models, parse,
    policy, render, serve, sessions, tools, trust, undo,
};
use crate::common::Common;
use crate::config::{Config, Layers, set_options};
use crate::exit::Exit;
use crate::input::plain;
use crate::project::{self, Project};
use crate::prompts;
use crate::session::SessionOptions;
use crate::wrap;

/// What most people want, where the long help ends and is seen.
const EXAMPLES: &str = "\
Examples:
  del                               a conversation in this directory
  del \"Why does the test fail?\"     one that begins with this question
  git diff | del -p \"Review this.\"  one task, with what is piped in
  del -c                            goes on with the last conversation
  del doctor                        finds out what works best with your model";

/// Makes any language model call tools, and works with it at the terminal.
#[derive(Debug, Parser)]
#[command(name = "del", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) assistant: Assistant,
}

impl Cli {
    /// The command line of this process, with what the configuration file sets; ends the process when there is nothing to
    /// run.
    pub(crate) fn read() -> Result<Self> {
        set_options(Assistant::options);
        let words: Vec<OsString> = std::env::args_os().collect();
        let given = Self::matches(Self::command(), &words).unwrap_or_else(|error| refuse(&error));
        if matches!(given.subcommand_name(), Some("config" | "completions" | "man" | "trust")) {
            // They work whatever the file says.
            return Ok(Self::from_arg_matches(&given).unwrap_or_else(|error| refuse(&error)));
        }
        let config = Config::load()?;
        let layers = config.layers(given.get_one("profile").map(String::as_str))?;
        let project = match given.subcommand_name() {
            None => project::decide(&given, &layers)?,
            Some(_) => Project::default(),
        };
        Ok(Self::with(&words, &given, config, layers, project).unwrap_or_else(|error| refuse(&error)))
    }

    /// What `del acp` was given, for a conversation in `directory`: with what the files say now, and what that brings
    /// along.
    pub(crate) fn for_host(directory: &Path) -> Result<SessionOptions> {
        let words: Vec<OsString> = std::env::args_os().collect();
        let given = Self::matches(Self::command(), &words)?;
        let config = Config::load()?;
        let layers = config.layers(given.get_one("profile").map(String::as_str))?;
        let project = project::of_host(directory, &given, &layers)?;
        let mut cli = Self::with(&words, &given, config, layers, project)?;
        Ok(cli.session().clone())
    }

    /// The command line with what files set.
    fn with(
        words: &[OsString],
        given: &ArgMatches,
        config: Config,
        mut layers: Layers,
        project: Project,
    ) -> std::result::Result<Self, Error> {
        layers.take_project(project.settings());
        let matches = Self::matches(layers.apply(Self::command(), given), words)?;
        let mut cli = Self::from_arg_matches(&matches)?;
        let mut prompts = prompts::own();
        prompts::add(&mut prompts, project.prompts());
        let session = cli.session();
        session.hooks = config.hooks.into_iter().chain(project.hooks()).collect();
        session.prompts = prompts.into();
        session.project = Arc::new(project);
        Ok(cli)
    }

    /// The options of whichever assistant this is.
    fn session(&mut self) -> &mut SessionOptions {
        match &mut self.command {
            Some(Command::Acp(options)) => &mut options.session,
            _ => &mut self.assistant.session,
        }
    }

    fn matches(command: clap::Command, words: &[OsString]) -> std::result::Result<ArgMatches, Error> {
        let matches = command.try_get_matches_from(words).map_err(|error| loose(error, words))?;
        if let Some(command) = matches.subcommand_name()
            && let Some(option) = assistants_own(&matches)
        {
            let message = format!("the option `--{option}` belongs to the assistant, not before `{command}`");
            return Err(Self::command().error(ErrorKind::ArgumentConflict, message));
        }
        match misplaced(&matches) {
            Some(error) => Err(error),
            None => Ok(matches),
        }
    }
}

/// Ends the process as clap does, but for lines that a terminal would break in the middle of a word.
fn refuse(error: &Error) -> ! {
    if !error.use_stderr() {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        let wrong = printed.err().filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe);
        let Some(wrong) = wrong else { std::process::exit(error.exit_code()) };
        eprintln!("del: error: cannot write to standard output: {}", plain(&wrong));
        std::process::exit(Exit::Failed as i32);
    }
    let text = error.render();
    let text = if Paint::stderr(When::Auto).is_on() { text.ansi().to_string() } else { text.to_string() };
    let indent = |line: &str| line.len() - line.trim_start().len();
    eprint!("{}", wrap::for_stderr(&text, indent));
    std::process::exit(error.exit_code());
}

/// Why a question that stands by itself cannot be one.
fn misplaced(matches: &ArgMatches) -> Option<Error> {
    let question = matches.get_one::<String>("question")?;
    let conflict = |message| Some(Cli::command().error(ErrorKind::ArgumentConflict, message));
    if let Some(command) = matches.subcommand_name() {
        return conflict(format!("expected a command or a question, got `{question}` before `{command}`"));
    }
    match matches.get_one::<String>("print") {
        Some(print) if print.is_empty() => None,
        Some(_) => {
            conflict(format!("expected one prompt behind -p, got `{question}` as well; put it in quotes"))
        }
        None if question.contains(char::is_whitespace) => None,
        None => Some(no_command(
            question,
            &format!("`del -p {question}` asks a model, `del --help` lists the commands"),
        )),
    }
}

/// What is wrong with a word too many, where no command takes words: it belongs to a question without quotes, or to a
/// command that there is none of.
fn loose(error: Error, words: &[OsString]) -> Error {
    let word = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].into_iter().find_map(|kind| {
        let Some(ContextValue::String(word)) = error.get(kind) else { return None };
        Some(word.as_str()).filter(|word| !word.starts_with('-'))
    });
    let command = Cli::command();
    let before: Vec<&OsString> =
        words.iter().skip(1).take_while(|other| Some(other.as_os_str()) != word.map(OsStr::new)).collect();
    let last = before.last().and_then(|word| word.to_str()).filter(|word| !word.starts_with('-'));
    match last {
        Some(last)
            if word.is_some() && !before.iter().any(|word| command.find_subcommand(word).is_some()) =>
        {
            no_command(last, "a question of several words stands in quotes")
        }
        _ => error,
    }
}

/// A word is a command that there is none of. `otherwise` says what else it may be.
fn no_command(word: &str, otherwise: &str) -> Error {
    let command = Cli::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let meant = similar::get_close_matches(word, &names, 1, 0.7);
    let meant = meant.first().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
    let message = format!("there is no command `{word}`{meant}; {otherwise}");
    Cli::command().error(ErrorKind::InvalidSubcommand, message)
}

/// An option of the assistant's that was given.
fn assistants_own(matches: &ArgMatches) -> Option<String> {
    let own = Assistant::augment_args(clap::Command::new("del"));
    let given =
        |arg: &&clap::Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    own.get_arguments().find(given).and_then(|arg| arg.get_long().map(str::to_owned))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Parse(parse::Options),
    Exec(exec::Options),
    Render(render::Options),
    Convert(convert::Options),
    Grammar(grammar::Options),
    Detect(detect::Options),
    Dialects(dialects::Options),
    Tools(tools::Options),
    Policy(policy::Options),
    Mcp(mcp::Options),
    Sessions(sessions::Options),
    Trust(trust::Options),
    Undo(undo::Options),
    Models(models::Options),
    Doctor(doctor::Options),
    Serve(Box<serve::Options>),
    Acp(Box<acp::Options>),
    Config(config::Options),
    Completions(completions::Options),
    Man(man::Options),
}

// It is that of the program with all of its features.
#[cfg(all(feature = "bulk", feature = "code"))]
#[cfg(test)]
mod reference;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_assistants_options_do_not_stand_before_a_command() {
        let read = |words: &[&str]| {
            Cli::matches(Cli::command(), &words.iter().map(OsString::from).collect::<Vec<_>>())
        };
        assert!(read(&["del", "--color", "never", "dialects"]).is_ok());
        assert!(read(&["del", "--debug"]).is_ok() && read(&["del", "dialects", "--json"]).is_ok());
        let task = |words: &[&str]| {
            let cli = Cli::from_arg_matches(&read(words).unwrap()).unwrap();
            (cli.assistant.task().map(str::to_owned), cli.assistant.question().map(str::to_owned))
        };
        assert_eq!(task(&["del", "-p", "--json", "two words"]).0.as_deref(), Some("two words"));
        assert_eq!(task(&["del", "-p", "--json", "word"]).0.as_deref(), Some("word"));
        assert_eq!(task(&["del", "-p", "word"]).0.as_deref(), Some("word"));
        assert_eq!(task(&["del", "two words", "--raw"]), (None, Some("two words".to_owned())));
        let error = read(&["del", "tolls"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidSubcommand);
        assert!(error.to_string().contains("did you mean `tools`?"), "{error}");
        assert!(read(&["del", "-p", "two", "words"]).is_err());
        for words in
            [&["del", "fix", "the", "bug"][..], &["del", "fix", "it"], &["del", "--raw", "fix", "it"]]
        {
            let said = read(words).unwrap_err().to_string();
            assert!(said.contains("there is no command `fix`; a question of several words"), "{said}");
        }
        let said = read(&["del", "session", "list"]).unwrap_err().to_string();
        assert!(said.contains("there is no command `session` (did you mean `sessions`?)"), "{said}");
        let said = read(&["del", "sessions", "list", "x"]).unwrap_err().to_string();
        assert!(said.contains("unexpected argument 'x'"), "{said}");
        for words in [["del", "--debug", "tools"], ["del", "--model=x", "dialects"]] {
            assert_eq!(read(&words).unwrap_err().kind(), ErrorKind::ArgumentConflict, "{words:?}");
        }
    }
}
