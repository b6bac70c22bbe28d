//! `del detect`: which dialect a template, a checkpoint or an answer is in.

mod served;
pub(crate) mod written;

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use del_detect::{Material, Report, examples};
use del_tools::visible;
use same_file::Handle;

use crate::catalog::Catalog;
use crate::common::Common;
use crate::confined::{self, Question, Subject};
use crate::exit::Exit;
use crate::input::{Input, not_written_over};
use crate::interrupt::Interrupt;
use crate::screen::look::Look;
use crate::screen::stage;
use crate::server::ServerOptions;
use crate::terminal::{self, shown};
use crate::wrap;

/// Find out which dialect a chat template, a checkpoint, an answer or a served model is in
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A chat template, `tokenizer_config.json`, a GGUF file, a checkpoint's folder, or what a model wrote
    /// [default: standard input, or the server's model where --base-url or -m is given]
    file: Option<PathBuf>,
    /// Outputs of a model and their calls: NAME.txt with NAME.json, or NAME.toml
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    examples: Option<PathBuf>,
    /// Go by what a template writes alone, not by its text
    #[arg(long)]
    rendering_only: bool,
    /// Write a description of the dialect, and cases beside it
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    #[command(flatten)]
    server: ServerOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Look at what stands on standard input, with little time and memory
    #[arg(long, hide = true)]
    confined: bool,
}

/// Names of dialects that a line begins with.
const NAMED: usize = 5;

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    if options.confined {
        return confined::answer(catalog);
    }
    if let (Some(read), Some(written)) = (&options.file, &options.write)
        && read.is_file()
    {
        not_written_over(written, Handle::from_path(read).ok().as_ref())?;
    }
    let question = Question {
        subject: subject(options)?,
        options: del_detect::Options { rules: !options.rendering_only, describe: options.write.is_some() },
    };
    let found = {
        // Who has had enough of waiting gets a clean screen.
        let _interrupt = Interrupt::listen(stage::CURTAIN)?;
        let _busy = stage::open(Look::find(common.color)).busy("looking for the dialect");
        confined::ask(&question, common)?
    };
    let report = &found.report;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", shown(&format!("{:#}", serde_json::to_value(report)?)))?;
    } else {
        out.write_all(visible(&text(report, terminal::stdout_width())).as_bytes())?;
    }
    match &options.write {
        Some(path) => written::write(path, &found, catalog),
        None => Ok(Exit::Done),
    }
}

/// What is to be looked at.
fn subject(options: &Options) -> Result<Subject> {
    if let Some(folder) = &options.examples {
        let examples = examples::read(folder).map_err(|error| Exit::BadInput.because(error.to_string()))?;
        return Ok(Subject::Examples(examples));
    }
    let bad = |error: del_detect::SourceError| Exit::BadInput.because(error.to_string());
    let asks_server = options.server.base_url.is_some() || options.server.model.is_some();
    let material = match options.file.as_deref() {
        Some(path) if path != Path::new("-") => Material::read(path).map_err(bad)?,
        None if asks_server => served::material(&options.server)?,
        _ => Material::of_text(&Input::open(None)?.text()?, Path::new("-")).map_err(bad)?,
    };
    Ok(Subject::Material(material))
}

/// What a report comes down to.
pub(crate) fn verdict(report: &Report) -> String {
    let sure = format!("{:.0} % sure", report.confidence * 100.0);
    match (&report.dialect, report.tool_calls) {
        (Some(dialect), _) => format!("{dialect} ({sure})"),
        (None, true) => format!("tool calls in no known dialect ({sure})"),
        (None, false) => format!("no tool calls ({sure})"),
    }
}

/// The report for a person, in rows of so many columns: of many names the first.
fn text(report: &Report, columns: Option<usize>) -> String {
    let mut lines = vec![verdict(report)];
    lines.extend(report.evidence.iter().map(|line| format!("  - {}", fewer(line))));
    if let Some(thinking) = &report.reasoning {
        let begun = if thinking.begun().is_empty() { "" } else { ", " };
        let begun = [begun, thinking.begun()].concat();
        lines.push(format!("  - thinking between {:?} and {:?}{begun}", thinking.begin, thinking.end));
    }
    lines.extend(report.warnings.iter().map(|line| format!("  ! {}", fewer(line))));
    if let Some(instead) = &report.instead {
        lines.push(format!(
            "  > to call tools all the same: --tools-mode {} --dialect {}",
            instead.tools_mode, instead.dialect
        ));
    }
    let rows = |line: &String| match columns {
        Some(columns) => wrap::rows(line, columns, if line.starts_with(' ') { "  - ".len() } else { 0 }),
        None => line.clone(),
    };
    lines.iter().map(rows).collect::<Vec<_>>().join("\n") + "\n"
}

/// A line that begins with names, without most of them where there are many.
fn fewer(line: &str) -> Cow<'_, str> {
    let names: Vec<&str> = line.split(", ").collect();
    match names.split_last() {
        Some((last, others)) if others.len() > NAMED && others.iter().all(|name| !name.contains(' ')) => {
            let said = last.split_once(' ').map_or("", |(_, said)| said);
            format!("{} and {} more {said}", names[..NAMED].join(", "), names.len() - NAMED).into()
        }
        _ => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_are_shown() {
        let names: Vec<String> = (1..=30).map(|number| format!("dialect-{number}")).collect();
        let line = format!("{} read it the same", names.join(", "));
        assert_eq!(
            fewer(&line),
            "dialect-1, dialect-2, dialect-3, dialect-4, dialect-5 and 25 more read it the same"
        );
        for line in
            ["a, b and c", "a, b read it the same", "one, two, three, four, five six, seven, eight, nine"]
        {
            assert_eq!(fewer(line), line);
        }
    }
}
