//! Keys of arguments and of objects, and arguments that have none.

use std::ops::Range;

use super::on::On;
use super::text::Quote;
use super::words::{is_literal, is_word, key_of, push_unescaped};
use super::{Bracket, Family, Progress, Reader, State, Stop, plain, quoted};
use crate::fault::FaultKind;

/// The longest key with its quotes, in bytes. An object that begins with more is none, and is not read on for it.
pub(super) const MAX_KEY: usize = 1024;

impl Reader {
    /// The first byte of a key, or of what stands instead.
    pub(super) fn begin_key(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        if self.closer() == Some(byte) {
            return self.close(on);
        }
        let syntax = on.given.syntax;
        if syntax.spaced && byte == b'"' {
            let inside = &on.bytes[on.look + 1..];
            let len = plain(inside);
            if len + 2 <= MAX_KEY && inside.get(len) == Some(&b'"') {
                self.word.clear();
                self.word.push_str(&on.text[on.look + 1..on.look + 1 + len]);
                on.look += len + 2;
                self.keep_key(on);
                self.enter(State::Pair);
                return None;
            }
        }
        let outer = self.outer_pair(on) == Some(b'=');
        if byte == b',' && !outer {
            self.repair_comma(on);
            return None;
        }
        if byte == b'{' && self.top() == Some(Bracket::Object) && self.keys.is_first() {
            self.open_again(on);
            return None;
        }
        let bare = is_word(byte) || byte == b'$' || (!outer && matches!(byte, b'-' | b'+' | b'.'));
        let quote = match Quote::of_key(&on.text[on.look..], syntax, on.last()) {
            None => return Some(Progress::More),
            Some(Some(_)) if outer => return self.without_name(),
            Some(quote @ Some(_)) => quote,
            Some(None) if bare => None,
            Some(None) if outer && matches!(byte, b'{' | b'[' | b'(' | b'+' | b'-' | b'.') => {
                return self.without_name();
            }
            Some(None) => return Some(Progress::Broken),
        };
        let from = on.look;
        let inside = from + quote.map_or(0, |quote| quote.len(syntax));
        self.read_key(on, (from, inside), quote)
    }

    /// In a key that did not end in the text before.
    pub(super) fn in_key(&mut self, on: &mut On<'_, '_>, quote: Option<Quote>) -> Stop {
        self.read_key(on, (on.kept, on.look), quote)
    }

    /// Reads on in the key that begins at `from`, at `look`.
    fn read_key(&mut self, on: &mut On<'_, '_>, (from, look): (usize, usize), quote: Option<Quote>) -> Stop {
        let most = on.bytes.len().min(from + MAX_KEY);
        match key_end(on, look..most.max(look), quote) {
            Ok(end) => {
                on.look = end;
                self.end_key(on, from, quote)
            }
            Err(look) => {
                on.look = from;
                self.flush(on, from);
                on.look = look;
                self.enter(State::InKey(quote));
                Some(if most < on.bytes.len() { on.too_long(most) } else { Progress::More })
            }
        }
    }

    /// The key that began at `from` ends at hand.
    fn end_key(&mut self, on: &mut On<'_, '_>, from: usize, quote: Option<Quote>) -> Stop {
        let syntax = on.given.syntax;
        // A keyword argument inside an object: the object's closing brace may be missing.
        let keyword = quote.is_none() && syntax.outer.is_some_and(|outer| outer.pair == on.bytes[on.look]);
        if keyword && !self.is_outer() && syntax.is_python() {
            on.note(FaultKind::GuessedBorder, from);
        }
        let spelt = &on.text[from..on.look];
        let end = from + spelt.trim_end().len();
        let spelt = &on.text[from..end];
        self.word.clear();
        let len = quote.map_or(0, |quote| quote.len(syntax));
        let inside = &spelt[len..spelt.len() - len];
        let mut as_spelt = quote == Some(Quote::Double);
        match quote {
            None if syntax.family == Family::Python && !self.is_outer() => self.word = key_of(inside),
            Some(Quote::Own(_)) | None => self.word.push_str(inside),
            Some(_) if plain(inside.as_bytes()) == inside.len() => self.word.push_str(inside),
            Some(_) => match serde_json::from_str::<String>(spelt) {
                Ok(word) if syntax.is_json() && as_spelt => self.word = word,
                _ => {
                    let odd = inside.bytes().any(|byte| byte < 0x20);
                    as_spelt &= syntax.is_json() && !odd && json_escapes(inside);
                    push_unescaped(inside, &mut self.word);
                    if odd {
                        on.note(FaultKind::Repaired, from);
                    }
                }
            },
        }
        let usual = match quote {
            None => {
                self.is_outer() || syntax.family == Family::Bare || (syntax.is_python() && is_literal(inside))
            }
            Some(quote) => quote.is_usual(syntax),
        };
        if !usual {
            on.note(FaultKind::Repaired, from);
        }
        if syntax.spaced {
            on.look = end;
            if !as_spelt {
                on.look = from;
                let json = quoted(&self.word);
                self.replace(on, &json, end - from);
            }
            self.keep_key(on);
        } else {
            // A word may turn out to be a value without a key: what is kept begins with it.
            on.kept = from;
            on.look = end;
        }
        self.enter(State::Pair);
        None
    }

    fn without_name(&mut self) -> Stop {
        self.enter(State::Unnamed);
        None
    }

    fn keep_key(&mut self, on: &mut On<'_, '_>) {
        if self.keys.is_repeated(self.word.as_bytes()) {
            on.at.note_markup(FaultKind::DuplicateKey, on.at.look);
        }
    }

    /// What stands between keys and values, of arguments in brackets of their own.
    fn outer_pair(&self, on: &On<'_, '_>) -> Option<u8> {
        on.given.syntax.outer.filter(|_| self.is_outer()).map(|outer| outer.pair)
    }

    /// Behind a key.
    pub(super) fn pair(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        let outer = self.outer_pair(on);
        if !matches!(byte, b':' | b'=') {
            let ends = byte == b',' || self.closer() == Some(byte);
            if outer != Some(b'=') || !ends {
                return Some(Progress::Broken);
            }
            on.at.rewind(on.at.kept);
            return self.without_name();
        }
        if self.watches() && !std::mem::replace(&mut self.told, true) {
            return Some(Progress::Key);
        }
        if byte != outer.unwrap_or(b':') {
            on.at.note(FaultKind::Repaired, on.at.look);
        }
        if on.given.syntax.spaced {
            if byte == b'=' { self.replace(on, ":", 1) } else { on.look += 1 }
        } else {
            on.skip(1);
            self.write_key(on);
        }
        if self.is_outer() {
            self.unnamed = None;
        }
        self.enter(State::Value { first: false });
        None
    }

    /// An argument stands without its name.
    pub(super) fn unnamed(&mut self, on: &mut On<'_, '_>) -> Stop {
        let Some(place) = self.unnamed else { return Some(Progress::Broken) };
        if !std::mem::replace(&mut self.told, true) {
            return Some(Progress::Unnamed(place));
        }
        self.unnamed = Some(place + 1);
        on.at.note(FaultKind::GuessedValue, on.at.look);
        on.kept = on.look;
        self.write_key(on);
        self.enter(State::Value { first: false });
        None
    }

    fn write_key(&mut self, on: &mut On<'_, '_>) {
        // The brackets of arguments go out with what they hold: before, this may be no call.
        let mut json = if self.is_outer() && self.keys.is_first() { "{" } else { "" }.to_owned();
        self.keep_key(on);
        json.push_str(&quoted(&self.word));
        json.push(':');
        self.emit(on, &json);
    }
}

/// Where the key ends of which this is a part, its closing quote included; or where to look on when more is there.
fn key_end(on: &On<'_, '_>, part: Range<usize>, quote: Option<Quote>) -> Result<usize, usize> {
    let from = part.start;
    let rest = &on.bytes[part.clone()];
    let more = Err(part.end);
    let Some(quote) = quote else {
        let spaces = on.given.syntax.family == Family::Bare;
        let part = |byte: &u8| {
            is_word(*byte)
                || matches!(byte, b'-' | b'+' | b'.' | b'$')
                || (spaces && matches!(byte, b' ' | b'\t'))
        };
        return rest.iter().position(|byte| !part(byte)).map_or(more, |len| Ok(from + len));
    };
    let closer = quote.closer(on.given.syntax).as_bytes();
    let escapes = !matches!(quote, Quote::Own(_));
    let mut at = 0;
    loop {
        let next = if escapes {
            memchr::memchr2(closer[0], b'\\', &rest[at..])
        } else {
            memchr::memchr(closer[0], &rest[at..])
        };
        let Some(next) = next else { return more };
        at += next;
        if rest[at] == b'\\' && escapes {
            if at + 1 == rest.len() {
                return Err(from + at);
            }
            at += 2;
        } else if rest[at..].starts_with(closer) {
            return Ok(from + at + closer.len());
        } else if closer.starts_with(&rest[at..]) {
            return Err(from + at);
        } else {
            at += 1;
        }
    }
}

/// True when every escape is one of JSON's.
fn json_escapes(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('\\') {
        let unicode = || {
            behind
                .strip_prefix('u')
                .and_then(|hex| hex.get(..4))
                .is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        if !behind.starts_with(['"', '\\', '/', 'b', 'f', 'n', 'r', 't']) && !unicode() {
            return false;
        }
        rest = &behind[1..];
    }
    true
}
