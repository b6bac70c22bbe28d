//! The configuration file of a proxy, as it is written.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Arg, ArgAction, Args, Command};
use toml::de::{DeTable, DeValue};

use super::words::{SWITCHED_OFF, SWITCHED_ON, Value, Words, check};
use super::{KeyOptions, Listening, RouteOptions, RouteTable};
use crate::exit::Exit;
use crate::input::read_text;
use crate::say;

/// A file whose every key is known and has a value that its option takes.
#[derive(Debug, Default)]
pub(super) struct File {
    /// What holds for the proxy, and for each route that says nothing else.
    pub(super) top: Words,
    pub(super) routes: Vec<Table>,
    pub(super) keys: Vec<Table>,
}

/// A table of a list.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) words: Words,
    /// Where it begins.
    pub(super) line: usize,
    /// All of its keys, also those whose values are wrong.
    pub(super) keys: Vec<String>,
}

/// Something that is wrong in a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) line: usize,
    pub(super) message: String,
}

/// All that is wrong with a file.
#[derive(Debug)]
pub(super) struct Wrongs {
    path: PathBuf,
    list: Vec<Wrong>,
}

/// The lists of tables.
const LISTS: [&str; 2] = ["route", "key"];

impl File {
    /// Reads the file `path`, and checks each value as the command line does.
    pub(super) fn read(path: &Path) -> Result<(Self, Vec<Wrong>)> {
        let text = read_text(path, Exit::Configuration)?;
        let mut wrongs = Vec::new();
        let file = Self::parse(&text, &mut wrongs);
        Ok((file, wrongs))
    }

    /// Reads the text of a file. What is wrong in it is left out.
    pub(super) fn parse(text: &str, wrongs: &mut Vec<Wrong>) -> Self {
        let line = |offset: usize| text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            wrongs.push(Wrong { line: line(at), message: error.message().replace('\n', "; ") });
        }
        let mut file = Self::default();
        let mut top = arguments::<Listening>();
        top.extend(arguments::<RouteOptions>());
        file.top = words(table.get_ref(), &top, &LISTS, &line, wrongs);
        for (name, options, list) in [
            ("route", arguments::<RouteTable>(), &mut file.routes),
            ("key", arguments::<KeyOptions>(), &mut file.keys),
        ] {
            let tables = table.get_ref().iter().find(|(known, _)| known.get_ref() == name);
            let Some((_, tables)) = tables else { continue };
            let at = line(tables.span().start);
            let DeValue::Array(tables) = tables.get_ref() else {
                wrongs.push(Wrong { line: at, message: format!("expected [[{name}]], got another value") });
                continue;
            };
            for table in tables {
                let at = line(table.span().start);
                let DeValue::Table(found) = table.get_ref() else {
                    wrongs
                        .push(Wrong { line: at, message: format!("expected [[{name}]], got another value") });
                    continue;
                };
                let keys = found.iter().map(|(key, _)| key.get_ref().to_string()).collect();
                list.push(Table { words: words(found, &options, &[], &line, wrongs), line: at, keys });
            }
        }
        file
    }
}

/// The options of a kind of table.
pub(super) fn arguments<T: Args>() -> Vec<Arg> {
    T::augment_args(Command::new("del")).get_arguments().cloned().collect()
}

/// How an option is called in a file.
pub(super) fn key_of(arg: &Arg) -> String {
    arg.get_long().unwrap_or_default().replace('-', "_")
}

/// The values of a table.
fn words(
    table: &DeTable<'_>,
    options: &[Arg],
    besides: &[&str],
    line: &impl Fn(usize) -> usize,
    wrongs: &mut Vec<Wrong>,
) -> Words {
    let mut words = Words::default();
    for (name, value) in table {
        let at = line(name.span().start);
        if besides.contains(&name.get_ref().as_ref()) {
            continue;
        }
        let Some(arg) = options.iter().find(|arg| key_of(arg) == *name.get_ref()) else {
            let known: Vec<String> =
                options.iter().map(key_of).chain(besides.iter().map(|name| (*name).to_owned())).collect();
            let message = format!("expected one of {}; got `{}`", known.join(", "), name.get_ref());
            wrongs.push(Wrong { line: at, message });
            continue;
        };
        match texts(arg, value.get_ref()) {
            Ok(texts) => words.set(arg.get_long().unwrap_or_default(), Value { texts, line: Some(at) }),
            Err(message) => {
                let line = line(value.span().start);
                wrongs.push(Wrong { line, message: format!("{}: {message}", name.get_ref()) });
            }
        }
    }
    words
}

/// A value as its option takes it.
fn texts(arg: &Arg, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let wrong = |expected: &str, got: &DeValue<'_>| Err(format!("expected {expected}, got {}", kind(got)));
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value {
            DeValue::Boolean(on) => Ok(vec![if *on { SWITCHED_ON } else { SWITCHED_OFF }.to_owned()]),
            other => wrong("true or false", other),
        };
    }
    let several = matches!(arg.get_action(), ArgAction::Append);
    let takes_numbers = arg
        .get_value_names()
        .is_some_and(|names| names.iter().any(|name| matches!(name.as_str(), "SECONDS" | "SIZE" | "N")));
    let texts = match value {
        DeValue::String(text) => vec![text.to_string()],
        DeValue::Integer(number) if takes_numbers => vec![number.as_str().to_owned()],
        DeValue::Float(number) if takes_numbers => vec![number.as_str().to_owned()],
        DeValue::Array(list) if several => {
            let text = |item: &DeValue<'_>| match item {
                DeValue::String(text) => Ok(text.to_string()),
                other => Err(format!("expected a list of strings, got {} in it", kind(other))),
            };
            list.iter().map(|item| text(item.get_ref())).collect::<Result<_, _>>()?
        }
        other if takes_numbers => return wrong("a number or a string", other),
        other if several => return wrong("a string or a list of strings", other),
        other => return wrong("a string", other),
    };
    if texts.is_empty() {
        return Err("expected at least one, got an empty list".to_owned());
    }
    texts.iter().try_for_each(|text| check(arg, text))?;
    Ok(texts)
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

impl Wrongs {
    /// All of it, in the order of the lines; `None` when nothing is wrong.
    pub(super) fn of(path: &Path, mut list: Vec<Wrong>) -> Option<Self> {
        list.sort_by_key(|wrong| wrong.line);
        (!list.is_empty()).then(|| Self { path: path.to_owned(), list })
    }

    /// Says each of several: the error that ends the run.
    pub(super) fn into_error(self) -> anyhow::Error {
        if let [_] = self.list.as_slice() {
            return Exit::Configuration.because(self.to_string());
        }
        self.say();
        let count = self.list.len();
        Exit::Configuration.because(format!("{}: {count} errors; nothing of it counts", self.path.display()))
    }

    /// Says each.
    pub(super) fn say(&self) {
        self.to_string().lines().for_each(say);
    }
}

impl fmt::Display for Wrongs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, wrong) in self.list.iter().enumerate() {
            let end = if at + 1 == self.list.len() { "" } else { "\n" };
            write!(f, "{}:{}: {}{end}", self.path.display(), wrong.line, wrong.message.replace('\n', "; "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrongs(text: &str) -> Vec<String> {
        let mut wrongs = Vec::new();
        File::parse(text, &mut wrongs);
        let list = Wrongs::of(Path::new("f"), wrongs);
        list.map(|list| list.to_string().lines().map(str::to_owned).collect()).unwrap_or_default()
    }

    #[test]
    fn a_file_sets_what_the_command_line_sets() {
        let text = "listen = \"127.0.0.1:1\"\nmax_body = 1000\nmetrics = true\nidle_timeout = 2.5\n\
            [[route]]\nmodels = [\"a\", \"b*\"]\nupstream = \"http://x/v1\"\ntools_mode = \"prompt\"\n\
            [[route]]\nmodels = \"c\"\nupstream = [\"http://y/v1\", \"http://z/v1\"]\n\
            [[key]]\nname = \"n\"\nenv = \"E\"\nper_minute = 3\n";
        let mut wrongs = Vec::new();
        let file = File::parse(text, &mut wrongs);
        assert_eq!(wrongs, []);
        let listening: Listening = file.top.read().unwrap();
        assert!(listening.metrics && listening.max_body == 1000 && listening.listen == "127.0.0.1:1");
        let route: RouteTable = file.routes[0].words.read().unwrap();
        assert_eq!(
            (route.models.as_slice(), file.routes[0].line),
            (&["a".to_owned(), "b*".to_owned()][..], 5)
        );
        let route: RouteTable = file.routes[1].words.clone().under(&file.top).read().unwrap();
        assert_eq!(route.route.upstream.len(), 2);
        assert_eq!(route.route.idle_timeout.as_millis(), 2500);
        let key: KeyOptions = file.keys[0].words.read().unwrap();
        assert_eq!((key.name.as_str(), key.per_minute), ("n", Some(3)));
        let off = File::parse("metrics = false", &mut Vec::new());
        assert!(!off.top.read::<Listening>().unwrap().metrics);
    }

    #[test]
    fn all_that_is_wrong_is_said_with_its_line() {
        let text = "lisen = \"x\"\nmax_body = true\nkeep_alive = 0\nmetrics = 1\n[[route]]\nmodels = []\n\
            upstream = 5\ntools_mode = \"hybird\"\nmodles = \"x\"\n[[key]]\nname = \"n\"\nper_minute = 0\n";
        let said = wrongs(text);
        let expected = [
            "f:1: expected one of listen, api_key_env,",
            "f:2: max_body: expected a number or a string, got true or false",
            "f:3: keep_alive: expected a number of seconds above 0",
            "f:4: metrics: expected true or false, got a number",
            "f:6: models: expected at least one, got an empty list",
            "f:7: upstream: expected a string or a list of strings, got a number",
            "f:8: tools_mode: expected one of auto, native,",
            "f:9: expected one of models, upstream,",
            "f:12: per_minute: expected a number above 0, got `0`",
        ];
        assert_eq!(said.len(), expected.len(), "{said:#?}");
        for (said, expected) in said.iter().zip(expected) {
            assert!(said.starts_with(expected), "{said}");
        }
        assert!(wrongs("route = 5")[0].starts_with("f:1: expected [[route]]"));
        assert!(wrongs("a = ")[0].starts_with("f:1: "));
    }
}
