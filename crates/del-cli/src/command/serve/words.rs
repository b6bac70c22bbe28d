//! Values of options as words, from the command line or from a file.

use std::collections::BTreeMap;
use std::ops::Deref;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// Values by the names of options, without the dashes before them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words(BTreeMap<String, Value>);

/// The value of one option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) texts: Vec<String>,
    /// Where it stands in a file.
    pub(super) line: Option<usize>,
}

impl Words {
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The line of an option in the file, or that of what it belongs to.
    pub(super) fn line(&self, name: &str, otherwise: usize) -> usize {
        self.get(name).and_then(|value| value.line).unwrap_or(otherwise)
    }

    /// These, with `others` in the place of those of the same names.
    pub(super) fn under(mut self, others: &Self) -> Self {
        self.0.extend(others.0.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    /// Those whose names fulfil a condition.
    pub(super) fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.0.iter().filter(|(name, _)| keep(name));
        Self(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// The options that they set, with the defaults of all others.
    pub(super) fn read<T: Args>(&self) -> Result<T, clap::Error> {
        let command = T::augment_args(Command::new("del")).no_binary_name(true);
        let known = |name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
        let words: Vec<String> = self
            .0
            .iter()
            .filter(|(name, _)| known(name))
            .flat_map(|(name, value)| {
                value.texts.iter().filter_map(move |text| match text.as_str() {
                    SWITCHED_ON => Some(format!("--{name}")),
                    SWITCHED_OFF => None,
                    text => Some(format!("--{name}={text}")),
                })
            })
            .collect();
        T::from_arg_matches(&command.try_get_matches_from(words)?)
    }
}

/// How a switch is written; no text of another option looks like it.
pub(super) const SWITCHED_ON: &str = "\0on";
pub(super) const SWITCHED_OFF: &str = "\0off";

/// Reads one value as the command line does: what is wrong with it.
pub(super) fn check(arg: &Arg, text: &str) -> Result<(), String> {
    let command = Command::new("del").no_binary_name(true).arg(arg.clone());
    let word = format!("--{}={text}", arg.get_long().unwrap_or_default());
    let Err(error) = command.try_get_matches_from([word]) else { return Ok(()) };
    Err(match (error.get(ContextKind::ValidValue), std::error::Error::source(&error)) {
        (Some(ContextValue::Strings(valid)), _) if !valid.is_empty() => {
            format!("expected one of {}; got `{text}`", valid.join(", "))
        }
        (_, Some(source)) => source.to_string(),
        _ => format!("`{text}` is no value for it"),
    })
}

/// Options, and the words of those that were typed.
#[derive(Debug)]
pub(super) struct Typed<T> {
    options: T,
    pub(super) words: Words,
}

impl<T> Deref for Typed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.options
    }
}

impl<T: Args> Args for Typed<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: Args> FromArgMatches for Typed<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut words = Words::default();
        for arg in T::augment_args(Command::new("del")).get_arguments() {
            let (Some(name), id) = (arg.get_long(), arg.get_id().as_str()) else { continue };
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let texts = match arg.get_action() {
                ArgAction::SetTrue => vec![SWITCHED_ON.to_owned()],
                _ => matches
                    .get_raw(id)
                    .into_iter()
                    .flatten()
                    .map(|text| text.to_string_lossy().into_owned())
                    .collect(),
            };
            words.set(name, Value { texts, line: None });
        }
        Ok(Self { options: T::from_arg_matches(matches)?, words })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
