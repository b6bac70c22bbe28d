//! `[[ … ]]`, where it means the same as `test`.

use super::Parser;
use super::compound::is_exact;
use crate::syntax::lexer::{Operator, Token};
use crate::syntax::{Cause, Command, Link, Pipeline, Script, Simple, Unclear, Word};

impl Parser {
    /// Reads up to `]]`. Each condition becomes a `test`, whose words are not divided.
    pub(super) fn condition(&mut self) -> Result<Script, Unclear> {
        let mut script = Script::default();
        let mut link = Link::Always;
        loop {
            let negated = self.eat("!");
            let mut words = vec![Word::of("test")];
            loop {
                let word = |token: &Token| matches!(token, Token::Word(word) if word.bare() != Some("]]"));
                let Some((at, Token::Word(word))) = self.tokens.next_if(|(_, token)| word(token)) else {
                    break;
                };
                if !is_exact(&word) {
                    return Err(Unclear { at, cause: Cause::Wildcard });
                }
                words.push(word.undivided());
            }
            let Some(simple) = test(words) else { return self.unclear(Cause::Condition) };
            script.pipelines.push(Pipeline {
                link,
                negated,
                timed: false,
                commands: vec![Command::Simple(simple)],
            });
            if self.eat("]]") {
                break;
            }
            let before = link;
            link = match self.tokens.next() {
                Some((_, Token::Operator(Operator::And))) => Link::And,
                Some((_, Token::Operator(Operator::Or))) => Link::Or,
                _ => return self.unclear(Cause::Condition),
            };
            // Here `&&` binds its sides before `||` does, and between commands neither does.
            if before == Link::Or && link == Link::And {
                return self.unclear(Cause::Condition);
            }
            self.newlines();
        }
        Ok(script)
    }
}

/// A condition as the words of `test`. Numbers have to be plain: others would be computed.
fn test(mut words: Vec<Word>) -> Option<Simple> {
    let number = |word: &Word| {
        word.literal().is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
    };
    match words.as_slice() {
        [_, sign, _] => {
            let known = ["-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h", "-n", "-z"];
            sign.bare().filter(|sign| known.contains(sign))?;
        }
        [_, left, sign, right] => match sign.bare()? {
            "==" | "=" | "!=" => {}
            "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" if number(left) && number(right) => {}
            _ => return None,
        },
        _ => return None,
    }
    if let Some(sign) = words.get_mut(2).filter(|word| word.bare() == Some("==")) {
        *sign = Word::of("=");
    }
    Some(Simple { words, ..Simple::default() })
}
