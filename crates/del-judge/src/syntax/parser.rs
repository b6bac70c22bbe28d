//! Words and operators to pipelines of commands.

mod compound;
mod condition;

use super::lexer::{Operator, Placed, Token, tokens};
use super::{
    Assignment, Cause, Command, Link, MAX_COMMANDS, MAX_WORDS, Output, Piece, Pipeline, Redirection, Script,
    Simple, Unclear, Word,
};

/// Commands within commands are read so far.
const MAX_DEPTH: usize = 8;

/// Reads `text`, or says where it is not understood. The time is linear in its length.
pub(crate) fn parse(text: &str) -> Result<Script, Unclear> {
    script(tokens(text)?, text.chars().count())
}

/// Reads tokens to their end, which is at this character.
pub(super) fn script(tokens: Vec<Placed>, end: usize) -> Result<Script, Unclear> {
    if tokens.len() > MAX_WORDS {
        return Err(Unclear { at: 0, cause: Cause::Many });
    }
    let mut parser = Parser { tokens: tokens.into_iter().peekable(), end, commands: 0, depth: 0 };
    let script = parser.script()?;
    match parser.tokens.next() {
        None => Ok(script),
        Some((at, _)) => Err(Unclear { at, cause: Cause::Nesting }),
    }
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<Placed>>,
    end: usize,
    /// How many commands were read, and in how many others this one stands.
    commands: usize,
    depth: usize,
}

impl Parser {
    /// Reads pipelines up to the end or to what ends the command that they stand in.
    fn script(&mut self) -> Result<Script, Unclear> {
        let mut script = Script::default();
        let mut link = Link::Always;
        loop {
            self.newlines();
            if self.is_over() {
                break;
            }
            script.pipelines.push(self.pipeline(link)?);
            if self.is_over() {
                break;
            }
            let Some((at, token)) = self.tokens.next() else { break };
            link = match token {
                Token::Operator(Operator::Semicolon | Operator::Newline) => Link::Always,
                Token::Operator(Operator::And) => self.needs(at, "&&", Link::And)?,
                Token::Operator(Operator::Or) => self.needs(at, "||", Link::Or)?,
                _ => return Err(Unclear { at, cause: Cause::Redirection }),
            };
        }
        if script.pipelines.is_empty() {
            return Err(Unclear { at: 0, cause: Cause::Empty });
        }
        Ok(script)
    }

    /// Whether nothing follows but what ends the command around it.
    fn is_over(&mut self) -> bool {
        const ENDS: [&str; 7] = ["then", "elif", "else", "fi", "do", "done", "}"];
        match self.tokens.peek() {
            None | Some((_, Token::Operator(Operator::Close))) => true,
            Some((_, Token::Word(word))) => word.bare().is_some_and(|word| ENDS.contains(&word)),
            Some(_) => false,
        }
    }

    fn newlines(&mut self) {
        while matches!(self.tokens.peek(), Some((_, Token::Operator(Operator::Newline)))) {
            self.tokens.next();
        }
    }

    fn needs<T>(&mut self, at: usize, operator: &'static str, then: T) -> Result<T, Unclear> {
        self.newlines();
        if self.is_over() { Err(Unclear { at, cause: Cause::Dangling(operator) }) } else { Ok(then) }
    }

    fn pipeline(&mut self, link: Link) -> Result<Pipeline, Unclear> {
        let timed = self.eat("time");
        // Only how it is said would differ.
        if timed {
            self.eat("-p");
        }
        let negated = self.eat("!");
        let mut commands = vec![self.command()?];
        while let Some((at, Token::Operator(Operator::Pipe))) = self.tokens.peek() {
            let at = *at;
            self.tokens.next();
            self.needs(at, "|", ())?;
            commands.push(self.command()?);
        }
        Ok(Pipeline { link, negated, timed, commands })
    }

    fn command(&mut self) -> Result<Command, Unclear> {
        self.commands += 1;
        if self.commands > MAX_COMMANDS {
            return Err(Unclear { at: 0, cause: Cause::Many });
        }
        match self.compound()? {
            Some(compound) => {
                let mut redirections = Vec::new();
                while let Some((at, token)) = self.tokens.next_if(|(_, token)| !separates(token)) {
                    redirections.push(self.redirected(at, &token)?);
                }
                Ok(Command::Compound(compound, redirections))
            }
            None => Ok(Command::Simple(self.simple()?)),
        }
    }

    /// Passes over a word of the shell's own.
    fn eat(&mut self, wanted: &str) -> bool {
        let is = |token: &Token| matches!(token, Token::Word(word) if word.bare() == Some(wanted));
        self.tokens.next_if(|(_, token)| is(token)).is_some()
    }

    fn expect(&mut self, wanted: &str) -> Result<(), Unclear> {
        if self.eat(wanted) { Ok(()) } else { self.unclear(Cause::Nesting) }
    }

    fn unclear<T>(&mut self, cause: Cause) -> Result<T, Unclear> {
        let at = self.tokens.peek().map_or(self.end, |(at, _)| *at);
        Err(Unclear { at, cause })
    }

    fn simple(&mut self) -> Result<Simple, Unclear> {
        let mut simple = Simple::default();
        let start = self.tokens.peek().map_or(self.end, |(at, _)| *at);
        while let Some((at, token)) = self.tokens.next_if(|(_, token)| !separates(token)) {
            let Token::Word(word) = token else {
                simple.redirections.push(self.redirected(at, &token)?);
                continue;
            };
            if simple.words.is_empty() {
                if let Some(assignment) = assignment(&word) {
                    let divided = |piece: &Piece| {
                        matches!(piece, Piece::Any | Piece::One | Piece::Set { .. } | Piece::Choice(_))
                    };
                    if assignment.value.pieces.iter().any(divided) {
                        return Err(Unclear { at, cause: Cause::Wildcard });
                    }
                    simple.assignments.push(assignment);
                    continue;
                }
                if is_keyword(&word) || is_other_assignment(&word) {
                    return Err(Unclear { at, cause: Cause::Keyword });
                }
            }
            simple.words.push(word);
        }
        // Variables that are set alone stay set; with a redirection they are nobody's.
        if simple.words.is_empty() && (simple.assignments.is_empty() || !simple.redirections.is_empty()) {
            let cause = if simple.assignments.is_empty() { Cause::Empty } else { Cause::Dangling("=") };
            return Err(Unclear { at: start, cause });
        }
        Ok(simple)
    }

    /// A redirection that begins with this token.
    fn redirected(&mut self, at: usize, token: &Token) -> Result<Redirection, Unclear> {
        match token {
            Token::Operator(operator) => self.redirection(at, None, *operator),
            Token::Descriptor(descriptor) => match self.tokens.next() {
                Some((at, Token::Operator(operator))) => self.redirection(at, Some(*descriptor), operator),
                _ => Err(Unclear { at, cause: Cause::Redirection }),
            },
            Token::Word(_) | Token::Document(_) => Err(Unclear { at, cause: Cause::Nesting }),
        }
    }

    fn redirection(
        &mut self,
        at: usize,
        descriptor: Option<u8>,
        operator: Operator,
    ) -> Result<Redirection, Unclear> {
        let unclear = |cause| Err(Unclear { at, cause });
        let word = match self.tokens.next() {
            Some((_, Token::Word(word))) => word,
            Some((_, Token::Document(text))) if matches!(descriptor, None | Some(0)) => {
                return Ok(Redirection::Text(Word::of(text)));
            }
            _ => return unclear(Cause::Redirection),
        };
        let divided =
            |piece: &Piece| matches!(piece, Piece::Any | Piece::One | Piece::Set { .. } | Piece::Choice(_));
        if word.pieces.iter().any(divided) {
            return unclear(Cause::Wildcard);
        }
        match (operator, descriptor) {
            (Operator::Less, None | Some(0)) => return Ok(Redirection::Input(word)),
            (Operator::HereString, None | Some(0)) if !word.is_file() => {
                let mut word = word.undivided();
                word.pieces.push(Piece::Text("\n".to_owned()));
                return Ok(Redirection::Text(word));
            }
            _ => {}
        }
        let Some(target) = word.literal() else { return unclear(Cause::Writes) };
        let output = match descriptor {
            None | Some(1) => Some(Output::Standard),
            Some(2) => Some(Output::Error),
            Some(_) => None,
        };
        match (operator, descriptor, output) {
            (Operator::Greater | Operator::Append, _, Some(output)) if target == "/dev/null" => {
                Ok(Redirection::Discard(output))
            }
            (Operator::Both, None, _) if target == "/dev/null" => Ok(Redirection::DiscardBoth),
            (Operator::Duplicate, _, Some(output)) if word.plain == 1 && target == "1" => {
                Ok(Redirection::Join(output, Output::Standard))
            }
            (Operator::Duplicate, _, Some(output)) if word.plain == 1 && target == "2" => {
                Ok(Redirection::Join(output, Output::Error))
            }
            (Operator::Greater | Operator::Append | Operator::Both, ..) if !target.is_empty() => {
                Ok(Redirection::Write(at))
            }
            (Operator::Greater | Operator::Append | Operator::Both | Operator::Duplicate, ..) => {
                unclear(Cause::Writes)
            }
            _ => unclear(Cause::Redirection),
        }
    }
}

fn separates(token: &Token) -> bool {
    use Operator::{And, Close, Newline, Or, Pipe, Semicolon};
    matches!(token, Token::Operator(Newline | Semicolon | And | Or | Pipe | Close))
}

/// The word as an assignment: an unquoted name, an unquoted `=`, and anything, which is not divided.
fn assignment(word: &Word) -> Option<Assignment> {
    let Some(Piece::Text(start)) = word.pieces.first() else { return None };
    let (name, value) = start.split_once('=')?;
    if !is_name(name) || name.len() >= word.plain {
        return None;
    }
    let mut pieces = Vec::new();
    if !value.is_empty() {
        pieces.push(Piece::Text(value.to_owned()));
    }
    pieces.extend_from_slice(&word.pieces[1..]);
    let value = Word { pieces, plain: 0, quoted: true, span: word.span.clone() }.undivided();
    Some(Assignment { name: name.to_owned(), value })
}

/// What stands before `=`, `+=` or `[…]=` in a word: the name of a variable, if it is one.
pub(crate) fn assigned(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    Some(name.split_once('[').map_or(name, |(name, _)| name))
}

/// Whether a word at the beginning of a command adds to a variable or sets a part of one: `a+=b`, `a[0]=b`.
fn is_other_assignment(word: &Word) -> bool {
    assigned(&word.unmatched()).is_some_and(is_name)
}

/// Whether a word at the beginning of a command belongs to the shell's language. Quoted, it would be a program's name.
fn is_keyword(word: &Word) -> bool {
    const KEYWORDS: [&str; 22] = [
        "!", "[[", "]]", "{", "}", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done",
        "case", "esac", "select", "function", "time", "coproc", "in",
    ];
    word.literal().is_some_and(|text| word.plain > 0 && KEYWORDS.contains(&text))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
