//! Texts in quotes.

use super::on::On;
use super::syntax::{Marks, TextEnd};
use super::window::{self, Close};
use super::words::{escape_len, push_escape};
use super::{Bracket, Family, Progress, Reader, State, Stop, Syntax, escape, plain};
use crate::fault::FaultKind;
use crate::scan::{Scan, find};

/// What opens and closes a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Quote {
    #[default]
    Double,
    Single,
    TripleDouble,
    TripleSingle,
    /// Typographic quotes, which open and close with a character each.
    CurlyDouble,
    CurlySingle,
    /// The quote of the syntax's own at this place.
    Own(usize),
}

impl Quote {
    /// The quote at the beginning of `rest`, if one stands there; none when more text is needed.
    #[expect(clippy::option_option, reason = "undecided and none are two answers")]
    pub(super) fn at(rest: &str, syntax: &Syntax, all: bool) -> Option<Option<Self>> {
        for (place, quote) in syntax.quotes.iter().enumerate() {
            if rest.starts_with(quote.as_str()) {
                return Some(Some(Self::Own(place)));
            }
            if quote.starts_with(rest) && !all {
                return None;
            }
        }
        let (one, three, triple) = match rest.as_bytes().first() {
            Some(b'"') => (Self::Double, Self::TripleDouble, "\"\"\""),
            Some(b'\'') => (Self::Single, Self::TripleSingle, "'''"),
            Some(0x80..) => {
                let double = rest.starts_with(['“', '”']);
                let single = rest.starts_with(['‘', '’']);
                return Some(if double {
                    Some(Self::CurlyDouble)
                } else {
                    single.then_some(Self::CurlySingle)
                });
            }
            _ => return Some(None),
        };
        if triple.starts_with(rest) && rest.len() < triple.len() && !all {
            return None;
        }
        Some(Some(if rest.starts_with(triple) { three } else { one }))
    }

    /// The quote that opens a key, which is never a triple one.
    #[expect(clippy::option_option, reason = "undecided and none are two answers")]
    pub(super) fn of_key(rest: &str, syntax: &Syntax, all: bool) -> Option<Option<Self>> {
        match rest.as_bytes().first() {
            Some(b'"') => Some(Some(Self::Double)),
            Some(b'\'') => Some(Some(Self::Single)),
            _ => Self::at(rest, syntax, all),
        }
    }

    pub(super) fn closer(self, syntax: &Syntax) -> &str {
        match self {
            Self::Double => "\"",
            Self::Single => "'",
            Self::TripleDouble => "\"\"\"",
            Self::TripleSingle => "'''",
            Self::CurlyDouble => "”",
            Self::CurlySingle => "’",
            Self::Own(place) => &syntax.quotes[place],
        }
    }

    pub(super) fn len(self, syntax: &Syntax) -> usize {
        self.closer(syntax).len()
    }

    /// The byte that opens it, of ordinary quotes.
    pub(super) fn first(self) -> u8 {
        match self {
            Self::Single | Self::TripleSingle => b'\'',
            _ => b'"',
        }
    }

    /// True for quotes of one ordinary character.
    fn is_short(self) -> bool {
        matches!(self, Self::Double | Self::Single)
    }

    fn is_curly(self) -> bool {
        matches!(self, Self::CurlyDouble | Self::CurlySingle)
    }

    /// True where the syntax itself knows them.
    pub(super) fn is_usual(self, syntax: &Syntax) -> bool {
        match self {
            Self::Double | Self::Own(_) => true,
            Self::Single => !syntax.is_json(),
            Self::TripleDouble | Self::TripleSingle => syntax.family == Family::Python,
            Self::CurlyDouble | Self::CurlySingle => false,
        }
    }
}

/// The text at hand.
#[derive(Debug, Default, Clone)]
pub(super) struct Text {
    pub(super) quote: Quote,
    /// What stands at the first kept byte is not decided.
    pub(super) waits: bool,
    /// A quote inside it was data.
    pub(super) nested: bool,
    /// Backslashes are data.
    pub(super) raw: bool,
    /// Braces stand for values, unless they are doubled.
    pub(super) format: bool,
    pub(super) scan: Scan,
    /// What may end it stands at the first kept byte, of so many bytes.
    pub(super) end: Option<(TextEnd, usize)>,
    /// What can be known of its end is known.
    pub(super) sure: bool,
    /// It is closed further on, behind so many quotes that are data; until then delimiters are as well.
    pub(super) quotes: Option<usize>,
}

impl Text {
    /// The text that a prefix such as `f` or `r` opens; none for a prefix that makes no text.
    pub(super) fn prefixed(prefix: &str) -> Option<Self> {
        let has = |letter: char| prefix.chars().any(|c| c.eq_ignore_ascii_case(&letter));
        let known = (1..=2).contains(&prefix.len()) && prefix.chars().all(|c| "rRuUfF".contains(c));
        known.then(|| Self { raw: has('r'), format: has('f'), ..Self::default() })
    }
}

impl Reader {
    /// The quote at hand opens a text.
    pub(super) fn begin_text(&mut self, on: &mut On<'_, '_>, quote: Quote) {
        self.open_text(on, Text { quote, ..Text::default() });
    }

    /// The quote at hand opens this text.
    pub(super) fn open_text(&mut self, on: &mut On<'_, '_>, text: Text) {
        let syntax = on.given.syntax;
        if !text.quote.is_usual(syntax) {
            on.at.note(FaultKind::Repaired, on.at.look);
        }
        if syntax.spaced && text.quote == Quote::Double {
            on.look += 1;
        } else {
            self.flush(on, on.look);
            on.skip(text.quote.len(syntax));
            self.emit(on, "\"");
        }
        self.text = text;
        self.enter(State::Text);
    }

    /// True inside a text that goes on with `piece`, all of which goes out as it stands.
    pub(crate) fn passes(&self, marks: &Marks, piece: &str) -> bool {
        let bytes = piece.as_bytes();
        let goes_on = || match self.text.quote {
            Quote::Own(place) => {
                let ends = marks.texts.get(place);
                self.text.scan.is_fresh()
                    && self.text.end.is_none()
                    && ends.is_some_and(|ends| ends.marks.is_absent(bytes))
            }
            quote => quote.is_short() && !self.text.format,
        };
        let out = self.state == State::Text && self.group.is_empty();
        out && plain(bytes) == bytes.len() && goes_on()
    }

    pub(super) fn text(&mut self, on: &mut On<'_, '_>) -> Stop {
        self.text.waits = false;
        if matches!(self.text.quote, Quote::Own(_)) {
            return self.unescaped(on);
        }
        loop {
            on.look += self.plain(on);
            let Some(&byte) = on.bytes.get(on.look) else {
                self.flush(on, on.look);
                return Some(Progress::More);
            };
            let quote = self.text.quote;
            let done = match byte {
                b'\\' if self.text.raw => self.raw_escape(on),
                b'\\' => self.escape(on),
                b'{' | b'}' => match on.bytes.get(on.look + 1) {
                    Some(next) if *next == byte => {
                        self.say(on, char::from(byte).encode_utf8(&mut [0; 4]), 2);
                        true
                    }
                    None if !on.last() => false,
                    // Nobody knows what a format has there.
                    _ => return Some(Progress::Broken),
                },
                0..=0x1f => {
                    if quote.is_short() && on.given.syntax.is_json() {
                        on.at.note(FaultKind::Repaired, on.at.look);
                    }
                    self.put(on, 1);
                    true
                }
                _ if !quote.is_curly() && byte == quote.first() => match self.close_text(on) {
                    Closed::More => false,
                    Closed::Data => true,
                    Closed::Stop(stop) => return stop,
                },
                b'"' => {
                    self.put(on, 1);
                    true
                }
                b'\'' => {
                    on.look += 1;
                    true
                }
                _ => match self.close_text(on) {
                    Closed::More => false,
                    Closed::Data => true,
                    Closed::Stop(stop) => return stop,
                },
            };
            if !done {
                self.flush(on, on.look);
                self.text.waits = true;
                return Some(Progress::More);
            }
        }
    }

    /// How many bytes mean nothing special in the text at hand.
    fn plain(&self, on: &On<'_, '_>) -> usize {
        let rest = &on.bytes[on.look..];
        let mut len = plain(rest);
        if self.text.quote.is_curly() {
            let closer = self.text.quote.closer(on.given.syntax);
            len = find(&rest[..len], closer.as_bytes()).unwrap_or(len);
        }
        if self.text.format {
            len = memchr::memchr2(b'{', b'}', &rest[..len]).unwrap_or(len);
        }
        len
    }

    /// So many bytes are part of the text, and go out as JSON spells them.
    fn put(&mut self, on: &mut On<'_, '_>, len: usize) {
        self.say(on, &on.text[on.look..on.look + len], len);
    }

    /// Part of the text that stands for the `len` bytes at hand.
    fn say(&mut self, on: &mut On<'_, '_>, plain: &str, len: usize) {
        let mut json = String::new();
        escape(plain, &mut json);
        self.replace(on, &json, len);
    }

    /// What looks like the end of the text.
    fn close_text(&mut self, on: &mut On<'_, '_>) -> Closed {
        let syntax = on.given.syntax;
        let quote = self.text.quote;
        let closer = quote.closer(syntax);
        let rest = &on.text[on.look..];
        if !rest.starts_with(closer) {
            if closer.starts_with(rest) && !on.last() {
                return Closed::More;
            }
            self.put(on, 1);
            return Closed::Data;
        }
        if !quote.is_short() && !quote.is_curly() {
            return Closed::Stop(self.end_text(on, closer.len()));
        }
        let close = if self.stack.is_empty() || self.ends_plainly(on) {
            Some(Close::Ends)
        } else {
            let place = self.place(on);
            self.search_ahead(on, on.look + closer.len(), &|window, all| {
                place.counted(window, window::closes(window, all, &place))
            })
        };
        match close {
            None => Closed::More,
            Some(Close::Ends) => Closed::Stop(self.end_text(on, closer.len())),
            Some(Close::Data) => {
                self.text.nested = true;
                on.at.note_markup(FaultKind::GuessedBorder, on.at.look);
                self.put(on, closer.len());
                Closed::Data
            }
            Some(Close::Joins(space)) => self.join(on, closer.len() + space),
        }
    }

    /// True where the quote at hand ends its text beyond doubt: its bracket closes, or a comma and a quote follow. The
    /// window says the same; of good JSON nothing else has to be asked.
    fn ends_plainly(&self, on: &On<'_, '_>) -> bool {
        let follows = match on.bytes.get(on.look + 1..).unwrap_or_default() {
            [b',', b'"', ..] | [b',', b' ', b'"', ..] => true,
            [byte, ..] => self.closer() == Some(*byte),
            [] => false,
        };
        follows && self.text.quote.is_short() && !self.is_outer()
    }

    /// Another text goes on with this one, so many bytes further on.
    fn join(&mut self, on: &mut On<'_, '_>, behind: usize) -> Closed {
        let syntax = on.given.syntax;
        let Some(next) = Quote::at(&on.text[on.look + behind..], syntax, on.last()) else {
            return Closed::More;
        };
        // In a list a comma may be missing between them.
        if syntax.family != Family::Python || self.stack.last() == Some(&Bracket::List) {
            on.at.note(FaultKind::GuessedValue, on.at.look);
        }
        self.flush(on, on.look);
        let quote = next.unwrap_or_default();
        on.skip(behind + quote.len(syntax));
        self.text = Text { quote, nested: self.text.nested, ..Text::default() };
        Closed::Data
    }

    /// The text is over, and its value with it; its closing quote has so many bytes.
    pub(super) fn end_text(&mut self, on: &mut On<'_, '_>, len: usize) -> Stop {
        if on.given.syntax.spaced && self.text.quote == Quote::Double {
            on.look += len;
        } else {
            self.flush(on, on.look);
            on.skip(len);
            self.emit(on, "\"");
        }
        self.value_ends();
        (self.state == State::Done).then_some(Progress::Done)
    }

    /// At a backslash that is data, with the character behind it.
    fn raw_escape(&mut self, on: &mut On<'_, '_>) -> bool {
        let Some(next) = on.text[on.look + 1..].chars().next() else { return false };
        self.put(on, 1 + next.len_utf8());
        true
    }

    /// At a backslash; false when more text is needed.
    fn escape(&mut self, on: &mut On<'_, '_>) -> bool {
        let rest = &on.bytes[on.look..];
        if !on.given.syntax.is_json() {
            let Some(len) = escape_len(rest) else { return false };
            let spelt = &on.text[on.look..on.look + len];
            // Python keeps what it does not know; JSON's own escapes of one character mean the same in both.
            let mut plain = String::new();
            push_escape(spelt, &mut plain);
            self.say(on, &plain, len);
            return true;
        }
        let digits = rest.iter().skip(2).take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
        match rest.get(1) {
            None => return false,
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => on.look += 2,
            Some(b'u') if digits == 4 => on.look += 6,
            Some(b'u') if rest.len() == 2 + digits && !on.last() => return false,
            Some(b'\'') => {
                on.at.note(FaultKind::Repaired, on.at.look);
                self.replace(on, "'", 2);
            }
            Some(_) => {
                // No escape of JSON: the backslash was meant as a backslash.
                on.at.note(FaultKind::GuessedValue, on.at.look);
                self.replace(on, "\\\\", 1);
            }
        }
        true
    }
}

/// What came of a quote.
enum Closed {
    /// More text is needed to tell.
    More,
    Data,
    Stop(Stop),
}
