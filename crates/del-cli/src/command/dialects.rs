//! `del dialects`: what Del can read and write.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, Subcommand};
use del_detect::response;
use del_detect::{cases, trial};
use del_dialects::{Dialect, Dialects};
use del_tools::counted;
use serde_json::{Value, json};

use super::detect::written;
use crate::catalog::{Catalog, Description};
use crate::colour::Paint;
use crate::common::Common;
use crate::exit::Exit;
use crate::input::read_text;
use crate::table::Table;
use crate::terminal;

/// List, show and check dialects
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print rows as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List all dialects, in the order in which `auto` prefers them
    List,
    /// Print the description of one
    Show {
        /// Its name, or a name that another engine has for it
        name: String,
    },
    /// Check a description of your own
    Check {
        /// The file
        file: PathBuf,
    },
    /// Print the description that a checkpoint's response template amounts to
    Import {
        /// The template, or a `tokenizer_config.json` that holds one
        file: PathBuf,
        /// The models, for people
        #[arg(long, default_value = "Imported")]
        title: String,
    },
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    match &options.action {
        None | Some(Action::List) => list(options.json, common),
        Some(Action::Show { name }) => show(name, options.json, common),
        Some(Action::Check { file }) => check(file, options.json),
        Some(Action::Import { file, title }) => import(file, title),
    }
}

fn list(json: bool, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let mut out = std::io::stdout().lock();
    if json {
        let rows: Value = catalog.all().iter().map(|dialect| row(dialect)).collect();
        writeln!(out, "{rows:#}")?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["NAME", "FAMILY", "CASES", "TITLE", "ALSO KNOWN AS"]);
    for dialect in catalog.all().iter() {
        table.row(vec![
            dialect.name().to_owned(),
            dialect.family().to_owned(),
            Dialects::cases(dialect.name()).to_string(),
            dialect.title().to_owned(),
            aliases(dialect).join(", "),
        ]);
    }
    let text = table.text(Paint::stdout(common.color), terminal::stdout_width());
    out.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn show(name: &str, json: bool, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let dialect = catalog.get(name)?;
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", terminal::shown(&format!("{:#}", row(dialect))))?;
    } else {
        out.write_all(terminal::shown(dialect.text()).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn check(file: &Path, json: bool) -> Result<Exit> {
    let description = Description::read(file, Exit::BadInput)?;
    let dialect = Dialect::from_toml(&description.name, &description.text).map_err(|error| {
        Exit::Configuration.because(format!("{}:{}: {}", file.display(), error.line, error.message))
    })?;
    let dialect = Arc::new(dialect);
    let cases = check_cases(file, &dialect)?;
    let failures = trial::failures(&dialect);
    if let Some(failure) = failures.iter().find(|failure| failure.is_grave) {
        return Err(Exit::Configuration.because(format!(
            "{}: expected a dialect that can write a call and read it again, got one that fails for {}: {}",
            file.display(),
            failure.about,
            failure.why
        )));
    }
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{:#}", Value::Object(row_with(&dialect, cases)))?;
    } else {
        let held = if cases > 0 {
            format!("; {} {}", counted(cases, "case"), if cases == 1 { "holds" } else { "hold" })
        } else {
            format!("; there are no cases: only {} samples of Del's own were tried", trial::SAMPLES)
        };
        writeln!(
            out,
            "{}: `{}` is a dialect that Del can read and write{held}",
            file.display(),
            dialect.name()
        )?;
    }
    for failure in &failures {
        crate::say(format!("it cannot carry {}: {}", failure.about, failure.why));
    }
    if Dialects::builtin().iter().any(|known| known.name() == dialect.name()) {
        crate::say(format!("a built-in dialect is named `{}` too; rename yours to use it", dialect.name()));
    }
    Ok(Exit::Done)
}

/// Reads the cases beside a description, and says how many there are; the first that does not hold is an error.
fn check_cases(file: &Path, dialect: &Arc<Dialect>) -> Result<usize> {
    let Ok(entries) = std::fs::read_dir(written::cases(file)) else { return Ok(0) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    for path in &paths {
        let text = read_text(path, Exit::Configuration)?;
        cases::check(dialect, &text)
            .map_err(|error| Exit::Configuration.because(format!("{}: {error}", path.display())))?;
    }
    Ok(paths.len())
}

/// The row of a dialect that is checked with so many cases.
fn row_with(dialect: &Dialect, cases: usize) -> serde_json::Map<String, Value> {
    let mut row = row(dialect).as_object().cloned().unwrap_or_default();
    row.insert("cases".to_owned(), Value::from(cases));
    row
}

fn import(file: &Path, title: &str) -> Result<Exit> {
    let json = read_text(file, Exit::BadInput)?;
    let wrong =
        |error: &dyn std::fmt::Display| Exit::BadInput.because(format!("{}: {error}", file.display()));
    let text = response::describe(title, &json).map_err(|error| wrong(&error))?;
    Dialect::from_toml("imported", &text).map_err(|error| wrong(&error))?;
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn row(dialect: &Dialect) -> Value {
    json!({
        "name": dialect.name(),
        "title": dialect.title(),
        "family": dialect.family(),
        "aliases": aliases(dialect),
        "models": dialect.models(),
        "source": dialect.source(),
        "cases": Dialects::cases(dialect.name()),
        "engines": dialect.aliases(),
    })
}

/// The names that engines have for it, each once.
fn aliases(dialect: &Dialect) -> Vec<&str> {
    let mut names: Vec<&str> = dialect.aliases().values().flatten().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}
