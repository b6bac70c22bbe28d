//! Rewrite rules: how marks are spelled otherwise.
//!
//! A rule says what is read in the place of which texts in a mark, all of them at once; several rules combine.

use std::cell::Cell;

use super::table::{Field, Table};
use crate::dialect::check::DialectError;
use crate::scan::{MAX_WORD, SUFFIX, is_word};

/// The rules of a description.
pub(super) struct Rewrite<'t> {
    rules: Vec<Rule<'t>>,
}

/// Texts that are replaced together: the n-th spelling of one with the n-th of the others.
struct Rule<'t> {
    texts: Vec<Text<'t>>,
    spellings: usize,
}

struct Text<'t> {
    from: String,
    to: Vec<String>,
    /// Among the spellings is any suffix, `:*`, and with it the one that is written.
    any: bool,
    /// Stood in a mark.
    met: Cell<bool>,
    field: Field<'t>,
}

/// Any suffix in the place of one.
const ANY: &str = ":*";

/// A mark has at most so many spellings by rules.
const MAX_SPELLINGS: usize = 64;

impl<'t> Rewrite<'t> {
    pub(super) fn read(field: Option<Field<'t>>) -> Result<Self, DialectError> {
        let Some(field) = field else { return Ok(Self { rules: Vec::new() }) };
        let mut rules: Vec<Rule<'t>> = Vec::new();
        let mut spellings = 1;
        for table in field.tables("a rewrite rule")? {
            let rule = Rule::read(table)?;
            spellings *= rule.spellings + 1;
            if let Some(text) = rule.texts.first().filter(|_| spellings > MAX_SPELLINGS) {
                return Err(text.field.error(format!(
                    "expected rules that spell a mark in at most {MAX_SPELLINGS} ways, got {spellings}"
                )));
            }
            rules.push(rule);
        }
        Ok(Self { rules })
    }

    /// All spellings of a mark, the given one first; where it holds a suffix for which any other may stand, that one.
    pub(super) fn spellings(&self, mark: &str) -> Vec<String> {
        let mut all = vec![mark.to_owned()];
        for rule in &self.rules {
            let mut spelled: Vec<String> = Vec::new();
            for spelling in &all {
                for other in rule.spellings(spelling) {
                    if !spelled.contains(&other) {
                        spelled.push(other);
                    }
                }
            }
            all = spelled;
        }
        all
    }

    /// The spellings of several marks, each one once.
    pub(super) fn all(&self, marks: &[String]) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for spelling in marks.iter().flat_map(|mark| self.spellings(mark)) {
            if !all.contains(&spelling) {
                all.push(spelling);
            }
        }
        all
    }

    /// A rule for a text that stands in no mark is an error.
    pub(super) fn check(&self) -> Result<(), DialectError> {
        let unmet = self.rules.iter().flat_map(|rule| &rule.texts).find(|text| !text.met.get());
        unmet.map_or(Ok(()), |text| {
            Err(text
                .field
                .error(format!("expected a rewrite rule for a text in a mark, got {:?}", text.from)))
        })
    }
}

impl<'t> Rule<'t> {
    fn read(table: Table<'t>) -> Result<Self, DialectError> {
        if table.is_empty() {
            return Err(table.error("expected a rewrite rule such as { \"｜\" = \"|\" }, got an empty table"));
        }
        let mut texts = table.entries().into_iter().map(Text::read).collect::<Result<Vec<_>, _>>()?;
        // Of two that begin at the same place, the longer one counts.
        texts.sort_by_key(|text| std::cmp::Reverse(text.from.len()));
        let spellings = texts.first().map_or(0, |first| first.to.len());
        if let Some(other) = texts.iter().find(|text| text.to.len() != spellings) {
            return Err(other.field.error(format!(
                "expected as many spellings for each text of a rewrite rule, got {} and {spellings}",
                other.to.len(),
            )));
        }
        Ok(Self { texts, spellings })
    }

    fn spellings(&self, mark: &str) -> Vec<String> {
        let mut any = false;
        let mut all: Vec<String> =
            (0..self.spellings).map(|which| self.replaced(mark, which, &mut any)).collect();
        if !any {
            all.insert(0, mark.to_owned());
        }
        all.retain(|spelling| !spelling.trim().is_empty());
        all
    }

    /// The mark with the spelling of this number in the place of each text.
    fn replaced(&self, mark: &str, which: usize, any: &mut bool) -> String {
        let mut out = String::new();
        let mut rest = mark;
        while let Some(first) = rest.chars().next() {
            let place = mark.len() - rest.len();
            match self.texts.iter().find(|text| text.stands_at(mark, place)) {
                Some(text) => {
                    text.met.set(true);
                    *any |= text.any;
                    out.push_str(&text.to[which]);
                    rest = &rest[text.from.len()..];
                    if text.any {
                        // One suffix in a mark is all that is looked for.
                        break;
                    }
                }
                None => {
                    out.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        out + rest
    }
}

impl<'t> Text<'t> {
    fn read(field: Field<'t>) -> Result<Self, DialectError> {
        let from = field.key.clone();
        if from.is_empty() {
            return Err(field.error("expected a text in a rewrite rule, got an empty one"));
        }
        let to = field.strings()?;
        if to.is_empty() || to.contains(&from) {
            return Err(field.error(format!(
                "expected other spellings of {from:?} in a rewrite rule, got none or itself"
            )));
        }
        let any = to.iter().any(|spelling| spelling == ANY);
        if any && !is_suffix(&from) {
            return Err(field.error(format!(
                "expected a colon and a word of at most {MAX_WORD} bytes before {ANY:?}, got {from:?}"
            )));
        }
        let to = to.into_iter().map(|spelling| if spelling == ANY { SUFFIX.to_string() } else { spelling });
        Ok(Self { to: to.collect(), from, any, met: Cell::new(false), field })
    }

    /// A suffix stands behind something, and ends where its word does; a mark has one at most.
    fn stands_at(&self, mark: &str, place: usize) -> bool {
        let behind = mark[place..].strip_prefix(self.from.as_str());
        let suffix =
            |rest: &str| place > 0 && !rest.bytes().next().is_some_and(is_word) && !mark.contains(SUFFIX);
        behind.is_some_and(|rest| !self.any || suffix(rest))
    }
}

/// True for a colon and a word.
fn is_suffix(text: &str) -> bool {
    let word = text.strip_prefix(':').unwrap_or_default();
    (1..=MAX_WORD).contains(&word.len()) && word.bytes().all(is_word)
}
