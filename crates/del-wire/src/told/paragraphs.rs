//! Texts and thoughts that are paragraphs of their own, as the message of a client has them.

use super::Piece;
use crate::chunk::GAP;

/// What a choice has told so far of which there may be more paragraphs.
#[derive(Debug, Default)]
pub struct Paragraphs {
    text: bool,
    thought: bool,
    /// What came last.
    last: Option<Kind>,
    begins: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thought,
}

impl Paragraphs {
    /// Writes a gap where a paragraph would stand right behind another text or thought in the client's message, which has
    /// all of a kind in `one` place or not. Elsewhere it is apart, which stays to be told of a text.
    pub fn write(&mut self, pieces: &mut Vec<Piece>, one: bool) {
        if !self.begins && !pieces.contains(&Piece::Paragraph) {
            // Nearly all are like this.
            return pieces.iter().for_each(|piece| self.follow(piece));
        }
        let mut written = Vec::with_capacity(pieces.len());
        for mut piece in pieces.drain(..) {
            let (said, kind) = match &piece {
                Piece::Text(_) => (self.text, Kind::Text),
                Piece::Reasoning(_) => (self.thought, Kind::Thought),
                Piece::Paragraph => {
                    self.begins = true;
                    continue;
                }
                _ => {
                    self.follow(&piece);
                    written.push(piece);
                    continue;
                }
            };
            if std::mem::take(&mut self.begins) && said {
                match &mut piece {
                    Piece::Text(text) | Piece::Reasoning(text) if one || self.last == Some(kind) => {
                        text.insert_str(0, GAP);
                    }
                    Piece::Text(_) => written.push(Piece::Paragraph),
                    _ => {}
                }
            }
            self.follow(&piece);
            written.push(piece);
        }
        *pieces = written;
    }

    fn follow(&mut self, piece: &Piece) {
        match piece {
            Piece::Text(_) => (self.text, self.last) = (true, Some(Kind::Text)),
            Piece::Reasoning(_) => (self.thought, self.last) = (true, Some(Kind::Thought)),
            Piece::Citation(_) | Piece::Paragraph | Piece::Details(_) => {}
            _ => self.last = None,
        }
    }
}
