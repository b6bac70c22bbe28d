//! A file that edits are made to, one after the other, in memory: what `edit_file` and `multi_edit` share.

use std::fmt::Write;

use crate::closest::closest;
use crate::commit::Change;
use crate::context::{Context, Loaded};
use crate::diff::{Difference, difference};
use crate::edit::{self, Miss};
use crate::endings::{self, Normalised, lf};
use crate::outcome::{ChangeKind, Code, Failure, FileChange};
use crate::placeholder::placeholder;
use crate::text;
use crate::workspace::Place;

/// Places of a text that is not unique that are shown.
const PLACES: usize = 5;
const SAME: &str = "old_string and new_string are the same; nothing to change.";
/// Bytes and lines of a file that is shown as a whole where an edit does not fit it.
const SHORT: usize = 2_000;
const SHORT_LINES: usize = 40;

/// Some text, and what is to be in its place.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    old: String,
    new: String,
    all: bool,
}

/// A file with the edits that were made to it so far.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) place: Place,
    /// The file as it is on disk.
    pub(crate) loaded: Option<Loaded>,
    /// Its text, then and now; `None` while there is no file.
    before: Option<text::Decoded>,
    now: Option<String>,
    /// The bytes of the text as it is now.
    pub(crate) content: Vec<u8>,
}

/// What one edit did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Applied {
    /// How many places were replaced; none where the file was made.
    pub(crate) occurrences: usize,
    /// What the model should know of how they were found.
    pub(crate) note: Option<&'static str>,
}

impl Wanted {
    pub(crate) fn new(old: &str, new: &str, all: bool) -> Self {
        Self { old: lf(old), new: lf(new), all }
    }

    /// What is to stand there, with line feeds alone.
    pub(crate) fn new_text(&self) -> &str {
        &self.new
    }

    /// The line at which the new text stands in `text` already, as whole lines. Less text than what it replaces may stand
    /// anywhere by chance.
    fn stands_in(&self, text: &str) -> Option<usize> {
        let (old, new) = (self.old.trim_matches('\n'), self.new.trim_matches('\n'));
        if new.trim().is_empty() || new.len() < old.len() {
            return None;
        }
        let whole = |(at, found): &(usize, &str)| {
            let (before, after) = (&text[..*at], &text[at + found.len()..]);
            (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with('\n'))
        };
        text.match_indices(new).find(whole).map(|(at, _)| edit::line_at(text, at))
    }

    /// Whether it makes a file where there is none.
    pub(crate) fn creates(&self) -> bool {
        self.old.is_empty()
    }
}

impl Edited {
    /// The file as it is, which may be not at all. It has to be what the model last saw of it.
    pub(crate) fn load(context: &Context, place: &Place) -> Result<Self, Failure> {
        let mut edited =
            Self { place: place.clone(), loaded: None, before: None, now: None, content: Vec::new() };
        if place.exists {
            let loaded = context.load(place)?;
            context.fresh(place, &loaded.stamp)?;
            edited.loaded = Some(loaded);
        }
        Ok(edited)
    }

    /// Makes one edit. After a failure the text is as it was before it.
    pub(crate) fn apply(&mut self, context: &Context, wanted: &Wanted) -> Result<Applied, Failure> {
        let same = wanted.old == wanted.new;
        let there = self.now.is_some() || self.loaded.as_ref().is_some_and(|loaded| !loaded.bytes.is_empty());
        if wanted.creates() && !there {
            if same {
                return Err(Failure::new(Code::NoChange, SAME));
            }
            let crlf = context.workspace.wants_crlf(&self.place);
            let new = if crlf { endings::crlf(&wanted.new) } else { wanted.new.clone() };
            self.content = new.clone().into_bytes();
            self.now = Some(new);
            return Ok(Applied { occurrences: 0, note: None });
        }
        let text = match (&self.now, &self.loaded) {
            (Some(now), _) => now.clone(),
            (None, Some(loaded)) => {
                let decoded = context.editable(&self.place, loaded)?;
                let text = decoded.text.clone();
                self.before = Some(decoded);
                text
            }
            (None, None) => return Err(context.nothing_to_edit(&self.place.shown)),
        };
        let before = Normalised::new(&text);
        if wanted.creates() {
            let cause = self.what_it_says(context, "old_string is empty, but there is text in", &before.text);
            return Err(Failure::new(Code::NoMatch, cause));
        }
        let found = edit::find(&before.text, &wanted.old, &wanted.new, wanted.all);
        let found = match found {
            Ok(_) | Err(Miss::NotUnique { .. }) if same => return Err(Failure::new(Code::NoChange, SAME)),
            found => found.map_err(|miss| self.missed(context, wanted, &before.text, miss))?,
        };
        if let Some(line) = placeholder(&wanted.new, &before.text) {
            let cause = format!("new_string contains a placeholder ('{line}'); send the full text.");
            return Err(Failure::new(Code::Placeholder, cause));
        }
        let after = before.replaced(&found.spans);
        if after == text {
            return Err(Failure::new(Code::NoChange, format!("{} would stay as it is.", self.place.shown)));
        }
        self.content = self.encoded(&after)?;
        self.now = Some(after);
        Ok(Applied { occurrences: found.spans.len(), note: found.note })
    }

    /// What the edits come to.
    pub(crate) fn difference(&self) -> Difference {
        let shown = &self.place.shown;
        let old = self.before.as_ref().map(|decoded| lf(&decoded.text)).unwrap_or_default();
        let new = self.now.as_deref().map(lf).unwrap_or_default();
        let from = if self.loaded.is_some() { format!("a/{shown}") } else { "/dev/null".to_owned() };
        difference(&old, &new, &from, &format!("b/{shown}"))
    }

    /// The change of the file system that the edits come to.
    pub(crate) fn write(&self) -> Change<'_> {
        Change::write(&self.place, &self.content, self.loaded.as_ref())
    }

    /// The change as a result carries it.
    pub(crate) fn change(self, difference: &Difference) -> FileChange {
        let kind = if self.loaded.is_some() { ChangeKind::Modified } else { ChangeKind::Created };
        FileChange {
            path: self.place.shown,
            kind,
            added: difference.added,
            removed: difference.removed,
            before: self.loaded.map(|old| old.bytes.into()),
        }
    }

    fn encoded(&self, after: &str) -> Result<Vec<u8>, Failure> {
        let Some(before) = &self.before else { return Ok(after.as_bytes().to_vec()) };
        text::encode(after, before.charset, before.marked).ok_or_else(|| {
            let charset = before.charset.label();
            let cause =
                format!("new_string has characters that {} ({charset}) cannot hold.", self.place.shown);
            Failure::new(Code::NotUtf8, cause)
        })
    }

    fn missed(&self, context: &Context, wanted: &Wanted, text: &str, miss: Miss) -> Failure {
        match miss {
            Miss::NotUnique { lines, loose } => self.not_unique(text, &lines, loose),
            Miss::NoMatch => Failure::new(Code::NoMatch, self.no_match(context, wanted, text)),
        }
    }

    fn not_unique(&self, text: &str, lines: &[usize], loose: bool) -> Failure {
        let numbers: Vec<_> = lines.iter().take(PLACES).map(usize::to_string).collect();
        let more = if lines.len() > PLACES { ", …" } else { "" };
        let (times, place) =
            (lines.len(), format!("{} (lines {}{more})", self.place.shown, numbers.join(", ")));
        let mut cause = if loose {
            format!(
                "old_string is not in {place} exactly; ignoring whitespace it occurs {times} times. Copy the text exactly, with more lines around it."
            )
        } else {
            format!(
                "old_string occurs {times} times in {place}. Add surrounding lines to make it unique or set replace_all=true."
            )
        };
        let all: Vec<_> = text.lines().collect();
        for line in lines.iter().take(PLACES) {
            cause.push_str("\n--");
            for number in line.saturating_sub(1).max(1)..=(line + 1).min(all.len()) {
                let shown: String = all[number - 1].chars().take(200).collect();
                // Writing to a string cannot fail.
                let _ = write!(cause, "\n{number:>6}\t{shown}");
            }
        }
        Failure::new(Code::NotUnique, cause)
    }

    fn no_match(&self, context: &Context, wanted: &Wanted, text: &str) -> String {
        let shown = &self.place.shown;
        let there = (wanted.old != wanted.new).then(|| wanted.stands_in(text)).flatten();
        if let Some(line) = there {
            return format!(
                "old_string not found in {shown}. The new text is already in the file, at line {line}."
            );
        }
        if let Some((line, found)) = otherwise_spelt(text, &wanted.old) {
            return format!(
                "old_string not found in {shown}, but at line {line} with other upper and lower case. Call again with this as old_string:\n{found}"
            );
        }
        let Some(closest) = closest(text, &wanted.old) else {
            return self.what_it_says(context, "old_string not found in", text);
        };
        let lines = if closest.first == closest.last {
            format!("line {}", closest.first)
        } else {
            format!("lines {}-{}", closest.first, closest.last)
        };
        format!(
            "old_string not found in {shown}. Closest match ({} % similar) at {lines}. If that is meant, call again with exactly this as old_string:\n{}",
            closest.percent, closest.text
        )
    }

    /// Why an edit has no place in the file, and all of the file if it is short: small models rather give up than read it.
    fn what_it_says(&self, context: &Context, why: &str, text: &str) -> String {
        let shown = &self.place.shown;
        let (read, write) = (context.name_of("read_file"), context.name_of("write_file"));
        if text.len() > SHORT || text.lines().count() > SHORT_LINES {
            return format!("{why} {shown}. Use {read} to see the current text.");
        }
        if let (None, Some(loaded)) = (&self.now, &self.loaded) {
            context.remember(&self.place, loaded.stamp);
        }
        let end = if text.ends_with('\n') { "" } else { "\n" };
        // Without the numbers of `read_file`: they would be written into the file.
        format!(
            "{why} {shown}, which says:\n{text}{end}Call again with lines of it as old_string, and with all that is to stand in their place as new_string; or call {write} with the whole new content."
        )
    }
}

/// Where `old` stands with other upper and lower case, if that is in one place: its line, and how it is spelt there.
fn otherwise_spelt<'a>(text: &'a str, old: &str) -> Option<(usize, &'a str)> {
    let (lower, old) = (text.to_ascii_lowercase(), old.to_ascii_lowercase());
    let mut found = lower.match_indices(&old);
    let (at, _) = found.next().filter(|_| found.next().is_none())?;
    Some((edit::line_at(text, at), &text[at..at + old.len()]))
}
