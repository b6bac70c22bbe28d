//! Characters to words and operators.

use super::{Cause, MAX_LENGTH, Piece, Unclear, VARIABLES, Word};

/// What stands in the text, white space and comments left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    /// Digits directly before a redirection.
    Descriptor(u8),
    Operator(Operator),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Newline,
    Semicolon,
    And,
    Or,
    Pipe,
    /// `<`
    Less,
    /// `<<<`
    HereString,
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
    let mut lexer = Lexer { text, rest: text.chars(), at: 0 };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.token()? {
        tokens.push(token);
    }
    Ok(tokens)
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
        let token = if is_operator(c) { Token::Operator(self.operator()?) } else { self.word()? };
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
                if !self.eat('<') {
                    return self.unclear(Cause::HereDocument);
                }
                Operator::HereString
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
            _ => return self.unclear(Cause::Parenthesis),
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
            if matches!(c, ' ' | '\t') || (is_operator(c) && !matches!(c, '(' | ')')) {
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
                '`' => return self.unclear(Cause::Backquote),
                '(' | ')' => return self.unclear(Cause::Parenthesis),
                '*' => word.wildcard(Piece::Any),
                '?' => word.wildcard(Piece::One),
                '[' if !(word.is_empty() && self.ends()) => return self.unclear(Cause::Bracket),
                '~' if word.is_empty() || word.last.is_some_and(|c| matches!(c, '=' | ':')) => {
                    return self.unclear(Cause::Tilde);
                }
                '{' => self.brace(&mut word)?,
                '}' => return self.unclear(Cause::Brace),
                c => word.plain(c),
            }
        }
        let word = word.finish(start..self.offset());
        let redirects = matches!(self.peek(), Some('<' | '>'));
        let digits = word.literal().filter(|text| text.len() == word.plain && !text.is_empty());
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
                Some('`') => return self.unclear(Cause::Backquote),
                Some('$') if self.variable(word, true) => {}
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

    /// A `$` outside of quotes begins a quote or a variable, or is itself at the end of a word.
    fn dollar(&mut self, word: &mut Builder) -> Result<(), Unclear> {
        if self.variable(word, false) {
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

    /// The name of a variable that is known, if one follows.
    fn variable(&mut self, word: &mut Builder, quoted: bool) -> bool {
        let rest = self.rest.as_str();
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let Some(name) = VARIABLES.into_iter().find(|name| *name == &rest[..length]) else { return false };
        // A continued line may lengthen the name, and a bracket is a place in a list.
        if rest[length..].starts_with(['\\', '[']) {
            return false;
        }
        for _ in 0..length {
            self.next();
        }
        word.wildcard(Piece::Variable { name, quoted });
        true
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

    /// `{}` and `{word}` stand for themselves; a comma or two dots would make them expand.
    fn brace(&mut self, word: &mut Builder) -> Result<(), Unclear> {
        let inside = self.rest.as_str();
        let end =
            inside.find(|c: char| !c.is_ascii_alphanumeric()).filter(|end| inside[*end..].starts_with('}'));
        let Some(end) = end else { return self.unclear(Cause::Brace) };
        word.quoted('{');
        for _ in 0..=end {
            if let Some(c) = self.next() {
                word.quoted(c);
            }
        }
        Ok(())
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
}

impl Builder {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && !self.quoted
    }

    fn quote(&mut self) {
        self.quoted = true;
        self.last = None;
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

    fn wildcard(&mut self, piece: Piece) {
        self.quoted = true;
        self.last = None;
        self.pieces.push(piece);
    }

    fn finish(self, span: std::ops::Range<usize>) -> Word {
        Word { pieces: self.pieces, plain: self.plain, span }
    }
}
