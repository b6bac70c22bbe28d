//! The configuration file: values for options, which hold where the command line says nothing.
//!
//! A value becomes the default of its option, so the command line reads it as it reads one that was typed. The server, its
//! model and its key belong together: with another address, those of the file do not count.

mod key;
mod layers;
mod place;

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{ArgMatches, Command};
use similar::get_close_matches;
use toml::de::{DeTable, DeValue};

pub(crate) use key::{KEYS, Key, set_options};
pub(crate) use layers::{Layers, Refused};
pub(crate) use place::blame;

use crate::exit::Exit;
use crate::folders;
use crate::hooks::{self, Hook};
use crate::input::read_text;

/// A value in a file.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    pub(crate) values: Vec<String>,
    pub(crate) line: usize,
    pub(crate) origin: Origin,
}

/// Who set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The user's file.
    File,
    /// A profile in it.
    Profile(String),
    /// The project's file.
    Project,
}

/// A file that was read; one that is not there sets nothing.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) settings: Vec<Setting>,
    /// Sets of values that have a name.
    profiles: Vec<(String, Vec<Setting>)>,
    /// The profile that holds where none is asked for, and its line.
    profile: Option<(String, usize)>,
    pub(crate) hooks: Vec<Hook>,
    /// What a project's file has that is for the user's alone.
    pub(crate) refused: Vec<Refused>,
}

/// Whose file it is, which says what may stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    User,
    Project,
}

/// The project's file, beneath its root.
pub(crate) const OF_PROJECT: &str = ".del/config.toml";

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {message}", path.display())]
pub(crate) struct Wrong {
    path: PathBuf,
    line: usize,
    message: String,
}

/// What a session that goes on has of its own.
const OF_A_SESSION: [&str; 3] = ["model", "dialect", "tools_mode"];
/// What belongs to one server.
const OF_A_SERVER: [&str; 4] = ["base_url", "api", "model", "api_key_env"];

/// Where the user's file is, whether it is there or not.
pub(crate) fn path() -> Option<PathBuf> {
    Some(folders::configuration()?.join("config.toml"))
}

impl Config {
    /// The user's file.
    pub(crate) fn load() -> Result<Self> {
        let Some(path) = path().filter(|path| path.symlink_metadata().is_ok()) else {
            return Ok(Self::default());
        };
        let waits = std::fs::metadata(&path).is_ok_and(|metadata| metadata.file_type().is_fifo());
        if waits {
            return Err(
                Exit::Configuration.because(format!("{}: expected a file, got a pipe", path.display()))
            );
        }
        let text = read_text(&path, Exit::Configuration)?;
        Self::parse(&text, &path, Whose::User).map_err(|wrong| Exit::Configuration.because(wrong.to_string()))
    }

    /// Reads the text of the file `path`, and checks each value as the command line does.
    pub(crate) fn parse(text: &str, path: &Path, whose: Whose) -> Result<Self, Wrong> {
        let file = File { text, path };
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            file.wrong(at, error.message().replace('\n', "; "))
        })?;
        let mut config = Self::default();
        let mut own = DeTable::new();
        for (name, value) in table.into_inner() {
            match (name.get_ref().as_ref(), value.get_ref()) {
                ("profiles", DeValue::Table(profiles)) if whose == Whose::User => {
                    for (name, value) in profiles {
                        let DeValue::Table(table) = value.get_ref() else {
                            let got = key::kind_of(value.get_ref());
                            let what = format!("profiles.{}: expected a table, got {got}", name.get_ref());
                            return Err(file.wrong(value.span().start, what));
                        };
                        let name = name.get_ref().to_string();
                        let settings = file.settings(table, &Origin::Profile(name.clone()))?;
                        config.profiles.push((name, settings));
                    }
                }
                ("profile", DeValue::String(wanted)) if whose == Whose::User => {
                    config.profile = Some((wanted.to_string(), file.line(name.span().start)));
                }
                (key @ ("profiles" | "profile"), _) if whose == Whose::Project => {
                    let key = if key == "profile" { "profile" } else { "profiles" };
                    let line = file.line(name.span().start);
                    config.refused.push(Refused { key, line, why: key::OF_YOURS.to_owned() });
                }
                ("hooks", DeValue::Table(_)) => {
                    config.hooks = hooks::in_toml(text, whose == Whose::Project)
                        .map_err(|(at, message)| file.wrong(at.start, message))?;
                }
                _ => drop(own.insert(name, value)),
            }
        }
        let origin = if whose == Whose::User { Origin::File } else { Origin::Project };
        config.settings = file.settings(&own, &origin)?;
        if let Some((name, line)) = &config.profile
            && config.profile_called(name).is_none()
        {
            let message = format!("profile: {}", config.no_profile(name));
            return Err(Wrong { path: path.to_owned(), line: *line, message });
        }
        Ok(config)
    }

    fn profile_called(&self, name: &str) -> Option<&Vec<Setting>> {
        self.profiles.iter().find(|(known, _)| known == name).map(|(_, settings)| settings)
    }

    fn no_profile(&self, got: &str) -> String {
        let names: Vec<&str> = self.profiles.iter().map(|(name, _)| name.as_str()).collect();
        match names.as_slice() {
            [] => format!("expected the name of a table [profiles.NAME], got `{got}`; there is none"),
            names => format!("expected one of {}; got `{got}`", names.join(", ")),
        }
    }

    /// The names of the profiles.
    pub(crate) fn profiles(&self) -> Vec<&str> {
        self.profiles.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// What a profile says of these keys, as the words of a command line; nothing else counts.
    pub(crate) fn words_of_profile(&self, name: &str, keys: &[&str]) -> Result<Vec<String>> {
        let settings =
            self.profile_called(name).ok_or_else(|| Exit::Configuration.because(self.no_profile(name)))?;
        let without = without_a_key(settings);
        let wanted = settings.iter().chain(&without).filter(|setting| keys.contains(&setting.key.name));
        let words = |setting: &Setting| {
            let option = setting.key.option();
            setting.values.iter().map(|value| format!("--{option}={value}")).collect::<Vec<_>>()
        };
        Ok(wanted.flat_map(words).collect())
    }

    /// What the file and the profile set: the one that is asked for, or else the one that the file names.
    pub(crate) fn layers(&self, wanted: Option<&str>) -> Result<Layers> {
        let mut layers = Layers::new(self.settings.clone());
        if let Some(name) = wanted.or(self.profile.as_ref().map(|(name, _)| name.as_str())) {
            let profile = self.profile_called(name).ok_or_else(|| match wanted {
                Some(_) => Exit::Usage.because(format!("--profile: {}", self.no_profile(name))),
                None => Exit::Configuration.because(format!("profile: {}", self.no_profile(name))),
            })?;
            let settings = profile.iter().cloned().chain(without_a_key(profile)).collect();
            layers.take_profile(settings, wanted.is_some());
        }
        Ok(layers)
    }
}

/// What says that a profile's server gets no key, where the profile has an address and names no key for it: one in the
/// environment is for another.
fn without_a_key(profile: &[Setting]) -> Option<Setting> {
    let of = |name: &str| profile.iter().find(|setting| setting.key.name == name);
    let address = of("base_url").filter(|_| of("api_key_env").is_none())?;
    let key = KEYS.iter().find(|key| key.name == "api_key_env")?;
    Some(Setting { key, values: vec![String::new()], ..address.clone() })
}

/// The text of a file that is being read.
struct File<'t> {
    text: &'t str,
    path: &'t Path,
}

impl File<'_> {
    fn line(&self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
    }

    fn wrong(&self, offset: usize, message: String) -> Wrong {
        Wrong { path: self.path.to_owned(), line: self.line(offset), message }
    }

    /// The settings of a table, in the order of their lines.
    fn settings(&self, table: &DeTable<'_>, origin: &Origin) -> Result<Vec<Setting>, Wrong> {
        let mut settings = Vec::new();
        for (name, value) in table {
            let at = name.span().start;
            let key = KEYS.iter().find(|key| key.name == name.get_ref()).ok_or_else(|| {
                let own = if *origin == Origin::File { &["profile", "profiles", "hooks"][..] } else { &[] };
                let names: Vec<&str> = KEYS.iter().map(|key| key.name).chain(own.iter().copied()).collect();
                let got = name.get_ref().as_ref();
                let meant = get_close_matches(got, &names, 1, 0.7);
                let meant = meant.first().map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                self.wrong(at, format!("expected one of {}; got `{got}`{meant}", names.join(", ")))
            })?;
            let values = key.values(value.get_ref());
            let values = values
                .map_err(|message| self.wrong(value.span().start, format!("{}: {message}", key.name)))?;
            settings.push(Setting { key, values, line: self.line(at), origin: origin.clone() });
        }
        settings.sort_by_key(|setting| setting.line);
        let lonely = settings.iter().find(|setting| setting.key.name == "api_key_env");
        if let Some(setting) = lonely.filter(|_| !settings.iter().any(|other| other.key.name == "base_url")) {
            let message = "api_key_env: expected a base_url beside it, whose server the key is for; got none";
            let message = message.to_owned();
            return Err(Wrong { path: self.path.to_owned(), line: setting.line, message });
        }
        Ok(settings)
    }
}

impl Layers {
    /// The command line with these values as defaults. `given` is what was typed, read without them.
    pub(crate) fn apply(&self, command: Command, given: &ArgMatches) -> Command {
        let elsewhere =
            typed(given, "base_url") || of_environment("base_url").is_some() && !self.names_a_server();
        let goes_on = typed(given, "goes_on") || typed(given, "resume");
        let left_out = |setting: &&Setting| {
            elsewhere && OF_A_SERVER.contains(&setting.key.name)
                || goes_on && OF_A_SESSION.contains(&setting.key.name) && !self.is_chosen(setting)
        };
        let settings: Vec<&Setting> = self.settings.iter().filter(|setting| !left_out(setting)).collect();
        let untyped = settings.iter().filter(|setting| !typed(given, setting.key.name));
        place::keep(untyped.copied().cloned().collect());
        with_defaults(command, &[], &settings)
    }
}

/// Whether an option stands on the command line.
pub(crate) fn typed(given: &ArgMatches, name: &str) -> bool {
    let within = given.subcommand().map(|(_, within)| within);
    [Some(given), within].into_iter().flatten().any(|matches| {
        matches.try_contains_id(name).unwrap_or(false)
            && matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine)
    })
}

/// The variable that counts more than the file, and its value.
pub(crate) fn of_environment(name: &str) -> Option<(&'static str, String)> {
    let key = KEYS.iter().find(|key| key.name == name)?;
    key.variables.iter().find_map(|variable| {
        let value = std::env::var(variable).ok().filter(|value| !value.trim().is_empty())?;
        Some((*variable, value))
    })
}

/// Whether the files' values are for another server than the one that the environment names.
pub(crate) fn is_for_another_server(key: &Key, layers: &Layers) -> bool {
    OF_A_SERVER.contains(&key.name) && of_environment("base_url").is_some() && !layers.names_a_server()
}

fn with_defaults(command: Command, path: &[&str], settings: &[&Setting]) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let mut command = command.mut_args(|arg| {
        let holds =
            |setting: &&&Setting| arg.get_long() == Some(&setting.key.option()) && setting.key.holds(path);
        let values: Vec<&str> = settings
            .iter()
            .filter(holds)
            .flat_map(|setting| &setting.values)
            // The command line of a run lives as long as the program does.
            .map(|value| &*value.clone().leak())
            .collect();
        let set = settings.iter().any(|setting| holds(&setting));
        if set { arg.default_values(values) } else { arg }
    });
    for name in names {
        let inner = [path, &[name.as_str()]].concat();
        command = command.mut_subcommand(&name, |sub| with_defaults(sub, &inner, settings));
    }
    command
}

#[cfg(test)]
mod reference;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assistant::Assistant;

    #[test]
    fn every_key_is_an_option_whose_example_is_a_value() {
        set_options(Assistant::options);
        for key in &KEYS {
            assert!(key.arg().is_some(), "{}", key.name);
            let text = format!("base_url = \"http://x\"\n{} = {}\n", key.name, key.example);
            let text = if key.name == "base_url" { text.lines().next().unwrap_or_default() } else { &text };
            let read = Config::parse(text, Path::new("config.toml"), Whose::User);
            assert!(read.is_ok(), "{read:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_what_was_expected() {
        set_options(Assistant::options);
        for (text, says) in [
            ("model = 5", "f:1: model: expected a string, got a number"),
            ("\n\nmodle = \"x\"", "f:3: expected one of base_url, api,"),
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
            let wrong = Config::parse(text, Path::new("f"), Whose::User).unwrap_err().to_string();
            assert!(wrong.starts_with(says), "{wrong}");
        }
        let wrong = Config::parse("modle = \"x\"", Path::new("f"), Whose::User).unwrap_err().to_string();
        assert!(wrong.ends_with("got `modle`; did you mean model?"), "{wrong}");
    }
}
