//! A unified diff in a text, line by line, with the numbers that its lines have in the files.

/// A line of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line<'t> {
    /// One outside of diffs.
    Other(&'t str),
    /// Which file the lines below are of.
    File(String),
    /// Lines are left out here.
    Gap,
    /// A line of the file with its sign; its number in the old file where it is removed, else in the new one.
    Changed(usize, &'t str),
    /// What a diff says beside.
    Note(&'t str),
}

/// What is left of a hunk.
#[derive(Debug, Clone, Copy, Default)]
struct Hunk {
    old: usize,
    new: usize,
    old_left: usize,
    new_left: usize,
}

/// The lines of a text. Its first line tells the file where there is but one.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let all: Vec<&str> = text.split('\n').collect();
    let begins = |place: usize| {
        let at = |place: usize, sign| all.get(place).is_some_and(|line: &&str| line.starts_with(sign));
        at(place, "--- ") && at(place + 1, "+++ ") && at(place + 2, "@@ ")
    };
    let named = (0..all.len()).filter(|place| begins(*place)).count() == 1 && !all[0].is_empty();
    let (mut out, mut hunk, mut place) = (Vec::new(), Hunk::default(), 0);
    while let Some(line) = all.get(place) {
        place += 1;
        if let Some(number) = hunk.take(line) {
            out.push(Line::Changed(number, line));
        } else if line.starts_with('\\') {
            out.push(Line::Note(line));
        } else if begins(place - 1) {
            if !named {
                out.push(Line::File(file(&line[4..], &all[place][4..])));
            }
            hunk = Hunk::read(all[place + 1]).unwrap_or_default();
            place += 2;
        } else if let Some(next) = Hunk::read(line) {
            hunk = next;
            out.push(Line::Gap);
        } else {
            hunk = Hunk::default();
            out.push(Line::Other(line));
        }
    }
    out
}

fn file(old: &str, new: &str) -> String {
    let path = |name: &str| name.split_once('/').map_or(name, |(_, path)| path).to_owned();
    match (old, new) {
        ("/dev/null", new) => format!("{} (new)", path(new)),
        (old, "/dev/null") => format!("{} (removed)", path(old)),
        (_, new) => path(new),
    }
}

impl Hunk {
    /// `@@ -1,3 +1,4 @@`
    fn read(line: &str) -> Option<Self> {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let range = |text: &str| {
            let (first, count) = text.split_once(',').unwrap_or((text, "1"));
            Some((first.parse().ok()?, count.parse().ok()?))
        };
        let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
        Some(Self { old, new, old_left, new_left })
    }

    /// The number of a line, if it is one of the hunk's.
    fn take(&mut self, line: &str) -> Option<usize> {
        let sign = line.bytes().next();
        let (old, new) = (sign != Some(b'+'), sign != Some(b'-'));
        let known = matches!(sign, Some(b' ' | b'+' | b'-'));
        let left = (!old || self.old_left > 0) && (!new || self.new_left > 0);
        if !known || !left {
            return None;
        }
        let number = if new { self.new } else { self.old };
        if old {
            self.old += 1;
            self.old_left -= 1;
        }
        if new {
            self.new += 1;
            self.new_left -= 1;
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str =
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n--- a/y\n++++ b/y\n three\n@@ -9 +9,2 @@\n nine\n+ten\n";

    #[test]
    fn lines_get_the_numbers_that_they_have_in_the_files() {
        let text = format!("edit_file: change x\n{DIFF}\\ No newline at end of file\n! look");
        let expected = [
            Line::Other("edit_file: change x"),
            Line::Changed(1, " one"),
            Line::Changed(2, "--- a/y"),
            Line::Changed(2, "++++ b/y"),
            Line::Changed(3, " three"),
            Line::Gap,
            Line::Changed(9, " nine"),
            Line::Changed(10, "+ten"),
            Line::Note("\\ No newline at end of file"),
            Line::Other("! look"),
        ];
        assert_eq!(lines(&text), expected);
    }

    #[test]
    fn files_are_named_where_the_first_line_does_not() {
        let named = |text: &str| -> Vec<String> {
            let file = |line| if let Line::File(name) = line { Some(name) } else { None };
            lines(text).into_iter().filter_map(file).collect()
        };
        assert_eq!(named(&format!("\n{DIFF}")), ["x"]);
        let new = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
        assert_eq!(named(&format!("two\n{new}")), ["n (new)", "o (removed)"]);
    }

    #[test]
    fn a_diff_that_is_cut_ends_where_it_is_cut() {
        let text = "w: change x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n... [12 more lines of diff]\n+ no line of it";
        assert_eq!(
            lines(text)[1..],
            [
                Line::Changed(1, " a"),
                Line::Other("... [12 more lines of diff]"),
                Line::Other("+ no line of it"),
            ]
        );
    }
}
