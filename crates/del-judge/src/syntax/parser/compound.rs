//! Groups, conditions and loops.

use super::{MAX_DEPTH, Parser, is_name};
use crate::syntax::lexer::{Operator, Token};
use crate::syntax::{Cause, Command, Compound, Piece, Script, Simple, Unclear, Word};

impl Parser {
    /// Reads a command that holds commands, if one begins here.
    pub(super) fn compound(&mut self) -> Result<Option<Compound>, Unclear> {
        if self.depth == MAX_DEPTH {
            return self.unclear(Cause::Many);
        }
        self.depth += 1;
        let compound = if self.next_is(Operator::Open) {
            let script = self.script()?;
            if !self.next_is(Operator::Close) {
                return self.unclear(Cause::Nesting);
            }
            Some(Compound::Subshell(script))
        } else if self.eat("{") {
            let script = self.script()?;
            self.expect("}")?;
            Some(Compound::Group(script))
        } else if self.eat("if") {
            Some(self.choice()?)
        } else if self.eat("for") {
            Some(self.each()?)
        } else if self.eat("while") {
            Some(self.lines()?)
        } else if self.eat("[[") {
            Some(Compound::Subshell(self.condition()?))
        } else {
            None
        };
        self.depth -= 1;
        Ok(compound)
    }

    fn next_is(&mut self, operator: Operator) -> bool {
        self.tokens.next_if(|(_, token)| *token == Token::Operator(operator)).is_some()
    }

    fn choice(&mut self) -> Result<Compound, Unclear> {
        let mut arms = Vec::new();
        loop {
            let condition = self.script()?;
            self.expect("then")?;
            arms.push((condition, self.script()?));
            if self.eat("elif") {
                continue;
            }
            let otherwise = if self.eat("else") { Some(self.script()?) } else { None };
            self.expect("fi")?;
            return Ok(Compound::If { arms, otherwise });
        }
    }

    fn each(&mut self) -> Result<Compound, Unclear> {
        let Some((_, Token::Word(name))) = self.tokens.next() else { return self.unclear(Cause::Loop) };
        let Some(name) = name.bare().filter(|name| is_name(name)).map(str::to_owned) else {
            return self.unclear(Cause::Loop);
        };
        self.newlines();
        if !self.eat("in") {
            return self.unclear(Cause::Loop);
        }
        let mut words = Vec::new();
        while let Some((_, Token::Word(word))) =
            self.tokens.next_if(|(_, token)| matches!(token, Token::Word(word) if !word.is_file()))
        {
            words.push(word);
        }
        if !(self.next_is(Operator::Semicolon) || self.next_is(Operator::Newline)) {
            return self.unclear(Cause::Loop);
        }
        Ok(Compound::For { name, words, body: self.body()? })
    }

    /// `do … done`
    fn body(&mut self) -> Result<Script, Unclear> {
        self.newlines();
        self.expect("do")?;
        let body = self.script()?;
        self.expect("done")?;
        Ok(body)
    }

    /// `while read NAME …`, also with one character or none for `IFS` before it, and `-r` in it.
    fn lines(&mut self) -> Result<Compound, Unclear> {
        let condition = self.script()?;
        let [pipeline] = condition.pipelines.as_slice() else { return self.unclear(Cause::Loop) };
        let [Command::Simple(Simple { assignments, words, redirections })] = pipeline.commands.as_slice()
        else {
            return self.unclear(Cause::Loop);
        };
        let words: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
        let separators = match assignments.as_slice() {
            [] => Some(" \t\n"),
            [set] if set.name == "IFS" => set.value.literal().filter(|text| separates(text)),
            _ => None,
        };
        let (raw, names) = match words.as_deref() {
            Some(["read", "-r", names @ ..]) => (true, names),
            Some(["read", names @ ..]) => (false, names),
            _ => return self.unclear(Cause::Loop),
        };
        let named = !names.is_empty() && names.iter().all(|name| is_name(name));
        let Some(separators) = separators.filter(|_| named && !pipeline.negated && redirections.is_empty())
        else {
            return self.unclear(Cause::Loop);
        };
        let (names, separators) =
            (names.iter().map(|name| (*name).to_owned()).collect(), separators.to_owned());
        Ok(Compound::Read { names, raw, separators, body: self.body()? })
    }
}

/// Whether a text is no character between fields, or one that means nothing else.
fn separates(text: &str) -> bool {
    text.len() <= 1
        && text.bytes().all(|b| b.is_ascii_punctuation() && b != b'\\' || matches!(b, b' ' | b'\t'))
}

/// Whether a word is known when nothing else is.
pub(super) fn is_exact(word: &Word) -> bool {
    !word
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Any | Piece::One | Piece::Set { .. } | Piece::Choice(_)))
}
