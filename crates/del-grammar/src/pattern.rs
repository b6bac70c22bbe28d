//! Texts by a regular expression of JSON Schema: `pattern`, and the formats that are one.

use std::iter::Peekable;
use std::str::Chars;

use crate::rules::{Class, Expr};

/// The highest count of a repetition.
const MAX_COUNT: u32 = 1000;
/// How deep groups may be.
const MAX_DEPTH: usize = 32;
/// The most characters and classes, with counts multiplied out.
const MAX_SIZE: usize = 4000;

const DATE: &str = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])";
const TIME: &str = r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)";

/// The texts that hold a match of `pattern`, as an expression whose classes are characters of the value itself, none of
/// them negated. None where it asks for more than a grammar can say: what stands around it, or an earlier part again.
pub(crate) fn read(pattern: &str) -> Option<Expr> {
    let mut reader = Reader { chars: pattern.chars().peekable(), depth: 0 };
    let expr = reader.alternatives(true)?;
    (reader.chars.peek().is_none() && size(&expr) <= MAX_SIZE).then_some(expr)
}

/// The texts of a format, and whether all of them are of that format as far as a grammar can say.
pub(crate) fn of_format(format: &str) -> Option<(Expr, bool)> {
    let (pattern, all) = match format {
        "date" => (format!("^{DATE}$"), true),
        "time" => (format!("^{TIME}$"), true),
        "date-time" => (format!("^{DATE}[Tt ]{TIME}$"), true),
        "uuid" => (r"^[\da-fA-F]{8}-([\da-fA-F]{4}-){3}[\da-fA-F]{12}$".to_owned(), true),
        "ipv4" => {
            let byte = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)";
            (format!(r"^{byte}(\.{byte}){{3}}$"), true)
        }
        "email" => (r#"^([^\s@"]+|"([^"\\]|\\.)*")@[^\s@]+$"#.to_owned(), true),
        "uri" | "iri" => (r"^[A-Za-z][A-Za-z0-9+.\-]*:\S*$".to_owned(), false),
        _ => return None,
    };
    Some((read(&pattern)?, all))
}

/// `expr` with every character as `spell` writes it.
pub(crate) fn spelled(expr: &Expr, spell: &impl Fn(&Class) -> Expr) -> Expr {
    let all = |parts: &[Expr]| parts.iter().map(|part| spelled(part, spell)).collect::<Vec<_>>();
    match expr {
        Expr::Class(class) => spell(class),
        Expr::Sequence(parts) => Expr::sequence(all(parts)),
        Expr::Choice(parts) => Expr::choice(all(parts)),
        Expr::Repeat { of, min, max } => spelled(of, spell).repeat(*min, *max),
        expr => expr.clone(),
    }
}

/// True when some text of `expr` may hold this character.
pub(crate) fn may_hold(expr: &Expr, c: char) -> bool {
    match expr {
        Expr::Class(class) => class.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)),
        expr => expr.parts().iter().any(|part| may_hold(part, c)),
    }
}

struct Reader<'p> {
    chars: Peekable<Chars<'p>>,
    depth: usize,
}

impl Reader<'_> {
    fn eat(&mut self, c: char) -> bool {
        self.chars.next_if_eq(&c).is_some()
    }

    /// Anchors are known at the ends of an outer alternative only.
    fn alternatives(&mut self, outer: bool) -> Option<Expr> {
        let mut ways = Vec::new();
        loop {
            let mut parts = Vec::new();
            if outer && !self.eat('^') {
                parts.push(anything());
            }
            let mut closed = false;
            while let Some(&c) = self.chars.peek() {
                if c == '|' || (c == ')' && !outer) {
                    break;
                }
                if closed || c == ')' {
                    return None;
                }
                if outer && c == '$' {
                    self.chars.next();
                    closed = true;
                } else {
                    parts.push(self.repeated()?);
                }
            }
            if outer && !closed {
                parts.push(anything());
            }
            ways.push(Expr::sequence(parts));
            if !self.eat('|') {
                return Some(Expr::choice(ways));
            }
        }
    }

    fn repeated(&mut self) -> Option<Expr> {
        let atom = self.atom()?;
        let (min, max) = match self.chars.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.chars.next();
                let min = self.number()?;
                let max = if !self.eat(',') {
                    Some(min)
                } else if self.chars.peek() == Some(&'}') {
                    None
                } else {
                    Some(self.number()?)
                };
                if self.chars.peek() != Some(&'}') || max.is_some_and(|max| max < min) {
                    return None;
                }
                (min, max)
            }
            _ => return Some(atom),
        };
        self.chars.next();
        // Which of several readings is taken changes nothing here.
        self.eat('?');
        if matches!(self.chars.peek(), Some('*' | '+' | '?' | '{')) || (may_be_empty(&atom) && max != Some(1))
        {
            return None;
        }
        Some(atom.repeat(min, max))
    }

    fn number(&mut self) -> Option<u32> {
        let mut digits = String::new();
        while let Some(digit) = self.chars.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits.parse().ok().filter(|count| *count <= MAX_COUNT)
    }

    fn atom(&mut self) -> Option<Expr> {
        match self.chars.next()? {
            '(' => {
                if self.eat('?') && !self.eat(':') {
                    return None;
                }
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return None;
                }
                let inside = self.alternatives(false)?;
                self.depth -= 1;
                self.eat(')').then_some(inside)
            }
            '[' => self.class(),
            '.' => Some(set(inverted(&[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]))),
            '\\' => self.escape().map(set),
            '^' | '$' | '*' | '+' | '?' | '{' | '}' | ']' => None,
            c => Some(set(vec![(c, c)])),
        }
    }

    fn class(&mut self) -> Option<Expr> {
        let negated = self.eat('^');
        let mut ranges = Vec::new();
        while !self.eat(']') {
            let from = self.member()?;
            // A dash before the end is itself.
            let mut ahead = self.chars.clone();
            let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
            match (from.as_slice(), is_range) {
                ([(first, last)], true) if first == last => {
                    self.chars.next();
                    match self.member()?.as_slice() {
                        [(to, end)] if to == end && first <= to => ranges.push((*first, *to)),
                        _ => return None,
                    }
                }
                _ => ranges.extend(from),
            }
        }
        let ranges = if negated { inverted(&ranges) } else { ranges };
        (!ranges.is_empty()).then(|| set(ranges))
    }

    fn member(&mut self) -> Option<Vec<(char, char)>> {
        match self.chars.next()? {
            '\\' => self.escape(),
            c => Some(vec![(c, c)]),
        }
    }

    fn escape(&mut self) -> Option<Vec<(char, char)>> {
        let digits = [('0', '9')];
        let words = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
        let c = match self.chars.next()? {
            'd' => return Some(digits.to_vec()),
            'D' => return Some(inverted(&digits)),
            'w' => return Some(words.to_vec()),
            'W' => return Some(inverted(&words)),
            's' => return Some(SPACES.to_vec()),
            'S' => return Some(inverted(&SPACES)),
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            c if c.is_ascii_punctuation() => c,
            _ => return None,
        };
        Some(vec![(c, c)])
    }

    fn code(&mut self, digits: usize) -> Option<char> {
        let hex: String = (0..digits).map_while(|_| self.chars.next_if(char::is_ascii_hexdigit)).collect();
        (hex.len() == digits).then(|| u32::from_str_radix(&hex, 16).ok()).flatten().and_then(char::from_u32)
    }
}

/// White space as regular expressions of JSON Schema have it.
const SPACES: [(char, char); 10] = [
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];

fn anything() -> Expr {
    set(inverted(&[])).repeat(0, None)
}

fn set(ranges: Vec<(char, char)>) -> Expr {
    Expr::Class(Class { negated: false, ranges })
}

/// The characters that are in none of these ranges.
fn inverted(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let (mut found, mut from) = (Vec::new(), Some('\0'));
    for (start, end) in sorted {
        let Some(first) = from else { break };
        if let Some(last) = before(start).filter(|last| first <= *last) {
            found.push((first, last));
        }
        from = behind(end).map(|next| next.max(first));
    }
    found.extend(from.map(|first| (first, char::MAX)));
    found
}

fn before(c: char) -> Option<char> {
    if c == '\u{e000}' { Some('\u{d7ff}') } else { char::from_u32(u32::from(c).checked_sub(1)?) }
}

fn behind(c: char) -> Option<char> {
    if c == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(u32::from(c) + 1) }
}

fn may_be_empty(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(text) => text.is_empty(),
        Expr::Sequence(parts) => parts.iter().all(may_be_empty),
        Expr::Choice(parts) => parts.iter().any(may_be_empty),
        Expr::Repeat { of, min, .. } => *min == 0 || may_be_empty(of),
        _ => false,
    }
}

fn size(expr: &Expr) -> usize {
    let inside: usize = expr.parts().iter().map(size).sum();
    match expr {
        Expr::Repeat { min, max, .. } => inside.saturating_mul(max.unwrap_or(*min).max(1) as usize),
        _ => inside + 1,
    }
}
