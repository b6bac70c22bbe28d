//! Characters to words and operators.

mod choice;
mod document;
mod dollar;

use super::{Cause, MAX_LENGTH, Piece, Unclear, Word};
use document::Pending;

/// Substitutions within substitutions are read so far.
const MAX_DEPTH: usize = 4;

/// What stands in the text, white space and comments left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    /// Digits directly before a redirection.
    Descriptor(u8),
    Operator(Operator),
    /// The text of a here-document.
    Document(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Newline,
    Semicolon,
    /// `(`
    Open,
    /// `)`
    Close,
    And,
    Or,
    Pipe,
    /// `<`
    Less,
    /// `<<<`
    HereString,
    /// `<<`
    HereDocument,
    /// `>`
    Greater,
    /// `>>`
    Append,
    /// `>&`
    Duplicate,
    /// `&>` or `&>>`
    Both,
}

/// A token and where it begins, in characters.
pub(super) type Placed = (usize, Token);

pub(super) struct Lexer<'a> {
    text: &'a str,
    rest: std::str::Chars<'a>,
    /// Characters before `rest`.
    at: usize,
    /// How many substitutions this stands in.
    depth: usize,
    /// Here-documents whose texts begin with the next line.
    pending: Vec<Pending>,
}

/// The tokens of `text`.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, Unclear> {
    if text.len() > MAX_LENGTH {
        return Err(Unclear { at: 0, cause: Cause::Long });
    }
    if let Some((at, cause)) =
        text.chars().enumerate().find_map(|(at, c)| unusual(c).map(|cause| (at, cause)))
    {
        return Err(Unclear { at, cause });
    }
    let mut lexer = Lexer { text, rest: text.chars(), at: 0, depth: 0, pending: Vec::new() };
    let (tokens, closed) = lexer.tokens()?;
    if closed { lexer.unclear(Cause::Parenthesis) } else { Ok(tokens) }
}

/// Why a character is not taken anywhere, not even between quotes.
fn unusual(c: char) -> Option<Cause> {
    match c {
        '\n' | '\t' | ' '..='~' => None,
        _ if c.is_control() => Some(Cause::Control),
        // Letters by name that show nothing.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}' => Some(Cause::Unusual),
        // Signs that people write in messages: Latin punctuation, dashes and quotes, arrows, mathematics, boxes, emoji.
        '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{bf}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' => None,
        '\u{20a0}'..='\u{20bf}' | '\u{2190}'..='\u{22ff}' | '\u{2500}'..='\u{27bf}' => None,
        '\u{1f300}'..='\u{1faff}' => None,
        _ if c.is_alphanumeric() => None,
        _ => Some(Cause::Unusual),
    }
}

impl Lexer<'_> {
    /// The tokens up to the end, or up to the parenthesis that closes what they stand in.
    fn tokens(&mut self) -> Result<(Vec<Placed>, bool), Unclear> {
        let mut tokens = Vec::new();
        let mut closed = false;
        let mut open = 0_usize;
        while let Some((at, token)) = self.token()? {
            match token {
                Token::Operator(Operator::Open) => open += 1,
                Token::Operator(Operator::Close) if open == 0 => {
                    closed = true;
                    break;
                }
                Token::Operator(Operator::Close) => open -= 1,
                _ => {}
            }
            let ends_line = token == Token::Operator(Operator::Newline);
            let document = token == Token::Operator(Operator::HereDocument);
            tokens.push((at, token));
            if document {
                self.document(&mut tokens)?;
            }
            if ends_line {
                self.documents(&mut tokens)?;
            }
        }
        if self.pending.is_empty() { Ok((tokens, closed)) } else { self.unclear(Cause::HereDocument) }
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    fn unclear<T>(&self, cause: Cause) -> Result<T, Unclear> {
        Err(Unclear { at: self.at.saturating_sub(1), cause })
    }

    fn offset(&self) -> usize {
        self.text.len() - self.rest.as_str().len()
    }

    /// Passes over blanks, comments and continued lines.
    fn skip(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => {
                    self.next();
                }
                Some('\\') if self.rest.as_str().starts_with("\\\n") => {
                    self.next();
                    self.next();
                }
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.next();
                    }
                }
                _ => return,
            }
        }
    }

    fn token(&mut self) -> Result<Option<Placed>, Unclear> {
        self.skip();
        let at = self.at;
        let Some(c) = self.peek() else { return Ok(None) };
        let token = if self.rest.as_str().starts_with("<(") {
            Token::Word(self.file()?)
        } else if is_operator(c) {
            Token::Operator(self.operator()?)
        } else {
            self.word()?
        };
        Ok(Some((at, token)))
    }

    fn operator(&mut self) -> Result<Operator, Unclear> {
        let c = self.next();
        self.join();
        Ok(match c {
            Some('\n') => Operator::Newline,
            Some(';') if self.eat(';') => return self.unclear(Cause::Dangling(";;")),
            Some(';') => Operator::Semicolon,
            Some('|') if self.eat('|') => Operator::Or,
            Some('|') if self.eat('&') => return self.unclear(Cause::Redirection),
            Some('|') => Operator::Pipe,
            Some('&') if self.eat('&') => Operator::And,
            Some('&') if self.eat('>') => {
                self.join();
                self.eat('>');
                Operator::Both
            }
            Some('&') => return self.unclear(Cause::Background),
            Some('<') if self.eat('<') => {
                self.join();
                if self.eat('<') { Operator::HereString } else { Operator::HereDocument }
            }
            Some('<') => match self.peek() {
                Some('(') => return self.unclear(Cause::Parenthesis),
                Some('>' | '&') => return self.unclear(Cause::Redirection),
                _ => Operator::Less,
            },
            Some('>') if self.eat('>') => Operator::Append,
            Some('>') if self.eat('&') => Operator::Duplicate,
            Some('>') => match self.peek() {
                Some('(') => return self.unclear(Cause::Parenthesis),
                Some('|') => return self.unclear(Cause::Writes),
                _ => Operator::Greater,
            },
            // Two of them would begin arithmetic.
            Some('(') if self.peek() == Some('(') => return self.unclear(Cause::Parenthesis),
            Some('(') => Operator::Open,
            _ => Operator::Close,
        })
    }

    /// A line that is continued may divide an operator.
    fn join(&mut self) {
        while self.rest.as_str().starts_with("\\\n") {
            self.next();
            self.next();
        }
    }

    fn word(&mut self) -> Result<Token, Unclear> {
        let start = self.offset();
        let mut word = Builder::default();
        while let Some(c) = self.peek() {
            if matches!(c, ' ' | '\t') || (is_operator(c) && c != '(') {
                break;
            }
            self.next();
            match c {
                '\\' => match self.next() {
                    None => return self.unclear(Cause::Backslash),
                    Some('\n') => {}
                    Some(c) => word.quoted(c),
                },
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '$' => self.dollar(&mut word)?,
                '`' => self.backquote(&mut word, false)?,
                '(' => return self.unclear(Cause::Parenthesis),
                '*' => word.wildcard(Piece::Any),
                '?' => word.wildcard(Piece::One),
                '[' => self.bracket(&mut word)?,
                '~' if word.is_empty() || word.last.is_some_and(|c| matches!(c, '=' | ':')) => {
                    return self.unclear(Cause::Tilde);
                }
                '{' => self.brace(&mut word)?,
                '}' if word.is_empty() && (self.ends() || self.peek().is_some_and(is_operator)) => {
                    word.plain(c);
                }
                '}' => return self.unclear(Cause::Brace),
                c => word.plain(c),
            }
        }
        let word = word.finish(start..self.offset());
        // In the middle of a word a file's name is a part of it.
        if self.rest.as_str().starts_with("<(") {
            return self.unclear(Cause::Parenthesis);
        }
        let redirects = matches!(self.peek(), Some('<' | '>'));
        let digits = word.bare().filter(|text| !text.is_empty());
        if redirects && let Some(digits) = digits.filter(|text| text.bytes().all(|b| b.is_ascii_digit())) {
            return match digits {
                "0" => Ok(Token::Descriptor(0)),
                "1" => Ok(Token::Descriptor(1)),
                "2" => Ok(Token::Descriptor(2)),
                _ => self.unclear(Cause::Redirection),
            };
        }
        if redirects && word.unmatched().ends_with('}') {
            return self.unclear(Cause::Redirection);
        }
        Ok(Token::Word(word))
    }

    fn ends(&self) -> bool {
        self.peek().is_none_or(|c| matches!(c, ' ' | '\t' | '\n'))
    }

    fn single(&mut self, word: &mut Builder) -> Result<(), Unclear> {
        word.quote();
        loop {
            match self.next() {
                None => return self.unclear(Cause::Quote),
                Some('\'') => return Ok(()),
                Some(c) => word.quoted(c),
            }
        }
    }

    fn double(&mut self, word: &mut Builder) -> Result<(), Unclear> {
        word.quote();
        loop {
            match self.next() {
                None => return self.unclear(Cause::Quote),
                Some('"') => return Ok(()),
                Some('`') => self.backquote(word, true)?,
                Some('$') if self.expansion(word, true)? => {}
                // Before these no name, number or special parameter begins.
                Some('$')
                    if self.peek().is_some_and(|c| matches!(c, '"' | ' ' | '|' | ')' | '/' | ',' | '.')) =>
                {
                    word.quoted('$');
                }
                Some('$') => return self.unclear(Cause::Dollar),
                Some('\\') => match self.next() {
                    None => return self.unclear(Cause::Quote),
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.quoted(c),
                    Some(c) => {
                        word.quoted('\\');
                        word.quoted(c);
                    }
                },
                Some(c) => word.quoted(c),
            }
        }
    }
}

fn is_operator(c: char) -> bool {
    matches!(c, '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// A word that is being read.
#[derive(Default)]
struct Builder {
    pieces: Vec<Piece>,
    plain: usize,
    /// Whether something was quoted: from there on nothing is plain.
    quoted: bool,
    last: Option<char>,
    /// Whether the name of the last variable has a brace behind it.
    closed: bool,
}

impl Builder {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && !self.quoted
    }

    /// Quotes open: the word is there, even if nothing stands between them.
    fn quote(&mut self) {
        self.quoted = true;
        self.last = None;
        if !matches!(self.pieces.last(), Some(Piece::Text(_))) {
            self.pieces.push(Piece::Text(String::new()));
        }
    }

    fn quoted(&mut self, c: char) {
        self.quote();
        self.push(c);
    }

    fn plain(&mut self, c: char) {
        if !self.quoted && self.pieces.len() <= 1 {
            self.plain += c.len_utf8();
        }
        self.last = Some(c);
        self.push(c);
    }

    fn push(&mut self, c: char) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => self.pieces.push(Piece::Text(c.into())),
        }
    }

    fn expansion(&mut self, piece: Piece) {
        self.closed = false;
        self.wildcard(piece);
    }

    fn wildcard(&mut self, piece: Piece) {
        self.quoted = true;
        self.last = None;
        self.pieces.push(piece);
    }

    fn finish(self, span: std::ops::Range<usize>) -> Word {
        Word { pieces: self.pieces, plain: self.plain, quoted: self.quoted, span }
    }
}
