//! Between the header of a field and its value, where the value has an opener of its own.

use super::marks::Between;
use super::{FieldMarks, FieldsProgress, FieldsReader, Next, Phase, rewind};
use crate::codec::json::white_space;
use crate::fault::FaultKind;
use crate::parse::automaton::{Anchored, Match};

impl FieldsReader {
    /// The header of a field ended with this mark, which may be the value's.
    pub(super) fn pass_header(&mut self, marks: &FieldMarks, hit: Match) {
        let closed = (hit.pattern as usize) < marks.header_closers;
        if !closed {
            self.notes.add(FaultKind::MissingCloser, hit.start);
        }
        self.enter(if closed && marks.between.is_some() { Phase::Between } else { Phase::ValueStart });
    }

    /// Reads up to the value, or to what shows that the key has none.
    pub(super) fn between(
        &mut self,
        marks: &FieldMarks,
        bytes: &[u8],
        look: &mut usize,
        kept: &mut usize,
        work: &mut u64,
    ) -> Option<FieldsProgress> {
        if self.scan.is_fresh() {
            *look += white_space(&bytes[*look..]);
        }
        if *look == bytes.len() {
            return Some(FieldsProgress::More);
        }
        let between = marks.between.as_ref()?;
        let kind = match between.follow(&mut self.scan, bytes, look, work) {
            Anchored::More => return Some(FieldsProgress::More),
            Anchored::Found(hit) => {
                let kind = marks.between_kinds[hit.pattern as usize];
                *kept = if kind == Between::Orphan(Next::Opener) { hit.start } else { hit.end };
                kind
            }
            Anchored::Nothing => {
                self.notes.add(FaultKind::MissingOpener, *kept);
                rewind(look, *kept, work);
                Between::Value
            }
        };
        match kind {
            Between::Value => self.enter(Phase::ValueStart),
            Between::Type => self.enter(Phase::Type),
            Between::Orphan(next) => {
                self.notes.add(FaultKind::OrphanMark, *kept);
                self.keys.pop();
                match next {
                    Next::Field => self.enter(Phase::Header),
                    Next::Opener => {
                        rewind(look, *kept, work);
                        return Some(FieldsProgress::Done(next));
                    }
                    _ => return Some(FieldsProgress::Done(next)),
                }
            }
        }
        None
    }
}
