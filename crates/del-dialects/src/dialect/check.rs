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

/// The parser has a bit for each piece before the arguments that was there.
const MAX_OPENING: usize = u32::BITS as usize;

/// Checks what no key says alone: that the pieces of a form make a call. `Err` says what was expected and found.
pub(super) fn check(form: &Dialect) -> Result<(), String> {
    let args = form.call.iter().filter(|piece| matches!(piece, Piece::Args(_))).count();
    if args != 1 {
        return Err(format!("expected one args piece in `pieces`, got {args}"));
    }
    let in_channels = form.frame.channels().is_some();
    if in_channels && form.header().is_none() {
        return Err(
            "expected pieces that begin with a header, and a mark there that ends as message does, got \
                    none"
                .to_owned(),
        );
    }
    if !in_channels && matches!(form.codec(), Codec::Raw { close, .. } if close.is_empty()) {
        return Err("expected a mark behind args = \"raw\", got none".to_owned());
    }
    let before =
        |pieces: &[Piece]| pieces.iter().position(|piece| matches!(piece, Piece::Args(_))).unwrap_or(0);
    let mut opening =
        form.block.open.iter().chain(form.call[..before(&form.call)].iter().filter_map(Piece::mark));
    if form.frame == Frame::Tags && !opening.any(|mark: &Mark| mark.need == Need::Must) {
        return Err(
            "expected a mark before the arguments that has to be there (need = \"must\"), got none; \
                    without one, use frame = \"bare\""
                .to_owned(),
        );
    }
    let (before, behind) = form.body().split_at(before(form.body()));
    let opening = form.block.open.len() + before.len();
    if opening > MAX_OPENING {
        return Err(format!("expected at most {MAX_OPENING} pieces before the arguments, got {opening}"));
    }
    let marks: Vec<Option<&Mark>> =
        form.block.open.iter().map(Some).chain(before.iter().map(Piece::mark)).collect();
    // Which of the two stands there could not be told.
    for pair in marks.windows(2) {
        if let [Some(one), Some(next)] = pair
            && let Some(same) = one.read.iter().find(|read| next.read.contains(read))
        {
            return Err(format!(
                "expected two marks in a row to be spelled differently, got {same:?} for both"
            ));
        }
    }
    // A name stands in one place, and before the arguments. In a closing mark it is the same once more.
    let heads = before.iter().filter(|piece| names(piece)).count();
    let late = behind.iter().filter(|piece| matches!(piece, Piece::Head(_)) && names(piece)).count();
    match (form.tool.is_some() || matches!(form.codec(), Codec::Call(_)), heads + late) {
        (true, 0) | (false, 1) if late == 0 => Ok(()),
        (true, _) => {
            Err("expected the name either in a head or in what `args` or `tool` says, got both".to_owned())
        }
        (false, _) if in_channels => Ok(()),
        (false, 1) => Err("expected the head before the arguments, got it behind them".to_owned()),
        (false, found) => Err(format!("expected one head with {{name}} before the arguments, got {found}")),
    }
}

fn names(piece: &Piece) -> bool {
    piece.head().is_some_and(|form| form.parts.contains(&Slot::Name))
}
