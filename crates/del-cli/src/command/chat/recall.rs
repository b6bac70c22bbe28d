//! What is shown of a conversation that goes on.

use del_agent::Entry;
use del_dialects::{Call, CallResult};
use del_tools::{ToolResult, counted, visible};

use super::{Chat, say};
use crate::screen::lines;
use crate::screen::look;
use crate::screen::markdown::Markdown;
use crate::terminal;

impl Chat {
    /// Where a conversation stands that goes on: its last question and what was answered.
    pub(super) fn recall(&self) {
        let entries = self.session.entries();
        let last = entries.iter().rposition(|entry| matches!(entry, Entry::User { .. }));
        let steps = counted(entries.len(), "step");
        say(&self.paint.dim(match last {
            Some(_) => format!("goes on after {steps}; the last question:"),
            None if entries.is_empty() => return,
            None => format!("goes on after {steps}:"),
        }));
        let since = &entries[last.unwrap_or(0)..];
        let is_users = |entry: &Entry| matches!(entry, Entry::Added { .. } | Entry::Ran { .. });
        let stopped = since.iter().rposition(|entry| !is_users(entry));
        for (place, entry) in since.iter().enumerate() {
            match entry {
                Entry::User { text, .. } | Entry::Added { text, .. } => {
                    say(&format!("> {}", beginning(&visible(text))));
                }
                Entry::Ran { command, output } => {
                    say(&format!("> !{}\n{}", visible(command), beginning(&visible(output))));
                }
                Entry::Assistant { text, calls, .. } => {
                    if !text.is_empty() {
                        self.say_again(text);
                    }
                    // An answer did not follow: this is where the work stopped.
                    if let Some(Entry::Results { results }) = since.get(place + 1)
                        && stopped == Some(place + 1)
                    {
                        self.say_results(calls, results);
                    }
                }
                _ => {}
            }
        }
    }

    fn say_results(&self, calls: &[Call], results: &[CallResult]) {
        for (call, result) in calls.iter().zip(results) {
            say(&lines::call(self.look, call));
            let result = ToolResult { ok: result.ok, ..ToolResult::success(&result.text) };
            say(&lines::result(self.look, &result, false));
        }
    }

    /// Shows an answer as it was shown when it came.
    fn say_again(&self, answer: &str) {
        let answer = visible(answer);
        self.space();
        if self.shown.raw || terminal::stdout_width().is_none() {
            return say(&answer);
        }
        let mut markdown = Markdown::new(look::columns(), self.paint.is_on()).spoken(self.look.spoken);
        markdown.give_tables(look::all_columns());
        let rows = markdown.push(&answer) + &markdown.finish();
        self.stage.line(rows.trim_end());
    }
}

/// The first lines of a question: files and pastes stand in it whole.
fn beginning(question: &str) -> String {
    const LINES: usize = 8;
    let more = question.lines().count().saturating_sub(LINES);
    let lines: Vec<&str> = question.lines().take(LINES).collect();
    match more {
        0 => question.to_owned(),
        _ => format!("{}\n… {}", lines.join("\n"), counted(more, "more line")),
    }
}
