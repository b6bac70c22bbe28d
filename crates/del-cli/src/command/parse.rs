//! `del parse`: model output in, message out.

mod records;

use std::io::Write;
#[cfg(feature = "bulk")]
use std::path::Path;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
#[cfg(feature = "bulk")]
use del_bulk::Parse;
use del_dialects::{Collect, End, Event, Parser, Sink, Span, Start, Turn};
#[cfg(feature = "bulk")]
use del_wire::records::Request;
use del_wire::{Ids, Seed, answer, events, native};

use crate::catalog::{Catalog, Choice};
#[cfg(feature = "bulk")]
use crate::command::bulk::{self, Files};
use crate::common::Common;
use crate::exit::Exit;
#[cfg(feature = "bulk")]
use crate::input::read_text;
use crate::input::{Input, only, read_tools};
use crate::terminal::shown;

/// Read what a model wrote: text, thinking and tool calls
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The model's output; a line feed that ends the file is not counted as the model's; with --out any number of files
    /// and directories [default: standard input]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The dialect, `auto`, or `openai-native` for an answer of the API itself
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: String,
    /// The tools that the model was told of, as JSON
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Where the output starts [default: unknown; with --events: text]
    #[arg(long, value_enum, value_name = "WHERE")]
    starts_in: Option<StartsIn>,
    /// How the output ended
    #[arg(long, value_enum, value_name = "HOW", default_value = "end")]
    finish: Finish,
    /// Feed the parser N characters at a time; the answer is the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    chunk: Option<u32>,
    /// Print events as JSON lines as they happen
    #[arg(long, group = "many")]
    events: bool,
    /// Read a request from each line and print an answer for each
    #[arg(long, group = "many")]
    jsonl: bool,
    /// Print JSON, as always; with --out the report
    #[arg(long)]
    json: bool,
    #[cfg(feature = "bulk")]
    #[command(flatten)]
    bulk: Files,
    /// The column that the answers go into [default: answer]
    #[cfg(feature = "bulk")]
    #[arg(long, value_name = "NAME", requires = "out")]
    into: Option<String>,
    /// How many rows to read at a time [default: one for each core]
    #[cfg(feature = "bulk")]
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StartsIn {
    /// As text
    Text,
    /// The prompt ended inside the model's thinking
    Reasoning,
    /// Nobody said: what stands before a mark that ends thinking, and that nothing opened, is thinking
    Unknown,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Finish {
    /// The model stopped
    End,
    /// It was cut off
    Cut,
}

/// What is to be read, and how.
#[derive(Debug)]
struct Reader {
    catalog: Catalog,
    dialect: Dialect,
    turn: Turn,
    end: End,
    chunk: Option<u32>,
}

/// What a name stands for: the API's own form is no dialect, for it is no text.
#[derive(Debug, Clone)]
enum Dialect {
    Native,
    Text(Choice),
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let tools = options.tools.as_deref().map(read_tools).transpose()?.unwrap_or_default();
    let starts = match options.starts_in {
        Some(StartsIn::Text) => Start::Text,
        Some(StartsIn::Reasoning) => Start::Reasoning,
        // Events go out as they happen, so nothing can wait for a mark that tells.
        None if options.events => Start::Text,
        Some(StartsIn::Unknown) | None => Start::Unknown,
    };
    let reader = Reader {
        catalog,
        dialect: Dialect::named(&options.dialect, catalog)?,
        turn: Turn::new(tools).starting(starts),
        end: match options.finish {
            Finish::End => End::End,
            Finish::Cut => End::Cut,
        },
        chunk: options.chunk,
    };
    #[cfg(feature = "bulk")]
    if let Some(out) = &options.bulk.out {
        return read_files(&reader, options, out);
    }
    let input = Input::open(only(&options.files)?)?.of_a_model();
    if options.jsonl {
        records::run(&reader, input)?;
    } else if options.events {
        let mut printer = Printer { out: std::io::stdout().lock(), failed: None };
        reader.read(input, &mut printer)?;
    } else {
        let mut collect = Collect::new();
        let seed = reader.read(input, &mut collect)?;
        let message = collect.into_message();
        let answer = serde_json::to_string_pretty(&answer::answer(&message, &mut Ids::new(seed.number())))?;
        writeln!(std::io::stdout().lock(), "{}", shown(&answer))?;
    }
    Ok(Exit::Done)
}

/// Reads whole files.
#[cfg(feature = "bulk")]
fn read_files(reader: &Reader, options: &Options, out: &Path) -> Result<Exit> {
    let (column, into) = (options.bulk.column.as_deref(), options.into.as_deref());
    let rows = Parse::new(
        column.unwrap_or("text"),
        into.unwrap_or("answer"),
        |request: &mut Request, sink: &mut dyn Sink| records::read_into(reader, request, sink),
    );
    let settings = [
        format!("parse {:?} {column:?} {into:?}", (&options.dialect, reader.turn.starts, reader.end)),
        options.tools.as_deref().map(|path| read_text(path, Exit::BadInput)).transpose()?.unwrap_or_default(),
        bulk::descriptions(reader.catalog),
    ];
    bulk::run(&options.files, out, &rows, &settings, options.threads, options.json)
}

impl Dialect {
    fn named(name: &str, catalog: Catalog) -> Result<Self> {
        if name == native::NAME { Ok(Self::Native) } else { Ok(Self::Text(catalog.choose(name)?)) }
    }
}

impl Reader {
    /// Reads it all, and gives what the ids of its calls are made from.
    fn read<S: Stop>(&self, input: Input, sink: &mut S) -> Result<Seed> {
        let Dialect::Text(choice) = &self.dialect else {
            let text = input.text()?;
            native::read_into(&text, sink).map_err(|error| Exit::BadInput.because(error.to_string()))?;
            sink.check()?;
            return Ok(Seed::of(text.as_bytes()));
        };
        let mut parser = self.catalog.parser(choice, self.turn.clone());
        let (mut cutter, mut seed) = (Cutter::new(self.chunk), Seed::default());
        input.pieces(&mut |piece| {
            seed.push(piece.as_bytes());
            cutter.push(piece, &mut |piece| parser.push(piece, sink));
            sink.check()
        })?;
        cutter.finish(&mut |piece| parser.push(piece, sink));
        parser.finish(self.end, sink);
        sink.check()?;
        Ok(seed)
    }

    /// One text whole, for a record.
    fn read_text(&self, mut parser: Parser, text: &str, end: End, sink: &mut dyn Sink) {
        let mut cutter = Cutter::new(self.chunk);
        cutter.push(text, &mut |piece| parser.push(piece, &mut *sink));
        cutter.finish(&mut |piece| parser.push(piece, &mut *sink));
        parser.finish(end, &mut *sink);
    }
}

/// A sink that may find out that nobody wants more.
trait Stop: Sink {
    fn check(&mut self) -> Result<()>;
}

impl Stop for Collect {
    fn check(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Prints each event at once.
struct Printer<W> {
    out: W,
    failed: Option<std::io::Error>,
}

impl<W: Write> Sink for Printer<W> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        if self.failed.is_none() {
            let line = events::event(&event, &span).to_string();
            let line = shown(&line);
            self.failed = writeln!(self.out, "{line}").and_then(|()| self.out.flush()).err();
        }
    }
}

impl<W: Write> Stop for Printer<W> {
    fn check(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Cuts text into pieces of so many characters, wherever it was cut before.
#[derive(Debug)]
struct Cutter {
    size: Option<usize>,
    held: String,
    /// Characters in `held`.
    count: usize,
}

impl Cutter {
    fn new(size: Option<u32>) -> Self {
        Self { size: size.map(|size| size as usize), held: String::new(), count: 0 }
    }

    fn push(&mut self, text: &str, each: &mut dyn FnMut(&str)) {
        let Some(size) = self.size else { return each(text) };
        for c in text.chars() {
            self.held.push(c);
            self.count += 1;
            if self.count == size {
                each(&self.held);
                self.held.clear();
                self.count = 0;
            }
        }
    }

    fn finish(self, each: &mut dyn FnMut(&str)) {
        if !self.held.is_empty() {
            each(&self.held);
        }
    }
}
