//! What a client has been told of a choice, and what waits.

use std::collections::BTreeMap;

use del_dialects::{Call, FaultKind, Report};
use del_wire::{Blocks, Citation, Piece};
use serde_json::{Map, Value};

use super::beside::Beside;
use super::gaps::Gaps;
use super::open::Open;
use super::opening::Opening;

/// What the client has been told, and what waits.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) pieces: Vec<Piece>,
    /// What waits for the end of the call that is on its way out.
    pub(super) waiting: Vec<Piece>,
    pub(super) text: Opening,
    pub(super) reasoning: Opening,
    /// Where paragraphs of the text begin, and whether the next thought is one.
    pub(super) gaps: Gaps,
    pub(super) thinks_anew: bool,
    /// Where the text has something from: it waits for what is held of that.
    pub(super) cited: Vec<Citation>,
    pub(super) open: Option<Open>,
    /// Calls of which something went out.
    pub(super) sent: u32,
    /// The numbers of the calls that are complete.
    pub(super) whole: Vec<u32>,
    /// The complete calls by the numbers that the reader gives them, and their ids for the client.
    pub(super) ids: Vec<(u32, String)>,
    /// Calls, by the same numbers, in whose arguments something was guessed, and what first.
    pub(super) guessed: BTreeMap<u32, FaultKind>,
    /// The tools whose calls did not go out, as they may not be called.
    pub(super) refused: Vec<String>,
    /// Members of calls that are not known here.
    pub(super) beside: Beside,
    /// Calls that ask for definitions, and such members of each.
    pub(super) asked: Vec<Call>,
    pub(super) asked_beside: Vec<Map<String, Value>>,
    /// What the model thought in this answer; kept where answers may go on.
    pub(super) thoughts: Option<Blocks>,
    /// What the model said in this answer and in those that it goes on from, and where this one begins in it; kept where
    /// answers may go on.
    pub(super) said: String,
    pub(super) begins: usize,
    /// The calls that do not count.
    pub(super) broken: Vec<Report>,
    /// The last call was cut.
    pub(super) cut: bool,
    /// A part of a call that does not count went out, where answers do as they come.
    pub(super) half: bool,
    /// How many faults there were of each kind.
    pub(super) faults: BTreeMap<&'static str, usize>,
    pub(super) dialect: Option<String>,
}

impl Told {
    /// The call that was open. One that asks for definitions is kept: what there is of it is as good where it broke off.
    pub(super) fn close(&mut self) -> Option<Open> {
        let open = self.open.take();
        if let Some(Open { id, name, json, .. }) = open.as_ref().filter(|open| open.asks) {
            self.asked.push(Call { id: id.clone(), name: name.clone(), arguments: json.clone() });
            let native = open.as_ref().filter(|open| open.native);
            let beside = native.and_then(|open| self.beside.take(open.told.as_deref()));
            self.asked_beside.push(beside.unwrap_or_default());
        }
        open
    }

    /// Adds what the text so far has something from.
    pub(super) fn cite(&mut self) {
        for citation in std::mem::take(&mut self.cited) {
            self.add(Piece::Citation(citation));
        }
    }

    /// Where goes what belongs to no call. Some servers say it in the middle of one.
    pub(super) fn others(&mut self) -> &mut Vec<Piece> {
        let calls = self.open.as_ref().is_some_and(|open| open.index.is_some());
        if calls { &mut self.waiting } else { &mut self.pieces }
    }

    /// Adds what belongs to no call.
    pub(super) fn add(&mut self, new: Piece) {
        let pieces = self.others();
        match (pieces.last_mut(), new) {
            (Some(Piece::Text(text)), Piece::Text(more))
            | (Some(Piece::Reasoning(text)), Piece::Reasoning(more)) => text.push_str(&more),
            (_, new) => pieces.push(new),
        }
    }

    /// Adds the members of a call that are not known here, as far as they have come.
    pub(super) fn add_beside(&mut self, index: u32, native: bool, id: Option<&str>) {
        let members = native.then(|| self.beside.take(id)).flatten();
        self.pieces.extend(members.map(|members| Piece::Beside { index, members }));
    }

    pub(super) fn add_arguments(&mut self, index: u32, more: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Arguments { index: last, json }) if *last == index => json.push_str(more),
            _ => self.pieces.push(Piece::Arguments { index, json: more.to_owned() }),
        }
    }
}
