//! Rewrite rules: how marks are spelled otherwise.
//!
//! A rule says what is read in the place of which texts in a mark, all of them at once; several rules combine.

use std::cell::Cell;

use super::check::DialectError;
use super::table::{Field, Table};

/// In a spelling: a colon and a word of up to [`MAX_WORD`] letters, digits, `_`, `.` and `-`.
pub(crate) const SUFFIX: char = '\0';

/// The longest word of a suffix, in bytes.
pub(crate) const MAX_WORD: usize = 32;

/// True for a byte that a suffix may be made of.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// The rules of a description.
#[derive(Default)]
pub(super) struct Rewrite {
    rules: Vec<Rule>,
}

/// Texts that are replaced together: the n-th spelling of one with the n-th of the others.
struct Rule(Vec<Text>);

struct Text {
    from: String,
    to: Vec<String>,
    /// Among the spellings is any suffix, `:*`, and with it the one that is written.
    any: bool,
    /// Stood in a mark.
    met: Cell<bool>,
    /// What is wrong if it never does.
    unmet: DialectError,
}

/// Any suffix in the place of one.
const ANY: &str = ":*";

/// A mark has at most so many spellings by rules.
const MAX_SPELLINGS: usize = 64;

impl Rewrite {
    pub(super) fn read(field: Field<'_>) -> Result<Self, DialectError> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut ways = 1;
        for table in field.tables("a rewrite rule")? {
            let rule = Rule::read(table)?;
            ways *= rule.spellings() + 1;
            if ways > MAX_SPELLINGS {
                let message =
                    format!("expected rules that spell a mark in at most {MAX_SPELLINGS} ways, got {ways}");
                return Err(DialectError { message, ..rule.0[0].unmet.clone() });
            }
            rules.push(rule);
        }
        Ok(Self { rules })
    }

    /// All spellings of these marks, each one once. Of a mark the given one comes first; where it holds a suffix for
    /// which any other may stand, that one.
    pub(super) fn all<'m>(&self, marks: impl IntoIterator<Item = &'m str>) -> Vec<String> {
        let mut all = Vec::new();
        for mark in marks {
            let spelled = self.rules.iter().fold(vec![mark.to_owned()], |spelled, rule| {
                unique(spelled.iter().flat_map(|spelling| rule.spell(spelling)))
            });
            all.extend(spelled);
        }
        unique(all)
    }

    /// A rule for a text that stands in no mark is an error.
    pub(super) fn check(&self) -> Result<(), DialectError> {
        let mut texts = self.rules.iter().flat_map(|rule| &rule.0);
        texts.find(|text| !text.met.get()).map_or(Ok(()), |text| Err(text.unmet.clone()))
    }
}

/// Each text once, where it stands first.
pub(super) fn unique(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

impl Rule {
    fn read(table: Table<'_>) -> Result<Self, DialectError> {
        let empty = table.error("expected a rewrite rule such as { \"｜\" = \"|\" }, got an empty table");
        let mut texts: Vec<Text> = Vec::new();
        for field in table.entries() {
            let text = Text::read(&field)?;
            // Of two that begin at the same place, the longer one counts.
            let place = texts.partition_point(|known| known.from.len() >= text.from.len());
            texts.insert(place, text);
        }
        let spellings = texts.first().ok_or(empty)?.to.len();
        if let Some(Text { to, unmet, .. }) = texts.iter().find(|text| text.to.len() != spellings) {
            let expected = "expected as many spellings for each text of a rewrite rule";
            let message = format!("{expected}, got {} and {spellings}", to.len());
            return Err(DialectError { message, ..unmet.clone() });
        }
        Ok(Self(texts))
    }

    fn spellings(&self) -> usize {
        self.0[0].to.len()
    }

    fn spell(&self, mark: &str) -> Vec<String> {
        let any = self.0.iter().any(|text| text.any && (0..mark.len()).any(|at| text.stands_at(mark, at)));
        let own = (!any).then(|| mark.to_owned());
        let others = (0..self.spellings()).map(|which| self.replaced(mark, which));
        own.into_iter().chain(others.filter(|spelling| !spelling.trim().is_empty())).collect()
    }

    /// The mark with the spelling of this number in the place of each text.
    fn replaced(&self, mark: &str, which: usize) -> String {
        let (mut out, mut at) = (String::new(), 0);
        while let Some(first) = mark[at..].chars().next() {
            let Some(text) = self.0.iter().find(|text| text.stands_at(mark, at)) else {
                out.push(first);
                at += first.len_utf8();
                continue;
            };
            text.met.set(true);
            out.push_str(&text.to[which]);
            at += text.from.len();
            if text.any {
                // One suffix in a mark is all that is looked for.
                break;
            }
        }
        out + &mark[at..]
    }
}

impl Text {
    fn read(field: &Field<'_>) -> Result<Self, DialectError> {
        let (from, to) = (field.key.clone(), field.strings()?);
        let wrong = |message: String| Err(field.error(message));
        if from.is_empty() {
            return wrong("expected a text in a rewrite rule, got an empty one".to_owned());
        }
        if to.is_empty() || to.contains(&from) {
            return wrong(format!(
                "expected other spellings of {from:?} in a rewrite rule, got none or itself"
            ));
        }
        let any = to.iter().any(|spelling| spelling == ANY);
        let word = from.strip_prefix(':').unwrap_or_default();
        if any && !((1..=MAX_WORD).contains(&word.len()) && word.bytes().all(is_word)) {
            return wrong(format!(
                "expected a colon and a word of at most {MAX_WORD} bytes before {ANY:?}, got {from:?}"
            ));
        }
        let to = to.into_iter().map(|spelling| if spelling == ANY { SUFFIX.to_string() } else { spelling });
        let unmet = field.error(format!("expected a rewrite rule for a text in a mark, got {from:?}"));
        Ok(Self { to: to.collect(), from, any, met: Cell::new(false), unmet })
    }

    /// A suffix stands behind something, and ends where its word does; a mark has one at most.
    fn stands_at(&self, mark: &str, place: usize) -> bool {
        let behind = mark.get(place..).and_then(|rest| rest.strip_prefix(self.from.as_str()));
        let suffix =
            |rest: &str| place > 0 && !rest.bytes().next().is_some_and(is_word) && !mark.contains(SUFFIX);
        behind.is_some_and(|rest| !self.any || suffix(rest))
    }
}
