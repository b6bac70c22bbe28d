//! `del parse --jsonl`: a request a line in, an answer a line out.

use std::io::{BufWriter, Write};
use std::sync::Arc;

use anyhow::Result;
use del_dialects::{End, Message, Start, Turn};
use del_wire::records::{RecordError, RecordErrorCode, Request};
use del_wire::{Ids, native};

use super::{Dialect, Reader};
use crate::input::Input;
use crate::say;
use crate::terminal::shown;

/// Answers in order, each as soon as its line is there. Memory does not grow with the number of lines.
pub(super) fn run(reader: &Reader, mut input: Input) -> Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut ids = Ids::default();
    let mut line = Vec::new();
    let (mut lines, mut bad) = (0_u64, 0_u64);
    while input.line(&mut line)? {
        lines += 1;
        let answer = answer(reader, &line, &mut ids);
        bad += u64::from(answer.is_err());
        writeln!(out, "{}", shown(&answer.unwrap_or_else(|error| error.line())))?;
        ids.forget();
        if !input.has_line() {
            out.flush()?;
        }
    }
    out.flush()?;
    if bad > 0 {
        say(format!("{bad} of {lines} lines had no answer; their lines say why"));
    }
    Ok(())
}

fn answer(reader: &Reader, line: &[u8], ids: &mut Ids) -> Result<String, RecordError> {
    let mut request = Request::read(line)?;
    let message = read(reader, &mut request)?;
    Ok(request.answer_line(&message, ids))
}

fn read(reader: &Reader, request: &mut Request) -> Result<Message, RecordError> {
    let dialect = match request.dialect.as_deref() {
        None => reader.dialect.clone(),
        Some(name) => Dialect::named(name, reader.catalog)
            .map_err(|_| request.unknown_dialect(&reader.catalog.hint(name)))?,
    };
    let Dialect::Text(choice) = &dialect else {
        return native::read(&request.text).map_err(|error| RecordError {
            id: request.id.clone(),
            code: RecordErrorCode::InvalidRequest,
            message: format!("`text`: {error}"),
        });
    };
    let turn = Turn {
        tools: request.tools.take().map_or_else(|| Arc::clone(&reader.turn.tools), Into::into),
        starts: match request.starts_in_reasoning {
            Some(true) => Start::Reasoning,
            Some(false) => Start::Text,
            None => reader.turn.starts,
        },
        limits: reader.turn.limits.clone(),
    };
    let end = if request.cut { End::Cut } else { reader.end };
    Ok(reader.read_text(reader.catalog.parser(choice, turn), &request.text, end))
}
