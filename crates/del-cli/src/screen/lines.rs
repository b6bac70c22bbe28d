//! Calls and results in a few lines, for the eye. What comes from a model or a file cannot act on the terminal.

use del_dialects::Call;
use del_tools::{FileChange, ToolResult, counted, visible};
use serde_json::Value;

use crate::layout;
use crate::onlooker::Told;
use crate::screen::look::Look;
use crate::table::cut;
use crate::terminal;
use crate::todo;
use crate::wrap;

/// Lines of a result that are shown.
const LINES: usize = 8;
/// Lines of a result of which no word is cut off.
const FEW: usize = 3;
/// Lines of a change that are shown.
const CHANGED: usize = 40;
/// Arguments that say what a file is to be.
const TEXTS: [&str; 3] = ["content", "old_string", "new_string"];
/// Columns of an argument's value.
const VALUE: usize = 60;

/// `● read_file(file_path: "README.md")`
pub(crate) fn call(look: Look, call: &Call) -> String {
    let name = visible(&call.name);
    let sign = look.signs().call;
    let room = terminal::width().saturating_sub(name.len() + sign.chars().count() + 3).max(20);
    let arguments = cut(&arguments(&call.arguments, VALUE), room);
    format!("{} {}({arguments})", look.paint.green(sign), look.paint.bold(name))
}

/// The same with nothing cut, but for the texts of a change.
pub(crate) fn whole_call(look: Look, call: &Call) -> String {
    let arguments = arguments(&call.arguments, usize::MAX);
    format!("{} {}({arguments})", look.paint.green(look.signs().call), look.paint.bold(visible(&call.name)))
}

/// A call of a sub-agent, as it passes by.
pub(crate) fn folded(call: &Call) -> String {
    format!("{}({})", visible(&call.name), cut(&arguments(&call.arguments, VALUE), VALUE))
}

/// What is being done while a call runs.
pub(crate) fn doing(call: &Call) -> String {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    match arguments["command"].as_str() {
        Some(command) => format!("running `{}`", cut(&command.replace('\n', " "), VALUE)),
        None => format!("running {}", call.name),
    }
}

/// `  ⎿ ` and the first lines of what the tool said. `unfolds` where the user can ask for the rest.
pub(crate) fn result(look: Look, result: &ToolResult, unfolds: bool) -> String {
    let sign = format!("  {} ", look.signs().result);
    let width = terminal::width().saturating_sub(sign.chars().count()).max(20);
    // What changed was shown when it was asked about, or done.
    let shown_before = if result.changes.is_empty() { None } else { result.text.find("\n--- a/") };
    let text = result.text[..shown_before.unwrap_or(result.text.len())].trim_end();
    let margin = margin(text);
    let ran =
        result.data.as_ref().is_some_and(|data| data.get("exit_code").or(data.get("seconds")).is_some());
    let lines: Vec<&str> = if ran { output(text) } else { text.lines().collect() };
    let few = lines.len() <= FEW;
    // What Del says of it stands behind it, in brackets.
    let note = lines.last().copied().filter(|line| ran && line.starts_with('[') && line.ends_with(']'));
    let rows = |line: &str| {
        let whole = few || note == Some(line);
        let line = visible(&line.get(margin..).unwrap_or_default().replace('\t', "  ")).into_owned();
        // What went wrong is worth more than one row, and so is what says little.
        if (result.ok || ran) && !whole { cut(&line, width) } else { wrap::rows(&line, width, 0) }
    };
    let all = lines.into_iter().map(rows).collect::<Vec<_>>().join("\n");
    let all: Vec<&str> = all.lines().collect();
    // One line that would only stand for one more line can as well be that line.
    let left_out = if all.len() <= LINES + 1 { 0 } else { all.len() - LINES };
    // What a command wrote last says most of it.
    let first = if ran { 1 } else { LINES };
    let paint = look.paint;
    let mut out = String::new();
    let hint = if unfolds { " · /show shows all" } else { "" };
    for (place, line) in all.iter().enumerate() {
        if left_out > 0 && place == first {
            out.push_str("\n    ");
            out.push_str(&paint.dim(format!("… {}{hint}", counted(left_out, "more line"))));
        }
        if (first..first + left_out).contains(&place) {
            continue;
        }
        let line = if result.ok { paint.dim(*line) } else { paint.red(*line) };
        out.push_str(if place == 0 { &sign } else { "\n    " });
        out.push_str(&line);
    }
    for change in &result.changes {
        let Some(counts) = counts(change, text) else { continue };
        out.push_str("\n    ");
        out.push_str(&paint.dim(counts));
    }
    out
}

/// What a command's result says, without what stands there to tell output from errors where there is but one of them.
fn output(text: &str) -> Vec<&str> {
    let both = text.contains("\nSTDERR:\n") && text.contains("\nSTDOUT:\n");
    let mut lines = text.lines();
    let mut out: Vec<&str> = lines.by_ref().take(1).collect();
    let mut begun = false;
    for line in lines {
        let names = matches!(line, "STDOUT:" | "STDERR:") && (both || !begun);
        begun |= !line.is_empty();
        if begun && (both || !names) {
            out.push(line);
        }
    }
    out
}

/// Spaces that all lines begin with: files stand behind the numbers of their lines.
fn margin(text: &str) -> usize {
    let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
    text.lines().filter(|line| !line.is_empty()).map(spaces).min().unwrap_or(0)
}

/// How much of a file changed, where the result has not said so.
fn counts(change: &FileChange, text: &str) -> Option<String> {
    let FileChange { path, added, removed, .. } = change;
    let said = text.contains(path.as_str()) && text.contains(&format!("+{added} -{removed}"));
    (!said).then(|| format!("{} +{added} -{removed}", visible(path)))
}

/// What a hook said: `  ⎿ hook denied the call: … (PreToolUse: ./check)`
pub(crate) fn hook(look: Look, told: &Told) -> String {
    let text = format!("hook {} ({}: {})", told.text, told.event.name(), told.command);
    let width = terminal::width().saturating_sub(5).max(20);
    let paint = |row: &str| if told.failed { look.paint.red(row) } else { look.paint.yellow(row) };
    let text = visible(&text).lines().take(LINES).collect::<Vec<_>>().join("\n");
    let rows: Vec<String> = wrap::rows(&text, width, 0).lines().map(paint).collect();
    format!("  {} {}", look.signs().result, rows.join("\n    "))
}

/// The model's plan, folded.
pub(crate) fn plan(look: Look, plan: &str) -> String {
    let line = cut(&visible(&todo::folded(plan)), terminal::width().saturating_sub(4).max(20));
    format!("  {} {}", look.signs().result, look.paint.dim(line))
}

/// What a call changes, or would, that nobody was asked about, as a question would show it. `unfolds` where the user can
/// ask for the rest.
pub(crate) fn change(look: Look, change: &str, unfolds: bool) -> String {
    let lines: Vec<&str> = change.trim_end().lines().collect();
    let shown = lines.len().min(CHANGED);
    let mut rows = layout::lines(&lines[..shown].join("\n"), terminal::width().saturating_sub(4), look.paint);
    // The call stands above it already.
    rows.remove(0);
    if shown < lines.len() {
        let hint = if unfolds { " · /diff shows all" } else { "" };
        rows.push(look.paint.dim(format!("… {}{hint}", counted(lines.len() - shown, "more line"))));
    }
    rows.iter().map(|row| format!("    {row}")).collect::<Vec<_>>().join("\n")
}

/// A change with nothing left out.
pub(crate) fn whole_change(look: Look, change: &str) -> String {
    // The first line of a question is bold; a change alone has none.
    let rows = layout::lines(&format!("\n{}", change.trim_end()), terminal::width(), look.paint);
    rows[1..].join("\n")
}

/// Arguments on one line, without the braces, and without the texts of a change, which is shown by itself. Where there are
/// several, each has so many columns at most.
fn arguments(json: &str, most: usize) -> String {
    let one_line = |text: &str| visible(&text.replace(['\n', '\t'], " ")).into_owned();
    let Ok(Value::Object(members)) = serde_json::from_str(json) else { return one_line(json) };
    let named = members.contains_key("file_path") || members.contains_key("path");
    let is_text = |key: &str| named && TEXTS.contains(&key);
    let most = if members.len() == 1 { usize::MAX } else { most };
    let mut shown: Vec<String> = members
        .iter()
        .filter(|(key, _)| !is_text(key))
        .map(|(key, value)| format!("{}: {}", one_line(key), cut(&one_line(&value.to_string()), most)))
        .collect();
    if members.keys().any(|key| is_text(key)) {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::{Paint, When};

    fn plain() -> Look {
        Look { paint: Paint::for_terminal(When::Never, false), unicode: true, plain: false, spoken: false }
    }

    #[test]
    fn a_call_stands_on_one_line_and_cannot_act_on_the_terminal() {
        let arguments = "{\"path\": \"a\u{1b}[2J\\nb\", \"n\": 1}".to_owned();
        let call = call(plain(), &Call { id: None, name: "read\u{7}".into(), arguments });
        assert!(!call.contains(['\u{1b}', '\u{7}', '\n']), "{call}");
        assert!(call.starts_with("● read␇(") && call.ends_with(')'), "{call}");
    }

    #[test]
    fn the_texts_of_a_change_stand_in_the_change_alone() {
        let arguments =
            r#"{"file_path": "a.txt", "old_string": "one\ntwo", "new_string": "three"}"#.to_owned();
        let shown = call(plain(), &Call { id: None, name: "edit_file".into(), arguments });
        assert_eq!(shown, "● edit_file(file_path: \"a.txt\", …)");
        let other = r#"{"content": "one"}"#.to_owned();
        let shown = call(plain(), &Call { id: None, name: "remember".into(), arguments: other });
        assert_eq!(shown, "● remember(content: \"one\")");
    }

    #[test]
    fn a_single_argument_has_the_whole_row_and_can_be_seen_whole() {
        let text = "echo one; ".repeat(30);
        let command = |more: &str| Call {
            id: None,
            name: "run_command".into(),
            arguments: format!("{{\"command\": \"{text}\"{more}}}"),
        };
        let row = call(plain(), &command(""));
        assert!(row.chars().count() >= terminal::width() - 1 && row.ends_with("…)"), "{row}");
        let row = call(plain(), &command(", \"timeout\": 5"));
        assert!(row.ends_with("…, timeout: 5)"), "{row}");
        assert!(whole_call(plain(), &command(", \"timeout\": 5")).contains(&text));
    }

    #[test]
    fn of_a_command_its_end_is_shown() {
        let ran = |text: &str| {
            let data = Some(serde_json::json!({"exit_code": 0}));
            result(plain(), &ToolResult { data, ..ToolResult::success(text) }, true)
        };
        let lines: Vec<String> = (0..20).map(|n| format!("line {n}")).collect();
        let shown = ran(&format!("Success (exit code 0, 0.1 s)\n\nSTDOUT:\n{}", lines.join("\n")));
        let expected =
            "  ⎿ Success (exit code 0, 0.1 s)\n    … 13 more lines · /show shows all\n    line 13\n";
        assert!(shown.starts_with(expected) && shown.ends_with("\n    line 19"), "{shown}");
        let shown = ran("Success\n\nSTDOUT:\na\n\nSTDOUT:\n\nSTDERR:\nb");
        assert_eq!(shown, "  ⎿ Success\n    STDOUT:\n    a\n    \n    STDOUT:\n    \n    STDERR:\n    b");
        assert_eq!(ran("Success\n\n(no output)"), "  ⎿ Success\n    (no output)");
    }

    #[test]
    fn of_what_went_wrong_no_word_is_cut_off() {
        let why = "Denied: this command is never run: ".to_owned()
            + &"it runs what comes from the network; ".repeat(4);
        let shown =
            result(plain(), &del_tools::Failure::new(del_tools::Code::Denied, why.trim_end()).into(), true);
        assert_eq!(shown.matches("network;").count(), 4, "{shown}");
        assert!(shown.lines().all(|row| row.chars().count() <= terminal::width()), "{shown}");
    }

    #[test]
    fn of_a_few_lines_no_word_is_cut_off_and_one_long_line_is_folded() {
        let words = "so many words that they take more than one row of a terminal; ".repeat(4);
        let shown = result(plain(), &ToolResult::success(words.trim_end()), true);
        assert_eq!(shown.matches("terminal;").count(), 4, "{shown}");
        let shown = result(plain(), &ToolResult::success(words.repeat(20)), true);
        assert!(shown.lines().count() == LINES + 1 && shown.contains(" more lines · /show"), "{shown}");
    }

    #[test]
    fn long_results_say_how_much_is_left_out() {
        let text: Vec<String> = (0..20).map(|n| format!("line {n}")).collect();
        let shown = result(plain(), &ToolResult::success(text.join("\n")), false);
        assert!(
            shown.starts_with("  ⎿ line 0\n    line 1\n") && shown.ends_with("… 12 more lines"),
            "{shown}"
        );
    }
}
