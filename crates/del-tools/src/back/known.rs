//! The changes that were kept: what became of each, and which are meant.

use std::collections::HashSet;

use super::{Selection, UNDO, UndoError, UndoState};
use crate::context::Context;
use crate::undo::{Kept, State, Touched};

/// The changes of a directory, and what became of each.
pub(super) struct Known {
    pub(super) changes: Vec<Kept>,
    undone: HashSet<String>,
}

impl Known {
    pub(super) fn read(context: &Context) -> Result<Self, UndoError> {
        let store = context.undo.as_ref().ok_or(UndoError::NotKept)?;
        let _writing = context.workspace.lock();
        let mut changes = store.changes(context.workspace.root());
        // What was written down but never begun has not happened.
        changes.retain(|kept| kept.done || !context.all(kept, |file| &file.before));
        let mut undone = HashSet::new();
        for kept in changes.iter().rev() {
            if !undone.contains(&kept.record.id) {
                undone.extend(kept.record.undoes.iter().cloned());
            }
        }
        Ok(Self { changes, undone })
    }

    pub(super) fn state(&self, context: &Context, kept: &Kept) -> UndoState {
        if self.undone.contains(&kept.record.id) {
            UndoState::Undone
        } else if kept.done || context.all(kept, |file| &file.after) {
            UndoState::Done
        } else {
            UndoState::Unfinished
        }
    }

    /// The changes that are meant, the latest first.
    pub(super) fn choose(&self, context: &Context, selection: &Selection) -> Result<Vec<&Kept>, UndoError> {
        let find = |id: &str| {
            let mut found =
                self.changes.iter().filter(|kept| !id.is_empty() && kept.record.id.starts_with(id));
            match (found.next(), found.next()) {
                (Some(kept), None) => Ok(kept),
                _ => Err(UndoError::Unknown(id.to_owned())),
            }
        };
        match selection {
            Selection::Last(wanted) => {
                let open = |kept: &&Kept| kept.record.tool != UNDO && !self.undone.contains(&kept.record.id);
                let found: Vec<_> = self.changes.iter().rev().filter(open).take(*wanted).collect();
                match found.len() {
                    0 => Err(UndoError::Nothing),
                    there if there < *wanted => Err(UndoError::TooMany { wanted: *wanted, there }),
                    _ => Ok(found),
                }
            }
            Selection::Id(id) => {
                let kept = find(id)?;
                if self.undone.contains(&kept.record.id) {
                    return Err(UndoError::Already(kept.record.id.clone()));
                }
                Ok(vec![kept])
            }
            Selection::Finish(id) => {
                let kept = find(id)?;
                match self.state(context, kept) {
                    UndoState::Unfinished => Ok(vec![kept]),
                    UndoState::Done => Err(UndoError::Whole(kept.record.id.clone())),
                    UndoState::Undone => Err(UndoError::Already(kept.record.id.clone())),
                }
            }
        }
    }
}

impl Context {
    /// Whether each file of a change stands as `side` says.
    fn all(&self, kept: &Kept, side: fn(&Touched) -> &State) -> bool {
        kept.record.files.iter().all(|file| self.now(&file.path).is_ok_and(|(_, now)| now.holds(side(file))))
    }
}
