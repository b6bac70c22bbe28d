//! The difference between two texts, as people and models read it.

use std::borrow::Cow;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::outcome::counted;

/// A unified diff is found within this time; after it the diff is still right, only longer than need be.
const PATIENCE: Duration = Duration::from_millis(500);
/// Characters of a line that are shown.
const LONGEST_LINE: usize = 1000;

/// What changed from one text to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// Unified, with three lines of context.
    pub(crate) unified: String,
}

impl Difference {
    /// Whether the same lines are added and removed, wherever they stand.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.changed_lines().eq(other.changed_lines())
    }

    fn changed_lines(&self) -> impl Iterator<Item = &str> {
        let body = self.unified.lines().skip_while(|line| !line.starts_with("@@"));
        body.filter(|line| line.starts_with(['+', '-']))
    }
}

/// The difference from `old` to `new`; `from` and `to` name them in the head of the diff.
pub(crate) fn difference(old: &str, new: &str, from: &str, to: &str) -> Difference {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let (mut added, mut removed) = (0, 0);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => added += 1,
            ChangeTag::Delete => removed += 1,
            ChangeTag::Equal => {}
        }
    }
    let unified = diff.unified_diff().context_radius(3).header(from, to).to_string();
    Difference { added, removed, unified }
}

/// The first `limit` lines, each up to [`LONGEST_LINE`], and how much more there is. No limit leaves nothing out.
pub(crate) fn first_lines(text: &str, limit: usize) -> String {
    let text = text.trim_end_matches('\n');
    if limit == usize::MAX {
        return text.to_owned();
    }
    let mut shown: Vec<_> = text.lines().take(limit).map(beginning).collect();
    let left_out = text.lines().count() - shown.len();
    if left_out > 0 {
        shown.push(format!("... [{} of diff]", counted(left_out, "more line")).into());
    }
    shown.join("\n")
}

/// A line, or its beginning and how much more of it there is.
fn beginning(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(LONGEST_LINE) {
        None => line.into(),
        Some((end, _)) => {
            let left_out = line[end..].chars().count();
            format!("{}... [{}]", &line[..end], counted(left_out, "more character")).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_counts_and_shows() {
        let difference = difference("a\nb\nc\n", "a\nx\ny\nc\n", "a/f", "b/f");
        assert_eq!((difference.added, difference.removed), (2, 1));
        assert_eq!(difference.unified, "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n");
        assert_eq!(first_lines(&difference.unified, 2), "--- a/f\n+++ b/f\n... [6 more lines of diff]");
        let long = format!("+{}\n+b\n", "日".repeat(5000));
        let cut = format!("+{}... [4,001 more characters]\n+b", "日".repeat(999));
        assert_eq!(
            (first_lines(&long, 2), first_lines(&long, usize::MAX)),
            (cut, long.trim_end().to_owned())
        );
    }
}
