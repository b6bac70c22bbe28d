//! String or number? How raw text becomes JSON by the types that a schema allows.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::event::End;
use crate::fault::FaultKind;
use crate::notes::Notes;
use crate::schema::Types;
use crate::value::{Family, Given, Marks, Progress, Reader, Syntax, number, quoted};

/// A value is nested deeper than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// A value as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Typed {
    pub(crate) json: String,
    /// False when it fits none of the declared types.
    pub(crate) fits: bool,
    /// The gravest that was mended in it.
    pub(crate) mended: Option<FaultKind>,
}

impl Typed {
    fn new(json: impl Into<String>, fits: bool) -> Self {
        Self { json: json.into(), fits, mended: None }
    }

    fn guessed(json: &str) -> Self {
        Self { mended: Some(FaultKind::GuessedValue), ..Self::new(json, true) }
    }
}

/// The graver of two mends: one that may have changed the arguments.
pub(crate) fn graver(one: Option<FaultKind>, other: Option<FaultKind>) -> Option<FaultKind> {
    if one.is_some_and(FaultKind::changes_arguments) { one } else { other.or(one) }
}

impl Cursor<'_> {
    /// Remembers what was odd in a value.
    pub(crate) fn note_read(&mut self, read: &Typed, at: usize) {
        if !read.fits {
            self.note(FaultKind::WrongType, at);
        }
        if let Some(kind) = read.mended {
            self.note(kind, at);
        }
    }
}

/// How values are spelt, and how deep they may be nested.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling {
    /// Literals are Python's.
    pub(crate) python: bool,
    pub(crate) max_depth: usize,
}

/// Raw text as JSON: the most specific declared type that it can be read as, and text where it fits none.
pub(crate) fn typed(text: &str, types: Types, spelling: Spelling) -> Result<Typed, TooDeep> {
    let value = text.trim();
    if types.only_string() {
        return Ok(Typed::new(quoted(text), true));
    }
    let family = if spelling.python { Family::Python } else { Family::Either };
    if types.is_unknown() {
        // What nobody declares and only a guess makes a value is text.
        let sure = |read: &Typed| {
            let signed = value.starts_with('+');
            !signed && !read.mended.is_some_and(FaultKind::changes_arguments)
        };
        let json = as_json(value, spelling)?.filter(|read| !read.json.starts_with('"') && sure(read));
        return Ok(json.unwrap_or_else(|| Typed::new(quoted(text), true)));
    }
    // Where text may stand as well, a word is another value only as the dialect writes that one.
    let written = |json: &str, python: &str| text == json || (spelling.python && text == python);
    let nothing = if types.string {
        types.null && written("null", "None")
    } else {
        ["null", "none", "nil"].iter().any(|word| value.eq_ignore_ascii_case(word))
    };
    if nothing {
        return Ok(Typed::new("null", types.null));
    }
    let word = !types.string || written("true", "True") || written("false", "False");
    if let Some(read) = numeric(value, types, family).or_else(|| truth(value, types).filter(|_| word)) {
        return Ok(read);
    }
    if let Some(read) = nested(value, types, spelling)? {
        return Ok(read);
    }
    // A value in quotes, where no text may stand.
    if let Some(inside) = unquoted(value).filter(|_| !types.string) {
        let read = typed(inside, types, spelling)?;
        if read.fits {
            return Ok(read);
        }
    }
    Ok(Typed::new(quoted(text), types.string))
}

fn numeric(value: &str, types: Types, family: Family) -> Option<Typed> {
    if (types.integer || types.number) && is_number(value) {
        let integral = value.strip_suffix(".0").filter(|_| types.integer && !types.number);
        let fits = types.number || !value.contains(['.', 'e', 'E']) || integral.is_some();
        if fits || (!types.string && is_whole(value)) {
            return Some(Typed::new(integral.unwrap_or(value), true));
        }
    }
    // A number as people write it, where it can be nothing else.
    let declared = (types.integer || types.number) && !types.string;
    let (json, mended) = number(value, family).filter(|_| declared)?;
    let fits = types.number || !json.contains(['.', 'e', 'E']);
    fits.then(|| Typed { mended, ..Typed::new(json, true) })
}

fn truth(value: &str, types: Types) -> Option<Typed> {
    if !types.boolean {
        return None;
    }
    let word = value.to_ascii_lowercase();
    match word.as_str() {
        "true" | "false" => Some(Typed::new(word, true)),
        "1" | "yes" | "on" if !types.string => Some(Typed::guessed("true")),
        "0" | "no" | "off" if !types.string => Some(Typed::guessed("false")),
        _ => None,
    }
}

/// An object or a list, where one may stand.
fn nested(value: &str, types: Types, spelling: Spelling) -> Result<Option<Typed>, TooDeep> {
    let opens = |byte: u8| value.as_bytes().first() == Some(&byte);
    let fits = (types.object && opens(b'{')) || (types.array && opens(b'['));
    // An object where a list is declared is still what the model means.
    let nests = (types.object || types.array) && !types.string && (opens(b'{') || opens(b'['));
    if !fits && !nests {
        return Ok(None);
    }
    if let Some(read) = as_json(value, spelling)? {
        return Ok(Some(Typed { fits, ..read }));
    }
    // Some models write what would stand inside a JSON string.
    let Ok(plain) = serde_json::from_str::<String>(&format!("\"{value}\"")) else { return Ok(None) };
    let read = as_json(&plain, spelling)?;
    Ok(read.map(|read| Typed { fits, mended: graver(read.mended, Some(FaultKind::Repaired)), ..read }))
}

/// What stands between the quotes of `text`, which may be escaped; none where it holds more of them.
fn unquoted(text: &str) -> Option<&str> {
    let inside = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inside("\"").or_else(|| inside("\\\"")).filter(|inside| !inside.contains('"'))
}

/// `text` as one JSON value, with JSON's or Python's spelling of literals.
pub(crate) fn as_json(text: &str, spelling: Spelling) -> Result<Option<Typed>, TooDeep> {
    if is_number(text) {
        return Ok(Some(Typed::new(text, true)));
    }
    let syntax = if spelling.python { Syntax::python() } else { Syntax::either() };
    let given = Given { syntax, marks: &Marks::default(), tool: None };
    let (mut values, mut out, mut notes) = (Reader::new(spelling.max_depth), String::new(), Notes::default());
    let mut at = Cursor::new(text, Some(End::End), &mut notes);
    let mut emit = |piece: &str, _: Range<usize>| out.push_str(piece);
    let progress = values.read(given, &mut at, &mut emit);
    if progress == Progress::TooDeep {
        return Err(TooDeep);
    }
    let whole = match progress {
        Progress::Done => at.rest().trim().is_empty(),
        // What ends the value follows it, so that only brackets can be missing.
        Progress::More => values.close_missing(given, &mut at, &mut emit),
        _ => false,
    };
    let mended = notes.iter().fold(None, |mended, (kind, _)| graver(mended, Some(kind)));
    Ok(whole.then(|| Typed { mended, ..Typed::new(out.trim(), true) }))
}

/// True for a number without a fraction, such as `1.50e2`, of a size that programs can hold. Told by its digits: a float
/// would round, and the tables that read one are dear where a program is loaded by a page.
fn is_whole(number: &str) -> bool {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let zeros = integer.len() - integer.trim_end_matches('0').len();
    let is_zero = !digits.contains(|digit| matches!(digit, '1'..='9'));
    // So far to the left the point may move.
    let least = if fraction.is_empty() { -as_exponent(zeros) } else { as_exponent(fraction.len()) };
    is_zero || exponent.parse().is_ok_and(|exponent: i32| (least..=LARGEST).contains(&exponent))
}

/// The largest exponent of a float.
const LARGEST: i32 = 308;

fn as_exponent(digits: usize) -> i32 {
    i32::try_from(digits).unwrap_or(i32::MAX)
}

fn is_number(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b'-' | b'0'..=b'9'))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Spelling, Types, is_whole, typed};

    #[test]
    fn where_text_may_stand_only_what_the_dialect_writes_is_another_value() {
        let (null, boolean) = (Types { null: true, ..Types::TEXT }, Types { boolean: true, ..Types::TEXT });
        for (text, types, json, python) in [
            ("null", null, "null", "null"),
            ("None", null, "\"None\"", "null"),
            ("none", null, "\"none\"", "\"none\""),
            (" null ", null, "\" null \"", "\" null \""),
            ("true", boolean, "true", "true"),
            ("True", boolean, "\"True\"", "true"),
            ("TRUE", boolean, "\"TRUE\"", "\"TRUE\""),
            ("+491701234", Types::default(), "\"+491701234\"", "\"+491701234\""),
        ] {
            for (python, expected) in [(false, json), (true, python)] {
                let read = typed(text, types, Spelling { python, max_depth: 8 }).unwrap();
                assert_eq!((read.json.as_str(), read.fits, read.mended), (expected, true, None), "{text}");
            }
        }
    }

    #[test]
    fn a_number_is_whole_by_its_digits() {
        for whole in [
            "0",
            "-7",
            "3.0",
            "3.000",
            "1e2",
            "1.5e1",
            "1.50E+1",
            "120e-1",
            "-0.0e-9",
            "0.001e3",
            "0e999999999999",
        ] {
            assert!(is_whole(whole), "{whole}");
        }
        for other in ["0.5", "1.55e1", "12e-2", "1e-400", "1e400", "100000000000000000.5", "1e99999999999"] {
            assert!(!is_whole(other), "{other}");
        }
    }
}
