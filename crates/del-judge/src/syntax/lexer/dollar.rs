//! What a `$` or a backquote begins.

use super::{Builder, Lexer, MAX_DEPTH};
use crate::syntax::parser::script;
use crate::syntax::{Cause, Piece, Script, Unclear, Word, sum};

impl Lexer<'_> {
    /// A `$` outside of quotes begins a quote or an expansion, or is itself at the end of a word.
    pub(super) fn dollar(&mut self, word: &mut Builder) -> Result<(), Unclear> {
        if self.expansion(word, false)? {
            return Ok(());
        }
        if self.eat('\'') {
            return self.ansi(word);
        }
        if !self.ends() {
            return self.unclear(Cause::Dollar);
        }
        word.quoted('$');
        Ok(())
    }

    /// Reads a variable, a computation of numbers or a substitution, if one follows.
    pub(super) fn expansion(&mut self, word: &mut Builder, quoted: bool) -> Result<bool, Unclear> {
        let rest = self.rest.as_str();
        if let Some(inside) = rest.strip_prefix("((") {
            let Some(sum) = sum::begun(inside) else { return self.unclear(Cause::Dollar) };
            let (length, value) = (sum.len(), sum::compute(sum));
            // Without names, what does not come to a number now never will.
            if value.is_none() && !sum::has_names(sum) {
                return self.unclear(Cause::Dollar);
            }
            match value {
                Some(value) => value.to_string().chars().for_each(|c| word.quoted(c)),
                None => word.expansion(Piece::Sum(sum.to_owned())),
            }
            self.pass(length + 4);
            return Ok(true);
        }
        if rest.starts_with('(') {
            self.pass(1);
            let script = self.substitution()?;
            word.expansion(Piece::Output { script: Box::new(script), quoted });
            return Ok(true);
        }
        if self.eat('?') {
            word.expansion(Piece::Variable { name: "?".to_owned(), quoted });
            return Ok(true);
        }
        let (braced, rest) = match rest.strip_prefix('{') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let (name, behind) = rest.split_at(length);
        // A continued line may lengthen the name, and a bracket is a place in a list.
        let ends = if braced { behind.starts_with('}') } else { !behind.starts_with(['\\', '[']) };
        if length == 0 || name.starts_with(|c: char| c.is_ascii_digit()) || !ends {
            return Ok(false);
        }
        let name = name.to_owned();
        self.pass(length + if braced { 2 } else { 0 });
        word.expansion(Piece::Variable { name, quoted });
        word.closed = braced;
        Ok(true)
    }

    /// Backquotes around plain words. What quotes and backslashes mean between them is another matter.
    pub(super) fn backquote(&mut self, word: &mut Builder, quoted: bool) -> Result<(), Unclear> {
        let rest = self.rest.as_str();
        let plain = |c: char| c.is_ascii_alphanumeric() || " _-./:=|".contains(c);
        let inside =
            rest.split_once('`').map(|(inside, _)| inside).filter(|inside| inside.chars().all(plain));
        let Some(inside) = inside else { return self.unclear(Cause::Backquote) };
        let length = inside.len();
        let mut inner = Lexer {
            text: inside,
            rest: inside.chars(),
            at: self.at,
            depth: self.depth + 1,
            pending: Vec::new(),
        };
        if inner.depth > MAX_DEPTH {
            return self.unclear(Cause::Backquote);
        }
        let (tokens, _) = inner.tokens()?;
        let script = script(tokens, inner.at)?;
        self.pass(length + 1);
        word.expansion(Piece::Output { script: Box::new(script), quoted });
        Ok(())
    }

    /// Reads up to the parenthesis that ends a substitution.
    fn substitution(&mut self) -> Result<Script, Unclear> {
        if self.depth == MAX_DEPTH || !self.pending.is_empty() {
            return self.unclear(Cause::Dollar);
        }
        self.depth += 1;
        let (tokens, closed) = self.tokens()?;
        self.depth -= 1;
        if closed { script(tokens, self.at) } else { self.unclear(Cause::Parenthesis) }
    }

    /// `<(…)`, which has to be a whole word.
    pub(super) fn file(&mut self) -> Result<Word, Unclear> {
        let start = self.offset();
        self.pass(2);
        let script = self.substitution()?;
        if !(self.ends() || self.peek().is_some_and(|c| matches!(c, ';' | '|' | '&' | ')'))) {
            return self.unclear(Cause::Parenthesis);
        }
        let pieces = vec![Piece::File(Box::new(script))];
        Ok(Word { pieces, plain: 0, quoted: true, span: start..self.offset() })
    }

    /// `$'...'` with the simplest of its escapes.
    fn ansi(&mut self, word: &mut Builder) -> Result<(), Unclear> {
        word.quote();
        loop {
            match self.next() {
                None => return self.unclear(Cause::Quote),
                Some('\'') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('n') => word.quoted('\n'),
                    Some('t') => word.quoted('\t'),
                    Some(c @ ('\\' | '\'' | '"')) => word.quoted(c),
                    _ => return self.unclear(Cause::Dollar),
                },
                Some(c) => word.quoted(c),
            }
        }
    }

    fn pass(&mut self, characters: usize) {
        for _ in 0..characters {
            self.next();
        }
    }
}
