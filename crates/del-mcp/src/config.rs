//! Which servers there are: files with a map `mcpServers`, as other hosts have them.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use del_tools::plain_error;
use serde_json::{Map, Value, json};

use crate::address;
use crate::expand::{Unset, expand};

/// The servers of one file. What the file holds besides is kept when it is written.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The servers, in the order of the file.
    pub servers: Vec<Server>,
    /// What is wrong with entries that are left out, a sentence each.
    pub warnings: Vec<String>,
    whole: Map<String, Value>,
}

/// A server, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name in the file.
    pub name: String,
    /// Whose file.
    pub source: Source,
    /// How it is reached.
    pub launch: Launch,
    /// Whether it is left alone for now.
    pub disabled: bool,
    /// How long one call may take, where the file says so.
    pub timeout: Option<Duration>,
}

/// Whose word it is that a server should run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The user's own file.
    Own,
    /// A file that the user named.
    Named,
    /// A file in the working directory, which somebody else may have written.
    Project,
}

/// How a server is reached. Variables are not put in yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launch {
    /// A program that speaks on its standard input and output.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Variables of its environment, besides those that every program gets.
        environment: Vec<(String, String)>,
        /// Where it runs, if not in the working directory.
        directory: Option<PathBuf>,
    },
    /// An address that speaks streamable HTTP.
    Address {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read or written.
    #[error("cannot {verb} {}: {}", path.display(), plain_error(error))]
    File {
        /// `read` or `write`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is not what it should be.
    #[error("{}: expected {expected}, got {got}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        got: String,
    },
    /// A name that no server can have.
    #[error("'{0}' is no name for a server; expected letters, digits, '-', '.' and single '_', at most 40")]
    Name(String),
    /// An address at which no server can be.
    #[error("{0}")]
    Address(String),
}

/// The longest file that is read.
const LONGEST: u64 = 1 << 20;
const MAP: &str = "mcpServers";

impl Config {
    /// Reads a file; one that is not there has no servers.
    pub fn read(path: &Path, source: Source) -> Result<Self, ConfigError> {
        let fail = |error| ConfigError::File { verb: "read", path: path.to_owned(), error };
        match std::fs::metadata(path) {
            Err(error) if is_absent(&error) => return Ok(Self::default()),
            Err(error) => return Err(fail(error)),
            Ok(metadata) if !metadata.is_file() => {
                return Err(fail(io::Error::other("it is no regular file")));
            }
            Ok(metadata) if metadata.len() > LONGEST => {
                return Err(fail(io::Error::other("it is longer than 1 MiB")));
            }
            Ok(_) => {}
        }
        Self::parse(&std::fs::read(path).map_err(fail)?, path, source)
    }

    /// Reads the content of the file `path`.
    pub fn parse(content: &[u8], path: &Path, source: Source) -> Result<Self, ConfigError> {
        let form = |expected, got: String| ConfigError::Form { path: path.to_owned(), expected, got };
        let whole = match serde_json::from_slice(content) {
            Ok(Value::Object(whole)) => whole,
            Ok(other) => return Err(form("a JSON object", kind(&other).to_owned())),
            Err(error) => return Err(form("a JSON object", error.to_string())),
        };
        let mut config = Self::default();
        match whole.get(MAP) {
            None => {}
            Some(Value::Object(entries)) => {
                for (name, entry) in entries {
                    match Server::read(name, entry, source) {
                        Ok(server) => config.servers.push(server),
                        Err(why) => {
                            config.warnings.push(format!("the MCP server '{name}' is left out: {why}"));
                        }
                    }
                }
            }
            Some(other) => return Err(form("'mcpServers' to be an object", kind(other).to_owned())),
        }
        config.whole = whole;
        Ok(config)
    }

    /// Puts a server in, in place of one of the same name. True when there was one.
    pub fn put(&mut self, server: Server) -> bool {
        let entries = self.whole.entry(MAP).or_insert_with(|| json!({}));
        if let Value::Object(entries) = entries {
            entries.insert(server.name.clone(), server.entry());
        }
        let before = self.servers.len();
        self.servers.retain(|other| other.name != server.name);
        let replaced = self.servers.len() < before;
        self.servers.push(server);
        replaced
    }

    /// Takes a server out, also one that cannot be read. False when there is none of that name.
    pub fn remove(&mut self, name: &str) -> bool {
        self.servers.retain(|server| server.name != name);
        let entries = self.whole.get_mut(MAP).and_then(Value::as_object_mut);
        entries.is_some_and(|entries| entries.shift_remove(name).is_some())
    }

    /// Writes the file whole or not at all, for the user alone to read: it may hold secrets.
    pub fn write(&self, path: &Path) -> Result<(), ConfigError> {
        let write = || {
            // A link stands for the file that it leads to.
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let folder = path.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            writeln!(file, "{:#}", Value::Object(self.whole.clone()))?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|error| ConfigError::File { verb: "write", path: path.to_owned(), error })
    }
}

impl Server {
    /// A server of the user's own. Fails for a name or an address that no server can have.
    pub fn new(name: &str, launch: Launch, timeout: Option<Duration>) -> Result<Self, ConfigError> {
        check_name(name)?;
        // Files of other hosts have names with blanks; nobody has to begin with one.
        if name.contains(' ') {
            return Err(ConfigError::Name(name.to_owned()));
        }
        // What the environment has for a variable is known when the server starts.
        if let Launch::Address { url, .. } = &launch
            && !url.contains('$')
        {
            address::check(url).map_err(ConfigError::Address)?;
        }
        Ok(Self { name: name.to_owned(), source: Source::Own, launch, disabled: false, timeout })
    }

    fn read(name: &str, entry: &Value, source: Source) -> Result<Self, String> {
        check_name(name)
            .map_err(|_| "its name is empty, too long, or has characters that are not allowed".to_owned())?;
        let entry = entry.as_object().ok_or_else(|| format!("expected an object, got {}", kind(entry)))?;
        let disabled = entry.get("disabled").and_then(Value::as_bool).unwrap_or(false);
        let timeout = match entry.get("timeout") {
            None | Some(Value::Null) => None,
            Some(value) => match value.as_u64() {
                // Other hosts count in milliseconds.
                Some(n @ 1..1000) => Some(Duration::from_secs(n)),
                Some(n @ 1000..=3_600_000) => Some(Duration::from_millis(n)),
                _ => return Err("expected 'timeout' to be seconds (below 1000) or milliseconds".to_owned()),
            },
        };
        let launch = match (text(entry, "command")?, text(entry, "url")?) {
            (Some(command), None) if !command.trim().is_empty() => Launch::Program {
                command,
                arguments: texts(entry, "args")?,
                environment: pairs(entry, "env")?,
                directory: text(entry, "cwd")?.map(PathBuf::from),
            },
            (None, Some(_)) if entry.get("type").and_then(Value::as_str) == Some("sse") => {
                return Err(
                    "the transport 'sse' is not supported; expected 'http' (streamable HTTP)".to_owned()
                );
            }
            (None, Some(url)) => Launch::Address { url, headers: pairs(entry, "headers")? },
            _ => return Err("expected either 'command' or 'url'".to_owned()),
        };
        Ok(Self { name: name.to_owned(), source, launch, disabled, timeout })
    }

    /// The server as it stands in a file.
    fn entry(&self) -> Value {
        let object = |pairs: &[(String, String)]| -> Value {
            pairs.iter().map(|(key, value)| (key.clone(), json!(value))).collect::<Map<_, _>>().into()
        };
        let mut entry = match &self.launch {
            Launch::Program { command, arguments, environment, directory } => {
                let mut entry = json!({"command": command, "args": arguments});
                if !environment.is_empty() {
                    entry["env"] = object(environment);
                }
                if let Some(directory) = directory {
                    entry["cwd"] = json!(directory);
                }
                entry
            }
            Launch::Address { url, headers } => {
                let mut entry = json!({"type": "http", "url": url});
                if !headers.is_empty() {
                    entry["headers"] = object(headers);
                }
                entry
            }
        };
        if let Some(timeout) = self.timeout {
            entry["timeout"] = json!(timeout.as_millis());
        }
        entry
    }
}

impl Launch {
    /// The same with variables of the environment put in.
    pub(crate) fn expanded(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<Self, Unset> {
        let all = |texts: &[String]| texts.iter().map(|text| expand(text, value)).collect::<Result<_, _>>();
        let pairs = |pairs: &[(String, String)]| {
            pairs.iter().map(|(key, text)| Ok((key.clone(), expand(text, value)?))).collect::<Result<_, _>>()
        };
        Ok(match self {
            Self::Program { command, arguments, environment, directory } => Self::Program {
                command: expand(command, value)?,
                arguments: all(arguments)?,
                environment: pairs(environment)?,
                directory: directory.clone(),
            },
            Self::Address { url, headers } => {
                Self::Address { url: expand(url, value)?, headers: pairs(headers)? }
            }
        })
    }
}

impl Launch {
    /// All of it, a line each, for whoever has to decide whether it may run.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match self {
            Self::Program { command, arguments, environment, directory } => {
                let words = std::iter::once(command).chain(arguments).map(|word| quoted(word));
                lines.push(words.collect::<Vec<_>>().join(" "));
                lines.extend(directory.iter().map(|directory| format!("in {}", directory.display())));
                lines.extend(environment.iter().map(|(key, value)| format!("with {key}={}", quoted(value))));
            }
            Self::Address { url, headers } => {
                lines.push(url.clone());
                lines.extend(headers.iter().map(|(key, value)| format!("with {key}: {value}")));
            }
        }
        lines
    }
}

impl fmt::Display for Launch {
    /// What is run or asked, without the values of variables and headers, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |pairs: &[(String, String)]| {
            pairs.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Program { command, arguments, environment, directory } => {
                write!(f, "{}", quoted(command))?;
                arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))?;
                if let Some(directory) = directory {
                    write!(f, " (in {})", directory.display())?;
                }
                if !environment.is_empty() {
                    write!(f, " (sets {})", named(environment))?;
                }
            }
            Self::Address { url, headers } => {
                write!(f, "{url}")?;
                if !headers.is_empty() {
                    write!(f, " (sends {})", named(headers))?;
                }
            }
        }
        Ok(())
    }
}

/// Whether nothing is there that could be read.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A word as a shell would have to be given it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%$".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Fails for a name that could not be told apart in the names of tools.
fn check_name(name: &str) -> Result<(), ConfigError> {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' '));
    let fits = !name.trim().is_empty() && name.len() <= 40 && plain && !name.contains("__");
    if fits { Ok(()) } else { Err(ConfigError::Name(name.to_owned())) }
}

fn text(entry: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("expected '{key}' to be a string, got {}", kind(other))),
    }
}

fn texts(entry: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    let wrong = |got: &Value| format!("expected '{key}' to be a list of strings, got {}", kind(got));
    match entry.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => {
            list.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(|| wrong(item))).collect()
        }
        Some(other) => Err(wrong(other)),
    }
}

fn pairs(entry: &Map<String, Value>, key: &str) -> Result<Vec<(String, String)>, String> {
    let wrong = |got: &Value| format!("expected '{key}' to be an object of strings, got {}", kind(got));
    match entry.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(map)) => map
            .iter()
            .map(|(key, value)| match value {
                Value::String(text) => Ok((key.clone(), text.clone())),
                Value::Number(_) | Value::Bool(_) => Ok((key.clone(), value.to_string())),
                other => Err(wrong(other)),
            })
            .collect(),
        Some(other) => Err(wrong(other)),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
