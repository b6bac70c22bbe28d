//! The configuration file: values for options, which hold where the command line says nothing.
//!
//! A value becomes the default of its option, so the command line reads it as it reads one that was typed. The server, its
//! model and its key belong together: with another address, those of the file do not count.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgMatches, Args, Command};
use toml::de::{DeTable, DeValue};

use crate::arguments::{Assistant, Common};
use crate::exit::Exit;
use crate::folders;
use crate::input::read_text;

/// What a file can set.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The option that it is a value for.
    option: &'static str,
    kind: Kind,
    scope: Scope,
    /// Variables of the environment that count more; the first that is set.
    pub(crate) variables: &'static [&'static str],
    /// How it may stand in a file.
    pub(crate) example: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Texts,
    /// A path, absolute or from the home directory on.
    Path,
    Paths,
    Number,
    Switch,
}

/// Which commands it holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The assistant, and what every command takes.
    Assistant,
    /// Those that ask the model server for its own sake.
    Server,
    /// All that have the option.
    All,
}

/// A value in a file.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    pub(crate) values: Vec<String>,
    pub(crate) line: usize,
}

/// A file that was read; one that is not there sets nothing.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) settings: Vec<Setting>,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {message}", path.display())]
pub(crate) struct Wrong {
    path: PathBuf,
    line: usize,
    message: String,
}

/// All keys, in the order in which they are shown.
pub(crate) const KEYS: [Key; 21] = [
    Key {
        variables: &["OPENAI_BASE_URL", "OLLAMA_HOST"],
        ..key("base_url", "base-url", Kind::Text, Scope::Server, "\"http://127.0.0.1:11434/v1\"")
    },
    key("model", "model", Kind::Text, Scope::Server, "\"qwen3:8b\""),
    key("api_key_env", "api-key-env", Kind::Text, Scope::Server, "\"OPENAI_API_KEY\""),
    key("dialect", "dialect", Kind::Text, Scope::Assistant, "\"auto\""),
    key("tools_mode", "tools-mode", Kind::Text, Scope::Assistant, "\"prompt\""),
    key("constrain", "constrain", Kind::Text, Scope::Assistant, "\"on\""),
    key("toolset", "toolset", Kind::Text, Scope::Assistant, "\"core\""),
    key("tools", "tools", Kind::Texts, Scope::Assistant, "[\"read_file\", \"mcp__files__*\"]"),
    key("max_turns", "max-turns", Kind::Number, Scope::Assistant, "50"),
    key("approval_mode", "approval-mode", Kind::Text, Scope::All, "\"auto-edit\""),
    key("allow_tool", "configured-allow-tool", Kind::Texts, Scope::All, "[\"run_command(cargo test:*)\"]"),
    key("deny_tool", "configured-deny-tool", Kind::Texts, Scope::All, "[\"run_command(git push:*)\"]"),
    key("allow_dir", "allow-dir", Kind::Paths, Scope::All, "[\"~/notes\"]"),
    key("sandbox", "sandbox", Kind::Text, Scope::All, "\"on\""),
    key("allow_network", "allow-network", Kind::Switch, Scope::All, "true"),
    key("hide_secrets", "hide-secrets", Kind::Switch, Scope::All, "true"),
    key("no_mcp", "no-mcp", Kind::Switch, Scope::All, "true"),
    key("no_session", "no-session", Kind::Switch, Scope::Assistant, "true"),
    key("hide_reasoning", "hide-reasoning", Kind::Switch, Scope::Assistant, "true"),
    key("color", "color", Kind::Text, Scope::Assistant, "\"never\""),
    key("dialect_dir", "dialect-dir", Kind::Path, Scope::Assistant, "\"~/dialects\""),
];

/// What a session that goes on has of its own.
const OF_A_SESSION: [&str; 3] = ["model", "dialect", "tools_mode"];
/// What belongs to one server.
const OF_A_SERVER: [&str; 3] = ["base_url", "model", "api_key_env"];

const fn key(
    name: &'static str,
    option: &'static str,
    kind: Kind,
    scope: Scope,
    example: &'static str,
) -> Key {
    Key { name, option, kind, scope, variables: &[], example }
}

/// Where the user's file is, whether it is there or not.
pub(crate) fn path() -> Option<PathBuf> {
    Some(folders::configuration()?.join("config.toml"))
}

impl Config {
    /// The user's file.
    pub(crate) fn load() -> Result<Self> {
        let Some(path) = path().filter(|path| path.exists()) else { return Ok(Self::default()) };
        let text = read_text(&path, Exit::Configuration)?;
        Self::parse(&text, &path).map_err(|wrong| Exit::Configuration.because(wrong.to_string()))
    }

    /// Reads the text of the file `path`, and checks each value as the command line does.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Self, Wrong> {
        let wrong = |offset: usize, message: String| {
            let line = text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
            Wrong { path: path.to_owned(), line, message }
        };
        let table = DeTable::parse(text).map_err(|error| {
            wrong(error.span().map_or(0, |span| span.start), error.message().replace('\n', "; "))
        })?;
        let mut settings = Vec::new();
        for (name, value) in table.get_ref() {
            let at = name.span().start;
            let key = KEYS.iter().find(|key| key.name == name.get_ref()).ok_or_else(|| {
                let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
                wrong(at, format!("expected one of {}; got `{}`", names.join(", "), name.get_ref()))
            })?;
            let values = key
                .values(value.get_ref())
                .map_err(|message| wrong(value.span().start, format!("{}: {message}", key.name)))?;
            let line = wrong(at, String::new()).line;
            settings.push(Setting { key, values, line });
        }
        settings.sort_by_key(|setting| setting.line);
        let lonely = settings.iter().find(|setting| setting.key.name == "api_key_env");
        if let Some(setting) = lonely.filter(|_| !settings.iter().any(|other| other.key.name == "base_url")) {
            let message = "api_key_env: expected a base_url beside it, whose server the key is for; got none";
            return Err(Wrong { path: path.to_owned(), line: setting.line, message: message.to_owned() });
        }
        Ok(Self { settings })
    }

    /// The command line with the values of the file as defaults. `given` is what was typed, read without them.
    pub(crate) fn apply(&self, command: Command, given: &ArgMatches) -> Command {
        let mut left_out = HashSet::new();
        let typed = |name: &str| {
            let within = given.subcommand().map(|(_, within)| within);
            [Some(given), within].into_iter().flatten().any(|matches| {
                matches.try_contains_id(name).unwrap_or(false)
                    && matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine)
            })
        };
        if typed("base_url") || of_environment("base_url").is_some() {
            left_out.extend(OF_A_SERVER);
        }
        if typed("goes_on") || typed("resume") {
            left_out.extend(OF_A_SESSION);
        }
        let settings: Vec<&Setting> =
            self.settings.iter().filter(|setting| !left_out.contains(setting.key.name)).collect();
        with_defaults(command, &[], &settings)
    }

    /// The value of a key in the file.
    pub(crate) fn get(&self, key: &Key) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key.name == key.name)
    }
}

/// The variable that counts more than the file, and its value.
pub(crate) fn of_environment(name: &str) -> Option<(&'static str, String)> {
    let key = KEYS.iter().find(|key| key.name == name)?;
    key.variables.iter().find_map(|variable| {
        let value = std::env::var(variable).ok().filter(|value| !value.trim().is_empty())?;
        Some((*variable, value))
    })
}

/// Whether the file's value is for another server than the one that the environment names.
pub(crate) fn is_for_another_server(key: &Key) -> bool {
    OF_A_SERVER.contains(&key.name) && of_environment("base_url").is_some()
}

fn with_defaults(command: Command, path: &[&str], settings: &[&Setting]) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let mut command = command.mut_args(|arg| {
        let setting = settings
            .iter()
            .find(|setting| Some(setting.key.option) == arg.get_long() && setting.key.holds(path));
        match setting {
            // The command line of a run lives as long as the program does.
            Some(setting) => arg.default_values(setting.values.iter().map(|value| &*value.clone().leak())),
            None => arg,
        }
    });
    for name in names {
        let inner = [path, &[name.as_str()]].concat();
        command = command.mut_subcommand(&name, |sub| with_defaults(sub, &inner, settings));
    }
    command
}

impl Key {
    fn holds(&self, path: &[&str]) -> bool {
        match self.scope {
            Scope::Assistant => path.is_empty(),
            Scope::Server => matches!(path, [] | ["models" | "doctor"]),
            Scope::All => true,
        }
    }

    /// The option of the assistant that it is a value for.
    fn arg(&self) -> Option<Arg> {
        let command = Common::augment_args(Assistant::augment_args(Command::new("del")));
        command.get_arguments().find(|arg| arg.get_long() == Some(self.option)).cloned()
    }

    /// What the option is for.
    pub(crate) fn about(&self) -> String {
        self.arg().and_then(|arg| arg.get_help().map(StyledStr::to_string)).unwrap_or_default()
    }

    /// What holds where nobody says anything.
    pub(crate) fn default(&self) -> Option<String> {
        let arg = self.arg()?;
        let values: Vec<&str> = arg.get_default_values().iter().filter_map(|value| value.to_str()).collect();
        match self.kind {
            Kind::Switch => Some("false".to_owned()),
            _ => Some(values.join(", ")).filter(|text| !text.is_empty()),
        }
    }

    /// The texts of a value, or what is wrong with it.
    fn values(&self, value: &DeValue<'_>) -> Result<Vec<String>, String> {
        let wrong = |expected: &str, got: &DeValue<'_>| format!("expected {expected}, got {}", kind_of(got));
        let text = |value: &DeValue<'_>| match value {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(wrong("a string", other)),
        };
        let values = match (self.kind, value) {
            (Kind::Text, _) => vec![text(value)?],
            (Kind::Path, _) => vec![absolute(&text(value)?)?],
            (Kind::Number, DeValue::Integer(number)) => vec![number.as_str().to_owned()],
            (Kind::Number, other) => return Err(wrong("a number", other)),
            (Kind::Switch, DeValue::Boolean(on)) => return Ok(vec![on.to_string()]),
            (Kind::Switch, other) => return Err(wrong("true or false", other)),
            (Kind::Texts, DeValue::Array(list)) => {
                list.iter().map(|item| text(item.get_ref())).collect::<Result<_, _>>()?
            }
            (Kind::Paths, DeValue::Array(list)) => {
                list.iter().map(|item| absolute(&text(item.get_ref())?)).collect::<Result<_, _>>()?
            }
            (Kind::Texts | Kind::Paths, other) => return Err(wrong("a list of strings", other)),
        };
        values.iter().try_for_each(|value| self.check(value))?;
        Ok(values)
    }

    /// Reads a value as the command line does.
    fn check(&self, value: &str) -> Result<(), String> {
        let Some(arg) = self.arg() else { return Ok(()) };
        let word = OsString::from(format!("--{}={value}", self.option));
        let Err(error) = Command::new("del").no_binary_name(true).arg(arg).try_get_matches_from([word])
        else {
            return Ok(());
        };
        Err(match (error.get(ContextKind::ValidValue), std::error::Error::source(&error)) {
            (Some(ContextValue::Strings(valid)), _) if !valid.is_empty() => {
                format!("expected one of {}; got `{value}`", valid.join(", "))
            }
            (_, Some(source)) => source.to_string(),
            _ => format!("`{value}` is no value for it"),
        })
    }
}

/// A path, with `~` put in.
fn absolute(text: &str) -> Result<String, String> {
    let path = match (text.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    };
    if !path.is_absolute() {
        return Err(format!("expected an absolute path, or one that begins with ~/; got `{text}`"));
    }
    Ok(path.to_string_lossy().into_owned())
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_an_option_whose_example_is_a_value() {
        for key in &KEYS {
            assert!(key.arg().is_some(), "{}", key.name);
            let text = format!("base_url = \"http://x\"\n{} = {}\n", key.name, key.example);
            let text = if key.name == "base_url" { text.lines().next().unwrap_or_default() } else { &text };
            let read = Config::parse(text, Path::new("config.toml"));
            assert!(read.is_ok(), "{read:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_what_was_expected() {
        for (text, says) in [
            ("model = 5", "f:1: model: expected a string, got a number"),
            ("\n\nmodle = \"x\"", "f:3: expected one of base_url, model,"),
            (
                "tools_mode = \"hybird\"",
                "f:1: tools_mode: expected one of auto, native, prompt, hybrid; got `hybird`",
            ),
            ("max_turns = 0", "f:1: max_turns: 0 is not in 1.."),
            ("max_turns = true", "f:1: max_turns: expected a number, got true or false"),
            ("allow_network = 1", "f:1: allow_network: expected true or false, got a number"),
            ("deny_tool = \"x\"", "f:1: deny_tool: expected a list of strings, got a string"),
            ("allow_dir = [\"notes\"]", "f:1: allow_dir: expected an absolute path"),
            ("api_key_env = \"KEY\"", "f:1: api_key_env: expected a base_url beside it"),
            ("[server]\nx = 1", "f:1: expected one of base_url"),
            ("model = ", "f:1: "),
            ("model = \"a\"\nmodel = \"b\"", "f:2: "),
        ] {
            let wrong = Config::parse(text, Path::new("f")).unwrap_err().to_string();
            assert!(wrong.starts_with(says), "{wrong}");
        }
    }
}
