//! Scripts of sed: addresses, and the commands that only print, delete and substitute.

use super::Unsure;

/// Reads a script to its end; any command that could write, read another file or run something is refused. Where a pattern
/// ends is not the same for all implementations, so it is read in each of their ways: in none may it do more than print.
pub(super) fn check(script: &str) -> Result<(), Unsure> {
    let (mut is_read, mut broken) = (false, None);
    for brackets in Brackets::all() {
        match (Reader { rest: script, brackets }).script() {
            Ok(()) => is_read = true,
            // An implementation that reads it so runs nothing of it.
            Err(Trouble::Rejected) => broken = Some(Unsure::Broken),
            Err(Trouble::Unsure(unsure)) => return Err(unsure),
        }
    }
    broken.filter(|_| !is_read).map_or(Ok(()), Err)
}

/// How an implementation reads brackets in a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    /// A delimiter in them ends the pattern.
    Open,
    Shield {
        /// A backslash in them shields the character behind it.
        escapes: bool,
        /// A class such as `[:alpha:]` does not end them.
        classes: bool,
        /// They do so in what is put in the place as well.
        everywhere: bool,
    },
}

impl Brackets {
    fn all() -> impl Iterator<Item = Self> {
        let shield = (0..8).map(|bits| Self::Shield {
            escapes: bits & 1 > 0,
            classes: bits & 2 > 0,
            everywhere: bits & 4 > 0,
        });
        std::iter::once(Self::Open).chain(shield)
    }
}

/// Why a script is not read to its end.
enum Trouble {
    /// No implementation runs a script with such a mistake, not even what stands before it.
    Rejected,
    Unsure(Unsure),
}

impl From<Unsure> for Trouble {
    fn from(unsure: Unsure) -> Self {
        Self::Unsure(unsure)
    }
}

/// Signs that are no command, no flag, and nowhere the end of a command.
const MEANINGLESS: [char; 17] =
    ['/', '|', ',', '@', '%', '_', '+', '~', ']', '[', '*', '$', '^', '.', '(', ')', '\\'];

struct Reader<'a> {
    rest: &'a str,
    brackets: Brackets,
}

impl Reader<'_> {
    fn script(&mut self) -> Result<(), Trouble> {
        loop {
            self.skip(|c| c.is_ascii_whitespace() || c == ';');
            if self.rest.is_empty() {
                return Ok(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn skip(&mut self, also: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(also);
    }

    fn blanks(&mut self) {
        self.skip(|c| c == ' ' || c == '\t');
    }

    fn addresses(&mut self) -> Result<(), Trouble> {
        if self.address()? {
            self.blanks();
            if self.rest.starts_with(',') {
                self.next();
                self.blanks();
                if self.rest.starts_with(['+', '~']) {
                    self.next();
                }
                if !self.address()? {
                    return Err(Unsure::Broken.into());
                }
            }
        }
        self.skip(|c| c == ' ' || c == '\t' || c == '!');
        Ok(())
    }

    fn address(&mut self) -> Result<bool, Trouble> {
        match self.peek() {
            Some('$') => {
                self.next();
            }
            Some(c) if c.is_ascii_digit() => {
                self.skip(|c| c.is_ascii_digit());
                if self.rest.starts_with('~') {
                    self.next();
                    self.skip(|c| c.is_ascii_digit());
                }
            }
            Some(c @ ('/' | '\\')) => {
                self.next();
                let delimiter = if c == '/' { c } else { self.delimiter()? };
                self.until(delimiter, true)?;
                self.skip(|c| matches!(c, 'I' | 'M'));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn command(&mut self) -> Result<(), Trouble> {
        match self.next() {
            // A block's commands are read one after the other; its braces need no match to be harmless.
            Some('{' | '}') => Ok(()),
            Some('p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z' | 'F') => {
                self.end()
            }
            Some('q' | 'Q' | 'l') => {
                self.blanks();
                self.skip(|c| c.is_ascii_digit());
                self.end()
            }
            Some('s') => {
                let delimiter = self.delimiter()?;
                self.until(delimiter, true)?;
                self.until(delimiter, false)?;
                self.skip(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M'));
                if self.rest.starts_with(MEANINGLESS) {
                    return Err(Trouble::Rejected);
                }
                self.end()
            }
            Some('y') => {
                let delimiter = self.delimiter()?;
                self.until(delimiter, false)?;
                self.until(delimiter, false)?;
                self.end()
            }
            Some('a' | 'i' | 'c') => self.text(),
            // A label ends with the line or a semicolon; where it goes on to the end of the line, it is only longer.
            Some(':') => self.label(true),
            Some('b' | 't' | 'T') => self.label(false),
            Some(c) if MEANINGLESS.contains(&c) => Err(Trouble::Rejected),
            Some(c) => Err(Unsure::Command(c).into()),
            None => Err(Unsure::Broken.into()),
        }
    }

    fn label(&mut self, needed: bool) -> Result<(), Trouble> {
        self.blanks();
        let before = self.rest.len();
        self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
        let named = self.rest.len() < before;
        match self.peek() {
            None | Some(';' | '\n') if named || !needed => Ok(()),
            Some('}') if !needed => Ok(()),
            _ => Err(Unsure::Broken.into()),
        }
    }

    /// What ends a command: anything else behind it is not understood.
    fn end(&mut self) -> Result<(), Trouble> {
        self.blanks();
        match self.peek() {
            None | Some(';' | '\n' | '}') => Ok(()),
            Some(c) => Err(Unsure::Command(c).into()),
        }
    }

    fn delimiter(&mut self) -> Result<char, Trouble> {
        self.next().filter(|c| "/|,:@#%!_+=~".contains(*c)).ok_or(Unsure::Broken.into())
    }

    /// Passes over a text that is printed, up to the end of the script: what a backslash at the end of its last line would
    /// add to it stands elsewhere.
    fn text(&mut self) -> Result<(), Trouble> {
        self.blanks();
        let text = std::mem::take(&mut self.rest);
        let mut lines = text.split('\n').peekable();
        while let Some(line) = lines.next() {
            if line.ends_with('\\') != lines.peek().is_some() {
                return Err(Unsure::Broken.into());
            }
        }
        if text.is_empty() { Err(Unsure::Broken.into()) } else { Ok(()) }
    }

    /// Passes over a pattern, or what is put in its place, and the delimiter behind it.
    fn until(&mut self, delimiter: char, is_pattern: bool) -> Result<(), Trouble> {
        while let Some(c) = self.next() {
            match (c, self.brackets) {
                _ if c == delimiter => return Ok(()),
                ('\\', _) => {
                    self.next();
                }
                ('[', Brackets::Shield { escapes, classes, everywhere }) if is_pattern || everywhere => {
                    self.brackets(escapes, classes)?;
                }
                _ => {}
            }
        }
        Err(Trouble::Rejected)
    }

    /// Passes over a list of characters, behind the bracket that opens it.
    fn brackets(&mut self, escapes: bool, classes: bool) -> Result<(), Trouble> {
        self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
        // The first is one of the characters.
        self.rest = self.rest.strip_prefix(']').unwrap_or(self.rest);
        while let Some(c) = self.next() {
            match c {
                ']' => return Ok(()),
                '\\' if escapes => {
                    self.next();
                }
                '[' if classes => self.class(),
                _ => {}
            }
        }
        Err(Trouble::Rejected)
    }

    /// Passes over the rest of `[:alpha:]`, `[.a.]` or `[=a=]`, if it is one.
    fn class(&mut self) {
        for end in [":]", ".]", "=]"] {
            let within = self.rest.strip_prefix(&end[..1]).and_then(|rest| rest.split_once(end));
            if let Some((_, rest)) = within {
                self.rest = rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_prints_is_read() {
        for script in [
            "1,10p",
            "$d",
            "/a/,/b/p",
            "s/a/b/g",
            "s|a|b|2p",
            "1p;3p",
            "1!G;h;$!d",
            "/^#/d;/^$/d",
            "y/abc/xyz/",
            "5q",
            "$=",
            "0~3p",
            "1,+3p",
            "/x/{p;d}",
            "/x/{s/a/b/;p;}",
            "s/[a-z]*//",
            "s/\\//x/",
            "",
            "n;d",
            "s/a/b/;s/c/d/",
            "/a/I p",
            "s/^[ \t]*//",
            "1 p",
            "2,5!d",
            ":a;N;$!ba;s/x/y/",
            "b",
            "/x/b;p",
            "tz;:z",
            "s/[[:space:]]*$//",
            "s/^[[:alpha:]_][[:alnum:]_]*/x/",
            "s/[^/]*$//",
            "s/[]x]/y/",
            "s/[^]x]/y/g",
            "s|[^|]*||",
            "/[a/]/p",
            "\\|x|p",
            "\\,a/b,d",
            "s/x/[/",
            "s,[^,]*,,2",
            "s/[^/]*\\/[^/]*$//;p",
            "1i header",
            "$a footer",
            "2c\\\na\\\nb",
            "/x/a\\\ntext",
        ] {
            assert_eq!(check(script), Ok(()), "{script}");
        }
    }

    #[test]
    fn what_may_do_more_is_not() {
        for script in [
            "w x",
            "1w x",
            "s/a/b/w x",
            "s/a/b/e",
            "s/a/b/gw x",
            "e",
            "1e id",
            "r x",
            "R x",
            "W x",
            "s/a/b/ w x",
            "p;w x",
            "{w x\n}",
            "/[/]/w x",
            "s/[/]/x/w y/",
            ":",
            ":a}w x",
            "bx w",
            "s/a",
            "y/a/b/;e",
            "\\,a,e",
            "s\\a\\b\\e",
            "s/[]/]/w x/",
            "s/[^]/]/w x/",
            "s/[[:alpha:]/]/g;s/w x/y/",
            "s/[^[:alpha:]/]/g;s/e/y/",
            "s/[[.a.]/]/g;s/w x/y/",
            "s/[[=a=]/]/g;s/w x/y/",
            "s/[[:a/b:]]/g;s/w x/y/",
            "s/[a[:space:]b/]/g;s/w x/y/",
            "a\nw x",
            "a x\nw y",
            "a x\\",
            "i\\",
            "a",
            "s/[/]/w y/;s/a/b/",
            "s/[a/]/w y/",
            "s/[^/]*/e/",
            "s/[\\]/x/w y/;s/a]/b/",
            "s/[[:]/x/w y/:]]/x/",
            "s/x/[/w y/]/",
            "s/[]x",
            "\\,[,],w y,]/p",
            "y/[/]/w y/",
            "p w",
            "pw x",
            "5q5w",
            "}w x",
            "!e",
            "v",
            "s/a\\/b/c/e",
            "sxaxbxe",
            "1,w",
        ] {
            assert!(check(script).is_err(), "{script}");
        }
    }
}
