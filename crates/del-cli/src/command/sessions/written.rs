//! A conversation for people: as it was on the screen, and as Markdown.

use std::fmt::Write as _;

use del_agent::Entry;
use del_tools::{ToolResult, visible};

use crate::age::ago;
use crate::colour::Paint;
use crate::record::{Kept, time};
use crate::screen::lines;
use crate::screen::look::Look;

/// The conversation as it was on the screen. Nothing in it acts on the terminal.
pub(super) fn transcript(kept: &Kept, paint: Paint) -> String {
    let head = format!(
        "{}, {} with {} in {}",
        kept.head.id,
        ago(time(kept.head.created)),
        kept.set.model,
        kept.head.working_dir.display()
    );
    let mut text = format!("{}\n", paint.dim(visible(&head)));
    for dated in &kept.entries {
        // Writing to a string cannot fail.
        let _ = match &dated.entry {
            Entry::User { text: question, .. } | Entry::Added { text: question, .. } => {
                writeln!(text, "\n{}", paint.bold(format!("> {}", visible(question))))
            }
            Entry::Summary { text: note, .. } | Entry::Note { text: note } => {
                writeln!(text, "{}", paint.yellow(format!("! {}", visible(note))))
            }
            Entry::Ran { command, output } => {
                let head = paint.bold(format!("> !{}", visible(command)));
                writeln!(text, "\n{head}\n{}", visible(output))
            }
            Entry::Assistant { text: answer, calls, .. } => {
                if !answer.is_empty() {
                    let _ = writeln!(text, "{}", visible(answer));
                }
                calls.iter().try_for_each(|call| writeln!(text, "{}", lines::call(Look::with(paint), call)))
            }
            Entry::Results { results } => results.iter().try_for_each(|result| {
                let mut shown = ToolResult::success(result.text.clone());
                shown.ok = result.ok;
                writeln!(text, "{}", lines::result(Look::with(paint), &shown, false))
            }),
        };
    }
    text
}

/// The conversation as Markdown, to the last word. Nothing in it acts on a terminal.
pub(crate) fn markdown(kept: &Kept) -> String {
    let mut text = format!("# {}\n\n", kept.title().replace('\n', " "));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "Session {} with {} in `{}`.",
        kept.head.id,
        kept.set.model,
        kept.head.working_dir.display()
    );
    for dated in &kept.entries {
        match &dated.entry {
            Entry::User { text: question, .. } => {
                let _ = writeln!(text, "\n## Question\n\n{question}");
            }
            Entry::Added { text: more, .. } => {
                let _ = writeln!(text, "\n## Said meanwhile\n\n{more}");
            }
            Entry::Ran { command, output } => {
                let _ = write!(text, "\n## Command of the user\n\n{}", fenced("sh", command));
                let _ = write!(text, "\n{}", fenced("text", output));
            }
            Entry::Summary { text: note, .. } | Entry::Note { text: note } => {
                let _ = writeln!(text, "\n## Note to the model\n\n{note}");
            }
            Entry::Assistant { text: answer, calls, .. } => {
                text.push_str("\n## Answer\n");
                if !answer.is_empty() {
                    let _ = writeln!(text, "\n{answer}");
                }
                for call in calls {
                    let _ = write!(text, "\nCall of `{}`:\n\n{}", call.name, fenced("json", &call.arguments));
                }
            }
            Entry::Results { results } => {
                for result in results {
                    let outcome = if result.ok { "Result" } else { "Failure" };
                    let _ =
                        write!(text, "\n{outcome} of `{}`:\n\n{}", result.name, fenced("text", &result.text));
                }
            }
        }
    }
    visible(&text).into_owned()
}

/// A block whose fence is longer than any in the text.
fn fenced(kind: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{kind}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::fenced;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("text", "a\n"), "```text\na\n```\n");
        assert_eq!(fenced("text", "```\n````"), "`````text\n```\n````\n`````\n");
    }
}
