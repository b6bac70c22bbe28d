//! Here-documents: texts on the lines behind a command.

use super::{Lexer, Placed, Token};
use crate::syntax::{Cause, Unclear};

/// A here-document whose text is still to come.
pub(super) struct Pending {
    /// Where its token stands.
    place: usize,
    end: String,
    quoted: bool,
    /// Behind `<<-`: tabs at the beginning of lines are left out.
    indented: bool,
}

impl Lexer<'_> {
    /// Reads what stands behind `<<`: the word that ends the text.
    pub(super) fn document(&mut self, tokens: &mut Vec<Placed>) -> Result<(), Unclear> {
        if self.depth > 0 {
            return self.unclear(Cause::HereDocument);
        }
        let indented = self.eat('-');
        self.skip();
        let at = self.at;
        let quote = self.peek().filter(|c| matches!(c, '\'' | '"'));
        if quote.is_some() {
            self.next();
        }
        let mut end = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            end.push(c);
            self.next();
        }
        let closed = quote.is_none_or(|quote| self.eat(quote));
        if end.is_empty() || !closed || !(self.ends() || self.peek().is_some_and(super::is_operator)) {
            return self.unclear(Cause::HereDocument);
        }
        self.pending.push(Pending { place: tokens.len(), end, quoted: quote.is_some(), indented });
        tokens.push((at, Token::Document(String::new())));
        Ok(())
    }

    /// Reads the texts that begin with this line.
    pub(super) fn documents(&mut self, tokens: &mut [Placed]) -> Result<(), Unclear> {
        for pending in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                if self.peek().is_none() {
                    return self.unclear(Cause::HereDocument);
                }
                let mut line = String::new();
                while let Some(c) = self.next().filter(|c| *c != '\n') {
                    line.push(c);
                }
                let line = if pending.indented { line.trim_start_matches('\t') } else { &line };
                if line == pending.end {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            if !pending.quoted && text.contains(['$', '`', '\\']) {
                return self.unclear(Cause::HereDocument);
            }
            if let Some((_, token)) = tokens.get_mut(pending.place) {
                *token = Token::Document(text);
            }
        }
        Ok(())
    }
}
