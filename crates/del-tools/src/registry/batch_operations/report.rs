//! What a batch tells of its operations: each under a line of its own, and how they ended.

use std::fmt::Write;

use serde_json::json;

use super::Ended;
use crate::outcome::ToolResult;

/// Bytes that the text of an operation has at least, if it is so long.
const LEAST: usize = 2 * 1024;

/// The result of a batch whose texts share `limit` bytes.
pub(super) fn report(labels: Vec<String>, ended: Vec<Ended>, limit: usize) -> ToolResult {
    let total = ended.len();
    let lengths: Vec<usize> =
        ended.iter().map(|one| if let Ended::Result(result) = one { result.text.len() } else { 0 }).collect();
    let heads: usize = labels.iter().map(|label| label.len() + 32).sum();
    let most = share(&lengths, limit.saturating_sub(heads));
    let (mut succeeded, mut failed, mut skipped) = (0, 0, 0);
    // Writing to a string cannot fail.
    let mut text = String::new();
    let (mut changes, mut truncated) = (Vec::new(), false);
    for (place, (label, one)) in labels.into_iter().zip(ended).enumerate() {
        let head = format!("[{}/{total}] {label}", place + 1);
        match one {
            Ended::Skipped => {
                skipped += 1;
                let _ = writeln!(text, "{head}: skipped");
            }
            Ended::Result(result) => {
                let (count, word) = if result.ok { (&mut succeeded, "ok") } else { (&mut failed, "failed") };
                *count += 1;
                let (body, cut) = shortened(result.text.trim_end_matches('\n'), most);
                let _ = writeln!(text, "{head}: {word}\n{body}");
                truncated |= cut || result.truncated;
                changes.extend(result.changes);
            }
        }
    }
    let _ = write!(text, "{succeeded} succeeded, {failed} failed, {skipped} skipped.");
    let mut result = ToolResult::success(text).shortened(truncated).with_data(json!({
        "succeeded": succeeded, "failed": failed, "skipped": skipped,
    }));
    result.ok = failed == 0;
    result.changes = changes;
    result
}

/// The length up to which each text fits, when what short ones leave goes to the long ones.
fn share(lengths: &[usize], limit: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = limit;
    for (place, length) in sorted.iter().enumerate() {
        let fair = left / (sorted.len() - place);
        if *length > fair {
            return fair.max(LEAST);
        }
        left -= length;
    }
    usize::MAX
}

/// The start of a text, whole lines where there are any, and what is missing.
fn shortened(text: &str, most: usize) -> (String, bool) {
    if text.len() <= most {
        return (text.to_owned(), false);
    }
    let mut cut = most;
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    if let Some(newline) = text[..cut].rfind('\n').filter(|at| *at > cut / 2) {
        cut = newline;
    }
    (
        format!(
            "{}\n... [{} bytes omitted; call the tool by itself for all] ...",
            &text[..cut],
            text.len() - cut
        ),
        true,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_share_what_short_ones_leave() {
        assert_eq!(share(&[10, 20, 30], 100), usize::MAX);
        assert_eq!(share(&[100, 50_000, 50_000], 30_100), 15_000);
        assert_eq!(share(&[9_000; 25], 10_000), LEAST);
    }

    #[test]
    fn a_long_text_ends_with_a_whole_line_and_says_how_much_is_missing() {
        let (text, cut) = shortened("one\ntwo\nthree", 9);
        assert_eq!(
            (text.as_str(), cut),
            ("one\ntwo\n... [6 bytes omitted; call the tool by itself for all] ...", true)
        );
        assert_eq!(
            shortened("é", 1).0.lines().nth(1),
            Some("... [2 bytes omitted; call the tool by itself for all] ...")
        );
    }
}
