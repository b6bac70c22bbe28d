//! The difference between two texts, as people and models read it.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::outcome::counted;

/// A unified diff is found within this time; after it the diff is still right, only longer than need be.
const PATIENCE: Duration = Duration::from_millis(500);

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

/// The first `limit` lines, and how many more there are.
pub(crate) fn first_lines(text: &str, limit: usize) -> String {
    let total = text.lines().count();
    if total <= limit {
        return text.trim_end_matches('\n').to_owned();
    }
    let mut shown: Vec<_> = text.lines().take(limit).map(str::to_owned).collect();
    shown.push(format!("... [{} of diff]", counted(total - limit, "more line")));
    shown.join("\n")
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
    }
}
