//! Scripts of sed: addresses, and the commands that only print, delete and substitute.

use super::Unsure;

/// Reads a script to its end; any command that could write, read another file or run something is refused.
pub(super) fn check(script: &str) -> Result<(), Unsure> {
    let mut reader = Reader { rest: script };
    loop {
        reader.skip(|c| c.is_ascii_whitespace() || c == ';');
        if reader.rest.is_empty() {
            return Ok(());
        }
        reader.addresses()?;
        reader.command()?;
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
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

    fn addresses(&mut self) -> Result<(), Unsure> {
        if self.address()? {
            self.blanks();
            if self.rest.starts_with(',') {
                self.next();
                self.blanks();
                if self.rest.starts_with(['+', '~']) {
                    self.next();
                }
                if !self.address()? {
                    return Err(Unsure::Broken);
                }
            }
        }
        self.skip(|c| c == ' ' || c == '\t' || c == '!');
        Ok(())
    }

    fn address(&mut self) -> Result<bool, Unsure> {
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
            Some('/') => {
                self.next();
                self.until('/')?;
                self.skip(|c| matches!(c, 'I' | 'M'));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn command(&mut self) -> Result<(), Unsure> {
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
                self.until(delimiter)?;
                self.until(delimiter)?;
                self.skip(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M'));
                self.end()
            }
            Some('y') => {
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
                self.until(delimiter)?;
                self.end()
            }
            // A label ends with the line or a semicolon; where it goes on to the end of the line, it is only longer.
            Some(':') => self.label(true),
            Some('b' | 't' | 'T') => self.label(false),
            Some(c) => Err(Unsure::Command(c)),
            None => Err(Unsure::Broken),
        }
    }

    fn label(&mut self, needed: bool) -> Result<(), Unsure> {
        self.blanks();
        let before = self.rest.len();
        self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
        let named = self.rest.len() < before;
        match self.peek() {
            None | Some(';' | '\n') if named || !needed => Ok(()),
            Some('}') if !needed => Ok(()),
            _ => Err(Unsure::Broken),
        }
    }

    /// What ends a command: anything else behind it is not understood.
    fn end(&mut self) -> Result<(), Unsure> {
        self.blanks();
        match self.peek() {
            None | Some(';' | '\n' | '}') => Ok(()),
            Some(c) => Err(Unsure::Command(c)),
        }
    }

    fn delimiter(&mut self) -> Result<char, Unsure> {
        self.next().filter(|c| "/|,:@#%!_+=~".contains(*c)).ok_or(Unsure::Broken)
    }

    /// Passes over a text and the delimiter behind it. Whether brackets shield a delimiter differs between
    /// implementations, so a text with an open bracket is not understood.
    fn until(&mut self, delimiter: char) -> Result<(), Unsure> {
        let mut open = false;
        while let Some(c) = self.next() {
            match c {
                _ if c == delimiter => return if open { Err(Unsure::Broken) } else { Ok(()) },
                '\\' => {
                    self.next();
                }
                // A class such as `[:alpha:]` has a bracket of its own, which does not end the list around it.
                '[' if open && self.rest.starts_with([':', '.', '=']) => self.class()?,
                '[' if self.rest.starts_with(']') || self.rest.starts_with("^]") => {
                    return Err(Unsure::Broken);
                }
                '[' => open = true,
                ']' => open = false,
                _ => {}
            }
        }
        Err(Unsure::Broken)
    }

    /// Passes over the rest of `[:alpha:]`. Only such names are understood.
    fn class(&mut self) -> Result<(), Unsure> {
        let name = self.rest.strip_prefix(':').and_then(|rest| rest.split_once(":]"));
        let (name, rest) = name.ok_or(Unsure::Broken)?;
        if !name.bytes().all(|b| b.is_ascii_lowercase()) {
            return Err(Unsure::Broken);
        }
        self.rest = rest;
        Ok(())
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
            "i\\\nx",
            "a x",
            "c x",
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
