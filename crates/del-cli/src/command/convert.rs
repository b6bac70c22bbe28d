//! `del convert`: calls in one dialect in, the same calls in another out.

mod records;

use std::io::Write;
#[cfg(feature = "bulk")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
#[cfg(feature = "bulk")]
use del_bulk::Convert;
use del_wire::convert::{ConvertError, Converter, Source, Target};
use del_wire::native;

use crate::catalog::{Catalog, Choice};
#[cfg(feature = "bulk")]
use crate::command::bulk::{self, Files};
use crate::common::Common;
use crate::exit::Exit;
#[cfg(feature = "bulk")]
use crate::input::read_text;
use crate::input::{Input, only, read_tools};

/// Rewrite calls from one dialect in another
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What a model wrote, or with --jsonl records; a line feed that ends the file is not counted as the model's; with
    /// --out any number of files and directories [default: standard input]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The dialect that the calls are written in, `auto`, or `openai-native`
    #[arg(long, value_name = "NAME", default_value = "auto")]
    from: String,
    /// The dialect to write them in, or `openai-native`
    #[arg(long, value_name = "NAME")]
    to: String,
    /// The tools that the model was told of, as JSON; `tools` of a record win
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Rewrite a record in each line: an object with `messages`, or with `text`
    #[arg(long, group = "many")]
    jsonl: bool,
    /// Leave out what the model thought, for a dialect that has no form for it
    #[arg(long)]
    drop_thinking: bool,
    /// Rewrite calls whose arguments were mended by a guess as well; what comes out does not show the guess
    #[arg(long)]
    keep_guesses: bool,
    /// Write records that cannot be rewritten to FILE as they are, in place of an error line in the output
    #[arg(long, value_name = "FILE", requires = "jsonl")]
    rejects: Option<PathBuf>,
    /// How many records to rewrite at a time [default: one for each core]
    #[arg(long, value_name = "N", requires = "many", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[cfg(feature = "bulk")]
    #[command(flatten)]
    bulk: Files,
    /// Print the report as JSON: with --out on standard output, with --jsonl as the last line on standard error
    #[arg(long, requires = "many")]
    json: bool,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let from = source(&options.from, catalog)?;
    let to = target(&options.to, catalog)?;
    let tools = options.tools.as_deref().map(read_tools).transpose()?.unwrap_or_default();
    let converter = Converter::new(from, to, !options.drop_thinking, tools).among(catalog.all());
    let converter = if options.keep_guesses { converter.with_guesses() } else { converter };
    #[cfg(feature = "bulk")]
    if let Some(out) = &options.bulk.out {
        return rewrite_files(converter, options, catalog, out);
    }
    let input = Input::open(only(&options.files)?)?;
    if options.jsonl {
        return records::run(&converter, input, options.rejects.as_deref(), options.threads, options.json);
    }
    let (given, end) = input.text_and_end()?;
    let text = converter.text(&given).map_err(|error| {
        let hint = match &error {
            ConvertError::Render(error) if error.is_about_thinking() => "; --drop-thinking leaves it out",
            ConvertError::Guessed { .. } => "; --keep-guesses rewrites it all the same",
            _ => "",
        };
        Exit::BadInput.because(format!("{error}{hint}"))
    })?;
    // JSON is a line. A text is what it was to the byte, for a terminal's escapes in it are the model's.
    let end = if converter.is_native() { "\n" } else { end };
    let mut out = std::io::stdout().lock();
    write!(out, "{}{end}", crate::terminal::shown(&text))?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Rewrites whole files.
#[cfg(feature = "bulk")]
fn rewrite_files(converter: Converter, options: &Options, catalog: Catalog, out: &Path) -> Result<Exit> {
    let column = options.bulk.column.as_deref();
    let settings = [
        format!(
            "convert {:?} {column:?}",
            (&options.from, &options.to, options.drop_thinking, options.keep_guesses)
        ),
        options.tools.as_deref().map(|path| read_text(path, Exit::BadInput)).transpose()?.unwrap_or_default(),
        bulk::descriptions(catalog),
    ];
    let rows = Convert::new(converter, column);
    bulk::run(&options.files, out, &rows, &settings, options.threads, options.json)
}

fn source(name: &str, catalog: Catalog) -> Result<Source> {
    if name == native::NAME {
        return Ok(Source::Native);
    }
    Ok(match catalog.choose(name)? {
        Choice::Auto => Source::Any(catalog.all()),
        Choice::One(dialect) => Source::Text(dialect),
    })
}

fn target(name: &str, catalog: Catalog) -> Result<Target> {
    if name == native::NAME { Ok(Target::Native) } else { Ok(Target::Text(Arc::clone(catalog.get(name)?))) }
}
