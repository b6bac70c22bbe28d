//! Members of calls that nobody here knows, which whoever reads calls does not see.

use del_wire::CallDelta;
use serde_json::{Map, Value};

/// Those that have come, until their calls begin.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// The ids of calls by the server's numbers: what comes later of a call may have the number alone.
    ids: Vec<(u32, String)>,
    /// By the server's id of the call, where it has one.
    waiting: Vec<(Option<String>, Map<String, Value>)>,
}

impl Beside {
    /// Notes those of these pieces.
    pub(super) fn add(&mut self, pieces: &[CallDelta]) {
        for piece in pieces {
            if let (Some(index), Some(id)) = (piece.index, &piece.id) {
                self.ids.push((index, id.clone()));
            }
            if piece.beside.is_empty() {
                continue;
            }
            let numbered = || {
                let index = piece.index?;
                self.ids.iter().rev().find(|(known, _)| *known == index).map(|(_, id)| id.clone())
            };
            let id = piece.id.clone().or_else(numbered);
            self.waiting.push((id, piece.beside.clone()));
        }
    }

    /// Takes those of the call with this id, or of the next one without.
    pub(super) fn take(&mut self, id: Option<&str>) -> Option<Map<String, Value>> {
        let place = self.waiting.iter().position(|(known, _)| known.as_deref() == id)?;
        Some(self.waiting.remove(place).1)
    }
}
