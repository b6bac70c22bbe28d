//! `del config`: the configuration file.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand};
use del_tools::{Cancel, visible};
use serde_json::{Value, json};

use crate::colour::Paint;
use crate::common::Common;
use crate::config::{self, Config, KEYS, Key, Layers, Origin, Refused, Setting, Whose};
use crate::consent::Asked;
use crate::consent::editing::{self, Edited};
use crate::exit::Exit;
use crate::input::plain;
use crate::project::{self, Project};
use crate::servers;
use crate::table::Table;
use crate::terminal::{self, shown};
use crate::{folders, say};

/// Show and edit the configuration file
///
/// It sets options for every run: `~/.config/del/config.toml` (`$XDG_CONFIG_HOME`). What is given on the command line counts
/// most, then variables of the environment, then the project's file as far as you trust it, then yours.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print where it is; with --json also where everything else is
    Path {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what is set, and where each value comes from
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change it in your editor (`$VISUAL`, `$EDITOR`), and check it
    Edit,
}

/// What the environment alone sets: no file has a key for it.
const VARIABLES: [&str; 3] = ["DEL_WEB_PROVIDER", "DEL_WEB_URL", "DEL_WEB_API_KEY_ENV"];

/// A value, and where it comes from.
struct Row {
    key: &'static str,
    value: Option<String>,
    from: &'static str,
    place: Option<String>,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    match options.action {
        Action::Path { json } => print_path(json),
        Action::Show { json } => show(json, common),
        Action::Edit => edit(common),
    }
}

fn file() -> Result<std::path::PathBuf> {
    config::path().ok_or_else(|| Exit::Configuration.because("there is no home directory"))
}

fn print_path(json: bool) -> Result<Exit> {
    let path = file()?;
    let text = if json {
        let state = folders::state();
        let within = |name: &str| state.as_ref().map(|state| state.join(name));
        let value = json!({
            "config": path, "exists": path.is_file(), "mcp": servers::own_path(),
            "dialects": folders::configuration().map(|folder| folder.join("dialects")),
            "sessions": within("sessions"), "undo": within("undo"), "history": within("history"),
        });
        format!("{value:#}")
    } else {
        path.display().to_string()
    };
    writeln!(std::io::stdout().lock(), "{}", shown(&text))?;
    Ok(Exit::Done)
}

fn show(json: bool, common: &Common) -> Result<Exit> {
    let mut layers = Config::load()?.layers(common.profile.as_deref())?;
    let project = Path::new(".").canonicalize().map(|here| Project::find(&here)).unwrap_or_default();
    project.complain();
    for refused in project.trusted_config().map(|config| layers.refused(config)).unwrap_or_default() {
        let Refused { key, line, why } = refused;
        say(format!("{}:{line}: {key} does not count: {why}", project::SETTINGS));
    }
    let open = project.names(|part| !part.is_trusted());
    if !open.is_empty() {
        say(format!("does not count until you trust it by `del trust`: {}", open.join(", ")));
    }
    layers.take_project(project.settings());
    let rows: Vec<Row> =
        KEYS.iter().map(|key| row(key, &layers)).chain(VARIABLES.into_iter().map(of_variable)).collect();
    let mut out = std::io::stdout().lock();
    if json {
        let list: Value = rows
            .iter()
            .map(|row| json!({"key": row.key, "value": row.value, "from": row.from, "place": row.place}))
            .collect();
        writeln!(out, "{}", shown(&format!("{list:#}")))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["KEY", "VALUE", "FROM"]);
    for row in rows {
        let value = row.value.unwrap_or_else(|| "-".to_owned());
        let from = row.place.unwrap_or_else(|| row.from.to_owned());
        table.row(vec![row.key.to_owned(), visible(&value).into_owned(), visible(&from).into_owned()]);
    }
    out.write_all(table.text(Paint::stdout(common.color), terminal::stdout_width()).as_bytes())?;
    Ok(Exit::Done)
}

fn row(key: &'static Key, layers: &Layers) -> Row {
    let row = |value, from, place| Row { key: key.name, value, from, place };
    let other_server = config::is_for_another_server(key, layers);
    if let Some((variable, value)) = config::of_environment(key.name).filter(|_| other_server) {
        return row(Some(value), "environment", Some(variable.to_owned()));
    }
    let settings: Vec<&Setting> = layers.all(key).filter(|_| !other_server).collect();
    let Some(last) = settings.last() else { return row(key.default(), "default", None) };
    let values: Vec<&str> = settings.iter().flat_map(|setting| &setting.values).map(String::as_str).collect();
    let places: Vec<String> = settings.iter().map(|setting| place(setting)).collect();
    let from = match last.origin {
        Origin::File => "file",
        Origin::Profile(_) => "profile",
        Origin::Project => "project",
    };
    row(Some(values.join(", ")), from, Some(places.join(", ")))
}

/// The file and the line of a setting.
fn place(setting: &Setting) -> String {
    let line = setting.line;
    match &setting.origin {
        Origin::File => format!("config.toml:{line}"),
        Origin::Profile(name) => format!("config.toml:{line} (profile {name})"),
        Origin::Project => format!("{}:{line}", project::SETTINGS),
    }
}

fn of_variable(key: &'static str) -> Row {
    match std::env::var(key).ok().filter(|value| !value.trim().is_empty()) {
        Some(value) => Row { key, value: Some(value), from: "environment", place: Some(key.to_owned()) },
        None => Row { key, value: None, from: "default", place: None },
    }
}

fn edit(common: &Common) -> Result<Exit> {
    let path = file()?;
    let failed =
        |error: std::io::Error| Exit::Failed.because(format!("{}: {}", path.display(), plain(&error)));
    let before = content(&path).map_err(failed)?;
    let tty = terminal::open().ok_or_else(|| Exit::Failed.because("there is no terminal to edit on"))?;
    let editor =
        editing::editor().ok_or_else(|| Exit::Failed.because("expected an editor in VISUAL or EDITOR"))?;
    let mut text = before.clone().unwrap_or_else(template);
    loop {
        text = match editing::text(&tty, &editor, "config.toml", &text).map_err(failed)? {
            Edited::Text(new) => new,
            Edited::Nothing | Edited::Left | Edited::Stopped => {
                say(format!("{} was not changed", path.display()));
                return Ok(Exit::Done);
            }
        };
        let Err(wrong) = Config::parse(&text, &path, Whose::User) else { break };
        let again = match Asked::find(false, common.color, &Cancel::new()) {
            Asked::Terminal(mut terminal) => {
                let wrong = visible(&wrong.to_string()).into_owned();
                terminal.agrees(&wrong, &wrong, "Edit it again? Otherwise it stays as it was.")
            }
            _ => false,
        };
        if !again {
            return Err(Exit::Configuration.because(format!("it stays as it was: {wrong}")));
        }
    }
    if content(&path).map_err(failed)? != before {
        let mine = path.with_extension("toml.edited");
        write(&mine, &text).map_err(failed)?;
        let (path, mine) = (path.display(), mine.display());
        return Err(Exit::Failed
            .because(format!("{path} was changed meanwhile, and stays so; what you wrote is in {mine}")));
    }
    write(&path, &text).map_err(failed)?;
    say(format!("changed {}", path.display()));
    Ok(Exit::Done)
}

/// What is in the file, if it is there.
fn content(path: &Path) -> std::io::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Writes the file whole or not at all: a new one for the user alone, another one for whom it was.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    // A link stands for the file that it leads to.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(old) = std::fs::metadata(&path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

/// What a new file begins with: every key, none of them set.
fn template() -> String {
    let mut text =
        "# Options for every run of del. What is given on the command line counts more.\n".to_owned();
    for key in &KEYS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n# {}\n# {} = {}", key.about(), key.name, key.example);
    }
    text.push_str("\n# Values for `--profile local`; profile = \"local\" takes them where none is asked for\n# [profiles.local]\n# model = \"qwen3:8b\"\n");
    text
}
