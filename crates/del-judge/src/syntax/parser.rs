//! Words and operators to pipelines of simple commands.

use super::lexer::{Operator, Placed, Token, tokens};
use super::{
    Assignment, Cause, Link, MAX_COMMANDS, MAX_WORDS, Output, Pipeline, Redirection, Script, Simple, Unclear,
    Word,
};

/// Reads `text`, or says where it is not understood. The time is linear in its length.
pub(crate) fn parse(text: &str) -> Result<Script, Unclear> {
    let tokens = tokens(text)?;
    let end = text.chars().count();
    if tokens.len() > MAX_WORDS {
        return Err(Unclear { at: 0, cause: Cause::Many });
    }
    Parser { tokens: tokens.into_iter().peekable(), end }.script()
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<Placed>>,
    end: usize,
}

impl Parser {
    fn script(mut self) -> Result<Script, Unclear> {
        let mut script = Script::default();
        let mut link = Link::Always;
        let mut commands = 0;
        loop {
            self.newlines();
            if self.tokens.peek().is_none() {
                break;
            }
            let pipeline = self.pipeline(link)?;
            commands += pipeline.commands.len();
            if commands > MAX_COMMANDS {
                return Err(Unclear { at: 0, cause: Cause::Many });
            }
            script.pipelines.push(pipeline);
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

    fn newlines(&mut self) {
        while matches!(self.tokens.peek(), Some((_, Token::Operator(Operator::Newline)))) {
            self.tokens.next();
        }
    }

    fn needs<T>(&mut self, at: usize, operator: &'static str, then: T) -> Result<T, Unclear> {
        self.newlines();
        match self.tokens.peek() {
            None => Err(Unclear { at, cause: Cause::Dangling(operator) }),
            Some(_) => Ok(then),
        }
    }

    fn pipeline(&mut self, link: Link) -> Result<Pipeline, Unclear> {
        let mut commands = vec![self.simple()?];
        while let Some((at, Token::Operator(Operator::Pipe))) = self.tokens.peek() {
            let at = *at;
            self.tokens.next();
            self.needs(at, "|", ())?;
            commands.push(self.simple()?);
        }
        Ok(Pipeline { link, commands })
    }

    fn simple(&mut self) -> Result<Simple, Unclear> {
        let mut simple = Simple::default();
        let start = self.tokens.peek().map_or(self.end, |(at, _)| *at);
        while let Some((at, token)) = self.tokens.next_if(|(_, token)| !separates(token)) {
            match token {
                Token::Word(word) => match word.literal().and_then(|text| assignment(&word, text)) {
                    Some(assignment) if simple.words.is_empty() => simple.assignments.push(assignment),
                    _ if simple.words.is_empty() && begins_assignment(&word) => {
                        return Err(Unclear { at, cause: Cause::Wildcard });
                    }
                    _ if simple.words.is_empty() && is_keyword(&word) => {
                        return Err(Unclear { at, cause: Cause::Keyword });
                    }
                    _ => simple.words.push(word),
                },
                Token::Descriptor(descriptor) => match self.tokens.next() {
                    Some((at, Token::Operator(operator))) => {
                        simple.redirections.push(self.redirection(at, Some(descriptor), operator)?);
                    }
                    _ => return Err(Unclear { at, cause: Cause::Redirection }),
                },
                Token::Operator(operator) => {
                    simple.redirections.push(self.redirection(at, None, operator)?);
                }
            }
        }
        if simple.words.is_empty() {
            let cause = if simple.assignments.is_empty() { Cause::Empty } else { Cause::Dangling("=") };
            return Err(Unclear { at: start, cause });
        }
        Ok(simple)
    }

    fn redirection(
        &mut self,
        at: usize,
        descriptor: Option<u8>,
        operator: Operator,
    ) -> Result<Redirection, Unclear> {
        let unclear = |cause| Err(Unclear { at, cause });
        let Some((_, Token::Word(word))) = self.tokens.next() else { return unclear(Cause::Redirection) };
        let Some(target) = word.literal() else { return unclear(Cause::Wildcard) };
        let output = match descriptor {
            None | Some(1) => Some(Output::Standard),
            Some(2) => Some(Output::Error),
            Some(_) => None,
        };
        match (operator, descriptor, output) {
            (Operator::Less, None | Some(0), _) => Ok(Redirection::Input(word)),
            (Operator::HereString, None | Some(0), _) => Ok(Redirection::Text(format!("{target}\n"))),
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
            (Operator::Greater | Operator::Append | Operator::Both | Operator::Duplicate, ..) => {
                unclear(Cause::Writes)
            }
            _ => unclear(Cause::Redirection),
        }
    }
}

fn separates(token: &Token) -> bool {
    use Operator::{And, Newline, Or, Pipe, Semicolon};
    matches!(token, Token::Operator(Newline | Semicolon | And | Or | Pipe))
}

/// The word as an assignment: an unquoted name, an unquoted `=`, and anything.
fn assignment(word: &Word, text: &str) -> Option<Assignment> {
    let (name, value) = text.split_once('=')?;
    (is_name(name) && name.len() < word.plain)
        .then(|| Assignment { name: name.to_owned(), value: value.to_owned() })
}

/// Whether a word at the beginning of a command belongs to the shell's language. Quoted, it would be a program's name.
fn is_keyword(word: &Word) -> bool {
    const KEYWORDS: [&str; 21] = [
        "!", "[[", "]]", "{", "}", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done",
        "case", "esac", "select", "function", "time", "coproc",
    ];
    word.literal().is_some_and(|text| word.plain > 0 && KEYWORDS.contains(&text))
}

/// Whether the shell would see an assignment whose value holds wildcards.
fn begins_assignment(word: &Word) -> bool {
    word.literal().is_none() && assignment(word, &word.unmatched()).is_some()
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
