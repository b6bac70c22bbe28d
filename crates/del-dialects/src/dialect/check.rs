//! What makes a description one that can be read and written.

use std::fmt;

use super::{Codec, Dialect, Frame, Mark, Need, Piece, Slot};

/// Why a description is not one: what was expected and what was found, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectError {
    /// Counted from 1.
    pub line: usize,
    /// One line for a person.
    pub message: String,
}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for DialectError {}

impl DialectError {
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// The line of a byte offset, counted from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    text.as_bytes()[..offset].iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// Checks what the shape of the TOML cannot say.
pub(super) fn check(dialect: &Dialect, text: &str) -> Result<(), DialectError> {
    let at = |needle: &str| line_of(text, text.find(needle).unwrap_or(0));
    dialect.variants.iter().try_for_each(|variant| check(variant, text))?;
    let args = dialect.call.iter().filter(|piece| matches!(piece, Piece::Args(_))).count();
    if args != 1 {
        return Err(DialectError::new(
            at("[call]"),
            format!("expected one args piece in [call], got {args}"),
        ));
    }
    let codec = dialect.codec();
    // A name in a closing mark is the same once more.
    let body = dialect.body();
    let opening = body.iter().position(|piece| matches!(piece, Piece::Args(_))).unwrap_or(body.len());
    let behind = |place: usize, piece: &Piece| place > opening && matches!(piece, Piece::Mark(..));
    let heads = (0..).zip(body).filter(|(place, piece)| names(piece) && !behind(*place, piece)).count();
    let in_body = matches!(codec, Codec::Call(_)) || dialect.tool.is_some();
    let channels = matches!(dialect.frame, Frame::Channels(_));
    if !channels && matches!(codec, Codec::Raw { close, .. } if close.is_empty()) {
        return Err(DialectError::new(at("raw"), "expected a mark behind args = \"raw\", got none"));
    }
    match (heads, in_body) {
        (0, true) | (1, false) => {}
        (_, true) => {
            return Err(DialectError::new(
                at("head"),
                "expected the name either in a head or in the form of args = \"call\", got both",
            ));
        }
        (found, false) if !channels => {
            return Err(DialectError::new(
                at("[call]"),
                format!("expected one head with {{name}} before the arguments, got {found}"),
            ));
        }
        _ => {}
    }
    let before: Vec<&Piece> =
        dialect.call.iter().take_while(|piece| !matches!(piece, Piece::Args(_))).collect();
    if !in_body && !channels && !before.iter().any(|piece| names(piece)) {
        return Err(DialectError::new(
            at("head"),
            "expected the head before the arguments, got it behind them",
        ));
    }
    let opening = before.iter().filter_map(|piece| match piece {
        Piece::Mark(mark, _) => Some(mark),
        _ => None,
    });
    if dialect.frame == Frame::Tags && !dialect.block.open.iter().chain(opening).any(required) {
        return Err(DialectError::new(
            at("[call]"),
            "expected a mark before the arguments that has to be there (need = \"must\"), got none; \
             without one, use frame = \"bare\"",
        ));
    }
    if let Frame::Channels(channels) = &dialect.frame {
        for (what, marks) in [("start", &channels.start), ("message", &channels.message)] {
            if marks.is_empty() || marks.iter().any(String::is_empty) {
                return Err(DialectError::new(
                    at(what),
                    format!("expected {what} to be a mark, got an empty string"),
                ));
            }
        }
        if dialect.header().is_none() {
            return Err(DialectError::new(
                at("pieces"),
                "expected pieces that begin with a header, and a mark there that ends as message does",
            ));
        }
    }
    for mark in dialect.marks() {
        if mark.read.is_empty() && mark.need != Need::Soft {
            return Err(DialectError::new(
                at("mark"),
                "expected a mark of more than white space, or need = \"soft\" for white space alone",
            ));
        }
        if let Some(long) = mark.read.iter().find(|spelling| spelling.len() > MAX_MARK) {
            return Err(DialectError::new(
                at(long),
                format!("expected a mark of at most {MAX_MARK} bytes, got {}", long.len()),
            ));
        }
    }
    if let Some(reasoning) = &dialect.reasoning {
        for mark in reasoning.begin.iter().chain(&reasoning.end) {
            if mark.trim().is_empty() || mark.len() > MAX_MARK {
                return Err(DialectError::new(
                    at("[reasoning]"),
                    format!("expected reasoning marks of 1 to {MAX_MARK} bytes, got {}", mark.len()),
                ));
            }
        }
    }
    if dialect.title.trim().is_empty() || dialect.source.trim().is_empty() {
        return Err(DialectError::new(1, "expected a title and a source, got an empty one"));
    }
    Ok(())
}

/// A mark may be this long, in bytes: what a parser holds back at most.
const MAX_MARK: usize = 128;

fn required(mark: &Mark) -> bool {
    mark.need == Need::Must
}

fn names(piece: &Piece) -> bool {
    match piece {
        Piece::Head(form) | Piece::Mark(_, Some(form)) => form.parts.contains(&Slot::Name),
        _ => false,
    }
}
