//! What a file can set: a key for each option that makes sense in one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};
use toml::de::DeValue;

/// What a file can set.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    kind: Kind,
    scope: Scope,
    /// What a project may say of it.
    pub(super) project: Project,
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

/// What a project's file may say of a key. It never weakens safe mode, and never says where things are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Project {
    /// Anything: it counts more than the user's file.
    Free,
    /// What is as strict as the user has it, or stricter: from the loosest value to the strictest.
    Stricter(&'static [&'static str]),
    /// Anything where the user's file says nothing.
    Unset,
    /// Nothing, for this reason.
    Never(&'static str),
}

/// Which commands it holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The assistant, and what every command takes.
    Assistant,
    /// The assistant at the terminal.
    Terminal,
    /// Those that ask the model server for its own sake.
    Server,
    /// Those that ask a model.
    Model,
    /// All that have the option.
    All,
}

/// All keys, in the order in which they are shown.
pub(crate) const KEYS: [Key; 29] = [
    Key {
        variables: &["OPENAI_BASE_URL", "OLLAMA_HOST"],
        ..key("base_url", Kind::Text, Scope::Server, SENDS, "\"http://127.0.0.1:11434/v1\"")
    },
    key("api", Kind::Text, Scope::Server, SENDS, "\"ollama\""),
    key("model", Kind::Text, Scope::Server, Project::Free, "\"qwen3:8b\""),
    key("api_key_env", Kind::Text, Scope::Server, SENDS, "\"OPENAI_API_KEY\""),
    key("think", Kind::Text, Scope::Model, Project::Free, "\"high\""),
    key("num_ctx", Kind::Number, Scope::Model, Project::Free, "32768"),
    key("keep_alive", Kind::Text, Scope::Model, Project::Free, "\"30m\""),
    key("first_byte_timeout", Kind::Number, Scope::Model, Project::Free, "120"),
    key("dialect", Kind::Text, Scope::Assistant, Project::Free, "\"auto\""),
    key("tools_mode", Kind::Text, Scope::Assistant, Project::Free, "\"prompt\""),
    key("constrain", Kind::Text, Scope::Assistant, Project::Free, "\"on\""),
    key("toolset", Kind::Text, Scope::Assistant, Project::Unset, "\"core\""),
    key("tools", Kind::Texts, Scope::Assistant, Project::Unset, "[\"read_file\", \"mcp__files__*\"]"),
    key("max_turns", Kind::Number, Scope::Assistant, Project::Free, "50"),
    key("approval_mode", Kind::Text, Scope::All, APPROVAL, "\"auto-edit\""),
    key("allow_tool", Kind::Texts, Scope::All, ASKS, "[\"run_command(cargo test:*)\"]"),
    key("deny_tool", Kind::Texts, Scope::All, Project::Free, "[\"run_command(git push:*)\"]"),
    key("allow_dir", Kind::Paths, Scope::All, ASKS, "[\"~/notes\"]"),
    key("sandbox", Kind::Text, Scope::All, SANDBOX, "\"on\""),
    key("allow_network", Kind::Switch, Scope::All, Project::Stricter(&["true", "false"]), "true"),
    key("hide_secrets", Kind::Switch, Scope::All, OFF_ON, "true"),
    key("no_mcp", Kind::Switch, Scope::All, OFF_ON, "true"),
    key("project", Kind::Text, Scope::Assistant, YOURS, "\"off\""),
    key("no_session", Kind::Switch, Scope::Assistant, OFF_ON, "true"),
    key("hide_reasoning", Kind::Switch, Scope::Assistant, Project::Free, "true"),
    key("notify", Kind::Text, Scope::Terminal, YOURS, "\"bell\""),
    key("notify_after", Kind::Number, Scope::Terminal, YOURS, "60"),
    key("color", Kind::Text, Scope::Assistant, YOURS, "\"never\""),
    key("dialect_dir", Kind::Path, Scope::Assistant, YOURS, "\"~/dialects\""),
];

const APPROVAL: Project = Project::Stricter(&["yolo", "auto-edit", "ask", "plan"]);
const SANDBOX: Project = Project::Stricter(&["off", "auto", "on", "bwrap"]);
const OFF_ON: Project = Project::Stricter(&["false", "true"]);
const ASKS: Project = Project::Never("it would let things happen without a question");
const SENDS: Project = Project::Never("it would say where your questions and your key are sent");
const YOURS: Project = Project::Never(OF_YOURS);
pub(super) const OF_YOURS: &str = "it is a matter of your own machine";

const fn key(name: &'static str, kind: Kind, scope: Scope, project: Project, example: &'static str) -> Key {
    Key { name, kind, scope, project, variables: &[], example }
}

/// The options that keys are values for.
static OPTIONS: OnceLock<Command> = OnceLock::new();

/// Says which options there are, before any file is read.
pub(crate) fn set_options(options: impl FnOnce() -> Command) {
    OPTIONS.get_or_init(options);
}

impl Key {
    /// The option that it is a value for. What a file adds to is an option of its own, so that both count.
    pub(super) fn option(&self) -> String {
        let name = self.name.replace('_', "-");
        if self.adds_up() { format!("configured-{name}") } else { name }
    }

    pub(super) fn holds(&self, path: &[&str]) -> bool {
        match self.scope {
            Scope::Assistant => matches!(path, [] | ["acp"]),
            Scope::Terminal => path.is_empty(),
            Scope::Server => matches!(path, [] | ["acp" | "models" | "doctor"]),
            Scope::Model => matches!(path, [] | ["acp" | "doctor"]),
            Scope::All => true,
        }
    }

    /// The option of the assistant that it is a value for.
    pub(super) fn arg(&self) -> Option<Arg> {
        let options = OPTIONS.get()?;
        let name = self.option();
        options.get_arguments().find(|arg| arg.get_long() == Some(&name)).cloned()
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

    /// Whether values of several files and of the command line add up.
    pub(super) fn adds_up(&self) -> bool {
        matches!(self.name, "allow_tool" | "deny_tool")
    }

    /// The texts of a value, or what is wrong with it.
    pub(super) fn values(&self, value: &DeValue<'_>) -> Result<Vec<String>, String> {
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
        let word = OsString::from(format!("--{}={value}", self.option()));
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

pub(super) fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
