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

/// Checks what no key says alone: that the pieces of a form, which stand in this line, make a call.
pub(super) fn check(form: &Dialect, line: usize) -> Result<(), DialectError> {
    let error = |message: String| Err(DialectError::new(line, message));
    let args = form.call.iter().filter(|piece| matches!(piece, Piece::Args(_))).count();
    if args != 1 {
        return error(format!("expected one args piece in `pieces`, got {args}"));
    }
    let channels = matches!(form.frame, Frame::Channels(_));
    if channels && form.header().is_none() {
        return error(
            "expected pieces that begin with a header, and a mark there that ends as message does, got none"
                .into(),
        );
    }
    if !channels && matches!(form.codec(), Codec::Raw { close, .. } if close.is_empty()) {
        return error("expected a mark behind args = \"raw\", got none".into());
    }
    let before = |piece: &&Piece| !matches!(piece, Piece::Args(_));
    let mut opening = form.block.open.iter().chain(form.call.iter().take_while(before).filter_map(mark_of));
    if form.frame == Frame::Tags && !opening.any(|mark| mark.need == Need::Must) {
        return error(
            "expected a mark before the arguments that has to be there (need = \"must\"), got none; \
             without one, use frame = \"bare\""
                .into(),
        );
    }
    let opening = form.block.open.len() + form.body().iter().take_while(before).count();
    if opening > MAX_OPENING {
        return error(format!("expected at most {MAX_OPENING} pieces before the arguments, got {opening}"));
    }
    named(form).or_else(error)
}

/// The parser has a bit for each piece before the arguments that was there.
const MAX_OPENING: usize = u32::BITS as usize;

/// A name stands in one place, and before the arguments. In a closing mark it is the same once more.
fn named(form: &Dialect) -> Result<(), String> {
    let args = form.body().iter().position(|piece| matches!(piece, Piece::Args(_))).unwrap_or(0);
    let (before, behind) = form.body().split_at(args);
    let heads = before.iter().filter(|piece| names(piece)).count();
    let late = behind.iter().filter(|piece| matches!(piece, Piece::Head(_)) && names(piece)).count();
    let in_channels = matches!(form.frame, Frame::Channels(_));
    match (form.tool.is_some() || matches!(form.codec(), Codec::Call(_)), heads + late) {
        (true, 0) | (false, 1) if late == 0 => Ok(()),
        (true, _) => {
            Err("expected the name either in a head or in what `args` or `tool` says, got both".into())
        }
        (false, _) if in_channels => Ok(()),
        (false, 1) => Err("expected the head before the arguments, got it behind them".into()),
        (false, found) => Err(format!("expected one head with {{name}} before the arguments, got {found}")),
    }
}

fn mark_of(piece: &Piece) -> Option<&Mark> {
    if let Piece::Mark(mark, _) = piece { Some(mark) } else { None }
}

fn names(piece: &Piece) -> bool {
    match piece {
        Piece::Head(form) | Piece::Mark(_, Some(form)) => form.parts.contains(&Slot::Name),
        _ => false,
    }
}
