//! `del parse --jsonl`: a request a line in, an answer a line out.

use std::sync::Arc;

use anyhow::Result;
use del_dialects::{Collect, End, Event, Message, Sink, Span, Turn};
use del_parallel::threads;
use del_tools::counted;
use del_wire::native;
use del_wire::records::{RecordError, RecordErrorCode, Request};
use del_wire::tools::KnownTools;

use super::{Dialect, Reader};
use crate::blocks::{self, Block};
use crate::input::Input;
use crate::say;
use crate::terminal::show_lines;

/// What became of a block.
#[derive(Default)]
struct Done {
    answers: Vec<u8>,
    lines: u64,
    bad: u64,
}

/// Answers in order, each as soon as its line is there and those before are answered, on every core. Memory does not grow
/// with the number of lines.
pub(super) fn run(reader: &Reader, input: Input) -> Result<()> {
    let workers = (0..threads(usize::MAX)).map(|_| {
        let mut known = KnownTools::default();
        move |block: Block| answer_all(reader, &block, &mut known)
    });
    let mut out = std::io::stdout().lock();
    let (mut lines, mut bad) = (0, 0);
    blocks::run(input, workers.collect(), |done: Done| {
        lines += done.lines;
        bad += done.bad;
        Ok(show_lines(&done.answers, &mut out)?)
    })?;
    if bad > 0 {
        say(format!("{bad} of {} had no answer; the lines say why", counted(lines, "line")));
    }
    Ok(())
}

fn answer_all(reader: &Reader, block: &Block, known: &mut KnownTools) -> Done {
    let mut done = Done::default();
    if let Some((_, reason)) = block.too_long() {
        done.add(Err(RecordError::invalid(reason)), b"", 0);
    }
    for (number, line) in block.lines() {
        done.add(answer(reader, line, known), line, number);
    }
    done
}

impl Done {
    fn add(&mut self, answer: Result<(Request, Message), RecordError>, line: &[u8], number: u64) {
        self.lines += 1;
        match answer {
            Ok((request, message)) => {
                request.write_answer(&message, line, number, &mut self.answers);
            }
            Err(error) => {
                self.bad += 1;
                error.write(&mut self.answers);
            }
        }
        self.answers.push(b'\n');
    }
}

fn answer(reader: &Reader, line: &[u8], known: &mut KnownTools) -> Result<(Request, Message), RecordError> {
    let mut request = Request::read(line, known)?;
    let message = read(reader, &mut request)?;
    Ok((request, message))
}

fn read(reader: &Reader, request: &mut Request) -> Result<Message, RecordError> {
    let mut collect = Collect::new();
    read_into(reader, request, &mut collect)?;
    Ok(collect.into_message())
}

pub(super) fn read_into(
    reader: &Reader,
    request: &mut Request,
    sink: &mut dyn Sink,
) -> Result<(), RecordError> {
    let dialect = match request.said.dialect.as_deref() {
        None => reader.dialect.clone(),
        Some(name) => Dialect::named(name, reader.catalog)
            .map_err(|_| request.unknown_dialect(&reader.catalog.hint(name)))?,
    };
    let Dialect::Text(choice) = &dialect else {
        let mut pass = |event: Event<'_>, span: Span| sink.event(event, span);
        return native::read_into(&request.text, &mut pass).map_err(|error| RecordError {
            id: request.id.clone(),
            code: RecordErrorCode::InvalidRequest,
            message: format!("`text`: {error}"),
        });
    };
    let tools = request.tools.take().unwrap_or_else(|| Arc::clone(&reader.turn.tools));
    let starts = request.said.starts_in.unwrap_or(reader.turn.starts);
    let turn = Turn::new(tools).starting(starts).limited(reader.turn.limits.clone());
    let end = if request.said.cut { End::Cut } else { reader.end };
    reader.read_text(reader.catalog.parser(choice, turn), &request.text, end, sink);
    Ok(())
}
